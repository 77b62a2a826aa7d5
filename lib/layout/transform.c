/* Layouts transformed without composition: coalesced, filtered, reordered, grouped, sliced. The function of
 * the layout is kept or restricted; only compact strides are computed. */
#include <stdlib.h>

#include "lib/base/sort.h"

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

/* Works on flat modes: removes modes of extent 1 (the last one can remain) and merges s:d followed by t:(s*d)
 * to s*t:d. Only known numbers are compared. */
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

static cute_layout unwrap_single(cute_algebra *a, const alg_layouts *list)
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
    return unwrap_single(a, &list);
}

cute_layout alg_coalesce_z(cute_algebra *a, cute_layout layout)
{
    alg_layouts list = {0};
    if (!layout.shape || !coalesce_modes(a, layout, &list)) return alg_no_layout;
    return unwrap_single(a, &list);
}

static cute_layout coalesce_by_profile(cute_algebra *a, cute_layout layout, cute_node profile,
                                       cute_layout (*leaf)(cute_algebra *, cute_layout))
{
    if (!layout.shape || !profile) return alg_no_layout;
    if (alg_is_leaf(profile)) return leaf(a, layout);
    size_t rank = alg_rank(layout.shape);
    if (profile->count > rank) {
        /* Profiles from users have been checked before, with the mode's path. */
        alg_fail(a, "the basis strides name %u modes of %s, which has %zu", profile->count,
                 alg_layout_text(a, layout), rank);
        return alg_no_layout;
    }
    alg_layouts list = {0};
    for (size_t i = 0; i < rank; i++) {
        cute_layout mode = alg_layout_mode(layout, i);
        alg_push_layout(a, &list,
                        i < profile->count ? coalesce_by_profile(a, mode, profile->items[i], leaf) : mode);
    }
    return alg_layouts_tuple(a, &list);
}

cute_layout alg_coalesce_profile(cute_algebra *a, cute_layout layout, cute_node profile)
{
    return coalesce_by_profile(a, layout, profile, alg_coalesce);
}

cute_layout alg_coalesce_z_profile(cute_algebra *a, cute_layout layout, cute_node profile)
{
    return coalesce_by_profile(a, layout, profile, alg_coalesce_z);
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
    return coalesce_by_profile(a, layout, profile, alg_filter);
}

/* ---- compact strides in a given order ---- */

/* With unknown extents, each stride is a separate product: this many modes need two million products. */
enum { MOST_UNKNOWN = 2048 };

/* A leaf of the order with its shape. Unknown orders sort after all known ones, equal and unknown ones from
 * left to right, so that positions are unique. */
typedef struct ordered_leaf {
    cute_node shape;
    int64_t order;
    bool unknown;
    size_t position, rank;
} ordered_leaf;

static void collect_places(cute_node shape, cute_node order, ordered_leaf *out, size_t *count)
{
    if (alg_is_leaf(order)) {
        out[*count] = (ordered_leaf){shape, order->value.value, !order->value.known, *count, 0};
        ++*count;
        return;
    }
    for (uint32_t i = 0; i < order->count; i++)
        collect_places(alg_mode(shape, i), order->items[i], out, count);
}

static int compare_places(const void *left, const void *right)
{
    const ordered_leaf *x = left, *y = right;
    if (x->unknown != y->unknown) return x->unknown ? 1 : -1;
    if (!x->unknown && x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static int compare_positions(const void *left, const void *right)
{
    const ordered_leaf *x = left, *y = right;
    return (x->position > y->position) - (x->position < y->position);
}

/* The stride of a leaf: the product of all shapes of lower rank. The products of modes are computed first
 * because compilers print the operations in that order. */
static cute_node stride_of_place(cute_algebra *a, const ordered_leaf *places, size_t count, size_t at)
{
    alg_list before = {0};
    for (size_t i = 0; i < count; i++)
        if (places[i].rank < places[at].rank)
            alg_push(a, &before,
                     alg_is_leaf(places[i].shape) ? places[i].shape : alg_product(a, places[i].shape));
    return alg_product(a, alg_tuple(a, &before));
}

static cute_node assign_strides(cute_algebra *a, cute_node order, const ordered_leaf *places, size_t count,
                                size_t *next, const cute_node *starts)
{
    if (alg_is_leaf(order)) {
        size_t at = (*next)++;
        return alg_compact(a, places[at].shape, starts ? starts[at] : stride_of_place(a, places, count, at));
    }
    alg_list list = {0};
    for (uint32_t i = 0; i < order->count && !list.failed; i++)
        alg_push(a, &list, assign_strides(a, order->items[i], places, count, next, starts));
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
    size_t count = 0, next = 0, leaves = order->leaves ? order->leaves : 1;
    ordered_leaf *places = cute_arena_array(a->arena, leaves, sizeof *places);
    cute_node *starts = NULL;
    if (!places) return alg_exhausted(a);
    collect_places(shape, order, places, &count);
    cute_sort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++) places[i].rank = i;
    if (cute_tree_is_static(shape)) { /* nothing is emitted: one running product suffices */
        starts = cute_arena_array(a->arena, leaves, sizeof *starts);
        if (!starts) return alg_exhausted(a);
        cute_node current = alg_number(a, 1);
        for (size_t i = 0; i < count && current; i++) {
            starts[places[i].position] = current;
            if (i + 1 < count) current = alg_op(a, CUTE_MUL, current, alg_product(a, places[i].shape));
        }
        if (!current) return NULL;
    }
    if (!starts && count > MOST_UNKNOWN)
        return alg_fail(a, "expects at most %d modes where extents are unknown, but got %zu", MOST_UNKNOWN,
                        count);
    cute_sort(places, count, sizeof *places, compare_positions);
    return assign_strides(a, order, places, count, &next, starts);
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

static void gather_modes(cute_algebra *a, cute_node coord, cute_node t, bool wildcards, alg_list *out)
{
    if (!t) {
        out->failed = true;
        return;
    }
    if (alg_is_leaf(coord)) {
        if ((coord->kind == CUTE_TREE_UNDERSCORE) == wildcards) alg_push(a, out, t);
        return;
    }
    for (uint32_t i = 0; i < coord->count; i++)
        gather_modes(a, coord->items[i], alg_mode(t, i), wildcards, out);
}

static cute_node select_by_wildcards(cute_algebra *a, cute_node coord, cute_node t, bool wildcards)
{
    alg_list list = {0};
    if (!coord || !t) return NULL;
    if (alg_is_leaf(coord)) return (coord->kind == CUTE_TREE_UNDERSCORE) == wildcards ? t : alg_empty(a);
    gather_modes(a, coord, t, wildcards, &list);
    return alg_tuple(a, &list);
}

cute_node alg_slice(cute_algebra *a, cute_node coord, cute_node t)
{
    return select_by_wildcards(a, coord, t, true);
}

cute_node alg_dice(cute_algebra *a, cute_node coord, cute_node t)
{
    return select_by_wildcards(a, coord, t, false);
}
