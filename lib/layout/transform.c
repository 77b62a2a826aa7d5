/* Layouts rearranged without being composed: coalesced, filtered, ordered, their modes grouped, selected
 * by a coordinate's wildcards. The function of the layout stays or is restricted; nothing is computed
 * but compact strides. */
#include "lib/layout/layouts.h"

const cute_layout alg_no_layout = {NULL, NULL};

cute_layout alg_layout_mode(cute_layout layout, size_t i)
{
    return (cute_layout){alg_mode(layout.shape, i), alg_mode(layout.stride, i)};
}

void alg_push_layout(cute_algebra *a, alg_layouts *list, cute_layout layout)
{
    alg_push(a, &list->shapes, layout.shape);
    alg_push(a, &list->strides, layout.stride);
}

cute_layout alg_layouts_tuple(cute_algebra *a, const alg_layouts *list)
{
    cute_layout layout = {alg_tuple(a, &list->shapes), alg_tuple(a, &list->strides)};
    return layout.shape && layout.stride ? layout : alg_no_layout;
}

/* ---- coalesce ---- */

/* Flat modes in, flat modes out: modes of extent 1 are dropped (the last one may stay), and s:d followed by
 * t:(s*d) becomes s*t:d. Only what is known is compared. */
static bool coalesce_modes(cute_algebra *a, cute_layout layout, alg_layouts *out)
{
    cute_node s = alg_flatten_to_tuple(a, layout.shape), d = alg_flatten_to_tuple(a, layout.stride);
    if (!s || !d) return false;
    for (uint32_t i = 0; i < s->count; i++) {
        while (out->shapes.count && alg_is(out->shapes.items[out->shapes.count - 1], 1)) {
            out->shapes.count--;
            out->strides.count--;
        }
        if (out->shapes.count) {
            cute_node *back = &out->shapes.items[out->shapes.count - 1];
            cute_node step = out->strides.items[out->strides.count - 1];
            if (alg_is_known(*back) && alg_is_known(s->items[i]) && step->value.known &&
                d->items[i]->value.known) {
                cute_node next = alg_mul(a, *back, step);
                if (!next) return false;
                if (cute_tree_equal(next, d->items[i])) {
                    *back = alg_op(a, CUTE_MUL, *back, s->items[i]);
                    if (!*back) return false;
                    continue;
                }
            }
        }
        alg_push(a, &out->shapes, s->items[i]);
        alg_push(a, &out->strides, d->items[i]);
    }
    return !out->shapes.failed && !out->strides.failed;
}

static cute_layout unwrapped(cute_algebra *a, const alg_layouts *list)
{
    cute_layout layout = alg_layouts_tuple(a, list);
    return (cute_layout){alg_unwrap(layout.shape), alg_unwrap(layout.stride)};
}

cute_layout alg_coalesce(cute_algebra *a, cute_layout layout)
{
    alg_layouts list = {0};
    if (!layout.shape || !coalesce_modes(a, layout, &list)) return alg_no_layout;
    if (list.shapes.count > 1 && alg_is(list.shapes.items[list.shapes.count - 1], 1)) {
        list.shapes.count--;
        list.strides.count--;
    }
    return unwrapped(a, &list);
}

cute_layout alg_coalesce_z(cute_algebra *a, cute_layout layout)
{
    alg_layouts list = {0};
    if (!layout.shape || !coalesce_modes(a, layout, &list)) return alg_no_layout;
    return unwrapped(a, &list);
}

static cute_layout by_profile(cute_algebra *a, cute_layout layout, cute_node profile,
                              cute_layout (*leaf)(cute_algebra *, cute_layout))
{
    if (!layout.shape || !profile) return alg_no_layout;
    if (alg_is_leaf(profile)) return leaf(a, layout);
    size_t rank = alg_rank(layout.shape);
    if (profile->count > rank) {
        alg_fail(a, "expects a profile of at most rank %zu for %s, but got %s", rank,
                 alg_layout_text(a, layout), alg_text(a, profile));
        return alg_no_layout;
    }
    alg_layouts list = {0};
    for (size_t i = 0; i < rank; i++) {
        cute_layout mode = alg_layout_mode(layout, i);
        alg_push_layout(a, &list, i < profile->count ? by_profile(a, mode, profile->items[i], leaf) : mode);
    }
    return alg_layouts_tuple(a, &list);
}

cute_layout alg_coalesce_profile(cute_algebra *a, cute_layout layout, cute_node profile)
{
    return by_profile(a, layout, profile, alg_coalesce);
}

cute_layout alg_coalesce_z_profile(cute_algebra *a, cute_layout layout, cute_node profile)
{
    return by_profile(a, layout, profile, alg_coalesce_z);
}

/* ---- filter ---- */

cute_node alg_filter_zeros(cute_algebra *a, cute_node stride, cute_node shape)
{
    if (!stride || !shape) return NULL;
    if (alg_is_leaf(stride)) return alg_is(stride, 0) ? alg_number(a, 1) : shape;
    alg_list list = {0};
    for (uint32_t i = 0; i < stride->count; i++)
        alg_push(a, &list, alg_filter_zeros(a, stride->items[i], alg_mode(shape, i)));
    return alg_tuple(a, &list);
}

