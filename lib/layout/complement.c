/* Complements: a layout of the gaps of another one.
 *
 * In order of stride, a mode s:d of L leaves a gap: d / (size covered so far) copies fit below d; afterwards
 * s*d is covered. L* lists the gaps, so that (L, L*) is injective and ordered. A mode that starts inside the
 * covered range has no complement and is rejected. Basis strides have one such list per leaf of the
 * codomain. */
#include <stdlib.h>

#include "lib/base/sort.h"

#include "lib/layout/buckets.h"

cute_node alg_coprofile(cute_algebra *a, cute_layout layout)
{
    if (!alg_ok(layout)) return NULL;
    if (alg_is_empty(layout.shape)) return alg_number(a, 0);
    return alg_eval(a, alg_number(a, 0), layout.shape, layout.stride);
}

/* ---- modes sorted by stride (buckets.h) ---- */

static int compare_strides(cute_node x, cute_node y)
{
    int64_t u = x->value.value, v = y->value.value;
    if (x->kind == CUTE_TREE_BASIS && y->kind == CUTE_TREE_BASIS) {
        for (uint32_t i = 0; i < x->count && i < y->count; i++)
            if (x->path[i] != y->path[i]) return x->path[i] < y->path[i] ? -1 : 1;
        if (x->count != y->count) return x->count < y->count ? -1 : 1;
    }
    return (u > v) - (u < v);
}

static int compare_modes(const void *left, const void *right)
{
    const alg_sorted *x = left, *y = right;
    int order = compare_strides(x->stride, y->stride);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

alg_sorted *alg_sort_modes(cute_algebra *a, cute_node shape, cute_node stride, cute_node before,
                           size_t *count)
{
    if (!shape || !stride) return NULL;
    alg_sorted *modes = cute_arena_array(a->arena, shape->count ? shape->count : 1, sizeof *modes);
    if (!modes) return alg_exhausted(a);
    *count = shape->count;
    for (uint32_t i = 0; i < shape->count; i++)
        modes[i] = (alg_sorted){shape->items[i], stride->items[i], before ? before->items[i] : NULL, i};
    cute_sort(modes, shape->count, sizeof *modes, compare_modes);
    return modes;
}

static size_t count_leaves(cute_node t)
{
    if (alg_is_leaf(t)) return 1;
    size_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) n += count_leaves(t->items[i]);
    return n;
}

alg_buckets *alg_make_buckets(cute_algebra *a, cute_node coprofile)
{
    if (!coprofile) return NULL;
    alg_buckets *b = cute_arena_alloc(a->arena, sizeof *b);
    if (!b) return alg_exhausted(a);
    b->coprofile = coprofile;
    b->count = count_leaves(coprofile);
    b->items = cute_arena_array(a->arena, b->count ? b->count : 1, sizeof *b->items);
    return b->items ? b : alg_exhausted(a);
}

alg_bucket *alg_find_bucket(cute_algebra *a, const alg_buckets *b, cute_node stride)
{
    cute_node t = b->coprofile;
    size_t index = 0;
    for (uint32_t i = 0; stride->kind == CUTE_TREE_BASIS && i < stride->count; i++) {
        size_t mode = (size_t)stride->path[i];
        if (alg_is_leaf(t) || mode >= t->count)
            return alg_fail(a, "stride %s is outside the codomain", alg_text(a, stride));
        for (size_t j = 0; j < mode; j++) index += count_leaves(t->items[j]);
        t = t->items[mode];
    }
    if (!alg_is_leaf(t))
        return alg_fail(a, "stride %s does not name one mode of the codomain", alg_text(a, stride));
    return &b->items[index];
}

static cute_layout tiler_layout(cute_algebra *a, cute_node t, const alg_buckets *b, size_t *next,
                                int32_t *path, size_t depth,
                                cute_layout (*finish)(cute_algebra *, const alg_bucket *))
{
    if (!alg_is_leaf(t)) {
        alg_layouts list = {0};
        for (uint32_t i = 0; i < t->count && !list.shapes.failed; i++) {
            path[depth] = (int32_t)i;
            cute_layout mode = tiler_layout(a, t->items[i], b, next, path, depth + 1, finish);
            if (!mode.shape || !alg_is_empty(mode.shape)) alg_push_layout(a, &list, mode);
        }
        return alg_layouts_tuple(a, &list);
    }
    return finish(a, &b->items[(*next)++]);
}

