/* Operations from layouts to layouts. They apply to B of a composed layout A o offset o B. */
#include "lib/base/numbers/checked.h"
#include "lib/layout/apply.h"
#include "lib/layout/layouts.h"
#include "lib/layout/verify.h"

static bool expects_layout(call *c, size_t i)
{
    return call_expects(c, i, CUTE_LAID_OUT, "expects a layout or composed layout");
}

static bool expects_plain_layout(call *c)
{
    return call_expects(c, 0, CUTE_BIT(CUTE_LAYOUT), "expects input to be !cute.layout");
}

/* ---- modes ---- */

static bool check_profile(call *c, cute_layout layout, cute_node profile, uint32_t *path, size_t depth)
{
    if (alg_is_leaf(profile)) return true;
    size_t rank = alg_rank(layout.shape);
    if (profile->count > rank) {
        const char *where = "";
        for (size_t i = 0; where && i < depth; i++)
            where = cute_arena_printf(c->a->arena, "%s%s%u", where, i ? ", " : " at mode path [", path[i]);
        alg_fail(c->a, "expects target_profile rank (%u) to not exceed the layout rank (%zu)%s%s",
                 profile->count, rank, where ? where : "", depth ? "]" : "");
        return false;
    }
    for (uint32_t i = 0; i < profile->count; i++) {
        path[depth] = i;
        if (!check_profile(c, alg_layout_mode(layout, i), profile->items[i], path, depth + 1)) return false;
    }
    return true;
}

bool op_coalesce(call *c)
{
    const cute_value *v = &c->in[0];
    uint32_t path[CUTE_MAX_DEPTH + 1];
    if (!call_expects(c, 0, CUTE_LAID_OUT, "expects input to be a layout or composed layout")) return false;
    if (c->count < 2) return call_give_like(c, v, alg_coalesce(c->a, v->layout));
    if (!call_expects(c, 1, CUTE_BIT(CUTE_COORD), "expects target_profile to be !cute.coord")) return false;
    return check_profile(c, v->layout, c->in[1].tree, path, 0) &&
           call_give_like(c, v, alg_coalesce_profile(c->a, v->layout, c->in[1].tree));
}

bool op_flatten(call *c)
{
    const cute_value *v = &c->in[0];
    if (!call_expects(c, 0, CUTE_ANY_TUPLE | CUTE_LAID_OUT | CUTE_BIT(CUTE_TILE),
                      "expects a tuple, tile or layout"))
        return false;
    if (!call_is(v, CUTE_LAID_OUT)) return call_give_tree(c, v->type, alg_flatten(c->a, v->tree));
    return call_give_like(
        c, v, (cute_layout){alg_flatten(c->a, v->layout.shape), alg_flatten(c->a, v->layout.stride)});
}

bool op_filter(call *c)
{
    const cute_value *v = &c->in[0];
    uint32_t path[CUTE_MAX_DEPTH + 1];
    if (!expects_layout(c, 0)) return false;
    if (c->count < 2) return call_give_like(c, v, alg_filter(c->a, v->layout));
    if (!call_expects(c, 1, CUTE_BIT(CUTE_COORD), "expects target_profile to be !cute.coord")) return false;
    return check_profile(c, v->layout, c->in[1].tree, path, 0) &&
           call_give_like(c, v, alg_filter_profile(c->a, v->layout, c->in[1].tree));
}

static bool expects_attributes(call *c, size_t count)
{
    if (c->attribute_count == count) return true;
    alg_fail(c->a, "%s expects %zu attribute(s), but got %zu", c->name, count, c->attribute_count);
    return false;
}

bool op_group_modes(call *c)
{
    if (!expects_layout(c, 0) || !expects_attributes(c, 2)) return false;
    const cute_value *v = &c->in[0];
    long long begin = c->attributes[0], end = c->attributes[1], rank = (long long)alg_rank(v->layout.shape);
    if (begin < 0)
        alg_fail(c->a, "expects 0 <= begin, but got begin=%lld", begin);
    else if (end <= begin)
        alg_fail(c->a, "expects begin < end, but got begin=%lld, end=%lld", begin, end);
    else if (end > rank)
        alg_fail(c->a, "expects end <= rank(input)=%lld, but got end=%lld", rank, end);
    else
        return call_give_like(c, v,
                              (cute_layout){alg_group(c->a, v->layout.shape, (size_t)begin, (size_t)end),
                                            alg_group(c->a, v->layout.stride, (size_t)begin, (size_t)end)});
    return false;
}

typedef cute_node (*to_rank)(cute_algebra *, cute_node, size_t, cute_node);

