/* Arithmetic on tuples: products, sums, the two divisions of shapes. */
#include "lib/layout/algebra.h"

static cute_node multiply_leaves(cute_algebra *a, cute_node accumulated, cute_node t)
{
    if (!accumulated || !t) return NULL;
    if (alg_is_leaf(t)) return alg_op(a, CUTE_MUL, accumulated, t);
    for (uint32_t i = 0; i < t->count; i++) accumulated = multiply_leaves(a, accumulated, t->items[i]);
    return accumulated;
}

cute_node alg_product(cute_algebra *a, cute_node t)
{
    return multiply_leaves(a, alg_number(a, 1), t);
}

static cute_node combine_tuples(cute_algebra *a, cute_arith_op op, cute_node x, cute_node y)
{
    if (!x || !y) return NULL;
    if (alg_is_leaf(x) && alg_is_leaf(y)) {
        /* common case: the indices of basis vectors are mostly zeros */
        if (alg_is(y, 0) && alg_is_int(x)) return x;
        return op == CUTE_ADD && alg_is(x, 0) && alg_is_int(y) ? y : alg_op(a, op, x, y);
    }
    if (alg_is_leaf(x) || alg_is_leaf(y)) {
        cute_node leaf = alg_is_leaf(x) ? x : y, tuple = alg_is_leaf(x) ? y : x;
        bool negated = op == CUTE_SUB && tuple == y;
        if (alg_is_empty(tuple) && !negated) return leaf;
        if (alg_is(leaf, 0) && !negated) return tuple;
        return alg_fail(a, "expects two scalars or two tuples to %s, but got %s and %s",
                        op == CUTE_ADD ? "add" : "subtract", alg_text(a, x), alg_text(a, y));
    }
    alg_list list = {0};
    for (uint32_t i = 0; i < x->count || i < y->count; i++) {
        if (i >= y->count)
            alg_push(a, &list, x->items[i]);
        else if (i < x->count)
            alg_push(a, &list, combine_tuples(a, op, x->items[i], y->items[i]));
        else
            alg_push(a, &list, y->items[i]); /* also for differences, as in the public dialect */
        if (list.failed) return NULL;
    }
    return alg_tuple(a, &list);
}

cute_node alg_sum(cute_algebra *a, cute_node x, cute_node y)
{
    return combine_tuples(a, CUTE_ADD, x, y);
}

cute_node alg_difference(cute_algebra *a, cute_node x, cute_node y)
{
    return combine_tuples(a, CUTE_SUB, x, y);
}

cute_node alg_abs(cute_algebra *a, cute_node t)
{
    if (!t) return NULL;
    if (alg_is_leaf(t)) {
        if (t->kind != CUTE_TREE_BASIS) return alg_op(a, CUTE_ABS, t, t);
        cute_node scale = alg_abs(a, alg_scalar(a, t->value));
        return scale ? alg_basis(a, scale->value, t->path, t->count) : NULL;
    }
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count; i++) alg_push(a, &list, alg_abs(a, t->items[i]));
    return alg_tuple(a, &list);
}

/* ceil_div((s,S), (t,T)) mode by mode, keeping additional modes of s;
 * ceil_div((s,S), t) = (ceil_div(s, t), ceil_div(S, ceil_div(t, s))). */
cute_node alg_ceil_div(cute_algebra *a, cute_node target, cute_node tiler)
{
    if (!target || !tiler) return NULL;
    if (alg_is_leaf(target))
        return alg_op(a, CUTE_CEIL_DIV, target, alg_is_leaf(tiler) ? tiler : alg_product(a, tiler));
    alg_list list = {0};
    if (!alg_is_leaf(tiler)) {
        if (tiler->count > target->count)
            return alg_fail(a, "expects a tiler of at most rank %u for %s, but got %s", target->count,
                            alg_text(a, target), alg_text(a, tiler));
        for (uint32_t i = 0; i < target->count; i++)
            alg_push(a, &list,
                     i < tiler->count ? alg_ceil_div(a, target->items[i], tiler->items[i])
                                      : target->items[i]);
        return alg_tuple(a, &list);
    }
    for (uint32_t i = 0; i < target->count && !list.failed; i++) {
        alg_push(a, &list, alg_ceil_div(a, target->items[i], tiler));
        tiler = alg_ceil_div(a, tiler, target->items[i]);
    }
    return alg_tuple(a, &list);
}