cute_layout alg_join_buckets(cute_algebra *a, const alg_buckets *b,
                             cute_layout (*finish)(cute_algebra *, const alg_bucket *))
{
    int32_t path[CUTE_MAX_DEPTH + 1];
    size_t next = 0;
    return tiler_layout(a, b->coprofile, b, &next, path, 0, finish);
}

/* ---- complement ---- */

cute_node alg_scale_of(cute_algebra *a, cute_node stride)
{
    return stride->kind == CUTE_TREE_BASIS ? alg_scalar(a, stride->value) : stride;
}

static bool check_strides(cute_algebra *a, cute_layout layout)
{
    cute_node flat = alg_flatten_to_tuple(a, layout.stride);
    uint32_t unknown = 0;
    if (!flat) return false;
    for (uint32_t i = 0; i < flat->count; i++) unknown += !flat->items[i]->value.known;
    if (unknown == 0 || (unknown == 1 && flat->count == 1)) return true;
    alg_fail(a, "expects known strides, or one mode with an unknown one, to complement, but got %s",
             alg_layout_text(a, layout));
    return false;
}

static void refuse_overlap(cute_algebra *a, cute_layout layout, const alg_sorted *mode, cute_node covered)
{
    if (mode->stride->value.value < 0) {
        alg_fail(a, "%s has no complement: mode %zu, of extent and stride %s:%s, has a negative stride",
                 alg_layout_text(a, layout), mode->position, alg_text(a, mode->shape),
                 alg_text(a, mode->stride));
        return;
    }
    alg_fail(
        a,
        "%s has no complement: mode %zu, of extent and stride %s:%s, overlaps the modes of smaller stride, "
        "which cover %s",
        alg_layout_text(a, layout), mode->position, alg_text(a, mode->shape), alg_text(a, mode->stride),
        alg_text(a, covered));
}

/* Shapes are the gaps; strides are 1, then the size covered after each mode. */
static cute_layout finish_complement(cute_algebra *a, const alg_bucket *b)
{
    alg_layouts list = b->modes;
    alg_push(a, &list.shapes, alg_number(a, 1));
    return alg_coalesce_z(a, alg_layouts_tuple(a, &list));
}

/* Turns the strides of a bucket back into basis vectors. */
static cute_node with_basis(cute_algebra *a, cute_node stride, const int32_t *path, size_t depth)
{
    if (!stride) return NULL;
    if (alg_is_leaf(stride)) return alg_basis(a, stride->value, path, depth);
    alg_list list = {0};
    for (uint32_t i = 0; i < stride->count; i++)
        alg_push(a, &list, with_basis(a, stride->items[i], path, depth));
    return alg_tuple(a, &list);
}

static cute_node restore_basis(cute_algebra *a, cute_node coprofile, cute_node stride, int32_t *path,
                               size_t depth)
{
    if (!stride) return NULL;
    if (alg_is_leaf(coprofile)) return depth ? with_basis(a, stride, path, depth) : stride;
    alg_list list = {0};
    for (uint32_t i = 0; i < coprofile->count; i++) {
        path[depth] = (int32_t)i;
        alg_push(a, &list, restore_basis(a, coprofile->items[i], alg_mode(stride, i), path, depth + 1));
    }
    return alg_tuple(a, &list);
}

