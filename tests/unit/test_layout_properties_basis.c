/* Properties of layouts with scaled basis vectors as strides, of swizzles and of composed layouts, by brute
 * force over the index space. An index is a point: one number for each basis vector. */
#include "tests/unit/test_layout_random.h"

/* ---- evaluation ---- */

/* An arithmetic tuple as a point; an integer is its number 0. `nested`: mode 1 is a tuple. */
static point point_of(const cute_tree *t)
{
    point p = {{0}};
    if (t->kind != CUTE_TREE_TUPLE) return p.at[0] = t->value.value, p;
    int64_t leaves[64];
    int n = leaves_of(t, leaves);
    for (int i = 0; i < n && i < SLOTS; i++) p.at[i] = leaves[i];
    return p;
}

static const char *evaluation(const subject *s)
{
    cute_value l = to_layout(&s->a), out, crd;
    flat f = flat_of(l.layout);
    for (int k = 0; k < 4; k++) {
        int64_t i = random_below((uint32_t)size_of(&f) + 2);
        cute_value in[] = {number_value(CUTE_COORD, i), l};
        if (!apply(CUTE_OP_LAYOUT_EVAL, in, 2, &out)) return "layout_eval is refused";
        if (!same_point(point_of(out.tree), point_at(&f, i))) return "layout_eval differs";
        cute_value idx[] = {number_value(CUTE_INT_TUPLE, i), shape_value(&l)};
        if (!apply(CUTE_OP_IDX2CRD, idx, 2, &crd)) return "idx2crd is refused";
        in[0] = crd;
        if (!apply(CUTE_OP_LAYOUT_EVAL, in, 2, &out)) return "layout_eval of a natural coordinate is refused";
        if (!same_point(point_of(out.tree), point_at(&f, i)))
            return "the natural coordinate has another index";
        /* the identity layout gives the coordinate itself */
        cute_value shape = shape_value(&l), identity;
        if (!apply(CUTE_OP_MAKE_IDENTITY_LAYOUT, &shape, 1, &identity))
            return "make_identity_layout is refused";
        cute_value at_identity[] = {crd, identity}, same;
        if (!apply(CUTE_OP_LAYOUT_EVAL, at_identity, 2, &same)) return "the identity is not evaluated";
        int64_t x[64], y[64];
        int n = leaves_of(crd.tree, x);
        if (n != leaves_of(same.tree, y) || memcmp(x, y, (size_t)n * sizeof *x))
            return "the identity changes a coordinate";
    }
    return NULL;
}

static const char *simplification(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    static const cute_operation ops[] = {CUTE_OP_COALESCE, CUTE_OP_FLATTEN};
    for (int k = 0; k < 2; k++) {
        if (!apply(ops[k], &l, 1, &out)) return "an operation is refused";
        flat r = flat_of(out.layout);
        if (size_of(&r) != size_of(&f)) return "the size changes";
        for (int64_t i = 0; i < size_of(&f); i++)
            if (!same_point(point_at(&r, i), point_at(&f, i))) return "the function changes";
    }
    return NULL;
}

/* ---- composition ---- */

/* A(B(i)) where B's point is a coordinate of A: number k is the coordinate of mode k. */
static point through(const cute_layout *outer, const flat *g, bool named, int64_t i)
{
    point crd = point_at(g, i), sum = {{0}};
    flat whole = flat_of(*outer);
    if (!named) return point_at(&whole, crd.at[0]);
    for (uint32_t m = 0; m < rank_of(outer->shape) && m < SLOTS; m++) {
        flat mode = mode_of(*outer, m);
        sum = plus(sum, point_at(&mode, crd.at[m]));
    }
    return sum;
}

static bool names_modes(const spec *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->slot[i] >= 0) return true;
    return false;
}

