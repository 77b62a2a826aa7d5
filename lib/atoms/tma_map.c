/* Derives the tensor map of a tensor in global memory and a tile in shared memory, and the tensor of its
 * coordinates. */
#include <inttypes.h>
#include <string.h>

#include "lib/atoms/tma.h"
#include "lib/atoms/tma_algebra.h"
#include "lib/layout/pointer.h"

enum {
    BOX = 256,
    LINE = 16
}; /* maximum elements in a dimension of the box; bytes that must divide strides and the box */

/* A dimension of the box under construction. */
typedef struct box_dimension {
    int64_t extent;
    const cute_tree *basis; /* of the tensor's modes, with a scale of 1 */
    uint32_t leaf;
} box_dimension;

typedef struct planner {
    tma_work w;
    const cute_tma_request *request;
    cute_layout global;
    size_t leaf_count;
    const cute_tree **shapes, **strides, **bases; /* one entry per leaf */
    box_dimension dims[CUTE_MAX_DEPTH];
    int count, boxed;               /* boxed: dimensions that the tile covers */
    uint32_t group[CUTE_MAP_GROUP]; /* leaves combined in the last dimension in addition to its own */
    int groups;
    int64_t group_stride;
    int span; /* span of the swizzle in bytes; 0: none */
    int bits;
} planner;

static cute_status add_leaves(planner *p, const cute_tree *shape, const cute_tree *stride, int32_t *path,
                              uint32_t depth)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++) {
            path[depth] = (int32_t)i;
            CUTE_TRY(add_leaves(p, shape->items[i], stride->items[i], path, depth + 1));
        }
        return CUTE_OK;
    }
    p->shapes[p->leaf_count] = shape;
    p->strides[p->leaf_count] = stride;
    p->bases[p->leaf_count] = tma_basis(&p->w, 1, path, depth ? depth : 1);
    return p->bases[p->leaf_count++] ? CUTE_OK : cute_fail_memory(p->w.diag);
}

static cute_status read_tensor(planner *p)
{
    const cute_value *tensor = p->request->tensor;
    cute_diag *diag = p->w.diag;
    if (tensor->type != CUTE_MEMREF || tensor->pointer->space != CUTE_SPACE_GMEM)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a tensor in gmem, but got a %s%s",
                         tensor->type == CUTE_MEMREF ? "tensor in " : cute_type_name(tensor->type),
                         tensor->type == CUTE_MEMREF ? cute_space_name(tensor->pointer->space) : "");
    if (tensor->tree)
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expects a tensor whose layout has strides: tensor maps do not support composed layouts");
    p->global = tensor->layout;
    size_t leaves = p->global.shape->leaves + 1;
    p->shapes = cute_arena_array(p->w.arena, leaves, sizeof *p->shapes);
    p->strides = cute_arena_array(p->w.arena, leaves, sizeof *p->strides);
    p->bases = cute_arena_array(p->w.arena, leaves, sizeof *p->bases);
    if (!p->shapes || !p->strides || !p->bases) return cute_fail_memory(diag);
    int32_t path[CUTE_MAX_DEPTH + 1] = {0};
    return add_leaves(p, p->global.shape, p->global.stride, path, 0);
}

/* The tile's swizzle of byte addresses, as the tensor map's swizzle and its span. */
static cute_status read_swizzle(planner *p, cute_layout *tile, cute_tensor_map_swizzle *out)
{
    const cute_value *value = p->request->tile;
    cute_diag *diag = p->w.diag;
    *tile = value->layout;
    *out = CUTE_MAP_SWIZZLE_NONE;
    if (value->type == CUTE_LAYOUT) return CUTE_OK;
    if (value->type != CUTE_COMPOSED_LAYOUT || value->inner.shape)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a layout, or one with a swizzle, as the tile");
    const cute_swizzle *s = &value->swizzle;
    bool zero = value->tree && value->tree->kind == CUTE_TREE_INT && value->tree->value.known &&
                !value->tree->value.value;
    if (!zero) return cute_fail(diag, CUTE_INVALID, NULL, "expects an offset of 0 in the tile's layout");
    if (!s->bits) return CUTE_OK;
    if (s->bits > 3 || s->base != 4 || s->shift != 3)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects the swizzle S<1,4,3>, S<2,4,3> or S<3,4,3> of the tile's addresses in "
                         "bytes (32, 64 or 128 bytes), but got S<%d,%d,%d>",
                         s->bits, s->base, s->shift);
    *out = (cute_tensor_map_swizzle)s->bits;
    p->span = 16 << s->bits;
    return CUTE_OK;
}

