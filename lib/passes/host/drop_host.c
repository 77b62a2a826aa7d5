/* cute-drop-host: removes host code.
 *
 * Requires: launches outlined. Ensures: a builtin.module contains only gpu.module and gpu.binary operations.
 * PTX needs no host code, and launches would fix the types of kernels.
 *
 *     func.func @main() { gpu.launch_func @m::@k ... }  gpu.module @m { ... }
 * ->
 *     gpu.module @m { ... }
 */
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

static void run_drop_host(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
    if (mlirBlockIsNull(block)) return;
    MlirOperation next;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (cute_op_is(op, "gpu.module") || cute_op_is(op, "gpu.binary") || cute_op_is(op, "builtin.module"))
            continue;
        mlirOperationDestroy(op);
    }
}

const cute_pass cute_pass_drop_host = {
    .name = "cute-drop-host",
    .help = "Remove all operations except device modules",
    .anchor = "builtin.module",
    .run = run_drop_host,
};
