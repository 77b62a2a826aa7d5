/* The formulas of tiled copies and MMAs. */
#include "lib/atoms/tiling.h"

/* ---- helpers ---- */

static cute_node known_number(cute_algebra *a, int64_t value)
{
    return alg_number(a, value);
}

static cute_layout compact_layout(cute_algebra *a, cute_node shape)
{
    return (cute_layout){shape, shape ? alg_compact(a, shape, known_number(a, 1)) : NULL};
}

static cute_layout pair_of(cute_algebra *a, cute_layout x, cute_layout y)
{
    if (!alg_ok(x) || !alg_ok(y)) return alg_no_layout;
    return (cute_layout){alg_pair(a, x.shape, y.shape), alg_pair(a, x.stride, y.stride)};
}

static cute_node layout_pair(cute_algebra *a, cute_layout x, cute_layout y)
{
    return alg_ok(x) && alg_ok(y) ? alg_pair(a, alg_layout_leaf(a, x), alg_layout_leaf(a, y)) : NULL;
}

static cute_layout mode_of(cute_layout layout, size_t i)
{
    return alg_ok(layout) ? alg_layout_mode(layout, i) : alg_no_layout;
}

static cute_node size_of(cute_algebra *a, cute_layout layout)
{
    return alg_ok(layout) ? alg_product(a, layout.shape) : NULL;
}

/* Mode j of mode i. */
static cute_layout nested_mode(cute_layout layout, size_t i, size_t j)
{
    return mode_of(mode_of(layout, i), j);
}

static void push_modes(cute_algebra *a, alg_layouts *list, cute_layout layout)
{
    if (!alg_ok(layout)) {
        list->shapes.failed = true;
        return;
    }
    for (size_t i = 0; i < alg_rank(layout.shape); i++) alg_push_layout(a, list, alg_layout_mode(layout, i));
}

/* Transposes a layout of two modes of two modes each: ((A,B),(C,D)) to ((A,C),(B,D)). */
static cute_layout transpose_modes(cute_algebra *a, cute_layout l)
{
    return pair_of(a, pair_of(a, nested_mode(l, 0, 0), nested_mode(l, 1, 0)),
                   pair_of(a, nested_mode(l, 0, 1), nested_mode(l, 1, 1)));
}

/* Composes mode 0 with `tiler` and keeps the others. */
static cute_layout compose_first(cute_algebra *a, cute_layout layout, cute_layout tiler)
{
    if (!alg_ok(layout) || !alg_ok(tiler)) return alg_no_layout;
    alg_layouts list = {0};
    cute_layout first = alg_compose(a, alg_layout_mode(layout, 0), tiler);
    if (!alg_ok(first)) return alg_no_layout;
    alg_push_layout(a, &list, first);
    for (size_t i = 1; i < alg_rank(layout.shape); i++) alg_push_layout(a, &list, alg_layout_mode(layout, i));
    return alg_layouts_tuple(a, &list);
}

/* The layout with stride 0 for extents of 1: in CuTe C++ the complement of a mode that a tile covers entirely
 * has stride 0. */
static cute_node zero_unit_strides(cute_algebra *a, cute_node shape, cute_node stride)
{
    if (!alg_is_leaf(shape)) {
        alg_list list = {0};
        for (uint32_t i = 0; i < shape->count; i++)
            alg_push(a, &list, zero_unit_strides(a, shape->items[i], stride->items[i]));
        return alg_tuple(a, &list);
    }
    return alg_is(shape, 1) ? known_number(a, 0) : stride;
}

/* alg_divide_tile; keeps modes beyond those of the tile. */
static cute_layout divide_leading_modes(cute_algebra *a, cute_layout layout, cute_node tile, bool zip)
{
    cute_layout result = tile ? alg_divide_tile(a, layout, tile, zip) : alg_no_layout;
    if (!alg_ok(result)) return alg_no_layout;
    if (alg_is_leaf(tile))
        return (cute_layout){result.shape, zero_unit_strides(a, result.shape, result.stride)};
    cute_layout rests = zip ? alg_layout_mode(result, 1) : result;
    alg_list strides = {0};
    for (size_t i = 0; i < alg_rank(rests.shape); i++) {
        cute_node stride = alg_mode(rests.stride, i);
        alg_push(a, &strides,
                 i < tile->count ? zero_unit_strides(a, alg_mode(rests.shape, i), stride) : stride);
    }
    rests.stride = alg_tuple(a, &strides);
    if (!zip || !rests.stride) return rests.stride ? rests : alg_no_layout;
    cute_layout tiles = alg_layout_mode(result, 0);
    tiles.stride = zero_unit_strides(a, tiles.shape, tiles.stride);
    return pair_of(a, tiles, rests);
}

