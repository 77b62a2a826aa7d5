/* Operations that build values, take them apart and convert their type. */
#include "lib/layout/apply.h"
#include "lib/layout/verify.h"

bool op_make_layout(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape") ||
        (c->count > 1 && !call_expects(c, 1, CUTE_BIT(CUTE_STRIDE), "expects stride to be !cute.stride")))
        return false;
    cute_layout layout = {c->in[0].tree, NULL};
    layout.stride = c->count > 1 ? c->in[1].tree : alg_compact(c->a, layout.shape, alg_number(c->a, 1));
    return layout.stride && alg_verify_layout(c->a, layout) && call_give_layout(c, layout);
}

bool op_make_composed_layout(call *c)
{
    if (!call_expects(c, 1, CUTE_BIT(CUTE_INT_TUPLE), "expects offset to be !cute.int_tuple") ||
        !call_expects(c, 2, CUTE_BIT(CUTE_LAYOUT), "expects outer to be !cute.layout") ||
        !call_expects(c, 0, CUTE_BIT(CUTE_LAYOUT) | CUTE_BIT(CUTE_SWIZZLE),
                      "expects inner to be !cute.layout or !cute.swizzle"))
        return false;
    *c->out = (cute_value){.type = CUTE_COMPOSED_LAYOUT, .tree = c->in[1].tree, .layout = c->in[2].layout};
    if (c->in[0].type == CUTE_SWIZZLE)
        c->out->swizzle = c->in[0].swizzle;
    else
        c->out->inner = c->in[0].layout;
    bool trivial = !c->out->inner.shape && c->out->swizzle.bits == 0 && alg_is(c->out->tree, 0);
    if (c->a->dsl && trivial) c->out->swizzle = (cute_swizzle){0};
    return (c->a->dsl || alg_verify_not_trivial(c->a, c->out)) && alg_verify(c->a, c->out);
}

bool op_make_identity_layout(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape")) return false;
    cute_layout layout = {c->in[0].tree, alg_basis_like(c->a, c->in[0].tree)};
    return layout.stride && alg_verify_layout(c->a, layout) && call_give_layout(c, layout);
}

static cute_node shape_of_tile(cute_algebra *a, cute_node t)
{
    if (t->kind == CUTE_TREE_LAYOUT) return t->layout.shape;
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count; i++) alg_push(a, &list, shape_of_tile(a, t->items[i]));
    return alg_tuple(a, &list);
}

bool op_get_shape(call *c)
{
    const cute_value *v = &c->in[0];
    if (!call_expects(c, 0, CUTE_LAID_OUT | CUTE_BIT(CUTE_TILE),
                      "expects a !cute.layout, !cute.composed_layout or !cute.tile"))
        return false;
    if (v->type != CUTE_TILE) return call_give_tree(c, CUTE_SHAPE, v->layout.shape);
    if (alg_has(v->tree, CUTE_TREE_UNDERSCORE)) {
        alg_fail(c->a, "expects a tile operand with no underscore slots, but got %s", alg_type_text(c->a, v));
        return false;
    }
    return call_give_tree(c, CUTE_SHAPE, shape_of_tile(c->a, v->tree));
}

bool op_get_stride(call *c)
{
    return call_expects(c, 0, CUTE_BIT(CUTE_LAYOUT) | CUTE_ANY_TENSOR, "expects input to be !cute.layout") &&
           call_give_tree(c, CUTE_STRIDE, c->in[0].layout.stride);
}

static bool expects_composed(call *c)
{
    return call_expects(c, 0, CUTE_BIT(CUTE_COMPOSED_LAYOUT), "expects input to be !cute.composed_layout");
}

bool op_composed_get_inner(call *c)
{
    if (!expects_composed(c)) return false;
    if (c->in[0].inner.shape) return call_give_layout(c, c->in[0].inner);
    *c->out = (cute_value){.type = CUTE_SWIZZLE, .swizzle = c->in[0].swizzle};
    if (alg_is_wrap(&c->in[0])) c->out->swizzle = (cute_swizzle){0, 4, 3}; /* CuTe DSL's convention */
    return true;
}

bool op_composed_get_offset(call *c)
{
    return expects_composed(c) && call_give_tree(c, CUTE_INT_TUPLE, c->in[0].tree);
}

bool op_composed_get_outer(call *c)
{
    return expects_composed(c) && call_give_layout(c, c->in[0].layout);
}

