/* Divides, products and tile_to_shape. */
#include "lib/layout/apply.h"
#include "lib/layout/layouts.h"

/* ---- divides ---- */

/* A tiler is complemented, so its strides must be known if it has several modes. */
static bool check_tiler(call *c, cute_layout t, const char *where, bool in_tile)
{
    if (in_tile && !alg_only_ints(t.stride)) {
        alg_fail(c->a,
                 "expects layout components of a tile tiler to have integer-only strides (scaled-basis "
                 "strides like "
                 "`N@M` are not supported), but got tiler %s%s",
                 alg_layout_text(c->a, t), where);
        return false;
    }
    if (!cute_tree_is_static(t.stride) && alg_rank(t.shape) > 1) {
        alg_fail(c->a, "expects tiler to have a static stride or to be rank-1, but got tiler %s%s",
                 alg_layout_text(c->a, t), where);
        return false;
    }
    return true;
}

static bool check_tile_modes(call *c, cute_node t, const char *path)
{
    if (t->kind == CUTE_TREE_LAYOUT) {
        const char *where = *path ? cute_arena_printf(c->a->arena, " at mode path [%s]", path) : "";
        return check_tiler(c, t->layout, where ? where : "", true);
    }
    for (uint32_t i = 0; !alg_is_leaf(t) && i < t->count; i++) {
        const char *deeper = cute_arena_printf(c->a->arena, "%s%s%u", path, *path ? ", " : "", i);
        if (!check_tile_modes(c, t->items[i], deeper ? deeper : "")) return false;
    }
    return true;
}

bool call_divide(call *c, const cute_value *v, const cute_value *t, int flavour, cute_value *out)
{
    size_t rank = alg_rank(v->layout.shape);
    if (t->type != CUTE_LAYOUT && alg_rank(t->tree) > rank) {
        alg_fail(c->a, "expects rank(tiler) <= rank(input), but got rank %zu tiler and rank %zu input",
                 alg_rank(t->tree), rank);
        return false;
    }
    if (t->type == CUTE_LAYOUT && !check_tiler(c, t->layout, "", false)) return false;
    if (t->type == CUTE_TILE && !check_tile_modes(c, t->tree, "")) return false;
    call_sentence(c, "expects valid operands, but cannot compute divide for $0 and $1");
    cute_layout result;
    if (t->type == CUTE_LAYOUT) {
        result = alg_divide(c->a, v->layout, t->layout);
    } else {
        cute_node tile = t->type == CUTE_SHAPE ? alg_shape_to_tile(c->a, t->tree) : t->tree;
        result = alg_divide_tile(c->a, v->layout, tile, flavour != CALL_LOGICAL);
    }
    if (flavour >= CALL_TILED) result = alg_unzip(c->a, result, flavour == CALL_FLAT);
    *out = *v;
    out->layout = result;
    if (!alg_ok(result)) return false;
    call_decay(out);
    return true;
}

static bool divide_operands(call *c, int flavour)
{
    return call_expects(c, 0, CUTE_LAID_OUT, "expects input to be a layout or composed layout") &&
           call_expects(c, 1, CUTE_BIT(CUTE_LAYOUT) | CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_TILE),
                        "expects tiler to be a layout, shape or tile") &&
           call_divide(c, &c->in[0], &c->in[1], flavour, c->out);
}

bool op_logical_divide(call *c)
{
    return divide_operands(c, CALL_LOGICAL);
}
bool op_zipped_divide(call *c)
{
    return divide_operands(c, CALL_ZIPPED);
}
bool op_tiled_divide(call *c)
{
    return divide_operands(c, CALL_TILED);
}
bool op_flat_divide(call *c)
{
    return divide_operands(c, CALL_FLAT);
}

/* ---- products ---- */

enum { BLOCKED = CALL_FLAT + 1, RAKED };

