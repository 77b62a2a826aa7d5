/* The implementation of num_dot_lanes, for vectors of LANES 32-bit lanes (16, 8 or 4) and functions with the
 * attribute TARGET; NUM_DOT_TABLE names its table. Each .c file that includes it defines one implementation.
 *
 * A block is 2 * LANES lanes of a piece's rows by its even and its odd columns: four vectors of sums. The
 * exponents of the four sums are the bytes of one 32-bit lane: bytes 0 and 1 for the even and odd columns of
 * the first LANES lanes, bytes 2 and 3 for the others. Bytes are exponents relative to the piece's largest,
 * which is RAISE, and at least -64: the sum of two is in -128 to 126; a negative sum may be inexact, others
 * are exact. */
#include <string.h>

#include "lib/numeric/dot.h"

#define INLINE   static inline __attribute__((always_inline)) TARGET
#define FUNCTION static TARGET

typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef int8_t bytes __attribute__((vector_size(4 * LANES)));

enum {
    VECTORS = NUM_LANES / LANES,
    BLOCKS = VECTORS / 2,
    BIAS = 127,
    ZERO = -126,    /* the exponent of a zero */
    NOTHING = 1024, /* larger than any exponent */
    RAISE = 63,
    LOWEST = -64,
    HALF_FLOOR = -14,
    HALF_ZERO = 0x33000000 /* 2^-25, the largest number that is 0 in f16 */
};

#define SELECT(mask, x, y) (((x) & (ints)(mask)) | ((y) & ~(ints)(mask)))
#define ALL(x)             ((ints){0} + (x))
/* Operations with instructions that compilers do not select. */
#ifndef MOST
#define MOST(x, y)       SELECT((x) > (y), x, y)
#define LEAST(x, y)      SELECT((x) < (y), x, y)
#define MOST_BYTES(x, y) (((x) & ((x) > (y))) | ((y) & ~((x) > (y))))
#endif
/* x if a < b or a is 0; else y. */
#ifndef WHERE_LESS
#define WHERE_LESS(a, b, x, y) SELECT((a) < (b), x, y)
#define WHERE_ZERO(a, x, y)    SELECT((a) == 0, x, y)
#endif

INLINE floats load(const float *at)
{
    floats v;
    memcpy(&v, at, sizeof v);
    return v;
}

INLINE ints load_ints(const int32_t *at)
{
    ints v;
    memcpy(&v, at, sizeof v);
    return v;
}

INLINE void store(void *at, floats v)
{
    memcpy(at, &v, sizeof v);
}

INLINE void store_ints(void *at, ints v)
{
    memcpy(at, &v, sizeof v);
}

INLINE bool any(ints v)
{
#ifdef ANY
    return ANY(v);
#endif
    uint64_t parts[sizeof v / 8], some = 0;
    memcpy(parts, &v, sizeof v);
    for (size_t i = 0; i < sizeof v / 8; i++) some |= parts[i];
    return some != 0;
}

/* ---- elements ---- */

/* num_widen_half, except for the payload of a NaN. */
INLINE ints widen_half(ints h)
{
#ifdef WIDEN_HALF
    return WIDEN_HALF(h);
#endif
    ints magnitude = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    ints small = (ints)((floats)(magnitude + (113 << 23)) - (floats)ALL(113 << 23));
    ints r = SELECT(magnitude < 0x00800000, small, magnitude + (112 << 23));
    return SELECT(magnitude >= 0x0f800000, magnitude + (224 << 23), r) | sign;
}

