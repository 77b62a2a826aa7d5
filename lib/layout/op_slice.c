/* Slice and dice. A slice of A o offset o B fixes part of B's coordinate; its index is added to the offset.
 * If A is a swizzle, only the bits that it reads or writes are added there; the others are added to the
 * address. */
#include "lib/base/numbers/checked.h"
#include "lib/layout/apply.h"
#include "lib/layout/layouts.h"
#include "lib/layout/pointer.h"
#include "lib/layout/trial.h"
#include "lib/layout/verify.h"
#include "lib/layout/width.h"

static bool check_congruent(call *c, const cute_value *v, cute_node coord)
{
    if (cute_tree_weakly_congruent(coord, call_profile(v))) return true;
    cute_value written = cute_value_of_tree(CUTE_COORD, coord);
    alg_fail(c->a, "expects coord to be weakly congruent with input shape, but got %s and %s",
             alg_type_text(c->a, v), alg_type_text(c->a, &written));
    return false;
}

static bool expects_sliceable(call *c)
{
    return call_expects(c, 1, CUTE_BIT(CUTE_COORD), "expects coord to be !cute.coord") &&
           call_expects(c, 0, CUTE_ANY_TUPLE | CUTE_LAID_OUT,
                        "expects $input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, "
                        "!cute.layout, or !cute.composed_layout") &&
           check_congruent(c, &c->in[0], c->in[1].tree);
}

static cute_layout slice_layout(call *c, cute_layout layout, cute_node coord,
                                cute_node (*pick)(cute_algebra *, cute_node, cute_node))
{
    return (cute_layout){pick(c->a, coord, layout.shape), pick(c->a, coord, layout.stride)};
}

bool op_dice(call *c)
{
    const cute_value *v = &c->in[0];
    cute_node coord = c->in[1].tree;
    if (!expects_sliceable(c)) return false;
    if (!cute_tree_is_static(coord)) {
        alg_fail(c->a, "expects coord to be static, but got %s", alg_type_text(c->a, &c->in[1]));
        return false;
    }
    if (!call_is(v, CUTE_LAID_OUT)) return call_give_tree(c, v->type, alg_dice(c->a, coord, v->tree));
    return call_give_like(c, v, slice_layout(c, v->layout, coord, alg_dice));
}

/* ---- swizzled layouts ---- */

/* All bits that the swizzle reads or writes. */
typedef struct swizzle_bits {
    int64_t y, z; /* lowest bit of each field */
    int64_t mask;
} swizzle_bits;

static swizzle_bits swizzle_bits_of(cute_swizzle s)
{
    int64_t ones = ((int64_t)1 << s.bits) - 1;
    int high = s.shift > 0 ? s.shift : 0, low = s.shift < 0 ? -s.shift : 0;
    swizzle_bits b = {0};
    b.y = s.bits ? (int64_t)1 << (s.base + high) : 0;
    b.z = s.bits ? (int64_t)1 << (s.base + low) : 0;
    b.mask = (ones << (s.base + high)) | (ones << (s.base + low));
    return b;
}

/* The fields of an index, low to high: 2^base : 2^bits : 2^(|shift|-bits) : 2^bits : 1. `fields` and `others`
 * select the strides to keep: those of the swizzle's fields and of the other bits. */
static cute_layout projection_layout(cute_algebra *a, cute_swizzle s, bool fields, bool others)
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

static cute_node stride_if_clear(cute_algebra *a, void *context)
{
    return alg_number(a, ((stride_pair *)context)->clear);
}
static cute_node stride_if_set(cute_algebra *a, void *context)
{
    return alg_number(a, ((stride_pair *)context)->set);
}

/* clear - (clear - set) * (bit / partner), without a branch; all but `clear` are powers of two. */
static cute_node stride_for_bit(cute_algebra *a, cute_node bit, int64_t partner, stride_pair s)
{
    int shift = __builtin_ctzll((uint64_t)(s.clear - s.set)) - __builtin_ctzll((uint64_t)partner);
    cute_node distance = alg_number(a, shift < 0 ? -shift : shift);
    return alg_op(a, CUTE_SUB, alg_number(a, s.clear),
                  alg_op(a, shift < 0 ? CUTE_SHR : CUTE_SHL, bit, distance));
}

