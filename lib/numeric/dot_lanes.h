/* The code behind num_dot_lanes, for vectors of LANES 32-bit lanes (16, 8 or 4) and functions with the attribute
 * TARGET; NUM_DOT_TABLE is the name of its table. Each .c file that includes it makes one set.
 *
 * A block is 2 * LANES lanes of a piece's rows by its even and its odd columns: four vectors of sums. The four
 * sums' exponents are the bytes of one 32-bit lane: 0 and 1 the even and the odd columns of the first LANES lanes,
 * 2 and 3 of the others. Bytes are exponents relative to the piece's largest, RAISE of that, and not below -64: the
 * sum of two is in -128 to 126, a negative one may be wrong, another one is right. */
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
    ZERO = -126,
    RAISE = 63,
    LOWEST = -64,
    HALF_ZERO = 0x33000000 /* 2^-25, the largest number that is 0 in f16 */
};

#define SELECT(mask, x, y) (((x) & (ints)(mask)) | ((y) & ~(ints)(mask)))
#define MOST(x, y)         SELECT((x) > (y), x, y)
#define ALL(x)             ((ints){0} + (x))

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
    uint64_t parts[sizeof v / 8], some = 0;
    memcpy(parts, &v, sizeof v);
    for (size_t i = 0; i < sizeof v / 8; i++) some |= parts[i];
    return some != 0;
}

/* ---- elements ---- */

/* num_widen_half. */
INLINE ints widen_half(ints h)
{
    ints magnitude = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    ints small = (ints)((floats)(magnitude + (113 << 23)) - (floats)ALL(113 << 23));
    ints r = SELECT(magnitude < 0x00800000, small, magnitude + (112 << 23));
    r = SELECT(magnitude >= 0x0f800000, magnitude + (224 << 23), r) | sign;
    return SELECT(magnitude > 0x0f800000, ALL(0x7fffffff), r);
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
    case PTX_e4m3: {
        /* The fields of e4m3 at those of f32 are 2^-120 too small, subnormal ones too. */
        ints x = word >> (8 * h), magnitude = x & 0x7f;
        ints wide = (ints)((floats)(magnitude << 20) * 0x1p120f);
        return SELECT(magnitude == 0x7f, ALL(0x7fffffff), wide) | (x & 0x80) << 24;
    }
    case PTX_s8: return (ints) __builtin_convertvector(word << (24 - 8 * h) >> 24, floats);
    case PTX_u8: return (ints) __builtin_convertvector(word >> (8 * h) & 0xff, floats);
    case PTX_s4: return (ints) __builtin_convertvector(word << (28 - 4 * h) >> 28, floats);
    default: return (ints) __builtin_convertvector(word >> (4 * h) & 0xf, floats); /* u4 */
    }
}

/* The elements of a piece, and of floating-point ones their exponents, in the order of num_side: 32 lanes are
 * four steps. */
typedef struct elements {
    int32_t values[NUM_MOST_STEPS / 4][NUM_LANES], exponents[NUM_MOST_STEPS / 4][NUM_LANES];
} elements;

INLINE void open_type(ptx_type type, const num_source *s, const uint32_t *const *from, elements *to,
                      num_side *out)
{
    int per = 32 / ptx_types[type].bits;
    bool real = ptx_types[type].kind == PTX_FLOAT;
    ints least = ALL(INT16_MAX), most = ALL(INT16_MIN), flip = ALL(s->negate ? INT32_MIN : 0);
    ints floor = ALL(s->floor);
    for (int h = 0; h < per; h++)
        for (int c = 0; c < s->chunks; c++)
            for (int v = 0; v < VECTORS; v++) {
                ints word, x;
                memcpy(&word, from[c] + v * LANES, sizeof word);
                x = element_of(type, word, h);
                store_ints(to->values[h * s->chunks + c] + v * LANES, x ^ flip);
                if (!real) continue;
                ints e = (x >> 23 & 255) - 127, zero = (x & INT32_MAX) == 0;
                e = MOST(e, floor);
                most = SELECT(zero, most, MOST(e, most));
                least = SELECT(zero | (e > least), least, e);
                store_ints(to->exponents[h * s->chunks + c] + v * LANES, SELECT(zero, ALL(ZERO), e));
            }
    if (!real) return;
    out->floor = s->floor;
    out->least = INT16_MAX;
    out->most = INT16_MIN;
    for (int l = 0; l < LANES; l++) {
        if (least[l] < out->least) out->least = least[l];
        if (most[l] > out->most) out->most = most[l];
    }
    out->special = out->most == 128;
}

