/* Atoms, tiled copies and MMAs, and how they partition tensors: what lib/atoms computes. */
#include "lib/ir/ops/algebra.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"

/* Tensors may not be sliced yet: then the result is what it says. */
static bool infer_partition(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_operation tensors;
    return !cute_operation_find("local_tile", &tensors) || cute_algebra_infer(row, query, out);
}

#define PARTITION(id) .algebra = CUTE_OP_##id, .infer = infer_partition, .expand = cute_algebra_expand

static const cute_op_row rows[] = {
    {.name = "cute.make_atom"},
    {.name = "cute.make_tiled_copy"},
    {.name = "cute.make_tiled_mma"},
    {.name = "cute.tiled.copy.partition_S", PARTITION(TILED_COPY_PARTITION_S)},
    {.name = "cute.tiled.copy.partition_D", PARTITION(TILED_COPY_PARTITION_D)},
    {.name = "cute.tiled.copy.retile", PARTITION(TILED_COPY_RETILE)},
    {.name = "cute.tiled.mma.partition", PARTITION(TILED_MMA_PARTITION)},
    {.name = "cute.tiled.mma.partition_shape", PARTITION(TILED_MMA_PARTITION_SHAPE)},
    {.name = "cute.mma.make_fragment"},
};
const cute_op_family cute_family_atom = {rows, sizeof rows / sizeof *rows};
