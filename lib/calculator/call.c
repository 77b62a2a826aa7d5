/* The functions of the calculator: a table of names, operands, and the lib/layout operations that implement
 * them. Numbers and tuples are untyped here: each is converted to the type that its position requires. */
#include "lib/calculator/parse.h"

#include <stdio.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/options/nearest.h"
#include "lib/calculator/calculator.h"
#include "lib/layout/algebra.h"
#include "lib/layout/facts.h"

/* ---- conversions ---- */

#define BIT(type) (1u << (type))
#define TUPLES    (BIT(CUTE_SHAPE) | BIT(CUTE_STRIDE) | BIT(CUTE_COORD) | BIT(CUTE_INT_TUPLE))
/* All types with a layout; operations reject unsupported ones themselves. */
#define LAYOUTS (BIT(CUTE_LAYOUT) | BIT(CUTE_COMPOSED_LAYOUT) | BIT(CUTE_MEMREF) | BIT(CUTE_COORD_TENSOR))

bool calc_as_tuple(const cute_value *value, cute_type type, cute_value *out)
{
    if (!(TUPLES & BIT(value->type))) return false;
    if (type != CUTE_COORD && alg_has(value->tree, CUTE_TREE_UNDERSCORE)) return false;
    if (type != CUTE_STRIDE && alg_has(value->tree, CUTE_TREE_BASIS)) return false;
    *out = cute_value_of_tree(type, value->tree);
    return true;
}

static bool compact_layout(calculation *c, const operand *from, cute_value *out)
{
    cute_algebra a = {.arena = c->arena, .diag = c->trial};
    cute_value shape;
    if (!calc_as_tuple(&from->value, CUTE_SHAPE, &shape))
        return calc_fail(c, from->start, from->end, "expected a layout, not the %s",
                         calc_describe(c, &from->value));
    *out = cute_value_of_layout((cute_layout){shape.tree, alg_compact(&a, shape.tree, alg_number(&a, 1))});
    cute_status status = out->layout.stride ? cute_value_verify(out, c->trial) : a.status;
    if (!out->layout.stride && status == CUTE_OK) return calc_exhausted(c);
    return status == CUTE_OK || calc_pass_on(c, status, from->start, from->end, NULL);
}

bool calc_as_layout(calculation *c, const operand *from, cute_value *out)
{
    if (!(LAYOUTS & BIT(from->value.type))) return compact_layout(c, from, out);
    *out = from->value;
    return true;
}

const cute_tree *calc_tile_leaf(calculation *c, const operand *from)
{
    cute_algebra a = {.arena = c->arena};
    cute_value layout;
    if (from->value.type == CUTE_TILE) return from->value.tree;
    if (from->value.type == CUTE_COORD && from->value.tree->kind == CUTE_TREE_UNDERSCORE)
        return from->value.tree;
    if (from->value.type != CUTE_LAYOUT && !(TUPLES & BIT(from->value.type))) {
        calc_fail(c, from->start, from->end, "expected a layout or '_' in a tile, got the %s",
                  calc_describe(c, &from->value));
        return NULL;
    }
    if (!calc_as_layout(c, from, &layout)) return NULL;
    const cute_tree *leaf = alg_layout_leaf(&a, layout.layout);
    if (!leaf) calc_exhausted(c);
    return leaf;
}

/* (4,_) as a tiler: [4:1;_]. */
static const cute_tree *tile_of_coord(calculation *c, const cute_tree *t)
{
    cute_algebra a = {.arena = c->arena};
    const cute_tree *made = NULL;
    if (t->kind == CUTE_TREE_UNDERSCORE) return t;
    if (t->kind == CUTE_TREE_TUPLE) {
        alg_list list = {0};
        for (uint32_t i = 0; i < t->count; i++) alg_push(&a, &list, tile_of_coord(c, t->items[i]));
        made = alg_tuple(&a, &list);
    } else {
        made = alg_layout_leaf(&a, (cute_layout){t, alg_is(t, 1) ? alg_number(&a, 0) : alg_number(&a, 1)});
    }
    if (!made) calc_exhausted(c);
    return made;
}

/* ---- operands of functions ---- */

typedef struct function function;

typedef struct binding {
    calculation *c;
    const function *f;
    const invocation *call;
    operand *in; /* converted according to the table */
    size_t count;
    int64_t attributes[CALC_MAX_ATTRIBUTES];
    size_t attribute_count;
} binding;

struct function {
    const char *name;
    cute_operation operation;
    /* One letter per operand, see `convert_operand`; those after '|' are optional; '*': any number of
     * operands like the last. */
    const char *operands;
    int least, most; /* attributes: numbers after the operands or in <> */
    const char *usage;
    bool (*run)(binding *b, cute_value *out); /* NULL: apply the operation */
};

static bool fail_argument(binding *b, size_t i, const char *expected)
{
    const operand *from = &b->in[i];
    return calc_fail(b->c, from->start, from->end, "%s: argument %zu must be %s, not the %s", b->f->name,
                     i + 1, expected, calc_describe(b->c, &from->value));
}

