/* Tensors: an iterator (a pointer or a coordinate) and a layout. Construction, decomposition and tiling;
 * operations on the layout alone are in the other op_*.c files. */
#include "lib/layout/apply.h"
#include "lib/layout/layouts.h"
#include "lib/layout/pointer.h"
#include "lib/layout/verify.h"

#define CUTE_NUMBER (CUTE_BIT(CUTE_INT_TUPLE) | CUTE_BIT(CUTE_COORD) | CUTE_BIT(CUTE_INTEGER))

static bool expects_tensor(call *c)
{
    return call_expects(c, 0, CUTE_ANY_TENSOR, "expects a !cute.memref or !cute.coord_tensor");
}

static bool expects_integer(call *c, size_t operand)
{
    if (!call_expects(c, operand, CUTE_NUMBER, "expects an integer")) return false;
    if (alg_is_int(c->in[operand].tree)) return true;
    alg_fail(c->a, "expects one integer, but got %s", alg_type_text(c->a, &c->in[operand]));
    return false;
}

/* ---- iterators and views ---- */

bool op_get_iter(call *c)
{
    const cute_value *v = &c->in[0];
    if (!expects_tensor(c)) return false;
    *c->out = v->type == CUTE_MEMREF ? (cute_value){.type = CUTE_PTR, .pointer = v->pointer}
                                     : cute_value_of_tree(CUTE_ARITH_TUPLE_ITER, v->tree);
    return true;
}

bool op_get_layout(call *c)
{
    const cute_value *v = &c->in[0];
    if (!expects_tensor(c)) return false;
    if (!call_is_composed(v)) return call_give_layout(c, v->layout);
    *c->out = *v;
    c->out->type = CUTE_COMPOSED_LAYOUT;
    c->out->pointer = NULL;
    return true;
}

bool op_make_view(call *c)
{
    const cute_value *iterator = &c->in[0], *layout = &c->in[1];
    if (!call_expects(c, 0, CUTE_BIT(CUTE_PTR) | CUTE_BIT(CUTE_ARITH_TUPLE_ITER),
                      "expects iterator to be !cute.ptr or !cute.arith_tuple_iter") ||
        !call_expects(c, 1, CUTE_ANY_LAYOUT, "expects a layout or composed layout"))
        return false;
    if (iterator->type == CUTE_ARITH_TUPLE_ITER && layout->type == CUTE_COMPOSED_LAYOUT) {
        alg_fail(c->a, "expects a tensor of coordinates to have a !cute.layout, but got %s",
                 alg_type_text(c->a, layout));
        return false;
    }
    if (iterator->type == CUTE_PTR && iterator->pointer->space == CUTE_SPACE_DESC &&
        layout->type == CUTE_COMPOSED_LAYOUT) {
        alg_fail(c->a, "expects a plain layout with a descriptor, but got %s", alg_type_text(c->a, layout));
        return false;
    }
    *c->out = *layout;
    if (iterator->type == CUTE_PTR) {
        c->out->type = CUTE_MEMREF;
        c->out->pointer = iterator->pointer;
        call_decay(c->out);
    } else {
        c->out->type = CUTE_COORD_TENSOR;
        c->out->tree = iterator->tree;
    }
    return alg_verify(c->a, c->out);
}

bool op_add_offset(call *c)
{
    const cute_value *v = &c->in[0], *offset = &c->in[1];
    if (!call_expects(c, 0, CUTE_BIT(CUTE_PTR) | CUTE_BIT(CUTE_ARITH_TUPLE_ITER),
                      "expects iterator to be !cute.ptr or !cute.arith_tuple_iter") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_INT_TUPLE) | CUTE_BIT(CUTE_INTEGER),
                      "expects offset to be !cute.int_tuple"))
        return false;
    call_sentence(c, "unable to advance $0 by $1");
    *c->out = *v;
    if (v->type == CUTE_ARITH_TUPLE_ITER)
        return call_give_tree(c, v->type, alg_sum(c->a, v->tree, offset->tree));
    c->out->pointer = alg_advance(c->a, v->pointer, offset->tree);
    return c->out->pointer != NULL;
}