/* Each leaf of B cut where A(B(c)) stops to be straight; false where that is no layout. */
static bool exists(const cute_layout *outer, const flat *g, bool named)
{
    flat r;
    r.count = 0;
    int64_t before = 1;
    for (int k = 0; k < g->count; k++) {
        int64_t extent = g->shape[k], unit = before;
        before *= extent;
        while (extent > 1) {
            point step = through(outer, g, named, unit);
            int64_t n = 1;
            int slot = 0, nonzero = 0;
            for (int j = 0; j < SLOTS; j++)
                if (step.at[j]) slot = j, nonzero++;
            if (nonzero > 1) return false;
            for (bool straight = true; straight && n < extent; n += straight) {
                point expected = {{0}};
                expected.at[slot] = n * step.at[slot];
                straight = same_point(expected, through(outer, g, named, unit * n));
            }
            if (extent % n) return false;
            r.shape[r.count] = n;
            r.slot[r.count] = slot;
            r.stride[r.count++] = step.at[slot];
            extent /= n;
            unit *= n;
        }
    }
    for (int64_t i = 0; i < size_of(g); i++)
        if (!same_point(point_at(&r, i), through(outer, g, named, i))) return false;
    return true;
}

static const char *composition(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out;
    flat g = flat_of(in[1].layout);
    bool named = names_modes(&s->b);
    for (int k = 0; named && k < g.count; k++)
        if (g.stride[k] && (uint32_t)g.slot[k] >= rank_of(in[0].layout.shape))
            return apply(CUTE_OP_COMPOSITION, in, 2, &out) && size_of(&g) > 1 && g.shape[k] > 1
                       ? "a stride names a mode that is not there"
                       : NULL;
    if (named && in[0].layout.shape->kind != CUTE_TREE_TUPLE) return NULL;
    if (!apply(CUTE_OP_COMPOSITION, in, 2, &out))
        return exists(&in[0].layout, &g, named) ? "a composition that is a layout is refused" : NULL;
    flat r = flat_of(out.layout);
    if (size_of(&r) != size_of(&g)) return "the domain is not that of the second";
    for (int64_t i = 0; i < size_of(&g); i++)
        if (!same_point(point_at(&r, i), through(&in[0].layout, &g, named, i))) return "R(i) is not A(B(i))";
    return NULL;
}

/* ---- complement, inverses, divides, products ---- */

static int compare_points(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(point));
}

static bool all_different(point *points, size_t count)
{
    qsort(points, count, sizeof *points, compare_points);
    for (size_t i = 1; i < count; i++)
        if (same_point(points[i - 1], points[i])) return false;
    return true;
}

static bool injective_points(const flat *f)
{
    static point seen[1 << 12];
    int64_t n = size_of(f);
    if (n > 1 << 12) return false;
    for (int64_t i = 0; i < n; i++) seen[i] = point_at(f, i);
    return all_different(seen, (size_t)n);
}

static const char *complement(const subject *s)
{
    static point seen[1 << 12];
    cute_value l = to_layout(&s->a), filtered, out;
    if (!apply(CUTE_OP_FILTER, &l, 1, &filtered)) return "filter is refused";
    if (!apply(CUTE_OP_COMPLEMENT, &l, 1, &out)) return NULL;
    flat f = flat_of(filtered.layout), c = flat_of(out.layout);
    int64_t n = 0;
    if (!injective_points(&f)) return "an overlapping layout has a complement";
    if (size_of(&c) * size_of(&f) > 1 << 12) return NULL;
    for (int64_t i = 0; i < size_of(&c); i++)
        for (int64_t j = 0; j < size_of(&f); j++) seen[n++] = plus(point_at(&c, i), point_at(&f, j));
    return all_different(seen, (size_t)n) ? NULL : "the complement meets the layout";
}

