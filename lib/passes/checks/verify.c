/* cute-verify: verifies the IR. cute-ptx runs it once at the end of our passes instead of verifying after
 * each of them. */
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
    .help = "Reject invalid IR after passes that are not verified individually",
    .run = run_verify,
};
