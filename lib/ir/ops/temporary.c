/* cute.temporary: device memory that a launch plan needs beside its arguments. Its lowering leaves the size as a formula of the
 * layout's extents and strides, which lib/launch evaluates with checks for overflow. */
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"

enum { TEMPORARY_ALIGN = 256, MOST_LEAVES = 64 };

/* ---- verification ---- */

/* Appends the leaves of a tree; false if there are too many. */
static bool collect_leaves(const cute_tree *tree, const cute_tree **out, int *count)
{
    if (tree->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < tree->count; i++)
            if (!collect_leaves(tree->items[i], out, count)) return false;
        return true;
    }
    if (*count == MOST_LEAVES) return false;
    out[(*count)++] = tree;
    return true;
}

static bool is_below(MlirOperation op, const char *name)
{
    return !mlirOperationIsNull(cute_op_parent(op, name));
}

static bool verify_place(const cute_check *c)
{
    if (is_below(c->op, "gpu.module") || is_below(c->op, "gpu.launch"))
        return cute_check_fail(c, "expects to be in a host function: in a kernel, use cute.memref.alloca, or "
                                  "pass the temporary as an argument");
    if (!is_below(c->op, "func.func"))
        return cute_check_fail(c, "expects to be in a host function, a func.func");
    if (is_below(c->op, "scf.for") || is_below(c->op, "scf.while"))
        return cute_check_fail(
            c, "expects to be outside of loops: memory is provided once for each run of the host function");
    return true;
}

static bool verify_temporary(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *layout = cute_check_operand(&c, 0), *result = cute_check_result(&c, 0);
    const cute_pointer *pointer = result->pointer;
    const cute_tree *leaves[MOST_LEAVES];
    int extents = 0, all;
    if (!verify_place(&c) || !cute_check_space(&c, "result", pointer, CUTE_SPACE_GMEM) ||
        !cute_check_layout(&c, result, layout))
        return false;
    if (pointer->bits <= 0 || pointer->bits % 8)
        return cute_check_fail(&c, "expects elements of whole bytes, but got '%s'", pointer->element);
    if (pointer->align > TEMPORARY_ALIGN)
        return cute_check_fail(&c, "expects an alignment of at most %d bytes, but got %lld", TEMPORARY_ALIGN,
                               (long long)pointer->align);
    if (pointer->swizzle.bits) return cute_check_fail(&c, "expects a pointer without a swizzle");
    /* A tensor in memory has extents of at least 1, and integer strides. */
    if (!collect_leaves(layout->layout.shape, leaves, &extents))
        return cute_check_fail(&c, "expects at most %d extents and strides", MOST_LEAVES);
    all = extents;
    if (!collect_leaves(layout->layout.stride, leaves, &all))
        return cute_check_fail(&c, "expects at most %d extents and strides", MOST_LEAVES);
    for (int i = extents; i < all; i++)
        if (leaves[i]->value.known && leaves[i]->value.value < 0)
            return cute_check_fail(&c, "expects strides of at least 0, but got %lld",
                                   (long long)leaves[i]->value.value);
    return true;
}

/* ---- expansion ---- */

static MlirValue leaf_as_i64(const cute_builder *b, const cute_int *value)
{
    MlirType i64 = mlirIntegerTypeGet(b->context, 64);
    if (value->known) return cute_integer(b, i64, value->value);
    MlirValue handle = {value->handle};
    if (mlirTypeEqual(mlirValueGetType(handle), i64)) return handle;
    return cute_unary(b, "arith.extsi", handle, i64);
}

/* An integer property of the operation on the host. */
static MlirNamedAttribute named_i32(MlirContext context, const char *name, int64_t value)
{
    return cute_attribute(context, name, mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), value));
}

static cute_status expand_temporary(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    MlirValue operand = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0),
              sizes[MOST_LEAVES];
    MlirContext context = mlirOperationGetContext(op);
    cute_value layout;
    const cute_tree *leaves[MOST_LEAVES];
    int count = 0;
    char divisible[48];
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(result))) return CUTE_OK;
    CUTE_TRY(cute_value_bind(x, op, operand, &layout));
    if (!collect_leaves(layout.layout.shape, leaves, &count) ||
        !collect_leaves(layout.layout.stride, leaves, &count))
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects at most %d extents and strides", MOST_LEAVES);
    cute_builder b = cute_builder_before(op);
    for (int i = 0; i < count; i++) sizes[i] = leaf_as_i64(&b, &leaves[i]->value);
    const cute_value *to = cute_type_peek(mlirValueGetType(result));
    cute_pointer pointer = *to->pointer;
    cute_value address = {.type = CUTE_PTR, .pointer = &pointer};
    MlirAttribute init = mlirOperationGetAttributeByName(op, cute_text("init"));
    MlirNamedAttribute named[] = {named_i32(context, "element", pointer.bits),
                                  named_i32(context, "align", pointer.align),
                                  cute_attribute(context, "init", init)};
    MlirValue number = cute_build_value(&b, "cute_nvgpu.host.temporary", mlirIntegerTypeGet(context, 64),
                                        (cute_operands){sizes, count},
                                        (cute_named){named, mlirAttributeIsNull(init) ? 2 : 3});
    snprintf(divisible, sizeof divisible, "!cute.i64<divby %lld>", (long long)pointer.align);
    number = cute_build_value(&b, "cute.assume", mlirTypeParseGet(context, cute_text(divisible)),
                              CUTE_OPERANDS(number), CUTE_NO_NAMED);
    MlirValue start = cute_build_value(&b, "cute.inttoptr", cute_type_of_value(context, x->arena, &address),
                                       CUTE_OPERANDS(number), CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(result, cute_build_value(&b, "cute.make_view", mlirValueGetType(result),
                                                           CUTE_OPERANDS(start, operand), CUTE_NO_NAMED));
    return CUTE_OK;
}

static const cute_op_row rows[] = {
    {.name = "cute.temporary", .verify = verify_temporary, .expand = expand_temporary},
};
const cute_op_family cute_family_temporary = {rows, sizeof rows / sizeof *rows};