static bool multiply_operands(call *c, int flavour)
{
    const cute_value *v = &c->in[0], *t = &c->in[1];
    if (!call_expects(c, 0, CUTE_ANY_LAYOUT, "expects lhs to be a layout or composed layout")) return false;
    if (!alg_all_known(v->layout)) {
        alg_fail(c->a, "expects lhs to be static, but got %s", alg_type_text(c->a, v));
        return false;
    }
    if (!call_expects(c, 1, CUTE_BIT(CUTE_LAYOUT), "expects rhs to be !cute.layout")) return false;
    if (!alg_only_ints(t->layout.stride)) {
        alg_fail(c->a,
                 "expects rhs stride to be integer-only (scaled-basis strides like `N@M` are not supported), "
                 "but got "
                 "%s",
                 alg_type_text(c->a, t));
        return false;
    }
    if (!alg_only_ints(v->layout.stride) && !cute_value_is_static(t)) {
        alg_fail(c->a, "expects rhs to be static when lhs has scaled-basis strides (`N@M`), but got rhs %s",
                 alg_type_text(c->a, t));
        return false;
    }
    call_sentence(c, "expects valid operands, but cannot compute product for $0 and $1");
    cute_layout result = flavour >= BLOCKED ? alg_blocked(c->a, v->layout, t->layout, flavour == RAKED)
                                            : alg_product_of(c->a, v->layout, t->layout);
    if (flavour == CALL_TILED || flavour == CALL_FLAT) result = alg_unzip(c->a, result, flavour == CALL_FLAT);
    return call_give_like(c, v, result);
}

bool op_logical_product(call *c)
{
    return multiply_operands(c, CALL_LOGICAL);
}
bool op_zipped_product(call *c)
{
    return multiply_operands(c, CALL_ZIPPED);
}
bool op_tiled_product(call *c)
{
    return multiply_operands(c, CALL_TILED);
}
bool op_flat_product(call *c)
{
    return multiply_operands(c, CALL_FLAT);
}
bool op_blocked_product(call *c)
{
    return multiply_operands(c, BLOCKED);
}
bool op_raked_product(call *c)
{
    return multiply_operands(c, RAKED);
}

/* ---- tile_to_shape ---- */

static bool check_order(call *c, cute_node order, size_t rank)
{
    if (!cute_tree_is_static(order)) {
        alg_fail(c->a, "expects static order, but got %s", alg_text(c->a, order));
        return false;
    }
    if (alg_rank(order) != rank) {
        alg_fail(c->a, "expects order rank (%zu) to equal target-shape rank (%zu)", alg_rank(order), rank);
        return false;
    }
    for (size_t i = 0; i < rank; i++) {
        cute_node leaf = alg_mode(order, i);
        const char *what = NULL;
        if (!alg_is_known(leaf)) {
            what = cute_arena_printf(c->a->arena, "mode %zu is not a static integer", i);
        } else if (leaf->value.value < 0 || (uint64_t)leaf->value.value >= rank) {
            what = cute_arena_printf(c->a->arena, "got out-of-range index %lld at mode %zu",
                                     (long long)leaf->value.value, i);
        } else {
            for (size_t j = 0; j < i; j++)
                if (alg_mode(order, j)->value.value == leaf->value.value)
                    what = cute_arena_printf(c->a->arena, "index %lld appears more than once",
                                             (long long)leaf->value.value);
        }
        if (!what) continue;
        alg_fail(c->a, "expects $order to be a permutation of [0, %zu), but %s", rank, what);
        return false;
    }
    return true;
}

bool op_tile_to_shape(call *c)
{
    const cute_value *v = &c->in[0], *shape = &c->in[1];
    if (!call_expects(c, 1, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape") ||
        !call_expects(c, 0, CUTE_ANY_LAYOUT, "expects input to be a layout or composed layout"))
        return false;
    size_t rank = alg_rank(shape->tree), block = alg_rank(v->layout.shape);
    cute_node order = NULL;
    if (c->count > 2) {
        if (!call_expects(c, 2, CUTE_BIT(CUTE_INT_TUPLE), "expects order to be !cute.int_tuple"))
            return false;
        order = c->in[2].tree;
        if (!check_order(c, order, rank)) return false;
    }
    if (block > rank) {
        alg_fail(c->a,
                 "expects block layout rank <= target shape rank, but got rank %zu block and rank %zu target "
                 "shape",
                 block, rank);
        return false;
    }
    if (!order) {
        alg_list list = {0};
        for (size_t i = 0; i < rank; i++) alg_push(c->a, &list, alg_number(c->a, (int64_t)i));
        order = alg_tuple(c->a, &list);
    }
    call_sentence(c, "expects valid operands, but cannot compute tile_to_shape for $0 and $1");
    return call_give_like(c, v, alg_tile_to_shape(c->a, v->layout, shape->tree, order));
}
