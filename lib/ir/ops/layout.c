/* Layouts and composed layouts, and the parts that they are made of. */
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

/* The value of which operand `i` is the part called `part`, or null. */
static MlirValue whole(MlirOperation op, intptr_t i, const char *part)
{
    MlirOperation source = cute_defining_op(mlirOperationGetOperand(op, i));
    if (mlirOperationIsNull(source) || !cute_op_is(source, part)) return (MlirValue){NULL};
    return mlirOperationGetOperand(source, 0);
}

/* Without a stride, which has to be computed then. */
static bool is_compact(MlirOperation op)
{
    return mlirOperationGetNumOperands(op) == 1;
}

static bool same_layout(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    if (is_compact(op)) return false;
    out->value = mlirOperationGetOperand(source, 0);
    MlirValue other = whole(op, 1, "cute.get_stride");
    return !mlirValueIsNull(other) && mlirValueEqual(other, out->value);
}

static bool same_composed(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    out->value = mlirOperationGetOperand(source, 0);
    MlirValue offset = whole(op, 1, "cute.composed_get_offset"),
              outer = whole(op, 2, "cute.composed_get_outer");
    return !mlirValueIsNull(offset) && !mlirValueIsNull(outer) && mlirValueEqual(offset, out->value) &&
           mlirValueEqual(outer, out->value);
}

/* Sizes of groups of operands, of older IR: a shape, and a stride or none. */
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
RULES(layout_rules, {"cute.get_shape", same_layout});
RULES(composed_rules, {"cute.composed_get_inner", same_composed});

static const cute_op_row rows[] = {
    {CUTE_ALGEBRA_EXPANDED(MAKE_LAYOUT, make_layout), .expands = is_compact, .parts = CUTE_PARTS_FIELDS,
     .verify = verify_make_layout, .simplify = layout_rules, .lower = cute_lower_parts},
    /* Written A, offset, B; stored B, offset, A. */
    {CUTE_ALGEBRA(MAKE_COMPOSED_LAYOUT, make_composed_layout), .parts = CUTE_PARTS_REVERSED,
     .simplify = composed_rules, .lower = cute_lower_parts},
    {CUTE_ALGEBRA_EXPANDED(GET_SHAPE, get_shape), .simplify = shape_rules},
    {CUTE_ALGEBRA_EXPANDED(GET_STRIDE, get_stride), .simplify = stride_rules},
    {CUTE_ALGEBRA_EXPANDED(COMPOSED_GET_INNER, composed_get_inner), .simplify = inner_rules},
    {CUTE_ALGEBRA_EXPANDED(COMPOSED_GET_OFFSET, composed_get_offset), .simplify = offset_rules},
    {CUTE_ALGEBRA_EXPANDED(COMPOSED_GET_OUTER, composed_get_outer), .simplify = outer_rules},
};
const cute_op_family cute_family_layout = {rows, sizeof rows / sizeof *rows};
