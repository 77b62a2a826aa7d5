/* A layout with elements of another width: n old elements make a new one (upcast), or an old one makes n
 * (downcast).
 *
 * Upcast: a mode s:d with d >= n becomes s:d/n; if d < n, n/d of its elements fall into one new element: s /
 * (n/d) : 1, rounded up. That is the address divided by n for every coordinate only if d and n divide each
 * other or the mode is short enough, and if the remainders within a new element never add up to n; otherwise
 * it is rejected. Downcast: the mode of stride 1 becomes n times as long, other strides n times as large. */
#include "lib/base/numbers/checked.h"
#include "lib/layout/layouts.h"

static bool integer_stride(cute_algebra *a, cute_layout mode)
{
    if (alg_is_int(mode.stride)) return true;
    alg_fail(a, "expects integer or dynamic strides to recast, but got %s", alg_layout_text(a, mode));
    return false;
}

static bool magnitude_of(cute_algebra *a, cute_node stride, int64_t *out)
{
    *out = stride->value.value;
    if (*out >= 0 || cute_sub64(0, *out, out)) return true;
    alg_fail(a, "the stride %s has no magnitude in 64 bits", alg_text(a, stride));
    return false;
}

/* ---- upcast ---- */

static bool refuse_indivisible(cute_algebra *a, cute_layout mode, int64_t x, int64_t y)
{
    alg_fail(a, "at mode %s, the stride %lld is not divisible by %lld", alg_layout_text(a, mode),
             (long long)x, (long long)y);
    return false;
}

enum { MOST_STEPS = 4096 };

/* d < n and neither divides the other: correct if groups of ceil(n/d) elements each fall into one new
 * element, as they do in a short mode. *reach: the largest offset within a new element. */
static bool groups_fit(int64_t n, int64_t d, int64_t extent, int64_t *reach)
{
    int64_t group = n / d + 1;
    if (extent > MOST_STEPS) return false;
    *reach = 0;
    for (int64_t i = 0; i < extent; i++) {
        if (i * d / n != i / group) return false;
        if (i * d % n > *reach) *reach = i * d % n;
    }
    return true;
}

/* Adds the mode's largest offset within a new element to *inside. */
static bool check_up(cute_algebra *a, int64_t n, cute_layout mode, int64_t *inside)
{
    if (!alg_is_leaf(mode.shape)) {
        for (uint32_t i = 0; i < mode.shape->count; i++)
            if (!check_up(a, n, alg_layout_mode(mode, i), inside)) return false;
        return true;
    }
    int64_t d, steps;
    if (!integer_stride(a, mode)) return false;
    if (!mode.stride->value.known || alg_is(mode.stride, 0) || alg_is(mode.shape, 1)) return true;
    if (!magnitude_of(a, mode.stride, &d)) return false;
    if (d % n == 0) return true;
    if (d > n) return refuse_indivisible(a, mode, d, n);
    int64_t reach = 0;
    bool divides = n % d == 0;
    if (!divides && !(alg_is_known(mode.shape) && groups_fit(n, d, mode.shape->value.value, &reach)))
        return alg_fail(a, "at mode %s, new elements of %lld are not a multiple of the stride %lld",
                        alg_layout_text(a, mode), (long long)n, (long long)d) != NULL;
    if (mode.stride->value.value < 0) {
        alg_fail(a, "at mode %s, a negative stride splits new elements of %lld", alg_layout_text(a, mode),
                 (long long)n);
        return false;
    }
    if (divides) {
        steps = n / d;
        if (alg_is_known(mode.shape) && mode.shape->value.value < steps) steps = mode.shape->value.value;
        reach = (steps - 1) * d;
    }
    *inside += reach; /* below n each; the number of leaves bounds the sum */
    if (*inside < n) return true;
    alg_fail(a, "at mode %s, modes overlap inside new elements of %lld", alg_layout_text(a, mode),
             (long long)n);
    return false;
}

