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
    for (size_t i = 0; i < cute_diag_count(diag); i++) fail(location, NULL, "%s", cute_diag_get(diag, i)->text);
    return false;
}

/* ---- inference through the algebra ---- */

cute_status cute_op_attributes(cute_arena *arena, MlirAttribute attributes, cute_attributes *out, cute_diag *diag)
{
    *out = (cute_attributes){0};
    if (mlirAttributeIsNull(attributes)) return CUTE_OK;
    MlirAttribute mode = mlirDictionaryAttrGetElementByName(attributes, cute_text("mode"));
    if (mlirAttributeIsNull(mode) || !mlirAttributeIsADenseI32Array(mode)) return CUTE_OK;
    intptr_t count = mlirDenseArrayGetNumElements(mode);
    int64_t *values = cute_arena_array(arena, (size_t)count, sizeof *values);
    if (!values && count) return cute_fail_memory(diag);
    for (intptr_t i = 0; i < count; i++) values[i] = mlirDenseI32ArrayGetElement(mode, i);
    *out = (cute_attributes){.values = values, .count = (size_t)count};
    return CUTE_OK;
}

static cute_status infer_algebra(cute_arena *arena, const cute_op_query *query, cute_operation operation,
                                 cute_op_types *out, cute_diag *diag)
{
    cute_value *operands = cute_arena_array(arena, (size_t)query->operand_count, sizeof *operands), result;
    if (!operands && query->operand_count) return cute_fail_memory(diag);
    for (intptr_t i = 0; i < query->operand_count; i++)
        CUTE_TRY(cute_type_value(arena, mlirValueGetType(query->operands[i]), &operands[i], diag));
    cute_attributes attributes;
    CUTE_TRY(cute_op_attributes(arena, query->attributes, &attributes, diag));
    CUTE_TRY(cute_apply(arena, NULL, operation, operands, (size_t)query->operand_count, &attributes, &result, diag));
    MlirType type = cute_type_of_value(query->context, arena, &result);
    if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
    cute_op_types_add(out, type);
    return CUTE_OK;
}

static bool infer(const cute_op_query *query, cute_operation operation, cute_op_types *out)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    bool ok = infer_algebra(arena, query, operation, out, diag) == CUTE_OK;
    if (!ok) fail_diag(query->location, diag);
    cute_diag_destroy(diag);
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
                "expects a type without unknown leaves ('?'), got \"%.*s\"", (int)text.length, text.data);
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
    if (cute_type_value(arena, mlirValueGetType(mlirOperationGetResult(op, 0)), &value, NULL)) goto out;
    size_t want = cute_value_unknowns(&value, NULL, 0), got = (size_t)mlirOperationGetNumOperands(op);
    if (want != got) {
        fail(location, name_text, "expects %zu operand%s, one for each '?' of the result type, got %zu", want,
             want == 1 ? "" : "s", got);
        goto out;
    }
    cute_int *leaves = cute_arena_array(arena, want, sizeof *leaves);
    if (want && !leaves) goto out;
    cute_value_unknowns(&value, leaves, want);
    for (size_t i = 0; i < want; i++) {
        MlirType type = mlirValueGetType(mlirOperationGetOperand(op, (intptr_t)i));
        int width = 0;
        if (mlirTypeIsAInteger(type)) {
            width = (int)mlirIntegerTypeGetWidth(type);
        } else {
            cute_value leaf;
            cute_int unknown;
            if (cute_type_value(arena, type, &leaf, NULL)) goto out;
            if (cute_value_unknowns(&leaf, &unknown, 1) != 1 || leaf.tree->kind == CUTE_TREE_TUPLE) {
                fail(location, name_text, "expects operand %zu to be an integer or one unknown leaf", i);
                goto out;
            }
            width = unknown.width;
        }
        if (width != leaves[i].width) {
            fail(location, name_text, "expects operand %zu to be i%d, as wide as its '?', got i%d", i,
                 leaves[i].width, width);
            goto out;
        }
    }
    ok = true;
out:
    cute_arena_destroy(arena);
    return ok;
}

/* Appends a type for each scalar of a tree: see get_scalars. */
static void add_scalars(const cute_op_query *query, const cute_tree *tree, bool only_unknown, cute_op_types *out)
{
    MlirType i32 = mlirIntegerTypeGet(query->context, 32);
    switch (tree->kind) {
    case CUTE_TREE_UNDERSCORE: return;
    case CUTE_TREE_INT:
    case CUTE_TREE_BASIS:
        if (!tree->value.known)
            cute_op_types_add(out, mlirIntegerTypeGet(query->context, (unsigned)tree->value.width));
        else if (!only_unknown)
            cute_op_types_add(out, i32);
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
                        !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(query->attributes,
                                                                               cute_text("only_dynamic")));
    cute_arena *arena = cute_arena_create();
    cute_value value;
    bool ok = query->operand_count == 1 &&
              cute_type_value(arena, mlirValueGetType(query->operands[0]), &value, NULL) == CUTE_OK;
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

/* ---- the table ---- */

#define CUTE_OPERATION(id, name, least, most, summary)                                                         \
    static bool infer_##id(const cute_op_query *query, cute_op_types *out) { return infer(query, CUTE_OP_##id, out); }
#include "cute/layout_ops.def"
#undef CUTE_OPERATION

static const cute_op_hooks table[] = {
#define CUTE_OPERATION(id, name, least, most, summary) {"cute." #name, infer_##id, NULL},
#include "cute/layout_ops.def"
#undef CUTE_OPERATION
    {"cute.static", NULL, verify_static},
    {"cute.make_int_tuple", NULL, verify_make},
    {"cute.make_shape", NULL, verify_make},
    {"cute.make_stride", NULL, verify_make},
    {"cute.make_coord", NULL, verify_make},
    {"cute.make_tile", NULL, verify_make},
    {"cute.get_scalars", infer_get_scalars, NULL},
};

const cute_op_hooks *cute_op_hooks_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length)) return &table[i];
    return NULL;
}