cute_layout alg_complement(cute_algebra *a, cute_layout layout)
{
    if (!alg_ok(layout) || !check_strides(a, layout)) return alg_no_layout;
    size_t count;
    alg_sorted *modes = alg_sort_modes(a, alg_flatten_to_tuple(a, layout.shape),
                                       alg_flatten_to_tuple(a, layout.stride), NULL, &count);
    alg_buckets *buckets = alg_make_buckets(a, alg_coprofile(a, layout));
    if (!modes || !buckets) return alg_no_layout;
    for (size_t i = 0; i < buckets->count; i++)
        alg_push(a, &buckets->items[i].modes.strides, alg_number(a, 1));
    for (size_t i = 0; i < count; i++) {
        if (alg_is(modes[i].shape, 1) || (modes[i].stride->value.known && modes[i].stride->value.value == 0))
            continue;
        cute_node d = alg_scale_of(a, modes[i].stride);
        alg_bucket *bucket = d ? alg_find_bucket(a, buckets, modes[i].stride) : NULL;
        if (!bucket) return alg_no_layout;
        cute_node covered = bucket->modes.strides.items[bucket->modes.strides.count - 1];
        if (alg_is_known(covered) && alg_is_known(d) && d->value.value < covered->value.value) {
            refuse_overlap(a, layout, &modes[i], covered);
            return alg_no_layout;
        }
        alg_push(a, &bucket->modes.shapes, alg_op(a, CUTE_DIV, d, covered));
        alg_push(a, &bucket->modes.strides, alg_op(a, CUTE_MUL, d, modes[i].shape));
        if (bucket->modes.shapes.failed || bucket->modes.strides.failed) return alg_no_layout;
    }
    cute_layout result = alg_join_buckets(a, buckets, finish_complement);
    int32_t path[CUTE_MAX_DEPTH + 1];
    if (!alg_ok(result)) return alg_no_layout;
    result.stride = restore_basis(a, buckets->coprofile, result.stride, path, 0);
    return alg_ok(result) ? result : alg_no_layout;
}

/* ---- complement over a domain ---- */

/* compact((s0,s1,..), d) that also accepts basis vectors and does not special-case extents of 1; updates
 * *d. */
static cute_node prefix_product(cute_algebra *a, cute_node shape, cute_node *d)
{
    if (!shape || !*d) return NULL;
    if (alg_is_leaf(shape)) {
        cute_node here = *d;
        *d = alg_mul(a, shape, *d);
        return *d ? here : NULL;
    }
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count && !list.failed; i++)
        alg_push(a, &list, prefix_product(a, shape->items[i], d));
    return alg_tuple(a, &list);
}

static cute_node prefix_products(cute_algebra *a, cute_node shape, cute_node start)
{
    if (!shape || !start) return NULL;
    if (alg_is_leaf(start)) return prefix_product(a, shape, &start);
    alg_list list = {0};
    for (uint32_t i = 0; i < start->count && !list.failed; i++)
        alg_push(a, &list, prefix_products(a, alg_mode(shape, i), start->items[i]));
    return alg_tuple(a, &list);
}

/* Mode by mode, a step that is not a multiple of a mode is rounded up for the next one, which may omit
 * elements at the end. A result known to be too small becomes a single mode that is large enough. */
static cute_node covering_tiles(cute_algebra *a, cute_node extent, cute_node step, cute_node tiles)
{
    if (!step || !tiles || !cute_tree_is_static(extent) || !alg_is_known(step) || !cute_tree_is_static(tiles))
        return tiles;
    cute_node needed = alg_op(a, CUTE_CEIL_DIV, alg_product(a, extent), step), there = alg_product(a, tiles);
    if (!needed || !there) return NULL;
    return there->value.value < needed->value.value ? needed : tiles;
}

/* The number of tiles, without a tracked divisor, as in CuTe DSL. */
static cute_node number_of_tiles(cute_algebra *a, cute_node extent, cute_node step)
{
    cute_node n = alg_ceil_div(a, extent, step);
    if (!n || !alg_is_leaf(n) || !n->value.divisor || alg_is(step, 1)) return n;
    cute_int count = n->value;
    count.divisor = 0;
    return alg_scalar(a, count);
}