static bool convert_tuple(binding *b, size_t i, cute_type type, const char *expected)
{
    return calc_as_tuple(&b->in[i].value, type, &b->in[i].value) || fail_argument(b, i, expected);
}

static bool convert_layout(binding *b, size_t i, unsigned also, const char *expected)
{
    cute_value *v = &b->in[i].value;
    if ((LAYOUTS | also) & BIT(v->type)) return true;
    if (!calc_as_tuple(v, CUTE_SHAPE, &(cute_value){0})) return fail_argument(b, i, expected);
    return calc_as_layout(b->c, &b->in[i], v);
}

static bool convert_operand(binding *b, size_t i, char letter)
{
    cute_value *v = &b->in[i].value;
    switch (letter) {
    case 'X': return true; /* any type */
    case 'S': return convert_tuple(b, i, CUTE_SHAPE, "a shape");
    case 'D': return convert_tuple(b, i, CUTE_STRIDE, "a stride");
    case 'C': return convert_tuple(b, i, CUTE_COORD, "a coordinate");
    case 'T': return convert_tuple(b, i, CUTE_INT_TUPLE, "a number or a tuple of numbers");
    case 'P': return TUPLES & BIT(v->type) ? true : fail_argument(b, i, "a tuple");
    case 'L': return convert_layout(b, i, 0, "a layout");
    case 'W': return convert_layout(b, i, BIT(CUTE_SWIZZLE), "a swizzle or layout");
    case 'K': /* a bound */
        return LAYOUTS & BIT(v->type) ? true : convert_tuple(b, i, CUTE_SHAPE, "a shape or layout");
    case 'Q': /* the divisor of a shape */
        return v->type == CUTE_TILE ? true : convert_tuple(b, i, CUTE_SHAPE, "a shape or tile");
    case 'R': /* a tiler */
        if (v->type == CUTE_COORD) {
            const cute_tree *tree = tile_of_coord(b->c, v->tree);
            if (!tree) return false;
            *v = cute_value_of_tree(CUTE_TILE, tree);
            cute_status status = cute_value_verify(v, b->c->trial);
            return status == CUTE_OK || calc_pass_on(b->c, status, b->in[i].start, b->in[i].end, b->f->name);
        }
        if (v->type == CUTE_TILE || v->type == CUTE_LAYOUT) return true;
        return convert_tuple(b, i, CUTE_SHAPE, "a layout, shape or tile");
    default: return false;
    }
}

static bool apply_to(binding *b, cute_operation operation, const cute_value *in, size_t count,
                     cute_value *out)
{
    cute_attributes attributes = {b->attributes, b->attribute_count};
    cute_status status =
        cute_atom_apply(b->c->arena, NULL, operation, in, count, &attributes, out, b->c->trial);
    if (status == CUTE_OK) return true;
    return calc_pass_on(b->c, status, b->call->start, b->call->end, b->f->name);
}

static bool apply_operation(binding *b, cute_operation operation, cute_value *out)
{
    cute_value *in = cute_arena_array(b->c->arena, b->count ? b->count : 1, sizeof *in);
    if (!in) return calc_exhausted(b->c);
    for (size_t i = 0; i < b->count; i++) in[i] = b->in[i].value;
    return apply_to(b, operation, in, b->count, out);
}

/* ---- special functions ---- */

/* Combines the operands into one tuple; a single operand is returned unchanged. */
static bool gather(binding *b, cute_type type, const cute_tree *(*element)(binding *, size_t),
                   cute_value *out)
{
    cute_algebra a = {.arena = b->c->arena, .diag = b->c->trial};
    alg_list list = {0};
    for (size_t i = 0; i < b->count; i++) {
        const cute_tree *tree = element(b, i);
        if (!tree) return false;
        if (b->count == 1 && (type != CUTE_TILE || tree->kind == CUTE_TREE_TUPLE)) {
            *out = cute_value_of_tree(type, tree);
            return true;
        }
        alg_push(&a, &list, tree);
    }
    const cute_tree *tree = alg_tuple(&a, &list);
    if (!tree) {
        return a.status == CUTE_OK ? calc_exhausted(b->c)
                                   : calc_pass_on(b->c, a.status, b->call->start, b->call->end, b->f->name);
    }
    *out = cute_value_of_tree(type, tree);
    return true;
}

static const cute_tree *tree_of(binding *b, size_t i)
{
    return b->in[i].value.tree;
}
static const cute_tree *tile_element(binding *b, size_t i)
{
    return calc_tile_leaf(b->c, &b->in[i]);
}

static bool run_make_tuple(binding *b, cute_value *out)
{
    return gather(b, b->count ? b->in[0].value.type : CUTE_INT_TUPLE, tree_of, out);
}
static bool run_make_tile(binding *b, cute_value *out)
{
    return gather(b, CUTE_TILE, tile_element, out);
}