/* num_narrow_half. */
INLINE ints narrow_half(ints f)
{
    ints magnitude = f & 0x7fffffff, sign = (f >> 16) & 0x8000;
    ints normal = (magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    ints small = (ints)((floats)magnitude + 0.5f) - 0x3f000000;
    ints r = SELECT(magnitude < (113 << 23), small, normal);
    r = SELECT(magnitude >= 0x47800000, ALL(0x7c00), r);
    return SELECT(magnitude > 0x7f800000, ALL(0x7fff), r | sign);
}

/* Element `h` of each word, as bits of f32. */
INLINE ints element_of(ptx_type type, ints word, int h)
{
    switch (type) {
    case PTX_f16: return widen_half(word >> (16 * h) & 0xffff);
    case PTX_bf16: return h ? word & (int32_t)0xffff0000 : word << 16;
    case PTX_tf32: return word & ~0x1fff;
    case PTX_e5m2: return widen_half((word >> (8 * h) & 0xff) << 8); /* the upper half of an f16 */
    case PTX_e4m3: {                                                 /* except for NaN, which becomes 480 */
        words x = (words)(word << (24 - 8 * h));
        ints magnitude = (ints)(x >> 4) & 0x07f00000;
        /* A subnormal is its fraction with a fixed exponent, minus the implicit one of that exponent. */
        ints small = (ints)((floats)(magnitude + (121 << 23)) - (floats)ALL(121 << 23));
        ints wide = WHERE_LESS(magnitude, ALL(0x00800000), small, magnitude + (120 << 23));
        return wide | ((ints)x & INT32_MIN);
    }
    case PTX_s8: return (ints) __builtin_convertvector(word << (24 - 8 * h) >> 24, floats);
    case PTX_u8: return (ints) __builtin_convertvector(word >> (8 * h) & 0xff, floats);
    case PTX_s4: return (ints) __builtin_convertvector(word << (28 - 4 * h) >> 28, floats);
    default: return (ints) __builtin_convertvector(word >> (4 * h) & 0xf, floats); /* u4 */
    }
}

/* Reduces all lanes by OP, into each lane. */
#define TURN(v, by) __builtin_shufflevector(v, v, TURNED(by))
#if LANES == 16
#define TURNED(n)                                                                                            \
    n % 16, (1 + n) % 16, (2 + n) % 16, (3 + n) % 16, (4 + n) % 16, (5 + n) % 16, (6 + n) % 16,              \
        (7 + n) % 16, (8 + n) % 16, (9 + n) % 16, (10 + n) % 16, (11 + n) % 16, (12 + n) % 16,               \
        (13 + n) % 16, (14 + n) % 16, (15 + n) % 16
#define FOLD(OP, v)                                                                                          \
    (v = OP(v, TURN(v, 8)), v = OP(v, TURN(v, 4)), v = OP(v, TURN(v, 2)), v = OP(v, TURN(v, 1)))
#elif LANES == 8
#define TURNED(n)                                                                                            \
    n % 8, (1 + n) % 8, (2 + n) % 8, (3 + n) % 8, (4 + n) % 8, (5 + n) % 8, (6 + n) % 8, (7 + n) % 8
#define FOLD(OP, v) (v = OP(v, TURN(v, 4)), v = OP(v, TURN(v, 2)), v = OP(v, TURN(v, 1)))
#else
#define TURNED(n)   n % 4, (1 + n) % 4, (2 + n) % 4, (3 + n) % 4
#define FOLD(OP, v) (v = OP(v, TURN(v, 2)), v = OP(v, TURN(v, 1)))
#endif

/* The elements of a piece and, for floating-point elements, their exponents, in the order of num_side: 32
 * lanes are four steps. The exponents of 8-bit elements are bytes of words, like the elements. */
typedef struct elements {
    _Alignas(64) int32_t values[NUM_MOST_STEPS / 4][NUM_LANES];
    _Alignas(64) int32_t exponents[NUM_MOST_STEPS / 4][NUM_LANES];
} elements;

#define ALL_BYTES(x)  ((bytes){0} + (int8_t)(x))
#define MOST_IN(x, y) ((ints)MOST_BYTES((bytes)(x), (bytes)(y)))

INLINE int most_byte(ints v)
{
    FOLD(MOST_IN, v);
    bytes b = (bytes)v;
    int low = b[0] > b[1] ? b[0] : b[1], high = b[2] > b[3] ? b[2] : b[3];
    return low > high ? low : high;
}

/* The exponents of a piece of e4m3 or e5m2, four at a time, as relative bytes. */
INLINE void open_bytes(ptx_type type, const num_source *s, const uint32_t *const *from, elements *to,
                       num_side *out)
{
    enum { BASE = 32 }; /* added to exponents, so that a zero is 0 */
    bool four = type == PTX_e4m3;
    ints most = {0}, room = {0}, special = {0};
    for (int c = 0; c < s->chunks; c++)
        for (int v = 0; v < VECTORS; v++) {
            ints magnitude = load_ints((const int32_t *)from[c] + v * LANES) & 0x7f7f7f7f;
            bytes m = (bytes)magnitude, zero = m == 0;
            bytes e = (bytes)(four ? magnitude >> 3 & 0x0f0f0f0f : magnitude >> 2 & 0x1f1f1f1f);
            special |= (ints)(four ? m == 0x7f : e == 0x1f);
            /* Subnormals have the type's smallest exponent, but e4m3 becomes f16. */
            e = four && s->floor < -6 ? e + (m < 4) + (m < 2) : MOST_BYTES(e, ALL_BYTES(1));
            e = (e + (int8_t)(BASE - (four ? 7 : 15))) & ~zero;
            most = MOST_IN(most, e);
            room = MOST_IN(room, (INT8_MAX - e) & ~zero);
            store_ints(to->exponents[c] + v * LANES, (ints)e);
        }
    int top = most_byte(most), least = most_byte(room);
    out->floor = s->floor;
    out->special = any(special);
    out->least = least ? INT8_MAX - least - BASE : NOTHING;
    out->most = out->special ? 128 : top ? top - BASE : ZERO;
    int of_zero = ZERO - out->most + RAISE, up = RAISE - BASE - out->most;
    for (int c = 0; c < s->chunks; c++)
        for (int v = 0; v < VECTORS; v++) {
            bytes e = (bytes)load_ints(to->exponents[c] + v * LANES), zero = e == 0;
            e = ((e + (int8_t)up) & ~zero) | (ALL_BYTES(of_zero < LOWEST ? LOWEST : of_zero) & zero);
            store_ints(to->exponents[c] + v * LANES, (ints)e);
        }
}

INLINE void open_type(ptx_type type, const num_source *s, const uint32_t *const *from, elements *to,
                      num_side *out)
{
    enum { NAN_OF_E4M3 = 0x43f00000 }; /* 480 */
    int bits = ptx_types[type].bits, chunks = s->chunks;
    bool real = ptx_types[type].kind == PTX_FLOAT, small = type == PTX_e4m3 || type == PTX_e5m2;
    /* Exponents as encoded in f32; that of a zero is not the smallest. */
    ints least = ALL(NOTHING + BIAS), most = ALL(ZERO + BIAS), floor = ALL(s->floor + BIAS);
    ints flip = ALL((int32_t)(!s->negate   ? 0
                              : bits == 8  ? 0x80808080
                              : bits == 16 ? 0x80008000
                                           : 0x80000000));
    if (small) open_bytes(type, s, from, to, out);
    bool nan = type == PTX_e4m3 && out->special;
    for (int c = 0; c < chunks; c++)
        for (int v = 0; v < VECTORS; v++) {
            ints word = load_ints((const int32_t *)from[c] + v * LANES) ^ flip;
            for (int h = 0; h < 32 / bits; h++) {
                ints x = element_of(type, word, h);
                if (nan) x = WHERE_LESS(x & INT32_MAX, ALL(NAN_OF_E4M3), x, ALL(INT32_MAX));
                store_ints(to->values[h * chunks + c] + v * LANES, x);
                if (!real || small) continue;
                ints magnitude = x << 1, e = MOST((ints)((words)magnitude >> 24), floor);
                least = LEAST(least, WHERE_ZERO(magnitude, ALL(NOTHING + BIAS), e));
                e = WHERE_ZERO(magnitude, ALL(ZERO + BIAS), e);
                most = MOST(most, e);
                store_ints(to->exponents[h * chunks + c] + v * LANES, e);
            }
        }
    if (!real || small) return;
    FOLD(LEAST, least);
    FOLD(MOST, most);
    out->floor = s->floor;
    out->least = least[0] - BIAS;
    out->most = most[0] - BIAS;
    out->special = out->most == 128;
}

FUNCTION int open_piece(const num_source *s, const uint32_t *const *from, elements *to, num_side *out)
{
    switch (s->type) {
    case PTX_f16: open_type(PTX_f16, s, from, to, out); break;
    case PTX_bf16: open_type(PTX_bf16, s, from, to, out); break;
    case PTX_tf32: open_type(PTX_tf32, s, from, to, out); break;
    case PTX_e4m3: open_type(PTX_e4m3, s, from, to, out); break;
    case PTX_e5m2: open_type(PTX_e5m2, s, from, to, out); break;
    case PTX_s8: open_type(PTX_s8, s, from, to, out); return 0;
    case PTX_u8: open_type(PTX_u8, s, from, to, out); return 0;
    case PTX_s4: open_type(PTX_s4, s, from, to, out); return 0;
    default: open_type(PTX_u4, s, from, to, out); return 0;
    }
    return 1;
}

/* The position of a group of 32 elements: element `h` of the words of chunk `c`. */
typedef struct group {
    bool small; /* exponents are those of open_bytes */
    int chunks, n, h, c;
} group;

INLINE group first_group(const num_source *s)
{
    return (group){.small = ptx_types[s->type].bits == 8, .chunks = s->chunks};
}

INLINE void next_group(group *g)
{
    g->n++;
    if (++g->c < g->chunks) return;
    g->c = 0;
    g->h++;
}

/* Exponents from lane `at` on, clamped to bytes. */
INLINE ints relative(const elements *x, const group *g, int at, int top)
{
    if (g->small) return load_ints(x->exponents[g->c] + at) >> (8 * g->h) & 0xff;
    ints e = load_ints(x->exponents[g->n] + at) + (RAISE - BIAS - top);
    return MOST(e, ALL(LOWEST)) & 0xff;
}

/* Broadcasts lane t of each group of four: row g of step t. */
#if LANES == 16
#define QUAD(v, t)                                                                                           \
    __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t, 8 + t, 8 + t, 8 + t, 8 + t,        \
                            12 + t, 12 + t, 12 + t, 12 + t)