/* ---- modes ---- */

bool call_check_path(call *c, const cute_value *v)
{
    cute_node t = call_profile(v);
    for (size_t depth = 0; depth < c->attribute_count; depth++) {
        int64_t mode = c->attributes[depth];
        size_t rank = alg_rank(t), extra = c->attribute_count - depth;
        if (depth > 0 && alg_is_leaf(t)) {
            alg_fail(c->a,
                     "expects mode indices to stop at a scalar leaf, but got %zu extra %s after depth %zu",
                     extra, extra == 1 ? "index" : "indices", depth);
            return false;
        }
        if (mode < 0 || (uint64_t)mode >= rank) {
            alg_fail(c->a, "expects mode index in [0, %zu) at depth %zu, but got %lld", rank, depth,
                     (long long)mode);
            return false;
        }
        t = alg_mode(t, (size_t)mode);
    }
    return true;
}

static cute_node mode_at_path(const call *c, cute_node t)
{
    for (size_t i = 0; i < c->attribute_count; i++) t = alg_mode(t, (size_t)c->attributes[i]);
    return t;
}

/* Operand 0 at the path in the attributes. */
bool call_at_path(call *c, cute_value *out)
{
    *out = c->in[0];
    if (!call_check_path(c, out)) return false;
    if (call_is(out, CUTE_LAID_OUT))
        out->layout = (cute_layout){mode_at_path(c, out->layout.shape), mode_at_path(c, out->layout.stride)};
    else
        out->tree = mode_at_path(c, out->tree);
    return true;
}

bool op_get(call *c)
{
    if (!call_expects(c, 0, CUTE_ANY_TUPLE | CUTE_LAID_OUT | CUTE_BIT(CUTE_TILE),
                      "expects a tuple, tile or layout"))
        return false;
    return call_at_path(c, c->out);
}

static cute_node select_modes(call *c, cute_node t)
{
    alg_list list = {0};
    for (size_t i = 0; i < c->attribute_count; i++)
        alg_push(c->a, &list, alg_mode(t, (size_t)c->attributes[i]));
    return alg_tuple(c->a, &list);
}

bool op_select(call *c)
{
    const cute_value *v = &c->in[0];
    if (!call_expects(c, 0, CUTE_ANY_TUPLE | CUTE_LAID_OUT | CUTE_BIT(CUTE_TILE),
                      "expects a tuple, tile or layout"))
        return false;
    size_t rank = alg_rank(call_profile(v));
    for (size_t i = 0; i < c->attribute_count; i++)
        if (c->attributes[i] < 0 || (uint64_t)c->attributes[i] >= rank) {
            alg_fail(c->a, "expects mode index in [0, %zu), but got %lld", rank, (long long)c->attributes[i]);
            return false;
        }
    if (!call_is(v, CUTE_LAID_OUT)) return call_give_tree(c, v->type, select_modes(c, v->tree));
    cute_layout layout = {select_modes(c, v->layout.shape), select_modes(c, v->layout.stride)};
    *c->out = *v;
    c->out->layout = layout;
    return layout.shape && layout.stride;
}

/* ---- types ---- */

bool op_to_int_tuple(call *c)
{
    const cute_value *v = &c->in[0];
    if (!call_expects(c, 0, CUTE_ANY_TUPLE, "expects a shape, stride, coord or int_tuple")) return false;
    const char *wrong = alg_has(v->tree, CUTE_TREE_UNDERSCORE) ? "underscores (_)"
                        : alg_has(v->tree, CUTE_TREE_BASIS)    ? "scaled-basis strides"
                                                               : NULL;
    if (wrong) {
        alg_fail(c->a, "expects source without %s, but got %s", wrong, alg_type_text(c->a, v));
        return false;
    }
    return call_give_tree(c, CUTE_INT_TUPLE, v->tree);
}

static bool convert_int_tuple(call *c, cute_type type)
{
    return call_expects(c, 0, CUTE_BIT(CUTE_INT_TUPLE), "expects src to be !cute.int_tuple") &&
           call_give_tree(c, type, c->in[0].tree);
}

bool op_to_shape(call *c)
{
    return convert_int_tuple(c, CUTE_SHAPE);
}
bool op_to_stride(call *c)
{
    return convert_int_tuple(c, CUTE_STRIDE);
}
bool op_to_coord(call *c)
{
    return convert_int_tuple(c, CUTE_COORD);
}