/* ---- shape_div ---- */

static cute_node sign_positive(cute_algebra *a, void *context)
{
    return (void)context, alg_number(a, 1);
}
static cute_node sign_negative(cute_algebra *a, void *context)
{
    return (void)context, alg_number(a, -1);
}
static cute_node sign_zero(cute_algebra *a, void *context)
{
    return (void)context, alg_number(a, 0);
}

static cute_node sign_unless_positive(cute_algebra *a, void *context)
{
    const cute_tree *x = context;
    return alg_if(a, alg_op(a, CUTE_EQ, x, alg_number(a, 0)), sign_zero, sign_negative, NULL);
}

cute_node alg_sign(cute_algebra *a, cute_node x)
{
    if (!x) return NULL;
    cute_tree copy = *x;
    return alg_if(a, alg_op(a, CUTE_GT, x, alg_number(a, 0)), sign_positive, sign_unless_positive, &copy);
}

typedef struct shape_quotient {
    cute_node x, y, quotient;
} shape_quotient;

static cute_node nonzero_quotient(cute_algebra *a, void *context)
{
    return (void)a, ((shape_quotient *)context)->quotient;
}

static cute_node product_of_signs(cute_algebra *a, void *context)
{
    const shape_quotient *q = context;
    cute_node x = alg_sign(a, q->x);
    return alg_mul(a, x, alg_sign(a, q->y));
}

static cute_node scalar_shape_div(cute_algebra *a, cute_node x, cute_node y)
{
    if (alg_is_known(x) && alg_is_known(y)) {
        int64_t m = x->value.value, n = y->value.value;
        if (n == 0) return alg_fail(a, "divisor is zero");
        bool exact = n == -1 || m % n == 0 || (m != 0 && (m == -1 || n % m == 0));
        if (!exact)
            return alg_fail(
                a, "%lld is not divisible by %lld (neither %lld %% %lld == 0 nor %lld %% %lld == 0)",
                (long long)m, (long long)n, (long long)m, (long long)n, (long long)n, (long long)m);
    }
    shape_quotient q = {x, y, alg_op(a, CUTE_DIV, x, y)};
    return alg_if(a, alg_op(a, CUTE_NE, q.quotient, alg_number(a, 0)), nonzero_quotient, product_of_signs,
                  &q);
}

/* shape_div(s, t) = s / t, at least 1 where t is larger; one must divide the other.
 * shape_div((s,S), t) = (shape_div(s, t), shape_div(S, shape_div(t, s))). */
cute_node alg_shape_div(cute_algebra *a, cute_node x, cute_node y)
{
    if (!x || !y) return NULL;
    if (alg_is_leaf(x)) return scalar_shape_div(a, x, alg_is_leaf(y) ? y : alg_product(a, y));
    alg_list list = {0};
    if (!alg_is_leaf(y)) {
        if (x->count != y->count)
            return alg_fail(a, "expects shapes of the same rank to divide, but got %s and %s", alg_text(a, x),
                            alg_text(a, y));
        for (uint32_t i = 0; i < x->count && !list.failed; i++)
            alg_push(a, &list, alg_shape_div(a, x->items[i], y->items[i]));
        return alg_tuple(a, &list);
    }
    for (uint32_t i = 0; i < x->count && !list.failed; i++) {
        alg_push(a, &list, alg_shape_div(a, x->items[i], y));
        y = alg_shape_div(a, y, alg_product(a, x->items[i]));
    }
    return alg_tuple(a, &list);
}