#elif LANES == 8
#define QUAD(v, t) __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t)
#else
#define QUAD(v, t) __builtin_shufflevector(v, v, t, t, t, t)
#endif

INLINE void open_rows(bool real, const num_source *s, const elements *x, num_side *out)
{
    int groups = s->chunks * 32 / ptx_types[s->type].bits, top = real ? out->most : 0;
    for (group g = first_group(s); g.n < groups; next_group(&g)) {
        num_step *step = out->steps + 4 * g.n;
#define STEP(t) store((float *)step[t].values + v * LANES, QUAD(f, t)) /* both rows of it */
        for (int v = 0; v < VECTORS; v++) {
            floats f = load((const float *)x->values[g.n] + v * LANES);
            STEP(0);
            STEP(1);
            STEP(2);
            STEP(3);
        }
#undef STEP
#define STEP(t) store_ints(step[t].exponents + v * LANES, QUAD(e, t))
        for (int v = 0; real && v < BLOCKS; v++) {
            int at = 2 * v * LANES;
            ints e = relative(x, &g, at, top) | relative(x, &g, at + LANES, top) << 16;
            e |= e << 8;
            STEP(0);
            STEP(1);
            STEP(2);
            STEP(3);
        }
#undef STEP
    }
}

FUNCTION void rows(const num_source *s, const uint32_t *const *from, num_side *out)
{
    elements x;
    if (open_piece(s, from, &x, out))
        open_rows(true, s, &x, out);
    else
        open_rows(false, s, &x, out);
}

