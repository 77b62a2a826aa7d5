/* Atoms, tiled copies and MMAs, and how they partition tensors: what lib/atoms computes. */
#include "lib/ir/builder.h"
#include "lib/ir/fields.h"
#include "lib/ir/ops/algebra.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"

/* Registers for a fragment: its type says all of them. */
static cute_status expand_make_fragment(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    MlirValue result = mlirOperationGetResult(op, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(result));
    cute_value layout = cute_value_of_layout(type->layout);
    cute_builder b = cute_builder_before(op);
    MlirType layout_type = cute_type_of_value(b.context, x->arena, &layout);
    if (mlirTypeIsNull(layout_type)) return cute_fail_memory(x->diag);
    MlirValue shape = cute_build_value(&b, "cute.static", layout_type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue made = cute_build_value(&b, "cute.memref.alloca", mlirValueGetType(result),
                                      CUTE_OPERANDS(shape), CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(result, made);
    return CUTE_OK;
}

/* What the type says. */
static bool lower_type(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    cute_lowered(l, cute_fields_poison(&b, mlirValueGetType(mlirOperationGetResult(l->op, 0))));
    return true;
}

#define PARTITION(id) .algebra = CUTE_OP_##id, .infer = cute_algebra_infer, .expand = cute_algebra_expand

static const cute_op_row rows[] = {
    {.name = "cute.make_atom", .lower = lower_type},
    {.name = "cute.make_tiled_copy", .lower = lower_type},
    {.name = "cute.make_tiled_mma", .lower = lower_type},
    {.name = "cute.tiled.copy.partition_S", PARTITION(TILED_COPY_PARTITION_S)},
    {.name = "cute.tiled.copy.partition_D", PARTITION(TILED_COPY_PARTITION_D)},
    {.name = "cute.tiled.copy.retile", PARTITION(TILED_COPY_RETILE)},
    {.name = "cute.tiled.mma.partition", PARTITION(TILED_MMA_PARTITION)},
    {.name = "cute.tiled.mma.partition_shape", PARTITION(TILED_MMA_PARTITION_SHAPE)},
    {.name = "cute.mma.make_fragment", .expand = expand_make_fragment},
};
const cute_op_family cute_family_atom = {rows, sizeof rows / sizeof *rows};