/* make_layout(shape), (shape, stride), or a layout whose modes are the given layouts. */
static bool run_make_layout(binding *b, cute_value *out)
{
    cute_algebra a = {.arena = b->c->arena};
    if (!(LAYOUTS & BIT(b->in[0].value.type))) {
        if (!convert_operand(b, 0, 'S')) return false;
        if (b->count == 1) return calc_as_layout(b->c, &b->in[0], out);
        if (b->count == 2 && convert_operand(b, 1, 'D')) return apply_operation(b, CUTE_OP_MAKE_LAYOUT, out);
        return b->c->status == CUTE_OK ? fail_argument(b, 2, "omitted after a shape and a stride") : false;
    }
    alg_list shapes = {0}, strides = {0};
    for (size_t i = 0; i < b->count; i++) {
        if (b->in[i].value.type != CUTE_LAYOUT) return fail_argument(b, i, "a layout as the first one");
        alg_push(&a, &shapes, b->in[i].value.layout.shape);
        alg_push(&a, &strides, b->in[i].value.layout.stride);
    }
    if (b->count == 1) return *out = b->in[0].value, true;
    cute_layout layout = {alg_tuple(&a, &shapes), alg_tuple(&a, &strides)};
    if (!layout.shape || !layout.stride)
        return calc_fail(b->c, b->call->start, b->call->end, "%s: the result would be too deep or too large",
                         b->f->name);
    *out = cute_value_of_layout(layout);
    cute_status status = cute_value_verify(out, b->c->trial);
    return status == CUTE_OK || calc_pass_on(b->c, status, b->call->start, b->call->end, b->f->name);
}

static bool run_same(binding *b, cute_value *out)
{
    return *out = b->in[0].value, true;
}

static bool run_leaves(binding *b, cute_value *out)
{
    const cute_value *v = &b->in[0].value;
    if (v->type != CUTE_TILE && !(TUPLES & BIT(v->type))) return fail_argument(b, 0, "a tuple or tile");
    cute_algebra a = {.arena = b->c->arena};
    cute_node flat = alg_flatten_to_tuple(&a, v->tree);
    if (!flat) return calc_exhausted(b->c);
    *out = cute_value_of_tree(v->type, flat);
    return true;
}

static bool run_tile_layouts(binding *b, cute_value *out)
{
    cute_value *leaves;
    size_t count;
    cute_status status = cute_value_leaves(b->c->arena, &b->in[0].value, true, &leaves, &count, b->c->trial);
    if (status != CUTE_OK) return calc_pass_on(b->c, status, b->call->start, b->call->end, b->f->name);
    cute_algebra a = {.arena = b->c->arena};
    alg_list list = {0};
    for (size_t i = 0; i < count; i++) alg_push(&a, &list, alg_layout_leaf(&a, leaves[i].layout));
    *out = cute_value_of_tree(CUTE_TILE, alg_tuple(&a, &list));
    return out->tree || calc_exhausted(b->c);
}

/* A basis vector contributes its scale and its modes. */
static void push_scalars(cute_algebra *a, cute_node t, alg_list *list)
{
    if (!t || t->kind == CUTE_TREE_UNDERSCORE) return;
    if (t->kind == CUTE_TREE_LAYOUT) {
        push_scalars(a, t->layout.shape, list);
        push_scalars(a, t->layout.stride, list);
    } else if (t->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < t->count; i++) push_scalars(a, t->items[i], list);
    } else {
        alg_push(a, list, alg_scalar(a, t->value));
        for (uint32_t i = 0; t->kind == CUTE_TREE_BASIS && i < t->count; i++)
            alg_push(a, list, alg_number(a, t->path[i]));
    }
}

static bool run_scalars(binding *b, cute_value *out)
{
    const cute_value *v = &b->in[0].value;
    cute_algebra a = {.arena = b->c->arena};
    alg_list list = {0};
    if (v->type >= CUTE_ATOM) return fail_argument(b, 0, "a tuple, tile, layout or swizzle");
    if (v->type == CUTE_SWIZZLE || (v->type == CUTE_COMPOSED_LAYOUT && !v->inner.shape)) {
        alg_push(&a, &list, alg_number(&a, v->swizzle.bits));
        alg_push(&a, &list, alg_number(&a, v->swizzle.base));
        alg_push(&a, &list, alg_number(&a, v->swizzle.shift));
    }
    push_scalars(&a, v->inner.shape, &list);
    push_scalars(&a, v->inner.stride, &list);
    push_scalars(&a, v->tree, &list);
    push_scalars(&a, v->layout.shape, &list);
    push_scalars(&a, v->layout.stride, &list);
    *out = cute_value_of_tree(CUTE_INT_TUPLE, alg_tuple(&a, &list));
    return out->tree || calc_exhausted(b->c);
}

/* The index of a coordinate in a shape (compact) or layout, or the swizzled index; crd2idx(coord, shape,
 * stride) is that of the layout. */
