/* cute-drop-host: leaves only the device's modules.
 *
 * Requires: launches outlined. Ensures: a builtin.module holds gpu.module and gpu.binary operations alone.
 * Host code has no part in PTX, and its launches would pin kernels' types.
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
    .help = "Remove everything but the device's modules",
    .anchor = "builtin.module",
    .run = run_drop_host,
};