/* R takes the point, mode by mode, back to i. */
static const char *inverses(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    if (!names_modes(&s->a)) return NULL;
    if (!apply(CUTE_OP_RIGHT_INVERSE, &l, 1, &out)) return "right_inverse is refused";
    flat r = flat_of(out.layout);
    for (int64_t i = 0; i < size_of(&r); i++) {
        /* L(R(c)) = c for the natural coordinates c of R: R's modes are the codomain's, as far as there are
         * any */
        point crd = {{0}};
        cute_value idx[] = {number_value(CUTE_INT_TUPLE, i), shape_value(&out)}, c;
        if (!apply(CUTE_OP_IDX2CRD, idx, 2, &c)) return "idx2crd is refused";
        if (rank_of(out.layout.shape) > SLOTS) return NULL;
        int64_t rest = i;
        for (uint32_t m = 0; m < rank_of(out.layout.shape); m++) {
            flat mode = mode_of(out.layout, m);
            crd.at[m] = rest % size_of(&mode);
            rest /= size_of(&mode);
        }
        if (out.layout.shape->kind != CUTE_TREE_TUPLE) crd.at[0] = i;
        int highest = -1;
        for (int k = 0; k < f.count; k++)
            if (f.stride[k] && f.slot[k] > highest) highest = f.slot[k];
        /* a codomain of one mode is not a tuple of R */
        if (highest <= 0 && out.layout.shape->kind == CUTE_TREE_TUPLE && rank_of(out.layout.shape) > 1)
            crd = (point){{i}};
        if (!same_point(point_at(&f, at(&r, i)), crd)) return "L(R(i)) is not i";
    }
    return NULL;
}

/* B(i) is a coordinate that A has: tiles may reach beyond it. */
static bool inside(const cute_layout *outer, const flat *g, bool named, int64_t i)
{
    point crd = point_at(g, i);
    flat whole = flat_of(*outer);
    if (!named) return crd.at[0] < size_of(&whole);
    for (uint32_t m = 0; m < rank_of(outer->shape) && m < SLOTS; m++) {
        flat mode = mode_of(*outer, m);
        if (crd.at[m] >= size_of(&mode)) return false;
    }
    return true;
}

static const char *divide(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out;
    flat g = flat_of(in[1].layout);
    bool named = names_modes(&s->b);
    if (!apply(CUTE_OP_LOGICAL_DIVIDE, in, 2, &out)) return NULL;
    flat tile = mode_of(out.layout, 0);
    if (rank_of(out.layout.shape) != 2) return "a divide has two modes";
    if (size_of(&tile) != size_of(&g)) return "mode 0 has not the tiler's size";
    for (int64_t i = 0; i < size_of(&g); i++)
        if (inside(&in[0].layout, &g, named, i) &&
            !same_point(point_at(&tile, i), through(&in[0].layout, &g, named, i)))
            return "mode 0 is not A o B";
    return NULL;
}

static const char *products(const subject *s)
{
    static point seen[1 << 12];
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    if (!apply(CUTE_OP_LOGICAL_PRODUCT, in, 2, &out)) return NULL;
    flat block = mode_of(out.layout, 0), tiles = mode_of(out.layout, 1);
    if (size_of(&block) != size_of(&f) || size_of(&tiles) != size_of(&g)) return "a mode has another size";
    for (int64_t i = 0; i < size_of(&f); i++)
        if (!same_point(point_at(&block, i), point_at(&f, i))) return "mode 0 is not A";
    int64_t n = 0;
    if (size_of(&f) * size_of(&g) > 1 << 12 || !injective_points(&f)) return NULL;
    for (int64_t j = 0; j < size_of(&g); j++)
        for (int64_t i = 0; i < size_of(&f); i++) seen[n++] = plus(point_at(&f, i), point_at(&tiles, j));
    return all_different(seen, (size_t)n) ? NULL : "tiles overlap";
}

/* ---- swizzles and composed layouts ---- */

static int64_t swizzled(cute_swizzle w, int64_t x)
{
    int64_t mask = ((int64_t)1 << w.bits) - 1;
    if (w.shift >= 0) return x ^ (((x >> (w.base + w.shift)) & mask) << w.base);
    return x ^ (((x >> w.base) & mask) << (w.base - w.shift));
}

