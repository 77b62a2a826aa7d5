/* See fields.h. */
#include "lib/ir/dialects/fields.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/atoms/tma.h"
#include "lib/ir/mlir/util.h"

/* ---- types ---- */

static MlirType struct_of(MlirContext c, intptr_t count, const MlirType *fields)
{
    return mlirLLVMStructTypeLiteralGet(c, count, fields, false);
}

/* The struct type of a value that is a single tree. */
static MlirType tree_type(MlirContext c, cute_arena *arena, const cute_value *value)
{
    size_t count = cute_value_unknowns(value, NULL, 0);
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirType *fields = cute_arena_array(arena, count, sizeof *fields);
    if (count && (!leaves || !fields)) return (MlirType){NULL};
    cute_value_unknowns(value, leaves, count);
    for (size_t i = 0; i < count; i++) fields[i] = mlirIntegerTypeGet(c, (unsigned)leaves[i].width);
    return count == 1 ? fields[0] : struct_of(c, (intptr_t)count, fields);
}

static MlirType layout_type(MlirContext c, cute_arena *arena, cute_layout layout)
{
    cute_value shape = cute_value_of_tree(CUTE_SHAPE, layout.shape);
    cute_value stride = cute_value_of_tree(CUTE_STRIDE, layout.stride);
    MlirType fields[] = {tree_type(c, arena, &shape), tree_type(c, arena, &stride)};
    return struct_of(c, 2, fields);
}

static size_t count_layouts(const cute_tree *tile)
{
    size_t count = tile->kind == CUTE_TREE_LAYOUT;
    if (tile->kind == CUTE_TREE_TUPLE)
        for (uint32_t i = 0; i < tile->count; i++) count += count_layouts(tile->items[i]);
    return count;
}

static void layout_types(MlirContext c, cute_arena *arena, const cute_tree *tile, MlirType **next)
{
    if (tile->kind == CUTE_TREE_LAYOUT) *(*next)++ = layout_type(c, arena, tile->layout);
    if (tile->kind == CUTE_TREE_TUPLE)
        for (uint32_t i = 0; i < tile->count; i++) layout_types(c, arena, tile->items[i], next);
}

MlirType cute_lower_leaves(MlirContext c, cute_arena *arena, MlirType type)
{
    return tree_type(c, arena, cute_type_peek(type));
}

MlirType cute_lower_layout(MlirContext c, cute_arena *arena, MlirType type)
{
    return layout_type(c, arena, cute_type_peek(type)->layout);
}

MlirType cute_lower_tile(MlirContext c, cute_arena *arena, MlirType type)
{
    const cute_tree *tile = cute_type_peek(type)->tree;
    size_t count = count_layouts(tile);
    MlirType *fields = cute_arena_array(arena, count, sizeof *fields), *next = fields;
    if (count && !fields) return (MlirType){NULL};
    layout_types(c, arena, tile, &next);
    return count == 1 ? fields[0] : struct_of(c, (intptr_t)count, fields);
}

MlirType cute_lower_composed(MlirContext c, cute_arena *arena, MlirType type)
{
    const cute_value *value = cute_type_peek(type);
    cute_value offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree);
    MlirType inner = value->inner.shape ? layout_type(c, arena, value->inner) : struct_of(c, 0, NULL);
    MlirType fields[] = {layout_type(c, arena, value->layout), tree_type(c, arena, &offset), inner};
    return struct_of(c, 3, fields);
}

/* A flat struct of the dynamic leaves, after `first` if given. */
static MlirType flat_type(MlirContext c, cute_arena *arena, const cute_value *value, MlirType first)
{
    size_t count = cute_value_unknowns(value, NULL, 0), extra = !mlirTypeIsNull(first);
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirType *fields = cute_arena_array(arena, count + extra, sizeof *fields);
    if ((count && !leaves) || (count + extra && !fields)) return (MlirType){NULL};
    cute_value_unknowns(value, leaves, count);
    if (extra) fields[0] = first;
    for (size_t i = 0; i < count; i++) fields[extra + i] = mlirIntegerTypeGet(c, (unsigned)leaves[i].width);
    return count + extra == 1 ? fields[0] : struct_of(c, (intptr_t)(count + extra), fields);
}

