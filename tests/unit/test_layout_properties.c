/* Properties of the algebra of layouts with integer strides, by brute force over the index space. */
#include "tests/unit/test_layout_random.h"

/* ---- composition ---- */

static long compositions, refused;

/* A(B(c)) as a layout of B's profile: each leaf of B is cut where it stops to be straight. False if there is
 * none. Written from the definition: this is what decides whether a refusal was needed. */
static bool exists(const flat *f, const flat *g)
{
    flat r;
    r.count = 0;
    for (int k = 0; k < g->count; k++) {
        int64_t extent = g->shape[k], stride = g->stride[k];
        while (extent > 1) {
            int64_t step = at(f, stride), n = 1;
            while (n < extent && at(f, n * stride) == n * step) n++;
            if (extent % n) return false;
            r.shape[r.count] = n;
            r.stride[r.count++] = step;
            extent /= n;
            stride *= n;
        }
    }
    for (int64_t i = 0; i < size_of(g); i++)
        if (at(&r, i) != at(f, at(g, i))) return false;
    return true;
}

static const char *composition(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    compositions++;
    if (!apply(CUTE_OP_COMPOSITION, in, 2, &out)) {
        refused++;
        return exists(&f, &g) ? "a composition that is a layout is refused" : NULL;
    }
    flat r = flat_of(out.layout);
    if (size_of(&r) != size_of(&g)) return "the domain is not that of the second";
    if (!cute_tree_weakly_congruent(in[1].layout.shape, out.layout.shape)) return "the profile is not B's";
    for (int64_t i = 0; i < size_of(&g); i++)
        if (at(&r, i) != at(&f, at(&g, i))) return "R(i) is not A(B(i))";
    return NULL;
}

/* Mode by mode: a tile's layouts on A's modes; `_` keeps a mode. */
static const char *tile_composition(const subject *s)
{
    cute_value l = to_layout(&s->a), out, part;
    uint32_t rank = rank_of(l.layout.shape), count = 1 + random_below(rank);
    const cute_tree *items[MAX_LEAVES];
    cute_tree leaves[MAX_LEAVES];
    if (l.layout.shape->kind != CUTE_TREE_TUPLE) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        spec tile = random_spec(random_below(2) ? COMPACT : GAPS, 2, 16);
        leaves[i] = (cute_tree){.kind = CUTE_TREE_LAYOUT, .leaves = 1, .layout = to_layout(&tile).layout};
        items[i] = random_below(4) ? &leaves[i] : &wildcard;
    }
    cute_value in[] = {l, cute_value_of_tree(CUTE_TILE, cute_tree_tuple(arena, items, count))};
    bool composed = apply(CUTE_OP_COMPOSITION, in, 2, &out);
    for (uint32_t i = 0; i < count; i++) {
        cute_layout mode = {l.layout.shape->items[i], l.layout.stride->items[i]};
        cute_value pair[] = {cute_value_of_layout(mode), cute_value_of_layout(items[i]->layout)};
        if (items[i] == &wildcard)
            part = pair[0];
        else if (!apply(CUTE_OP_COMPOSITION, pair, 2, &part))
            return composed ? "a mode that cannot be composed is composed" : NULL;
        if (!composed) continue;
        cute_value got =
            cute_value_of_layout((cute_layout){out.layout.shape->items[i], out.layout.stride->items[i]});
        if (!cute_value_equal(&part, &got)) return "a mode is not A's mode o the tile's";
    }
    if (!composed) return "a tile whose modes compose is refused";
    return rank_of(out.layout.shape) == count ? NULL : "modes beyond the tile's are kept";
}

/* ---- complement, inverses ---- */