/* True if top-level modes have the same sizes. */
static bool same_modes(cute_layout a, cute_layout b)
{
    if (tma_rank(a.shape) != tma_rank(b.shape)) return false;
    for (uint32_t i = 0; i < tma_rank(a.shape); i++)
        if (tma_size(tma_mode(a.shape, i)) != tma_size(tma_mode(b.shape, i))) return false;
    return true;
}

/* The map from the tile's elements to the tensor's modes. */
static cute_status read_map(planner *p, cute_layout tile, cute_layout *map)
{
    cute_diag *diag = p->w.diag;
    if (!cute_tree_is_static(tile.shape) || !cute_tree_is_static(tile.stride))
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a tile whose layout is known, but got \"%s\"",
                         cute_layout_text(p->w.arena, tile));
    if (p->request->map) {
        *map = p->request->map->layout;
        if (!cute_tree_is_static(map->shape) || !same_modes(tile, *map))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expects a map with the tile's modes, \"%s\", but got \"%s\"",
                             cute_tree_text(p->w.arena, tile.shape), cute_layout_text(p->w.arena, *map));
        return CUTE_OK;
    }
    uint32_t rank = tma_rank(tile.shape);
    if (rank > tma_rank(p->global.shape))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a tile of at most the tensor's %u modes, but got %u: \"%s\"",
                         tma_rank(p->global.shape), rank, cute_tree_text(p->w.arena, tile.shape));
    const cute_tree **shape = cute_arena_array(p->w.arena, rank, sizeof *shape);
    const cute_tree **stride = cute_arena_array(p->w.arena, rank, sizeof *stride);
    if (!shape || !stride) return cute_fail_memory(diag);
    for (uint32_t i = 0; i < rank; i++) {
        int32_t path = (int32_t)i;
        shape[i] = tma_number(&p->w, tma_size(tma_mode(tile.shape, i)));
        stride[i] = tma_basis(&p->w, 1, &path, 1);
        if (!shape[i] || !stride[i]) return cute_fail_memory(diag);
    }
    map->shape = cute_tree_tuple(p->w.arena, shape, rank);
    map->stride = cute_tree_tuple(p->w.arena, stride, rank);
    return map->shape && map->stride ? CUTE_OK : cute_fail_memory(diag);
}

static bool same_basis(const cute_tree *a, const cute_tree *b)
{
    return a->kind == CUTE_TREE_BASIS && b->kind == CUTE_TREE_BASIS && a->count == b->count &&
           !memcmp(a->path, b->path, a->count * sizeof *a->path);
}

static bool find_leaf(const planner *p, const cute_tree *basis, uint32_t *out)
{
    for (size_t i = 0; i < p->leaf_count; i++) {
        if (!same_basis(p->bases[i], basis)) continue;
        *out = (uint32_t)i;
        return true;
    }
    return false;
}

/* The largest divisor of `extent` that is at most `most`. */
static int64_t divisor_below(int64_t extent, int64_t most)
{
    int64_t d = extent < most ? extent : most;
    while (d > 1 && extent % d) d--;
    return d < 1 ? 1 : d;
}

/* Adds dimensions of the box: runs of elements that are adjacent both in shared memory and in one mode of the
 * tensor, as far as one box supports the order of the tile's elements. */
static cute_status add_box(planner *p, cute_layout order)
{
    uint32_t rank = tma_rank(order.shape);
    for (uint32_t i = 0; i < rank && p->count < CUTE_MAP_RANK; i++) {
        const cute_tree *s = tma_mode(order.shape, i), *d = tma_mode(order.stride, i);
        if (s->kind != CUTE_TREE_INT || !s->value.known) break;
        int64_t extent = s->value.value, most = BOX;
        if (extent == 1) continue;
        if (d->kind != CUTE_TREE_BASIS || !d->value.known || d->value.value != 1) break;
        box_dimension *dim = &p->dims[p->count];
        if (!find_leaf(p, d, &dim->leaf)) break;
        if (!p->count && p->span && p->span * 8 / p->bits < most) most = p->span * 8 / p->bits;
        dim->extent = divisor_below(extent, most);
        dim->basis = p->bases[dim->leaf];
        p->count++;
        if (dim->extent != extent) break;
    }
    p->boxed = p->count;
    return CUTE_OK;
}

