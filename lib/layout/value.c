/* Values: construction, comparison, listing and filling of unknown leaves. */
#include "lib/layout/pointer.h"

cute_value cute_value_of_tree(cute_type type, const cute_tree *tree)
{
    return (cute_value){.type = type, .tree = tree};
}

cute_value cute_value_of_layout(cute_layout layout)
{
    return (cute_value){.type = CUTE_LAYOUT, .layout = layout};
}

/* The trees of a value in the storage order of unknown leaves; returns their number. */
enum { MAX_PARTS = 5 };
static size_t trees_of_value(cute_value *v, const cute_tree **out[MAX_PARTS])
{
    const cute_tree **all[] = {&v->layout.shape, &v->layout.stride, &v->tree, &v->inner.shape,
                               &v->inner.stride};
    size_t n = 0;
    if (v->type == CUTE_COORD_TENSOR) { /* the iterator is stored first, like the pointer of a memref */
        all[0] = &v->tree;
        all[1] = &v->layout.shape;
        all[2] = &v->layout.stride;
    }
    for (size_t i = 0; i < MAX_PARTS; i++)
        if (*all[i]) out[n++] = all[i];
    return n;
}

bool cute_value_equal(const cute_value *a, const cute_value *b)
{
    const cute_tree **x[MAX_PARTS], **y[MAX_PARTS];
    cute_value v = *a, w = *b;
    if (a->type != b->type || a->width != b->width || a->atom != b->atom) return false;
    size_t n = trees_of_value(&v, x);
    if (n != trees_of_value(&w, y) || (!a->inner.shape && !alg_same_swizzle(a->swizzle, b->swizzle)))
        return false;
    if (!a->pointer != !b->pointer || (a->pointer && !alg_pointer_equal(a->pointer, b->pointer)))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!cute_tree_equal(*x[i], *y[i])) return false;
    return true;
}

bool cute_value_is_static(const cute_value *value)
{
    const cute_tree **x[MAX_PARTS];
    cute_value v = *value;
    size_t n = trees_of_value(&v, x);
    for (size_t i = 0; i < n; i++)
        if (!cute_tree_is_static(*x[i])) return false;
    return !value->pointer && value->type != CUTE_DIVISOR;
}

static void collect_unknowns(const cute_tree *t, cute_int *out, size_t capacity, size_t *count)
{
    switch (t->kind) {
    case CUTE_TREE_INT:
    case CUTE_TREE_BASIS:
        if (t->value.known) return;
        if (*count < capacity) out[*count] = t->value;
        ++*count;
        return;
    case CUTE_TREE_UNDERSCORE: return;
    case CUTE_TREE_LAYOUT:
        collect_unknowns(t->layout.shape, out, capacity, count);
        collect_unknowns(t->layout.stride, out, capacity, count);
        return;
    case CUTE_TREE_TUPLE:
        for (uint32_t i = 0; i < t->count; i++) collect_unknowns(t->items[i], out, capacity, count);
        return;
    }
}

size_t cute_value_unknowns(const cute_value *value, cute_int *out, size_t capacity)
{
    const cute_tree **x[MAX_PARTS];
    cute_value v = *value;
    size_t n = trees_of_value(&v, x), count = 0;
    for (size_t i = 0; i < n; i++) collect_unknowns(*x[i], out, capacity, &count);
    return count;
}

typedef struct filler {
    cute_algebra a;
    void *const *handles;
    size_t count, next;
} filler;

static cute_node fill_unknowns(filler *f, cute_node t)
{
    if (!t) return NULL;
    switch (t->kind) {
    case CUTE_TREE_INT:
    case CUTE_TREE_BASIS: {
        if (t->value.known) return t;
        if (f->next >= f->count)
            return alg_fail(&f->a, "expects more than %zu value(s) for the unknown leaves", f->count);
        cute_int value = t->value;
        value.handle = f->handles[f->next++];
        return alg_basis(&f->a, value, t->path, t->count);
    }
    case CUTE_TREE_UNDERSCORE: return t;
    case CUTE_TREE_LAYOUT: {
        cute_layout layout = {fill_unknowns(f, t->layout.shape), NULL};
        layout.stride = fill_unknowns(f, t->layout.stride);
        return alg_layout_leaf(&f->a, layout);
    }
    case CUTE_TREE_TUPLE: break;
    }
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count && !list.failed; i++)
        alg_push(&f->a, &list, fill_unknowns(f, t->items[i]));
    return alg_tuple(&f->a, &list);
}