static const char *complement(const subject *s)
{
    cute_value l = to_layout(&s->a), filtered, out;
    if (!apply(CUTE_OP_FILTER, &l, 1, &filtered)) return "filter is refused";
    flat f = flat_of(filtered.layout);
    for (int variant = 0; variant < 3; variant++) {
        int64_t target = variant == 2 ? (1 + s->number) * 5 : 1 + s->number;
        const cute_tree *both[] = {cute_tree_number(arena, 1 + s->number), cute_tree_number(arena, 5)};
        cute_value in[] = {l, number_value(CUTE_SHAPE, target)};
        if (variant == 2) in[1].tree = cute_tree_tuple(arena, both, 2);
        if (!apply(CUTE_OP_COMPLEMENT, in, variant ? 2 : 1, &out)) {
            for (int i = 0; i < f.count; i++)
                if (f.stride[i] < 0) return NULL;
            /* what is refused overlaps in range: no order of the modes has each beyond the ones before it */
            for (int i = 0; i < f.count; i++)
                for (int j = 0; j < f.count; j++)
                    if (i != j && f.stride[i] <= f.stride[j] && f.stride[j] < f.stride[i] * f.shape[i])
                        return NULL;
            return "a complement of separate modes is refused";
        }
        flat c = flat_of(out.layout);
        int64_t size = size_of(&c), reach = 0, widest = 0;
        for (int64_t i = 1; i < size; i++)
            if (at(&c, i) <= at(&c, i - 1)) return "the complement is not ascending";
        if (size * size_of(&f) > 8192) continue;
        static unsigned char seen[1 << 20];
        int64_t n = 0;
        memset(seen, 0, sizeof seen);
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j < size_of(&f); j++, n++) {
                int64_t x = at(&c, i) + at(&f, j);
                if (x < 0 || x >= (int64_t)sizeof seen) return "an index is out of range";
                if (seen[x]++) return "the complement meets the layout";
                if (x > reach) reach = x;
            }
        for (int i = 0; i < f.count; i++)
            if (f.stride[i] > widest) widest = f.stride[i];
        if (variant && n < target && reach + widest < target)
            return "the complement does not reach the target";
    }
    return NULL;
}

static const char *inverses(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    int64_t reached = 0, size = size_of(&f);
    if (!apply(CUTE_OP_RIGHT_INVERSE, &l, 1, &out)) return "right_inverse is refused";
    flat r = flat_of(out.layout);
    for (int64_t i = 0; i < size_of(&r); i++)
        if (at(&f, at(&r, i)) != i) return "L(R(i)) is not i";
    if (apply(CUTE_OP_LEFT_INVERSE, &l, 1, &out) && injective(&f)) {
        flat inverse = flat_of(out.layout);
        for (int64_t i = 0; i < size; i++)
            if (at(&inverse, at(&f, i)) != i) return "R(L(i)) is not i";
    }
    /* compact layouts are inverted whole, from both sides */
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size && reached == i; j++) reached += at(&f, j) == i;
    if (reached == size && size_of(&r) != size) return "the right inverse of a compact layout is not whole";
    if (reached == size && !apply(CUTE_OP_LEFT_INVERSE, &l, 1, &out)) return "left_inverse is refused";
    return NULL;
}

static const char *in_common(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out, size;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    if (!apply(CUTE_OP_MAX_COMMON_LAYOUT, in, 2, &out)) return "max_common_layout is refused";
    if (!apply(CUTE_OP_MAX_COMMON_VECTOR, in, 2, &size)) return "max_common_vector is refused";
    flat r = flat_of(out.layout);
    if (size.tree->value.value != size_of(&r)) return "the vector is not the layout's size";
    for (int64_t i = 0; i < size_of(&r); i++)
        if (at(&f, at(&r, i)) != i || at(&g, at(&r, i)) != i) return "A(R(i)) = B(R(i)) = i does not hold";
    if (!apply(CUTE_OP_NULLSPACE, in, 1, &out)) return "nullspace is refused";
    flat n = flat_of(out.layout);
    int64_t zeros = 1;
    for (int k = 0; k < f.count; k++)
        if (f.stride[k] == 0) zeros *= f.shape[k];
    if (size_of(&n) != zeros) return "the nullspace has another size";
    for (int64_t i = 0; i < zeros; i++)
        if (at(&f, at(&n, i)) != 0) return "L(N(i)) is not 0";
    return NULL;
}

/* ---- divides ---- */

