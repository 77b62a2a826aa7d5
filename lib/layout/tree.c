/* Trees: construction, comparison and decomposition. Contains no arithmetic or text. */
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/layout/algebra.h"

static cute_tree *new_tree(cute_arena *arena, cute_tree_kind kind)
{
    cute_tree *t = cute_arena_alloc(arena, sizeof *t);
    if (!t) return NULL;
    t->kind = kind;
    t->leaves = 1;
    return t;
}

const cute_tree *cute_tree_scalar(cute_arena *arena, cute_int value)
{
    cute_tree *t = new_tree(arena, CUTE_TREE_INT);
    if (t) t->value = value;
    return t;
}

const cute_tree *cute_tree_number(cute_arena *arena, int64_t value)
{
    return cute_tree_scalar(arena, (cute_int){.known = true, .value = value});
}

const cute_tree *cute_tree_unknown(cute_arena *arena, int width, void *handle)
{
    return cute_tree_scalar(arena, (cute_int){.width = width, .handle = handle});
}

const cute_tree *cute_tree_tuple(cute_arena *arena, const cute_tree *const *items, size_t count)
{
    int depth = 0;
    uint64_t leaves = 0;
    if (count > CUTE_MAX_LEAVES) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!items[i]) return NULL;
        if (items[i]->depth > depth) depth = items[i]->depth;
        leaves += items[i]->leaves;
    }
    if (depth >= CUTE_MAX_DEPTH || leaves > CUTE_MAX_LEAVES) return NULL;
    cute_tree *t = new_tree(arena, CUTE_TREE_TUPLE);
    const cute_tree **copy = cute_arena_array(arena, count ? count : 1, sizeof *copy);
    if (!t || !copy) return NULL;
    if (count) memcpy(copy, items, count * sizeof *copy);
    t->depth = depth + 1;
    t->count = (uint32_t)count;
    t->leaves = (uint32_t)leaves;
    t->items = copy;
    return t;
}

bool cute_tree_congruent(const cute_tree *a, const cute_tree *b)
{
    if (alg_is_leaf(a) || alg_is_leaf(b)) return alg_is_leaf(a) && alg_is_leaf(b);
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!cute_tree_congruent(a->items[i], b->items[i])) return false;
    return true;
}

bool cute_tree_weakly_congruent(const cute_tree *coarse, const cute_tree *fine)
{
    if (alg_is_leaf(coarse)) return true;
    if (alg_is_leaf(fine) || coarse->count != fine->count) return false;
    for (uint32_t i = 0; i < coarse->count; i++)
        if (!cute_tree_weakly_congruent(coarse->items[i], fine->items[i])) return false;
    return true;
}

static bool int_equal(const cute_int *a, const cute_int *b)
{
    if (a->known != b->known) return false;
    return a->known ? a->value == b->value : a->width == b->width && a->divisor == b->divisor;
}

bool cute_tree_equal(const cute_tree *a, const cute_tree *b)
{
    if (a == b) return true;
    if (a->kind != b->kind || a->count != b->count) return false;
    switch (a->kind) {
    case CUTE_TREE_INT: return int_equal(&a->value, &b->value);
    case CUTE_TREE_UNDERSCORE: return true;
    case CUTE_TREE_BASIS:
        return int_equal(&a->value, &b->value) && !memcmp(a->path, b->path, a->count * sizeof *a->path);
    case CUTE_TREE_LAYOUT:
        return cute_tree_equal(a->layout.shape, b->layout.shape) &&
               cute_tree_equal(a->layout.stride, b->layout.stride);
    case CUTE_TREE_TUPLE: break;
    }
    for (uint32_t i = 0; i < a->count; i++)
        if (!cute_tree_equal(a->items[i], b->items[i])) return false;
    return true;
}

bool cute_tree_is_static(const cute_tree *t)
{
    switch (t->kind) {
    case CUTE_TREE_INT:
    case CUTE_TREE_BASIS: return t->value.known;
    case CUTE_TREE_UNDERSCORE: return true;
    case CUTE_TREE_LAYOUT:
        return cute_tree_is_static(t->layout.shape) && cute_tree_is_static(t->layout.stride);
    case CUTE_TREE_TUPLE: break;
    }
    for (uint32_t i = 0; i < t->count; i++)
        if (!cute_tree_is_static(t->items[i])) return false;
    return true;
}

/* ---- internal to the algebra ---- */

void alg_push(cute_algebra *a, alg_list *list, cute_node item)
{
    if (!item) list->failed = true;
    if (list->failed) return;
    if (!cute_arena_more(a->arena, &list->items, list->count, &list->capacity, sizeof *list->items, 8)) {
        alg_exhausted(a);
        list->failed = true;
        return;
    }
    list->items[list->count++] = item;
}

cute_node alg_tuple(cute_algebra *a, const alg_list *list)
{
    if (list->failed) return NULL;
    cute_node t = cute_tree_tuple(a->arena, list->items, list->count);
    if (t) return t;
    uint64_t leaves = 0;
    for (size_t i = 0; i < list->count; i++) {
        leaves += list->items[i]->leaves;
        if (list->items[i]->depth >= CUTE_MAX_DEPTH)
            return alg_fail(a, "the result would nest deeper than %d levels", CUTE_MAX_DEPTH);
    }
    if (leaves > CUTE_MAX_LEAVES || list->count > CUTE_MAX_LEAVES)
        return alg_fail(a, "the result would have more than %d leaves", CUTE_MAX_LEAVES);
    return alg_exhausted(a);
}

