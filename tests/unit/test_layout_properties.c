/* Properties of the algebra on random layouts, by brute force over the index space. The evaluator here
 * knows nothing of the library's: it flattens a layout into two arrays and walks digits.
 *
 * test_layout_properties [seed [cases]]: a failure prints the seed and the operands after shrinking them. */
#include "tests/unit/test_layout.h"

/* ---- random layouts ---- */

static uint64_t state;
static uint64_t first_seed = 20260521;
static long cases = 1000;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % n);
}

enum { MAX_LEAVES = 8, MAX_SIZE = 2048 };

typedef struct spec {
    int64_t shape[MAX_LEAVES], stride[MAX_LEAVES];
    int open[MAX_LEAVES], close[MAX_LEAVES]; /* parentheses before and after each leaf */
    int count;
} spec;

static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 5, 6, 8};

/* kinds: 0 any strides, 1 compact in some order, 2 positive with gaps */
static spec random_spec(int kind, int most)
{
    spec s = {.count = 1 + (int)random_below((uint32_t)most)};
    int order[MAX_LEAVES];
    int64_t size = 1, next = 1;
    for (int i = 0; i < s.count; i++) {
        s.shape[i] = extents[random_below(9)];
        while (size * s.shape[i] > MAX_SIZE) s.shape[i] = 1;
        size *= s.shape[i];
        order[i] = i;
    }
    for (int i = s.count - 1; i > 0; i--) {
        int j = (int)random_below((uint32_t)i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < s.count; i++) {
        int k = order[i];
        if (kind == 0) {
            s.stride[k] = (int64_t)random_below(14) - 2;
            if (random_below(3) == 0) s.stride[k] = next;
        } else {
            if (kind == 2 && random_below(3) == 0) next *= 1 + random_below(3);
            s.stride[k] = next;
        }
        next *= s.shape[k];
    }
    /* group some neighbours: a pair, or a pair of pairs */
    for (int i = 0; i + 1 < s.count; i++)
        if (random_below(3) == 0) {
            int last = i + 1 + (int)random_below((uint32_t)(s.count - i - 1));
            s.open[i]++;
            s.close[last]++;
            i = last;
        }
    return s;
}

static void put_tuple(char *out, const spec *s, const int64_t *values)
{
    bool tuple = s->count > 1;
    char *p = out;
    if (tuple) *p++ = '(';
    for (int i = 0; i < s->count; i++) {
        if (i) *p++ = ',';
        for (int k = 0; k < s->open[i]; k++) *p++ = '(';
        p += sprintf(p, "%" PRId64, values[i]);
        for (int k = 0; k < s->close[i]; k++) *p++ = ')';
    }
    if (tuple) *p++ = ')';
    *p = 0;
}

static cute_value to_layout(const spec *s)
{
    char text[1024];
    cute_value v = {.type = CUTE_LAYOUT};
    put_tuple(text, s, s->shape);
    strcat(text, ":");
    put_tuple(text + strlen(text), s, s->stride);
    if (cute_value_parse(arena, CUTE_LAYOUT, text, strlen(text), &v, NULL, diag) != CUTE_OK) {
        printf("# %s: %s\n", text, first_message());
        test_failed = true;
    }
    return v;
}

/* ---- an evaluator of its own ---- */

typedef struct flat {
    int64_t shape[256], stride[256];
    int count;
} flat;

static void flatten(const cute_tree *shape, const cute_tree *stride, flat *out)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++) flatten(shape->items[i], stride->items[i], out);
        return;
    }
    if (out->count == 256) abort();
    out->shape[out->count] = shape->value.value;
    out->stride[out->count++] = stride->value.value;
}

static flat flat_of(cute_layout layout)
{
    flat f = {.count = 0};
    flatten(layout.shape, layout.stride, &f);
    return f;
}

static int64_t size_of(const flat *f)
{
    int64_t size = 1;
    for (int i = 0; i < f->count; i++) size *= f->shape[i];
    return size;
}