static const char *divide(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    if (!apply(CUTE_OP_LOGICAL_DIVIDE, in, 2, &out)) return NULL;
    if (rank_of(out.layout.shape) != 2) return "a divide has two modes";
    flat tile = mode_of(out.layout, 0), rest = mode_of(out.layout, 1);
    if (size_of(&tile) != size_of(&g)) return "mode 0 has not the tiler's size";
    /* tiles may reach beyond A: what is there says nothing */
    for (int64_t i = 0; i < size_of(&g); i++)
        if (at(&g, i) < size_of(&f) && at(&tile, i) != at(&f, at(&g, i))) return "mode 0 is not A o B";
    /* mode 1 is A o B* with B* the complement up to A's size */
    cute_value of[] = {in[1], number_value(CUTE_SHAPE, size_of(&f))}, gaps;
    if (!apply(CUTE_OP_COMPLEMENT, of, 2, &gaps)) return "a tiler without a complement divides";
    flat c = flat_of(gaps.layout);
    /* B* covers A's shape mode by mode, so there may be more of it */
    if (size_of(&rest) < size_of(&c)) return "mode 1 is shorter than B*";
    for (int64_t i = 0; i < size_of(&c); i++)
        for (int64_t j = 0; j < size_of(&g); j++) {
            int64_t x = at(&c, i) + at(&g, j);
            if (x >= 0 && x < size_of(&f) && at(&tile, j) + at(&rest, i) != at(&f, x))
                return "(B, B*) selects another element";
        }
    return NULL;
}

/* By a number: element t + n*r, for all t < n and as many r as cover the layout. */
static const char *divide_by_number(const subject *s)
{
    cute_value l = to_layout(&s->a), out, flatter;
    int64_t n = 1 + s->number;
    if (!apply(CUTE_OP_COALESCE, &l, 1, &flatter)) return "coalesce is refused";
    flat f = flat_of(flatter.layout);
    cute_value in[] = {
        flatter, cute_value_of_layout((cute_layout){cute_tree_number(arena, n), cute_tree_number(arena, 1)})};
    if (!apply(CUTE_OP_LOGICAL_DIVIDE, in, 2, &out)) {
        /* exactly where cutting every n elements makes no layout */
        flat g = {.shape = {n, (size_of(&f) + n - 1) / n}, .stride = {1, n}, .count = 2};
        return exists(&f, &g) ? "a divide that is a layout is refused" : NULL;
    }
    flat tile = mode_of(out.layout, 0), rest = mode_of(out.layout, 1);
    if (size_of(&tile) != n) return "the tile has another size";
    if (size_of(&tile) * size_of(&rest) < size_of(&f)) return "the tiles do not cover the layout";
    if (size_of(&tile) * (size_of(&rest) - 1) >= size_of(&f)) return "there are more tiles than are needed";
    for (int64_t r = 0; r < size_of(&rest); r++)
        for (int64_t t = 0; t < n && t + n * r < size_of(&f); t++)
            if (at(&tile, t) + at(&rest, r) != at(&f, t + n * r)) return "element t + n*r is another one";
    return NULL;
}

/* A tile of layouts and wildcards, or a shape, on the modes of A; the other flavours rearrange
 * logical_divide. */