static bool extend_rank(call *c, to_rank extend)
{
    const cute_value *v = &c->in[0], *e = &c->in[1];
    if (!call_expects(
            c, 0, CUTE_ANY_TUPLE | CUTE_LAID_OUT,
            "expects $input to be !cute.int_tuple, !cute.coord, !cute.stride, !cute.shape, !cute.layout, or "
            "!cute.composed_layout") ||
        !expects_attributes(c, 1))
        return false;
    if (c->attributes[0] <= 0 || c->attributes[0] > CUTE_MAX_LEAVES) {
        alg_fail(c->a, "expects rank to be a positive integer, but got %lld", (long long)c->attributes[0]);
        return false;
    }
    bool of_layout = call_is(v, CUTE_LAID_OUT);
    if (e->type != (of_layout ? CUTE_LAYOUT : v->type)) {
        if (of_layout && v->type != CUTE_LAYOUT)
            alg_fail(c->a, "expects element to be !cute.layout when input is !cute.%s, but got %s",
                     cute_type_name(v->type), alg_type_text(c->a, e));
        else
            alg_fail(c->a, "expects input and element to have the same kind, but got %s and %s",
                     alg_type_text(c->a, v), alg_type_text(c->a, e));
        return false;
    }
    size_t rank = (size_t)c->attributes[0];
    if (!of_layout)
        return call_give_tree(c, v->type, extend(c->a, v->tree, rank, e->tree)) && alg_verify(c->a, c->out);
    cute_layout layout = {extend(c->a, v->layout.shape, rank, e->layout.shape),
                          extend(c->a, v->layout.stride, rank, e->layout.stride)};
    *c->out = *v;
    c->out->layout = layout;
    return alg_ok(layout);
}

bool op_append_to_rank(call *c)
{
    return extend_rank(c, alg_append_to_rank);
}
bool op_prepend_to_rank(call *c)
{
    return extend_rank(c, alg_prepend_to_rank);
}

/* ---- construction from shapes and other layouts ---- */

/* |known strides|; unknown ones are kept, so that nothing is emitted for them. */
static cute_node known_magnitudes(cute_algebra *a, cute_node t)
{
    if (alg_is_leaf(t)) return alg_is_known(t) && t->value.value < 0 ? alg_abs(a, t) : t;
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count && !list.failed; i++)
        alg_push(a, &list, known_magnitudes(a, t->items[i]));
    return alg_tuple(a, &list);
}

bool op_make_layout_like(call *c)
{
    const cute_value *v = &c->in[0];
    if (!expects_layout(c, 0)) return false;
    if (v->inner.shape) {
        alg_fail(c->a, "expects source composed layout to have a Swizzle A component, but got a layout A");
        return false;
    }
    if (alg_has(v->layout.stride, CUTE_TREE_BASIS)) {
        alg_fail(c->a, v->type == CUTE_LAYOUT
                           ? "expects plain integer strides in source layout, but got scaled-basis strides"
                           : "expects plain integer strides in outer B layout of composed source, but got "
                             "scaled-basis strides");
        return false;
    }
    cute_node shape = alg_filter_zeros(c->a, v->layout.stride, v->layout.shape);
    cute_node order = known_magnitudes(c->a, v->layout.stride);
    return call_give_layout(c, (cute_layout){v->layout.shape, alg_compact_order(c->a, shape, order)});
}

bool op_make_ordered_layout(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_INT_TUPLE), "expects order to be !cute.int_tuple"))
        return false;
    if (!cute_tree_is_static(c->in[1].tree)) {
        alg_fail(c->a, "expects order to be a static int_tuple, but got %s", alg_type_text(c->a, &c->in[1]));
        return false;
    }
    if (!cute_tree_weakly_congruent(c->in[1].tree, c->in[0].tree)) {
        alg_fail(c->a, "expects order to be weakly congruent to shape %s, but got %s",
                 alg_type_text(c->a, &c->in[0]), alg_type_text(c->a, &c->in[1]));
        return false;
    }
    cute_layout layout = {c->in[0].tree, alg_compact_order(c->a, c->in[0].tree, c->in[1].tree)};
    return alg_ok(layout) && alg_verify_layout(c->a, layout) && call_give_layout(c, layout);
}

/* ---- composition, complement, inverses ---- */

bool op_composition(call *c)
{
    const cute_value *v = &c->in[0], *w = &c->in[1];
    if (!expects_layout(c, 0) ||
        !call_expects(c, 1, CUTE_BIT(CUTE_LAYOUT) | CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_TILE),
                      "expects a layout, shape or tile to compose with"))
        return false;
    call_sentence(c, "expects a valid composition result, but construction failed");
    if (w->type == CUTE_LAYOUT) return call_give_like(c, v, alg_compose(c->a, v->layout, w->layout));
    cute_node tile = w->type == CUTE_SHAPE ? alg_shape_to_tile(c->a, w->tree) : w->tree;
    return call_give_like(c, v, alg_compose_tile(c->a, v->layout, tile));
}

