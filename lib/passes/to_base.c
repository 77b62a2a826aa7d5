/* cute-to-base: cute values as structs of the integers that are unknown.
 *
 * Requires: cute-expand-ops. Ensures: no operation or type of the dialect cute. A value with no unknown leaf is
 * `!llvm.struct<()>`, with one that integer, with more a flat struct; a layout is a pair of shape and stride, a tile its
 * layouts, a composed layout B, offset and A.
 *
 *     %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(4,1)">) -> !cute.layout<"(?,4):(4,1)">
 * ->
 *     %0 = ub.poison : !llvm.struct<(i32, struct<()>)>
 *     %1 = llvm.insertvalue %s, %0[0]
 *     %l = llvm.insertvalue %d, %1[1]
 *
 * Each operation is lowered between casts, while all types are still cute's; then every value of a cute type gets its
 * lowered type in place, and the casts, now from a type to itself, go.
 */
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/hooks.h"
#include "lib/ir/util.h"
#include "lib/passes/emitter.h"
#include "lib/passes/passes.h"
#include "lib/passes/print_value.h"

/* ---- types ---- */

static MlirType struct_of(MlirContext c, intptr_t count, const MlirType *fields)
{
    return mlirLLVMStructTypeLiteralGet(c, count, fields, false);
}

/* Of a value that is one tree. */
static MlirType lower_leaves(MlirContext c, cute_arena *arena, const cute_value *value)
{
    size_t count = cute_value_unknowns(value, NULL, 0);
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirType *fields = cute_arena_array(arena, count, sizeof *fields);
    if (count && (!leaves || !fields)) return (MlirType){NULL};
    cute_value_unknowns(value, leaves, count);
    for (size_t i = 0; i < count; i++) fields[i] = mlirIntegerTypeGet(c, (unsigned)leaves[i].width);
    return count == 1 ? fields[0] : struct_of(c, (intptr_t)count, fields);
}

static MlirType lower_layout(MlirContext c, cute_arena *arena, cute_layout layout)
{
    cute_value shape = cute_value_of_tree(CUTE_SHAPE, layout.shape);
    cute_value stride = cute_value_of_tree(CUTE_STRIDE, layout.stride);
    MlirType fields[] = {lower_leaves(c, arena, &shape), lower_leaves(c, arena, &stride)};
    return struct_of(c, 2, fields);
}

static size_t count_layouts(const cute_tree *tile)
{
    size_t count = tile->kind == CUTE_TREE_LAYOUT;
    if (tile->kind == CUTE_TREE_TUPLE)
        for (uint32_t i = 0; i < tile->count; i++) count += count_layouts(tile->items[i]);
    return count;
}

static void lower_layouts(MlirContext c, cute_arena *arena, const cute_tree *tile, MlirType **next)
{
    if (tile->kind == CUTE_TREE_LAYOUT) *(*next)++ = lower_layout(c, arena, tile->layout);
    if (tile->kind == CUTE_TREE_TUPLE)
        for (uint32_t i = 0; i < tile->count; i++) lower_layouts(c, arena, tile->items[i], next);
}

/* The layouts side by side, without `_`; a single one stands alone. */
static MlirType lower_tile(MlirContext c, cute_arena *arena, const cute_tree *tile)
{
    size_t count = count_layouts(tile);
    MlirType *fields = cute_arena_array(arena, count, sizeof *fields), *next = fields;
    if (count && !fields) return (MlirType){NULL};
    lower_layouts(c, arena, tile, &next);
    return count == 1 ? fields[0] : struct_of(c, (intptr_t)count, fields);
}

static MlirType lower_value(MlirContext c, cute_arena *arena, const cute_value *value)
{
    if (value->type == CUTE_TILE) return lower_tile(c, arena, value->tree);
    if (value->type == CUTE_LAYOUT) return lower_layout(c, arena, value->layout);
    if (value->type != CUTE_COMPOSED_LAYOUT) return lower_leaves(c, arena, value);
    cute_value offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree);
    MlirType inner = value->inner.shape ? lower_layout(c, arena, value->inner) : struct_of(c, 0, NULL);
    /* Stored as B, offset, A; written A o offset o B. */
    MlirType fields[] = {lower_layout(c, arena, value->layout), lower_leaves(c, arena, &offset), inner};
    return struct_of(c, 3, fields);
}