/* The order of the tile's elements in shared memory, as modes of the tensor. */
static cute_status tile_order(planner *p, cute_layout tile, cute_layout map, cute_layout *out)
{
    cute_layout inverse, composed, identity, modes;
    CUTE_TRY(tma_unary(&p->w, CUTE_OP_RIGHT_INVERSE, tile, &inverse));
    CUTE_TRY(tma_compose(&p->w, map, inverse, &composed));
    CUTE_TRY(tma_unary(&p->w, CUTE_OP_COALESCE, composed, &modes));
    *out = modes;
    /* A nested mode of the tensor is split into its modes if its extents are known. */
    bool nested = false;
    for (uint32_t i = 0; i < tma_rank(modes.stride); i++) {
        const cute_tree *d = tma_mode(modes.stride, i);
        uint32_t leaf;
        nested = nested || (d->kind == CUTE_TREE_BASIS && !find_leaf(p, d, &leaf));
    }
    if (!nested) return CUTE_OK;
    cute_value shape = cute_value_of_tree(CUTE_SHAPE, p->global.shape), result;
    CUTE_TRY(tma_apply(&p->w, CUTE_OP_MAKE_IDENTITY_LAYOUT, &shape, 1, &result));
    identity = result.layout;
    CUTE_TRY(tma_compose(&p->w, identity, modes, &composed));
    return tma_unary(&p->w, CUTE_OP_FLATTEN, composed, out);
}

static bool is_number(const cute_tree *t, int64_t value)
{
    return t->kind == CUTE_TREE_INT && t->value.known && t->value.value == value;
}

/* Collects the modes of the tensor that the tile does not cover: one element each. */
static void collect_rest(planner *p, uint32_t *rest, int *count)
{
    *count = 0;
    for (size_t i = 0; i < p->leaf_count; i++) {
        if (is_number(p->shapes[i], 1) || is_number(p->strides[i], 0)) continue;
        bool found = false;
        for (int j = 0; j < p->count; j++) found = found || p->dims[j].leaf == i;
        if (!found) rest[(*count)++] = (uint32_t)i;
    }
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Combines the slowest excess modes into one dimension, as in CuTe: its stride is the greatest common divisor
 * of their strides, which must be known, and each mode is scaled by its stride over that. False:
 * impossible. */
static bool add_group(planner *p, const uint32_t *rest, int count)
{
    int64_t divisor = 0, line = 8 * LINE / common_divisor(8 * LINE, p->bits);
    if (count > CUTE_MAP_GROUP) return false;
    for (int i = 0; i < count; i++) {
        const cute_tree *d = p->strides[rest[i]];
        if (d->kind != CUTE_TREE_INT || !d->value.known || d->value.value <= 0) return false;
        divisor = common_divisor(divisor, d->value.value);
    }
    if (divisor % line) return false;
    p->dims[p->count++] = (box_dimension){1, p->bases[rest[0]], rest[0]};
    for (int i = 0; i < count; i++) {
        if (p->strides[rest[i]]->value.value / divisor > INT32_MAX) return false;
        p->group[p->groups++] = rest[i];
    }
    p->group_stride = divisor;
    return true;
}

static bool known_stride(const planner *p, uint32_t leaf)
{
    const cute_tree *d = p->strides[leaf];
    return d->kind == CUTE_TREE_INT && d->value.known && d->value.value > 0;
}

static cute_status add_rest(planner *p)
{
    uint32_t *rest = cute_arena_array(p->w.arena, 2 * p->leaf_count + 2, sizeof *rest), *grouped;
    int count, many = 0;
    if (!rest) return cute_fail_memory(p->w.diag);
    grouped = rest + p->leaf_count + 1;
    collect_rest(p, rest, &count);
    int over = p->count + count - CUTE_MAP_RANK;
    /* The last modes with known strides, one more than the excess. */
    for (int i = count; over > 0 && i-- > 0 && many <= over;)
        if (known_stride(p, rest[i])) {
            many++;
            memmove(grouped + 1, grouped, (size_t)(many - 1) * sizeof *grouped);
            grouped[0] = rest[i];
        }
    for (int i = 0; i < count; i++) {
        bool in_group = false;
        for (int j = 0; over > 0 && j < many; j++) in_group = in_group || grouped[j] == rest[i];
        if (in_group) continue;
        if (p->count < CUTE_MAP_RANK) p->dims[p->count++] = (box_dimension){1, p->bases[rest[i]], rest[i]};
    }
    if (over <= 0 || (many == over + 1 && p->count < CUTE_MAP_RANK && add_group(p, grouped, many)))
        return CUTE_OK;
    return cute_fail(
        p->w.diag, CUTE_INVALID, NULL,
        "expects a tensor of at most 5 modes other than constant 1, but got \"%s\": one dimension combines "
        "several modes only if the tile covers none of them and their strides are known multiples of 16 "
        "bytes",
        cute_layout_text(p->w.arena, p->global));
}

/* Slices of channels (NC/8DHWC8, NC/16DHWC16): each is a row of the box. */
static cute_status check_interleave(planner *p)
{
    int bytes = p->request->interleave ? 8 << p->request->interleave : 0;
    if (!bytes) return CUTE_OK;
    if (p->count < 3)
        return cute_fail(
            p->w.diag, CUTE_INVALID, NULL,
            "expects a tensor of at least 3 modes other than constant 1 for an interleave, but got \"%s\"",
            cute_layout_text(p->w.arena, p->global));
    if (p->request->interleave == CUTE_MAP_INTERLEAVE_32B && p->span != 32)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects a tile with the swizzle S<1,4,3> for an interleave of 32 bytes");
    if (p->dims[0].extent * p->bits == 8 * bytes) return CUTE_OK;
    return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                     "expects a contiguous slice of %d bytes in the tile, but got %" PRId64
                     " elements of %d bits",
                     bytes, p->dims[0].extent, p->bits);
}

