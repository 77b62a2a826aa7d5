/* Conversions between tuple types, and elementwise arithmetic. */
#include "lib/ir/dialects/types.h"
#include "lib/ir/ops/algebra.h"

static bool second_is_static(MlirOperation op)
{
    return cute_type_is_static(mlirValueGetType(mlirOperationGetOperand(op, 1)));
}

/* Whether all leaves of the second operand equal `number`. */
static bool second_leaves_are(MlirOperation op, int64_t number)
{
    if (!second_is_static(op)) return false;
    cute_arena *arena = cute_arena_create();
    cute_value value;
    bool all = cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 1)), &value, NULL) == CUTE_OK;
    size_t count = 0;
    cute_value *leaves = NULL;
    all = all && cute_value_leaves(arena, &value, false, &leaves, &count, NULL) == CUTE_OK;
    for (size_t i = 0; all && i < count; i++)
        all =
            leaves[i].tree && leaves[i].tree->kind == CUTE_TREE_INT && leaves[i].tree->value.value == number;
    cute_arena_destroy(arena);
    return all;
}

static bool drop_zero_operand(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return second_leaves_are(op, 0) && cute_rule_operand(op, source, out);
}

static bool drop_one_operand(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return second_leaves_are(op, 1) && cute_rule_operand(op, source, out);
}

#define RULES(name, ...) static const cute_op_rule name[] = {__VA_ARGS__, {NULL, NULL}}

RULES(to_int_tuple, {"cute.to_shape", cute_rule_source_operand}, {"cute.to_stride", cute_rule_source_operand},
      {"cute.to_coord", cute_rule_source_operand}, {NULL, cute_rule_operand});
RULES(undo_to_int_tuple, {"cute.to_int_tuple", cute_rule_source_operand});
RULES(zero_rules, {NULL, drop_zero_operand});
RULES(one_rules, {NULL, drop_one_operand});

static const cute_op_row rows[] = {
    {CUTE_ALGEBRA_EXPANDED(TO_INT_TUPLE, to_int_tuple), .simplify = to_int_tuple},
    {CUTE_ALGEBRA_EXPANDED(TO_SHAPE, to_shape), .simplify = undo_to_int_tuple},
    {CUTE_ALGEBRA_EXPANDED(TO_STRIDE, to_stride), .simplify = undo_to_int_tuple},
    {CUTE_ALGEBRA_EXPANDED(TO_COORD, to_coord), .simplify = undo_to_int_tuple},
    {CUTE_ALGEBRA_EXPANDED(TUPLE_ADD, tuple_add), .simplify = zero_rules},
    {CUTE_ALGEBRA_EXPANDED(TUPLE_SUB, tuple_sub), .simplify = zero_rules},
    {CUTE_ALGEBRA_EXPANDED(CEIL_DIV, ceil_div), .simplify = one_rules},
    {CUTE_ALGEBRA_EXPANDED(SHAPE_DIV, shape_div), .simplify = one_rules},
};
const cute_op_family cute_family_number = {rows, sizeof rows / sizeof *rows};