/* Casts a pointer to the type of the second. */
bool op_recast_iter(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_PTR), "expects iterator to be !cute.ptr") ||
        !call_expects(c, 1, CUTE_BIT(CUTE_PTR), "expects the result to be !cute.ptr"))
        return false;
    const cute_pointer *from = c->in[0].pointer, *to = c->in[1].pointer;
    if (from->space != to->space) {
        alg_fail(c->a, "expects both pointers to point to %s, but got %s", cute_space_name(from->space),
                 alg_type_text(c->a, &c->in[1]));
        return false;
    }
    if (to->align > from->align && to->align > alg_natural_align(to)) {
        alg_fail(c->a, "expects an alignment of at most %lld bytes, but got %s", (long long)from->align,
                 alg_type_text(c->a, &c->in[1]));
        return false;
    }
    cute_pointer *cast = cute_arena_alloc(c->a->arena, sizeof *cast);
    if (!cast) return alg_exhausted(c->a) != NULL;
    *cast = *to;
    cast->handle = NULL;
    *c->out = (cute_value){.type = CUTE_PTR, .pointer = cast};
    if (!c->a->arith) return true;
    c->a->status = c->a->arith->advance(c->a->arith->context, from, NULL, cast, &cast->handle, c->a->diag);
    return c->a->status == CUTE_OK;
}

bool op_make_arith_tuple_iter(call *c)
{
    return call_expects(c, 0, CUTE_BIT(CUTE_INT_TUPLE), "expects offset to be !cute.int_tuple") &&
           call_give_tree(c, CUTE_ARITH_TUPLE_ITER, c->in[0].tree);
}

bool op_deref_arith_tuple_iter(call *c)
{
    return call_expects(c, 0, CUTE_BIT(CUTE_ARITH_TUPLE_ITER),
                        "expects iterator to be !cute.arith_tuple_iter") &&
           call_give_tree(c, CUTE_INT_TUPLE, c->in[0].tree);
}

bool op_make_identity_tensor(call *c)
{
    if (!call_expects(c, 0, CUTE_BIT(CUTE_SHAPE), "expects shape to be !cute.shape")) return false;
    cute_node shape = c->in[0].tree, zero = alg_number(c->a, 0);
    *c->out = (cute_value){.type = CUTE_COORD_TENSOR,
                           .tree = zero ? alg_repeat_like(c->a, shape, zero) : NULL,
                           .layout = {shape, alg_basis_like(c->a, shape)}};
    return c->out->tree && alg_ok(c->out->layout);
}

/* assume<16>: the same number with a divisor. */
bool op_assume(call *c)
{
    if (!expects_integer(c, 0)) return false;
    int64_t divisor = c->attribute_count ? c->attributes[0] : 0;
    if (c->attribute_count != 1 || divisor < 1) {
        alg_fail(c->a, "expects one positive divisor");
        return false;
    }
    cute_int x = c->in[0].tree->value;
    if (x.known) {
        if (x.value % divisor == 0) return call_give_tree(c, CUTE_INT_TUPLE, c->in[0].tree);
        alg_fail(c->a, "%lld is not divisible by %lld", (long long)x.value, (long long)divisor);
        return false;
    }
    x.divisor = divisor;
    return call_give_tree(c, CUTE_INTEGER, alg_scalar(c->a, x));
}

/* ---- coordinate of an index ---- */

cute_node call_divided(cute_algebra *a, cute_node index, cute_node shape, cute_node stride)
{
    if (!index || !shape || !stride) return NULL;
    if (alg_is_leaf(shape)) {
        if (alg_is(shape, 1) || alg_is(stride, 0)) return alg_number(a, 0);
        return alg_op(a, CUTE_REM, alg_op(a, CUTE_DIV, index, stride), shape);
    }
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count && !list.failed; i++)
        alg_push(a, &list, call_divided(a, index, shape->items[i], stride->items[i]));
    return alg_tuple(a, &list);
}

/* Division only inverts strides that are multiples of the size below them. */
static bool strides_divide(cute_algebra *a, cute_layout layout)
{
    cute_node s = alg_flatten_to_tuple(a, layout.shape), d = alg_flatten_to_tuple(a, layout.stride);
    if (!s || !d) return false;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = 0; j < s->count; j++) {
            int64_t extent = s->items[i]->value.value, stride = d->items[i]->value.value,
                    other = d->items[j]->value.value, reach;
            if (i == j || extent == 1 || alg_is(s->items[j], 1) || stride == 0 || other == 0) continue;
            if (other < stride || (other == stride && i > j)) continue;
            if (stride > 0 && !__builtin_mul_overflow(extent, stride, &reach) && other % reach == 0) continue;
            alg_fail(a, "non-divisible strides in %s: %lld is not a multiple of %lld:%lld",
                     alg_layout_text(a, layout), (long long)other, (long long)extent, (long long)stride);
            return false;
        }
    return true;
}

