/* Arithmetic and comparisons of tuples. */
#include "lib/layout/apply.h"
#include "lib/layout/layouts.h"
#include "lib/layout/verify.h"

#define CUTE_COUNTED (CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_INT_TUPLE))

static bool check_nesting(call *c, cute_node x, cute_node y)
{
    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
        if (alg_is_leaf(x->items[i]) != alg_is_leaf(y->items[i])) {
            alg_fail(c->a, "expects matching nesting at element %u, but got: %s and %s", i,
                     alg_type_text(c->a, &c->in[0]), alg_type_text(c->a, &c->in[1]));
            return false;
        }
        if (!alg_is_leaf(x->items[i]) && !check_nesting(c, x->items[i], y->items[i])) return false;
    }
    return true;
}

static bool check_addable(call *c, bool zero_may_lead)
{
    cute_node x = c->in[0].tree, y = c->in[1].tree;
    if (alg_is_leaf(x) && alg_is_leaf(y)) return true;
    if (!alg_is_leaf(x) && !alg_is_leaf(y)) return check_nesting(c, x, y);
    if (alg_is_leaf(y) ? alg_is(y, 0) : zero_may_lead && alg_is(x, 0)) return true;
    const char *scalar = alg_is_leaf(x) ? "lhs" : "rhs", *tuple = alg_is_leaf(x) ? "rhs" : "lhs";
    alg_fail(c->a, "expects matching structure, but %s is a scalar and %s is a tuple: %s and %s", scalar,
             tuple, alg_type_text(c->a, &c->in[0]), alg_type_text(c->a, &c->in[1]));
    return false;
}

static bool add_tuples(call *c, cute_node (*combine)(cute_algebra *, cute_node, cute_node),
                       bool zero_may_lead)
{
    if (!call_expects(c, 0, CUTE_COUNTED, "expects a shape or int_tuple")) return false;
    if (c->in[0].type != c->in[1].type) {
        alg_fail(c->a, "expects lhs and rhs to have the same kind, but got %s and %s",
                 alg_type_text(c->a, &c->in[0]), alg_type_text(c->a, &c->in[1]));
        return false;
    }
    if (!check_addable(c, zero_may_lead)) return false;
    call_sentence(c, "expects valid operands, but cannot compute result for $0 and $1");
    return call_give_tree(c, c->in[0].type, combine(c->a, c->in[0].tree, c->in[1].tree));
}

bool op_tuple_add(call *c)
{
    return add_tuples(c, alg_sum, true);
}
bool op_tuple_sub(call *c)
{
    return add_tuples(c, alg_difference, false);
}

static cute_node leafwise(cute_algebra *a, cute_arith_op op, cute_node x, cute_node y)
{
    if (alg_is_leaf(x) && alg_is_leaf(y)) return alg_op(a, op, x, y);
    const cute_tree *like = alg_is_leaf(x) ? y : x;
    if (!alg_is_leaf(x) && !alg_is_leaf(y) && x->count != y->count)
        return alg_fail(a, "expects tuples of the same rank, but got %s and %s", alg_text(a, x),
                        alg_text(a, y));
    alg_list list = {0};
    for (uint32_t i = 0; i < like->count && !list.failed; i++)
        alg_push(a, &list,
                 leafwise(a, op, alg_is_leaf(x) ? x : x->items[i], alg_is_leaf(y) ? y : y->items[i]));
    return alg_tuple(a, &list);
}

/* Leaf by leaf; a scalar is combined with each leaf of a tuple. */
static bool apply_to_leaves(call *c, cute_arith_op op)
{
    if (!call_expects(c, 0, CUTE_COUNTED, "expects a shape or int_tuple")) return false;
    if (c->in[0].type != c->in[1].type) {
        alg_fail(c->a, "expects lhs and rhs to have the same kind, but got %s and %s",
                 alg_type_text(c->a, &c->in[0]), alg_type_text(c->a, &c->in[1]));
        return false;
    }
    c->a->dsl = true;
    call_sentence(c, "expects valid operands, but cannot compute result for $0 and $1");
    return call_give_tree(c, c->in[0].type, leafwise(c->a, op, c->in[0].tree, c->in[1].tree));
}

bool op_tuple_mul(call *c)
{
    return apply_to_leaves(c, CUTE_MUL);
}
bool op_tuple_div(call *c)
{
    return apply_to_leaves(c, CUTE_DIV);
}
bool op_tuple_mod(call *c)
{
    return apply_to_leaves(c, CUTE_REM);
}

bool op_shape_div(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_SHAPE), "expects a to be !cute.shape") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_SHAPE), "expects b to be !cute.shape"))
        return false;
    call_sentence(c, "expects valid operands, but cannot compute shape_div for $0 and $1");
    if (alg_is(c->in[1].tree, 0)) {
        alg_fail(c->a, "divisor is zero");
        return false;
    }
    return call_give_tree(c, CUTE_SHAPE, alg_shape_div(c->a, c->in[0].tree, c->in[1].tree));
}