/* Columns p, 2 + p, 4 + p and 6 + p of step t, for all lanes: from 32 lanes, the lanes 4 * column + t. */
#if LANES == 16
#define COLUMN(from, p, t)                                                                                   \
    __builtin_shufflevector(load_ints(from), load_ints((from) + 16), 4 * p + t, 8 + 4 * p + t,               \
                            16 + 4 * p + t, 24 + 4 * p + t, 4 * p + t, 8 + 4 * p + t, 16 + 4 * p + t,        \
                            24 + 4 * p + t, 4 * p + t, 8 + 4 * p + t, 16 + 4 * p + t, 24 + 4 * p + t,        \
                            4 * p + t, 8 + 4 * p + t, 16 + 4 * p + t, 24 + 4 * p + t)
#else
INLINE ints column(const int32_t *from, int p, int t)
{
    ints v;
    for (int i = 0; i < LANES; i++) v[i] = from[8 * (i % 4) + 4 * p + t];
    return v;
}
#define COLUMN(from, p, t) column(from, p, t)
#endif

INLINE void open_columns(bool real, const num_source *s, const elements *x, num_side *out)
{
    int32_t exponents[NUM_LANES];
    int groups = s->chunks * 32 / ptx_types[s->type].bits, top = real ? out->most : 0;
    for (group g = first_group(s); g.n < groups; next_group(&g)) {
        num_step *step = out->steps + 4 * g.n;
        for (int v = 0; real && v < VECTORS; v++)
            store_ints(exponents + v * LANES, relative(x, &g, v * LANES, top));
#define STEP(t)                                                                                              \
    store_ints(step[t].values[0], COLUMN(x->values[g.n], 0, t));                                             \
    store_ints(step[t].values[1], COLUMN(x->values[g.n], 1, t));                                             \
    if (real) {                                                                                              \
        ints e = COLUMN(exponents, 0, t) | COLUMN(exponents, 1, t) << 8;                                     \
        store_ints(step[t].exponents, e | e << 16);                                                          \
    }
        STEP(0)
        STEP(1)
        STEP(2)
        STEP(3)
#undef STEP
    }
}

