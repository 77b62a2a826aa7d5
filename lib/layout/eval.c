/* Layouts as functions: coordinate to index and back. The order of the scalar operations is part of the
 * contract, because compilers print it.
 *
 * An index is computed in the width of its operands; each product and sum that may exceed 32 bits, judging by
 * the known extents and strides, is computed in 64 bits. Layouts with unknown 32-bit extents and strides are
 * assumed to have indices that fit in 32 bits (width.h describes the launches that violate this). */
#include "lib/layout/width.h"

/* compact((s0,s1,...), d) = (compact(s0, d), compact(s1, d*s0), ...); 0 for a known extent of 1. */
static cute_node compact_from(cute_algebra *a, cute_node shape, cute_node current)
{
    if (!shape || !current) return NULL;
    if (alg_is(shape, 1)) return alg_number(a, 0);
    if (alg_is_leaf(shape)) return current;
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count; i++) {
        alg_push(a, &list, compact_from(a, shape->items[i], current));
        current = alg_mul(a, current, alg_product(a, shape->items[i]));
    }
    return current ? alg_tuple(a, &list) : NULL;
}

cute_node alg_compact(cute_algebra *a, cute_node shape, cute_node start)
{
    return compact_from(a, shape, start);
}

/* c * d, where d may be a basis vector: v@p becomes an arithmetic tuple with v at path p and 0 before it. */
static cute_node scale_coordinate(cute_algebra *a, cute_node coord, cute_node stride)
{
    cute_node product = alg_mul(a, coord, stride);
    if (!product || product->kind != CUTE_TREE_BASIS) return product;
    cute_node result = alg_scalar(a, product->value), zero = alg_number(a, 0);
    for (uint32_t i = product->count; i-- > 0;) {
        alg_list list = {0};
        for (int32_t j = 0; j < product->path[i]; j++) alg_push(a, &list, zero);
        alg_push(a, &list, result);
        result = alg_tuple(a, &list);
    }
    return result;
}

/* Makes scalar operations 64 bits wide if values up to `reach` require it; returns the previous minimum
 * width. */
static int widen_for_reach(cute_algebra *a, uint64_t reach)
{
    int before = a->least;
    if (alg_is_far(reach)) a->least = 64;
    return before;
}

static cute_node sum_within(cute_algebra *a, uint64_t reach, cute_node x, cute_node y)
{
    int before = widen_for_reach(a, reach);
    cute_node sum = alg_sum(a, x, y);
    a->least = before;
    return sum;
}

/* Adds the largest magnitude of the product to *reach. */
static cute_node product_within(cute_algebra *a, uint64_t *reach, cute_node coord, cute_node shape,
                                cute_node stride)
{
    bool integers = alg_is_int(coord) && alg_is_int(shape);
    uint64_t own = integers ? alg_leaf_reach(a->tensor, &coord->value, &shape->value, &stride->value) : 0;
    if (__builtin_add_overflow(*reach, own, reach)) *reach = UINT64_MAX;
    int before = widen_for_reach(a, own);
    cute_node index = scale_coordinate(a, coord, stride);
    a->least = before;
    return index;
}

/* eval(c, s, d)             = c * d
 * eval(c, (s,S), (d,D))     = eval(c % |s|, s, d) + eval(c / |s|, S, D); the last mode is unbounded
 * eval((c,C), (s,S), (d,D)) = eval(c, s, d) + eval(C, S, D)
 * and `_` counts as 0. Adds the largest magnitude of the index to *reach. */