static cute_status check_strides(planner *p)
{
    cute_diag *diag = p->w.diag;
    const cute_tree *first = p->strides[p->dims[0].leaf];
    if (!is_number(first, 1))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects stride 1 in the mode of the tensor that is contiguous in shared memory, "
                         "mode %u of \"%s\"",
                         p->dims[0].leaf, cute_layout_text(p->w.arena, p->global));
    for (int i = 1; i < p->count; i++) {
        const cute_tree *d = p->strides[p->dims[i].leaf];
        int64_t bits, unit = p->request->interleave == CUTE_MAP_INTERLEAVE_32B ? 2 * LINE : LINE;
        if (d->kind != CUTE_TREE_INT || !d->value.known) continue;
        if (__builtin_mul_overflow(d->value.value, (int64_t)p->bits, &bits) || bits <= 0 || bits % (8 * unit))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expects a stride that is a multiple of %d bytes in mode %u of the tensor, but "
                             "got %" PRId64 " elements of %d bits: \"%s\"",
                             (int)unit, p->dims[i].leaf, d->value.value, p->bits,
                             cute_layout_text(p->w.arena, p->global));
    }
    CUTE_TRY(check_interleave(p));
    if (p->dims[0].extent * p->bits % (8 * LINE))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a multiple of 16 contiguous bytes in the tile, but got %" PRId64
                         " elements of %d bits",
                         p->dims[0].extent, p->bits);
    return CUTE_OK;
}

/* Blocks that share an instruction receive the same box, and each copies a part: the slowest dimensions are
 * divided. */
static cute_status divide_among_blocks(planner *p, cute_tma_map *out)
{
    int64_t left = p->request->multicast;
    for (int i = p->count; i-- > 0 && left > 1;) {
        int64_t extent = out->map.box[i];
        if (extent % left && left % extent) break;
        int64_t more = left > extent ? left / extent : 1;
        out->map.box[i] = extent > left ? (uint32_t)(extent / left) : 1;
        left = more;
    }
    if (left > 1)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects a box that %" PRId64 " blocks can share, but it has %" PRId64 " elements",
                         p->request->multicast, tma_size(out->atom->tma->basis.shape));
    if ((int64_t)out->map.box[0] * p->bits % (8 * LINE))
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects a box that gives each of %" PRId64 " blocks a multiple of 16 bytes",
                         p->request->multicast);
    return CUTE_OK;
}

/* tma_gbasis: dimensions from the fifth on are combined. */
static cute_status set_basis_field(planner *p, atom_fields *f)
{
    const cute_tree *shape[CUTE_MAP_RANK], *stride[CUTE_MAP_RANK];
    for (int i = 0; i < p->count; i++) {
        shape[i] = tma_number(&p->w, p->dims[i].extent);
        stride[i] = p->dims[i].basis;
        if (i == CUTE_MAP_RANK - 1) {
            const cute_tree *shapes[CUTE_MAP_GROUP] = {shape[i]}, *strides[CUTE_MAP_GROUP] = {stride[i]};
            for (int j = 1; j < p->groups; j++) {
                shapes[j] = shape[i];
                strides[j] = p->bases[p->group[j]];
            }
            size_t several = p->groups ? (size_t)p->groups : 1;
            shape[i] = shape[i] ? cute_tree_tuple(p->w.arena, shapes, several) : NULL;
            stride[i] = cute_tree_tuple(p->w.arena, strides, several);
        }
        if (!shape[i] || !stride[i]) return cute_fail_memory(p->w.diag);
    }
    cute_layout layout = {cute_tree_tuple(p->w.arena, shape, (size_t)p->count),
                          cute_tree_tuple(p->w.arena, stride, (size_t)p->count)};
    if (layout.shape && layout.stride) f->basis = cute_layout_text(p->w.arena, layout);
    return f->basis ? CUTE_OK : cute_fail_memory(p->w.diag);
}