/* Extends the last mode of the complement to cover `extent`. */
static cute_layout extend_mode(cute_algebra *a, cute_layout gaps, cute_node extent)
{
    size_t rank = alg_rank(gaps.shape);
    cute_node back = alg_mode(gaps.stride, rank - 1);
    if (!alg_is_leaf(back)) {
        alg_fail(a, "expects a flat complement to extend, but got %s", alg_layout_text(a, gaps));
        return alg_no_layout;
    }
    cute_node step = alg_scale_of(a, back), leaves = alg_flatten_to_tuple(a, extent);
    alg_list rest = {0};
    for (uint32_t i = 0; leaves && step && i < leaves->count; i++) {
        alg_push(a, &rest, number_of_tiles(a, leaves->items[i], step));
        step = alg_op(a, CUTE_CEIL_DIV, step, leaves->items[i]);
    }
    if (!leaves || !step) return alg_no_layout;
    cute_node tail = covering_tiles(a, extent, alg_scale_of(a, back), alg_tuple(a, &rest)), shape = tail;
    if (!alg_is_leaf(gaps.shape)) {
        alg_list list = {0};
        for (size_t i = 0; i + 1 < rank; i++) alg_push(a, &list, gaps.shape->items[i]);
        alg_push(a, &list, tail);
        shape = alg_tuple(a, &list);
    }
    return alg_coalesce(a, (cute_layout){shape, prefix_products(a, shape, gaps.stride)});
}

static cute_layout extend_complement(cute_algebra *a, cute_node coprofile, cute_layout gaps, cute_node shape,
                                     cute_node basis)
{
    if (!alg_is_leaf(coprofile) && coprofile->count > 0) {
        size_t rank = coprofile->count > alg_rank(shape) ? coprofile->count : alg_rank(shape);
        cute_node nothing = alg_empty(a);
        alg_layouts list = {0};
        for (size_t i = 0; nothing && i < rank && !list.shapes.failed; i++) {
            bool named = i < coprofile->count, there = i < alg_rank(shape);
            cute_layout mode = named ? alg_layout_mode(gaps, i) : (cute_layout){nothing, nothing};
            mode =
                extend_complement(a, named ? coprofile->items[i] : nothing, mode,
                                  there ? alg_mode(shape, i) : nothing, there ? alg_mode(basis, i) : nothing);
            if (!mode.shape || !alg_is_empty(mode.shape)) alg_push_layout(a, &list, mode);
        }
        return alg_layouts_tuple(a, &list);
    }
    if (alg_is_empty(gaps.shape)) return (cute_layout){shape, basis};
    return extend_mode(a, gaps, shape);
}

cute_layout alg_complement_extend(cute_algebra *a, cute_layout layout, cute_node shape)
{
    cute_layout gaps = alg_complement(a, layout);
    cute_node coprofile = alg_ok(gaps) ? alg_coprofile(a, layout) : NULL;
    cute_node basis = coprofile && shape ? alg_basis_like(a, shape) : NULL;
    return basis ? extend_complement(a, coprofile, gaps, shape, basis) : alg_no_layout;
}

/* ---- complement up to a size ---- */

/* Multiplies adjacent extents that are both known or both unknown. */
static cute_node coalesce_shape(cute_algebra *a, cute_node shape)
{
    cute_node flat = shape ? alg_flatten_to_tuple(a, shape) : NULL;
    alg_list list = {0};
    for (uint32_t i = 0; flat && i < flat->count && !list.failed; i++) {
        cute_node *back = list.count ? &list.items[list.count - 1] : NULL;
        if (back && (*back)->value.known == flat->items[i]->value.known) {
            *back = alg_op(a, CUTE_MUL, *back, flat->items[i]);
            if (!*back) list.failed = true;
        } else {
            alg_push(a, &list, flat->items[i]);
        }
    }
    return flat ? alg_unwrap(alg_tuple(a, &list)) : NULL;
}

static cute_layout basis_complement_to(cute_algebra *a, cute_layout layout, cute_node cotarget);