FUNCTION void columns(const num_source *s, const uint32_t *const *from, num_side *out)
{
    elements x;
    if (open_piece(s, from, &x, out))
        open_columns(true, s, &x, out);
    else
        open_columns(false, s, &x, out);
}

/* ---- sums of floats ---- */

/* Two pieces and their common properties. */
typedef struct pair {
    const num_side *a, *b;
    const num_step *x, *y; /* `count` steps of each */
    int count;
    int base;  /* the exponent of a product whose byte is 0 */
    int zero;  /* upper bound of the exponent of products with a zero */
    bool tiny; /* nonzero products may be too small for the fast paths */
} pair;

/* The largest exponents of the products of a block at lane `at`. */
INLINE bytes largest(const pair *p, int count, int at)
{
    bytes most = (bytes){0} + (int8_t)-128;
    for (int l = 0; l < count; l++) {
        bytes e = (bytes)load_ints(p->x[l].exponents + at / 2) + (bytes)load_ints(p->y[l].exponents);
        most = MOST_BYTES(e, most);
    }
    return most;
}

/* Adds and rounds the sum of aligned products, below 2^31, and the accumulator, below 2^26. `scale` is the
 * power of two that scales the last significant bit to 1. */
INLINE ints finish(const num_dot_rule *rule, floats scale, floats accumulator, words products)
{
    ints c = __builtin_convertvector(accumulator * scale, ints), all = (ints)(products + (words)c);
    ints sign = (all ^ (((ints)products ^ all) & (c ^ all))) >> 31;
    words magnitude = (words)(all ^ sign) - (words)sign;
    /* Clears the first truncated bit: rounding to nearest then rounds towards zero. */
    words cut = magnitude & ~(magnitude >> 24);
    ints r = (ints) __builtin_convertvector(cut, floats);
    if (rule->half) {
        /* Round to odd before the final rounding to nearest. */
        words back = __builtin_convertvector((floats)r, words);
        r |= (ints)(back != magnitude) & 1;
    } else if (rule->result < 23) {
        r &= ~((1 << (23 - rule->result)) - 1);
    }
    r = (ints)((floats)r * (floats)((2 * BIAS << 23) - (ints)scale));
    ints result = r | (sign & INT32_MIN);
    return rule->half ? result & (r > HALF_ZERO) : result;
}