/* For each mode of the tensor, the dimension that it counts, or none. */
static const cute_tree *coordinate_strides(planner *p, const cute_tree *shape, uint32_t *leaf)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        const cute_tree **items = cute_arena_array(p->w.arena, shape->count + 1, sizeof *items);
        for (uint32_t i = 0; items && i < shape->count; i++)
            if (!(items[i] = coordinate_strides(p, shape->items[i], leaf))) return NULL;
        return items ? cute_tree_tuple(p->w.arena, items, shape->count) : NULL;
    }
    uint32_t own = (*leaf)++;
    for (int i = 0; i < p->groups; i++) {
        int32_t path = CUTE_MAP_RANK - 1;
        if (p->group[i] == own)
            return tma_basis(&p->w, p->strides[own]->value.value / p->group_stride, &path, 1);
    }
    for (int i = 0; i < p->count; i++) {
        int32_t path = i;
        if (p->dims[i].leaf == own) return tma_basis(&p->w, 1, &path, 1);
    }
    return tma_number(&p->w, 0);
}

static cute_status set_coordinates(planner *p, cute_value *out)
{
    const cute_tree *zeros[CUTE_MAP_RANK], *zero = tma_number(&p->w, 0);
    uint32_t leaf = 0;
    for (int i = 0; i < p->count; i++) zeros[i] = zero;
    *out = (cute_value){.type = CUTE_COORD_TENSOR};
    out->tree = zero ? cute_tree_tuple(p->w.arena, zeros, (size_t)p->count) : NULL;
    out->layout.shape = p->global.shape;
    out->layout.stride = coordinate_strides(p, p->global.shape, &leaf);
    return out->tree && out->layout.stride ? CUTE_OK : cute_fail_memory(p->w.diag);
}

static cute_status choose_format(planner *p, const char **name, cute_tensor_map_type *type)
{
    const cute_pointer *pointer = p->request->tensor->pointer;
    int bits;
    p->bits = pointer->bits;
    if (p->bits && p->bits < 8)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects elements of at least 8 bits, but got %s: view the tensor as i8 "
                         "(cute.recast_iter), TMA unpacks smaller elements only from sm_100 on",
                         pointer->element);
    *name = p->request->format ? p->request->format : cute_tma_format_of(pointer->element);
    if (!*name || !cute_tma_format_find(*name, strlen(*name), type, &bits))
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects elements that a tensor map supports%s%s, but got %s", *name ? ", not " : "",
                         *name ? *name : "", pointer->element);
    if (p->request->fill && (*type < CUTE_MAP_F16 || bits < 16))
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects floats of at least 16 bits to fill with NaN, but got %s", pointer->element);
    if (bits == p->bits) return CUTE_OK;
    return cute_fail(p->w.diag, CUTE_INVALID, NULL, "expects a format of %d bits for %s, but got %s", p->bits,
                     pointer->element, *name);
}

/* Fills the map from the planner and the request. */
static void set_map(planner *p, cute_tensor_map_type type, cute_tensor_map_swizzle swizzle, cute_tma_map *out)
{
    const cute_tma_request *r = p->request;
    out->map = (cute_tensor_map){.size = sizeof out->map,
                                 .type = type,
                                 .rank = p->count,
                                 .interleave = (cute_tensor_map_interleave)r->interleave,
                                 .swizzle = swizzle,
                                 .l2_promotion = (cute_tensor_map_promotion)r->promotion,
                                 .fill = (cute_tensor_map_fill)r->fill};
    for (int i = 0; i < p->count; i++) {
        out->leaf[i] = p->dims[i].leaf;
        out->map.box[i] = (uint32_t)p->dims[i].extent;
        out->map.element_strides[i] = 1;
    }
    out->groups = p->groups;
    out->group_stride = p->group_stride;
    for (int i = 0; i < p->groups; i++) {
        out->leaf[p->count - 1 + i] = p->group[i];
        out->scale[p->count - 1 + i] = p->strides[p->group[i]]->value.value / p->group_stride;
    }
}

/* The atom for a box of `elements`. */
static cute_status set_atom(planner *p, atom_fields *f, int64_t elements, cute_tma_map *out)
{
    const cute_tma_request *r = p->request;
    CUTE_TRY(set_basis_field(p, f));
    f->type[0] = r->tensor->pointer->element;
    f->copy_bits = p->bits * elements;
    if (r->operation == CUTE_TMA_LOAD)
        f->tma_kind = r->kind ? r->kind : r->multicast > 1 ? "sm_90_multicast" : "sm_90";
    if (r->operation == CUTE_TMA_REDUCE) f->tma_reduce = r->reduce ? r->reduce : "ADD";
    return tma_make_atom(p->w.arena, tma_mnemonic(false, r->im2col != NULL, r->operation), f, &out->atom,
                         p->w.diag);
}