cute_layout alg_filter(cute_algebra *a, cute_layout layout)
{
    return alg_coalesce(a, (cute_layout){alg_filter_zeros(a, layout.stride, layout.shape), layout.stride});
}

cute_layout alg_filter_profile(cute_algebra *a, cute_layout layout, cute_node profile)
{
    return by_profile(a, layout, profile, alg_filter);
}

/* ---- compact strides in an order ---- */

/* Congruent to `order`: the product of a mode of `shape` whose order is below `current`, 1 elsewhere. */
static cute_node before(cute_algebra *a, cute_node current, cute_node shape, cute_node order)
{
    if (alg_is_leaf(order))
        return order->value.value < current->value.value ? alg_product(a, shape) : alg_number(a, 1);
    alg_list list = {0};
    for (uint32_t i = 0; i < order->count; i++)
        alg_push(a, &list, before(a, current, alg_mode(shape, i), order->items[i]));
    return alg_tuple(a, &list);
}

static cute_node ordered(cute_algebra *a, cute_node shape, cute_node order, cute_node all, cute_node orders)
{
    if (alg_is_leaf(order)) return alg_compact(a, shape, alg_product(a, before(a, order, all, orders)));
    alg_list list = {0};
    for (uint32_t i = 0; i < order->count && !list.failed; i++)
        alg_push(a, &list, ordered(a, alg_mode(shape, i), order->items[i], all, orders));
    return alg_tuple(a, &list);
}

static void largest(cute_node t, int64_t *out)
{
    if (alg_is_known(t) && t->value.value > *out) *out = t->value.value;
    for (uint32_t i = 0; !alg_is_leaf(t) && i < t->count; i++) largest(t->items[i], out);
}

/* Unknown orders come behind all known ones, from left to right. */
static cute_node number_unknown(cute_algebra *a, cute_node t, int64_t *last)
{
    if (alg_is_leaf(t)) {
        if (alg_is_known(t)) return t;
        if (*last == INT64_MAX) return alg_fail(a, "the largest stride leaves no room for an unknown one");
        return alg_number(a, ++*last);
    }
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count; i++) alg_push(a, &list, number_unknown(a, t->items[i], last));
    return alg_tuple(a, &list);
}

cute_node alg_compact_order(cute_algebra *a, cute_node shape, cute_node order)
{
    if (!shape || !order) return NULL;
    if (!alg_only_ints(order) || !alg_only_ints(shape))
        return alg_fail(a, "expects integers as order, but got %s", alg_text(a, order));
    if (!cute_tree_weakly_congruent(order, shape))
        return alg_fail(a, "expects order %s to be weakly congruent to shape %s", alg_text(a, order),
                        alg_text(a, shape));
    int64_t last = INT64_MIN;
    largest(order, &last);
    if (!cute_tree_is_static(order)) order = number_unknown(a, order, &last);
    return order ? ordered(a, shape, order, shape, order) : NULL;
}

/* ---- modes ---- */

cute_node alg_group(cute_algebra *a, cute_node t, size_t begin, size_t end)
{
    alg_list list = {0};
    if (!t) return NULL;
    if (alg_is_leaf(t)) return alg_take(a, t, 0, 1);
    for (size_t i = 0; i < begin; i++) alg_push(a, &list, t->items[i]);
    alg_push(a, &list, alg_take(a, t, begin, end));
    for (size_t i = end; i < t->count; i++) alg_push(a, &list, t->items[i]);
    return alg_tuple(a, &list);
}

cute_node alg_append_to_rank(cute_algebra *a, cute_node t, size_t rank, cute_node element)
{
    if (!t || alg_rank(t) >= rank) return t;
    alg_list list = {0};
    alg_push_modes(a, &list, t);
    while (list.count < rank && !list.failed) alg_push(a, &list, element);
    return alg_tuple(a, &list);
}

cute_node alg_prepend_to_rank(cute_algebra *a, cute_node t, size_t rank, cute_node element)
{
    if (!t || alg_rank(t) >= rank) return t;
    alg_list list = {0};
    for (size_t i = alg_rank(t); i < rank && !list.failed; i++) alg_push(a, &list, element);
    alg_push_modes(a, &list, t);
    return alg_tuple(a, &list);
}

/* ---- slice and dice ---- */

static void gather(cute_algebra *a, cute_node coord, cute_node t, bool wildcards, alg_list *out)
{
    if (!t) {
        out->failed = true;
        return;
    }
    if (alg_is_leaf(coord)) {
        if ((coord->kind == CUTE_TREE_UNDERSCORE) == wildcards) alg_push(a, out, t);
        return;
    }
    for (uint32_t i = 0; i < coord->count; i++) gather(a, coord->items[i], alg_mode(t, i), wildcards, out);
}

static cute_node choose(cute_algebra *a, cute_node coord, cute_node t, bool wildcards)
{
    alg_list list = {0};
    if (!coord || !t) return NULL;
    if (alg_is_leaf(coord)) return (coord->kind == CUTE_TREE_UNDERSCORE) == wildcards ? t : alg_empty(a);
    gather(a, coord, t, wildcards, &list);
    return alg_tuple(a, &list);
}

cute_node alg_slice(cute_algebra *a, cute_node coord, cute_node t)
{
    return choose(a, coord, t, true);
}

cute_node alg_dice(cute_algebra *a, cute_node coord, cute_node t)
{
    return choose(a, coord, t, false);
}