/* The largest exponent; of zeros alone that of a zero. */
INLINE int top_of(const num_side *s)
{
    return s->most < ZERO ? ZERO : s->most;
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

/* Exponents as bytes in their range. */
INLINE ints relative(const int32_t *exponents, int top)
{
    ints e = load_ints(exponents) + (RAISE - top);
    return MOST(e, ALL(LOWEST)) & 0xff;
}

/* Lane t of each four, in all four: row g of the step t. */
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
    int groups = s->chunks * 32 / ptx_types[s->type].bits, top = real ? top_of(out) : 0;
    for (int n = 0; n < groups; n++) {
        num_step *step = out->steps + 4 * n;
#define STEP(t) store(step[t].values[0] + v * LANES, QUAD(f, t))
        for (int v = 0; v < VECTORS; v++) {
            floats f = load((const float *)x->values[n] + v * LANES);
            STEP(0);
            STEP(1);
            STEP(2);
            STEP(3);
        }
#undef STEP
#define STEP(t) store_ints(step[t].exponents + v * LANES, QUAD(e, t))
        for (int v = 0; real && v < BLOCKS; v++) {
            const int32_t *from = x->exponents[n] + 2 * v * LANES;
            ints e = relative(from, top) | relative(from + LANES, top) << 16;
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

/* Columns p, 2 + p, 4 + p and 6 + p of step t, as often as there are lanes: of 32 lanes the lanes 4 * column +
 * t. */
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

INLINE void open_columns(bool real, const num_source *s, elements *x, num_side *out)
{
    int groups = s->chunks * 32 / ptx_types[s->type].bits, top = real ? top_of(out) : 0;
    for (int n = 0; n < groups; n++) {
        num_step *step = out->steps + 4 * n;
        for (int v = 0; real && v < VECTORS; v++)
            store_ints(x->exponents[n] + v * LANES, relative(x->exponents[n] + v * LANES, top));
#define STEP(t)                                                                                              \
    store_ints(step[t].values[0], COLUMN(x->values[n], 0, t));                                               \
    store_ints(step[t].values[1], COLUMN(x->values[n], 1, t));                                               \
    if (real) {                                                                                              \
        ints e = COLUMN(x->exponents[n], 0, t) | COLUMN(x->exponents[n], 1, t) << 8;                         \
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

/* What two pieces have in common. */
typedef struct pair {
    int base;  /* the exponent of a product whose byte is 0 */
    int zero;  /* no product with a zero has a larger exponent */
    bool tiny; /* products that are not 0 may be so small that the quick way is not right */
} pair;

typedef struct sum {
    ints e, bad; /* the largest exponent; lanes that need the slow way */
    floats scale, c;
} sum;

/* `byte`: of the largest exponents of the products. A product below 2^-125 is cut off, however roughly, where
 * the largest exponent is -100 or more; any scale does for zeros. A negative byte is of zeros, but for tiny
 * products; the accumulator's exponent is the largest where no zero's can be. */
INLINE sum begin(const num_dot_rule *rule, pair p, bytes most, int byte, const float *c)
{
    sum s = {.c = load(c)};
    ints bits = (ints)s.c, mine = (bits >> 23 & 255) - 127, zero = (bits & INT32_MAX) == 0;
    ints e = (ints)most << (24 - 8 * byte) >> 24, unknown = e < 0, always = ALL(p.tiny ? -1 : 0);
    s.bad = mine == 128;
    mine = MOST(mine, ALL(rule->half ? -14 : -126));
    mine = SELECT(zero, ALL(ZERO), mine);
    e = SELECT(unknown, mine, MOST(e + p.base, mine));
    s.bad |= (e < -100) & (always | ~zero);
    s.bad |= unknown & (always | (~zero & (mine < p.zero)));
    s.e = MOST(e, ALL(-100));
    s.scale = (floats)((rule->fraction + 127 - s.e) << 23);
    return s;
}

/* The sum of the aligned products, below 2^31, and of the accumulator, below 2^26, rounded. */
INLINE ints finish(const num_dot_rule *rule, const sum *s, words sums)
{
    ints c = __builtin_convertvector(s->c * s->scale, ints), products = (ints)sums;
    ints all = (ints)(sums + (words)c);
    ints sign = (all ^ ((products ^ all) & (c ^ all))) >> 31;
    words magnitude = (words)((all ^ sign)) - (words)sign;
    /* The first bit that is cut off is cleared: rounding to nearest is then rounding towards zero. */
    words cut = magnitude & ~(magnitude >> 24);
    ints r = (ints) __builtin_convertvector(cut, floats);
    if (rule->half) {
        /* Rounded to odd, for the rounding to nearest that follows. */
        words back = __builtin_convertvector((floats)r, words);
        r |= (ints)(back != magnitude) & 1;
    } else if (rule->result < 23) {
        r &= ~((1 << (23 - rule->result)) - 1);
    }
    r = (ints)((floats)r * (floats)((s->e + (127 - rule->fraction)) << 23));
    ints signed_result = r | (sign & INT32_MIN);
    return rule->half ? signed_result & (r > HALF_ZERO) : signed_result;
}

/* Lanes that the quick way has not got. */
FUNCTION void slow(const num_dot_rule *rule, int count, const num_step *a, const num_step *b,
                   const num_side *sides[2], int first, int column, ints bad, const float *c, float *d)
{
    size_t stride = sizeof(num_step) / sizeof(float);
    for (int l = 0; l < LANES; l++)
        if (bad[l])
            d[l] = num_dot_element(rule, count, a->values[0] + first + l, stride, sides[0]->floor,
                                   b->values[column] + l % 4, stride, sides[1]->floor, c[l]);
}

INLINE void block(const num_dot_rule *rule, int count, const num_step *a, const num_step *b,
                  const num_side *sides[2], pair p, int at, const float *const c[2], float *const d[2])
{
    bytes most = (bytes){0} + (int8_t)-128;
    for (int l = 0; l < count; l++) {
        bytes e = (bytes)load_ints(a[l].exponents + at / 2) + (bytes)load_ints(b[l].exponents);
        most = MOST_BYTES(e, most);
    }
    sum s0 = begin(rule, p, most, 0, c[0] + at), s1 = begin(rule, p, most, 1, c[1] + at),
        s2 = begin(rule, p, most, 2, c[0] + at + LANES), s3 = begin(rule, p, most, 3, c[1] + at + LANES);
    words t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
    for (int l = 0; l < count; l++) {
        floats x0 = load(a[l].values[0] + at), x1 = load(a[l].values[0] + at + LANES);
        floats y0 = load(b[l].values[0]), y1 = load(b[l].values[1]);
        t0 += (words) __builtin_convertvector(x0 * y0 * s0.scale, ints);
        t1 += (words) __builtin_convertvector(x0 * y1 * s1.scale, ints);
        t2 += (words) __builtin_convertvector(x1 * y0 * s2.scale, ints);
        t3 += (words) __builtin_convertvector(x1 * y1 * s3.scale, ints);
    }
    float in[4][LANES]; /* d may be c */
    bool some = any(s0.bad | s1.bad | s2.bad | s3.bad);
    if (some) {
        store(in[0], s0.c);
        store(in[1], s1.c);
        store(in[2], s2.c);
        store(in[3], s3.c);
    }
    store_ints(d[0] + at, finish(rule, &s0, t0));
    store_ints(d[1] + at, finish(rule, &s1, t1));
    store_ints(d[0] + at + LANES, finish(rule, &s2, t2));
    store_ints(d[1] + at + LANES, finish(rule, &s3, t3));
    if (some) {
        slow(rule, count, a, b, sides, at, 0, s0.bad, in[0], d[0] + at);
        slow(rule, count, a, b, sides, at, 1, s1.bad, in[1], d[1] + at);
        slow(rule, count, a, b, sides, at + LANES, 0, s2.bad, in[2], d[0] + at + LANES);
        slow(rule, count, a, b, sides, at + LANES, 1, s3.bad, in[3], d[1] + at + LANES);
    }
}

INLINE void all_blocks(const num_dot_rule *rule, int count, const num_step *a, const num_step *b,
                       const num_side *sides[2], pair p, const float *const c[2], float *const d[2])
{
    for (int n = 0; n < BLOCKS; n++) block(rule, count, a, b, sides, p, 2 * n * LANES, c, d);
}

FUNCTION void float_sums(const num_dot_rule *rule, int first, int count, const num_side *a, const num_side *b,
                         const float *const c[2], float *const d[2])
{
    const num_side *sides[2] = {a, b};
    const num_step *x = a->steps + first, *y = b->steps + first;
    int top_a = top_of(a), top_b = top_of(b);
    bool empty = a->least > a->most || b->least > b->most;
    pair p = {.base = top_a + top_b - 2 * RAISE, .zero = ZERO + (top_a > top_b ? top_a : top_b)};
    p.tiny = !empty && a->least + b->least < (p.base < -100 ? -100 : p.base);
    /* No product above 2^127, and at most 16 aligned ones of 27 bits, or 2^16 of 15. */
    if (a->special || b->special || (!empty && a->most + b->most >= 126) ||
        count > (rule->fraction > 20 ? 16 : NUM_MOST_STEPS)) {
        for (int column = 0; column < 2; column++)
            for (int v = 0; v < VECTORS; v++)
                slow(rule, count, x, y, sides, v * LANES, column, ALL(-1), c[column] + v * LANES,
                     d[column] + v * LANES);
        return;
    }
    static const num_dot_rule single = {.fraction = 25, .result = 23};
    if (rule->fraction == 25 && !rule->half && count == 16)
        all_blocks(&single, 16, x, y, sides, p, c, d);
    else if (rule->fraction == 25 && !rule->half)
        all_blocks(&single, count, x, y, sides, p, c, d);
    else
        all_blocks(rule, count, x, y, sides, p, c, d);
}

/* ---- integers: sums of at most 64 products of 8 bits or fewer are exact in f32 ---- */

FUNCTION void integer_sums(bool satfinite, int count, const num_side *a, const num_side *b,
                           const int32_t *const c[2], int32_t *const d[2])
{
    for (int v = 0; v < VECTORS; v++)
        for (int column = 0; column < 2; column++) {
            floats products = {0};
            for (int l = 0; l < count; l++)
                products += load(a->steps[l].values[0] + v * LANES) * load(b->steps[l].values[column]);
            ints x = __builtin_convertvector(products, ints), y = load_ints(c[column] + v * LANES);
            ints all = (ints)((words)x + (words)y);
            if (satfinite) {
                ints over = ((x ^ all) & (y ^ all)) >> 31;
                all = SELECT(over, (y >> 31) ^ INT32_MAX, all);
            }
            store_ints(d[column] + v * LANES, all);
        }
}

/* ---- pairs of f16 ---- */

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

const num_dot_lanes NUM_DOT_TABLE = {rows, columns, float_sums, integer_sums, widen, narrow, transpose};
