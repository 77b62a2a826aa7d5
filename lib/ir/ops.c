/* What each operation of the dialect checks and infers. The algebra's operations are one row for all:
 * lib/layout computes the result from the operands' types. */
#include "lib/ir/hooks.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/util.h"

/* ---- errors at a location ---- */

static bool fail(MlirLocation location, const char *name, const char *format, ...) CUTE_PRINTF(3, 4);
static bool fail(MlirLocation location, const char *name, const char *format, ...)
{
    cute_buffer text = {0};
    if (name) cute_buffer_printf(&text, "'%s' op ", name);
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    mlirEmitError(location, cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

static bool fail_diag(MlirLocation location, const cute_diag *diag)
{
    for (size_t i = 0; i < cute_diag_count(diag); i++)
        fail(location, NULL, "%s", cute_diag_get(diag, i)->text);
    return false;
}

/* ---- inference through the algebra ---- */

/* Integers in the order in which the algebra takes them. */
static const char *const integers[] = {"rank", "begin", "end", "new_type_bits", "old_type_bits"};

cute_status cute_op_attributes(cute_arena *arena, cute_attribute_of get, void *context, cute_attributes *out,
                               cute_diag *diag)
{
    *out = (cute_attributes){0};
    MlirAttribute mode = get(context, cute_text("mode"));
    bool list = !mlirAttributeIsNull(mode) && mlirAttributeIsADenseI32Array(mode);
    size_t capacity = list ? (size_t)mlirDenseArrayGetNumElements(mode) : sizeof integers / sizeof *integers;
    int64_t *values = cute_arena_array(arena, capacity, sizeof *values);
    if (!values && capacity) return cute_fail_memory(diag);
    out->values = values;
    if (list) {
        for (out->count = 0; out->count < capacity; out->count++)
            values[out->count] = mlirDenseI32ArrayGetElement(mode, (intptr_t)out->count);
        return CUTE_OK;
    }
    for (size_t i = 0; i < capacity; i++) {
        MlirAttribute one = get(context, cute_text(integers[i]));
        if (!mlirAttributeIsNull(one) && mlirAttributeIsAInteger(one))
            values[out->count++] = mlirIntegerAttrGetValueInt(one);
    }
    return CUTE_OK;
}

static MlirAttribute in_dictionary(void *dictionary, MlirStringRef name)
{
    MlirAttribute attributes = {dictionary};
    if (mlirAttributeIsNull(attributes)) return attributes;
    return mlirDictionaryAttrGetElementByName(attributes, name);
}

static cute_status apply(cute_arena *arena, const cute_op_query *query, cute_operation operation,
                         cute_value *result, cute_diag *diag)
{
    cute_value *operands = cute_arena_array(arena, (size_t)query->operand_count, sizeof *operands);
    if (!operands && query->operand_count) return cute_fail_memory(diag);
    for (intptr_t i = 0; i < query->operand_count; i++)
        CUTE_TRY(cute_type_value(mlirValueGetType(query->operands[i]), &operands[i], diag));
    cute_attributes attributes;
    CUTE_TRY(cute_op_attributes(arena, in_dictionary, (void *)query->attributes.ptr, &attributes, diag));
    return cute_apply(arena, NULL, operation, operands, (size_t)query->operand_count, &attributes, result,
                      diag);
}

static cute_status infer_algebra(cute_arena *arena, const cute_op_query *query, cute_operation operation,
                                 cute_op_types *out, cute_diag *diag)
{
    cute_value result;
    CUTE_TRY(apply(arena, query, operation, &result, diag));
    MlirType type = cute_type_of_value(query->context, arena, &result);
    if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
    cute_op_types_add(out, type);
    return CUTE_OK;
}

static bool infer(const cute_op_query *query, cute_operation operation, cute_op_types *out)
{
    cute_arena *arena = cute_arena_create();
    bool ok = arena && infer_algebra(arena, query, operation, out, NULL) == CUTE_OK;
    if (arena && !ok) { /* again, for what there is to say */
        cute_diag *diag = cute_diag_create();
        infer_algebra(arena, query, operation, out, diag);
        fail_diag(query->location, diag);
        cute_diag_destroy(diag);
    }
    cute_arena_destroy(arena);
    return ok;
}

/* ---- operations beside the algebra ---- */

static bool verify_static(MlirOperation op)
{
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (cute_type_is_static(type)) return true;
    MlirStringRef text = cute_type_text(type);
    return fail(mlirOperationGetLocation(op), "cute.static",
                "expects result to be static, but got \"%.*s\": each '?' needs a value, as make_* takes them",
                (int)text.length, text.data);
}

/* The width of what is stored in an unknown leaf: an integer, or a tuple of depth 0, which may be known. */
static int leaf_width(MlirType type, int wanted)
{
    cute_value leaf;
    if (mlirTypeIsAInteger(type)) return (int)mlirIntegerTypeGetWidth(type);
    if (cute_type_value(type, &leaf, NULL) || leaf.tree->kind != CUTE_TREE_INT) return 0;
    return leaf.tree->value.known ? wanted : leaf.tree->value.width;
}

/* One operand for each unknown leaf, as wide as the leaf. */
static bool verify_make(MlirOperation op)
{
    MlirLocation location = mlirOperationGetLocation(op);
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    char name_text[64];
    snprintf(name_text, sizeof name_text, "%.*s", (int)name.length, name.data);
    cute_arena *arena = cute_arena_create();
    bool ok = false;
    cute_value value;
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (cute_type_value(result, &value, NULL)) goto out;
    size_t want = cute_value_unknowns(&value, NULL, 0), got = (size_t)mlirOperationGetNumOperands(op);
    if (want != got) {
        MlirStringRef text = cute_type_text(result);
        fail(location, name_text,
             "expects %zu dynamic operand(s) for result type '!cute.%s<\"%.*s\">', but got %zu", want,
             cute_type_name(value.type), (int)text.length, text.data, got);
        goto out;
    }
    cute_int *leaves = cute_arena_array(arena, want, sizeof *leaves);
    if (want && !leaves) goto out;
    cute_value_unknowns(&value, leaves, want);
    for (size_t i = 0; i < want; i++) {
        int width = leaf_width(mlirValueGetType(mlirOperationGetOperand(op, (intptr_t)i)), leaves[i].width);
        if (width != leaves[i].width) {
            fail(location, name_text, "expects operand #%zu to have (width=%d), but got (width=%d)", i,
                 leaves[i].width, width);
            goto out;
        }
    }
    ok = true;
out:
    cute_arena_destroy(arena);
    return ok;
}

int cute_scalar_width(const cute_int *value)
{
    if (!value->known) return value->width;
    return value->value == (int32_t)value->value ? 32 : 64;
}

/* Appends a type for each scalar of a tree: see get_scalars. */
static void add_scalars(const cute_op_query *query, const cute_tree *tree, bool only_unknown,
                        cute_op_types *out)
{
    MlirType i32 = mlirIntegerTypeGet(query->context, 32);
    switch (tree->kind) {
    case CUTE_TREE_UNDERSCORE: return;
    case CUTE_TREE_INT:
    case CUTE_TREE_BASIS:
        if (!tree->value.known || !only_unknown)
            cute_op_types_add(out,
                              mlirIntegerTypeGet(query->context, (unsigned)cute_scalar_width(&tree->value)));
        if (tree->kind == CUTE_TREE_BASIS && !only_unknown)
            for (uint32_t i = 0; i < tree->count; i++) cute_op_types_add(out, i32);
        return;
    case CUTE_TREE_LAYOUT:
        add_scalars(query, tree->layout.shape, only_unknown, out);
        add_scalars(query, tree->layout.stride, only_unknown, out);
        return;
    case CUTE_TREE_TUPLE:
        for (uint32_t i = 0; i < tree->count; i++) add_scalars(query, tree->items[i], only_unknown, out);
        return;
    }
}

static bool infer_get_scalars(const cute_op_query *query, cute_op_types *out)
{
    bool only_unknown = !mlirAttributeIsNull(query->attributes) &&
                        !mlirAttributeIsNull(
                            mlirDictionaryAttrGetElementByName(query->attributes, cute_text("only_dynamic")));
    cute_arena *arena = cute_arena_create();
    cute_value value;
    bool ok = query->operand_count == 1 &&
              cute_type_value(mlirValueGetType(query->operands[0]), &value, NULL) == CUTE_OK;
    if (ok) {
        bool composed = value.type == CUTE_COMPOSED_LAYOUT;
        bool swizzled = value.type == CUTE_SWIZZLE || (composed && !value.inner.shape);
        if (swizzled && !only_unknown)
            for (int i = 0; i < 3; i++) cute_op_types_add(out, mlirIntegerTypeGet(query->context, 32));
        if (composed && value.inner.shape) {
            add_scalars(query, value.inner.shape, only_unknown, out);
            add_scalars(query, value.inner.stride, only_unknown, out);
        }
        if (value.tree) add_scalars(query, value.tree, only_unknown, out);
        if (value.layout.shape) {
            add_scalars(query, value.layout.shape, only_unknown, out);
            add_scalars(query, value.layout.stride, only_unknown, out);
        }
    }
    cute_arena_destroy(arena);
    return ok;
}

static bool infer_parts(const cute_op_query *query, bool layouts_only, cute_op_types *out)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_value value, *parts;
    size_t count = 0;
    bool ok = cute_type_value(mlirValueGetType(query->operands[0]), &value, diag) == CUTE_OK &&
              cute_value_leaves(arena, &value, layouts_only, &parts, &count, diag) == CUTE_OK;
    if (!ok) fail_diag(query->location, diag);
    for (size_t i = 0; ok && i < count; i++) {
        MlirType type = cute_type_of_value(query->context, arena, &parts[i]);
        if (!mlirTypeIsNull(type))
            cute_op_types_add(out, type);
        else
            ok = false;
    }
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static bool infer_leaves(const cute_op_query *query, cute_op_types *out)
{
    return infer_parts(query, false, out);
}

static bool infer_layouts(const cute_op_query *query, cute_op_types *out)
{
    return infer_parts(query, true, out);
}

/* ---- comparisons: their result is an i1, not a value of the dialect ---- */

static cute_status compare(cute_arena *arena, MlirOperation op, cute_operation operation, cute_value *result,
                           cute_diag *diag)
{
    MlirValue operands[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)};
    cute_op_query query = {.context = mlirOperationGetContext(op), .operand_count = 2, .operands = operands};
    return apply(arena, &query, operation, result, diag);
}

static bool verify_comparison(MlirOperation op, cute_operation operation)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_value result;
    bool ok = compare(arena, op, operation, &result, diag) == CUTE_OK;
    for (size_t i = 0; !ok && i < cute_diag_count(diag); i++)
        fail(mlirOperationGetLocation(op), operation == CUTE_OP_EQUAL ? "cute.equal" : "cute.elem_less", "%s",
             cute_diag_get(diag, i)->text);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static MlirAttribute fold_comparison(MlirOperation op, cute_operation operation)
{
    cute_arena *arena = cute_arena_create();
    cute_value result;
    MlirAttribute folded = {NULL};
    if (compare(arena, op, operation, &result, NULL) == CUTE_OK && result.tree->kind == CUTE_TREE_INT &&
        result.tree->value.known)
        folded =
            mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 1), result.tree->value.value);
    cute_arena_destroy(arena);
    return folded;
}