static int64_t at(const flat *f, int64_t i)
{
    int64_t index = 0;
    for (int k = 0; k < f->count; k++) {
        int64_t digit = k + 1 < f->count ? i % f->shape[k] : i;
        index += digit * f->stride[k];
        i /= f->shape[k];
    }
    return index;
}

static bool injective(const flat *f)
{
    int64_t size = size_of(f);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < i; j++)
            if (at(f, i) == at(f, j)) return false;
    return true;
}

/* ---- calling ---- */

static bool apply(cute_operation op, const cute_value *in, size_t n, cute_value *out)
{
    cute_diag_clear(diag);
    return cute_apply(arena, NULL, op, in, n, NULL, out, diag) == CUTE_OK;
}

static cute_value tree(cute_type type, int64_t value)
{
    return cute_value_of_tree(type, cute_tree_number(arena, value));
}

/* ---- properties: each returns what does not hold, or NULL; operations may refuse ---- */

typedef struct subject {
    spec a, b;
    int64_t number;
} subject;

static const char *evaluation(const subject *s)
{
    cute_value l = to_layout(&s->a), out, crd;
    flat f = flat_of(l.layout);
    for (int64_t i = 0; i < size_of(&f) + 3; i++) {
        cute_value in[] = {tree(CUTE_COORD, i), l};
        if (!apply(CUTE_OP_LAYOUT_EVAL, in, 2, &out)) return "layout_eval is refused";
        if (out.tree->value.value != at(&f, i)) return "layout_eval differs";
        cute_value idx[] = {tree(CUTE_INT_TUPLE, i), cute_value_of_tree(CUTE_SHAPE, l.layout.shape)};
        if (!apply(CUTE_OP_IDX2CRD, idx, 2, &crd)) return "idx2crd is refused";
        cute_value back[] = {crd, cute_value_of_tree(CUTE_SHAPE, l.layout.shape)};
        if (!apply(CUTE_OP_CRD2IDX, back, 2, &out)) return "crd2idx is refused";
        int last = f.count - 1;
        bool exact = i < size_of(&f) || f.shape[last] != 1; /* a last extent of 1 has stride 0 */
        if (exact && out.tree->value.value != i) return "crd2idx does not invert idx2crd";
        cute_value natural[] = {crd, l};
        if (!apply(CUTE_OP_LAYOUT_EVAL, natural, 2, &out))
            return "layout_eval of a natural coordinate is refused";
        if (out.tree->value.value != at(&f, i)) return "the natural coordinate has another index";
    }
    return NULL;
}

static const char *sizes(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    int64_t reach = 0;
    for (int i = 0; i < f.count; i++)
        reach += (f.shape[i] - 1) * (f.stride[i] < 0 ? -f.stride[i] : f.stride[i]);
    if (!apply(CUTE_OP_SIZE, &l, 1, &out) || out.tree->value.value != size_of(&f)) return "size";
    if (!apply(CUTE_OP_COSIZE, &l, 1, &out) || out.tree->value.value != reach + 1) return "cosize";
    return NULL;
}

static const char *same_function(const flat *f, cute_layout result, int64_t beyond)
{
    flat r = flat_of(result);
    if (size_of(&r) != size_of(f)) return "the size changes";
    for (int64_t i = 0; i < size_of(f) + beyond; i++)
        if (at(&r, i) != at(f, i)) return "the function changes";
    return NULL;
}

static const char *simplification(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    const char *wrong;
    if (!apply(CUTE_OP_COALESCE, &l, 1, &out)) return "coalesce is refused";
    if ((wrong = same_function(&f, out.layout, 0))) return wrong;
    if (out.layout.shape->depth > 1) return "coalesce leaves nesting";
    cute_value again;
    if (!apply(CUTE_OP_COALESCE, &out, 1, &again) || !cute_value_equal(&out, &again))
        return "coalesce twice differs";
    if (!apply(CUTE_OP_FLATTEN, &l, 1, &out) || (wrong = same_function(&f, out.layout, 5))) return "flatten";
    /* a profile keeps the extents of the modes */
    cute_value profiled[] = {
        l, cute_value_of_tree(CUTE_COORD,
                              l.layout.shape->kind == CUTE_TREE_TUPLE
                                  ? cute_tree_tuple(arena, l.layout.shape->items, l.layout.shape->count)
                                  : l.layout.shape)};
    if (!apply(CUTE_OP_COALESCE, profiled, 2, &out)) return "coalesce by profile is refused";
    if (!cute_tree_congruent(out.layout.shape, l.layout.shape))
        return "coalesce by profile changes the structure";
    return same_function(&f, out.layout, 0);
}