static const char *divide_by_tile(const subject *s)
{
    cute_value l = to_layout(&s->a), logical, zipped, tiled, flat_one;
    uint32_t rank = rank_of(l.layout.shape), count = 1 + random_below(rank);
    const cute_tree *items[MAX_LEAVES];
    cute_tree leaves[MAX_LEAVES];
    if (l.layout.shape->kind != CUTE_TREE_TUPLE) return NULL;
    bool shape = random_below(3) == 0;
    for (uint32_t i = 0; i < count; i++) {
        const cute_tree *extent = cute_tree_number(arena, extents[random_below(9)]);
        /* a shape is a tile of compact layouts: stride 0 for an extent of 1 */
        const cute_tree *step =
            cute_tree_number(arena, shape ? extent->value.value != 1 : 1 + (random_below(4) == 0));
        leaves[i] = (cute_tree){.kind = CUTE_TREE_LAYOUT, .leaves = 1, .layout = {extent, step}};
        items[i] = shape ? extent : &leaves[i];
    }
    cute_value in[] = {
        l, cute_value_of_tree(shape ? CUTE_SHAPE : CUTE_TILE, cute_tree_tuple(arena, items, count))};
    bool divided = apply(CUTE_OP_LOGICAL_DIVIDE, in, 2, &logical);
    if (divided != apply(CUTE_OP_ZIPPED_DIVIDE, in, 2, &zipped) ||
        divided != apply(CUTE_OP_TILED_DIVIDE, in, 2, &tiled) ||
        divided != apply(CUTE_OP_FLAT_DIVIDE, in, 2, &flat_one))
        return "one flavour divides and another refuses";
    if (!divided) return NULL;
    if (rank_of(zipped.layout.shape) != 2 || rank_of(tiled.layout.shape) != 1 + rank ||
        rank_of(flat_one.layout.shape) != count + rank)
        return "a flavour has another rank";
    for (uint32_t i = 0; i < rank; i++) {
        flat mode = mode_of(l.layout, i);
        cute_layout here = {logical.layout.shape->items[i], logical.layout.stride->items[i]};
        if (i < count) {
            cute_value of[] = {cute_value_of_layout(
                                   (cute_layout){l.layout.shape->items[i], l.layout.stride->items[i]}),
                               cute_value_of_layout(leaves[i].layout)},
                       part;
            if (!apply(CUTE_OP_LOGICAL_DIVIDE, of, 2, &part)) return "a mode divides only together";
            cute_value got = cute_value_of_layout(here);
            if (!cute_value_equal(&part, &got)) return "a mode is not the divide of A's mode";
        }
        cute_layout zips[] = {{zipped.layout.shape->items[0], zipped.layout.stride->items[0]},
                              {zipped.layout.shape->items[1], zipped.layout.stride->items[1]}};
        flat rest = i < count ? mode_of(here, 1) : mode, z = mode_of(zips[1], i),
             t = mode_of(tiled.layout, 1 + i), u = mode_of(flat_one.layout, count + i);
        if (memcmp(rest.shape, z.shape, (size_t)rest.count * 8) ||
            memcmp(rest.stride, t.stride, (size_t)rest.count * 8) ||
            memcmp(z.stride, u.stride, (size_t)rest.count * 8))
            return "the rests differ between the flavours";
        if (i >= count) continue;
        flat tile = mode_of(here, 0), y = mode_of(zips[0], i), w = mode_of(flat_one.layout, i);
        if (memcmp(tile.stride, y.stride, (size_t)tile.count * 8) ||
            memcmp(y.shape, w.shape, (size_t)tile.count * 8))
            return "the tiles differ between the flavours";
    }
    return NULL;
}

/* A wildcard keeps its mode, also below the top. */
static const char *divide_with_wildcards(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    uint32_t rank = rank_of(l.layout.shape), count = 1 + random_below(rank);
    const cute_tree *items[MAX_LEAVES], *inner[MAX_LEAVES];
    cute_tree leaf = {.kind = CUTE_TREE_LAYOUT,
                      .leaves = 1,
                      .layout = {cute_tree_number(arena, 2), cute_tree_number(arena, 1)}};
    if (l.layout.shape->kind != CUTE_TREE_TUPLE) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        items[i] = random_below(2) ? &wildcard : &leaf;
        const cute_tree *mode = l.layout.shape->items[i];
        if (mode->kind != CUTE_TREE_TUPLE || items[i] == &leaf) continue;
        for (uint32_t j = 0; j < mode->count; j++) inner[j] = &wildcard;
        items[i] = cute_tree_tuple(arena, inner, mode->count); /* as good as one wildcard */
    }
    cute_value in[] = {l, cute_value_of_tree(CUTE_TILE, cute_tree_tuple(arena, items, count))};
    if (!apply(CUTE_OP_LOGICAL_DIVIDE, in, 2, &out)) return NULL;
    if (rank_of(out.layout.shape) != rank) return "the divide has another rank";
    for (uint32_t i = 0; i < rank; i++) {
        bool kept = i >= count || items[i] != &leaf;
        if (kept && (!cute_tree_equal(out.layout.shape->items[i], l.layout.shape->items[i]) ||
                     !cute_tree_equal(out.layout.stride->items[i], l.layout.stride->items[i])))
            return "a mode that is kept changes";
        flat mode = {.count = 0};
        flatten(out.layout.shape->items[i], out.layout.stride->items[i], &mode);
        if (!kept && mode.shape[0] != 2) return "a mode is not cut";
    }
    return NULL;
}