static MlirType lowered(MlirType type);

static MlirType lower_function(MlirType type)
{
    intptr_t inputs = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
    MlirType *types = calloc((size_t)(inputs + results) + 1, sizeof *types);
    if (!types) return type;
    for (intptr_t i = 0; i < inputs; i++) types[i] = lowered(mlirFunctionTypeGetInput(type, i));
    for (intptr_t i = 0; i < results; i++) types[inputs + i] = lowered(mlirFunctionTypeGetResult(type, i));
    type = mlirFunctionTypeGet(mlirTypeGetContext(type), inputs, types, results, types + inputs);
    free(types);
    return type;
}

/* The lowered type; `type` itself when nothing in it is of the dialect. */
static MlirType lowered(MlirType type)
{
    if (mlirTypeIsAFunction(type)) return lower_function(type);
    if (!cute_type_is(type, NULL)) return type;
    cute_arena *arena = cute_arena_create();
    cute_value value;
    MlirType result = type;
    if (arena && cute_type_value(type, &value, NULL) == CUTE_OK)
        result = lower_value(mlirTypeGetContext(type), arena, &value);
    cute_arena_destroy(arena);
    return result;
}

/* ---- where leaves lie ---- */

/* Walks the leaves of a value in the order in which they are stored (a composed layout's B, offset, A) with the path
 * of each unknown one in the lowered struct. */
typedef struct fields {
    void (*leaf)(struct fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth);
    void *context;
    int64_t prefix[3]; /* of the tree in hand, and room for the leaf's own index */
    intptr_t depth;
    size_t unknowns, seen; /* of the tree in hand */
} fields;

static void walk_leaves(fields *f, const cute_tree *tree)
{
    if (tree->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < tree->count; i++) walk_leaves(f, tree->items[i]);
    } else if (tree->kind == CUTE_TREE_INT || tree->kind == CUTE_TREE_BASIS) {
        intptr_t depth = f->depth;
        if (!tree->value.known && f->unknowns > 1) f->prefix[depth++] = (int64_t)f->seen;
        f->seen += !tree->value.known;
        f->leaf(f, tree, f->prefix, depth);
    }
}

static void walk_tree(fields *f, cute_type type, const cute_tree *tree)
{
    cute_value value = cute_value_of_tree(type, tree);
    f->unknowns = cute_value_unknowns(&value, NULL, 0);
    f->seen = 0;
    walk_leaves(f, tree);
}

static void walk_layout(fields *f, cute_layout layout)
{
    f->prefix[f->depth++] = 0;
    walk_tree(f, CUTE_SHAPE, layout.shape);
    f->prefix[f->depth - 1] = 1;
    walk_tree(f, CUTE_STRIDE, layout.stride);
    f->depth--;
}

/* `slot` is the index of the next layout among several, or -1. */
static void walk_tile(fields *f, const cute_tree *tile, int64_t *slot)
{
    if (tile->kind == CUTE_TREE_TUPLE)
        for (uint32_t i = 0; i < tile->count; i++) walk_tile(f, tile->items[i], slot);
    if (tile->kind != CUTE_TREE_LAYOUT) return;
    f->depth = *slot >= 0;
    if (*slot >= 0) f->prefix[0] = (*slot)++;
    walk_layout(f, tile->layout);
    f->depth = 0;
}

static void walk_value(fields *f, const cute_value *value)
{
    if (value->type == CUTE_LAYOUT) {
        walk_layout(f, value->layout);
    } else if (value->type == CUTE_TILE) {
        int64_t slot = count_layouts(value->tree) > 1 ? 0 : -1;
        walk_tile(f, value->tree, &slot);
    } else if (value->type == CUTE_COMPOSED_LAYOUT) {
        f->depth = 1;
        f->prefix[0] = 0;
        walk_layout(f, value->layout);
        f->prefix[0] = 1;
        walk_tree(f, CUTE_INT_TUPLE, value->tree);
        f->prefix[0] = 2;
        if (value->inner.shape) walk_layout(f, value->inner);
    } else if (value->tree) {
        walk_tree(f, value->type, value->tree);
    }
}