static bool refuse_rank(cute_algebra *a, cute_layout layout, size_t needed)
{
    if (!alg_ok(layout)) return true; /* the failure has been reported */
    if (alg_rank(layout.shape) >= needed) return false;
    alg_fail(a, "expects a tensor of rank %zu or more, but got %s", needed, alg_layout_text(a, layout));
    return true;
}

/* ---- tiled copies ---- */

static bool check_count(cute_algebra *a, cute_node tiled, cute_node atom, const char *what)
{
    if (!tiled || !atom) return false;
    if (alg_is_known(tiled) && alg_is_known(atom) && tiled->value.value % atom->value.value == 0) return true;
    alg_fail(a, "the atom takes %s %s, but the thread-value layout has %s, which is not a multiple",
             alg_text(a, atom), what, alg_text(a, tiled));
    return false;
}

/* (thread of the tiled copy, value) -> element of the tile, in the order of the atom's source or
 * destination. */
static cute_layout copy_threads_values(cute_algebra *a, const cute_value *copy, int which)
{
    const cute_atom_operand *named = &copy->atom->operand[CUTE_ATOM_REFERENCE];
    cute_layout wanted = copy->atom->operand[which].layout;
    cute_node threads = size_of(a, mode_of(named->layout, 0)), values = size_of(a, mode_of(named->layout, 1));
    if (!check_count(a, size_of(a, mode_of(copy->layout, 0)), threads, "threads") ||
        !check_count(a, size_of(a, mode_of(copy->layout, 1)), values, "values"))
        return alg_no_layout;
    cute_node atom = layout_pair(a, compact_layout(a, threads), compact_layout(a, values));
    cute_layout parts = divide_leading_modes(a, copy->layout, atom, true);
    cute_layout to_wanted = alg_compose(a, alg_right_inverse(a, named->layout), wanted);
    cute_layout zipped = transpose_modes(a, compose_first(a, parts, to_wanted));
    cute_node one = known_number(a, 1), profile = alg_pair(a, one, alg_pair(a, one, one));
    return alg_ok(zipped) && profile ? alg_coalesce_profile(a, zipped, profile) : alg_no_layout;
}

atom_partition atom_copy_partition(cute_algebra *a, const cute_value *copy, int which, cute_layout layout)
{
    atom_partition p = {alg_no_layout, 1};
    if (refuse_rank(a, layout, alg_rank(copy->tree))) return p;
    cute_layout tiled = divide_leading_modes(a, layout, copy->tree, true);
    cute_layout parts = compose_first(a, tiled, copy_threads_values(a, copy, which));
    alg_layouts list = {0};
    push_modes(a, &list, mode_of(parts, 0));
    push_modes(a, &list, mode_of(parts, 1));
    p.layout = alg_layouts_tuple(a, &list);
    return p;
}

/* The shapes of a tiler's layouts. */
static cute_node tiler_shape(cute_algebra *a, cute_node tiler)
{
    if (tiler->kind == CUTE_TREE_LAYOUT) return tiler->layout.shape;
    if (alg_is_leaf(tiler)) return alg_fail(a, "expects a tiler without '_', but got %s", alg_text(a, tiler));
    alg_list list = {0};
    for (uint32_t i = 0; i < tiler->count; i++) alg_push(a, &list, tiler_shape(a, tiler->items[i]));
    return alg_tuple(a, &list);
}

static cute_node product_each(cute_algebra *a, cute_node shape)
{
    alg_list list = {0};
    for (size_t i = 0; shape && i < alg_rank(shape); i++)
        alg_push(a, &list, alg_product(a, alg_mode(shape, i)));
    return alg_tuple(a, &list);
}