static bool run_crd2idx(binding *b, cute_value *out)
{
    if (b->count == 3) {
        cute_value layout;
        if (!convert_operand(b, 1, 'S') || !convert_operand(b, 2, 'D')) return false;
        cute_value parts[] = {b->in[1].value, b->in[2].value};
        if (!apply_to(b, CUTE_OP_MAKE_LAYOUT, parts, 2, &layout)) return false;
        return apply_to(b, CUTE_OP_LAYOUT_EVAL, (cute_value[]){b->in[0].value, layout}, 2, out);
    }
    if (LAYOUTS & BIT(b->in[1].value.type)) return apply_operation(b, CUTE_OP_LAYOUT_EVAL, out);
    if (b->in[1].value.type == CUTE_SWIZZLE) return apply_operation(b, CUTE_OP_SWIZZLE_EVAL, out);
    if (!calc_as_tuple(&b->in[1].value, CUTE_SHAPE, &b->in[1].value))
        return fail_argument(b, 1, "a shape, layout or swizzle");
    return apply_operation(b, CUTE_OP_CRD2IDX, out);
}

/* idx2crd(index, shape) is the coordinate in a compact shape; idx2crd(index, A) and (index, shape, stride)
 * invert a compact layout. */
static bool run_idx2crd(binding *b, cute_value *out)
{
    if (b->count == 2 && b->in[1].value.type == CUTE_LAYOUT)
        return apply_operation(b, CUTE_OP_LAYOUT_IDX2CRD, out);
    if (!convert_operand(b, 1, 'S')) return false;
    if (b->count == 2) return apply_operation(b, CUTE_OP_IDX2CRD, out);
    cute_value layout, parts[] = {b->in[1].value, b->in[2].value};
    if (!apply_to(b, CUTE_OP_MAKE_LAYOUT, parts, 2, &layout)) return false;
    return apply_to(b, CUTE_OP_LAYOUT_IDX2CRD, (cute_value[]){b->in[0].value, layout}, 2, out);
}

/* swizzle o layout is the swizzled layout, as in CuTe. */
static bool run_composition(binding *b, cute_value *out)
{
    cute_algebra a = {.arena = b->c->arena};
    if (b->in[0].value.type != CUTE_SWIZZLE)
        return convert_operand(b, 0, 'L') && apply_operation(b, CUTE_OP_COMPOSITION, out);
    if (!convert_operand(b, 1, 'L')) return false;
    cute_value parts[] = {b->in[0].value, cute_value_of_tree(CUTE_INT_TUPLE, alg_number(&a, 0)),
                          b->in[1].value};
    if (parts[2].type != CUTE_LAYOUT) return fail_argument(b, 1, "a layout");
    if (parts[0].swizzle.bits == 0) return *out = parts[2], true;
    return parts[1].tree ? apply_to(b, CUTE_OP_MAKE_COMPOSED_LAYOUT, parts, 3, out) : calc_exhausted(b->c);
}

/* A swizzle is its own inverse, because it does not modify the bits that it reads. */
static bool run_inverse(binding *b, cute_value *out)
{
    if (b->in[0].value.type == CUTE_SWIZZLE) return *out = b->in[0].value, true;
    return convert_operand(b, 0, 'L') && apply_operation(b, b->f->operation, out);
}

/* slice(L, coord) as in the dialect; slice(coord, L) as in CuTe, with the coordinate recognized by its
 * `_`. */
static bool run_slice(binding *b, cute_value *out)
{
    if (b->in[0].value.type == CUTE_COORD && b->in[1].value.type != CUTE_COORD) {
        operand swap = b->in[0];
        b->in[0] = b->in[1];
        b->in[1] = swap;
    }
    return convert_operand(b, 1, 'C') && apply_operation(b, b->f->operation, out);
}

/* Converts both to one type: layouts if either is a layout, otherwise the first tuple type that accepts
 * both. */
static bool run_alike(binding *b, cute_value *out)
{
    static const cute_type types[] = {CUTE_INT_TUPLE, CUTE_STRIDE, CUTE_COORD};
    cute_value *x = &b->in[0].value, *y = &b->in[1].value;
    if ((LAYOUTS & BIT(x->type)) || (LAYOUTS & BIT(y->type))) {
        if (!convert_operand(b, 0, 'L') || !convert_operand(b, 1, 'L')) return false;
        return apply_operation(b, b->f->operation, out);
    }
    cute_value u, v;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (calc_as_tuple(x, types[i], &u) && calc_as_tuple(y, types[i], &v)) {
            *x = u;
            *y = v;
            break;
        }
    return apply_operation(b, b->f->operation, out);
}

/* The element has the type of the extended operand; composed layouts are extended by layouts. */
static bool run_extend(binding *b, cute_value *out)
{
    const cute_value *x = &b->in[0].value;
    cute_value *element = &b->in[1].value;
    if (LAYOUTS & BIT(x->type)) return convert_operand(b, 1, 'L') && apply_operation(b, b->f->operation, out);
    if (!(TUPLES & BIT(x->type))) return fail_argument(b, 0, "a tuple or layout");
    if (!(TUPLES & BIT(element->type))) return fail_argument(b, 1, "a tuple");
    return run_alike(b, out);
}

