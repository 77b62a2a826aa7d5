/* A layout of elements seen as elements of another width: n old ones make a new one (upcast), or the other
 * way around (downcast). */
#include "lib/base/checked.h"
#include "lib/layout/layouts.h"

typedef cute_layout (*cast)(cute_algebra *, int64_t, cute_layout);

static cute_layout each_mode(cute_algebra *a, int64_t n, cute_layout layout, cast mode)
{
    if (!alg_ok(layout)) return alg_no_layout;
    if (alg_is_leaf(layout.shape)) return mode(a, n, layout);
    alg_layouts list = {0};
    for (uint32_t i = 0; i < layout.shape->count && !list.shapes.failed; i++)
        alg_push_layout(a, &list, each_mode(a, n, alg_layout_mode(layout, i), mode));
    return alg_layouts_tuple(a, &list);
}

/* s:d to ceil(s / ceil(n/|d|)) : sign(d) * ceil(|d|/n); a mode of stride 0 stays. */
static cute_layout up_mode(cute_algebra *a, int64_t n, cute_layout layout)
{
    cute_node d = layout.stride;
    if (!alg_is_int(d)) {
        alg_fail(a, "expects integer or dynamic strides to recast, but got %s", alg_layout_text(a, layout));
        return alg_no_layout;
    }
    if (!d->value.known) return (cute_layout){layout.shape, alg_shape_div(a, d, alg_number(a, n))};
    if (d->value.value == 0) return layout;
    int64_t magnitude = d->value.value, group, step;
    if ((magnitude < 0 && !cute_sub64(0, magnitude, &magnitude)) || !cute_ceil_div64(n, magnitude, &group) ||
        !cute_ceil_div64(magnitude, n, &step)) {
        alg_fail(a, "the stride %s does not fit", alg_text(a, d));
        return alg_no_layout;
    }
    /* New elements must be whole: either the stride is a multiple of n, or n elements of the mode make one. */
    bool whole = magnitude % n == 0 ||
                 (n % magnitude == 0 && (!alg_is_known(layout.shape) || layout.shape->value.value % group == 0));
    if (!whole && !alg_is(layout.shape, 1)) {
        alg_fail(a, "at mode %s, stride and extent are not made of whole groups of %lld: %lld is not divisible by %lld",
                 alg_layout_text(a, layout), (long long)n,
                 (long long)(n % magnitude == 0 ? layout.shape->value.value : magnitude),
                 (long long)(n % magnitude == 0 ? group : n));
        return alg_no_layout;
    }
    return (cute_layout){alg_op(a, CUTE_CEIL_DIV, layout.shape, alg_number(a, group)),
                         alg_number(a, d->value.value < 0 ? -step : step)};
}

static cute_layout down_mode(cute_algebra *a, int64_t n, cute_layout layout)
{
    cute_node d = layout.stride;
    if (!alg_is_int(d)) {
        alg_fail(a, "expects integer or dynamic strides to recast, but got %s", alg_layout_text(a, layout));
        return alg_no_layout;
    }
    if (alg_is(d, 1) || alg_is(d, -1))
        return (cute_layout){alg_op(a, CUTE_MUL, layout.shape, alg_number(a, n)), d};
    return (cute_layout){layout.shape, alg_op(a, CUTE_MUL, d, alg_number(a, n))};
}

cute_layout alg_upcast(cute_algebra *a, int64_t n, cute_layout layout) { return each_mode(a, n, layout, up_mode); }

cute_layout alg_downcast(cute_algebra *a, int64_t n, cute_layout layout)
{
    return each_mode(a, n, layout, down_mode);
}
