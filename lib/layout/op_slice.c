/* Slice and dice. A slice of A o offset o B fixes part of B's coordinate: what that adds moves into the
 * offset, and for a swizzle only the bits that the swizzle looks at (the rest is added to the address). */
#include "lib/base/checked.h"
#include "lib/layout/apply.h"
#include "lib/layout/layouts.h"
#include "lib/layout/trial.h"

static bool check(call *c)
{
    const cute_value *v = &c->in[0], *coord = &c->in[1];
    if (!call_expects(c, 1, CUTE_BIT(CUTE_COORD), "expects coord to be !cute.coord")) return false;
    if (!call_expects(
            c, 0, CUTE_ANY_TUPLE | CUTE_ANY_LAYOUT,
            "expects $input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout, or "
            "!cute.composed_layout"))
        return false;
    if (cute_tree_weakly_congruent(coord->tree, call_profile(v))) return true;
    alg_fail(c->a, "expects coord to be weakly congruent with input shape, but got %s and %s",
             alg_type_text(c->a, v), alg_type_text(c->a, coord));
    return false;
}

static cute_layout choose(call *c, cute_layout layout,
                          cute_node (*pick)(cute_algebra *, cute_node, cute_node))
{
    cute_node coord = c->in[1].tree;
    return (cute_layout){pick(c->a, coord, layout.shape), pick(c->a, coord, layout.stride)};
}

bool op_dice(call *c)
{
    const cute_value *v = &c->in[0];
    cute_node coord = c->in[1].tree;
    if (!check(c)) return false;
    if (!cute_tree_is_static(coord)) {
        alg_fail(c->a, "expects coord to be static, but got %s", alg_type_text(c->a, &c->in[1]));
        return false;
    }
    if (!(CUTE_ANY_LAYOUT & CUTE_BIT(v->type)))
        return call_give_tree(c, v->type, alg_dice(c->a, coord, v->tree));
    return call_give_like(c, v, choose(c, v->layout, alg_dice));
}

/* ---- swizzled layouts ---- */

/* All bits that the swizzle reads or writes. */
typedef struct swizzle_bits {
    int64_t y, z; /* lowest bit of each field */
    int64_t mask;
} swizzle_bits;

static swizzle_bits bits_of(cute_swizzle s)
{
    int64_t ones = ((int64_t)1 << s.bits) - 1;
    int high = s.shift > 0 ? s.shift : 0, low = s.shift < 0 ? -s.shift : 0;
    swizzle_bits b = {0};
    b.y = s.bits ? (int64_t)1 << (s.base + high) : 0;
    b.z = s.bits ? (int64_t)1 << (s.base + low) : 0;
    b.mask = (ones << (s.base + high)) | (ones << (s.base + low));
    return b;
}

/* 2^base : 2^bits : 2^(|shift|-bits) : 2^bits : 1 — the fields of an index, low to high. `on` says for which
 * of them the strides are kept. */
static cute_layout projection(cute_algebra *a, cute_swizzle s, bool fields, bool others)
{
    int distance = s.shift < 0 ? -s.shift : s.shift;
    int widths[5] = {s.base, s.bits, distance - s.bits, s.bits, 0};
    alg_layouts list = {0};
    int at = 0;
    for (int i = 0; i < 5; i++) {
        bool field = i == 1 || i == 3, keep = field ? fields : others;
        alg_push(a, &list.shapes, alg_number(a, (int64_t)1 << widths[i]));
        bool compact_zero = widths[i] == 0 && i < 4;
        alg_push(a, &list.strides, alg_number(a, keep && !compact_zero ? (int64_t)1 << at : 0));
        at += widths[i];
    }
    return alg_layouts_tuple(a, &list);
}

typedef struct stride_pair {
    int64_t clear, set;
} stride_pair;

static cute_node if_clear(cute_algebra *a, void *context)
{
    return alg_number(a, ((stride_pair *)context)->clear);
}
static cute_node if_set(cute_algebra *a, void *context)
{
    return alg_number(a, ((stride_pair *)context)->set);
}

/* Strides of a field whose partner's bits in the offset are given: flipping bit i moves the result by
 * clear << i if the partner's bit i is clear, by set << i if it is set. */
static void push_field(cute_algebra *a, alg_layouts *list, int bits, cute_node offset, int64_t partner,
                       stride_pair strides)
{
    for (int i = 0; i < bits && !list->strides.failed; i++) {
        cute_node bit = alg_op(a, CUTE_AND, offset, alg_number(a, partner << i));
        stride_pair here = {strides.clear * ((int64_t)1 << i), strides.set * ((int64_t)1 << i)};
        alg_push(a, &list->shapes, alg_number(a, 2));
        alg_push(a, &list->strides,
                 alg_if(a, alg_op(a, CUTE_EQ, bit, alg_number(a, 0)), if_clear, if_set, &here));
    }
}

