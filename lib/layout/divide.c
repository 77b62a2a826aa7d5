/* Divides and products: a tile and its repetition, as two modes, in the arrangements that kernels use. */
#include "lib/layout/layouts.h"

static cute_layout pair_layouts(cute_algebra *a, cute_layout first, cute_layout second)
{
    alg_layouts list = {0};
    alg_push_layout(a, &list, first);
    alg_push_layout(a, &list, second);
    return alg_layouts_tuple(a, &list);
}

/* The stride of a single tile is arbitrary: tensors of CuTe DSL have 0, the public dialect's layouts the
 * stride of a second tile. */
static cute_node without_ones(cute_algebra *a, cute_node shape, cute_node stride)
{
    if (!shape || !stride) return NULL;
    if (alg_is_leaf(shape)) return alg_is(shape, 1) ? alg_number(a, 0) : stride;
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count && !list.failed; i++)
        alg_push(a, &list, without_ones(a, shape->items[i], stride->items[i]));
    return alg_tuple(a, &list);
}

static cute_layout normalize_tiled(cute_algebra *a, cute_layout tiled)
{
    if (!alg_ok(tiled) || !a->dsl) return tiled;
    cute_layout rest = alg_layout_mode(tiled, 1);
    rest.stride = without_ones(a, rest.shape, rest.stride);
    return pair_layouts(a, alg_layout_mode(tiled, 0), rest);
}

/* Tiles may extend beyond the layout. The strides of trailing modes of extent 1 are arbitrary; if they make
 * the composition invalid, the mode before them is extended. */
cute_layout alg_divide(cute_algebra *a, cute_layout layout, cute_layout tiler)
{
    if (!alg_ok(layout) || !alg_ok(tiler)) return alg_no_layout;
    cute_layout whole = alg_coalesce_profile(a, layout, alg_coprofile(a, tiler));
    if (!alg_ok(whole)) return alg_no_layout;
    cute_layout parts = pair_layouts(a, tiler, alg_complement_extend(a, tiler, whole.shape));
    if (!alg_ok(parts) || !alg_all_known(layout)) return normalize_tiled(a, alg_compose(a, layout, parts));
    cute_layout certain = alg_compose_certain(a, layout, parts);
    return normalize_tiled(a, alg_ok(certain) ? certain : alg_compose(a, whole, parts));
}

cute_layout alg_divide_tile(cute_algebra *a, cute_layout layout, cute_node tile, bool zip)
{
    if (!alg_ok(layout) || !tile) return alg_no_layout;
    if (tile->kind == CUTE_TREE_UNDERSCORE) return layout;
    if (tile->kind == CUTE_TREE_LAYOUT) return alg_divide(a, layout, tile->layout);
    size_t rank = alg_rank(layout.shape);
    if (tile->count > rank) {
        alg_fail(a, "expects rank(tiler) <= rank(input), but got rank %u tiler and rank %zu input",
                 tile->count, rank);
        return alg_no_layout;
    }
    alg_layouts modes = {0}, tiles = {0}, rests = {0};
    for (size_t i = 0; i < rank; i++) {
        cute_layout mode = alg_layout_mode(layout, i);
        if (i < tile->count) mode = alg_divide_tile(a, mode, tile->items[i], zip);
        if (!alg_ok(mode)) return alg_no_layout;
        if (!zip) {
            alg_push_layout(a, &modes, mode);
        } else if (i >= tile->count) {
            alg_push_layout(a, &rests, mode);
        } else if (alg_rank(mode.shape) == 2) {
            alg_push_layout(a, &tiles, alg_layout_mode(mode, 0));
            alg_push_layout(a, &rests, alg_layout_mode(mode, 1));
        } else {
            alg_fail(a, "mode %zu of the tiler does not divide %s: there is no tile and rest to zip", i,
                     alg_layout_text(a, mode));
            return alg_no_layout;
        }
    }
    if (!zip) return alg_layouts_tuple(a, &modes);
    return pair_layouts(a, alg_layouts_tuple(a, &tiles), alg_layouts_tuple(a, &rests));
}