/* upcast<n> and downcast<n> are special cases of recast_layout. */
static bool recast_by(binding *b, bool up, cute_value *out)
{
    int64_t n = b->attributes[0];
    b->attributes[0] = up ? n : 1;
    b->attributes[1] = up ? 1 : n;
    b->attribute_count = 2;
    return apply_operation(b, CUTE_OP_RECAST_LAYOUT, out);
}
static bool run_upcast(binding *b, cute_value *out)
{
    return recast_by(b, true, out);
}
static bool run_downcast(binding *b, cute_value *out)
{
    return recast_by(b, false, out);
}

static bool give_number(binding *b, int64_t number, cute_value *out)
{
    *out = cute_value_of_tree(CUTE_INT_TUPLE, cute_tree_number(b->c->arena, number));
    return out->tree || calc_exhausted(b->c);
}

static const cute_tree *profile_of(const cute_value *v)
{
    return LAYOUTS & BIT(v->type) ? v->layout.shape : v->type > CUTE_TILE ? NULL : v->tree;
}

static bool run_rank(binding *b, cute_value *out)
{
    const cute_tree *t = profile_of(&b->in[0].value);
    return t ? give_number(b, (int64_t)alg_rank(t), out) : fail_argument(b, 0, "a tuple, tile or layout");
}
static bool run_depth(binding *b, cute_value *out)
{
    const cute_tree *t = profile_of(&b->in[0].value);
    return t ? give_number(b, t->depth, out) : fail_argument(b, 0, "a tuple, tile or layout");
}

static bool compare(binding *b, bool (*holds)(const cute_tree *, const cute_tree *), cute_value *out)
{
    const cute_tree *x = profile_of(&b->in[0].value), *y = profile_of(&b->in[1].value);
    if (!x || !y) return fail_argument(b, x ? 1 : 0, "a tuple, tile or layout");
    return give_number(b, holds(x, y), out);
}
static bool run_congruent(binding *b, cute_value *out)
{
    return compare(b, cute_tree_congruent, out);
}
static bool run_weakly_congruent(binding *b, cute_value *out)
{
    return compare(b, cute_tree_weakly_congruent, out);
}

/* ---- function table ---- */

#define OP(id, name, operands, usage)                {#name, CUTE_OP_##id, operands, 0, 0, usage, NULL}
#define WITH(id, name, operands, least, most, usage) {#name, CUTE_OP_##id, operands, least, most, usage, NULL}
#define VIA(id, name, operands, usage, run)          {#name, CUTE_OP_##id, operands, 0, 0, usage, run}
#define OWN(name, operands, usage, run)              {#name, CUTE_OPERATIONS, operands, 0, 0, usage, run}