static cute_node shape_of_tile(cute_algebra *a, cute_node t)
{
    if (t->kind == CUTE_TREE_LAYOUT) return t->layout.shape;
    if (t->kind == CUTE_TREE_UNDERSCORE) return alg_fail(a, "an underscore has no extent to divide by");
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count; i++) alg_push(a, &list, shape_of_tile(a, t->items[i]));
    return alg_tuple(a, &list);
}

static cute_node ceil_div_tile(cute_algebra *a, cute_node target, cute_node tile)
{
    if (tile->kind == CUTE_TREE_UNDERSCORE) return alg_fail(a, "an underscore has no extent to divide by");
    if (tile->kind == CUTE_TREE_LAYOUT && alg_has(tile->layout.stride, CUTE_TREE_BASIS))
        return alg_fail(a, "expects tiles with integer strides, but got %s",
                        alg_layout_text(a, tile->layout));
    if (tile->kind == CUTE_TREE_LAYOUT)
        return alg_complement_to(a, tile->layout, alg_product(a, target)).shape;
    if (alg_is_leaf(target)) return alg_ceil_div(a, target, alg_product(a, shape_of_tile(a, tile)));
    if (tile->count > target->count)
        return alg_fail(a, "rank(tiler)=%u > rank(input)=%u", tile->count, target->count);
    alg_list list = {0};
    for (uint32_t i = 0; i < target->count && !list.failed; i++)
        alg_push(a, &list,
                 i < tile->count ? ceil_div_tile(a, target->items[i], tile->items[i]) : target->items[i]);
    return alg_tuple(a, &list);
}

bool op_ceil_div(call *c)
{
    const cute_value *v = &c->in[0], *t = &c->in[1];
    if (!call_expects(c, 0, CUTE_COUNTED, "expects a shape or int_tuple to divide") ||
        !call_expects(c, 1, CUTE_COUNTED | CUTE_BIT(CUTE_TILE),
                      "expects a shape, int_tuple or tile to divide by"))
        return false;
    call_sentence(c, "expects valid operands, but cannot compute ceil_div for $0 and $1");
    if (t->type == CUTE_TILE) return call_give_tree(c, v->type, ceil_div_tile(c->a, v->tree, t->tree));
    if (alg_is(t->tree, 0)) {
        alg_fail(c->a, "tiler is zero");
        return false;
    }
    if (!alg_is_leaf(v->tree) && !alg_is_leaf(t->tree) && t->tree->count > v->tree->count) {
        alg_fail(c->a, "rank(tiler)=%u > rank(input)=%u", t->tree->count, v->tree->count);
        return false;
    }
    return call_give_tree(c, v->type, alg_ceil_div(c->a, v->tree, t->tree));
}

/* ---- increment ---- */

typedef struct carry {
    cute_node sum;
} carry;

static cute_node carry_sum(cute_algebra *a, void *context)
{
    return (void)a, ((carry *)context)->sum;
}
static cute_node constant_zero(cute_algebra *a, void *context)
{
    return (void)context, alg_number(a, 0);
}
static cute_node constant_one(cute_algebra *a, void *context)
{
    return (void)context, alg_number(a, 1);
}

static cute_node rebuild_coordinate(cute_algebra *a, cute_node like, const alg_list *leaves, size_t *next)
{
    if (alg_is_leaf(like)) return leaves->items[(*next)++];
    alg_list list = {0};
    for (uint32_t i = 0; i < like->count; i++)
        alg_push(a, &list, rebuild_coordinate(a, like->items[i], leaves, next));
    return alg_tuple(a, &list);
}

/* c + 1 with carries, mode by mode: sum < extent ? sum : 0; the last mode is not reduced. */
static cute_node increment_coordinate(cute_algebra *a, cute_node coord, cute_node shape)
{
    cute_node c = alg_flatten_to_tuple(a, coord), s = alg_flatten_to_tuple(a, shape), rest = alg_number(a, 1);
    alg_list leaves = {0};
    if (!c || !s || !rest) return NULL;
    for (uint32_t i = 0; i + 1 < c->count && rest; i++) {
        if (alg_is(s->items[i], 1)) {
            alg_push(a, &leaves, alg_number(a, 0));
            continue;
        }
        carry k = {alg_op(a, CUTE_ADD, c->items[i], rest)};
        alg_push(a, &leaves, alg_if(a, alg_op(a, CUTE_LT, k.sum, s->items[i]), carry_sum, constant_zero, &k));
        rest = alg_if(a, alg_op(a, CUTE_LT, k.sum, s->items[i]), constant_zero, constant_one, &k);
    }
    if (c->count) alg_push(a, &leaves, alg_op(a, CUTE_ADD, c->items[c->count - 1], rest));
    size_t next = 0;
    return leaves.failed ? NULL : rebuild_coordinate(a, coord, &leaves, &next);
}