cute_status cute_value_with_handles(cute_arena *arena, const cute_value *value, void *const *handles,
                                    size_t count, cute_value *out, cute_diag *diag)
{
    filler f = {.a = {.arena = arena, .diag = diag}, .handles = handles, .count = count};
    const cute_tree **x[MAX_PARTS];
    *out = *value;
    size_t n = trees_of_value(out, x);
    for (size_t i = 0; i < n; i++) *x[i] = fill_unknowns(&f, *x[i]);
    if (f.a.status == CUTE_OK && f.next != count)
        alg_fail(&f.a, "expects %zu value(s) for the unknown leaves, but got %zu", f.next, count);
    return f.a.status;
}

/* ---- leaves ---- */

cute_status cute_value_leaves(cute_arena *arena, const cute_value *value, bool layouts_only, cute_value **out,
                              size_t *count, cute_diag *diag)
{
    cute_algebra a = {.arena = arena, .diag = diag};
    *out = NULL;
    *count = 0;
    if (!value->tree || value->type == CUTE_COMPOSED_LAYOUT || value->type > CUTE_TILE ||
        (layouts_only && value->type != CUTE_TILE)) {
        alg_fail(&a,
                 layouts_only ? "expects tile to be !cute.tile, but got %s"
                              : "expects $input to be !cute.shape, !cute.stride, !cute.coord, "
                                "!cute.int_tuple, or !cute.tile, but got %s",
                 alg_type_text(&a, value));
        return a.status;
    }
    cute_node flat = alg_flatten_to_tuple(&a, value->tree);
    if (!flat) return a.status;
    cute_value *leaves = cute_arena_array(arena, flat->count ? flat->count : 1, sizeof *leaves);
    if (!leaves) return cute_fail_memory(diag);
    for (uint32_t i = 0; i < flat->count; i++) {
        cute_node leaf = flat->items[i];
        if (leaf->kind == CUTE_TREE_LAYOUT)
            leaves[(*count)++] = cute_value_of_layout(leaf->layout);
        else if (!layouts_only)
            leaves[(*count)++] = cute_value_of_tree(value->type, leaf);
    }
    *out = leaves;
    if (layouts_only && *count == 0)
        alg_fail(&a, "expects $tile to contain at least one layout slot, but got %s",
                 alg_type_text(&a, value));
    return a.status;
}

/* ---- rank only ---- */

cute_status cute_value_of_rank(cute_arena *arena, cute_type type, int64_t rank, cute_value *out,
                               cute_diag *diag)
{
    cute_algebra a = {.arena = arena, .diag = diag};
    *out = (cute_value){.type = type};
    if (type == CUTE_SWIZZLE || type == CUTE_COMPOSED_LAYOUT || type > CUTE_TILE) {
        alg_fail(&a, "expects the text of a %s, but got a rank", cute_type_name(type));
        return a.status;
    }
    if (rank < 1 || rank > 1024) {
        alg_fail(&a, "expects a rank from 1 to 1024, but got %lld", (long long)rank);
        return a.status;
    }
    cute_node leaf = alg_scalar(&a, (cute_int){.width = 32});
    if (type == CUTE_TILE && leaf) leaf = alg_layout_leaf(&a, (cute_layout){leaf, leaf});
    alg_list list = {0};
    for (int64_t i = 0; i < rank; i++) alg_push(&a, &list, leaf);
    cute_node tree = rank == 1 && type != CUTE_TILE ? leaf : alg_tuple(&a, &list);
    if (type == CUTE_LAYOUT)
        out->layout = (cute_layout){tree, tree};
    else
        out->tree = tree;
    return a.status;
}