/* TMA stores rows narrower than the swizzle's span at the distance of the span, but the tile has no such
 * gaps. */
static cute_status check_rows(planner *p)
{
    int64_t bits = p->dims[0].extent * p->bits;
    if (!p->span || bits == 8 * p->span || p->request->interleave) return CUTE_OK;
    for (int i = 1; i < p->boxed; i++) {
        if (p->dims[i].extent == 1) continue;
        int fits = bits == 8 * 64 ? 2 : bits == 8 * 32 ? 1 : 0;
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects rows of %d bytes, the span of the tile's swizzle, but got %" PRId64
                         " contiguous elements of %d bits; fix: %s",
                         p->span, p->dims[0].extent, p->bits,
                         fits == 2   ? "use S<2,4,3>"
                         : fits == 1 ? "use S<1,4,3>"
                                     : "remove the tile's swizzle");
    }
    return CUTE_OK;
}

static cute_status plan_tiles(planner *p, cute_tma_map *out)
{
    cute_tensor_map_type type;
    cute_tensor_map_swizzle swizzle;
    atom_fields f = {0};
    cute_layout tile, map, order;
    CUTE_TRY(read_tensor(p));
    CUTE_TRY(choose_format(p, &f.tma_format, &type));
    CUTE_TRY(read_swizzle(p, &tile, &swizzle));
    CUTE_TRY(read_map(p, tile, &map));
    CUTE_TRY(tile_order(p, tile, map, &order));
    CUTE_TRY(add_box(p, order));
    if (!p->count)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects contiguous elements of the tile to be adjacent in one mode of the "
                         "tensor, but the tile's order is \"%s\"",
                         cute_layout_text(p->w.arena, order));
    CUTE_TRY(check_rows(p));
    CUTE_TRY(add_rest(p));
    CUTE_TRY(check_strides(p));
    int64_t elements = 1;
    for (int i = 0; i < p->count; i++) elements *= p->dims[i].extent;
    CUTE_TRY(set_atom(p, &f, elements, out));
    set_map(p, type, swizzle, out);
    CUTE_TRY(divide_among_blocks(p, out));
    return set_coordinates(p, &out->coordinates);
}

/* ---- im2col: consecutive pixels of a box, with some channels each ---- */

static cute_status check_range(planner *p, const char *what, int mode, int64_t value, int64_t least,
                               int64_t most)
{
    static const char *const names[] = {"width", "height", "depth"};
    if (value >= least && value <= most) return CUTE_OK;
    return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                     "expects %s from %" PRId64 " to %" PRId64
                     " along the %s of a tensor of %d modes, but got %" PRId64,
                     what, least, most, names[mode], p->count, value);
}

/* Limits of the driver and the instruction, which have fewer bits for more dimensions. */
static cute_status check_im2col(planner *p)
{
    static const int64_t half[] = {INT64_C(1) << 15, INT64_C(1) << 7, INT64_C(1) << 4};
    const cute_tma_im2col *w = p->request->im2col;
    int spatial = p->count - 2;
    int64_t corner = half[spatial - 1], reach;
    for (int i = 0; i < spatial; i++) {
        CUTE_TRY(check_range(p, "a lower corner", i, w->lower[i], -corner, corner - 1));
        CUTE_TRY(check_range(p, "an upper corner", i, w->upper[i], -corner, corner - 1));
        CUTE_TRY(check_range(p, "a stride", i, w->stride[i], 1, 8));
        CUTE_TRY(check_range(p, "positions of the filter", i, w->filter[i], 1, 2 * corner));
        CUTE_TRY(check_range(p, "a dilation", i, w->dilation[i], 1, 2 * corner));
        reach = (w->filter[i] - 1) * w->dilation[i];
        CUTE_TRY(check_range(p, "offsets of the filter", i, reach, 0, 2 * corner - 1));
    }
    if (p->request->interleave)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL, "expects an im2col copy without an interleave");
    return CUTE_OK;
}

