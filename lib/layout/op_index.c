/* Operations from coordinates to indices and back, sizes, products of tuples. */
#include "lib/layout/apply.h"

#define CUTE_SIZED   (CUTE_LAID_OUT | CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_INT_TUPLE))
#define CUTE_COUNTED (CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_INT_TUPLE))

bool op_size(call *c)
{
    cute_value v;
    return call_expects(c, 0, CUTE_SIZED, "expects a shape, int_tuple or layout") && call_at_path(c, &v) &&
           call_give_tree(c, CUTE_INT_TUPLE, alg_product(c->a, call_profile(&v)));
}

bool op_cosize(call *c)
{
    cute_value v;
    if (!call_expects(c, 0, CUTE_LAID_OUT, "expects a layout or composed layout")) return false;
    if (c->in[0].inner.shape) {
        alg_fail(c->a,
                 "expects composed_layout inner to be a swizzle (cosize is undefined for affine inner), but "
                 "got %s",
                 alg_type_text(c->a, &c->in[0]));
        return false;
    }
    return call_at_path(c, &v) &&
           call_give_tree(c, CUTE_INT_TUPLE, alg_product(c->a, alg_coshape(c->a, v.layout)));
}

bool op_tuple_product(call *c)
{
    return call_expects(c, 0, CUTE_COUNTED, "expects a shape or int_tuple") &&
           call_give_tree(c, c->in[0].type, alg_product(c->a, c->in[0].tree));
}

bool op_tuple_product_each(call *c)
{
    if (!call_expects(c, 0, CUTE_COUNTED, "expects a shape or int_tuple")) return false;
    alg_list list = {0};
    for (size_t i = 0; i < alg_rank(c->in[0].tree); i++)
        alg_push(c->a, &list, alg_product(c->a, alg_mode(c->in[0].tree, i)));
    return call_give_tree(c, c->in[0].type, alg_tuple(c->a, &list));
}

static bool eval_layout(call *c)
{
    const cute_value *coord = &c->in[0], *layout = &c->in[1];
    if (!call_expects(c, 0, CUTE_BIT(CUTE_COORD), "expects coord to be !cute.coord") ||
        !call_expects(c, 1, CUTE_ANY_LAYOUT, "expects a layout or composed layout"))
        return false;
    size_t rank = alg_rank(layout->layout.shape);
    if (!alg_is_leaf(coord->tree) && alg_rank(coord->tree) != rank) {
        alg_fail(c->a, "expects coordinate rank %zu (to match layout shape rank) or be a leaf, but got %zu",
                 rank, alg_rank(coord->tree));
        return false;
    }
    call_sentence(c, "unable to compute layout_eval for coordinate $0 and layout $1");
    cute_node index = alg_eval(c->a, coord->tree, layout->layout.shape, layout->layout.stride);
    if (layout->type == CUTE_COMPOSED_LAYOUT) {
        index = alg_sum(c->a, layout->tree, index);
        index = layout->inner.shape ? alg_eval(c->a, index, layout->inner.shape, layout->inner.stride)
                                    : alg_swizzle(c->a, layout->swizzle, index);
    }
    return call_give_tree(c, CUTE_INT_TUPLE, index);
}

bool op_layout_eval(call *c)
{
    return eval_layout(c);
}

bool op_crd2idx(call *c)
{
    if (call_is(&c->in[1], CUTE_ANY_LAYOUT)) { /* not in the public dialect */
        c->a->dsl = true;
        return eval_layout(c);
    }
    if (!call_expects(c, 0, CUTE_BIT(CUTE_COORD), "expects coord to be !cute.coord") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape"))
        return false;
    if (!cute_tree_weakly_congruent(c->in[0].tree, c->in[1].tree)) {
        alg_fail(c->a, "expects coord and shape to be weakly congruent, but got coord %s and shape %s",
                 alg_type_text(c->a, &c->in[0]), alg_type_text(c->a, &c->in[1]));
        return false;
    }
    call_sentence(c, "unable to pack coordinate $0 into shape $1");
    return call_give_tree(c, CUTE_INT_TUPLE, alg_crd2idx(c->a, c->in[0].tree, c->in[1].tree));
}

bool op_idx2crd(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_INT_TUPLE), "expects index to be !cute.int_tuple") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape"))
        return false;
    size_t rank = alg_rank(c->in[1].tree), got = alg_rank(c->in[0].tree);
    if (got > 1 && got != rank) {
        alg_fail(c->a, "expects index rank %zu (to match shape rank) or scalar, but got %zu", rank, got);
        return false;
    }
    call_sentence(c, "unable to compute idx2crd for index $0 and shape $1");
    return call_give_tree(c, CUTE_COORD, alg_idx2crd(c->a, c->in[0].tree, c->in[1].tree));
}

bool op_swizzle_eval(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_COORD) | CUTE_BIT(CUTE_INT_TUPLE), "expects an index") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_SWIZZLE), "expects swizzle to be !cute.swizzle"))
        return false;
    if (!alg_is_int(c->in[0].tree)) {
        alg_fail(c->a, "a swizzle takes one integer, but got %s", alg_text(c->a, c->in[0].tree));
        return false;
    }
    return call_give_tree(c, CUTE_INT_TUPLE, alg_swizzle(c->a, c->in[1].swizzle, c->in[0].tree));
}

/* ---- coordinate of a layout's index ---- */