static const function functions[] = {
    /* The public dialect's. */
    OWN(make_shape, "S*", "make_shape(N, ...)", run_make_tuple),
    OWN(make_stride, "D*", "make_stride(N, ...)", run_make_tuple),
    OWN(make_coord, "C*", "make_coord(N, ...)", run_make_tuple),
    OWN(make_int_tuple, "T*", "make_int_tuple(N, ...)", run_make_tuple),
    OWN(make_tile, "X*", "make_tile(A, ...)", run_make_tile),
    OWN(make_layout, "X|*", "make_layout(SHAPE, [STRIDE]) or make_layout(A, B, ...)", run_make_layout),
    OP(MAKE_COMPOSED_LAYOUT, make_composed_layout, "WTL", "make_composed_layout(A, OFFSET, B)"),
    OP(MAKE_IDENTITY_LAYOUT, make_identity_layout, "S", "make_identity_layout(SHAPE)"),
    OP(MAKE_LAYOUT_LIKE, make_layout_like, "L", "make_layout_like(A)"),
    OP(MAKE_ORDERED_LAYOUT, make_ordered_layout, "ST", "make_ordered_layout(SHAPE, ORDER)"),
    OWN(static, "X", "static(X)", run_same),
    OWN(print, "X", "print(X)", run_same),
    OP(COMPOSED_GET_INNER, composed_get_inner, "X", "composed_get_inner(A)"),
    OP(COMPOSED_GET_OFFSET, composed_get_offset, "X", "composed_get_offset(A)"),
    OP(COMPOSED_GET_OUTER, composed_get_outer, "X", "composed_get_outer(A)"),
    WITH(GET, get, "X", 0, CALC_MAX_ATTRIBUTES, "get(X, MODE, ...)"),
    OWN(get_layouts_from_tile, "X", "get_layouts_from_tile(TILE)", run_tile_layouts),
    OWN(get_leaves, "X", "get_leaves(X)", run_leaves),
    OWN(get_scalars, "X", "get_scalars(X)", run_scalars),
    OP(GET_SHAPE, get_shape, "X", "get_shape(A)"),
    OP(GET_STRIDE, get_stride, "X", "get_stride(A)"),
    WITH(SELECT, select, "X", 1, CALC_MAX_ATTRIBUTES, "select(X, MODE, ...)"),
    OP(TO_COORD, to_coord, "T", "to_coord(T)"),
    OP(TO_INT_TUPLE, to_int_tuple, "P", "to_int_tuple(T)"),
    OP(TO_SHAPE, to_shape, "T", "to_shape(T)"),
    OP(TO_STRIDE, to_stride, "T", "to_stride(T)"),
    OP(COALESCE, coalesce, "L|C", "coalesce(A, [PROFILE])"),
    OP(COMPLEMENT, complement, "L|K", "complement(A, [BOUND])"),
    OWN(composition, "XR", "composition(A, B)", run_composition),
    VIA(DICE, dice, "XX", "dice(X, COORD)", run_slice),
    OP(FLATTEN, flatten, "X", "flatten(X)"),
    WITH(GROUP_MODES, group_modes, "L", 2, 2, "group_modes(A, BEGIN, END)"),
    VIA(LEFT_INVERSE, left_inverse, "X", "left_inverse(A)", run_inverse),
    WITH(RECAST_LAYOUT, recast_layout, "L", 2, 2, "recast_layout(A, NEW_BITS, OLD_BITS)"),
    VIA(RIGHT_INVERSE, right_inverse, "X", "right_inverse(A)", run_inverse),
    VIA(SLICE, slice, "XX", "slice(X, COORD)", run_slice),
    {"append_to_rank", CUTE_OP_APPEND_TO_RANK, "XX", 1, 1, "append_to_rank(X, ELEMENT, RANK)", run_extend},
    {"prepend_to_rank", CUTE_OP_PREPEND_TO_RANK, "XX", 1, 1, "prepend_to_rank(X, ELEMENT, RANK)", run_extend},
    WITH(COSIZE, cosize, "L", 0, CALC_MAX_ATTRIBUTES, "cosize(A, [MODE, ...])"),
    OWN(crd2idx, "CX|D", "crd2idx(COORD, SHAPE), crd2idx(COORD, A) or crd2idx(COORD, SWIZZLE)", run_crd2idx),
    OWN(idx2crd, "TX|D", "idx2crd(INDEX, SHAPE, [STRIDE]) or idx2crd(INDEX, A)", run_idx2crd),
    OP(INCREMENT_COORD, increment_coord, "CS", "increment_coord(COORD, SHAPE)"),
    OP(LAYOUT_EVAL, layout_eval, "CL", "layout_eval(COORD, A)"),
    WITH(SIZE, size, "X", 0, CALC_MAX_ATTRIBUTES, "size(X, [MODE, ...])"),
    OP(TUPLE_PRODUCT, tuple_product, "T", "tuple_product(T)"),
    OP(TUPLE_PRODUCT_EACH, tuple_product_each, "T", "tuple_product_each(T)"),
    OP(CEIL_DIV, ceil_div, "TQ", "ceil_div(A, B)"),
    VIA(ELEM_LESS, elem_less, "PP", "elem_less(A, B)", run_alike),
    VIA(EQUAL, equal, "XX", "equal(A, B)", run_alike),
    OP(SHAPE_DIV, shape_div, "SS", "shape_div(A, B)"),
    OP(TUPLE_ADD, tuple_add, "TT", "tuple_add(A, B)"),
    OP(TUPLE_SUB, tuple_sub, "TT", "tuple_sub(A, B)"),
    OP(BLOCKED_PRODUCT, blocked_product, "LL", "blocked_product(A, B)"),
    OP(RAKED_PRODUCT, raked_product, "LL", "raked_product(A, B)"),
    OP(LOGICAL_PRODUCT, logical_product, "LL", "logical_product(A, B)"),
    OP(ZIPPED_PRODUCT, zipped_product, "LL", "zipped_product(A, B)"),
    OP(TILED_PRODUCT, tiled_product, "LL", "tiled_product(A, B)"),
    OP(FLAT_PRODUCT, flat_product, "LL", "flat_product(A, B)"),
    OP(LOGICAL_DIVIDE, logical_divide, "LR", "logical_divide(A, TILER)"),
    OP(ZIPPED_DIVIDE, zipped_divide, "LR", "zipped_divide(A, TILER)"),
    OP(TILED_DIVIDE, tiled_divide, "LR", "tiled_divide(A, TILER)"),
    OP(FLAT_DIVIDE, flat_divide, "LR", "flat_divide(A, TILER)"),
    OP(TILE_TO_SHAPE, tile_to_shape, "LS|T", "tile_to_shape(A, SHAPE, [ORDER])"),
    /* CuTe DSL's. */
    OP(GET_ITER, get_iter, "X", "get_iter(TENSOR)"),
    OP(GET_LAYOUT, get_layout, "X", "get_layout(TENSOR)"),
    OP(MAKE_VIEW, make_view, "XL", "make_view(ITERATOR, A)"),
    OP(ADD_OFFSET, add_offset, "XT", "add_offset(ITERATOR, OFFSET)"),
    OP(RECAST_ITER, recast_iter, "XX", "recast_iter(POINTER, ptr<...>)"),
    OP(MAKE_ARITH_TUPLE_ITER, make_arith_tuple_iter, "T", "make_arith_tuple_iter(T)"),
    OP(DEREF_ARITH_TUPLE_ITER, deref_arith_tuple_iter, "X", "deref_arith_tuple_iter(ITERATOR)"),
    OP(MAKE_IDENTITY_TENSOR, make_identity_tensor, "S", "make_identity_tensor(SHAPE)"),
    WITH(ASSUME, assume, "T", 1, 1, "assume(N, DIVISOR)"),
    OP(LOCAL_TILE, local_tile, "XRC|C", "local_tile(TENSOR, TILER, COORD, [PROJECTION])"),
    OP(LOCAL_PARTITION, local_partition, "XLT|C", "local_partition(TENSOR, A, INDEX, [PROJECTION])"),
    OP(GET_HIER_COORD, get_hier_coord, "TL", "get_hier_coord(INDEX, A)"),
    OP(GET_FLAT_COORD, get_flat_coord, "TL", "get_flat_coord(INDEX, A)"),
    OP(TUPLE_MUL, tuple_mul, "TT", "tuple_mul(A, B)"),
    OP(TUPLE_DIV, tuple_div, "TT", "tuple_div(A, B)"),
    OP(TUPLE_MOD, tuple_mod, "TT", "tuple_mod(A, B)"),
    /* CuTe's. */
    OP(CRD2CRD, crd2crd, "CS|S", "crd2crd(COORD, TO_SHAPE, [FROM_SHAPE])"),
    OP(FILTER, filter, "L|C", "filter(A, [PROFILE])"),
    OP(NULLSPACE, nullspace, "L", "nullspace(A)"),
    OP(MAX_COMMON_LAYOUT, max_common_layout, "LL", "max_common_layout(A, B)"),
    OP(MAX_COMMON_VECTOR, max_common_vector, "LL", "max_common_vector(A, B)"),
    OP(TUPLE_PRODUCT, product, "T", "product(T)"),
    OP(TUPLE_PRODUCT_EACH, product_each, "T", "product_each(T)"),
    OP(PREFIX_PRODUCT, prefix_product, "T|T", "prefix_product(T, [START])"),
    OP(INNER_PRODUCT, inner_product, "TT", "inner_product(A, B)"),
    {"upcast", CUTE_OP_RECAST_LAYOUT, "L", 1, 1, "upcast(A, N)", run_upcast},
    {"downcast", CUTE_OP_RECAST_LAYOUT, "L", 1, 1, "downcast(A, N)", run_downcast},
    OWN(rank, "X", "rank(X)", run_rank),
    OWN(depth, "X", "depth(X)", run_depth),
    OWN(congruent, "XX", "congruent(A, B)", run_congruent),
    OWN(weakly_congruent, "XX", "weakly_congruent(A, B)", run_weakly_congruent),
    /* Of atoms. */
    OP(MAKE_TILED_MMA, make_tiled_mma, "X|LR", "make_tiled_mma(ATOM, [ATOMS], [PERMUTATION])"),
    OP(MAKE_TILED_COPY, make_tiled_copy, "XLR",
       "make_tiled_copy(ATOM, THREADS_VALUES, TILER) or make_tiled_copy(ATOM, THREADS, VALUES)"),
    OP(MAKE_TILED_COPY_A, make_tiled_copy_A, "XX", "make_tiled_copy_A(ATOM, MMA)"),
    OP(MAKE_TILED_COPY_B, make_tiled_copy_B, "XX", "make_tiled_copy_B(ATOM, MMA)"),
    OP(MAKE_TILED_COPY_C, make_tiled_copy_C, "XX", "make_tiled_copy_C(ATOM, MMA)"),
    OP(MAKE_TILED_COPY_S, make_tiled_copy_S, "XX", "make_tiled_copy_S(ATOM, COPY)"),
    OP(MAKE_TILED_COPY_D, make_tiled_copy_D, "XX", "make_tiled_copy_D(ATOM, COPY)"),
    OP(TILED_COPY_PARTITION_S, tiled_copy_partition_S, "XLT", "tiled_copy_partition_S(COPY, A, THREAD)"),
    OP(TILED_COPY_PARTITION_D, tiled_copy_partition_D, "XLT", "tiled_copy_partition_D(COPY, A, THREAD)"),
    OP(TILED_COPY_RETILE, tiled_copy_retile, "XL", "tiled_copy_retile(COPY, A)"),
    WITH(TILED_MMA_PARTITION, tiled_mma_partition, "XLT", 1, 1,
         "tiled_mma_partition(MMA, A, THREAD, OPERAND)"),
    WITH(TILED_MMA_PARTITION_SHAPE, tiled_mma_partition_shape, "XS", 1, 1,
         "tiled_mma_partition_shape(MMA, SHAPE, OPERAND)"),
    WITH(MMA_MAKE_FRAGMENT, mma_make_fragment, "XL", 1, 1, "mma_make_fragment(MMA, A, OPERAND)"),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

const char *cute_calculator_function(size_t index)
{
    return index < FUNCTIONS ? functions[index].name : NULL;
}

static const char *name_at(const void *list, size_t index)
{
    (void)list;
    return cute_calculator_function(index);
}

static const function *find_function(const char *name, size_t length)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strlen(functions[i].name) == length && !memcmp(functions[i].name, name, length))
            return &functions[i];
    return NULL;
}