cute_layout atom_copy_retile(cute_algebra *a, const cute_value *copy, cute_layout fragment)
{
    if (refuse_rank(a, fragment, alg_rank(copy->tree) + 1)) return alg_no_layout;
    cute_node v = size_of(a, mode_of(fragment, 0)), shape = tiler_shape(a, copy->tree);
    cute_node threads = size_of(a, mode_of(copy->layout, 0));
    cute_node values = size_of(a, mode_of(copy->atom->operand[CUTE_ATOM_REFERENCE].layout, 1));
    cute_node skipped = v && threads ? alg_mul(a, threads, v) : NULL;
    if (!shape || !skipped || !values) return alg_no_layout;
    if (!alg_is_known(skipped)) {
        alg_fail(a, "expects values of a known number, but got %s", alg_layout_text(a, fragment));
        return alg_no_layout;
    }
    /* (m,n) -> values after the first v: their shape and order in the thread-value layout. */
    cute_layout inverse = alg_compose(a, alg_right_inverse(a, copy->layout), compact_layout(a, shape));
    cute_layout frag_mn = alg_ok(inverse) ? alg_upcast(a, skipped->value.value, inverse) : alg_no_layout;
    if (!alg_ok(frag_mn)) return alg_no_layout;
    cute_layout both = alg_product_of(a, compact_layout(a, v), alg_right_inverse(a, frag_mn));
    /* (atom values, other values) -> (v,m,n) */
    cute_layout frag_v = divide_leading_modes(a, both, alg_layout_leaf(a, compact_layout(a, values)), false);
    alg_list tile = {0};
    cute_node each = product_each(a, frag_mn.shape);
    alg_push(a, &tile, v);
    if (each) alg_push_modes(a, &tile, each);
    cute_node tiler = alg_tuple(a, &tile);
    if (!each || !tiler) return alg_no_layout;
    cute_layout tiled = divide_leading_modes(a, fragment, alg_shape_to_tile(a, tiler), true);
    cute_layout parts = compose_first(a, tiled, frag_v);
    cute_layout rest = mode_of(parts, 1);
    alg_layouts list = {0};
    if (!alg_ok(rest)) return alg_no_layout;
    alg_push_layout(a, &list, alg_layout_mode(parts, 0));
    for (size_t i = 1; i < alg_rank(rest.shape); i++) alg_push_layout(a, &list, alg_layout_mode(rest, i));
    return alg_layouts_tuple(a, &list);
}

cute_layout atom_copy_layout(cute_algebra *a, const cute_value *copy, int which)
{
    return copy_threads_values(a, copy, which);
}

/* ---- tiled MMAs ---- */

/* The modes among M, N, K of each operand. */
static const int operand_modes[CUTE_ATOM_OPERANDS][2] = {{0, 2}, {1, 2}, {0, 1}};

/* (ThrV,ThrM,ThrN,ThrK) -> thread. */
static cute_layout atom_mma_threads(cute_algebra *a, const cute_value *mma)
{
    cute_layout both = alg_product_of(a, mma->atom->threads, mma->layout);
    alg_layouts list = {0};
    if (!alg_ok(both)) return alg_no_layout;
    alg_push_layout(a, &list, alg_layout_mode(both, 0));
    push_modes(a, &list, alg_layout_mode(both, 1));
    return alg_layouts_tuple(a, &list);
}

/* The permutation of a mode as a tiler; by default the elements covered by all atoms. */
static cute_node permutation_tiler(cute_algebra *a, const cute_value *mma, int mode)
{
    if (mma->tree && mma->tree->items[mode]->kind != CUTE_TREE_UNDERSCORE) return mma->tree->items[mode];
    cute_node atoms = size_of(a, mode_of(mma->layout, (size_t)mode));
    cute_node size = atoms ? alg_mul(a, atoms, known_number(a, mma->atom->shape[mode])) : NULL;
    return size ? alg_layout_leaf(a, compact_layout(a, size)) : NULL;
}

cute_node atom_mma_tile(cute_algebra *a, const cute_value *mma, int mode)
{
    cute_node tile = permutation_tiler(a, mma, mode);
    return tile ? alg_product(a, tile->layout.shape) : NULL;
}

atom_partition atom_mma_partition(cute_algebra *a, const cute_value *mma, int which, cute_layout layout)
{
    const int *modes = operand_modes[which];
    const int *shape = mma->atom->shape;
    atom_partition p = {alg_no_layout, 3};
    if (refuse_rank(a, layout, 2)) return p;
    cute_node first = permutation_tiler(a, mma, modes[0]), second = permutation_tiler(a, mma, modes[1]);
    cute_node tile = first && second ? alg_pair(a, first, second) : NULL;
    if (!tile) return p;
    cute_layout permuted = divide_leading_modes(a, layout, tile, false);
    cute_node atom = layout_pair(a, compact_layout(a, known_number(a, shape[modes[0]])),
                                 compact_layout(a, known_number(a, shape[modes[1]])));
    /* ((AtomM,AtomN),(RestM,RestN,...)), then ((ThrV,FrgV),(RestM,RestN,...)). */
    cute_layout atoms = alg_ok(permuted) ? divide_leading_modes(a, permuted, atom, true) : alg_no_layout;
    cute_layout values = compose_first(a, atoms, mma->atom->operand[which].layout);
    cute_layout threads = atom_mma_threads(a, mma);
    cute_node m = size_of(a, mode_of(threads, 1 + (size_t)modes[0]));
    cute_node n = size_of(a, mode_of(threads, 1 + (size_t)modes[1]));
    if (!alg_ok(values) || !m || !n) return p;
    /* ((ThrM,ThrN),(RestM,RestN,...)) */
    cute_layout rest = divide_leading_modes(a, alg_layout_mode(values, 1),
                                            layout_pair(a, compact_layout(a, m), compact_layout(a, n)), true);
    alg_layouts list = {0};
    alg_push_layout(a, &list, nested_mode(values, 0, 0));
    push_modes(a, &list, mode_of(rest, 0));
    alg_push_layout(a, &list, nested_mode(values, 0, 1));
    push_modes(a, &list, mode_of(rest, 1));
    p.layout = alg_layouts_tuple(a, &list);
    return p;
}

