/* Random layouts for the property tests, an evaluator of layouts that knows nothing of the library's (it
 * flattens them into arrays and walks digits), and a shrinker: what fails is printed as the smallest case
 * that still does.
 *
 *     test_x [seed [cases]]    the seed of a failure is printed with it; cases are counted per property */
#ifndef CUTE_TEST_LAYOUT_RANDOM_H
#define CUTE_TEST_LAYOUT_RANDOM_H

#include "tests/unit/test_layout.h"

static uint64_t state;
static uint64_t first_seed = 20260521;
static long cases;

static inline uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % n);
}

static inline void random_seed(uint64_t seed)
{
    state = seed * 0x9E3779B97F4A7C15u + 1;
    for (int j = 0; j < 8; j++) random_below(2);
}

/* ---- layouts as arrays ---- */

enum { MAX_LEAVES = 8, SLOTS = 4 };

/* A layout before it is one: leaves and the parentheses around them. slot: -1 for an integer stride, k for
 * stride@k, 10 + k for stride@k@1 (then the codomain's mode 1 is a tuple). */
typedef struct spec {
    int64_t shape[MAX_LEAVES], stride[MAX_LEAVES];
    int slot[MAX_LEAVES];
    int open[MAX_LEAVES], close[MAX_LEAVES];
    int count;
} spec;

typedef struct subject {
    spec a, b;
    int64_t number;
} subject;

typedef enum kind { ANY, COMPACT, GAPS, BASIS, NESTED_BASIS, MODES } kind;

static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 5, 6, 8};

/* ANY strides: negative, zero, overlapping; COMPACT in some order; GAPS: the same with gaps; BASIS: scaled
 * basis vectors; MODES: as a layout to compose with, whose strides name the modes of another one. */
static inline spec random_spec(kind k, int most, int64_t largest)
{
    spec s = {.count = 1 + (int)random_below((uint32_t)most)};
    int order[MAX_LEAVES];
    int64_t size = 1, next = 1, reach[SLOTS] = {1, 1, 1, 1};
    for (int i = 0; i < s.count; i++) {
        s.shape[i] = extents[random_below(9)];
        while (size * s.shape[i] > largest) s.shape[i] = 1;
        size *= s.shape[i];
        order[i] = i;
        s.slot[i] = -1;
    }
    for (int i = s.count - 1; i > 0; i--) {
        int j = (int)random_below((uint32_t)i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < s.count; i++) {
        int at = order[i];
        if (k == BASIS || k == NESTED_BASIS || k == MODES) {
            int slot = (int)random_below(k == MODES ? 2 : 3);
            if (k != MODES && random_below(3) == 0) reach[slot] *= 1 + random_below(3);
            s.slot[at] = k == NESTED_BASIS && slot ? 10 + slot - 1 : slot;
            s.stride[at] = random_below(8) ? reach[slot] : 0;
            if (k == MODES && random_below(4) == 0) s.stride[at] = 1 + random_below(4);
            if (s.stride[at] == 0) s.slot[at] = -1;
            reach[slot] *= s.shape[at];
            continue;
        }
        if (k == ANY) {
            s.stride[at] = (int64_t)random_below(14) - 2;
            if (random_below(3) == 0) s.stride[at] = next;
        } else {
            if (k == GAPS && random_below(3) == 0) next *= 1 + random_below(3);
            s.stride[at] = next;
        }
        next *= s.shape[at];
    }
    for (int i = 0; i + 1 < s.count; i++) /* group some neighbours */
        if (random_below(3) == 0) {
            int last = i + 1 + (int)random_below((uint32_t)(s.count - i - 1));
            s.open[i]++;
            s.close[last]++;
            i = last;
        }
    return s;
}

static inline void put_tuple(char *out, const spec *s, bool strides)
{
    char *p = out;
    if (s->count > 1) *p++ = '(';
    for (int i = 0; i < s->count; i++) {
        if (i) *p++ = ',';
        for (int k = 0; k < s->open[i]; k++) *p++ = '(';
        p += sprintf(p, "%" PRId64, strides ? s->stride[i] : s->shape[i]);
        if (strides && s->slot[i] >= 10)
            p += sprintf(p, "@%d@1", s->slot[i] - 10);
        else if (strides && s->slot[i] >= 0)
            p += sprintf(p, "@%d", s->slot[i]);
        for (int k = 0; k < s->close[i]; k++) *p++ = ')';
    }
    if (s->count > 1) *p++ = ')';
    *p = 0;
}

static inline const char *spec_text(const spec *s, char *text)
{
    put_tuple(text, s, false);
    strcat(text, ":");
    put_tuple(text + strlen(text), s, true);
    return text;
}

static inline cute_value to_layout(const spec *s)
{
    char text[1024];
    cute_value v = {.type = CUTE_LAYOUT};
    spec_text(s, text);
    if (cute_value_parse(arena, CUTE_LAYOUT, text, strlen(text), &v, NULL, diag) != CUTE_OK) {
        printf("# %s: %s\n", text, first_message());
        test_failed = true;
    }
    return v;
}

/* ---- an evaluator of its own ---- */

typedef struct flat {
    int64_t shape[256], stride[256];
    int slot[256];
    int count;
} flat;

/* An index: one number for each basis vector; integers are number 0. */
typedef struct point {
    int64_t at[SLOTS];
} point;

static inline int slot_of(const cute_tree *stride)
{
    if (stride->kind != CUTE_TREE_BASIS) return 0;
    if (stride->count == 1) return stride->path[0] < SLOTS ? stride->path[0] : SLOTS - 1;
    return 1 + stride->path[1]; /* k@1: 1 + k */
}

static inline void flatten(const cute_tree *shape, const cute_tree *stride, flat *out)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++) flatten(shape->items[i], stride->items[i], out);
        return;
    }
    if (out->count == 256) abort();
    out->shape[out->count] = shape->value.value;
    out->slot[out->count] = slot_of(stride);
    out->stride[out->count++] = stride->value.value;
}

