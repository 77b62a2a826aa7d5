/* cute-to-base: cute values as structs of the integers that are unknown.
 *
 * Requires: cute-expand-ops. Ensures: no operation or type of the dialect cute. A value with no unknown leaf
 * is
 * `!llvm.struct<()>`, with one that integer, with more a flat struct; a layout is a pair of shape and stride,
 * a tile its layouts, a composed layout B, offset and A.
 *
 *     %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(4,1)">) ->
 * !cute.layout<"(?,4):(4,1)">
 * ->
 *     %0 = ub.poison : !llvm.struct<(i32, struct<()>)>
 *     %1 = llvm.insertvalue %s, %0[0]
 *     %l = llvm.insertvalue %d, %1[1]
 *
 * Types are lowered in place, so values cross scf, cf and calls without more ado.
 */
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/ir/builder.h"
#include "lib/ir/hooks.h"
#include "lib/ir/util.h"
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

static MlirType lower_builtin_tuple(MlirType type)
{
    intptr_t count = mlirTupleTypeGetNumTypes(type);
    MlirType *types = calloc((size_t)count + 1, sizeof *types);
    if (!types) return type;
    for (intptr_t i = 0; i < count; i++) types[i] = lowered(mlirTupleTypeGetType(type, i));
    type = mlirTupleTypeGet(mlirTypeGetContext(type), count, types);
    free(types);
    return type;
}

/* The lowered type; `type` itself when nothing in it is of the dialect. */
static MlirType lowered(MlirType type)
{
    if (mlirTypeIsAFunction(type)) return lower_function(type);
    if (mlirTypeIsATuple(type)) return lower_builtin_tuple(type);
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

/* Walks the leaves of a value in the order in which they are stored (a composed layout's B, offset, A) with
 * the path of each unknown one in the lowered struct. */
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

static MlirValue poison(MlirOperation where, MlirType type)
{
    cute_builder b = cute_builder_before(where);
    MlirNamedAttribute value =
        cute_attribute(b.context, "value", mlirAttributeParseGet(b.context, cute_text("#ub.poison")));
    return cute_build_value(&b, "ub.poison", type, CUTE_NO_OPERANDS, CUTE_NAMED(value));
}

static MlirNamedAttribute position(MlirContext c, const int64_t *path, intptr_t count)
{
    return cute_attribute(c, "position", mlirDenseI64ArrayGet(c, count, path));
}

static MlirValue insert_value(MlirOperation where, MlirValue into, MlirValue value, const int64_t *path,
                              intptr_t depth)
{
    cute_builder b = cute_builder_before(where);
    return cute_build_value(&b, "llvm.insertvalue", mlirValueGetType(into), CUTE_OPERANDS(into, value),
                            CUTE_NAMED(position(b.context, path, depth)));
}

static void replace(MlirOperation op, MlirValue value)
{
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
    mlirOperationDestroy(op);
}

/* ---- operations ---- */

typedef struct making {
    MlirOperation op;
    MlirValue value;
    intptr_t next; /* operand */
} making;

static void put_leaf(fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    making *m = f->context;
    if (leaf->value.known) return;
    MlirValue operand = mlirOperationGetOperand(m->op, m->next++);
    m->value = depth ? insert_value(m->op, m->value, operand, path, depth) : operand;
}

/* From integers, one for each unknown leaf. */
static bool lower_make(MlirOperation op, const cute_value *value)
{
    making m = {.op = op};
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (mlirTypeIsALLVMStructType(type)) m.value = poison(op, type);
    walk_value(&(fields){.leaf = put_leaf, .context = &m}, value);
    replace(op, m.value);
    return true;
}

/* From parts, which are whole fields. */
static bool lower_assemble(MlirOperation op, const cute_value *of)
{
    (void)of;
    MlirValue value = poison(op, mlirValueGetType(mlirOperationGetResult(op, 0)));
    intptr_t count = mlirOperationGetNumOperands(op);
    /* A composed layout's operands are A, offset, B; its fields B, offset, A. */
    bool reversed = cute_op_is(op, "cute.make_composed_layout");
    for (int64_t i = 0; i < count; i++) {
        MlirValue operand = mlirOperationGetOperand(op, reversed ? count - 1 - i : i);
        value = insert_value(op, value, operand, &i, 1);
    }
    replace(op, value);
    return true;
}

static bool lower_static(MlirOperation op, const cute_value *value)
{
    (void)value;
    replace(op, poison(op, mlirValueGetType(mlirOperationGetResult(op, 0))));
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
    cute_builder b = cute_builder_before(s->op);
    if (leaf->value.known && s->only_unknown) return;
    if (leaf->value.known) {
        s->items[s->count++] = cute_build_constant(&b, cute_scalar_width(&leaf->value), leaf->value.value);
    } else if (depth == 0) {
        s->items[s->count++] = s->value;
    } else {
        MlirType type = mlirIntegerTypeGet(b.context, (unsigned)leaf->value.width);
        s->items[s->count++] = cute_build_value(&b, "llvm.extractvalue", type, CUTE_OPERANDS(s->value),
                                                CUTE_NAMED(position(b.context, path, depth)));
    }
    if (leaf->kind == CUTE_TREE_BASIS && !s->only_unknown)
        for (uint32_t i = leaf->count; i-- > 0;)
            s->items[s->count++] = cute_build_constant(&b, 32, leaf->path[i]);
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
    cute_value outer = cute_value_of_layout(value->layout),
               offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree);
    scalars b = {.only_unknown = s->only_unknown}, o = b;
    walk_value(&(fields){.leaf = count_leaf, .context = &b}, &outer);
    walk_value(&(fields){.leaf = count_leaf, .context = &o}, &offset);
    intptr_t a = s->count - b.count - o.count, n = 0;
    for (intptr_t i = 0; i < a; i++) items[n++] = s->items[b.count + o.count + i];
    for (intptr_t i = 0; i < o.count; i++) items[n++] = s->items[b.count + i];
    for (intptr_t i = 0; i < b.count; i++) items[n++] = s->items[i];
}