static cute_node hier_coordinate(call *c, cute_node index, cute_layout layout)
{
    cute_algebra *a = c->a;
    if (!alg_only_ints(layout.stride))
        return alg_fail(a, "expects integer strides, but got %s", alg_layout_text(a, layout));
    if (alg_all_known(layout) && !strides_divide(a, layout)) return NULL;
    return call_divided(a, index, layout.shape, layout.stride);
}

static cute_node flat_coordinate(call *c, cute_node index, cute_layout layout)
{
    cute_node whole = hier_coordinate(c, index, layout);
    if (!whole || alg_is_leaf(whole)) return whole;
    alg_list list = {0};
    for (uint32_t i = 0; i < whole->count && !list.failed; i++)
        alg_push(c->a, &list, alg_crd2idx(c->a, whole->items[i], layout.shape->items[i]));
    return alg_tuple(c->a, &list);
}

static bool coordinate_of_index(call *c, cute_node (*of)(call *, cute_node, cute_layout))
{
    if (!expects_integer(c, 0) ||
        !call_expects(c, 1, CUTE_BIT(CUTE_LAYOUT), "expects layout to be !cute.layout"))
        return false;
    call_sentence(c, "unable to compute the coordinate of index $0 of $1");
    return call_give_tree(c, CUTE_COORD, of(c, c->in[0].tree, c->in[1].layout));
}

bool op_get_hier_coord(call *c)
{
    return coordinate_of_index(c, hier_coordinate);
}
bool op_get_flat_coord(call *c)
{
    return coordinate_of_index(c, flat_coordinate);
}

/* ---- tiles of tensors ---- */

/* The modes at which `proj` has no `_`, and those beyond its rank. */
static cute_node project_modes(call *c, cute_node proj, cute_node t)
{
    if (!proj || !t) return NULL;
    if (alg_is_leaf(proj) || alg_is_leaf(t)) {
        if (alg_is_leaf(proj) && proj->kind != CUTE_TREE_UNDERSCORE) return t;
        return alg_fail(c->a, "expects a projection for the modes of %s, but got %s", alg_text(c->a, t),
                        alg_text(c->a, proj));
    }
    if (proj->count > t->count)
        return alg_fail(c->a, "expects a projection of at most rank %u for %s, but got %s", t->count,
                        alg_text(c->a, t), alg_text(c->a, proj));
    for (uint32_t i = 0; i < proj->count; i++)
        if (proj->items[i]->kind != CUTE_TREE_UNDERSCORE && !alg_is(proj->items[i], 1))
            return alg_fail(
                c->a, "expects a projection with 1 for modes to keep and _ for modes to drop, but got %s",
                alg_text(c->a, proj));
    alg_list list = {0};
    for (uint32_t i = 0; i < t->count; i++)
        if (i >= proj->count || proj->items[i]->kind != CUTE_TREE_UNDERSCORE)
            alg_push(c->a, &list, t->items[i]);
    return alg_tuple(c->a, &list);
}

/* Expands the `_` of a whole mode to one for each of its modes, which moves these to top level. */
static cute_node expand_underscore(call *c, cute_node mode)
{
    cute_tree *wildcard = cute_arena_alloc(c->a->arena, sizeof *wildcard);
    if (!wildcard) return alg_exhausted(c->a);
    *wildcard = (cute_tree){.kind = CUTE_TREE_UNDERSCORE, .leaves = 1};
    if (alg_is_leaf(mode)) return wildcard;
    alg_list list = {0};
    for (uint32_t i = 0; i < mode->count; i++) alg_push(c->a, &list, wildcard);
    return alg_tuple(c->a, &list);
}

/* `coord` in the first modes of `mode`, `_` in the others. */
static cute_node fill_coordinate(call *c, cute_node coord, cute_node mode)
{
    if (!coord || alg_is_leaf(coord)) return coord;
    if (alg_is_leaf(mode) && coord->count == 1) return coord->items[0];
    if (alg_is_leaf(mode) || coord->count > mode->count)
        return alg_fail(c->a, "expects a coordinate of at most rank %zu for the tiles %s, but got %s",
                        alg_rank(mode), alg_text(c->a, mode), alg_text(c->a, coord));
    cute_node rest = expand_underscore(c, mode);
    alg_list list = {0};
    for (uint32_t i = 0; rest && i < mode->count; i++)
        alg_push(c->a, &list, i < coord->count ? coord->items[i] : rest->items[i]);
    return rest ? alg_tuple(c->a, &list) : NULL;
}