/* The dimensions are the tensor's modes, channels first. */
static cute_status read_pixels(planner *p)
{
    CUTE_TRY(read_tensor(p));
    bool flat = p->global.shape->kind == CUTE_TREE_TUPLE && p->leaf_count == p->global.shape->count;
    if (!flat || p->leaf_count < 3 || p->leaf_count > CUTE_MAP_RANK)
        return cute_fail(
            p->w.diag, CUTE_INVALID, NULL,
            "expects a tensor of the modes (channels, width, batch), (channels, width, height, batch) or "
            "(channels, width, height, depth, batch), but got \"%s\"",
            cute_layout_text(p->w.arena, p->global));
    for (size_t i = 0; i < p->leaf_count; i++)
        p->dims[p->count++] = (box_dimension){1, p->bases[i], (uint32_t)i};
    return CUTE_OK;
}

/* The part of the tile, whose modes are pixels and channels, that an instruction copies: some channels of all
 * pixels. */
static cute_status add_column(planner *p, cute_layout tile, int64_t *channels, int64_t *pixels)
{
    enum { COLUMN = 1024 };
    cute_diag *diag = p->w.diag;
    cute_layout inverse, modes, order;
    const cute_tree *shape[2], *stride[2];
    if (!cute_tree_is_static(tile.shape) || !cute_tree_is_static(tile.stride) || tma_rank(tile.shape) != 2 ||
        tile.shape->kind != CUTE_TREE_TUPLE)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a tile of (pixels, channels) whose layout is known, but got \"%s\"",
                         cute_layout_text(p->w.arena, tile));
    for (int32_t i = 0; i < 2; i++) {
        shape[i] = tma_number(&p->w, tma_size(tma_mode(tile.shape, (uint32_t)i)));
        stride[i] = tma_basis(&p->w, 1, &i, 1);
    }
    modes = (cute_layout){tma_pair(&p->w, shape[0], shape[1]), tma_pair(&p->w, stride[0], stride[1])};
    if (!modes.shape || !modes.stride) return cute_fail_memory(diag);
    CUTE_TRY(tma_unary(&p->w, CUTE_OP_RIGHT_INVERSE, tile, &inverse));
    CUTE_TRY(tma_compose(&p->w, modes, inverse, &order));
    CUTE_TRY(tma_unary(&p->w, CUTE_OP_COALESCE, order, &order));
    *pixels = shape[0]->value.value;
    int64_t most = p->span ? p->span * 8 / p->bits : BOX, all = shape[1]->value.value;
    const cute_tree *first = tma_mode(order.stride, 0),
                    *second = tma_rank(order.stride) > 1 ? tma_mode(order.stride, 1) : NULL;
    const cute_tree *extent = tma_mode(order.shape, 0), *column = second ? tma_mode(order.shape, 1) : NULL;
    bool good = first->kind == CUTE_TREE_BASIS && first->path[0] == 1 && first->value.value == 1 &&
                extent->kind == CUTE_TREE_INT;
    *channels = good ? divisor_below(extent->value.value, most) : 0;
    /* The next pixel starts after the channels of the previous one. */
    good = good && (*pixels == 1 ||
                    (*channels == extent->value.value && second && second->kind == CUTE_TREE_BASIS &&
                     second->path[0] == 0 && second->value.value == 1 && column->value.value == *pixels));
    if (!good)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a tile of (pixels, channels) with at most %" PRId64
                         " contiguous channels of a pixel, followed by those of the next pixel, for example "
                         "\"(%" PRId64 ",%" PRId64 "):(%" PRId64 ",1)\", but got \"%s\"",
                         most, *pixels, all < most ? all : most, all < most ? all : most,
                         cute_layout_text(p->w.arena, tile));
    if (*pixels > COLUMN)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects at most %d pixels in a tile, but got %" PRId64,
                         COLUMN, *pixels);
    if (p->span && *pixels > 1 && *channels * p->bits != 8 * p->span)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects %d bytes of a pixel, the span of the swizzle, but got %" PRId64
                         " elements of %d bits",
                         p->span, *channels, p->bits);
    return CUTE_OK;
}

/* The number of pixels of the box at which an instruction can start along a mode: unknown if the tensor's
 * extent is. */
static const cute_tree *pixel_positions(planner *p, int i)
{
    const cute_tma_im2col *w = p->request->im2col;
    const cute_tree *extent = p->shapes[1 + i];
    int64_t room;
    if (extent->kind != CUTE_TREE_INT || !extent->value.known) return cute_tree_unknown(p->w.arena, 32, NULL);
    room = extent->value.value + w->upper[i] - w->lower[i];
    if (room < 1) {
        cute_fail(p->w.diag, CUTE_INVALID, NULL,
                  "expects corners that leave some of the %" PRId64 " pixels along mode %d, but got %" PRId64
                  " and %" PRId64,
                  extent->value.value, 1 + i, w->lower[i], w->upper[i]);
        return NULL;
    }
    return tma_number(&p->w, (room + w->stride[i] - 1) / w->stride[i]);
}