static bool lower_get_scalars(MlirOperation op, const cute_value *value)
{
    intptr_t count = mlirOperationGetNumResults(op);
    MlirValue *items = calloc(2 * (size_t)count + 1, sizeof *items), *results = items + count;
    if (!items) return false;
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
    walk_value(&(fields){.leaf = get_leaf, .context = &s}, value);
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

static bool lower_print(MlirOperation op, const cute_value *value)
{
    return cute_print_lower(op, value, mlirOperationGetOperand(op, 0));
}

/* `lower` gets the value that the operation's result (or, for the last two, its operand) was before types
 * were lowered; it returns false after an error. */
static const struct {
    const char *name;
    bool (*lower)(MlirOperation op, const cute_value *value);
} table[] = {
    {"cute.static", lower_static},           {"cute.make_int_tuple", lower_make},
    {"cute.make_shape", lower_make},         {"cute.make_stride", lower_make},
    {"cute.make_coord", lower_make},         {"cute.make_tile", lower_make},
    {"cute.make_layout", lower_assemble},    {"cute.make_composed_layout", lower_assemble},
    {"cute.get_scalars", lower_get_scalars}, {"cute.print", lower_print},
};

/* ---- the walk: operations are noted with their values, all types are lowered in place, operations are
 * lowered ---- */

typedef struct job {
    MlirOperation op;
    const cute_value *value; /* the context's */
    size_t row;
} job;

typedef struct lowering {
    cute_pass_run *pass;
    job *jobs;
    size_t count, capacity;
    bool failed;
} lowering;

static void fail(lowering *l)
{
    cute_pass_fail(l->pass);
    l->failed = true;
}

static void note_job(lowering *l, MlirOperation op, size_t row)
{
    if (!cute_heap_more(&l->jobs, l->count, &l->capacity, sizeof *l->jobs, 64)) {
        fail(l);
        return;
    }
    MlirValue of = mlirOperationGetNumResults(op) == 1 && table[row].lower != lower_get_scalars
                       ? mlirOperationGetResult(op, 0)
                       : mlirOperationGetOperand(op, 0);
    const cute_value *value = cute_type_peek(mlirValueGetType(of));
    if (value)
        l->jobs[l->count++] = (job){op, value, row};
    else
        fail(l);
}

/* A tuple that is one known number becomes a constant while its type still says which. */
static void fold_operands(MlirOperation op)
{
    const cute_value *result = cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0)));
    intptr_t count = mlirOperationGetNumOperands(op);
    cute_builder b = cute_builder_before(op);
    cute_int *leaves = calloc((size_t)count + 1, sizeof *leaves);
    if (leaves && result) cute_value_unknowns(result, leaves, (size_t)count);
    for (intptr_t i = 0; leaves && i < count; i++) {
        const cute_value *operand = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, i)));
        if (operand && operand->tree->value.known)
            mlirOperationSetOperand(op, i,
                                    cute_build_constant(&b, leaves[i].width, operand->tree->value.value));
    }
    free(leaves);
}

static void note(MlirOperation op, void *context)
{
    lowering *l = context;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    if (name.length < 5 || memcmp(name.data, "cute.", 5)) return;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!cute_text_is(name, table[i].name)) continue;
        if (table[i].lower == lower_make) fold_operands(op);
        note_job(l, op, i);
        return;
    }
    char text[160];
    snprintf(text, sizeof text, "'%.*s' op is not lowered: run cute-expand-ops before cute-to-base",
             (int)name.length, name.data);
    mlirEmitError(mlirOperationGetLocation(op), text);
    fail(l);
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
    intptr_t regions = mlirOperationGetNumRegions(op);
    for (intptr_t r = 0; r < regions; r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++)
                retype_value(mlirBlockGetArgument(b, i));
    if (regions) retype_signature(op);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    lowering l = {.pass = pass};
    cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, note, &l);
    if (!l.failed) {
        cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, retype, NULL);
        for (size_t i = 0; i < l.count; i++)
            if (!table[l.jobs[i].row].lower(l.jobs[i].op, l.jobs[i].value)) fail(&l);
    }
    free(l.jobs);
}

const cute_pass cute_pass_to_base = {
    .name = "cute-to-base",
    .help = "Lower cute values to structs of integers",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM,
    .run = run,
};
