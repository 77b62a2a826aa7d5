/* Composition: R(i) = A(B(i)).
 *
 * Each mode t:e of B is walked through the coalesced modes s0:d0, s1:d1, ... of A: it takes the elements of
 * s0 reached in steps of e, then the remainder steps through s1, and so on; the last mode of A is unbounded.
 * The result is a layout only if each piece stays within one mode of A and, if B has several modes, their sum
 * does not carry from one mode of A into the next. If all extents are known, both are decided (check_*), and
 * wrong compositions are rejected. */
#include <inttypes.h>

#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/layout/layouts.h"
#include "lib/layout/trial.h"

/* `count` steps of `step`, in units of mode `mode` of the A at `path`. */
typedef struct composed_piece {
    int64_t count, step, true_step;
    uint32_t mode;
    const cute_tree *outer; /* the shape of the (sub)layout of A being walked */
} composed_piece;

typedef struct pieces {
    composed_piece *items;
    size_t count, capacity;
    bool unknown;        /* some extent or stride is unknown: nothing can be decided */
    bool overflow;       /* a step does not fit 64 bits */
    const char *verdict; /* the wording of messages for the result */
} pieces;

static const char not_a_layout[] = "the result is not a layout",
                  may_not_be_a_layout[] =
                      "the result is too large to test exhaustively and may not be a layout";

static bool add_piece(cute_algebra *a, pieces *list, composed_piece p)
{
    if (!cute_arena_more(a->arena, &list->items, list->count, &list->capacity, sizeof *list->items, 8))
        return alg_exhausted(a) != NULL;
    list->items[list->count++] = p;
    return true;
}

static cute_layout refuse_indivisible(cute_algebra *a, cute_layout outer, cute_layout inner,
                                      const pieces *all, uint32_t mode, const char *why, int64_t x, int64_t y)
{
    alg_fail(a,
             "cannot compose %s with %s: %s, because at mode %u, of extent and stride %s:%s, %s %lld is not "
             "divisible by %lld",
             alg_layout_text(a, outer), alg_layout_text(a, inner), all->verdict, mode,
             alg_text(a, alg_mode(outer.shape, mode)), alg_text(a, alg_mode(outer.stride, mode)), why,
             (long long)x, (long long)y);
    return alg_no_layout;
}

/* True if `extent` is a positive multiple of a multiple of n. */
static bool at_least(cute_node extent, cute_node n)
{
    const cute_int *x = &extent->value;
    return !x->known && x->divisor && n->value.known && n->value.value > 0 &&
           x->divisor % n->value.value == 0;
}

/* min(x, y) of positive extents. */
static cute_node smaller_extent(cute_algebra *a, cute_node x, cute_node y)
{
    if (at_least(x, y)) return y;
    return at_least(y, x) ? x : alg_op(a, CUTE_MIN, x, y);
}