static cute_node eval_within(cute_algebra *a, cute_node coord, cute_node shape, cute_node stride,
                             uint64_t *reach)
{
    if (!coord || !shape || !stride) return NULL;
    if (alg_is_empty(shape)) return alg_empty(a);
    if (coord->kind == CUTE_TREE_UNDERSCORE) coord = alg_number(a, 0);
    if (!coord) return NULL;
    if (alg_is_leaf(shape)) {
        if (alg_is_leaf(coord)) return product_within(a, reach, coord, shape, stride);
        return alg_fail(a, "expects a scalar coordinate for mode %s:%s, but got %s", alg_text(a, shape),
                        alg_text(a, stride), alg_text(a, coord));
    }
    cute_node sum = alg_empty(a);
    if (alg_is_leaf(coord)) {
        uint32_t last = shape->count - 1;
        for (uint32_t i = 0; i < last && coord && sum; i++) {
            cute_node size = alg_product(a, shape->items[i]);
            cute_node rest = alg_op(a, CUTE_DIV, coord, size);
            cute_node here = rest ? alg_op(a, CUTE_REM, coord, size) : NULL;
            cute_node part = eval_within(a, here, shape->items[i], stride->items[i], reach);
            sum = sum_within(a, *reach, sum, part);
            coord = rest;
        }
        cute_node part = eval_within(a, coord, shape->items[last], stride->items[last], reach);
        return sum_within(a, *reach, sum, part);
    }
    if (coord->count != shape->count)
        return alg_fail(a, "expects a coordinate of rank %u for shape %s, but got %s", shape->count,
                        alg_text(a, shape), alg_text(a, coord));
    for (uint32_t i = 0; i < shape->count && sum; i++) {
        cute_node part = eval_within(a, coord->items[i], shape->items[i], stride->items[i], reach);
        sum = sum_within(a, *reach, sum, part);
    }
    return sum;
}

cute_node alg_eval(cute_algebra *a, cute_node coord, cute_node shape, cute_node stride)
{
    if (!coord || !shape || !stride) return NULL;
    /* A basis vector of mode 0 evaluates to `(x)`: as a coordinate, its other modes are 0. */
    if (!alg_is_leaf(coord) && coord->count == 1 && alg_rank(shape) > 1) {
        alg_list list = {0};
        alg_push(a, &list, coord->items[0]);
        for (size_t i = 1; i < alg_rank(shape); i++) alg_push(a, &list, alg_number(a, 0));
        coord = alg_tuple(a, &list);
    }
    uint64_t reach = 0;
    return eval_within(a, coord, shape, stride, &reach);
}

cute_node alg_crd2idx(cute_algebra *a, cute_node coord, cute_node shape)
{
    return alg_eval(a, coord, shape, alg_compact(a, shape, alg_number(a, 1)));
}

static cute_node basis_at_path(cute_algebra *a, cute_node shape, int32_t *path, size_t depth)
{
    if (!shape) return NULL;
    if (alg_is_leaf(shape)) return alg_basis(a, (cute_int){.known = true, .value = 1}, path, depth);
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count && !list.failed; i++) {
        path[depth] = (int32_t)i;
        alg_push(a, &list, basis_at_path(a, shape->items[i], path, depth + 1));
    }
    return alg_tuple(a, &list);
}

cute_node alg_basis_like(cute_algebra *a, cute_node shape)
{
    int32_t path[CUTE_MAX_DEPTH + 1];
    return basis_at_path(a, shape, path, 0);
}

/* idx2crd(i, s) = i; idx2crd(i, S) = eval(i, S, basis vectors of S); idx2crd((i,I), (s,S)) mode by mode. */
cute_node alg_idx2crd(cute_algebra *a, cute_node index, cute_node shape)
{
    if (!index || !shape) return NULL;
    if (alg_is_leaf(index)) {
        if (alg_is_leaf(shape)) return index;
        return alg_eval(a, index, shape, alg_basis_like(a, shape));
    }
    if (alg_is_leaf(shape) || index->count != shape->count)
        return alg_fail(a, "expects an index of the structure of shape %s, but got %s", alg_text(a, shape),
                        alg_text(a, index));
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count; i++)
        alg_push(a, &list, alg_idx2crd(a, index->items[i], shape->items[i]));
    return alg_tuple(a, &list);
}

cute_node alg_swizzle(cute_algebra *a, cute_swizzle s, cute_node index)
{
    if (!index || s.bits == 0) return index;
    int64_t mask = (((int64_t)1 << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    cute_node bits = alg_op(a, CUTE_AND, index, alg_number(a, mask));
    cute_node moved = s.shift >= 0 ? alg_op(a, CUTE_SHR, bits, alg_number(a, s.shift))
                                   : alg_op(a, CUTE_SHL, bits, alg_number(a, -s.shift));
    return alg_op(a, CUTE_XOR, index, moved);
}

cute_node alg_coshape(cute_algebra *a, cute_layout layout)
{
    cute_node strides = alg_abs(a, layout.stride);
    cute_node last = alg_op(a, CUTE_ADD, alg_product(a, layout.shape), alg_number(a, -1));
    cute_node index = alg_eval(a, last, layout.shape, strides);
    return alg_sum(a, index, alg_repeat_like(a, index, alg_number(a, 1)));
}