#define CUTE_COMPARISON(id)                                                                                  \
    static bool verify_##id(MlirOperation op)                                                                \
    {                                                                                                        \
        return verify_comparison(op, CUTE_OP_##id);                                                          \
    }                                                                                                        \
    static MlirAttribute fold_##id(MlirOperation op)                                                         \
    {                                                                                                        \
        return fold_comparison(op, CUTE_OP_##id);                                                            \
    }
CUTE_COMPARISON(EQUAL)
CUTE_COMPARISON(ELEM_LESS)
#undef CUTE_COMPARISON

/* ---- the table ---- */

#define CUTE_OPERATION(id, name, least, most, summary)                                                       \
    static bool infer_##id(const cute_op_query *query, cute_op_types *out)                                   \
    {                                                                                                        \
        return infer(query, CUTE_OP_##id, out);                                                              \
    }
#include "cute/layout_ops.def"
#undef CUTE_OPERATION

/* The first row of a name counts. */
static const cute_op_hooks table[] = {
    {.name = "cute.equal", .verify = verify_EQUAL, .fold = fold_EQUAL},
    {.name = "cute.elem_less", .verify = verify_ELEM_LESS, .fold = fold_ELEM_LESS},
#define CUTE_OPERATION(id, op, least, most, summary) {.name = "cute." #op, .infer = infer_##id},
#include "cute/layout_ops.def"
#undef CUTE_OPERATION
    {.name = "cute.static", .verify = verify_static},
    {.name = "cute.make_int_tuple", .verify = verify_make},
    {.name = "cute.make_shape", .verify = verify_make},
    {.name = "cute.make_stride", .verify = verify_make},
    {.name = "cute.make_coord", .verify = verify_make},
    {.name = "cute.make_tile", .verify = verify_make},
    {.name = "cute.get_scalars", .infer = infer_get_scalars},
    {.name = "cute.get_leaves", .infer = infer_leaves},
    {.name = "cute.get_layouts_from_tile", .infer = infer_layouts},
};

const cute_op_hooks *cute_op_hooks_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length)) return &table[i];
    return NULL;
}