/* ---- building ---- */

static MlirValue one(MlirOperation where, const char *name, const MlirValue *operands, intptr_t count, MlirType type,
                     const MlirNamedAttribute *attributes, intptr_t attribute_count)
{
    return mlirOperationGetResult(cute_op_insert_before(where, &(cute_op_new){
        .name = name, .location = mlirOperationGetLocation(where), .operands = operands, .operand_count = count,
        .results = &type, .result_count = 1, .attributes = attributes, .attribute_count = attribute_count}), 0);
}

static MlirValue cast(MlirOperation where, MlirValue value, MlirType type)
{
    if (mlirTypeEqual(mlirValueGetType(value), type)) return value;
    return one(where, "builtin.unrealized_conversion_cast", &value, 1, type, NULL, 0);
}

static MlirValue poison(MlirOperation where, MlirType type)
{
    MlirContext c = mlirOperationGetContext(where);
    MlirNamedAttribute value = cute_attribute(c, "value", mlirAttributeParseGet(c, cute_text("#ub.poison")));
    return one(where, "ub.poison", NULL, 0, type, &value, 1);
}

static MlirNamedAttribute position(MlirContext c, const int64_t *path, intptr_t count)
{
    return cute_attribute(c, "position", mlirDenseI64ArrayGet(c, count, path));
}

static MlirValue insert_value(MlirOperation where, MlirValue into, MlirValue value, const int64_t *path, intptr_t depth)
{
    MlirNamedAttribute at = position(mlirOperationGetContext(where), path, depth);
    MlirValue operands[] = {into, value};
    return one(where, "llvm.insertvalue", operands, 2, mlirValueGetType(into), &at, 1);
}

static void replace(MlirOperation op, MlirValue value)
{
    MlirValue old = mlirOperationGetResult(op, 0);
    mlirValueReplaceAllUsesOfWith(old, cast(op, value, mlirValueGetType(old)));
    mlirOperationDestroy(op);
}

/* ---- operations ---- */

typedef struct making {
    MlirOperation op;
    MlirValue value;
    intptr_t next; /* operand */
} making;

/* The integer for a leaf: an operand, lowered; a tuple without unknown leaf becomes a constant. */
static MlirValue operand_for(MlirOperation op, MlirValue operand, int width)
{
    MlirType type = mlirValueGetType(operand);
    if (!cute_type_is_static(type)) return cast(op, operand, lowered(type));
    cute_arena *arena = cute_arena_create();
    cute_value value;
    int64_t number = 0;
    if (arena && cute_type_value(type, &value, NULL) == CUTE_OK) number = value.tree->value.value;
    cute_arena_destroy(arena);
    return cute_emit_constant(op, width, number);
}

static void put_leaf(fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    making *m = f->context;
    if (leaf->value.known) return;
    MlirValue operand = operand_for(m->op, mlirOperationGetOperand(m->op, m->next++), leaf->value.width);
    m->value = depth ? insert_value(m->op, m->value, operand, path, depth) : operand;
}

/* From integers, one for each unknown leaf. */
static bool lower_make(MlirOperation op)
{
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0)), to = lowered(type);
    cute_arena *arena = cute_arena_create();
    cute_value value;
    bool ok = arena && cute_type_value(type, &value, NULL) == CUTE_OK;
    if (ok) {
        making m = {.op = op};
        if (mlirTypeIsALLVMStructType(to)) m.value = poison(op, to);
        walk_value(&(fields){.leaf = put_leaf, .context = &m}, &value);
        replace(op, m.value);
    }
    cute_arena_destroy(arena);
    return ok;
}