cute_layout alg_complement_to(cute_algebra *a, cute_layout layout, cute_node cotarget)
{
    if (!alg_ok(layout) || !cotarget) return alg_no_layout;
    if (!alg_only_ints(layout.stride)) return basis_complement_to(a, layout, cotarget);
    if (!check_strides(a, layout)) return alg_no_layout;
    cute_layout flat = alg_filter(a, layout);
    if (!alg_ok(flat)) return alg_no_layout;
    bool single = alg_is(flat.shape, 1);
    if (single || alg_is_empty(flat.shape) || alg_is(flat.stride, 0)) {
        cute_layout full =
            alg_coalesce(a, (cute_layout){cotarget, alg_compact(a, cotarget, alg_number(a, 1))});
        if (alg_ok(full) && alg_is(full.shape, 1)) full.stride = alg_number(a, 1);
        return full;
    }
    size_t count;
    alg_sorted *modes = alg_sort_modes(a, alg_flatten_to_tuple(a, flat.shape),
                                       alg_flatten_to_tuple(a, flat.stride), NULL, &count);
    if (!modes) return alg_no_layout;
    alg_layouts gaps = {0};
    cute_node covered = alg_number(a, 1);
    alg_push(a, &gaps.strides, covered);
    for (size_t i = 0; i < count && covered; i++) {
        cute_node d = modes[i].stride;
        if (alg_is_known(d) && alg_is_known(covered) && d->value.value < covered->value.value) {
            refuse_overlap(a, flat, &modes[i], covered);
            return alg_no_layout;
        }
        alg_push(a, &gaps.shapes, alg_op(a, CUTE_DIV, d, covered));
        covered =
            i + 1 < count ? alg_op(a, CUTE_MUL, modes[i].shape, d) : alg_op(a, CUTE_MUL, d, modes[i].shape);
        if (i + 1 < count) alg_push(a, &gaps.strides, covered);
    }
    cute_node rest =
        coalesce_shape(a, covering_tiles(a, cotarget, covered, number_of_tiles(a, cotarget, covered)));
    cute_node steps = rest ? alg_compact(a, rest, covered) : NULL;
    if (rest && alg_is(rest, 1)) steps = covered;
    if (!steps) return alg_no_layout;
    alg_push_modes(a, &gaps.shapes, rest);
    alg_push_modes(a, &gaps.strides, steps);
    return alg_coalesce(a, alg_layouts_tuple(a, &gaps));
}

static cute_layout basis_complement_to(cute_algebra *a, cute_layout layout, cute_node cotarget)
{
    cute_layout gaps = alg_complement(a, layout);
    cute_node coprofile = alg_ok(gaps) ? alg_coprofile(a, layout) : NULL;
    cute_node basis = coprofile ? alg_basis_like(a, cotarget) : NULL;
    if (!basis) return alg_no_layout;
    size_t named = alg_rank(coprofile), there = alg_rank(cotarget);
    if (!alg_is_leaf(cotarget) && there < named) {
        alg_fail(a, "expects a target of rank %zu to complement %s, but got %s", named,
                 alg_layout_text(a, layout), alg_text(a, cotarget));
        return alg_no_layout;
    }
    alg_layouts list = {0};
    for (size_t i = 0; i < (named > there ? named : there) && !list.shapes.failed; i++) {
        cute_layout whole = {alg_mode(cotarget, alg_is_leaf(cotarget) ? 0 : i),
                             alg_mode(basis, alg_is_leaf(cotarget) ? 0 : i)};
        if (i >= named) {
            alg_push_layout(a, &list, whole);
            continue;
        }
        cute_layout mode = alg_layout_mode(gaps, i);
        size_t last = alg_rank(mode.shape) - 1;
        cute_node step = alg_mode(mode.stride, last);
        step = step && alg_is_leaf(step) ? alg_scale_of(a, step) : NULL;
        cute_node size = step ? alg_op(a, CUTE_CEIL_DIV, alg_product(a, whole.shape), step) : NULL;
        if (!size) {
            alg_fail(a, "cannot extend complement %s to %s", alg_layout_text(a, gaps), alg_text(a, cotarget));
            return alg_no_layout;
        }
        if (alg_is_leaf(mode.shape)) {
            mode.shape = size;
        } else {
            alg_list shapes = {0};
            for (size_t j = 0; j < last; j++) alg_push(a, &shapes, mode.shape->items[j]);
            alg_push(a, &shapes, size);
            mode.shape = alg_tuple(a, &shapes);
        }
        alg_push_layout(a, &list, alg_coalesce(a, mode));
    }
    return alg_layouts_tuple(a, &list);
}