MlirType cute_pointer_type(MlirContext c, cute_space space)
{
    static const unsigned numbers[CUTE_SPACES] = {
        [CUTE_SPACE_GMEM] = 1, [CUTE_SPACE_SMEM] = 3, [CUTE_SPACE_TMEM] = 6};
    if (space == CUTE_SPACE_DESC) {
        MlirType word = mlirIntegerTypeGet(c, 32), words[] = {word, word};
        return struct_of(c, 2, words);
    }
    return mlirLLVMPointerTypeGet(c, numbers[space]);
}

MlirType cute_lower_pointer(MlirContext c, cute_arena *arena, MlirType type)
{
    (void)arena;
    return cute_pointer_type(c, cute_type_peek(type)->pointer->space);
}

MlirType cute_lower_tensor(MlirContext c, cute_arena *arena, MlirType type)
{
    const cute_value *value = cute_type_peek(type);
    return flat_type(c, arena, value, cute_pointer_type(c, value->pointer->space));
}

MlirType cute_lower_flat(MlirContext c, cute_arena *arena, MlirType type)
{
    return flat_type(c, arena, cute_type_peek(type), (MlirType){NULL});
}

MlirType cute_lower_integer(MlirContext c, cute_arena *arena, MlirType type)
{
    (void)arena;
    return mlirIntegerTypeGet(c, (unsigned)cute_type_peek(type)->tree->value.width);
}

MlirType cute_lower_mma(MlirContext c, cute_arena *arena, MlirType type)
{
    return cute_type_peek(type)->atom->wgmma ? mlirIntegerTypeGet(c, 1) : cute_lower_nothing(c, arena, type);
}

MlirType cute_lower_nothing(MlirContext c, cute_arena *arena, MlirType type)
{
    (void)arena, (void)type;
    return struct_of(c, 0, NULL);
}

MlirType cute_lower_tma(MlirContext c, cute_arena *arena, MlirType type)
{
    (void)arena;
    const cute_atom *atom = cute_type_peek(type)->atom;
    const cute_tma *tma = atom->tma;
    MlirType fields[] = {mlirLLVMPointerTypeGet(c, 0), mlirIntegerTypeGet(c, 64),
                         cute_pointer_type(c, CUTE_SPACE_SMEM), mlirIntegerTypeGet(c, 16)};
    if (!tma) return struct_of(c, atom->bulk->to == CUTE_SPACE_GMEM ? 2 : 4, fields);
    if (!tma->executable) return fields[0];
    return struct_of(c, tma->operation == CUTE_TMA_LOAD ? 4 : 2, fields);
}

/* ---- paths of leaves ---- */

static void walk_leaves(cute_fields *f, const cute_tree *tree)
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

static void walk_tree(cute_fields *f, cute_type type, const cute_tree *tree)
{
    cute_value value = cute_value_of_tree(type, tree);
    f->unknowns = cute_value_unknowns(&value, NULL, 0);
    f->seen = 0;
    walk_leaves(f, tree);
}

static void walk_layout(cute_fields *f, cute_layout layout)
{
    f->prefix[f->depth++] = 0;
    walk_tree(f, CUTE_SHAPE, layout.shape);
    f->prefix[f->depth - 1] = 1;
    walk_tree(f, CUTE_STRIDE, layout.stride);
    f->depth--;
}

/* `slot` is the index of the next layout among several, or -1. */
static void walk_tile(cute_fields *f, const cute_tree *tile, int64_t *slot)
{
    if (tile->kind == CUTE_TREE_TUPLE)
        for (uint32_t i = 0; i < tile->count; i++) walk_tile(f, tile->items[i], slot);
    if (tile->kind != CUTE_TREE_LAYOUT) return;
    f->depth = *slot >= 0;
    if (*slot >= 0) f->prefix[0] = (*slot)++;
    walk_layout(f, tile->layout);
    f->depth = 0;
}

void cute_walk_leaves(cute_fields *f, const cute_value *value)
{
    walk_tree(f, value->type, value->tree);
}

void cute_walk_layout(cute_fields *f, const cute_value *value)
{
    walk_layout(f, value->layout);
}

