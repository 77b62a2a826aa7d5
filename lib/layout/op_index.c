/* Operations from coordinates to indices and back, sizes, products of tuples. */
#include "lib/layout/apply.h"

#define CUTE_SIZED   (CUTE_ANY_LAYOUT | CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_INT_TUPLE))
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
    if (!call_expects(c, 0, CUTE_ANY_LAYOUT, "expects a layout or composed layout")) return false;
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

bool op_layout_eval(call *c)
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

bool op_crd2idx(call *c)
{
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
