/* Removes dead operations after a pass. */
#include "lib/passes/dead.h"

#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/ops.h"

static void drop_dead_op(MlirOperation op, void *context)
{
    (void)context;
    if (cute_op_is_dead(op)) mlirOperationDestroy(op);
}

static void drop_parts(MlirOperation op, void *context)
{
    const cute_op_row *row = cute_op_row_of(op);
    if (row && row->parts != CUTE_PARTS_NONE) drop_dead_op(op, context);
}

static void drop_never_run(MlirOperation op, void *context)
{
    bool *dropped = context;
    if (!cute_op_is(op, "scf.if") || mlirOperationGetNumResults(op) ||
        !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1))))
        return;
    MlirOperation condition = cute_defining_op(mlirOperationGetOperand(op, 0));
    if (mlirOperationIsNull(condition) || !cute_op_is(condition, "arith.constant")) return;
    if (mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(condition, cute_text("value")))) return;
    mlirOperationDestroy(op);
    *dropped = true;
}

void cute_drop_never_run(MlirOperation root, const char *prefix)
{
    bool dropped = false;
    cute_op_walk(root, "scf.", CUTE_WALK_LAST_FIRST, drop_never_run, &dropped);
    if (dropped) cute_op_walk(root, prefix, CUTE_WALK_LAST_FIRST, drop_dead_op, NULL);
}

void cute_drop_dead(MlirOperation root)
{
    cute_op_walk(root, NULL, CUTE_WALK_LAST_FIRST, drop_dead_op, NULL);
}

void cute_drop_dead_parts(MlirOperation root)
{
    cute_op_walk(root, NULL, CUTE_WALK_LAST_FIRST, drop_parts, NULL);
}