/* The strides of a field, given the offset's bits in the partner field: flipping bit i adds clear << i if bit
 * i of the partner is clear, set << i if it is set. Only bits in `used` matter; the field starts at bit
 * `field`. */
static void push_field(cute_algebra *a, alg_layouts *list, int bits, cute_node offset, int64_t field,
                       int64_t partner, stride_pair strides, int64_t used)
{
    for (int i = 0; i < bits && !list->strides.failed; i++) {
        if (a->dsl) { /* the public dialect emits branches, for all bits */
            stride_pair there = {strides.clear * ((int64_t)1 << i), strides.set * ((int64_t)1 << i)};
            cute_node stride = alg_number(a, there.clear);
            if (used & field << i)
                stride = stride_for_bit(a, alg_op(a, CUTE_AND, offset, alg_number(a, partner << i)),
                                        partner << i, there);
            alg_push(a, &list->shapes, alg_number(a, 2));
            alg_push(a, &list->strides, stride);
            continue;
        }
        cute_node bit = alg_op(a, CUTE_AND, offset, alg_number(a, partner << i));
        stride_pair here = {strides.clear * ((int64_t)1 << i), strides.set * ((int64_t)1 << i)};
        alg_push(a, &list->shapes, alg_number(a, 2));
        alg_push(a, &list->strides,
                 alg_if(a, alg_op(a, CUTE_EQ, bit, alg_number(a, 0)), stride_if_clear, stride_if_set, &here));
    }
}

/* A layout that equals x -> swizzle(offset + x) - swizzle(offset) for indices that share no bits with the
 * offset and have no two bits that the swizzle combines. */
static cute_layout affine_swizzle(cute_algebra *a, cute_swizzle s, cute_node offset, int64_t used)
{
    swizzle_bits b = swizzle_bits_of(s);
    int distance = s.shift < 0 ? -s.shift : s.shift;
    stride_pair z = {b.z, -b.z}, y = {b.y + b.z, b.y - b.z};
    bool z_low = b.z < b.y;
    alg_layouts list = {0};
    alg_push(a, &list.shapes, alg_number(a, (int64_t)1 << s.base));
    alg_push(a, &list.strides, alg_number(a, 1));
    push_field(a, &list, s.bits, offset, z_low ? b.z : b.y, z_low ? b.y : b.z, z_low ? z : y, used);
    alg_push(a, &list.shapes, alg_number(a, (int64_t)1 << (distance - s.bits)));
    alg_push(a, &list.strides, alg_number(a, (int64_t)1 << (s.base + s.bits)));
    push_field(a, &list, s.bits, offset, z_low ? b.y : b.z, z_low ? b.z : b.y, z_low ? y : z, used);
    alg_push(a, &list.shapes, alg_number(a, 1));
    alg_push(a, &list.strides, alg_number(a, (int64_t)1 << (s.base + s.bits + distance)));
    return alg_layouts_tuple(a, &list);
}

static bool has_only_underscores(cute_node t)
{
    if (alg_is_leaf(t)) return t->kind == CUTE_TREE_UNDERSCORE;
    for (uint32_t i = 0; i < t->count; i++)
        if (!has_only_underscores(t->items[i])) return false;
    return t->count > 0;
}

/* ---- validity of a slice of a swizzled layout ---- */

/* One more than the highest bit that the swizzle reads or writes; the swizzle does not
 * affect carries above it. */
static int swizzle_top(cute_swizzle s)
{
    return s.bits ? s.base + s.bits + (s.shift < 0 ? -s.shift : s.shift) : 0;
}

/* True if 2^bit divides x, known or not; 0 is divisible by everything. */
static bool divides_power(int bit, cute_node x)
{
    uint64_t n = x->value.known ? (uint64_t)x->value.value : (uint64_t)x->value.divisor;
    return (n == 0 && x->value.known) || (n != 0 && __builtin_ctzll(n) >= bit);
}

/* The bits below `top` that the indices of a mode can have: from the lowest bit of its stride to the highest
 * bit of its last element. */