/* From parts, which are whole fields. */
static bool lower_assemble(MlirOperation op)
{
    MlirValue value = poison(op, lowered(mlirValueGetType(mlirOperationGetResult(op, 0))));
    intptr_t count = mlirOperationGetNumOperands(op);
    /* A composed layout's operands are A, offset, B; its fields B, offset, A. */
    bool reversed = cute_op_is(op, "cute.make_composed_layout");
    for (int64_t i = 0; i < count; i++) {
        MlirValue operand = mlirOperationGetOperand(op, reversed ? count - 1 - i : i);
        value = insert_value(op, value, cast(op, operand, lowered(mlirValueGetType(operand))), &i, 1);
    }
    replace(op, value);
    return true;
}

static bool lower_static(MlirOperation op)
{
    replace(op, poison(op, lowered(mlirValueGetType(mlirOperationGetResult(op, 0)))));
    return true;
}

typedef struct scalars {
    MlirOperation op;
    MlirValue value; /* lowered */
    bool only_unknown;
    intptr_t count;
    MlirValue *items;
} scalars;

static void get_leaf(fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    scalars *s = f->context;
    MlirContext c = mlirOperationGetContext(s->op);
    if (leaf->value.known && s->only_unknown) return;
    if (leaf->value.known) {
        s->items[s->count++] = cute_emit_constant(s->op, cute_scalar_width(&leaf->value), leaf->value.value);
    } else if (depth == 0) {
        s->items[s->count++] = s->value;
    } else {
        MlirNamedAttribute at = position(c, path, depth);
        MlirType type = mlirIntegerTypeGet(c, (unsigned)leaf->value.width);
        s->items[s->count++] = one(s->op, "llvm.extractvalue", &s->value, 1, type, &at, 1);
    }
    if (leaf->kind == CUTE_TREE_BASIS && !s->only_unknown)
        for (uint32_t i = leaf->count; i-- > 0;)
            s->items[s->count++] = cute_emit_constant(s->op, 32, leaf->path[i]);
}

static void count_leaf(fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    scalars *s = f->context;
    (void)path, (void)depth;
    if (leaf->value.known && s->only_unknown) return;
    s->count += leaf->kind == CUTE_TREE_BASIS && !s->only_unknown ? 1 + (intptr_t)leaf->count : 1;
}

/* B, offset, A, as they were read, to A, offset, B, as they are given. */
static void reverse_parts(scalars *s, const cute_value *value, MlirValue *items)
{
    cute_value outer = cute_value_of_layout(value->layout), offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree);
    scalars b = {.only_unknown = s->only_unknown}, o = b;
    walk_value(&(fields){.leaf = count_leaf, .context = &b}, &outer);
    walk_value(&(fields){.leaf = count_leaf, .context = &o}, &offset);
    intptr_t a = s->count - b.count - o.count, n = 0;
    for (intptr_t i = 0; i < a; i++) items[n++] = s->items[b.count + o.count + i];
    for (intptr_t i = 0; i < o.count; i++) items[n++] = s->items[b.count + i];
    for (intptr_t i = 0; i < b.count; i++) items[n++] = s->items[i];
}

static bool lower_get_scalars(MlirOperation op)
{
    MlirValue operand = mlirOperationGetOperand(op, 0);
    cute_arena *arena = cute_arena_create();
    cute_value value;
    intptr_t count = mlirOperationGetNumResults(op);
    MlirValue *items = calloc(2 * (size_t)count + 1, sizeof *items), *results = items + count;
    bool ok = arena && items && cute_type_value(mlirValueGetType(operand), &value, NULL) == CUTE_OK;
    if (ok) {
        scalars s = {.op = op, .only_unknown = cute_op_has(op, "only_dynamic"), .items = items};
        s.value = cast(op, operand, lowered(mlirValueGetType(operand)));
        bool composed = value.type == CUTE_COMPOSED_LAYOUT;
        bool swizzled = value.type == CUTE_SWIZZLE || (composed && !value.inner.shape);
        const int parameters[] = {value.swizzle.bits, value.swizzle.base, value.swizzle.shift};
        intptr_t first = swizzled && !s.only_unknown ? 3 : 0; /* results before the leaves */
        for (intptr_t i = 0; i < first; i++) results[i] = cute_emit_constant(op, 32, parameters[i]);
        walk_value(&(fields){.leaf = get_leaf, .context = &s}, &value);
        if (composed) reverse_parts(&s, &value, results + first);
        else memcpy(results + first, items, (size_t)s.count * sizeof *items);
        for (intptr_t i = 0; i < count; i++) mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
        mlirOperationDestroy(op);
    }
    free(items);
    cute_arena_destroy(arena);
    return ok;
}