static cute_swizzle random_swizzle(void)
{
    int bits = (int)random_below(4), base = (int)random_below(5), distance = bits + (int)random_below(3);
    return (cute_swizzle){bits, base, random_below(3) ? distance : -distance};
}

static cute_value composed_of(const subject *s, cute_layout outer, cute_layout inner)
{
    cute_value v = {.type = CUTE_COMPOSED_LAYOUT, .layout = outer};
    if (random_below(2)) {
        v.swizzle = random_swizzle();
        if (v.swizzle.bits == 0) v.swizzle = (cute_swizzle){1, 2, 2};
    } else {
        v.inner = inner;
    }
    v.tree = cute_tree_number(arena, s->number % 3 ? (s->number % 5) * 16 : 0);
    return v;
}

/* A(offset + B(i)) of a value that is composed, or B(i). */
static int64_t composed_at(const cute_value *v, const flat *outer, int64_t i)
{
    int64_t x = at(outer, i);
    if (v->type == CUTE_LAYOUT) return x;
    x += v->tree->value.value;
    if (!v->inner.shape) return swizzled(v->swizzle, x);
    flat inner = flat_of(v->inner);
    return at(&inner, x);
}

static const char *swizzle_is_its_inverse(const subject *s)
{
    cute_value w = {.type = CUTE_SWIZZLE, .swizzle = random_swizzle()}, out, back;
    int64_t x = s->number * 7;
    cute_value in[] = {number_value(CUTE_INT_TUPLE, x), w};
    if (!apply(CUTE_OP_SWIZZLE_EVAL, in, 2, &out)) return "swizzle_eval is refused";
    if (out.tree->value.value != swizzled(w.swizzle, x)) return "the swizzle differs";
    cute_value again[] = {out, w};
    if (!apply(CUTE_OP_SWIZZLE_EVAL, again, 2, &back)) return "swizzle_eval is refused";
    return back.tree->value.value == x ? NULL : "a swizzle does not undo itself";
}

/* Operations work through B: their result is A o offset o op(B). */
static const char *composed(const subject *s)
{
    cute_value b = to_layout(&s->a), inner = to_layout(&s->b), v = composed_of(s, b.layout, inner.layout),
               out, plain;
    flat f = flat_of(b.layout);
    for (int k = 0; k < 4; k++) {
        int64_t i = random_below((uint32_t)size_of(&f));
        cute_value in[] = {number_value(CUTE_COORD, i), v};
        if (!apply(CUTE_OP_LAYOUT_EVAL, in, 2, &out)) return "layout_eval is refused";
        if (out.tree->value.value != composed_at(&v, &f, i)) return "layout_eval differs";
    }
    static const cute_operation unary[] = {CUTE_OP_COALESCE, CUTE_OP_FLATTEN, CUTE_OP_FILTER};
    static const cute_operation binary[] = {
        CUTE_OP_COMPOSITION,   CUTE_OP_LOGICAL_DIVIDE,  CUTE_OP_ZIPPED_DIVIDE,  CUTE_OP_TILED_DIVIDE,
        CUTE_OP_FLAT_DIVIDE,   CUTE_OP_LOGICAL_PRODUCT, CUTE_OP_ZIPPED_PRODUCT, CUTE_OP_BLOCKED_PRODUCT,
        CUTE_OP_RAKED_PRODUCT, CUTE_OP_TILED_PRODUCT,   CUTE_OP_FLAT_PRODUCT};
    for (size_t k = 0; k < sizeof unary / sizeof *unary + sizeof binary / sizeof *binary; k++) {
        bool one = k < sizeof unary / sizeof *unary;
        cute_operation op = one ? unary[k] : binary[k - sizeof unary / sizeof *unary];
        cute_value of[] = {v, inner}, of_b[] = {b, inner};
        bool done = apply(op, of, one ? 1 : 2, &out);
        if (done != apply(op, of_b, one ? 1 : 2, &plain)) return "A o offset o B and B are not both refused";
        if (!done) continue;
        cute_value got = cute_value_of_layout(out.layout);
        if (!cute_value_equal(&got, &plain)) return "B is not what the operation makes of it alone";
        if (out.tree && !cute_tree_equal(out.tree, v.tree)) return "the offset changes";
    }
    cute_value get_b, get_a, get_offset;
    if (!apply(CUTE_OP_COMPOSED_GET_OUTER, &v, 1, &get_b) ||
        !apply(CUTE_OP_COMPOSED_GET_INNER, &v, 1, &get_a) ||
        !apply(CUTE_OP_COMPOSED_GET_OFFSET, &v, 1, &get_offset))
        return "a part is refused";
    cute_value parts[] = {get_a, get_offset, get_b};
    if (!cute_value_equal(&get_b, &b) || !cute_tree_equal(get_offset.tree, v.tree)) return "a part differs";
    if (!apply(CUTE_OP_MAKE_COMPOSED_LAYOUT, parts, 3, &out)) return "the parts make no whole";
    return cute_value_equal(&out, &v) ? NULL : "the parts make another whole";
}

