/* cute-verify: the IR is valid. cute-ptx runs it where our passes hand over, and does not verify after each of them. */
#include <mlir-c/IR.h>

#include "lib/ir/mlir/shim.h"

static void run_verify(MlirOperation root, cute_pass_run *pass)
{
    if (mlirOperationVerify(root))
        cute_pass_unchanged(pass);
    else
        cute_pass_fail(pass);
}

const cute_pass cute_pass_verify = {
    .name = "cute-verify",
    .help = "Refuse IR that is not valid, where the passes before are not verified one by one",
    .run = run_verify,
};