/* The layout that acts like x -> swizzle(offset + x) - swizzle(offset) on indices that do not share bits
 * with the offset and have no two bits that the swizzle combines. */
static cute_layout affine_swizzle(cute_algebra *a, cute_swizzle s, cute_node offset)
{
    swizzle_bits b = bits_of(s);
    int distance = s.shift < 0 ? -s.shift : s.shift;
    stride_pair z = {b.z, -b.z}, y = {b.y + b.z, b.y - b.z};
    bool z_low = b.z < b.y;
    alg_layouts list = {0};
    alg_push(a, &list.shapes, alg_number(a, (int64_t)1 << s.base));
    alg_push(a, &list.strides, alg_number(a, 1));
    push_field(a, &list, s.bits, offset, z_low ? b.y : b.z, z_low ? z : y);
    alg_push(a, &list.shapes, alg_number(a, (int64_t)1 << (distance - s.bits)));
    alg_push(a, &list.strides, alg_number(a, (int64_t)1 << (s.base + s.bits)));
    push_field(a, &list, s.bits, offset, z_low ? b.z : b.y, z_low ? y : z);
    alg_push(a, &list.shapes, alg_number(a, 1));
    alg_push(a, &list.strides, alg_number(a, (int64_t)1 << (s.base + s.bits + distance)));
    return alg_layouts_tuple(a, &list);
}

static bool only_underscores(cute_node t)
{
    if (alg_is_leaf(t)) return t->kind == CUTE_TREE_UNDERSCORE;
    for (uint32_t i = 0; i < t->count; i++)
        if (!only_underscores(t->items[i])) return false;
    return t->count > 0;
}

/* ---- is a slice of a swizzled layout right? ---- */

/* Every index is an OR of fields that do not overlap: extents and strides are powers of two and no bit is
 * used twice, the offset's neither. Then fixing a coordinate fixes bits, and the swizzle acts on the others
 * as if alone. *used collects the bits. */
static bool disjoint_bits(cute_node shape, cute_node stride, uint64_t *used)
{
    if (!alg_is_leaf(shape)) {
        for (uint32_t i = 0; i < shape->count; i++)
            if (!disjoint_bits(shape->items[i], stride->items[i], used)) return false;
        return true;
    }
    if (!alg_is_known(shape) || !alg_is_known(stride)) return false;
    uint64_t s = (uint64_t)shape->value.value, d = (uint64_t)stride->value.value;
    if (s == 1 || d == 0) return true;
    if ((s & (s - 1)) || (d & (d - 1)) || d > ((uint64_t)1 << 62) / s) return false;
    uint64_t mine = (s - 1) * d;
    if (*used & mine) return false;
    *used |= mine;
    return true;
}