/* ---- products ---- */

static const char *products(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out, other;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    if (!apply(CUTE_OP_LOGICAL_PRODUCT, in, 2, &out)) return NULL;
    flat p = flat_of(out.layout);
    if (size_of(&p) != size_of(&f) * size_of(&g)) return "the product has another size";
    for (int64_t i = 0; i < size_of(&f); i++)
        if (at(&p, i) != at(&f, i)) return "mode 0 is not A";
    /* tiles do not overlap: A* o B is injective if B is, and A* meets A nowhere */
    if (injective(&f) && size_of(&p) <= 512 && injective(&g) && !injective(&p))
        return "tiles of an injective product overlap";
    static const cute_operation same[] = {CUTE_OP_ZIPPED_PRODUCT, CUTE_OP_TILED_PRODUCT,
                                          CUTE_OP_FLAT_PRODUCT};
    for (size_t i = 0; i < 3; i++) {
        if (!apply(same[i], in, 2, &other)) return "another arrangement of the product is refused";
        flat q = flat_of(other.layout);
        if (memcmp(p.stride, q.stride, (size_t)p.count * 8) || memcmp(p.shape, q.shape, (size_t)p.count * 8))
            return "another arrangement of the product has other modes";
    }
    return NULL;
}

/* Mode m of the blocked product pairs mode m of A with mode m of A* o B; the raked product the other way
 * round. */
static const char *blocked_and_raked(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, logical, out;
    uint32_t x = rank_of(in[0].layout.shape), y = rank_of(in[1].layout.shape), rank = x > y ? x : y;
    int64_t one[] = {rank};
    cute_value unit =
        cute_value_of_layout((cute_layout){cute_tree_number(arena, 1), cute_tree_number(arena, 0)});
    for (int i = 0; i < 2; i++) {
        cute_value pair[] = {in[i], unit};
        if (!apply_with(CUTE_OP_APPEND_TO_RANK, one, 1, pair, 2, &in[i])) return "append_to_rank is refused";
    }
    if (!apply(CUTE_OP_LOGICAL_PRODUCT, in, 2, &logical)) return NULL;
    for (int raked = 0; raked < 2; raked++) {
        if (!apply(raked ? CUTE_OP_RAKED_PRODUCT : CUTE_OP_BLOCKED_PRODUCT, in, 2, &out))
            return raked ? "the raked product is refused" : "the blocked product is refused";
        if (rank > 1 && rank_of(out.layout.shape) != rank) return "the rank is not that of the operands";
        cute_layout parts[] = {{mode_tree(logical.layout.shape, 0), mode_tree(logical.layout.stride, 0)},
                               {mode_tree(logical.layout.shape, 1), mode_tree(logical.layout.stride, 1)}};
        for (uint32_t m = 0; m < rank; m++) {
            flat block = mode_of(parts[0], m), tiles = mode_of(parts[1], m), got = mode_of(out.layout, m);
            if (rank == 1) block = flat_of(parts[0]), tiles = flat_of(parts[1]), got = flat_of(out.layout);
            int64_t inner = size_of(raked ? &tiles : &block), size = size_of(&block) * size_of(&tiles);
            if (size_of(&got) != size) return "a mode has another size";
            for (int64_t i = 0; i < size; i++) {
                int64_t b = raked ? i / inner : i % inner, t = raked ? i % inner : i / inner;
                if (at(&got, i) != at(&block, b) + at(&tiles, t)) return "a mode is not A's with the tiles'";
            }
        }
    }
    return NULL;
}