/* The four sums of a block at lane `at`, starting with c, aligned by scale; `count` as in the pair. */
INLINE void sums(const num_dot_rule *rule, const pair *p, int count, int at, const floats scale[4],
                 const floats c[4], float *const d[2])
{
    floats s0 = scale[0], s1 = scale[1], s2 = scale[2], s3 = scale[3];
    words t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
    for (int l = 0; l < count; l++) {
        const float *x = (const float *)p->x[l].values + at;
        floats x0 = load(x), x1 = load(x + LANES);
        floats y0 = load(p->y[l].values[0]), y1 = load(p->y[l].values[1]);
        t0 += (words) __builtin_convertvector(x0 * y0 * s0, ints);
        t1 += (words) __builtin_convertvector(x0 * y1 * s1, ints);
        t2 += (words) __builtin_convertvector(x1 * y0 * s2, ints);
        t3 += (words) __builtin_convertvector(x1 * y1 * s3, ints);
    }
    store_ints(d[0] + at, finish(rule, s0, c[0], t0));
    store_ints(d[1] + at, finish(rule, s1, c[1], t1));
    store_ints(d[0] + at + LANES, finish(rule, s2, c[2], t2));
    store_ints(d[1] + at + LANES, finish(rule, s3, c[3], t3));
}

/* The power of two that aligns to the largest exponent e, as encoded in f32. */
INLINE floats scale_of(const num_dot_rule *rule, ints e)
{
    return (floats)((rule->fraction + 2 * BIAS - e) << 23);
}

/* Exponents of accumulators as encoded in f32; 0 is treated as 1. */
INLINE ints exponent_of(const num_dot_rule *rule, floats c)
{
    ints e = (ints)((words)c << 1 >> 24);
    return rule->half ? SELECT(((words)c << 1) == 0, e, MOST(e, ALL(HALF_FLOOR + BIAS))) : e;
}

enum { LOW = -100 }; /* a product below 2^-125 is truncated entirely if the largest exponent is not smaller */

/* Computes a block if bytes represent all exponents and none is low; otherwise returns false without
 * effect. */
