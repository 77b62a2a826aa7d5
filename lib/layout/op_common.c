/* max_common_layout, max_common_vector and nullspace. */
#include "lib/layout/apply.h"
#include "lib/layout/buckets.h"
#include "lib/layout/pointer.h"

/* ---- nullspace ---- */

/* The flat modes of stride 0, with their strides in the compact layout of the same shape. */
bool op_nullspace(call *c)
{
    cute_algebra *a = c->a;
    if (!call_expects(c, 0, CUTE_BIT(CUTE_LAYOUT), "expects input to be !cute.layout")) return false;
    cute_node shape = alg_flatten_to_tuple(a, c->in[0].layout.shape);
    cute_node stride = alg_flatten_to_tuple(a, c->in[0].layout.stride);
    cute_node compact = shape ? alg_compact(a, shape, alg_number(a, 1)) : NULL;
    alg_layouts list = {0};
    if (!stride || !compact) return false;
    for (uint32_t i = 0; i < shape->count; i++) {
        cute_node scale = alg_scale_of(a, stride->items[i]);
        if (!scale) return false;
        if (!alg_is(scale, 0)) continue;
        alg_push(a, &list.shapes, shape->items[i]);
        alg_push(a, &list.strides, alg_mode(compact, i));
    }
    if (!list.shapes.count) return call_give_layout(c, (cute_layout){alg_number(a, 1), alg_number(a, 0)});
    cute_layout layout = alg_layouts_tuple(a, &list);
    return alg_ok(layout) &&
           call_give_layout(c, (cute_layout){alg_unwrap(layout.shape), alg_unwrap(layout.stride)});
}

/* ---- common contiguous layout ---- */

/* R with A(R(i)) = i and B(R(i)) = i: B's right inverse, restricted to where A o inverse is the identity. If
 * A o the whole inverse is not a layout, fewer of its modes are tried. */
static cute_layout common_layout(cute_algebra *a, cute_layout x, cute_layout y)
{
    cute_layout inverse = alg_right_inverse(a, y), both = alg_no_layout;
    if (!alg_ok(inverse)) return alg_no_layout;
    for (size_t rank = alg_rank(inverse.shape); rank > 0 && !alg_ok(both); rank--) {
        cute_algebra quiet = {.arena = a->arena, .arith = a->arith};
        if (rank < alg_rank(inverse.shape))
            inverse =
                (cute_layout){alg_take(a, inverse.shape, 0, rank), alg_take(a, inverse.stride, 0, rank)};
        both = alg_compose(&quiet, x, inverse);
        if (quiet.status != CUTE_OK && quiet.status != CUTE_INVALID) return alg_exhausted(a), alg_no_layout;
    }
    cute_layout common =
        alg_ok(both) ? alg_coalesce(a, both) : (cute_layout){alg_number(a, 1), alg_number(a, 0)};
    if (!alg_ok(common)) return alg_no_layout;
    cute_layout first = alg_layout_mode(common, 0);
    if (alg_is_known(first.shape) && alg_is(first.stride, 1)) return alg_compose(a, inverse, first);
    return (cute_layout){alg_number(a, 1), alg_number(a, 0)};
}

/* The number of consecutive indices that a swizzle at a known offset keeps consecutive: limited by the
 * swizzle's base and by the alignment of the offset. */
static int64_t unswizzled_run(const cute_value *v)
{
    if (v->type != CUTE_COMPOSED_LAYOUT) return INT64_MAX;
    int64_t most = (int64_t)1 << v->swizzle.base, divisor = v->tree->value.divisor;
    if (v->tree->value.known) {
        uint64_t offset = (uint64_t)v->tree->value.value;
        if (!offset) return v->swizzle.bits ? most : INT64_MAX;
        divisor = (int64_t)(offset & (0 - offset));
        if (divisor < 0) divisor = INT64_MAX;
    } else if (divisor) {
        divisor &= -divisor;
    } else {
        divisor = 1;
    }
    return divisor < most ? divisor : most;
}

static bool same_swizzle(const cute_value *v, const cute_value *w)
{
    return v->type == CUTE_COMPOSED_LAYOUT && w->type == CUTE_COMPOSED_LAYOUT &&
           alg_same_swizzle(v->swizzle, w->swizzle) && alg_is(v->tree, 0) && alg_is(w->tree, 0);
}

static bool find_common(call *c, bool only_size, cute_layout *out)
{
    cute_algebra *a = c->a;
    for (size_t i = 0; i < 2; i++) {
        if (!call_expects(c, i, CUTE_ANY_LAYOUT, "expects a layout or composed layout")) return false;
        if (c->in[i].inner.shape) {
            alg_fail(a, "expects the composed layout to be swizzled, but got %s",
                     alg_type_text(a, &c->in[i]));
            return false;
        }
        if (!alg_only_ints(c->in[i].layout.stride)) {
            alg_fail(a, "expects integer strides, but got %s", alg_type_text(a, &c->in[i]));
            return false;
        }
    }
    call_sentence(c, "unable to compare $0 and $1");
    *out = common_layout(a, c->in[0].layout, c->in[1].layout);
    if (!alg_ok(*out)) return false;
    /* Equal swizzles cancel out; but max_common_layout would have to return a swizzled layout. */
    int64_t x = unswizzled_run(&c->in[0]), y = unswizzled_run(&c->in[1]), most = x < y ? x : y;
    if (only_size && same_swizzle(&c->in[0], &c->in[1])) most = INT64_MAX;
    cute_node size = alg_product(a, out->shape);
    if (!size) return false;
    if (size->value.value > most)
        *out = alg_compose(a, *out, (cute_layout){alg_number(a, most), alg_number(a, 1)});
    return alg_ok(*out);
}

bool op_max_common_layout(call *c)
{
    cute_layout layout;
    return find_common(c, false, &layout) && call_give_layout(c, layout);
}

bool op_max_common_vector(call *c)
{
    cute_layout layout;
    return find_common(c, true, &layout) &&
           call_give_tree(c, CUTE_INT_TUPLE, alg_product(c->a, layout.shape));
}