static cute_layout upcast_mode(cute_algebra *a, int64_t n, cute_layout mode)
{
    if (!alg_is_leaf(mode.shape)) {
        alg_layouts list = {0};
        for (uint32_t i = 0; i < mode.shape->count && !list.shapes.failed; i++)
            alg_push_layout(a, &list, upcast_mode(a, n, alg_layout_mode(mode, i)));
        return alg_layouts_tuple(a, &list);
    }
    cute_node d = mode.stride;
    if (!d->value.known) {
        /* A multiple of n is divided exactly, and what divides it still is known. */
        bool exact = d->value.divisor > 0 && d->value.divisor % n == 0;
        return (cute_layout){mode.shape, exact ? alg_op(a, CUTE_CEIL_DIV, d, alg_number(a, n))
                                               : alg_shape_div(a, d, alg_number(a, n))};
    }
    if (d->value.value == 0) return mode;
    int64_t magnitude, group, step;
    if (!magnitude_of(a, d, &magnitude) || !cute_ceil_div64(n, magnitude, &group) ||
        !cute_ceil_div64(magnitude, n, &step))
        return alg_no_layout;
    return (cute_layout){alg_op(a, CUTE_CEIL_DIV, mode.shape, alg_number(a, group)),
                         alg_number(a, d->value.value < 0 ? -step : step)};
}

cute_layout alg_upcast(cute_algebra *a, int64_t n, cute_layout layout)
{
    int64_t inside = 0;
    if (!alg_ok(layout) || n > INT64_MAX / (2 * (int64_t)CUTE_MAX_LEAVES) ||
        !check_up(a, n, layout, &inside)) {
        if (alg_ok(layout)) alg_fail(a, "%lld is too large a factor", (long long)n);
        return alg_no_layout;
    }
    return upcast_mode(a, n, layout);
}

/* ---- downcast ---- */

/* The leaf to lengthen: the one of stride 1; among several, the one with more than one element. */
typedef struct contiguous {
    uint32_t leaf;
    bool found, real;
} contiguous;

static bool find_contiguous(cute_algebra *a, cute_layout mode, uint32_t *leaf, contiguous *c)
{
    if (!alg_is_leaf(mode.shape)) {
        for (uint32_t i = 0; i < mode.shape->count; i++)
            if (!find_contiguous(a, alg_layout_mode(mode, i), leaf, c)) return false;
        return true;
    }
    uint32_t here = (*leaf)++;
    bool real = !alg_is(mode.shape, 1);
    if (!integer_stride(a, mode)) return false;
    if (alg_is(mode.stride, -1) && real) {
        alg_fail(a, "at mode %s, elements of a negative stride cannot be split in place",
                 alg_layout_text(a, mode));
        return false;
    }
    if (!alg_is(mode.stride, 1)) return true;
    if (c->real && real) {
        alg_fail(a, "at mode %s, a second mode of stride 1 overlaps the first", alg_layout_text(a, mode));
        return false;
    }
    if (!c->found || real) *c = (contiguous){here, true, real};
    return true;
}

static cute_layout downcast_mode(cute_algebra *a, int64_t n, cute_layout mode, uint32_t *leaf,
                                 const contiguous *c)
{
    if (!alg_is_leaf(mode.shape)) {
        alg_layouts list = {0};
        for (uint32_t i = 0; i < mode.shape->count && !list.shapes.failed; i++)
            alg_push_layout(a, &list, downcast_mode(a, n, alg_layout_mode(mode, i), leaf, c));
        return alg_layouts_tuple(a, &list);
    }
    uint32_t here = (*leaf)++;
    if (c->found && here == c->leaf)
        return (cute_layout){alg_op(a, CUTE_MUL, mode.shape, alg_number(a, n)), mode.stride};
    return (cute_layout){mode.shape, alg_op(a, CUTE_MUL, mode.stride, alg_number(a, n))};
}

cute_layout alg_downcast(cute_algebra *a, int64_t n, cute_layout layout)
{
    uint32_t leaf = 0;
    contiguous c = {0};
    if (!alg_ok(layout) || !find_contiguous(a, layout, &leaf, &c)) return alg_no_layout;
    leaf = 0;
    return downcast_mode(a, n, layout, &leaf, &c);
}