cute_layout alg_product_of(cute_algebra *a, cute_layout layout, cute_layout tiler)
{
    if (!alg_ok(layout) || !alg_ok(tiler)) return alg_no_layout;
    return pair_layouts(a, layout, alg_compose(a, alg_complement(a, layout), tiler));
}

/* ((A0,A1,..), (B0,B1,..)) to ((A0,B0), (A1,B1), ..). A leaf is replaced by one mode of any rank. */
static cute_node zip_pair(cute_algebra *a, cute_node x, bool x_whole, cute_node y, bool y_whole, size_t rank)
{
    alg_list list = {0};
    if (!x || !y) return NULL;
    for (size_t i = 0; i < rank; i++)
        alg_push(a, &list, alg_pair(a, x_whole ? x : alg_mode(x, i), y_whole ? y : alg_mode(y, i)));
    return alg_tuple(a, &list);
}

static cute_layout pad_to_rank(cute_algebra *a, cute_layout layout, size_t rank)
{
    return (cute_layout){alg_append_to_rank(a, layout.shape, rank, alg_number(a, 1)),
                         alg_append_to_rank(a, layout.stride, rank, alg_number(a, 0))};
}

cute_layout alg_blocked(cute_algebra *a, cute_layout layout, cute_layout tiler, bool raked)
{
    if (!alg_ok(layout) || !alg_ok(tiler)) return alg_no_layout;
    size_t x = alg_rank(layout.shape), y = alg_rank(tiler.shape), rank = x > y ? x : y;
    layout = pad_to_rank(a, layout, rank);
    tiler = pad_to_rank(a, tiler, rank);
    cute_layout product = alg_product_of(a, layout, tiler);
    if (!alg_ok(product)) return alg_no_layout;
    bool whole[] = {alg_is_leaf(layout.shape), alg_is_leaf(tiler.shape)};
    size_t first = raked ? 1 : 0, second = raked ? 0 : 1;
    cute_node shape = product.shape, stride = product.stride;
    cute_layout zipped = {
        zip_pair(a, shape->items[first], whole[first], shape->items[second], whole[second], rank),
        zip_pair(a, stride->items[first], whole[first], stride->items[second], whole[second], rank)};
    if (!raked || !alg_ok(zipped)) return zipped;
    alg_list ones = {0};
    for (size_t i = 0; i < rank; i++) alg_push(a, &ones, alg_number(a, 1));
    return alg_coalesce_profile(a, zipped, alg_tuple(a, &ones));
}

static void push_half(cute_algebra *a, alg_layouts *list, cute_layout half, bool open)
{
    if (!open || alg_is_leaf(half.shape)) {
        alg_push_layout(a, list, half);
        return;
    }
    for (size_t i = 0; i < alg_rank(half.shape); i++) alg_push_layout(a, list, alg_layout_mode(half, i));
}

cute_layout alg_unzip(cute_algebra *a, cute_layout layout, bool both)
{
    if (!alg_ok(layout)) return alg_no_layout;
    if (alg_is_leaf(layout.shape) || layout.shape->count != 2) {
        alg_fail(a, "expects a tile and a rest, but got %s", alg_layout_text(a, layout));
        return alg_no_layout;
    }
    alg_layouts list = {0};
    push_half(a, &list, alg_layout_mode(layout, 0), both);
    push_half(a, &list, alg_layout_mode(layout, 1), true);
    return alg_layouts_tuple(a, &list);
}

static cute_node product_each(cute_algebra *a, cute_node t)
{
    alg_list list = {0};
    if (!t) return NULL;
    for (size_t i = 0; i < alg_rank(t); i++) alg_push(a, &list, alg_product(a, alg_mode(t, i)));
    return alg_tuple(a, &list);
}

cute_layout alg_tile_to_shape(cute_algebra *a, cute_layout block, cute_node shape, cute_node order)
{
    if (!alg_ok(block) || !shape || !order) return alg_no_layout;
    size_t rank = alg_rank(shape);
    cute_layout padded = pad_to_rank(a, block, rank);
    cute_node block_shape = product_each(a, padded.shape), target = product_each(a, shape);
    cute_node repeats = alg_ceil_div(a, target, block_shape);
    cute_layout tiler = {repeats, alg_compact_order(a, repeats, order)};
    return alg_blocked(a, padded, tiler, false);
}
