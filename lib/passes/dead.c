/* Dead operations go after a pass. */
#include "lib/passes/dead.h"

#include "lib/ir/ops/ops.h"
#include "lib/ir/shim.h"
#include "lib/ir/util.h"

static void drop(MlirOperation op, void *context)
{
    (void)context;
    if (cute_op_is_dead(op)) mlirOperationDestroy(op);
}

static void drop_parts(MlirOperation op, void *context)
{
    const cute_op_row *row = cute_op_row_of(op);
    if (row && row->parts != CUTE_PARTS_NONE) drop(op, context);
}

void cute_drop_dead(MlirOperation root)
{
    cute_op_walk(root, NULL, CUTE_WALK_LAST_FIRST, drop, NULL);
}

void cute_drop_dead_parts(MlirOperation root)
{
    cute_op_walk(root, NULL, CUTE_WALK_LAST_FIRST, drop_parts, NULL);
}
