/* cute-tensor-partition: lowers tiles and partitions of tensors to pointers and layouts.
 *
 * Requires: verified IR. Ensures: no cute.local_tile, local_partition, tiled.copy.partition_S, partition_D,
 * retile and tiled.mma.partition; each becomes a view with the layout of the thread's or block's elements
 * and an iterator advanced by the offset of its coordinate. Applies to tensors of coordinates too.
 *
 *     %s = cute.tiled.copy.partition_S(%copy, %t, %thread)
 * ->
 *     %p = cute.add_offset(%iterator, %offset)
 *     %l = cute.static : !cute.layout<"((8,1),2,1):((1,0),1024,0)">
 *     %s = cute.make_view(%p, %l)
 */
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/dead.h"
#include "lib/passes/layouts/expand.h"
#include "lib/passes/passes.h"

static bool is_partition_op(MlirOperation op)
{
    static const char *const names[] = {
        "cute.local_tile",
        "cute.local_partition",
        "cute.tiled.copy.partition_S",
        "cute.tiled.copy.partition_D",
        "cute.tiled.copy.retile",
        "cute.tiled.mma.partition",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cute_op_is(op, names[i])) return true;
    return false;
}

static bool is_wanted_partition(const cute_pass_run *pass, MlirOperation op)
{
    if (!is_partition_op(op)) return false;
    if (!cute_pass_wants_remarks(pass)) return true;
    cute_arena *arena = cute_arena_create();
    const cute_value *view = cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0)));
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    if (arena && view && view->layout.shape)
        cute_pass_remark(pass, mlirOperationGetLocation(op), "'%.*s' has the layout \"%s\" based on %s",
                         (int)name.length, name.data, cute_layout_text(arena, view->layout),
                         view->pointer ? "a pointer advanced by its coordinate"
                                       : "the coordinate of its first element");
    cute_arena_destroy(arena);
    return true;
}

static void run_tensor_partition(MlirOperation root, cute_pass_run *pass)
{
    if (!cute_expand(root, pass, is_wanted_partition)) {
        cute_pass_unchanged(pass);
        return;
    }
    cute_drop_dead(root); /* computations of unused modes */
    if (!cute_pass_run_pipeline(pass, "cute-fold-static", root)) cute_pass_fail(pass);
}

const cute_pass cute_pass_tensor_partition = {
    .name = "cute-tensor-partition",
    .help = "Lower tiles and partitions of tensors to pointers and layouts",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_MATH | CUTE_DIALECT_SCF,
    .run = run_tensor_partition,
};