static bool lower_print(MlirOperation op)
{
    MlirValue operand = mlirOperationGetOperand(op, 0);
    cute_arena *arena = cute_arena_create();
    cute_value value;
    bool ok = arena && cute_type_value(mlirValueGetType(operand), &value, NULL) == CUTE_OK &&
              cute_print_lower(op, &value, cast(op, operand, lowered(mlirValueGetType(operand))));
    cute_arena_destroy(arena);
    return ok;
}

/* False after an error. */
static const struct {
    const char *name;
    bool (*lower)(MlirOperation op);
} table[] = {
    {"cute.static", lower_static},
    {"cute.get_scalars", lower_get_scalars},
    {"cute.print", lower_print},
    {"cute.make_int_tuple", lower_make},
    {"cute.make_shape", lower_make},
    {"cute.make_stride", lower_make},
    {"cute.make_coord", lower_make},
    {"cute.make_tile", lower_make},
    {"cute.make_layout", lower_assemble},
    {"cute.make_composed_layout", lower_assemble},
};

/* ---- the walk ---- */

typedef struct lowering {
    cute_pass_run *pass;
    bool failed;
} lowering;

static void lower(MlirOperation op, void *context)
{
    lowering *l = context;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    if (name.length < 5 || memcmp(name.data, "cute.", 5)) return;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!cute_text_is(name, table[i].name)) continue;
        if (table[i].lower(op)) return;
        cute_pass_fail(l->pass);
        l->failed = true;
        return;
    }
    char text[160];
    snprintf(text, sizeof text, "'%.*s' op is not lowered: run cute-expand-ops before cute-to-base", (int)name.length,
             name.data);
    mlirEmitError(mlirOperationGetLocation(op), text);
    cute_pass_fail(l->pass);
    l->failed = true;
}

static void retype_value(MlirValue value)
{
    MlirType from = mlirValueGetType(value), to = lowered(from);
    if (!mlirTypeEqual(from, to)) mlirValueSetType(value, to);
}

static void retype_signature(MlirOperation op)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("function_type"));
    if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAType(attribute)) return;
    MlirType from = mlirTypeAttrGetValue(attribute), to = lowered(from);
    if (!mlirTypeEqual(from, to))
        mlirOperationSetAttributeByName(op, cute_text("function_type"), mlirTypeAttrGet(to));
}

static void retype(MlirOperation op, void *context)
{
    (void)context;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) retype_value(mlirOperationGetResult(op, i));
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++) retype_value(mlirBlockGetArgument(b, i));
    retype_signature(op);
}

static void drop_cast(MlirOperation op, void *context)
{
    (void)context;
    if (!cute_op_is(op, "builtin.unrealized_conversion_cast") || mlirOperationGetNumOperands(op) != 1 ||
        mlirOperationGetNumResults(op) != 1)
        return;
    MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetResult(op, 0);
    if (!mlirTypeEqual(mlirValueGetType(from), mlirValueGetType(to))) return;
    mlirValueReplaceAllUsesOfWith(to, from);
    mlirOperationDestroy(op);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    lowering l = {.pass = pass};
    cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, lower, &l);
    if (l.failed) return;
    cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, retype, &l);
    cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, drop_cast, &l);
}

static MlirDialectHandle (*const dialects[])(void) = {cute_dialect_handle, mlirGetDialectHandle__arith__,
                                                      mlirGetDialectHandle__llvm__, NULL};

const cute_pass cute_pass_to_base = {
    .name = "cute-to-base",
    .help = "Lower cute values to structs of integers",
    .dialects = dialects,
    .run = run,
};