static int64_t swizzled(cute_swizzle s, int64_t x)
{
    int64_t mask = (((int64_t)1 << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    uint64_t bits = (uint64_t)(x & mask);
    return x ^ (int64_t)(s.shift >= 0 ? bits >> s.shift : bits << -s.shift);
}

/* The slice and the whole differ by the same amount everywhere. */
static bool constant_difference(cute_algebra *a, const cute_value *whole, const cute_value *slice,
                                cute_node coord, cute_layout kept)
{
    cute_node fixed = alg_eval(a, coord, whole->layout.shape, whole->layout.stride);
    cute_node start = alg_sum(a, whole->tree, fixed), size = alg_product(a, kept.shape);
    alg_flat inside, result;
    if (!start || !size || !alg_is_known(start) || !alg_flat_of(a, kept, &inside) ||
        !alg_flat_of(a, slice->layout, &result))
        return false;
    int64_t cost = (int64_t)(inside.count + result.count) + 1, first = 0;
    if (size->value.value > ALG_TRIAL_LIMIT / cost) return false;
    bool composed = slice->type == CUTE_COMPOSED_LAYOUT;
    for (int64_t i = 0; i < size->value.value; i++) {
        int64_t x, y, difference;
        if (!alg_flat_at(&inside, i, &x) || !cute_add64(x, start->value.value, &x) ||
            !alg_flat_at(&result, i, &y) || (composed && !cute_add64(y, slice->tree->value.value, &y)))
            return false;
        if (composed) y = swizzled(slice->swizzle, y);
        if (!cute_sub64(swizzled(whole->swizzle, x), y, &difference)) return false;
        if (i == 0) first = difference;
        if (difference != first) return false;
    }
    return true;
}

/* Before anything is emitted: is it right for certain, or can it at least be tried out? */
static bool certainly_right(const cute_value *v)
{
    uint64_t used = 0;
    if (!disjoint_bits(v->layout.shape, v->layout.stride, &used)) return false;
    return !alg_is_known(v->tree) || !((uint64_t)v->tree->value.value & used);
}

static bool refuse_slice(call *c, const cute_value *v)
{
    alg_fail(
        c->a,
        "the slice is not a swizzled layout: modes of %s and offset %s share bits, or are not powers of two",
        alg_layout_text(c->a, v->layout), alg_text(c->a, v->tree));
    return false;
}

static bool slice_swizzled(call *c, const cute_value *v)
{
    cute_algebra *a = c->a;
    cute_node coord = c->in[1].tree;
    if (!cute_tree_is_static(v->layout.shape) || !cute_tree_is_static(v->layout.stride)) {
        alg_fail(a, "expects swizzle-A composed slice's outer layout to be static, but got %s",
                 alg_type_text(a, v));
        return false;
    }
    if (!alg_has(coord, CUTE_TREE_UNDERSCORE)) {
        alg_fail(a, "expects swizzle-A composed slice's coord to contain at least one underscore, but got %s",
                 alg_type_text(a, &c->in[1]));
        return false;
    }
    call_sentence(c, "unable to slice $0 with $1");
    bool certain = certainly_right(v);
    if (!certain && !only_underscores(coord) && !(alg_is_known(v->tree) && cute_tree_is_static(coord)))
        return refuse_slice(c, v);
    cute_layout kept = choose(c, v->layout, alg_slice);
    *c->out = *v;
    c->out->layout = kept;
    if (!alg_ok(kept) || only_underscores(coord)) return alg_ok(kept);
    if (v->swizzle.base + v->swizzle.bits + (v->swizzle.shift < 0 ? -v->swizzle.shift : v->swizzle.shift) >
        62) {
        alg_fail(a, "the swizzle is too wide");
        return false;
    }
    cute_layout fields = projection(a, v->swizzle, true, false);
    cute_layout active_layout = alg_compose(a, fields, kept);
    if (!alg_ok(active_layout)) return false;
    cute_node last = alg_op(a, CUTE_SUB, alg_product(a, active_layout.shape), alg_number(a, 1));
    cute_node active = alg_eval(a, last, active_layout.shape, active_layout.stride);
    if (!active) return false;
    if (!alg_is_known(active)) {
        alg_fail(a, "cannot tell which bits of %s the swizzle changes", alg_layout_text(a, kept));
        return false;
    }
    cute_node swizzled = alg_swizzle(a, v->swizzle, active);
    if (!swizzled) return false;
    bool collide = (active->value.value & ~swizzled->value.value) != 0;
    cute_layout fixed = choose(c, v->layout, alg_dice);
    cute_layout fixed_fields = alg_ok(fixed) ? alg_compose(a, fields, fixed) : alg_no_layout;
    cute_node fixed_coord = alg_dice(a, coord, coord);
    cute_node index =
        alg_ok(fixed_fields) ? alg_eval(a, fixed_coord, fixed_fields.shape, fixed_fields.stride) : NULL;
    cute_node offset = alg_op(a, CUTE_XOR, v->tree, index);
    if (!offset) return false;
    c->out->tree = offset;
    if (!collide) {
        cute_layout affine = alg_compose(a, affine_swizzle(a, v->swizzle, offset), kept);
        if (!call_give_layout(c, affine)) return false;
    }
    return certain || constant_difference(a, v, c->out, coord, kept) || refuse_slice(c, v);
}

bool op_slice(call *c)
{
    const cute_value *v = &c->in[0];
    cute_node coord = c->in[1].tree;
    if (!check(c)) return false;
    if (!(CUTE_ANY_LAYOUT & CUTE_BIT(v->type)))
        return call_give_tree(c, v->type, alg_slice(c->a, coord, v->tree));
    if (v->type == CUTE_LAYOUT) return call_give_layout(c, choose(c, v->layout, alg_slice));
    if (!v->inner.shape) return slice_swizzled(c, v);
    *c->out = *v;
    c->out->layout = choose(c, v->layout, alg_slice);
    cute_node moved = alg_eval(c->a, coord, v->layout.shape, v->layout.stride);
    c->out->tree = alg_sum(c->a, v->tree, moved);
    return alg_ok(c->out->layout) && c->out->tree;
}
