/* cute-opt: mlir-opt with the dialect cute. */
#include "lib/ir/optdriver.h"
#include "lib/passes/passes.h"

int main(int argc, char **argv)
{
    return cute_opt_main(argc, argv, cute_passes_register);
}