/* ((width, height, depth, batch), (channels, filter's...)), starting at the first pixel of the box. */
static cute_status set_pixel_coordinates(planner *p, cute_value *out)
{
    enum { MOST = CUTE_TMA_COORDINATES };
    const cute_tma_im2col *w = p->request->im2col;
    int spatial = p->count - 2, offsets = p->request->operation == CUTE_TMA_LOAD ? spatial : 0;
    const cute_tree *first[MOST], *shape[2][CUTE_MAP_RANK], *stride[2][CUTE_MAP_RANK];
    const cute_tree *shapes[2], *strides[2];
    for (int32_t i = 0; i < p->count + offsets; i++) {
        bool pixel = i > 0 && i <= spatial;
        first[i] = tma_number(&p->w, pixel ? w->lower[i - 1] : 0);
        if (!first[i]) return cute_fail_memory(p->w.diag);
        if (i > spatial && i < p->count) { /* batch */
            shape[0][i - 1] = p->shapes[i];
            stride[0][i - 1] = tma_basis(&p->w, 1, &i, 1);
        } else if (pixel) {
            shape[0][i - 1] = pixel_positions(p, i - 1);
            stride[0][i - 1] = tma_basis(&p->w, w->stride[i - 1], &i, 1);
            if (!shape[0][i - 1]) return CUTE_INVALID;
        } else { /* channels, and the filter's offsets */
            int at = i ? i - p->count : -1;
            shape[1][at + 1] = i ? tma_number(&p->w, w->filter[at]) : p->shapes[0];
            stride[1][at + 1] = tma_basis(&p->w, i ? w->dilation[at] : 1, &i, 1);
        }
    }
    for (int i = 0; i < 2; i++) {
        size_t count = i ? 1 + (size_t)offsets : (size_t)p->count - 1;
        bool single = i && !offsets;
        shapes[i] = single ? shape[1][0] : cute_tree_tuple(p->w.arena, shape[i], count);
        strides[i] = single ? stride[1][0] : cute_tree_tuple(p->w.arena, stride[i], count);
    }
    *out = (cute_value){
        .type = CUTE_COORD_TENSOR,
        .tree = cute_tree_tuple(p->w.arena, first, (size_t)(p->count + offsets)),
        .layout = {tma_pair(&p->w, shapes[0], shapes[1]), tma_pair(&p->w, strides[0], strides[1])}};
    return out->tree && out->layout.shape && out->layout.stride ? CUTE_OK : cute_fail_memory(p->w.diag);
}

static cute_status plan_im2col(planner *p, cute_tma_map *out)
{
    const cute_tma_request *r = p->request;
    cute_tensor_map_type type;
    cute_tensor_map_swizzle swizzle;
    atom_fields f = {0};
    cute_layout tile;
    int64_t channels = 0, pixels = 0;
    CUTE_TRY(read_pixels(p));
    CUTE_TRY(check_im2col(p));
    CUTE_TRY(choose_format(p, &f.tma_format, &type));
    CUTE_TRY(read_swizzle(p, &tile, &swizzle));
    CUTE_TRY(add_column(p, tile, &channels, &pixels));
    p->dims[0].extent = channels;
    CUTE_TRY(check_strides(p));
    /* In the atom, the first two dimensions count channels and pixels. */
    p->dims[1].extent = pixels;
    CUTE_TRY(set_atom(p, &f, channels * pixels, out));
    p->dims[1].extent = 1;
    set_map(p, type, swizzle, out);
    if (pixels % r->multicast)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects pixels that %" PRId64 " blocks can share, but the tile has %" PRId64,
                         r->multicast, pixels);
    out->map.im2col = true;
    out->map.box[1] = (uint32_t)(pixels / r->multicast);
    for (int i = 0; i < p->count - 2; i++) {
        out->map.lower[i] = (int32_t)r->im2col->lower[i];
        out->map.upper[i] = (int32_t)r->im2col->upper[i];
        out->map.element_strides[1 + i] = (uint32_t)r->im2col->stride[i];
    }
    return set_pixel_coordinates(p, &out->coordinates);
}

cute_status cute_tma_plan(cute_arena *arena, const cute_tma_request *request, cute_tma_map *out,
                          cute_diag *diag)
{
    planner *p = cute_arena_alloc(arena, sizeof *p);
    if (!p) return cute_fail_memory(diag);
    *p = (planner){.w = {arena, NULL, diag}, .request = request};
    *out = (cute_tma_map){0};
    return request->im2col ? plan_im2col(p, out) : plan_tiles(p, out);
}
