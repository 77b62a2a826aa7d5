/* Sums of products with the alignment and truncation of tensor cores. The usual case is done with 32-bit
 * lanes: a product of two small floats is exact in float, scaling it by a power of two and converting it to
 * an integer cuts it off, and the sums fit. Operands whose products leave float's range, and infinities, take
 * slower ways. */
#include <math.h>
#include <string.h>

#include "lib/numeric/dot.h"
#include "lib/numeric/number.h"
#include "lib/numeric/number_quick.h"

enum { W = NUM_DOT_COLUMNS, ZERO = -126 };
#define INLINE NUM_INLINE
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#endif

/* The least exponent of a type's values. */
static const struct {
    int least;
} types[PTX_TYPES] = {
    [PTX_tf32] = {-126}, [PTX_f16] = {-14}, [PTX_bf16] = {-126}, [PTX_e4m3] = {-6}, [PTX_e5m2] = {-14},
};

num_dot_rule num_dot_rule_of(ptx_type a, ptx_type d, bool wgmma)
{
    bool small = wgmma && (a == PTX_e4m3 || a == PTX_e5m2);
    return (num_dot_rule){.fraction = small ? 13 : 25, .result = small ? 13 : 23, .half = d == PTX_f16};
}

void num_tile_reset(num_tile *tile)
{
    tile->least = INT16_MAX;
    tile->most = INT16_MIN;
    tile->special = false;
}

/* Bits of f32 from an element's. */
INLINE uint32_t widen(ptx_type type, uint32_t bits)
{
    switch (type) {
    case PTX_f16: return num_widen_half(bits);
    case PTX_bf16: return num_widen_bfloat(bits);
    case PTX_tf32: return bits & ~UINT32_C(0x1fff);
    case PTX_e5m2: return num_widen_half(bits << 8); /* the upper half of an f16 */
    default: {
        /* The fields of e4m3 at those of f32 are 2^-120 too small, subnormal ones too. */
        uint32_t wide = num_as_bits(num_as_float((bits & 0x7f) << 20) * 0x1p120f);
        return ((bits & 0x7f) == 0x7f ? 0x7fffffff : wide) | (bits & 0x80) << 24;
    }
    }
}

enum { STEP = 8 };

/* Up to STEP elements; what is beyond `count` is not written. */
INLINE void set_some(num_tile *tile, ptx_type type, int count, const uint32_t *bits, float *values,
                     int16_t *exponents)
{
    int least = types[type].least;
    uint32_t in[STEP] = {0}, wide[STEP];
    int32_t e[STEP], low[STEP], high[STEP];
    for (int i = 0; i < count; i++) in[i] = bits[i];
    for (int i = 0; i < STEP; i++) wide[i] = widen(type, in[i]);
    for (int i = 0; i < STEP; i++) {
        int32_t x = (int32_t)(wide[i] >> 23 & 255) - 127;
        x = x < least ? least : x;
        bool zero = (wide[i] & 0x7fffffff) == 0;
        e[i] = zero ? ZERO : x;
        low[i] = zero ? INT16_MAX : x;
        high[i] = zero ? INT16_MIN : x;
    }
    int32_t lowest = tile->least, highest = tile->most;
    for (int i = 0; i < STEP; i++) lowest = low[i] < lowest ? low[i] : lowest;
    for (int i = 0; i < STEP; i++) highest = high[i] > highest ? high[i] : highest;
    tile->least = lowest;
    tile->most = highest;
    tile->special |= highest == 128;
    memcpy(values, wide, (size_t)count * sizeof *values);
    for (int i = 0; i < count; i++) exponents[i] = (int16_t)e[i];
}

INLINE void set_all(num_tile *tile, ptx_type type, int count, const uint32_t *bits, float *values,
                    int16_t *exponents)
{
    int i = 0;
    for (; i + STEP <= count; i += STEP) set_some(tile, type, STEP, bits + i, values + i, exponents + i);
    if (i < count) set_some(tile, type, count - i, bits + i, values + i, exponents + i);
}