/* `inner` is a single mode with an integer stride. */
static cute_layout compose_mode(cute_algebra *a, cute_layout outer, cute_layout inner, pieces *all)
{
    if (alg_is_known(inner.shape) && inner.shape->value.value <= 0) {
        alg_fail(a, "expects positive extents, but got %s", alg_layout_text(a, inner));
        return alg_no_layout;
    }
    if (alg_is_empty(outer.shape)) {
        alg_fail(a, "cannot compose the empty layout with %s", alg_layout_text(a, inner));
        return alg_no_layout;
    }
    if (alg_is(inner.stride, 0)) return inner;
    if (alg_is_leaf(outer.shape)) {
        cute_layout result = {inner.shape, alg_mul(a, inner.stride, outer.stride)};
        return alg_ok(result) ? result : alg_no_layout;
    }
    bool known = alg_is_known(inner.shape) && alg_is_known(inner.stride);
    int64_t true_step = known ? inner.stride->value.value : 0;
    uint32_t last = outer.shape->count - 1;
    cute_node rest_shape = inner.shape, rest_stride = inner.stride;
    alg_layouts result = {0};
    for (uint32_t i = 0; i < last; i++) {
        cute_node s = outer.shape->items[i], d = outer.stride->items[i];
        if (alg_is_known(s) && alg_is_known(rest_stride)) {
            int64_t step = rest_stride->value.value, extent = s->value.value;
            if (step % extent != 0 && step >= extent && !alg_is(rest_shape, 1))
                return refuse_indivisible(a, outer, inner, all, i, "the stride", step, extent);
        }
        cute_node magnitude = alg_op(a, CUTE_ABS, rest_stride, rest_stride);
        cute_node next_shape = alg_op(a, CUTE_CEIL_DIV, s, magnitude);
        cute_node next_size = next_shape ? alg_op(a, CUTE_CEIL_DIV, magnitude, s) : NULL;
        cute_node next_stride = next_size ? alg_op(a, CUTE_MUL, next_size, alg_sign(a, rest_stride)) : NULL;
        if (!next_stride) return alg_no_layout;
        if (alg_is(next_shape, 1) || alg_is(rest_shape, 1)) {
            rest_stride = next_stride;
            continue;
        }
        cute_node extent = smaller_extent(a, next_shape, rest_shape);
        if (!extent) return alg_no_layout;
        if (alg_is_known(extent) && alg_is_known(rest_shape) &&
            rest_shape->value.value % extent->value.value != 0)
            return refuse_indivisible(a, outer, inner, all, i, "the extent", rest_shape->value.value,
                                      extent->value.value);
        alg_push(a, &result.shapes, extent);
        alg_push(a, &result.strides, alg_mul(a, rest_stride, d));
        if (known && alg_is_known(extent) && alg_is_known(rest_stride)) {
            composed_piece p = {extent->value.value, rest_stride->value.value, true_step, i, outer.shape};
            if (!add_piece(a, all, p)) return alg_no_layout;
            if (!cute_mul64(true_step, p.count, &true_step)) all->overflow = true;
        } else {
            known = false;
        }
        rest_shape = alg_op(a, CUTE_DIV, rest_shape, extent);
        rest_stride = next_stride;
        if (!rest_shape) return alg_no_layout;
    }
    if (known && alg_is_known(rest_shape) && alg_is_known(rest_stride)) {
        composed_piece p = {rest_shape->value.value, rest_stride->value.value, true_step, last, outer.shape};
        if (!add_piece(a, all, p)) return alg_no_layout;
    } else {
        all->unknown = true;
    }
    if (result.shapes.count > 0 && alg_is(rest_shape, 1)) {
        cute_layout layout = alg_layouts_tuple(a, &result);
        return (cute_layout){alg_unwrap(layout.shape), alg_unwrap(layout.stride)};
    }
    cute_layout tail = {rest_shape, alg_mul(a, rest_stride, outer.stride->items[last])};
    if (!alg_ok(tail)) return alg_no_layout;
    if (result.shapes.count == 0) return tail;
    alg_push_layout(a, &result, tail);
    return alg_coalesce(a, alg_layouts_tuple(a, &result));
}

static cute_layout compose_tree(cute_algebra *a, cute_layout outer, cute_layout inner, pieces *all)
{
    if (!alg_is_leaf(inner.shape)) {
        alg_layouts list = {0};
        for (uint32_t i = 0; i < inner.shape->count && !list.shapes.failed; i++)
            alg_push_layout(a, &list, compose_tree(a, outer, alg_layout_mode(inner, i), all));
        return alg_layouts_tuple(a, &list);
    }
    if (inner.stride->kind != CUTE_TREE_BASIS) return compose_mode(a, outer, inner, all);
    if (!alg_is_known(inner.shape)) {
        alg_fail(a, "expects a known extent for basis stride %s to compose with %s, but got %s",
                 alg_text(a, inner.stride), alg_layout_text(a, outer), alg_text(a, inner.shape));
        return alg_no_layout;
    }
    cute_layout mode = outer;
    for (uint32_t i = 0; i < inner.stride->count; i++) {
        int32_t index = inner.stride->path[i];
        if (alg_is_leaf(mode.shape) || (uint32_t)index >= mode.shape->count) {
            alg_fail(a, "basis stride %s names a mode that %s does not have", alg_text(a, inner.stride),
                     alg_layout_text(a, outer));
            return alg_no_layout;
        }
        mode = alg_layout_mode(mode, (size_t)index);
    }
    cute_layout scaled = {inner.shape, alg_scalar(a, inner.stride->value)};
    return alg_ok(scaled) ? compose_mode(a, mode, scaled, all) : alg_no_layout;
}

