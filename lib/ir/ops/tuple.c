/* Constants, construction of tuples from their dynamic leaves, and decomposition into scalars and leaves. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"

/* ---- static ---- */

static bool verify_static(const cute_op_row *row, MlirOperation op)
{
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (cute_type_is_static(type)) return true;
    MlirStringRef text = cute_type_text(type);
    return cute_op_fail(mlirOperationGetLocation(op), row->name,
                        "expects result to be static, but got \"%.*s\": each '?' needs a value: use make_*",
                        (int)text.length, text.data);
}

static bool lower_static(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    cute_lowered(l, cute_fields_poison(&b, mlirValueGetType(mlirOperationGetResult(l->op, 0))));
    return true;
}

/* ---- constant ---- */

static MlirAttribute number_of(MlirOperation op)
{
    return mlirOperationGetAttributeByName(op, cute_text("number"));
}

static bool verify_constant(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *type = cute_check_result(&c, 0);
    if (type->tree->kind != CUTE_TREE_INT || type->tree->value.known)
        return cute_check_fail(&c,
                               "expects a type with a single dynamic leaf such as !cute.int_tuple<\"?\">");
    cute_int leaf = type->tree->value;
    int width = (int)mlirIntegerTypeGetWidth(mlirAttributeGetType(number_of(op)));
    if (width != leaf.width)
        return cute_check_fail(&c, "expects a number as wide as its result, %d bits, but got %d", leaf.width,
                               width);
    int64_t number = mlirIntegerAttrGetValueInt(number_of(op));
    if (leaf.divisor <= 1 || number % leaf.divisor == 0) return true;
    return cute_check_fail(&c, "expects a multiple of %lld, but got %lld", (long long)leaf.divisor,
                           (long long)number);
}

static cute_status expand_constant(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    cute_value value = *cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0)));
    cute_int leaf = value.tree->value;
    cute_builder b = cute_builder_before(op);
    leaf.handle = (void *)cute_build_constant(&b, leaf.width, mlirIntegerAttrGetValueInt(number_of(op))).ptr;
    value.tree = cute_tree_scalar(x->arena, leaf);
    return value.tree ? cute_value_replace(x, op, 0, &value) : cute_fail_memory(x->diag);
}

/* ---- make_int_tuple, make_shape, ... ---- */

/* The width of an operand for a dynamic leaf: an integer, or a scalar tuple, which may be static
 * (`wanted`). */
static int leaf_width(MlirType type, int wanted)
{
    cute_value leaf;
    if (mlirTypeIsAInteger(type)) return (int)mlirIntegerTypeGetWidth(type);
    if (cute_type_value(type, &leaf, NULL) || leaf.tree->kind != CUTE_TREE_INT) return 0;
    return leaf.tree->value.known ? wanted : leaf.tree->value.width;
}

/* The known divisor of an operand of make_*, or its value if *is_number; 0 if unknown, so that any divisor
 * can be assumed. */
static int64_t divisor_of(MlirValue operand, bool *is_number)
{
    MlirType type = mlirValueGetType(operand);
    const cute_value *leaf = cute_type_peek(type);
    *is_number = false;
    if (leaf && leaf->tree && leaf->tree->kind == CUTE_TREE_INT) {
        *is_number = leaf->tree->value.known;
        if (*is_number) return leaf->tree->value.value;
        return leaf->tree->value.divisor > 1 ? leaf->tree->value.divisor : 1;
    }
    MlirOperation op = cute_defining_op(operand);
    if (mlirOperationIsNull(op) || !cute_op_is(op, "arith.constant")) return 0;
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text("value"));
    *is_number = mlirAttributeIsAInteger(value);
    return *is_number ? mlirIntegerAttrGetValueInt(value) : 0;
}