cute_node alg_pair(cute_algebra *a, cute_node first, cute_node second)
{
    alg_list list = {0};
    alg_push(a, &list, first);
    alg_push(a, &list, second);
    return alg_tuple(a, &list);
}

cute_node alg_scalar(cute_algebra *a, cute_int value)
{
    cute_node t = cute_tree_scalar(a->arena, value);
    return t ? t : alg_exhausted(a);
}

cute_node alg_number(cute_algebra *a, int64_t value)
{
    return alg_scalar(a, (cute_int){.known = true, .value = value});
}

cute_node alg_empty(cute_algebra *a)
{
    return alg_tuple(a, &(alg_list){0});
}

cute_node alg_basis(cute_algebra *a, cute_int value, const int32_t *path, size_t length)
{
    if (length == 0) return alg_scalar(a, value);
    if (length > CUTE_MAX_DEPTH)
        return alg_fail(a, "a basis vector would be longer than %d indices", CUTE_MAX_DEPTH);
    cute_tree *t = new_tree(a->arena, CUTE_TREE_BASIS);
    int32_t *copy = cute_arena_array(a->arena, length, sizeof *copy);
    if (!t || !copy) return alg_exhausted(a);
    memcpy(copy, path, length * sizeof *copy);
    for (size_t i = 0; i < length; i++)
        if (path[i] < 0 || path[i] > CUTE_MAX_BASIS)
            return alg_fail(a, "expects basis mode indices from 0 to %d, but got %d", CUTE_MAX_BASIS,
                            path[i]);
    t->value = value;
    t->path = copy;
    t->count = (uint32_t)length;
    return t;
}

cute_node alg_layout_leaf(cute_algebra *a, cute_layout layout)
{
    if (!layout.shape || !layout.stride) return NULL;
    cute_tree *t = new_tree(a->arena, CUTE_TREE_LAYOUT);
    if (!t) return alg_exhausted(a);
    t->layout = layout;
    return t;
}

bool alg_has(cute_node t, cute_tree_kind kind)
{
    if (t->kind == kind) return true;
    if (alg_is_leaf(t)) return false;
    for (uint32_t i = 0; i < t->count; i++)
        if (alg_has(t->items[i], kind)) return true;
    return false;
}

bool alg_only_ints(cute_node t)
{
    if (alg_is_leaf(t)) return alg_is_int(t);
    for (uint32_t i = 0; i < t->count; i++)
        if (!alg_only_ints(t->items[i])) return false;
    return true;
}

bool alg_only_zeros(cute_node t)
{
    if (alg_is_leaf(t)) return alg_is(t, 0);
    for (uint32_t i = 0; i < t->count; i++)
        if (!alg_only_zeros(t->items[i])) return false;
    return true;
}

static void push_leaves(cute_algebra *a, alg_list *list, cute_node t)
{
    if (alg_is_leaf(t)) {
        alg_push(a, list, t);
        return;
    }
    for (uint32_t i = 0; i < t->count; i++) push_leaves(a, list, t->items[i]);
}

cute_node alg_flatten_to_tuple(cute_algebra *a, cute_node t)
{
    alg_list list = {0};
    if (!t) return NULL;
    push_leaves(a, &list, t);
    return alg_tuple(a, &list);
}

cute_node alg_flatten(cute_algebra *a, cute_node t)
{
    return t && !alg_is_leaf(t) ? alg_flatten_to_tuple(a, t) : t;
}

cute_node alg_unwrap(cute_node t)
{
    while (t && t->kind == CUTE_TREE_TUPLE && t->count == 1) t = t->items[0];
    return t;
}

cute_node alg_take(cute_algebra *a, cute_node t, size_t begin, size_t end)
{
    alg_list list = {0};
    if (!t) return NULL;
    for (size_t i = begin; i < end; i++) alg_push(a, &list, alg_mode(t, i));
    return alg_tuple(a, &list);
}

cute_node alg_repeat_like(cute_algebra *a, cute_node t, cute_node leaf)
{
    if (!t || alg_is_leaf(t)) return t ? leaf : NULL;
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count; i++) alg_push(a, &list, alg_repeat_like(a, t->items[i], leaf));
    return alg_tuple(a, &list);
}

void alg_push_modes(cute_algebra *a, alg_list *list, cute_node t)
{
    if (!t)
        list->failed = true;
    else if (alg_is_leaf(t))
        alg_push(a, list, t);
    else
        for (uint32_t i = 0; i < t->count; i++) alg_push(a, list, t->items[i]);
}

int64_t alg_known_size(cute_node t)
{
    int64_t size = 1;
    if (t->kind == CUTE_TREE_LAYOUT) return alg_known_size(t->layout.shape);
    if (t->kind != CUTE_TREE_TUPLE) return alg_is_known(t) ? t->value.value : 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (!cute_mul64(size, alg_known_size(t->items[i]), &size)) return 0;
    return size;
}
