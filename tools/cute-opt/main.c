/* cute-opt: mlir-opt with the cute dialect and its passes. */
#include "lib/ir/mlir/optdriver.h"
#include "lib/passes/passes.h"
#include "lib/passes/plugins.h"
#include "lib/toolkit/toolkit.h"
#include "tools/cute-opt/objects.h"

int main(int argc, char **argv)
{
    cute_binary_set_maker(cute_opt_object);
    return cute_opt_main(argc, argv, cute_passes_register, cute_plugins_register, cute_toolkit_key);
}