void num_tile_set(num_tile *tile, ptx_type type, int row, int column, int count, const uint32_t *bits)
{
    float *values = tile->values + (size_t)row * (size_t)tile->stride + column;
    int16_t *exponents = tile->exponents + (size_t)row * (size_t)tile->stride + column;
    switch (type) {
    case PTX_f16: set_all(tile, PTX_f16, count, bits, values, exponents); break;
    case PTX_bf16: set_all(tile, PTX_bf16, count, bits, values, exponents); break;
    case PTX_tf32: set_all(tile, PTX_tf32, count, bits, values, exponents); break;
    case PTX_e5m2: set_all(tile, PTX_e5m2, count, bits, values, exponents); break;
    default: set_all(tile, PTX_e4m3, count, bits, values, exponents); break;
    }
}

INLINE double power(int e) /* 2^e, for e from -1022 to 1023 */
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* The exponent of an accumulator. */
INLINE int exponent_of(float c, bool half)
{
    uint32_t u;
    memcpy(&u, &c, sizeof u);
    int e = (int)(u >> 23 & 255) - 127, least = half ? -14 : -126;
    e = e < least ? least : e;
    return (u & 0x7fffffff) == 0 ? ZERO : e;
}

static const uint32_t nan_bits = 0x7fffffff;

/* A sum, exact in double, rounded to the result's format. */
INLINE float finish(double sum, const num_dot_rule *rule)
{
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    uint64_t below = rule->half ? 0x1fffffff : (UINT64_C(1) << (52 - rule->result)) - 1;
    uint64_t cut = bits & below;
    bits &= ~below;
    if (rule->half && cut) bits |= below + 1; /* rounded to odd, for the rounding to nearest that follows */
    memcpy(&sum, &bits, sizeof sum);
    return (float)sum;
}

/* Results below the least normal f32 have fewer bits. */
static float finish_small(double sum, const num_dot_rule *rule)
{
    double unit = power(ZERO - rule->result);
    return (float)(trunc(sum / unit) * unit);
}

static float to_half(float value)
{
    return num_as_float(num_widen_half(num_narrow_half(num_as_bits(value))));
}

/* One element without any assumption on its operands. */
static float element(const num_dot_rule *rule, int k, const num_tile *a, int row, const num_tile *b,
                     int column, float c)
{
    const float *x = a->values + (size_t)row * (size_t)a->stride, *y = b->values + column;
    const int16_t *ex = a->exponents + (size_t)row * (size_t)a->stride, *ey = b->exponents + column;
    double plain = c;
    int most = exponent_of(c, rule->half);
    for (int l = 0; l < k; l++) {
        plain += (double)x[l] * (double)y[(size_t)l * (size_t)b->stride];
        int e = ex[l] + ey[(size_t)l * (size_t)b->stride];
        if (e > most) most = e;
    }
    if (!isfinite(plain)) {
        float r = (float)plain;
        if (isnan(plain)) memcpy(&r, &nan_bits, sizeof r);
        return r;
    }
    double scale = power(rule->fraction - most), sum = trunc((double)c * scale);
    for (int l = 0; l < k; l++) sum += trunc((double)x[l] * (double)y[(size_t)l * (size_t)b->stride] * scale);
    sum *= power(most - rule->fraction);
    if (rule->half) return to_half(finish(sum, rule));
    return fabs(sum) < 0x1p-126 ? finish_small(sum, rule) : finish(sum, rule);
}

/* Eight lanes at once, as the compilers' vector types: half a row of W. */
typedef float eight_floats __attribute__((vector_size(32)));
typedef int32_t eight_words __attribute__((vector_size(32)));
typedef int16_t eight_shorts __attribute__((vector_size(16)));
typedef double eight_doubles __attribute__((vector_size(64)));
typedef int64_t eight_longs __attribute__((vector_size(64)));