/* ---- calls ---- */

static bool fail_usage(binding *b, const char *what)
{
    return calc_fail(b->c, b->call->start, b->call->end, "%s: %s; usage: %s", b->f->name, what, b->f->usage);
}

/* Converts numbers after the operands, or tuples of them, to attributes. */
static bool take_attributes(binding *b, const operand *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cute_algebra a = {.arena = b->c->arena};
        cute_value numbers;
        if (!calc_as_tuple(&from[i].value, CUTE_INT_TUPLE, &numbers))
            return calc_fail(b->c, from[i].start, from[i].end, "%s: expected a number, not the %s; usage: %s",
                             b->f->name, calc_describe(b->c, &from[i].value), b->f->usage);
        cute_node flat = alg_flatten_to_tuple(&a, numbers.tree);
        if (!flat) return calc_exhausted(b->c);
        for (uint32_t j = 0; j < flat->count; j++) {
            if (!flat->items[j]->value.known)
                return calc_fail(b->c, from[i].start, from[i].end, "%s: expected a known number", b->f->name);
            if (b->attribute_count == CALC_MAX_ATTRIBUTES) return fail_usage(b, "too many numbers");
            b->attributes[b->attribute_count++] = flat->items[j]->value.value;
        }
    }
    return true;
}

/* The number of operands that the letters require and allow. */
static void operand_range(const char *letters, size_t *least, size_t *most)
{
    *least = *most = 0;
    bool optional = false;
    for (; *letters; letters++) {
        if (*letters == '|')
            optional = true;
        else if (*letters == '*')
            *most = CUTE_MAX_LEAVES;
        else {
            *most += 1;
            *least += !optional;
        }
    }
}

