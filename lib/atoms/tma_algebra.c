/* Trees and layout operations for the TMA files. */
#include "lib/atoms/tma_algebra.h"

#include <string.h>

cute_status tma_apply(const tma_work *w, cute_operation operation, const cute_value *operands, size_t count,
                      cute_value *out)
{
    return cute_apply(w->arena, w->arith, operation, operands, count, NULL, out, w->diag);
}

cute_status tma_unary(const tma_work *w, cute_operation operation, cute_layout in, cute_layout *out)
{
    cute_value operand = cute_value_of_layout(in), result;
    CUTE_TRY(tma_apply(w, operation, &operand, 1, &result));
    *out = result.layout;
    return CUTE_OK;
}

cute_status tma_compose(const tma_work *w, cute_layout a, cute_layout b, cute_layout *out)
{
    cute_value operands[2] = {cute_value_of_layout(a), cute_value_of_layout(b)}, result;
    CUTE_TRY(tma_apply(w, CUTE_OP_COMPOSITION, operands, 2, &result));
    *out = result.layout;
    return CUTE_OK;
}

const cute_tree *tma_number(const tma_work *w, int64_t value)
{
    return cute_tree_number(w->arena, value);
}

const cute_tree *tma_pair(const tma_work *w, const cute_tree *a, const cute_tree *b)
{
    const cute_tree *items[2] = {a, b};
    return a && b ? cute_tree_tuple(w->arena, items, 2) : NULL;
}

uint32_t tma_rank(const cute_tree *t)
{
    return t->kind == CUTE_TREE_TUPLE ? t->count : 1;
}

const cute_tree *tma_mode(const cute_tree *t, uint32_t i)
{
    return t->kind == CUTE_TREE_TUPLE ? t->items[i] : t;
}

cute_layout tma_layout_mode(cute_layout layout, uint32_t i)
{
    return (cute_layout){tma_mode(layout.shape, i), tma_mode(layout.stride, i)};
}

const cute_tree *tma_basis(const tma_work *w, int64_t scale, const int32_t *path, uint32_t depth)
{
    cute_tree *t = cute_arena_alloc(w->arena, sizeof *t);
    int32_t *copy = cute_arena_array(w->arena, depth, sizeof *copy);
    if (!t || !copy) return NULL;
    memcpy(copy, path, depth * sizeof *copy);
    *t = (cute_tree){.kind = CUTE_TREE_BASIS,
                     .count = depth,
                     .leaves = 1,
                     .value = {.known = true, .width = 32, .value = scale},
                     .path = copy};
    return t;
}

int64_t tma_size(const cute_tree *shape)
{
    int64_t size = 1;
    if (shape->kind == CUTE_TREE_INT) return shape->value.known ? shape->value.value : 0;
    for (uint32_t i = 0; i < shape->count; i++)
        if (__builtin_mul_overflow(size, tma_size(shape->items[i]), &size)) return 0;
    return size;
}