/* Fixing coordinates of a layout: the slice follows the whole, from what the fixed ones (dice) add. */
static const char *slices(const subject *s)
{
    cute_value b = to_layout(&s->a), inner = to_layout(&s->b), v = b, kept, out;
    if (b.layout.shape->kind != CUTE_TREE_TUPLE) return NULL;
    bool plain = s->number % 3 == 0;
    if (!plain) v = composed_of(s, b.layout, inner.layout);
    uint32_t fixed = random_below(b.layout.shape->count);
    const cute_tree *items[MAX_LEAVES];
    flat f = flat_of(b.layout), mode = mode_of(b.layout, fixed);
    int64_t before = 1, extent = size_of(&mode), value = random_below((uint32_t)extent);
    for (uint32_t i = 0; i < b.layout.shape->count; i++) {
        items[i] = i == fixed ? cute_tree_number(arena, value) : &wildcard;
        flat m = mode_of(b.layout, i);
        if (i < fixed) before *= size_of(&m);
    }
    cute_value coord = cute_value_of_tree(CUTE_COORD, cute_tree_tuple(arena, items, b.layout.shape->count));
    cute_value in[] = {v, coord}, of_b[] = {b, coord};
    if (!apply(CUTE_OP_DICE, of_b, 2, &kept)) return "dice is refused";
    flat d = flat_of(kept.layout);
    for (int64_t i = 0; i < extent; i++)
        if (at(&d, i) != at(&mode, i)) return "dice gives another mode";
    if (!apply(CUTE_OP_SLICE, in, 2, &out)) return plain || v.inner.shape ? "slice is refused" : NULL;
    flat r = flat_of(out.layout);
    if (size_of(&r) * extent != size_of(&f)) return "the slice has another size";
    int64_t difference = 0;
    for (int64_t i = 0; i < size_of(&r); i++) {
        int64_t whole = i % before + before * value + i / before * before * extent;
        int64_t x = composed_at(&v, &f, whole) - composed_at(&out, &r, i);
        if (i == 0) difference = x;
        if (x != difference) return "the slice does not follow the whole";
    }
    /* of a layout A nothing is left over; of a plain layout what the fixed coordinate adds */
    if (v.inner.shape && difference != 0) return "the offset does not take what is fixed";
    if (plain && difference != at(&mode, value)) return "the difference is not what is fixed";
    return NULL;
}