static bool bind_operands(binding *b)
{
    const invocation *call = b->call;
    size_t least, most;
    operand_range(b->f->operands, &least, &most);
    b->count = call->count < most ? call->count : most;
    if (call->count < least)
        return fail_usage(b, least == 1 ? "an argument is missing" : "arguments are missing");
    if (call->count > most && b->f->most == 0) return fail_usage(b, "too many arguments");
    if (call->attribute_count > (size_t)b->f->most)
        return fail_usage(b, b->f->most ? "too many numbers in <>" : "it takes no numbers in <>");
    for (size_t i = 0; i < call->attribute_count; i++) b->attributes[i] = call->attributes[i];
    b->attribute_count = call->attribute_count;
    if (!take_attributes(b, call->operands + b->count, call->count - b->count)) return false;
    if (b->attribute_count < (size_t)b->f->least) return fail_usage(b, "a number is missing");
    if (b->attribute_count > (size_t)b->f->most) return fail_usage(b, "too many numbers");
    b->in = cute_arena_array(b->c->arena, b->count ? b->count : 1, sizeof *b->in);
    if (!b->in) return calc_exhausted(b->c);
    if (b->count) memcpy(b->in, call->operands, b->count * sizeof *b->in);
    const char *letter = b->f->operands;
    char last = 'X';
    for (size_t i = 0; i < b->count; i++) {
        while (*letter == '|') letter++;
        if (*letter && *letter != '*') last = *letter++;
        if (!convert_operand(b, i, last)) return false;
    }
    return true;
}

/* The algebra also returns a left inverse for layouts that are not injective. */
static void check_left_inverse(calculation *c, const operand *of)
{
    cute_layout_facts facts;
    cute_layout_facts_of(c->arena, &of->value, &facts);
    if (facts.injective == CUTE_NO)
        calc_warn(c, of->start, of->end,
                  "%s is not injective and has no left inverse: R(A(i)) = i does not hold for every i",
                  calc_describe(c, &of->value));
}

bool calc_call(calculation *c, const invocation *call, cute_value *out)
{
    const function *f = find_function(call->name, call->name_length);
    if (!f) {
        const char *name =
            cute_arena_copy(c->arena, call->name, call->name_length < 60 ? call->name_length : 60);
        const char *near = name ? cute_nearest(name, name_at, NULL) : NULL;
        return calc_fail(c, call->start, call->start + call->name_length, "unknown function '%s'%s%s%s",
                         name ? name : "", near ? "; did you mean '" : "", near ? near : "",
                         near ? "'?" : "");
    }
    binding b = {.c = c, .f = f, .call = call};
    if (!bind_operands(&b)) return false;
    if (!(f->run ? f->run(&b, out) : apply_operation(&b, f->operation, out))) return false;
    if (f->operation == CUTE_OP_LEFT_INVERSE) check_left_inverse(c, &b.in[0]);
    return c->status == CUTE_OK;
}
