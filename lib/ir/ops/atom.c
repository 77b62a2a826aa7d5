/* Atoms, tiled copies and MMAs, and how they partition tensors: what lib/atoms computes. */
#include "lib/ir/ops/algebra.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"

#define PARTITION(id, op)                                                                                    \
    {.name = "cute." op, .algebra = CUTE_OP_##id, .infer = cute_algebra_infer, .expand = cute_algebra_expand}

static const cute_op_row rows[] = {
    {.name = "cute.make_atom"},
    {.name = "cute.make_tiled_copy"},
    {.name = "cute.make_tiled_mma"},
    PARTITION(TILED_COPY_PARTITION_S, "tiled.copy.partition_S"),
    PARTITION(TILED_COPY_PARTITION_D, "tiled.copy.partition_D"),
    PARTITION(TILED_COPY_RETILE, "tiled.copy.retile"),
    PARTITION(TILED_MMA_PARTITION, "tiled.mma.partition"),
    PARTITION(TILED_MMA_PARTITION_SHAPE, "tiled.mma.partition_shape"),
    {.name = "cute.mma.make_fragment"},
};
const cute_op_family cute_family_atom = {rows, sizeof rows / sizeof *rows};