bool op_complement(call *c)
{
    const cute_value *v = &c->in[0];
    if (!expects_plain_layout(c)) return false;
    if (c->count < 2) {
        if (!cute_value_is_static(v)) {
            alg_fail(c->a, "expects input with static layout, but got%s with dynamic layout",
                     alg_type_text(c->a, v));
            return false;
        }
        call_sentence(c, "expects a valid intrinsic complement result, but construction failed for input $0");
        return call_give_layout(c, alg_complement(c->a, v->layout));
    }
    if (!call_expects(c, 1, CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_LAYOUT),
                      "expects cotarget to be !cute.shape or !cute.layout"))
        return false;
    if (!alg_only_ints(v->layout.stride)) {
        alg_fail(c->a, "expects input with integer strides, but %s has non-integer strides",
                 alg_type_text(c->a, v));
        return false;
    }
    if (!cute_tree_is_static(v->layout.stride) && alg_rank(v->layout.shape) > 1) {
        alg_fail(c->a,
                 "expects input with static strides for layouts with more than one mode, but %s has dynamic "
                 "strides "
                 "with rank %zu",
                 alg_type_text(c->a, v), alg_rank(v->layout.shape));
        return false;
    }
    call_sentence(c,
                  "expects a valid complement result, but construction failed for input $0 with cotarget $1");
    cute_node cotarget = c->in[1].type == CUTE_SHAPE ? c->in[1].tree : c->in[1].layout.shape;
    return call_give_layout(c, alg_complement_to(c->a, v->layout, cotarget));
}

static bool invert_layout(call *c, const char *kind, bool known_strides,
                          cute_layout (*inverse)(cute_algebra *, cute_layout))
{
    const cute_value *v = &c->in[0];
    if (!expects_plain_layout(c)) return false;
    if (!cute_tree_is_static(v->layout.shape)) {
        alg_fail(c->a, "expects a static-shape input layout, but got %s", alg_type_text(c->a, v));
        return false;
    }
    if (known_strides && !cute_tree_is_static(v->layout.stride)) {
        alg_fail(c->a, "expects a static-stride input layout for %s inverse, but got %s", kind,
                 alg_type_text(c->a, v));
        return false;
    }
    call_sentence(c, known_strides ? "unable to compute a left inverse for $0"
                                   : "unable to compute a right inverse for $0");
    return call_give_layout(c, inverse(c->a, v->layout));
}

bool op_right_inverse(call *c)
{
    return invert_layout(c, "right", false, alg_right_inverse);
}
bool op_left_inverse(call *c)
{
    return invert_layout(c, "left", true, alg_left_inverse);
}

/* ---- recast ---- */

/* Rescales A o offset o B to units n times larger or smaller. */
static bool scale_composed(call *c, cute_value *v, int64_t n, bool up)
{
    cute_algebra *a = c->a;
    if (n == 1) return true;
    cute_layout (*cast)(cute_algebra *, int64_t, cute_layout) = up ? alg_upcast : alg_downcast;
    v->layout = cast(a, n, v->layout);
    if (v->type == CUTE_LAYOUT) return alg_ok(v->layout);
    if (!alg_is_known(v->tree) || (up && v->tree->value.value % n != 0)) {
        alg_fail(a, "the offset %s is not a known multiple of %lld", alg_text(a, v->tree),
                 (long long)(up ? n : 1));
        return false;
    }
    v->tree = alg_op(a, up ? CUTE_DIV : CUTE_MUL, v->tree, alg_number(a, n));
    if (v->inner.shape) {
        v->inner = cast(a, n, v->inner);
        return alg_ok(v->layout) && alg_ok(v->inner) && v->tree;
    }
    int shift = 0;
    while (((int64_t)1 << shift) < n && shift < 62) shift++;
    int base = up ? v->swizzle.base - shift : v->swizzle.base + shift;
    if (((int64_t)1 << shift) != n || !cute_swizzle_valid(v->swizzle.bits, base, v->swizzle.shift)) {
        alg_fail(a, "swizzle S<%d,%d,%d> cannot be scaled by %lld", v->swizzle.bits, v->swizzle.base,
                 v->swizzle.shift, (long long)n);
        return false;
    }
    v->swizzle.base = base;
    return alg_ok(v->layout) && v->tree;
}

bool op_recast_layout(call *c)
{
    if (!call_expects(c, 0, CUTE_ANY_LAYOUT, "expects a layout or composed layout") ||
        !expects_attributes(c, 2))
        return false;
    int64_t new_bits = c->attributes[0], old_bits = c->attributes[1];
    if (new_bits <= 0)
        alg_fail(c->a, "expects new_type_bits to be positive, but got %lld", (long long)new_bits);
    else if (old_bits <= 0)
        alg_fail(c->a, "expects old_type_bits to be positive, but got %lld", (long long)old_bits);
    else if (!alg_only_ints(c->in[0].layout.stride))
        alg_fail(c->a, "expects integer or dynamic strides, but %s has scaled-basis strides",
                 alg_type_text(c->a, &c->in[0]));
    if (c->a->status != CUTE_OK) return false;
    call_sentence(c, "unable to recast $0 from $b bits to $a bits");
    int64_t common = (int64_t)cute_gcd((uint64_t)new_bits, (uint64_t)old_bits);
    *c->out = c->in[0];
    if (!scale_composed(c, c->out, new_bits / common, true) ||
        !scale_composed(c, c->out, old_bits / common, false))
        return false;
    call_decay(c->out);
    return true;
}