bool op_increment_coord(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_COORD), "expects coord to be !cute.coord") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape"))
        return false;
    if (!cute_tree_congruent(c->in[0].tree, c->in[1].tree)) {
        alg_fail(c->a, "expects coord to be congruent with shape, but got %s and %s",
                 alg_type_text(c->a, &c->in[0]), alg_type_text(c->a, &c->in[1]));
        return false;
    }
    if (alg_has(c->in[0].tree, CUTE_TREE_UNDERSCORE)) {
        alg_fail(c->a, "expects coord to be free of underscore wildcards, but got %s",
                 alg_type_text(c->a, &c->in[0]));
        return false;
    }
    call_sentence(c, "unable to compute increment_coord for coord $0 and shape $1");
    return call_give_tree(c, CUTE_COORD, increment_coordinate(c->a, c->in[0].tree, c->in[1].tree));
}

/* ---- comparisons ---- */

/* AND of truth values; a known 1 is neutral. */
static cute_node combine_conditions(call *c, cute_node x, cute_node y)
{
    if (!x || !y) return NULL;
    if (alg_is(x, 1)) return y;
    return alg_is(y, 1) ? x : alg_op(c->a, CUTE_AND, x, y);
}

/* AND of `result` (unless NULL) and op applied to each pair of leaves. */
static cute_node compare_leaves(call *c, cute_arith_op op, cute_node x, cute_node y, cute_node result)
{
    if (!x || !y) return NULL;
    for (uint32_t i = 0; i < x->count; i++) {
        cute_node u = x->items[i], v = y->items[i], here;
        if (alg_is_int(u) && alg_is_int(v)) {
            here = alg_op(c->a, op, u, v);
        } else {
            bool same = op == CUTE_EQ && u->kind == v->kind && u->count == v->count;
            for (uint32_t j = 0; same && u->kind == CUTE_TREE_BASIS && j < u->count; j++)
                same = u->path[j] == v->path[j];
            here = same && u->kind == CUTE_TREE_BASIS
                       ? alg_op(c->a, op, alg_scalar(c->a, u->value), alg_scalar(c->a, v->value))
                       : alg_number(c->a, same);
        }
        result = result ? combine_conditions(c, result, here) : here;
        if (!result || alg_is(result, 0)) return result;
    }
    return result ? result : alg_number(c->a, 1);
}

bool op_elem_less(call *c)
{
    unsigned types = CUTE_COUNTED | CUTE_BIT(CUTE_COORD);
    if (!call_expects(c, 0, types, "expects an int_tuple, shape or coord") ||
        !call_expects(c, 1, types, "expects an int_tuple, shape or coord"))
        return false;
    if (!cute_tree_congruent(c->in[0].tree, c->in[1].tree)) {
        alg_fail(c->a, "expects congruent inputs, but got %s and %s", alg_type_text(c->a, &c->in[0]),
                 alg_type_text(c->a, &c->in[1]));
        return false;
    }
    for (size_t i = 0; i < 2; i++)
        if (alg_has(c->in[i].tree, CUTE_TREE_UNDERSCORE)) {
            alg_fail(c->a, "expects coordinates without underscores, but got %s",
                     alg_type_text(c->a, &c->in[i]));
            return false;
        }
    return call_give_tree(c, CUTE_INT_TUPLE,
                          compare_leaves(c, CUTE_LT, alg_flatten_to_tuple(c->a, c->in[0].tree),
                                         alg_flatten_to_tuple(c->a, c->in[1].tree), NULL));
}

static cute_node compare_trees(call *c, cute_node x, cute_node y, cute_node result)
{
    if (!cute_tree_congruent(x, y)) return alg_number(c->a, 0);
    return compare_leaves(c, CUTE_EQ, alg_flatten_to_tuple(c->a, x), alg_flatten_to_tuple(c->a, y), result);
}

bool op_equal(call *c)
{
    const cute_value *v = &c->in[0], *w = &c->in[1];
    if (!call_expects(c, 0, CUTE_ANY_TUPLE | CUTE_BIT(CUTE_LAYOUT), "expects a tuple or layout"))
        return false;
    if (v->type != w->type) {
        alg_fail(c->a, "expects lhs and rhs to be the same kind, but got %s and %s", alg_type_text(c->a, v),
                 alg_type_text(c->a, w));
        return false;
    }
    if (v->type != CUTE_LAYOUT)
        return call_give_tree(c, CUTE_INT_TUPLE, compare_trees(c, v->tree, w->tree, NULL));
    cute_node shapes = compare_trees(c, v->layout.shape, w->layout.shape, NULL);
    if (!shapes || alg_is(shapes, 0)) return call_give_tree(c, CUTE_INT_TUPLE, shapes);
    return call_give_tree(c, CUTE_INT_TUPLE, compare_trees(c, v->layout.stride, w->layout.stride, shapes));
}