static uint64_t bits_of_mode(cute_node s, cute_node d, int top)
{
    uint64_t all = ((uint64_t)1 << top) - 1, stride, last;
    if (alg_is(s, 1) || divides_power(top, d)) return 0;
    stride = d->value.known ? (uint64_t)d->value.value : d->value.divisor ? (uint64_t)d->value.divisor : 1;
    uint64_t from = ~(((uint64_t)1 << __builtin_ctzll(stride)) - 1);
    bool bounded = alg_is_known(s) && d->value.known && d->value.value > 0 &&
                   !__builtin_mul_overflow((uint64_t)s->value.value - 1, stride, &last);
    if (bounded && last < all) all = ((uint64_t)1 << (64 - __builtin_clzll(last))) - 1;
    return from & all;
}

/* True if, within the bits of the swizzle, each index is an OR of disjoint fields: then fixing a coordinate
 * fixes bits, and the swizzle acts on the remaining bits independently. *used collects the bits. */
static bool disjoint_bits(cute_node shape, cute_node stride, int top, uint64_t *used)
{
    if (!alg_is_leaf(shape)) {
        for (uint32_t i = 0; i < shape->count; i++)
            if (!disjoint_bits(shape->items[i], stride->items[i], top, used)) return false;
        return true;
    }
    if (!alg_is_int(stride)) return false;
    uint64_t mine = bits_of_mode(shape, stride, top);
    if (*used & mine) return false;
    *used |= mine;
    return true;
}

/* True if the fixed coordinates only add multiples of 2^top, which the swizzle ignores. */
static bool is_above_swizzle(cute_node coord, cute_node shape, cute_node stride, int top)
{
    if (coord->kind == CUTE_TREE_UNDERSCORE || alg_is(coord, 0)) return true;
    if (alg_is_leaf(shape)) return alg_is_int(stride) && divides_power(top, stride);
    for (uint32_t i = 0; i < shape->count; i++) {
        cute_node here = alg_is_leaf(coord) ? coord : coord->items[i];
        if (!is_above_swizzle(here, shape->items[i], stride->items[i], top)) return false;
    }
    return true;
}