/* ---- validation ---- */

typedef struct violation {
    const composed_piece *where;
    const char *what, *relation; /* "the stride", "is not divisible by" */
    int64_t x, y;
} violation;

static bool report_violation(violation *t, const composed_piece *where, const char *what, int64_t x,
                             const char *relation, int64_t y)
{
    *t = (violation){where, what, relation, x, y};
    return false;
}

static bool report_overflow(violation *t, const composed_piece *where)
{
    return report_violation(t, where, "the coordinates exceed", INT64_MAX, "in steps of", where->true_step);
}

/* A piece must step by whole elements of its mode of A: `count` steps of step * (product of the preceding
 * extents) are the mode of B. The pieces in one mode of A must not add up beyond its extent. */
static bool check_pieces(const pieces *all, violation *t)
{
    if (all->overflow) return report_overflow(t, &all->items[all->count - 1]);
    for (size_t i = 0; i < all->count; i++) {
        const composed_piece *p = &all->items[i];
        int64_t unit = 1, reach = 0;
        if (p->count == 1) continue;
        for (uint32_t m = 0; m < p->mode; m++) {
            if (!alg_is_known(p->outer->items[m])) return true;
            if (!cute_mul64(unit, p->outer->items[m]->value.value, &unit)) return report_overflow(t, p);
        }
        int64_t step;
        if (!cute_mul64(unit, p->step, &step)) return report_overflow(t, p);
        if (step != p->true_step)
            return report_violation(t, p, "the stride", p->true_step, "is not divisible by", unit);
        for (size_t j = 0; j < all->count; j++) {
            const composed_piece *q = &all->items[j];
            int64_t most;
            if (q->outer != p->outer || q->count == 1) continue;
            if ((q->step < 0) != (p->step < 0))
                return report_violation(t, p, "a stride of", p->step, "is added to one of opposite sign,",
                                        q->step);
            if (q->mode != p->mode) continue;
            if (!cute_mul64(q->count - 1, q->step, &most) || !cute_add64(reach, most, &reach))
                return report_overflow(t, p);
        }
        bool last = p->mode + 1 == p->outer->count;
        if (last || !alg_is_known(p->outer->items[p->mode])) continue;
        if (reach < 0) reach = -reach;
        if (reach >= p->outer->items[p->mode]->value.value)
            return report_violation(t, p, "the largest coordinate", reach, "is not below the extent",
                                    p->outer->items[p->mode]->value.value);
    }
    return true;
}

/* The walk's result is correct unless a rule is violated. The rules are sufficient, not necessary, so small
 * compositions are finally tested exhaustively. */
static bool is_composition(cute_algebra *a, cute_layout outer, cute_layout inner, cute_layout result,
                           const pieces *all, bool by_trial, violation *why, int64_t *bad)
{
    *bad = -1;
    if (all->unknown || check_pieces(all, why)) return true;
    return by_trial && alg_try_composition(a, outer, inner, result, bad) == ALG_RIGHT;
}