static const char *composition(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    if (!apply(CUTE_OP_COMPOSITION, in, 2, &out)) return NULL;
    flat r = flat_of(out.layout);
    if (size_of(&r) != size_of(&g)) return "the domain is not that of the second";
    for (int64_t i = 0; i < size_of(&g); i++)
        if (at(&r, i) != at(&f, at(&g, i))) return "R(i) is not A(B(i))";
    return NULL;
}

static const char *complement(const subject *s)
{
    cute_value l = to_layout(&s->a), filtered, out;
    if (!apply(CUTE_OP_FILTER, &l, 1, &filtered)) return "filter is refused";
    flat f = flat_of(filtered.layout);
    for (int variant = 0; variant < 2; variant++) {
        cute_value in[] = {l, tree(CUTE_SHAPE, s->number)};
        if (!apply(CUTE_OP_COMPLEMENT, in, variant ? 2 : 1, &out)) {
            for (int i = 0; i < f.count; i++)
                if (f.stride[i] < 0) return NULL;
            if (injective(&f)) {
                /* interleaved modes have none either: what is refused must overlap in range */
                for (int i = 0; i < f.count; i++)
                    for (int j = 0; j < f.count; j++)
                        if (i != j && f.stride[i] <= f.stride[j] && f.stride[j] < f.stride[i] * f.shape[i])
                            return NULL;
                return "complement of separate modes is refused";
            }
            return NULL;
        }
        flat c = flat_of(out.layout);
        int64_t size = size_of(&c);
        for (int64_t i = 1; i < size; i++)
            if (at(&c, i) <= at(&c, i - 1)) return "the complement is not ascending";
        if (size * size_of(&f) > 4096) continue;
        int64_t seen[4096], n = 0;
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j < size_of(&f); j++) {
                seen[n] = at(&c, i) + at(&f, j);
                for (int64_t k = 0; k < n; k++)
                    if (seen[k] == seen[n]) return "the complement meets the layout";
                n++;
            }
        if (variant && size * size_of(&f) < s->number) {
            /* up to what A itself leaves out behind its last element */
            int64_t reach = 0, widest = 0;
            for (int64_t k = 0; k < n; k++)
                if (seen[k] > reach) reach = seen[k];
            for (int i = 0; i < f.count; i++)
                if (f.stride[i] > widest) widest = f.stride[i];
            if (reach + widest < s->number) return "the complement does not reach the target";
        }
    }
    return NULL;
}

static const char *inverses(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    if (!apply(CUTE_OP_RIGHT_INVERSE, &l, 1, &out)) return "right_inverse is refused";
    flat r = flat_of(out.layout);
    for (int64_t i = 0; i < size_of(&r); i++)
        if (at(&f, at(&r, i)) != i) return "L(R(i)) is not i";
    if (apply(CUTE_OP_LEFT_INVERSE, &l, 1, &out) && injective(&f)) {
        flat inverse = flat_of(out.layout);
        for (int64_t i = 0; i < size_of(&f); i++)
            if (at(&inverse, at(&f, i)) != i) return "R(L(i)) is not i";
    }
    return NULL;
}

static int64_t mode_size(cute_layout l, uint32_t i)
{
    flat f = {.count = 0};
    flatten(l.shape->items[i], l.stride->items[i], &f);
    return size_of(&f);
}

static int64_t mode_at(cute_layout l, uint32_t mode, int64_t i)
{
    flat f = {.count = 0};
    flatten(l.shape->items[mode], l.stride->items[mode], &f);
    return at(&f, i);
}