INLINE bool block(const num_dot_rule *rule, const pair *p, int count, int at, const float *const c[2],
                  float *const d[2])
{
    bytes most = largest(p, count, at);
    floats in[4] = {load(c[0] + at), load(c[1] + at), load(c[0] + at + LANES), load(c[1] + at + LANES)};
    floats scale[4];
    ints up = ALL(p->base + BIAS);
    words out = {0};
#define ONE(n)                                                                                               \
    ints e##n = (ints)((words)most << (24 - 8 * n) >> 24) + up;                                              \
    e##n = MOST(e##n, exponent_of(rule, in[n]));                                                             \
    out |= (words)((words)(e##n - (LOW + BIAS)) >= 255 - (LOW + BIAS)); /* 255: infinity, NaN */             \
    scale[n] = scale_of(rule, e##n);
    ONE(0)
    ONE(1)
    ONE(2)
    ONE(3)
#undef ONE
    if (any((ints)out | ((ints)most & (int32_t)0x80808080))) return false;
    sums(rule, p, count, at, scale, in, d);
    return true;
}

/* Zeros accept any scale. A negative byte belongs to zeros, except for tiny products; the accumulator's
 * exponent is the largest if that of a zero cannot be. `bad`: lanes that need the slow path. */
INLINE floats align(const num_dot_rule *rule, const pair *p, bytes most, int byte, floats c, ints *bad)
{
    ints mine = exponent_of(rule, c) - BIAS, zero = ((words)c << 1) == 0;
    ints e = (ints)((words)most << (24 - 8 * byte)) >> 24, unknown = e < 0, always = ALL(p->tiny ? -1 : 0);
    *bad = mine == 128;
    mine = MOST(mine, ALL(ZERO));
    e = SELECT(unknown, mine, MOST(e + p->base, mine));
    *bad |= (e < LOW) & (always | ~zero);
    *bad |= unknown & (always | (~zero & (mine < p->zero)));
    return scale_of(rule, MOST(e, ALL(LOW)) + BIAS);
}

/* The lanes of the n-th sum of a block that vectors cannot compute. */
FUNCTION void slow(const num_dot_rule *rule, const pair *p, int at, int n, ints bad, const floats *c,
                   float *const d[2])
{
    size_t stride = sizeof(num_step) / sizeof(float);
    const float *x = (const float *)p->x->values + at + n / 2 * LANES, *y = p->y->values[n % 2];
    for (int l = 0; l < LANES; l++)
        if (bad[l])
            d[n % 2][at + n / 2 * LANES + l] = num_dot_element(rule, p->count, x + l, stride, p->a->floor,
                                                               y + l % 4, stride, p->b->floor, (*c)[l]);
}

__attribute__((noinline)) FUNCTION void careful_block(const num_dot_rule *rule, const pair *p, bool all_slow,
                                                      int at, const float *const c[2], float *const d[2])
{
    floats in[4] = {load(c[0] + at), load(c[1] + at), load(c[0] + at + LANES), load(c[1] + at + LANES)};
    floats scale[4];
    ints bad[4] = {ALL(-1), ALL(-1), ALL(-1), ALL(-1)};
    if (!all_slow) {
        bytes most = largest(p, p->count, at);
        scale[0] = align(rule, p, most, 0, in[0], &bad[0]);
        scale[1] = align(rule, p, most, 1, in[1], &bad[1]);
        scale[2] = align(rule, p, most, 2, in[2], &bad[2]);
        scale[3] = align(rule, p, most, 3, in[3], &bad[3]);
        sums(rule, p, p->count, at, scale, in, d);
    }
    for (int n = 0; n < 4; n++)
        if (any(bad[n])) slow(rule, p, at, n, bad[n], &in[n], d);
}

INLINE void blocks(const num_dot_rule *rule, const pair *p, int count, const float *const c[2],
                   float *const d[2])
{
    for (int n = 0; n < BLOCKS; n++)
        if (!block(rule, p, count, 2 * n * LANES, c, d)) careful_block(rule, p, false, 2 * n * LANES, c, d);
}

FUNCTION void float_sums(const num_dot_rule *rule, int first, int count, const num_side *a, const num_side *b,
                         const float *const c[2], float *const d[2])
{
    static const num_dot_rule single = {.fraction = 25, .result = 23};
    pair p = {.a = a, .b = b, .x = a->steps + first, .y = b->steps + first, .count = count};
    p.base = a->most + b->most - 2 * RAISE;
    p.zero = ZERO + (a->most > b->most ? a->most : b->most);
    p.tiny = a->least + b->least < (p.base < LOW ? LOW : p.base);
    /* No product exceeds 2^127, and there are at most 16 aligned products of 27 bits, or 64 of 15. */
    if (a->special || b->special || a->most + b->most >= 126 ||
        count > (rule->fraction > 20 ? 16 : NUM_MOST_STEPS)) {
        for (int n = 0; n < BLOCKS; n++) careful_block(rule, &p, true, 2 * n * LANES, c, d);
        return;
    }
    if (rule->fraction == 25 && !rule->half && count == 16)
        blocks(&single, &p, 16, c, d);
    else if (rule->fraction == 25 && !rule->half)
        blocks(&single, &p, count, c, d);
    else
        blocks(rule, &p, count, c, d);
}

/* ---- integers: sums of at most 64 products of 8 bits or fewer are exact in f32 ---- */

INLINE void add_integers(bool satfinite, floats products, const int32_t *c, int32_t *d)
{
    ints x = __builtin_convertvector(products, ints), y = load_ints(c), all = (ints)((words)x + (words)y);
    ints over = ((x ^ all) & (y ^ all)) >> 31;
    store_ints(d, satfinite ? SELECT(over, (y >> 31) ^ INT32_MAX, all) : all);
}

FUNCTION void integer_sums(bool satfinite, int count, const num_side *a, const num_side *b,
                           const int32_t *const c[2], int32_t *const d[2])
{
    for (int at = 0; at < NUM_LANES; at += 2 * LANES) {
        floats s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        for (int l = 0; l < count; l++) {
            const float *x = (const float *)a->steps[l].values + at;
            floats x0 = load(x), x1 = load(x + LANES);
            floats y0 = load(b->steps[l].values[0]), y1 = load(b->steps[l].values[1]);
            s0 += x0 * y0;
            s1 += x0 * y1;
            s2 += x1 * y0;
            s3 += x1 * y1;
        }
        add_integers(satfinite, s0, c[0] + at, d[0] + at);
        add_integers(satfinite, s1, c[1] + at, d[1] + at);
        add_integers(satfinite, s2, c[0] + at + LANES, d[0] + at + LANES);
        add_integers(satfinite, s3, c[1] + at + LANES, d[1] + at + LANES);
    }
}

/* ---- sums of sums, and pairs of f16 ---- */

FUNCTION void add(const float *const terms[2], float *const sums[2])
{
    for (int p = 0; p < 2; p++)
        for (int v = 0; v < VECTORS; v++) {
            floats sum = load(sums[p] + v * LANES) + load(terms[p] + v * LANES);
            store_ints(sums[p] + v * LANES, SELECT(sum == sum, (ints)sum, ALL(INT32_MAX)));
        }
}

FUNCTION void widen(const uint32_t *from, float *const out[2])
{
    for (int v = 0; v < VECTORS; v++) {
        ints word = load_ints((const int32_t *)from + v * LANES);
        store_ints(out[0] + v * LANES, widen_half(word & 0xffff));
        store_ints(out[1] + v * LANES, widen_half(word >> 16 & 0xffff));
    }
}

FUNCTION void narrow(const float *const in[2], uint32_t *out)
{
    for (int v = 0; v < VECTORS; v++) {
        ints low = narrow_half((ints)load(in[0] + v * LANES)),
             high = narrow_half((ints)load(in[1] + v * LANES));
        store_ints(out + v * LANES, low | high << 16);
    }
}

/* ---- 8 x 8 elements of 16 bits ---- */

typedef uint16_t shorts8 __attribute__((vector_size(16)));
typedef uint32_t words4 __attribute__((vector_size(16)));
typedef uint64_t longs2 __attribute__((vector_size(16)));
#define LOW16(x, y)  __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH16(x, y) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW32(x, y)  __builtin_shufflevector((words4)(x), (words4)(y), 0, 4, 1, 5)
#define HIGH32(x, y) __builtin_shufflevector((words4)(x), (words4)(y), 2, 6, 3, 7)
#define LOW64(x, y)  __builtin_shufflevector((longs2)(x), (longs2)(y), 0, 2)
#define HIGH64(x, y) __builtin_shufflevector((longs2)(x), (longs2)(y), 1, 3)

FUNCTION void transpose(const void *const from[8], uint32_t *lanes)
{
    shorts8 r[8], p[8];
    words4 q[8];
    longs2 out[8];
    for (int i = 0; i < 8; i++) memcpy(&r[i], from[i], sizeof r[i]);
    for (int i = 0; i < 4; i++) {
        p[2 * i] = LOW16(r[2 * i], r[2 * i + 1]); /* columns 0 to 3 of rows 2i and 2i + 1 */
        p[2 * i + 1] = HIGH16(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            q[4 * i + 2 * j] = LOW32(p[4 * i + j], p[4 * i + 2 + j]); /* columns 4j, 4j + 1 of four rows */
            q[4 * i + 2 * j + 1] = HIGH32(p[4 * i + j], p[4 * i + 2 + j]);
        }
    for (int j = 0; j < 4; j++) {
        out[2 * j] = LOW64(q[j], q[4 + j]);
        out[2 * j + 1] = HIGH64(q[j], q[4 + j]);
    }
    memcpy(lanes, out, sizeof out);
}

const num_dot_lanes NUM_DOT_TABLE = {rows, columns, float_sums, integer_sums, add, widen, narrow, transpose};