/* New elements of n old ones: the same addresses, divided by n; back again, all of them. */
static const char *recast(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    for (int i = 0; i < f.count; i++)
        if (f.stride[i] < 0) return NULL;
    int64_t n = 1 + s->number % 4, up[] = {8 * n, 8}, down[] = {8, 8 * n};
    if (apply_with(CUTE_OP_RECAST_LAYOUT, up, 2, &l, 1, &out)) {
        flat u = flat_of(out.layout);
        for (int direction = 0; direction < 2; direction++) {
            const flat *x = direction ? &u : &f, *y = direction ? &f : &u;
            for (int64_t i = 0; i < size_of(x); i++) {
                int64_t index = direction ? at(x, i) : at(x, i) / n;
                bool found = false;
                for (int64_t j = 0; j < size_of(y) && !found; j++)
                    found = (direction ? at(y, j) / n : at(y, j)) == index;
                if (!found) return direction ? "upcast invents an element" : "upcast misses an element";
            }
        }
    }
    if (apply_with(CUTE_OP_RECAST_LAYOUT, down, 2, &l, 1, &out)) {
        flat d = flat_of(out.layout);
        for (int64_t j = 0; j < size_of(&d); j++) {
            bool found = false;
            for (int64_t i = 0; i < size_of(&f) && !found; i++) found = at(&d, j) / n == at(&f, i);
            if (!found) return "downcast invents an element";
        }
    }
    /* a swizzle moves with its elements: the new layout at a new element is the old one's element, scaled */
    if (n == 3) return NULL;
    cute_value v = {.type = CUTE_COMPOSED_LAYOUT, .layout = l.layout, .swizzle = random_swizzle()};
    if (v.swizzle.bits == 0) v.swizzle.bits = 1, v.swizzle.shift = 2;
    v.tree = cute_tree_number(arena, s->number % 2 ? 4 * (s->number % 8) : 0);
    if (apply_with(CUTE_OP_RECAST_LAYOUT, down, 2, &v, 1, &out)) {
        flat d = flat_of(out.layout);
        for (int64_t j = 0; j < size_of(&d); j++) {
            int64_t x = composed_at(&out, &d, j);
            bool found = false;
            for (int64_t i = 0; i < size_of(&f) && !found; i++) found = composed_at(&v, &f, i) == x / n;
            if (!found) return "downcast of a swizzled layout invents an element";
        }
    }
    return NULL;
}

static const case_kind kinds[] = {
    {"basis vectors are coordinates", evaluation, BASIS, ANY, 4, 1, 1, 60},
    {"nested basis vectors are nested coordinates", evaluation, NESTED_BASIS, ANY, 4, 1, 1, 40},
    {"basis strides coalesce to the same function", simplification, BASIS, ANY, 5, 1, 1, 50},
    {"a composition of basis strides is A(B(i)), and refused only where that is no layout", composition,
     BASIS, GAPS, 4, 3, 1, 100},
    {"strides that name modes compose with them", composition, COMPACT, MODES, 4, 3, 1, 100},
    {"basis strides compose with strides that name modes", composition, BASIS, MODES, 4, 3, 1, 100},
    {"complements of basis strides are disjoint", complement, BASIS, ANY, 4, 1, 1, 50},
    {"complements of nested basis strides are disjoint", complement, NESTED_BASIS, ANY, 4, 1, 1, 50},
    {"right inverses of basis strides invert", inverses, BASIS, ANY, 3, 1, 1, 50},
    {"basis strides divide", divide, BASIS, GAPS, 4, 2, 1, 50},
    {"tilers that name modes divide", divide, COMPACT, MODES, 4, 2, 1, 50},
    {"products of basis strides do not overlap", products, BASIS, COMPACT, 3, 2, 1, 50},
    {"swizzles undo themselves", swizzle_is_its_inverse, ANY, ANY, 1, 1, 100000, 50},
    {"operations on composed layouts work through B", composed, COMPACT, COMPACT, 3, 2, 60, 30},
    {"slices follow the whole", slices, COMPACT, COMPACT, 4, 2, 60, 100},
    {"slices of any stride are right or refused", slices, ANY, ANY, 4, 2, 60, 60},
    {"recasts have the same addresses", recast, GAPS, ANY, 3, 1, 60, 15},
    {"recasts of any strides have the same addresses or are refused", recast, ANY, ANY, 3, 1, 60, 15},
};

int main(int argc, char **argv)
{
    return run_properties(argc, argv, 9000, kinds, sizeof kinds / sizeof *kinds);
}