static const char *divide(const subject *s)
{
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    if (!apply(CUTE_OP_LOGICAL_DIVIDE, in, 2, &out)) return NULL;
    if (out.layout.shape->count != 2) return "a divide has two modes";
    if (mode_size(out.layout, 0) != size_of(&g)) return "mode 0 has not the tiler's size";
    for (int64_t i = 0; i < size_of(&g); i++)
        if (mode_at(out.layout, 0, i) != at(&f, at(&g, i))) return "mode 0 is not A o B";
    return NULL;
}

/* By a number: element t + n*r, for all t < n and as many r as cover the layout. */
static const char *divide_by_number(const subject *s)
{
    cute_value l = to_layout(&s->a), out, flatter;
    if (!apply(CUTE_OP_COALESCE, &l, 1, &flatter)) return "coalesce is refused";
    flat f = flat_of(flatter.layout);
    cute_value in[] = {flatter, cute_value_of_layout((cute_layout){cute_tree_number(arena, s->number),
                                                                   cute_tree_number(arena, 1)})};
    if (!apply(CUTE_OP_LOGICAL_DIVIDE, in, 2, &out)) return NULL;
    int64_t tile = mode_size(out.layout, 0), rest = mode_size(out.layout, 1);
    if (tile != s->number) return "the tile has another size";
    if (tile * rest < size_of(&f)) return "the tiles do not cover the layout";
    for (int64_t r = 0; r < rest; r++)
        for (int64_t t = 0; t < tile; t++) {
            if (t + tile * r >= size_of(&f)) continue;
            if (mode_at(out.layout, 0, t) + mode_at(out.layout, 1, r) != at(&f, t + tile * r))
                return "element t + n*r is another one";
        }
    return NULL;
}

static int compare_indices(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool same_indices(const flat *f, const flat *g)
{
    static int64_t x[1 << 20], y[1 << 20];
    int64_t n = size_of(f);
    if (n != size_of(g) || n > 1 << 20) return n == size_of(g);
    for (int64_t i = 0; i < n; i++) x[i] = at(f, i), y[i] = at(g, i);
    qsort(x, (size_t)n, sizeof *x, compare_indices);
    qsort(y, (size_t)n, sizeof *y, compare_indices);
    return !memcmp(x, y, (size_t)n * sizeof *x);
}

static const char *products(const subject *s)
{
    static const cute_operation others[] = {CUTE_OP_ZIPPED_PRODUCT, CUTE_OP_TILED_PRODUCT,
                                            CUTE_OP_FLAT_PRODUCT, CUTE_OP_BLOCKED_PRODUCT,
                                            CUTE_OP_RAKED_PRODUCT};
    cute_value in[] = {to_layout(&s->a), to_layout(&s->b)}, out, other;
    flat f = flat_of(in[0].layout), g = flat_of(in[1].layout);
    if (!apply(CUTE_OP_LOGICAL_PRODUCT, in, 2, &out)) return NULL;
    flat p = flat_of(out.layout);
    if (size_of(&p) != size_of(&f) * size_of(&g)) return "the product has another size";
    for (int64_t i = 0; i < size_of(&f); i++)
        if (at(&p, i) != at(&f, i)) return "mode 0 is not A";
    /* tiles do not overlap: A* o B is injective if B is, and A* meets A nowhere */
    if (injective(&f) && size_of(&p) <= 2048) {
        bool positive = true;
        for (int i = 0; i < g.count; i++) positive = positive && g.stride[i] >= 0;
        if (positive && injective(&g) && !injective(&p)) return "tiles of an injective product overlap";
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!apply(others[i], in, 2, &other)) {
            if (i < 3) return "another arrangement of the product is refused";
            continue;
        }
        flat q = flat_of(other.layout);
        if (!same_indices(&p, &q)) return "another arrangement of the product has other elements";
    }
    return NULL;
}

