/* Comparisons, whose result is an i1. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/ops/algebra.h"

static cute_status apply_comparison(cute_arena *arena, const cute_op_row *row, MlirOperation op,
                                    cute_value *result, cute_diag *diag)
{
    MlirValue operands[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)};
    cute_op_query query = {.context = mlirOperationGetContext(op), .operand_count = 2, .operands = operands};
    return cute_algebra_apply(arena, &query, row->algebra, result, diag);
}

static bool verify_comparison(const cute_op_row *row, MlirOperation op)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_value result;
    bool ok = apply_comparison(arena, row, op, &result, diag) == CUTE_OK;
    for (size_t i = 0; !ok && i < cute_diag_count(diag); i++)
        cute_op_fail(mlirOperationGetLocation(op), row->name, "%s", cute_diag_get(diag, i)->text);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static MlirAttribute fold_comparison(const cute_op_row *row, MlirOperation op)
{
    cute_arena *arena = cute_arena_create();
    cute_value result;
    MlirAttribute folded = {NULL};
    if (apply_comparison(arena, row, op, &result, NULL) == CUTE_OK && result.tree->kind == CUTE_TREE_INT &&
        result.tree->value.known)
        folded =
            mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 1), result.tree->value.value);
    cute_arena_destroy(arena);
    return folded;
}

/* Binds static leaves as SSA integers too. */
static cute_status expand_comparison(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    return cute_algebra_emit(row, x, op, cute_value_bind_all);
}

#define COMPARISON(id, op)                                                                                   \
    {.name = "cute." #op,                                                                                    \
     .algebra = CUTE_OP_##id,                                                                                \
     .verify = verify_comparison,                                                                            \
     .fold = fold_comparison,                                                                                \
     .expand = expand_comparison}

static const cute_op_row rows[] = {COMPARISON(EQUAL, equal), COMPARISON(ELEM_LESS, elem_less)};
const cute_op_family cute_family_compare = {rows, sizeof rows / sizeof *rows};