static cute_layout compose_by_walk(cute_algebra *a, cute_layout outer, cute_layout inner, bool by_trial,
                                   const char *verdict)
{
    cute_node profile = alg_eval(a, alg_number(a, 0), inner.shape, inner.stride);
    if (!profile) return alg_no_layout;
    if (!alg_is_leaf(profile) && alg_rank(profile) > alg_rank(outer.shape)) {
        alg_fail(a, "cannot compose %s with %s: the basis strides name %zu modes, but there are %zu",
                 alg_layout_text(a, outer), alg_layout_text(a, inner), alg_rank(profile),
                 alg_rank(outer.shape));
        return alg_no_layout;
    }
    cute_layout flat = alg_coalesce_z_profile(a, outer, profile);
    pieces all = {.verdict = verdict};
    cute_layout result = alg_ok(flat) ? compose_tree(a, flat, inner, &all) : alg_no_layout;
    violation why;
    int64_t bad;
    if (!alg_ok(result) || is_composition(a, outer, inner, result, &all, by_trial, &why, &bad)) return result;
    const char *where = bad >= 0 ? cute_arena_printf(a->arena, " (%s would be wrong at index %" PRId64 ")",
                                                     alg_layout_text(a, result), bad)
                                 : "";
    alg_fail(
        a, "cannot compose %s with %s: %s, because at mode %u, of extent %s, %s %" PRId64 " %s %" PRId64 "%s",
        alg_layout_text(a, outer), alg_layout_text(a, inner), all.verdict, why.where->mode,
        alg_text(a, why.where->outer->items[why.where->mode]), why.what, why.x, why.relation, why.y,
        where ? where : "");
    return alg_no_layout;
}

cute_layout alg_compose(cute_algebra *a, cute_layout outer, cute_layout inner)
{
    if (!alg_ok(outer) || !alg_ok(inner)) return alg_no_layout;
    if (alg_is_empty(inner.shape)) return inner;
    if (!alg_all_known(outer) || !alg_all_known(inner))
        return compose_by_walk(a, outer, inner, true, not_a_layout);
    /* For static operands nothing is emitted, so the walk may fail silently before the result is searched for
     * exhaustively. */
    cute_algebra quiet = {.arena = a->arena};
    cute_layout result = compose_by_walk(&quiet, outer, inner, true, not_a_layout);
    if (quiet.status == CUTE_OK) return result;
    bool tried = false;
    result = alg_find_composition(a, outer, inner, &tried);
    return alg_ok(result)
               ? result
               : compose_by_walk(a, outer, inner, true, tried ? not_a_layout : may_not_be_a_layout);
}

cute_layout alg_compose_certain(cute_algebra *a, cute_layout outer, cute_layout inner)
{
    cute_algebra quiet = {.arena = a->arena};
    if (!alg_ok(outer) || !alg_ok(inner) || !alg_all_known(outer) || !alg_all_known(inner))
        return alg_no_layout;
    if (alg_is_empty(inner.shape)) return inner;
    return compose_by_walk(&quiet, outer, inner, false, not_a_layout);
}

/* ---- tiles ---- */

cute_node alg_shape_to_tile(cute_algebra *a, cute_node shape)
{
    if (!shape) return NULL;
    if (alg_is_leaf(shape))
        return alg_layout_leaf(a, (cute_layout){shape, alg_compact(a, shape, alg_number(a, 1))});
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count; i++) alg_push(a, &list, alg_shape_to_tile(a, shape->items[i]));
    return alg_tuple(a, &list);
}

cute_layout alg_compose_tile(cute_algebra *a, cute_layout outer, cute_node tile)
{
    if (!alg_ok(outer) || !tile) return alg_no_layout;
    if (tile->kind == CUTE_TREE_UNDERSCORE) return outer;
    if (tile->kind == CUTE_TREE_LAYOUT) return alg_compose(a, outer, tile->layout);
    if (tile->count > alg_rank(outer.shape)) {
        alg_fail(a, "expects a tiler of at most rank %zu for %s, but got one of rank %u",
                 alg_rank(outer.shape), alg_layout_text(a, outer), tile->count);
        return alg_no_layout;
    }
    alg_layouts list = {0};
    for (uint32_t i = 0; i < tile->count && !list.shapes.failed; i++)
        alg_push_layout(a, &list, alg_compose_tile(a, alg_layout_mode(outer, i), tile->items[i]));
    return alg_layouts_tuple(a, &list);
}