/* New elements of n old ones: the same addresses, divided by n; back again, all of them. */
static const char *recast(const subject *s)
{
    static const int64_t up[] = {32, 8}, down[] = {8, 32};
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    for (int i = 0; i < f.count; i++)
        if (f.stride[i] < 0) return NULL;
    cute_attributes attributes = {up, 2};
    cute_diag_clear(diag);
    if (cute_apply(arena, NULL, CUTE_OP_RECAST_LAYOUT, &l, 1, &attributes, &out, diag) == CUTE_OK) {
        flat u = flat_of(out.layout);
        for (int64_t i = 0; i < size_of(&f); i++) {
            bool found = false;
            for (int64_t j = 0; j < size_of(&u) && !found; j++) found = at(&u, j) == at(&f, i) / 4;
            if (!found) return "upcast misses an element";
        }
        for (int64_t j = 0; j < size_of(&u); j++) {
            bool found = false;
            for (int64_t i = 0; i < size_of(&f) && !found; i++) found = at(&u, j) == at(&f, i) / 4;
            if (!found) return "upcast invents an element";
        }
    }
    attributes.values = down;
    if (cute_apply(arena, NULL, CUTE_OP_RECAST_LAYOUT, &l, 1, &attributes, &out, diag) == CUTE_OK) {
        flat d = flat_of(out.layout);
        for (int64_t j = 0; j < size_of(&d); j++) {
            bool found = false;
            for (int64_t i = 0; i < size_of(&f) && !found; i++) found = at(&d, j) / 4 == at(&f, i);
            if (!found) return "downcast invents an element";
        }
    }
    return NULL;
}

static int64_t swizzled(cute_swizzle w, int64_t x)
{
    int64_t mask = ((int64_t)1 << w.bits) - 1;
    if (w.shift >= 0) return x ^ (((x >> (w.base + w.shift)) & mask) << w.base);
    return x ^ (((x >> w.base) & mask) << (w.base - w.shift));
}

/* A slice of a swizzled layout differs from the whole by one constant. */
static const char *swizzled_slice(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    if (l.layout.shape->kind != CUTE_TREE_TUPLE) return NULL;
    int bits = 1 + (int)(s->number % 3), base = (int)(s->number / 3 % 4),
        shift = bits + (int)(s->number / 12 % 3);
    cute_value w = {.type = CUTE_COMPOSED_LAYOUT,
                    .tree = cute_tree_number(arena, s->number % 7 == 0 ? (s->number % 5) * 16 : 0),
                    .layout = l.layout,
                    .swizzle = {bits, base, s->number % 2 ? shift : -shift}};
    uint32_t fixed = (uint32_t)(s->number % l.layout.shape->count);
    cute_tree underscore = {.kind = CUTE_TREE_UNDERSCORE, .leaves = 1};
    const cute_tree *items[MAX_LEAVES];
    int64_t before = 1, value = s->number % mode_size(l.layout, fixed);
    for (uint32_t i = 0; i < l.layout.shape->count; i++) {
        items[i] = i == fixed ? cute_tree_number(arena, value) : &underscore;
        if (i < fixed) before *= mode_size(l.layout, i);
    }
    cute_value in[] = {w,
                       cute_value_of_tree(CUTE_COORD, cute_tree_tuple(arena, items, l.layout.shape->count))};
    if (!apply(CUTE_OP_SLICE, in, 2, &out)) return NULL;
    flat r = flat_of(out.layout);
    int64_t size = size_of(&r), extent = mode_size(l.layout, fixed), difference = 0;
    for (int64_t i = 0; i < size; i++) {
        int64_t whole = i % before + before * value + i / before * before * extent;
        int64_t x = swizzled(w.swizzle, at(&f, whole) + w.tree->value.value), y = at(&r, i);
        if (out.type == CUTE_COMPOSED_LAYOUT) y = swizzled(out.swizzle, y + out.tree->value.value);
        if (i == 0) difference = x - y;
        if (x - y != difference) return "the slice does not follow the whole";
    }
    return NULL;
}

/* ---- running and shrinking ---- */

typedef const char *(*property)(const subject *);

typedef struct case_kind {
    const char *name;
    property holds;
    int kind_a, kind_b, most_a, most_b, limit; /* limit: of `number` */
} case_kind;

