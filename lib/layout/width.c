/* Declared widths count as known bounds: an extent or stride of type `?{i64}` may be anything; one of type
 * `?` belongs to a tensor whose indices fit 32 bits, and a launch that violates this is rejected. */
#include "lib/layout/width.h"

static uint64_t saturating_product(uint64_t x, uint64_t y)
{
    return __builtin_mul_overflow(x, y, &x) ? UINT64_MAX : x;
}

static uint64_t saturating_sum(uint64_t x, uint64_t y)
{
    return __builtin_add_overflow(x, y, &x) ? UINT64_MAX : x;
}

uint64_t alg_leaf_reach(bool tensor, const cute_int *coord, const cute_int *extent, const cute_int *stride)
{
    uint64_t most;
    if (!stride->known) return 0;
    if (coord->known)
        most = alg_magnitude(coord->value);
    else if (extent->known)
        most = extent->value > 0 ? (uint64_t)extent->value - 1 : 0;
    else if (tensor && extent->width > 32)
        most = INT64_MAX;
    else
        return 0;
    if (!coord->known && coord->width <= 32 && most > INT32_MAX) most = INT32_MAX;
    return saturating_product(most, alg_magnitude(stride->value));
}

uint64_t alg_reach(bool tensor, cute_layout layout)
{
    static const cute_int any = {.width = 64};
    uint64_t reach = 0;
    if (!alg_is_leaf(layout.shape)) {
        for (uint32_t i = 0; i < layout.shape->count; i++)
            reach = saturating_sum(
                reach, alg_reach(tensor, (cute_layout){layout.shape->items[i], layout.stride->items[i]}));
        return reach;
    }
    if (!alg_is_int(layout.shape)) return 0;
    return alg_leaf_reach(tensor, &any, &layout.shape->value, &layout.stride->value);
}

/* ---- assumptions ---- */

typedef struct narrow_leaves {
    bool *narrow; /* may be NULL */
    size_t count, room;
    uint64_t reach; /* largest known sum of the 32-bit leaves */
    bool unknown;   /* some of those leaves are unknown */
} narrow_leaves;

static void add_leaves(narrow_leaves *l, cute_node shape, cute_node stride)
{
    if (!alg_is_leaf(shape)) {
        for (uint32_t i = 0; i < shape->count; i++) add_leaves(l, shape->items[i], stride->items[i]);
        return;
    }
    const cute_int *s = &shape->value, *d = &stride->value;
    bool integers = alg_is_int(shape) && alg_is_int(stride);
    bool wide = d->known ? !s->known && s->width > 32 : d->width > 32;
    size_t i = l->count++;
    if (l->narrow && i < l->room) l->narrow[i] = integers && !wide;
    if (!integers || wide) return;
    uint64_t most = s->known ? (s->value > 0 ? (uint64_t)s->value - 1 : 0) : INT32_MAX;
    l->reach =
        saturating_sum(l->reach, saturating_product(most, d->known ? alg_magnitude(d->value) : INT32_MAX));
    l->unknown |= !s->known || (!d->known && most);
}

bool cute_index_is_assumed(const cute_value *tensor, uint64_t below, bool *narrow, size_t room)
{
    narrow_leaves l = {.narrow = narrow, .room = room};
    if (tensor->type != CUTE_MEMREF || !tensor->layout.shape) return false;
    add_leaves(&l, tensor->layout.shape, tensor->layout.stride);
    return l.unknown && l.reach >= below && (!narrow || l.count <= room);
}