/* Eight elements of a row. False, and nothing done: they need the slow way. No product leaves float's range
 * upwards; one below 2^-125 is cut off, however roughly, where the largest exponent is -100 or more.
 * `tiny_products`: there may be such elsewhere. */
INLINE bool eight(const num_dot_rule *rule, bool tiny_products, int k, const float *x, const int16_t *ex,
                  const float *b, const int16_t *eb, int b_stride, float *c)
{
    eight_floats sum;
    memcpy(&sum, c, sizeof sum);
    eight_words bits = (eight_words)sum, e = (bits >> 23 & 255) - 127,
                floor = bits * 0 + (rule->half ? -14 : -126);
    eight_words zero = (bits & 0x7fffffff) == 0, below = e < floor, special = e == 128;
    e = (floor & below) | (e & ~below);
    e = (zero & ZERO) | (e & ~zero);
    eight_shorts most = __builtin_convertvector(e, eight_shorts);
    for (int l = 0; l < k; l++) {
        eight_shorts s;
        memcpy(&s, eb + (size_t)l * (size_t)b_stride, sizeof s);
        s += ex[l];
        eight_shorts more = s > most;
        most = (s & more) | (most & ~more);
    }
    eight_words top = __builtin_convertvector(most, eight_words), tiny = top < -100;
    /* Any scale does for zeros. */
    top = (tiny & -100) | (top & ~tiny);
    eight_words odd_cases = special | (tiny & (tiny_products ? tiny : ~zero));
    int32_t some = 0;
    for (int i = 0; i < 8; i++) some |= odd_cases[i];
    if (some) return false;
    eight_floats scale = (eight_floats)((rule->fraction - top + 127) << 23);
    /* Sixteen aligned products of up to 28 bits could leave an int32_t: two sums. */
    eight_words low = bits * 0, high = __builtin_convertvector(sum * scale, eight_words);
    for (int l = 0; l < k / 2; l++) {
        eight_floats y, z;
        memcpy(&y, b + (size_t)(2 * l) * (size_t)b_stride, sizeof y);
        memcpy(&z, b + (size_t)(2 * l + 1) * (size_t)b_stride, sizeof z);
        y = y * x[2 * l];
        z = z * x[2 * l + 1];
        low += __builtin_convertvector(y * scale, eight_words);
        high += __builtin_convertvector(z * scale, eight_words);
    }
    eight_doubles exact =
        __builtin_convertvector(low, eight_doubles) + __builtin_convertvector(high, eight_doubles);
    eight_longs all = (eight_longs)exact, cut;
    int64_t unit = rule->half ? INT64_C(1) << 29 : INT64_C(1) << (52 - rule->result);
    cut = all & (unit - 1);
    all &= -unit;
    if (rule->half) all |= (cut != 0) & unit; /* rounded to odd, for the rounding to nearest that follows */
    sum = __builtin_convertvector((eight_doubles)all, eight_floats);
    sum *= (eight_floats)((top - rule->fraction + 127) << 23);
    memcpy(c, &sum, sizeof sum);
    if (!rule->half) return true;
    uint32_t words[8];
    memcpy(words, &sum, sizeof words);
    for (int j = 0; j < 8; j++) words[j] = num_widen_half(num_narrow_half(words[j]));
    memcpy(c, words, sizeof words);
    return true;
}

typedef void rows_function(const num_dot_rule *, int, int, int, const num_tile *, const num_tile *, float *,
                           int);

INLINE void rows_of(const num_dot_rule *rule, int rows, int width, int k, const num_tile *a,
                    const num_tile *b, float *c, int stride)
{
    bool tiny_products = a->least <= a->most && b->least <= b->most && a->least + b->least < -100;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j += 8) {
            float *row = c + (size_t)i * (size_t)stride + j;
            size_t at = (size_t)i * (size_t)a->stride;
            if (eight(rule, tiny_products, k, a->values + at, a->exponents + at, b->values + j,
                      b->exponents + j, b->stride, row))
                continue;
            for (int n = j; n < width && n < j + 8; n++)
                row[n - j] = element(rule, k, a, i, b, n, row[n - j]);
        }
}