static inline flat flat_of(cute_layout layout)
{
    flat f;
    f.count = 0;
    flatten(layout.shape, layout.stride, &f);
    return f;
}

/* A mode of a layout; a leaf is its own mode 0. */
static inline flat mode_of(cute_layout layout, uint32_t i)
{
    flat f;
    f.count = 0;
    if (layout.shape->kind == CUTE_TREE_TUPLE)
        flatten(layout.shape->items[i], layout.stride->items[i], &f);
    else
        flatten(layout.shape, layout.stride, &f);
    return f;
}

static inline int64_t size_of(const flat *f)
{
    int64_t size = 1;
    for (int i = 0; i < f->count; i++) size *= f->shape[i];
    return size;
}

/* L(i) for integer strides. */
static inline int64_t at(const flat *f, int64_t i)
{
    int64_t index = 0;
    for (int k = 0; k < f->count; k++) {
        int64_t digit = k + 1 < f->count ? i % f->shape[k] : i;
        index += digit * f->stride[k];
        i /= f->shape[k];
    }
    return index;
}

static inline point point_at(const flat *f, int64_t i)
{
    point p = {{0}};
    for (int k = 0; k < f->count; k++) {
        int64_t digit = k + 1 < f->count ? i % f->shape[k] : i;
        p.at[f->slot[k]] += digit * f->stride[k];
        i /= f->shape[k];
    }
    return p;
}

static inline point plus(point x, point y)
{
    for (int i = 0; i < SLOTS; i++) x.at[i] += y.at[i];
    return x;
}

static inline bool same_point(point x, point y)
{
    return memcmp(&x, &y, sizeof x) == 0;
}

static inline bool injective(const flat *f)
{
    int64_t size = size_of(f);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < i; j++)
            if (at(f, i) == at(f, j)) return false;
    return true;
}

/* ---- calling ---- */

static inline bool apply(cute_operation op, const cute_value *in, size_t n, cute_value *out)
{
    cute_diag_clear(diag);
    return cute_apply(arena, NULL, op, in, n, NULL, out, diag) == CUTE_OK;
}

static inline bool apply_with(cute_operation op, const int64_t *attributes, size_t count,
                              const cute_value *in, size_t n, cute_value *out)
{
    cute_attributes list = {attributes, count};
    cute_diag_clear(diag);
    return cute_apply(arena, NULL, op, in, n, &list, out, diag) == CUTE_OK;
}

static inline cute_value number_value(cute_type type, int64_t value)
{
    return cute_value_of_tree(type, cute_tree_number(arena, value));
}

static inline cute_value shape_value(const cute_value *layout)
{
    return cute_value_of_tree(CUTE_SHAPE, layout->layout.shape);
}

static inline uint32_t rank_of(const cute_tree *t)
{
    return t->kind == CUTE_TREE_TUPLE ? t->count : 1;
}

static inline const cute_tree *mode_tree(const cute_tree *t, uint32_t i)
{
    return t->kind == CUTE_TREE_TUPLE ? t->items[i] : t;
}