bool op_layout_idx2crd(call *c)
{
    cute_algebra *a = c->a;
    const cute_value *index = &c->in[0], *v = &c->in[1];
    if (!call_expects(c, 0, CUTE_BIT(CUTE_INT_TUPLE), "expects index to be !cute.int_tuple") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_LAYOUT), "expects layout to be !cute.layout"))
        return false;
    if (!alg_is_int(index->tree) || !alg_only_ints(v->layout.stride)) {
        alg_fail(a, "expects one integer as index and integer strides, but got %s and %s",
                 alg_text(a, index->tree), alg_layout_text(a, v->layout));
        return false;
    }
    call_sentence(c, "unable to compute the coordinate of index $0 of $1");
    cute_node crd = call_divided(a, index->tree, v->layout.shape, v->layout.stride);
    if (!crd) return false;
    /* Division only inverts strides that are multiples of each other. */
    if (alg_is_known(index->tree) && cute_value_is_static(v)) {
        cute_node again = alg_eval(a, crd, v->layout.shape, v->layout.stride);
        if (!again) return false;
        if (!alg_is(again, index->tree->value.value) && !(alg_is_empty(again) && alg_is(index->tree, 0))) {
            alg_fail(a, "dividing by the strides gives %s, whose index is %s", alg_text(a, crd),
                     alg_text(a, again));
            return false;
        }
    }
    return call_give_tree(c, CUTE_COORD, crd);
}

/* ---- conversion of coordinates between shapes ---- */

/* Mode by mode if all three are tuples; otherwise through the index. */
static cute_node crd2crd(cute_algebra *a, cute_node coord, cute_node to, cute_node from)
{
    if (alg_is_leaf(coord) || alg_is_leaf(to) || alg_is_leaf(from)) {
        if (!cute_tree_weakly_congruent(coord, from))
            return alg_fail(a, "expects coordinate %s to be weakly congruent to its shape %s",
                            alg_text(a, coord), alg_text(a, from));
        return alg_idx2crd(a, alg_is_leaf(coord) ? coord : alg_crd2idx(a, coord, from), to);
    }
    if (coord->count != to->count || coord->count != from->count)
        return alg_fail(a, "expects coordinate %s and the shapes %s and %s to have the same rank",
                        alg_text(a, coord), alg_text(a, from), alg_text(a, to));
    alg_list list = {0};
    for (uint32_t i = 0; i < coord->count && !list.failed; i++)
        alg_push(a, &list, crd2crd(a, coord->items[i], to->items[i], from->items[i]));
    return alg_tuple(a, &list);
}

bool op_crd2crd(call *c)
{
    cute_node coord = c->in[0].tree;
    if (!call_expects(c, 0, CUTE_BIT(CUTE_COORD), "expects coord to be !cute.coord") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_SHAPE), "expects the target shape to be !cute.shape") ||
        (c->count > 2 &&
         !call_expects(c, 2, CUTE_BIT(CUTE_SHAPE), "expects the source shape to be !cute.shape")))
        return false;
    if (alg_has(coord, CUTE_TREE_UNDERSCORE)) {
        alg_fail(c->a, "expects a coordinate without underscores, but got %s", alg_text(c->a, coord));
        return false;
    }
    call_sentence(c, "unable to convert coordinate $0 to shape $1");
    /* Without a source shape, each leaf of the coordinate is the index within its mode. */
    cute_node crd = c->count > 2 ? crd2crd(c->a, coord, c->in[1].tree, c->in[2].tree)
                                 : alg_idx2crd(c->a, coord, c->in[1].tree);
    return call_give_tree(c, CUTE_COORD, crd);
}

/* ---- products of tuples ---- */

static cute_node prefix_product(cute_algebra *a, cute_node t, cute_node start)
{
    if (!t || !start) return NULL;
    if (alg_is_leaf(t)) {
        if (alg_is_leaf(start)) return start;
        return alg_fail(a, "expects the start %s to be weakly congruent", alg_text(a, start));
    }
    if (!alg_is_leaf(start) && start->count != t->count)
        return alg_fail(a, "expects the start %s to have %u modes as %s", alg_text(a, start), t->count,
                        alg_text(a, t));
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count && !list.failed && start; i++) {
        alg_push(a, &list, prefix_product(a, t->items[i], alg_is_leaf(start) ? start : start->items[i]));
        if (alg_is_leaf(start) && i + 1 < t->count && !list.failed)
            start = alg_op(a, CUTE_MUL, start, alg_product(a, t->items[i]));
    }
    return start ? alg_tuple(a, &list) : NULL;
}

bool op_prefix_product(call *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (!call_expects(c, i, CUTE_COUNTED, "expects a shape or int_tuple")) return false;
    cute_node start = c->count > 1 ? c->in[1].tree : alg_number(c->a, 1);
    return call_give_tree(c, c->in[0].type, prefix_product(c->a, c->in[0].tree, start));
}

static cute_node inner_product(cute_algebra *a, cute_node x, cute_node y)
{
    if (alg_is_leaf(x)) return alg_op(a, CUTE_MUL, x, y);
    cute_node sum = alg_number(a, 0);
    for (uint32_t i = 0; i < x->count && sum; i++)
        sum = alg_op(a, CUTE_ADD, sum, inner_product(a, x->items[i], y->items[i]));
    return sum;
}

bool op_inner_product(call *c)
{
    for (size_t i = 0; i < 2; i++)
        if (!call_expects(c, i, CUTE_COUNTED, "expects a shape or int_tuple")) return false;
    if (!cute_tree_congruent(c->in[0].tree, c->in[1].tree)) {
        alg_fail(c->a, "expects congruent tuples, but got %s and %s", alg_text(c->a, c->in[0].tree),
                 alg_text(c->a, c->in[1].tree));
        return false;
    }
    return call_give_tree(c, CUTE_INT_TUPLE, inner_product(c->a, c->in[0].tree, c->in[1].tree));
}