/* The first block is the block, blocks do not overlap, the shape is covered with less than a block to spare.
 */
static const char *tile_to_shape(const subject *s)
{
    cute_value block = to_layout(&s->a), out;
    uint32_t rank = rank_of(block.layout.shape);
    const cute_tree *shape[MAX_LEAVES], *order[MAX_LEAVES];
    int64_t target[MAX_LEAVES];
    for (uint32_t i = 0; i < rank; i++) {
        target[i] =
            product_of(mode_tree(block.layout.shape, i)) * (1 + random_below(3)) - (random_below(4) == 0);
        if (target[i] < 1) target[i] = 1;
        shape[i] = cute_tree_number(arena, target[i]);
        order[i] = cute_tree_number(arena, s->number % 2 ? rank - 1 - i : i);
    }
    cute_value in[] = {block, cute_value_of_tree(CUTE_SHAPE, cute_tree_tuple(arena, shape, rank)),
                       cute_value_of_tree(CUTE_INT_TUPLE, cute_tree_tuple(arena, order, rank))};
    if (!apply(CUTE_OP_TILE_TO_SHAPE, in, 3, &out)) return NULL;
    flat f = flat_of(block.layout), r = flat_of(out.layout);
    for (uint32_t i = 0; i < rank; i++) {
        flat mode = mode_of(out.layout, i), b = mode_of(block.layout, i);
        if (rank == 1) mode = r, b = f;
        if (size_of(&mode) < target[i] || size_of(&mode) >= target[i] + size_of(&b))
            return "the shape is not just covered";
        for (int64_t k = 0; k < size_of(&b); k++)
            if (at(&mode, k) != at(&b, k)) return "the first block is not the block";
    }
    return injective(&f) && size_of(&r) <= 512 && !injective(&r) ? "blocks overlap" : NULL;
}

static const case_kind kinds[] = {
    {"a composition is A(B(i)), and refused only where that is no layout", composition, ANY, ANY, 4, 3, 1,
     100},
    {"compositions of compact layouts are right or needed to be refused", composition, COMPACT, GAPS, 4, 3, 1,
     100},
    {"a composition with a tile is one of modes", tile_composition, COMPACT, ANY, 4, 1, 1, 50},
    {"a complement is ascending and disjoint", complement, ANY, ANY, 4, 1, 64, 60},
    {"complements of separate modes exist", complement, GAPS, ANY, 4, 1, 64, 40},
    {"inverses invert", inverses, GAPS, ANY, 4, 1, 1, 30},
    {"inverses of compact layouts are whole", inverses, COMPACT, ANY, 4, 1, 1, 20},
    {"right inverses of any layout are right", inverses, ANY, ANY, 3, 1, 1, 30},
    {"what two layouts have in common is contiguous in both", in_common, ANY, COMPACT, 4, 3, 1, 50},
    {"a divide is (A o B, A o B*)", divide, COMPACT, GAPS, 4, 2, 1, 100},
    {"divides of any layout are right", divide, ANY, ANY, 4, 2, 1, 50},
    {"divides by a number cover the layout, and are refused only where no layout does", divide_by_number,
     COMPACT, ANY, 3, 1, 12, 100},
    {"the flavours of a divide have the same tiles and rests", divide_by_tile, COMPACT, ANY, 4, 1, 1, 50},
    {"a divide keeps the modes of wildcards", divide_with_wildcards, COMPACT, ANY, 5, 1, 1, 30},
    {"products repeat A without overlap", products, GAPS, COMPACT, 3, 3, 1, 50},
    {"blocked and raked products pair the modes", blocked_and_raked, GAPS, COMPACT, 3, 3, 1, 50},
    {"tile_to_shape repeats a block over a shape", tile_to_shape, COMPACT, ANY, 3, 1, 2, 30},
};

int main(int argc, char **argv)
{
    int failed = run_properties(argc, argv, 9000, kinds, sizeof kinds / sizeof *kinds);
    printf("# %ld of %ld compositions refused, none of which is a layout\n", refused, compositions);
    return failed;
}