static inline int64_t product_of(const cute_tree *t)
{
    if (t->kind != CUTE_TREE_TUPLE) return t->value.value;
    int64_t product = 1;
    for (uint32_t i = 0; i < t->count; i++) product *= product_of(t->items[i]);
    return product;
}

/* The leaves of a tuple of integers in order; returns how many. */
static inline int leaves_of(const cute_tree *t, int64_t *out)
{
    if (t->kind != CUTE_TREE_TUPLE) return *out = t->value.value, 1;
    int n = 0;
    for (uint32_t i = 0; i < t->count; i++) n += leaves_of(t->items[i], out + n);
    return n;
}

static const cute_tree wildcard = {.kind = CUTE_TREE_UNDERSCORE, .leaves = 1};

/* ---- running and shrinking ---- */

/* Returns what does not hold, or NULL. Operations may refuse where the property says so. */
typedef const char *(*property)(const subject *);

typedef struct case_kind {
    const char *name;
    property holds;
    kind kind_a, kind_b;
    int most_a, most_b; /* leaves */
    uint32_t limit;     /* of `number` */
    int share;          /* of the cases, in percent */
} case_kind;

static const case_kind *current;
static long cases_run;

static inline const char *try_once(const case_kind *k, const subject *s)
{
    begin();
    const char *wrong = k->holds(s);
    end();
    return wrong;
}

/* A property that asks the RNG asks it the same each time. */
static uint64_t case_seed;
static inline const char *try_seeded(const case_kind *k, const subject *s)
{
    random_seed(case_seed ^ 0x5555);
    return try_once(k, s);
}

static inline bool remove_leaf(spec *s, int leaf)
{
    if (s->count == 1) return false;
    /* parentheses that lose their leaf are dropped with it: flatten them all */
    for (int i = 0; i < s->count; i++) s->open[i] = s->close[i] = 0;
    for (int i = leaf; i + 1 < s->count; i++) {
        s->shape[i] = s->shape[i + 1];
        s->stride[i] = s->stride[i + 1];
        s->slot[i] = s->slot[i + 1];
    }
    s->count--;
    return true;
}

static inline bool make_smaller(spec *x, int i, int how)
{
    switch (how) {
    case 0: return remove_leaf(x, i);
    case 1: return x->shape[i]-- > 1;
    default:
        if (x->stride[i] == 0) return false;
        x->stride[i] -= x->stride[i] > 0 ? 1 : -1;
        if (x->stride[i] == 0) x->slot[i] = -1;
        return true;
    }
}

/* Smaller subjects that still fail, until none does. */
static inline subject shrink(const case_kind *k, subject s)
{
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (int which = 0; which < 2 && !smaller; which++)
            for (int i = 0; i < (which ? s.b : s.a).count && !smaller; i++)
                for (int how = 0; how < 3 && !smaller; how++) {
                    subject t = s;
                    if (!make_smaller(which ? &t.b : &t.a, i, how)) continue;
                    if (try_seeded(k, &t)) s = t, smaller = true;
                }
        for (int64_t n = 0; n < s.number && !smaller; n = n ? 2 * n : 1) {
            subject t = s;
            t.number = n;
            if (try_seeded(k, &t)) s = t, smaller = true;
        }
    }
    return s;
}

static inline void report(const case_kind *k, uint64_t seed, const subject *s)
{
    char a[1024], b[1024];
    subject small = shrink(k, *s);
    const char *wrong = try_seeded(k, &small);
    printf("# seed %" PRIu64 ": %s: A = %s, B = %s, number %" PRId64 "\n", seed, wrong,
           spec_text(&small.a, a), spec_text(&small.b, b), small.number);
    test_failed = true;
}

static inline void run_property(void)
{
    long count = cases * current->share / 100;
    for (long i = 0; i < count && !test_failed; i++) {
        case_seed = first_seed + (uint64_t)i;
        random_seed(case_seed);
        subject s = {.a = random_spec(current->kind_a, current->most_a, 512),
                     .b = random_spec(current->kind_b, current->most_b, 64),
                     .number = random_below(current->limit)};
        cases_run++;
        if (try_seeded(current, &s)) report(current, case_seed, &s);
    }
}

static inline int run_properties(int argc, char **argv, long default_cases, const case_kind *kinds,
                                 size_t count)
{
    cases = default_cases;
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2) cases = strtol(argv[2], NULL, 10);
    for (size_t i = 0; i < count; i++) {
        current = &kinds[i];
        TEST(current->name, run_property);
    }
    printf("# %ld cases from seed %" PRIu64 "\n", cases_run, first_seed);
    return test_finish();
}

#endif