INLINE void rows_any(const num_dot_rule *rule, int rows, int width, int k, const num_tile *a,
                     const num_tile *b, float *c, int stride)
{
    const num_dot_rule single = {.fraction = 25, .result = 23};
    if (k == 16 && rule->fraction == 25 && !rule->half)
        rows_of(&single, rows, width, 16, a, b, c, stride);
    else if (k == 8 && rule->fraction == 25 && !rule->half)
        rows_of(&single, rows, width, 8, a, b, c, stride);
    else
        rows_of(rule, rows, width, k, a, b, c, stride);
}

static void rows_plain(const num_dot_rule *rule, int rows, int width, int k, const num_tile *a,
                       const num_tile *b, float *c, int stride)
{
    rows_any(rule, rows, width, k, a, b, c, stride);
}

#if defined(WIDE)
WIDE static void rows_wide(const num_dot_rule *rule, int rows, int width, int k, const num_tile *a,
                           const num_tile *b, float *c, int stride)
{
    rows_any(rule, rows, width, k, a, b, c, stride);
}
#endif

static rows_function *rows_best(void)
{
#if defined(WIDE)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return rows_wide;
#endif
    return rows_plain;
}

void num_dot_float(const num_dot_rule *rule, int rows, int width, int k, const num_tile *a, const num_tile *b,
                   float *c, int stride)
{
    /* No product above 2^127, and at most 16 aligned ones of 25 bits. */
    bool empty = a->least > a->most || b->least > b->most;
    bool quick = !a->special && !b->special && k % 2 == 0 && k <= (rule->fraction > 20 ? 16 : 512) &&
                 (empty || a->most + b->most < 126);
    if (quick) {
        rows_best()(rule, rows, width, k, a, b, c, stride);
        return;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j++) {
            float *at = c + (size_t)i * (size_t)stride + j;
            *at = element(rule, k, a, i, b, j, *at);
        }
}

/* ---- integers ---- */

INLINE void integer_row(bool satfinite, int k, const int16_t *x, const int16_t *b, int b_stride, int32_t *c)
{
    int32_t sum[W] = {0}; /* at most 2^8 * 2^8 * 512 */
    for (int l = 0; l < k; l++) {
        const int16_t *y = b + (size_t)l * (size_t)b_stride;
        int32_t mine = x[l];
        for (int j = 0; j < W; j++) sum[j] += mine * y[j];
    }
    for (int j = 0; j < W; j++) {
        int64_t wide = (int64_t)c[j] + sum[j];
        if (satfinite) wide = wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : wide;
        c[j] = (int32_t)(uint32_t)wide;
    }
}

static void integer_plain(bool satfinite, int k, const int16_t *x, const int16_t *b, int b_stride, int32_t *c)
{
    integer_row(satfinite, k, x, b, b_stride, c);
}

#if defined(WIDE)
WIDE static void integer_wide(bool satfinite, int k, const int16_t *x, const int16_t *b, int b_stride,
                              int32_t *c)
{
    integer_row(satfinite, k, x, b, b_stride, c);
}
#endif

void num_dot_integer(bool satfinite, int rows, int width, int k, const int16_t *a, int a_stride,
                     const int16_t *b, int b_stride, int32_t *c, int stride)
{
    void (*row)(bool, int, const int16_t *, const int16_t *, int, int32_t *) = integer_plain;
#if defined(WIDE)
    if (__builtin_cpu_supports("avx2")) row = integer_wide;
#endif
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j += W)
            row(satfinite, k, a + (size_t)i * (size_t)a_stride, b + j, b_stride,
                c + (size_t)i * (size_t)stride + j);
}