/* Tiles that are known to start outside a tensor in memory are rejected; tensors of coordinates allow them,
 * for predicates. */
static bool check_tile_coordinate(call *c, cute_node coord, cute_node shape, const char *what)
{
    if (!coord || c->in[0].type != CUTE_MEMREF || alg_may_be_inside(coord, shape)) return coord != NULL;
    return alg_fail(c->a, "expects the coordinate of %s of %s, but got %s", what, alg_text(c->a, shape),
                    alg_text(c->a, coord)) != NULL;
}

/* Divides into ((tiles), (rests)) and fixes one of the two: `inner` keeps the tile. */
static bool partition_tensor(call *c, const cute_value *tiler, cute_node coord, bool inner)
{
    cute_value tiled;
    if (!coord || !call_divide(c, &c->in[0], tiler, CALL_ZIPPED, &tiled)) return false;
    if (alg_rank(tiled.layout.shape) != 2 || alg_is_leaf(tiled.layout.shape)) {
        alg_fail(c->a, "the tiler does not divide %s", alg_layout_text(c->a, tiled.layout));
        return false;
    }
    cute_node tile = tiled.layout.shape->items[0], rest = tiled.layout.shape->items[1];
    call_sentence(c, "unable to take the tile at a coordinate of $0 tiled by $1");
    cute_node fixed = fill_coordinate(c, coord, inner ? rest : tile);
    if (!fixed || (inner && !check_tile_coordinate(c, fixed, rest, "one of the tiles"))) return false;
    cute_node both = inner ? alg_pair(c->a, expand_underscore(c, tile), fixed)
                           : alg_pair(c->a, fixed, expand_underscore(c, rest));
    return both && call_slice(c, &tiled, both, c->out);
}

bool op_local_tile(call *c)
{
    if (!expects_tensor(c) ||
        !call_expects(c, 1, CUTE_BIT(CUTE_LAYOUT) | CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_TILE),
                      "expects tiler to be a layout, shape or tile") ||
        !call_expects(c, 2, CUTE_BIT(CUTE_COORD), "expects coord to be !cute.coord") ||
        (c->count > 3 && !call_expects(c, 3, CUTE_BIT(CUTE_COORD), "expects proj to be !cute.coord")))
        return false;
    cute_value tiler = c->in[1];
    cute_node coord = c->in[2].tree;
    if (c->count > 3) {
        if (tiler.type == CUTE_LAYOUT) {
            alg_fail(c->a, "expects a shape or tile to project, but got %s", alg_type_text(c->a, &tiler));
            return false;
        }
        tiler.tree = project_modes(c, c->in[3].tree, tiler.tree);
        coord = project_modes(c, c->in[3].tree, coord);
        if (!tiler.tree || !coord) return false;
    }
    return partition_tensor(c, &tiler, coord, true);
}

bool op_local_partition(call *c)
{
    if (!expects_tensor(c) ||
        !call_expects(c, 1, CUTE_BIT(CUTE_LAYOUT), "expects the tile to be !cute.layout") ||
        !expects_integer(c, 2) ||
        (c->count > 3 && !call_expects(c, 3, CUTE_BIT(CUTE_COORD), "expects proj to be !cute.coord")))
        return false;
    cute_layout tile = c->in[1].layout;
    if (c->count > 3) {
        tile.shape = project_modes(c, c->in[3].tree, tile.shape);
        tile.stride = tile.shape ? project_modes(c, c->in[3].tree, tile.stride) : NULL;
        if (!alg_ok(tile)) return false;
    }
    if (!check_tile_coordinate(c, c->in[2].tree, tile.shape, "one of the threads")) return false;
    alg_list extents = {0};
    for (size_t i = 0; i < alg_rank(tile.shape); i++)
        alg_push(c->a, &extents, alg_product(c->a, alg_mode(tile.shape, i)));
    cute_value tiler =
        cute_value_of_tree(CUTE_SHAPE, alg_is_leaf(tile.shape) ? tile.shape : alg_tuple(c->a, &extents));
    return tiler.tree && partition_tensor(c, &tiler, flat_coordinate(c, c->in[2].tree, tile), false);
}