/* idx2crd with strides: (i / d) % s for each leaf, as one number per mode. */
static cute_node coordinate_in(cute_algebra *a, cute_node index, cute_layout mode)
{
    cute_node shape = alg_flatten_to_tuple(a, mode.shape), stride = alg_flatten_to_tuple(a, mode.stride);
    if (!shape || !stride) return NULL;
    cute_node sum = known_number(a, 0), step = known_number(a, 1);
    for (uint32_t i = 0; sum && step && i < shape->count; i++) {
        if (alg_is(shape->items[i], 1)) continue;
        cute_node part = alg_op(a, CUTE_DIV, index, stride->items[i]);
        part = part ? alg_op(a, CUTE_REM, part, shape->items[i]) : NULL;
        part = part ? alg_op(a, CUTE_MUL, part, step) : NULL;
        sum = part ? alg_op(a, CUTE_ADD, sum, part) : NULL;
        step = alg_op(a, CUTE_MUL, step, shape->items[i]);
    }
    return sum;
}

bool atom_mma_coordinate(cute_algebra *a, const cute_value *mma, int which, cute_node thread,
                         cute_node out[3])
{
    const int *modes = operand_modes[which];
    cute_layout threads = atom_mma_threads(a, mma);
    size_t of[3] = {0, 1 + (size_t)modes[0], 1 + (size_t)modes[1]};
    for (int i = 0; i < 3; i++)
        if (!alg_ok(threads) || !(out[i] = coordinate_in(a, thread, alg_layout_mode(threads, of[i]))))
            return false;
    return true;
}

/* Threads repeat over a mode that their layout omits: (ThrV,(ThrM,ThrK)) to (ThrV,(ThrM,ThrN,ThrK)). */
cute_layout atom_mma_layout(cute_algebra *a, const cute_value *mma, int which)
{
    const int *modes = operand_modes[which];
    cute_node first = atom_mma_tile(a, mma, modes[0]), second = atom_mma_tile(a, mma, modes[1]);
    cute_layout threads = atom_mma_threads(a, mma);
    if (!first || !second || !alg_ok(threads)) return alg_no_layout;
    atom_partition p = atom_mma_partition(a, mma, which, compact_layout(a, alg_pair(a, first, second)));
    if (!alg_ok(p.layout)) return alg_no_layout;
    /* The threads in the order (V,M,N,K); the mode that the operand lacks has stride 0. */
    alg_layouts vmnk = {0}, frag = {0};
    alg_push_layout(a, &vmnk, alg_layout_mode(p.layout, 0));
    for (int mode = 0, next = 1; mode < 3; mode++) {
        bool has = mode == modes[0] || mode == modes[1];
        cute_node extent = size_of(a, mode_of(threads, 1 + (size_t)mode));
        alg_push_layout(a, &vmnk,
                        has ? alg_layout_mode(p.layout, (size_t)next++)
                            : (cute_layout){extent, known_number(a, 0)});
    }
    alg_push_layout(a, &frag, alg_layout_mode(p.layout, 3));
    alg_layouts rest = {0};
    for (size_t i = 4; i < alg_rank(p.layout.shape); i++)
        alg_push_layout(a, &rest, alg_layout_mode(p.layout, i));
    alg_push_layout(a, &frag, alg_layouts_tuple(a, &rest));
    /* thread -> (V,M,N,K) */
    cute_layout gaps = alg_complement(a, threads);
    cute_layout inverse = alg_right_inverse(a, pair_of(a, threads, gaps));
    cute_node size = size_of(a, threads), one = known_number(a, 1);
    cute_layout index = size && one
                            ? (cute_layout){alg_pair(a, size, one), alg_pair(a, one, known_number(a, 0))}
                            : alg_no_layout;
    cute_layout to_vmnk = alg_ok(inverse) && alg_ok(index) ? alg_compose(a, index, inverse) : alg_no_layout;
    cute_layout tv = alg_ok(to_vmnk) ? alg_compose(a, alg_layouts_tuple(a, &vmnk), to_vmnk) : alg_no_layout;
    return pair_of(a, tv, alg_layouts_tuple(a, &frag));
}