/* Checks that an operand is, or may be, a multiple of its leaf's divisor. */
static bool check_divisor(const cute_op_row *row, MlirOperation op, intptr_t i, const cute_int *leaf)
{
    bool number;
    int64_t divisor = divisor_of(mlirOperationGetOperand(op, i), &number);
    if (leaf->divisor <= 1 || (!divisor && !number) || divisor % leaf->divisor == 0) return true;
    return cute_op_fail(mlirOperationGetLocation(op), row->name,
                        number ? "expects operand #%d to be a multiple of %lld, but got %lld"
                               : "expects operand #%d to be a multiple of %lld, but its divisor is %lld",
                        (int)i, (long long)leaf->divisor, (long long)divisor);
}

/* One operand per dynamic leaf, of the leaf's width and divisor. */
static bool verify_make_tuple(const cute_op_row *row, MlirOperation op)
{
    MlirLocation location = mlirOperationGetLocation(op);
    cute_arena *arena = cute_arena_create();
    bool ok = false;
    cute_value value;
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (cute_type_value(result, &value, NULL)) goto out;
    size_t want = cute_value_unknowns(&value, NULL, 0), got = (size_t)mlirOperationGetNumOperands(op);
    if (want != got) {
        MlirStringRef text = cute_type_text(result);
        cute_op_fail(location, row->name,
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
            cute_op_fail(location, row->name, "expects operand #%zu to have (width=%d), but got (width=%d)",
                         i, leaves[i].width, width);
            goto out;
        }
        if (!check_divisor(row, op, (intptr_t)i, &leaves[i])) goto out;
    }
    ok = true;
out:
    cute_arena_destroy(arena);
    return ok;
}

/* ---- get_scalars ---- */

/* The width of a leaf's scalar: 32, or 64 for a dynamic i64 and for an integer that needs it. */
static int scalar_width(const cute_int *value)
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
            cute_op_types_add(out, mlirIntegerTypeGet(query->context, (unsigned)scalar_width(&tree->value)));
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

static bool infer_get_scalars(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
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

typedef struct scalars {
    MlirOperation op;
    MlirValue value; /* lowered */
    bool only_unknown;
    intptr_t count;
    MlirValue *items;
} scalars;

static void collect_scalar(cute_fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    scalars *s = f->context;
    cute_builder b = cute_builder_before(s->op);
    if (leaf->value.known && s->only_unknown) return;
    if (leaf->value.known) {
        s->items[s->count++] = cute_build_constant(&b, scalar_width(&leaf->value), leaf->value.value);
    } else if (depth == 0) {
        s->items[s->count++] = s->value;
    } else {
        MlirType type = mlirIntegerTypeGet(b.context, (unsigned)leaf->value.width);
        s->items[s->count++] = cute_fields_extract(&b, s->value, type, path, depth);
    }
    if (leaf->kind == CUTE_TREE_BASIS && !s->only_unknown)
        for (uint32_t i = leaf->count; i-- > 0;)
            s->items[s->count++] = cute_build_constant(&b, 32, leaf->path[i]);
}

static void count_scalars(cute_fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    scalars *s = f->context;
    (void)path, (void)depth;
    if (leaf->value.known && s->only_unknown) return;
    s->count += leaf->kind == CUTE_TREE_BASIS && !s->only_unknown ? 1 + (intptr_t)leaf->count : 1;
}

/* Reorders B, offset, A (storage order) to A, offset, B (result order). */
static void reverse_parts(scalars *s, const cute_value *value, MlirValue *items)
{
    cute_value outer = cute_value_of_layout(value->layout),
               offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree);
    scalars b = {.only_unknown = s->only_unknown}, o = b;
    cute_fields_walk(&(cute_fields){.leaf = count_scalars, .context = &b}, &outer);
    cute_fields_walk(&(cute_fields){.leaf = count_scalars, .context = &o}, &offset);
    intptr_t a = s->count - b.count - o.count, n = 0;
    for (intptr_t i = 0; i < a; i++) items[n++] = s->items[b.count + o.count + i];
    for (intptr_t i = 0; i < o.count; i++) items[n++] = s->items[b.count + i];
    for (intptr_t i = 0; i < b.count; i++) items[n++] = s->items[i];
}