static int64_t swizzle_index(cute_swizzle s, int64_t x)
{
    int64_t mask = (((int64_t)1 << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    uint64_t bits = (uint64_t)(x & mask);
    return x ^ (int64_t)(s.shift >= 0 ? bits >> s.shift : bits << -s.shift);
}

/* True if slice and whole differ by a constant, *by. */
static bool constant_difference(cute_algebra *a, const cute_value *whole, const cute_value *slice,
                                cute_node coord, cute_layout kept, int64_t *by)
{
    cute_node fixed = alg_eval(a, coord, whole->layout.shape, whole->layout.stride);
    cute_node start = alg_sum(a, whole->tree, fixed), size = alg_product(a, kept.shape);
    alg_flat inside, result;
    if (!start || !size || !alg_is_known(start) || !alg_flat_of(a, kept, &inside) ||
        !alg_flat_of(a, slice->layout, &result))
        return false;
    int64_t cost = (int64_t)(inside.count + result.count) + 1;
    if (size->value.value > ALG_TRIAL_LIMIT / cost) return false;
    for (int64_t i = 0; i < size->value.value; i++) {
        int64_t x, y, difference;
        if (!alg_flat_at(&inside, i, &x) || !cute_add64(x, start->value.value, &x) ||
            !alg_flat_at(&result, i, &y) ||
            (call_is_composed(slice) && !cute_add64(y, slice->tree->value.value, &y)))
            return false;
        if (call_is_composed(slice)) y = swizzle_index(slice->swizzle, y);
        if (!cute_sub64(swizzle_index(whole->swizzle, x), y, &difference)) return false;
        if (i == 0) *by = difference;
        if (difference != *by) return false;
    }
    return true;
}

/* A static test before anything is emitted. */
static bool is_certainly_correct(const cute_value *v)
{
    uint64_t used = 0;
    if (!disjoint_bits(v->layout.shape, v->layout.stride, swizzle_top(v->swizzle), &used)) return false;
    return !alg_is_known(v->tree) || !((uint64_t)v->tree->value.value & used);
}

static bool refuse_slice(call *c, const cute_value *v)
{
    alg_fail(c->a, "the slice is not a swizzled layout: modes of %s and offset %s share bits",
             alg_layout_text(c->a, v->layout), alg_text(c->a, v->tree));
    return false;
}

/* ---- parts of a slice ---- */

/* Negative steps borrow from higher bits, so they are not a sum of fields. */
static bool has_negative_steps(cute_layout layout, int top)
{
    if (!alg_is_leaf(layout.shape)) {
        for (uint32_t i = 0; i < layout.shape->count; i++)
            if (has_negative_steps(alg_layout_mode(layout, i), top)) return true;
        return false;
    }
    return alg_is_known(layout.stride) && layout.stride->value.value < 0 &&
           bits_of_mode(layout.shape, layout.stride, top);
}

/* The layout's contribution to the fields of the swizzle, or to the other bits. */
static cute_layout project_layout(cute_algebra *a, cute_swizzle s, cute_layout layout, bool fields)
{
    if (alg_all_known(layout)) return alg_compose(a, projection_layout(a, s, fields, !fields), layout);
    if (alg_is_leaf(layout.shape)) /* unknown: a multiple of 2^top */
        return fields ? (cute_layout){layout.shape, alg_number(a, 0)} : layout;
    alg_layouts list = {0};
    for (uint32_t i = 0; i < layout.shape->count && !list.shapes.failed; i++)
        alg_push_layout(a, &list, project_layout(a, s, alg_layout_mode(layout, i), fields));
    return alg_layouts_tuple(a, &list);
}

/* The strides of the layout after swizzling at this offset. */
static cute_layout swizzle_strides(cute_algebra *a, cute_swizzle s, cute_node offset, int64_t used,
                                   cute_layout layout)
{
    if (alg_all_known(layout)) return alg_compose(a, affine_swizzle(a, s, offset, used), layout);
    if (alg_is_leaf(layout.shape)) return layout;
    alg_layouts list = {0};
    for (uint32_t i = 0; i < layout.shape->count && !list.shapes.failed; i++)
        alg_push_layout(a, &list, swizzle_strides(a, s, offset, used, alg_layout_mode(layout, i)));
    return alg_layouts_tuple(a, &list);
}

/* Unknown extents and strides must only affect bits above the swizzle. */
static bool is_known_below_top(cute_layout layout, int top)
{
    if (!alg_is_leaf(layout.shape)) {
        for (uint32_t i = 0; i < layout.shape->count; i++)
            if (!is_known_below_top(alg_layout_mode(layout, i), top)) return false;
        return true;
    }
    return alg_is_int(layout.stride) &&
           ((alg_is_known(layout.shape) && layout.stride->value.known) || divides_power(top, layout.stride));
}

/* True if the kept modes have no two bits that the swizzle combines, and each of its fields is covered by
 * steps of one mode: then the swizzled slice is a layout whose strides depend on the offset. *used: the bits
 * of those modes. */
static bool is_affine(cute_algebra *a, cute_swizzle s, cute_node offset, cute_layout kept, int64_t *used)
{
    uint64_t active = 0;
    swizzle_bits b = swizzle_bits_of(s);
    cute_algebra quiet = {.arena = a->arena, .dsl = a->dsl};
    if (!disjoint_bits(kept.shape, kept.stride, swizzle_top(s), &active) ||
        has_negative_steps(kept, swizzle_top(s)))
        return false;
    active &= (uint64_t)b.mask;
    *used = (int64_t)active;
    return !(active & ~(uint64_t)swizzle_index(s, (int64_t)active)) &&
           alg_ok(swizzle_strides(&quiet, s, offset, *used, kept));
}

/* The contribution of the fixed coordinates to the fields of the swizzle and to the other bits; `others` may
 * be NULL. */
static bool split_fixed_index(cute_algebra *a, cute_swizzle s, cute_layout fixed, cute_node coord,
                              cute_node *fields, cute_node *others)
{
    cute_algebra quiet = {.arena = a->arena};
    if (!has_negative_steps(fixed, swizzle_top(s)) && alg_ok(project_layout(&quiet, s, fixed, true)) &&
        alg_ok(project_layout(&quiet, s, fixed, false))) {
        cute_layout part = project_layout(a, s, fixed, true);
        *fields = alg_eval(a, coord, part.shape, part.stride);
        if (!others) return *fields != NULL;
        part = project_layout(a, s, fixed, false);
        *others = alg_eval(a, coord, part.shape, part.stride);
    } else { /* modes that cross field boundaries */
        cute_node whole = alg_eval(a, coord, fixed.shape, fixed.stride);
        *fields = alg_op(a, CUTE_AND, whole, alg_number(a, swizzle_bits_of(s).mask));
        if (others) *others = alg_op(a, CUTE_SUB, whole, *fields);
    }
    return *fields && (!others || *others);
}

/* Computes a slice whose offset only has bits of the swizzle. *moved: by how many elements the address
 * advances. False if the slice cannot be proved correct and an exhaustive test shows that it is wrong. */
static bool slice_parts(call *c, const cute_value *v, cute_node coord, bool certain, cute_value *out,
                        cute_node *moved)
{
    cute_algebra *a = c->a;
    cute_layout kept = slice_layout(c, v->layout, coord, alg_slice),
                fixed = slice_layout(c, v->layout, coord, alg_dice);
    cute_node fixed_coord = alg_dice(a, coord, coord), index = NULL, others = NULL;
    bool tensor = v->type == CUTE_MEMREF;
    *out = *v;
    out->layout = kept;
    if (!alg_ok(kept) || !alg_ok(fixed) || !fixed_coord) return false;
    if (!split_fixed_index(a, v->swizzle, fixed, fixed_coord, &index, tensor && certain ? &others : NULL))
        return false;
    if (alg_is_empty(index)) index = alg_number(a, 0);
    cute_node offset = alg_op(a, CUTE_XOR, v->tree, index);
    if (!offset) return false;
    out->tree = offset;
    int64_t used = 0;
    bool affine = is_affine(a, v->swizzle, offset, kept, &used);
    if (affine) {
        *out = tensor ? *v : cute_value_of_layout(kept);
        out->layout = swizzle_strides(a, v->swizzle, offset, used, kept);
        out->tree = NULL;
        out->swizzle = (cute_swizzle){0};
        if (!alg_ok(out->layout)) return false;
    }
    if (!certain) {
        int64_t by = 0;
        if (!constant_difference(a, v, out, coord, kept, &by)) return false;
        *moved = alg_number(a, by);
        return *moved != NULL;
    }
    if (tensor) *moved = alg_sum(a, affine ? alg_swizzle(a, v->swizzle, offset) : alg_number(a, 0), others);
    return !tensor || *moved;
}

/* The public dialect's slice: bits outside the swizzle are not tracked. An unknown offset is assumed to be
 * the result of earlier slices: none of its bits overlaps a kept mode. */
static bool slice_composed(call *c, const cute_value *v, cute_node coord, cute_value *out)
{
    cute_algebra *a = c->a;
    if (!alg_all_known(v->layout)) {
        alg_fail(a, "expects swizzle-A composed slice's outer layout to be static, but got %s",
                 alg_type_text(a, v));
        return false;
    }
    if (!alg_has(coord, CUTE_TREE_UNDERSCORE)) {
        cute_value written = cute_value_of_tree(CUTE_COORD, coord);
        alg_fail(a, "expects swizzle-A composed slice's coord to contain at least one underscore, but got %s",
                 alg_type_text(a, &written));
        return false;
    }
    call_sentence(c, "unable to slice $0 with $1");
    bool certain = is_certainly_correct(v), known = alg_is_known(v->tree) && cute_tree_is_static(coord);
    if (has_only_underscores(coord) ||
        (!certain && is_above_swizzle(coord, v->layout.shape, v->layout.stride, swizzle_top(v->swizzle)))) {
        *out = *v;
        out->layout = slice_layout(c, v->layout, coord, alg_slice);
        return alg_ok(out->layout);
    }
    cute_node moved = NULL;
    if ((certain || known) && slice_parts(c, v, coord, certain, out, &moved)) return true;
    return a->status == CUTE_OK ? refuse_slice(c, v) : false;
}

/* Slices in memory are never rejected: if the parts cannot be separated, the whole fixed index is added to
 * the offset. */
static bool slice_in_memory(call *c, const cute_value *v, cute_node coord, cute_value *out)
{
    cute_algebra *a = c->a;
    int top = swizzle_top(v->swizzle);
    bool certain = alg_is_known(v->tree) && is_certainly_correct(v) && is_known_below_top(v->layout, top);
    bool known = alg_is_known(v->tree) && cute_tree_is_static(coord) && alg_all_known(v->layout);
    cute_node moved = NULL;
    call_sentence(c, "unable to slice $0 with $1");
    if (!has_only_underscores(coord) && alg_has(coord, CUTE_TREE_UNDERSCORE) && (certain || known) &&
        slice_parts(c, v, coord, certain, out, &moved))
        return call_advance(c, out, moved);
    if (a->status != CUTE_OK) return false;
    *out = *v;
    out->layout = slice_layout(c, v->layout, coord, alg_slice);
    cute_node index = alg_eval(a, coord, v->layout.shape, v->layout.stride);
    if (!alg_ok(out->layout) || !index) return false;
    if (is_above_swizzle(coord, v->layout.shape, v->layout.stride, top)) return call_advance(c, out, index);
    out->tree = alg_sum(a, v->tree, index);
    if (alg_has(coord, CUTE_TREE_UNDERSCORE)) return out->tree && (call_decay(out), true);
    cute_node at = alg_swizzle(a, v->swizzle, out->tree); /* one element: nothing remains to be swizzled */
    out->tree = NULL;
    out->swizzle = (cute_swizzle){0};
    return call_advance(c, out, at);
}

/* ---- slices of any value ---- */

bool call_advance(call *c, cute_value *tensor, cute_node index)
{
    if (!index) return false;
    if (tensor->type == CUTE_COORD_TENSOR) return (tensor->tree = alg_sum(c->a, tensor->tree, index)) != NULL;
    return (tensor->pointer = alg_advance(c->a, tensor->pointer, index)) != NULL;
}

static bool slice_value(call *c, const cute_value *v, cute_node coord, cute_value *out)
{
    if (call_is_composed(v) && !v->inner.shape)
        return v->type == CUTE_MEMREF ? slice_in_memory(c, v, coord, out) : slice_composed(c, v, coord, out);
    *out = *v;
    out->layout = slice_layout(c, v->layout, coord, alg_slice);
    if (!alg_ok(out->layout)) return false;
    if (v->type == CUTE_LAYOUT) return true;
    cute_node moved = alg_eval(c->a, coord, v->layout.shape, v->layout.stride);
    if (!call_is_composed(v)) return call_advance(c, out, moved);
    out->tree = alg_sum(c->a, v->tree, moved);
    return out->tree != NULL;
}

bool call_slice(call *c, const cute_value *v, cute_node coord, cute_value *out)
{
    cute_algebra *a = c->a;
    if (!check_congruent(c, v, coord)) return false;
    /* The offset is reused when the slice is sliced again: make it wide enough for the whole tensor. */
    if (v->type == CUTE_MEMREF && v->tree && alg_is_far(alg_reach(true, v->layout))) a->least = 64;
    bool ok = slice_value(c, v, coord, out);
    a->least = 0;
    return ok;
}

bool op_slice(call *c)
{
    const cute_value *v = &c->in[0];
    cute_node coord = c->in[1].tree;
    if (!expects_sliceable(c)) return false;
    if (!call_is(v, CUTE_LAID_OUT)) return call_give_tree(c, v->type, alg_slice(c->a, coord, v->tree));
    if (v->type == CUTE_MEMREF && !alg_may_be_inside(coord, v->layout.shape)) {
        alg_fail(c->a, "expects a coordinate inside the shape %s, but got %s",
                 alg_text(c->a, v->layout.shape), alg_text(c->a, coord));
        return false;
    }
    return call_slice(c, v, coord, c->out);
}
