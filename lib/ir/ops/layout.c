/* Layouts and composed layouts, and their parts. */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"

static bool second_of_source(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)op;
    if (mlirOperationGetNumOperands(source) < 2) return false;
    out->value = mlirOperationGetOperand(source, 1);
    return true;
}

static bool third_of_source(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)op;
    out->value = mlirOperationGetOperand(source, 2);
    return true;
}

/* If operand `i` is the result of `part` ("cute.get_stride"), the value that it was taken from; otherwise
 * null. */
static MlirValue source_of_part(MlirOperation op, intptr_t i, const char *part)
{
    MlirOperation source = cute_defining_op(mlirOperationGetOperand(op, i));
    if (mlirOperationIsNull(source) || !cute_op_is(source, part)) return (MlirValue){NULL};
    return mlirOperationGetOperand(source, 0);
}

/* Without a stride operand the stride must be computed. */
static bool has_no_stride(MlirOperation op)
{
    return mlirOperationGetNumOperands(op) == 1;
}

static bool rejoin_layout(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    if (has_no_stride(op)) return false;
    out->value = mlirOperationGetOperand(source, 0);
    MlirValue other = source_of_part(op, 1, "cute.get_stride");
    return !mlirValueIsNull(other) && mlirValueEqual(other, out->value);
}

static bool rejoin_composed(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    out->value = mlirOperationGetOperand(source, 0);
    MlirValue offset = source_of_part(op, 1, "cute.composed_get_offset"),
              outer = source_of_part(op, 2, "cute.composed_get_outer");
    return !mlirValueIsNull(offset) && !mlirValueIsNull(outer) && mlirValueEqual(offset, out->value) &&
           mlirValueEqual(outer, out->value);
}

/* operandSegmentSizes of older IR: one shape, and at most one stride. */
static bool verify_make_layout(const cute_op_row *row, MlirOperation op)
{
    MlirAttribute sizes = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    if (mlirAttributeIsNull(sizes)) return true;
    int strides = (int)mlirOperationGetNumOperands(op) - 1;
    if (mlirDenseArrayGetNumElements(sizes) == 2 && mlirDenseI32ArrayGetElement(sizes, 0) == 1 &&
        mlirDenseI32ArrayGetElement(sizes, 1) == strides)
        return true;
    cute_check c = cute_check_begin(row, op);
    return cute_check_fail(&c, "expects operandSegmentSizes of 1, %d to match its operands", strides);
}

#define RULES(name, ...) static const cute_op_rule name[] = {__VA_ARGS__, {NULL, NULL}}

RULES(shape_rules, {"cute.make_layout", cute_rule_source_operand});
RULES(stride_rules, {"cute.make_layout", second_of_source});
RULES(inner_rules, {"cute.make_composed_layout", cute_rule_source_operand});
RULES(offset_rules, {"cute.make_composed_layout", second_of_source});
RULES(outer_rules, {"cute.make_composed_layout", third_of_source});
RULES(layout_rules, {"cute.get_shape", rejoin_layout});
RULES(composed_rules, {"cute.composed_get_inner", rejoin_composed});

static const cute_op_row rows[] = {
    {CUTE_ALGEBRA_EXPANDED(MAKE_LAYOUT, make_layout), .expands = has_no_stride, .parts = CUTE_PARTS_FIELDS,
     .verify = verify_make_layout, .simplify = layout_rules, .lower = cute_lower_parts},
    /* Operands are A, offset, B; the struct is B, offset, A. */
    {CUTE_ALGEBRA(MAKE_COMPOSED_LAYOUT, make_composed_layout), .parts = CUTE_PARTS_REVERSED,
     .simplify = composed_rules, .lower = cute_lower_parts},
    {CUTE_ALGEBRA_EXPANDED(GET_SHAPE, get_shape), .simplify = shape_rules},
    {CUTE_ALGEBRA_EXPANDED(GET_STRIDE, get_stride), .simplify = stride_rules},
    {CUTE_ALGEBRA_EXPANDED(COMPOSED_GET_INNER, composed_get_inner), .simplify = inner_rules},
    {CUTE_ALGEBRA_EXPANDED(COMPOSED_GET_OFFSET, composed_get_offset), .simplify = offset_rules},
    {CUTE_ALGEBRA_EXPANDED(COMPOSED_GET_OUTER, composed_get_outer), .simplify = outer_rules},
};
const cute_op_family cute_family_layout = {rows, sizeof rows / sizeof *rows};