static bool lower_get_scalars(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    MlirOperation op = l->op;
    const cute_value *value = cute_type_peek(l->operands[0]);
    intptr_t count = mlirOperationGetNumResults(op);
    MlirValue *items = calloc(2 * (size_t)count + 1, sizeof *items), *results = items + count;
    if (!items || !value) {
        free(items);
        return false;
    }
    scalars s = {.op = op,
                 .only_unknown = cute_op_has(op, "only_dynamic"),
                 .items = items,
                 .value = mlirOperationGetOperand(op, 0)};
    bool composed = value->type == CUTE_COMPOSED_LAYOUT;
    bool swizzled = value->type == CUTE_SWIZZLE || (composed && !value->inner.shape);
    const int parameters[] = {value->swizzle.bits, value->swizzle.base, value->swizzle.shift};
    intptr_t first = swizzled && !s.only_unknown ? 3 : 0; /* results before the leaves */
    cute_builder b = cute_builder_before(op);
    for (intptr_t i = 0; i < first; i++) results[i] = cute_build_constant(&b, 32, parameters[i]);
    cute_fields_walk(&(cute_fields){.leaf = collect_scalar, .context = &s}, value);
    if (composed)
        reverse_parts(&s, value, results + first);
    else
        memcpy(results + first, items, (size_t)s.count * sizeof *items);
    for (intptr_t i = 0; i < count; i++)
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
    mlirOperationDestroy(op);
    free(items);
    return true;
}

/* ---- get_leaves, get_layouts_from_tile ---- */

static bool infer_parts(const cute_op_query *query, bool layouts_only, cute_op_types *out)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_value value, *parts;
    size_t count = 0;
    bool ok = cute_type_value(mlirValueGetType(query->operands[0]), &value, diag) == CUTE_OK &&
              cute_value_leaves(arena, &value, layouts_only, &parts, &count, diag) == CUTE_OK;
    if (!ok) cute_op_fail_diag(query->location, diag);
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

static cute_status expand_parts(const cute_expansion *x, MlirOperation op, bool layouts_only)
{
    cute_value value, *parts;
    size_t count;
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, 0), &value));
    CUTE_TRY(cute_value_leaves(x->arena, &value, layouts_only, &parts, &count, x->diag));
    for (size_t i = 0; i < count; i++) CUTE_TRY(cute_value_replace(x, op, (intptr_t)i, &parts[i]));
    return CUTE_OK;
}

static bool infer_leaves(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    return infer_parts(query, false, out);
}

static cute_status expand_leaves(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    return expand_parts(x, op, false);
}

static bool infer_layouts(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    return infer_parts(query, true, out);
}

static cute_status expand_layouts(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    return expand_parts(x, op, true);
}

/* ---- rows ---- */

#define MAKE(op)                                                                                             \
    {.name = "cute." #op, .parts = CUTE_PARTS_LEAVES, .verify = verify_make_tuple, .lower = cute_lower_parts}

static const cute_op_row rows[] = {
    {.name = "cute.static", .constant = true, .verify = verify_static, .lower = lower_static},
    {.name = "cute.constant", .verify = verify_constant, .expand = expand_constant},
    MAKE(make_int_tuple),
    MAKE(make_shape),
    MAKE(make_stride),
    MAKE(make_coord),
    MAKE(make_tile),
    {.name = "cute.get_scalars", .infer = infer_get_scalars, .lower = lower_get_scalars},
    {.name = "cute.get_leaves", .infer = infer_leaves, .expand = expand_leaves},
    {.name = "cute.get_layouts_from_tile", .infer = infer_layouts, .expand = expand_layouts},
};
const cute_op_family cute_family_tuple = {rows, sizeof rows / sizeof *rows};