static const case_kind kinds[] = {
    {"indices and coordinates agree with a walk over digits", evaluation, 0, 0, 4, 1, 1},
    {"size and cosize are what the extents and strides say", sizes, 0, 0, 6, 1, 1},
    {"coalesce and flatten keep the function", simplification, 0, 0, 6, 1, 1},
    {"a composition is A(B(i)) everywhere or refused", composition, 0, 0, 4, 3, 1},
    {"compositions of compact layouts are right", composition, 1, 2, 4, 3, 1},
    {"a complement is ascending and disjoint", complement, 0, 0, 4, 1, 64},
    {"complements of separate modes exist", complement, 2, 0, 4, 1, 64},
    {"inverses invert", inverses, 2, 0, 4, 1, 1},
    {"right inverses of any layout are right", inverses, 0, 0, 4, 1, 1},
    {"mode 0 of a divide is A o B", divide, 1, 2, 4, 2, 1},
    {"divides by a number cover the layout", divide_by_number, 1, 0, 3, 1, 12},
    {"products repeat A without overlap", products, 2, 1, 3, 3, 1},
    {"recasts have the same addresses", recast, 2, 0, 3, 1, 1},
    {"recasts of any strides have the same addresses or are refused", recast, 0, 0, 3, 1, 1},
    {"slices of swizzled layouts follow the whole", swizzled_slice, 1, 0, 4, 1, 5000},
    {"slices of swizzled layouts of any stride are right or refused", swizzled_slice, 2, 0, 4, 1, 5000},
};

static const char *try_once(const case_kind *k, const subject *s)
{
    begin();
    const char *wrong = k->holds(s);
    end();
    return wrong;
}

static bool remove_leaf(spec *s, int leaf)
{
    if (s->count == 1) return false;
    /* parentheses that lose their leaf are dropped with it: flatten them all */
    for (int i = 0; i < s->count; i++) s->open[i] = s->close[i] = 0;
    for (int i = leaf; i + 1 < s->count; i++) {
        s->shape[i] = s->shape[i + 1];
        s->stride[i] = s->stride[i + 1];
    }
    s->count--;
    return true;
}

/* Smaller subjects that still fail, until none does. */
static subject shrink(const case_kind *k, subject s)
{
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (int which = 0; which < 2 && !smaller; which++)
            for (int i = 0; i < (which ? s.b : s.a).count && !smaller; i++)
                for (int how = 0; how < 3 && !smaller; how++) {
                    subject t = s;
                    spec *x = which ? &t.b : &t.a;
                    if (how == 0 && !remove_leaf(x, i)) continue;
                    if (how == 1 && x->shape[i]-- <= 1) continue;
                    if (how == 2) {
                        if (x->stride[i] == 0) continue;
                        x->stride[i] -= x->stride[i] > 0 ? 1 : -1;
                    }
                    if (try_once(k, &t)) s = t, smaller = true;
                }
    }
    return s;
}

static void report(const case_kind *k, uint64_t seed, const subject *s)
{
    char a[2][512], b[2][512];
    subject small = shrink(k, *s);
    put_tuple(a[0], &small.a, small.a.shape);
    put_tuple(a[1], &small.a, small.a.stride);
    put_tuple(b[0], &small.b, small.b.shape);
    put_tuple(b[1], &small.b, small.b.stride);
    printf("# seed %" PRIu64 ": %s: A = %s:%s, B = %s:%s, number %" PRId64 "\n", seed, try_once(k, &small),
           a[0], a[1], b[0], b[1], small.number);
    test_failed = true;
}

static const case_kind *current;

static void run_property(void)
{
    for (long i = 0; i < cases && !test_failed; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        state = seed * 0x9E3779B97F4A7C15u + 1;
        for (int j = 0; j < 8; j++) random_below(2);
        subject s = {.a = random_spec(current->kind_a, current->most_a),
                     .b = random_spec(current->kind_b, current->most_b),
                     .number = 1 + random_below((uint32_t)current->limit)};
        if (try_once(current, &s)) report(current, seed, &s);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2) cases = strtol(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        current = &kinds[i];
        TEST(current->name, run_property);
    }
    return test_finish();
}