void cute_walk_tile(cute_fields *f, const cute_value *value)
{
    int64_t slot = count_layouts(value->tree) > 1 ? 0 : -1;
    walk_tile(f, value->tree, &slot);
}

void cute_walk_composed(cute_fields *f, const cute_value *value)
{
    f->depth = 1;
    f->prefix[0] = 0;
    walk_layout(f, value->layout);
    f->prefix[0] = 1;
    walk_tree(f, CUTE_INT_TUPLE, value->tree);
    f->prefix[0] = 2;
    if (value->inner.shape) walk_layout(f, value->inner);
}

/* All leaves of the parts in one struct, after the pointer if there is one. */
static void walk_flat(cute_fields *f, const cute_value *value)
{
    f->seen = value->pointer != NULL;
    f->unknowns = cute_value_unknowns(value, NULL, 0) + f->seen;
    if (value->type == CUTE_COORD_TENSOR) walk_leaves(f, value->tree);
    walk_leaves(f, value->layout.shape);
    walk_leaves(f, value->layout.stride);
    if (value->type != CUTE_COORD_TENSOR && value->tree) walk_leaves(f, value->tree);
    if (value->inner.shape) walk_leaves(f, value->inner.shape);
    if (value->inner.shape) walk_leaves(f, value->inner.stride);
}

void cute_walk_tensor(cute_fields *f, const cute_value *value)
{
    walk_flat(f, value);
}

void cute_fields_walk(cute_fields *f, const cute_value *value)
{
    const cute_type_row *row = cute_type_row_of_kind(value->type);
    if (row->walk) row->walk(f, value);
}

/* ---- fields of structs ---- */

MlirValue cute_fields_poison(const cute_builder *b, MlirType type)
{
    MlirNamedAttribute value =
        cute_attribute(b->context, "value", mlirAttributeParseGet(b->context, cute_text("#ub.poison")));
    return cute_build_value(b, "ub.poison", type, CUTE_NO_OPERANDS, CUTE_NAMED(value));
}

static MlirNamedAttribute position(MlirContext c, const int64_t *path, intptr_t depth)
{
    return cute_attribute(c, "position", mlirDenseI64ArrayGet(c, depth, path));
}

MlirValue cute_fields_insert(const cute_builder *b, MlirValue into, MlirValue value, const int64_t *path,
                             intptr_t depth)
{
    return cute_build_value(b, "llvm.insertvalue", mlirValueGetType(into), CUTE_OPERANDS(into, value),
                            CUTE_NAMED(position(b->context, path, depth)));
}

MlirValue cute_fields_extract(const cute_builder *b, MlirValue from, MlirType type, const int64_t *path,
                              intptr_t depth)
{
    return cute_build_value(b, "llvm.extractvalue", type, CUTE_OPERANDS(from),
                            CUTE_NAMED(position(b->context, path, depth)));
}

/* ---- all leaves of a value ---- */

typedef struct gathering {
    const cute_builder *builder;
    MlirValue stored;
    MlirValue *items;
    size_t count;
} gathering;

static void gather_leaf(cute_fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    gathering *g = f->context;
    if (leaf->value.known) return;
    MlirType type = mlirIntegerTypeGet(g->builder->context, (unsigned)leaf->value.width);
    g->items[g->count++] = depth ? cute_fields_extract(g->builder, g->stored, type, path, depth) : g->stored;
}

size_t cute_fields_gather(const cute_builder *b, const cute_value *value, MlirValue stored, MlirValue *items)
{
    gathering g = {b, stored, items, 0};
    cute_fields_walk(&(cute_fields){.leaf = gather_leaf, .context = &g}, value);
    return g.count;
}

static void scatter_leaf(cute_fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    gathering *g = f->context;
    if (leaf->value.known) return;
    MlirValue item = g->items[g->count++];
    g->stored = depth ? cute_fields_insert(g->builder, g->stored, item, path, depth) : item;
}

MlirValue cute_fields_scatter(const cute_builder *b, const cute_value *value, MlirValue into,
                              MlirValue *items)
{
    gathering g = {b, into, items, 0};
    cute_fields_walk(&(cute_fields){.leaf = scatter_leaf, .context = &g}, value);
    return g.stored;
}
