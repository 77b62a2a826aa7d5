/* Sums of products with the alignment and truncation of tensor cores. The usual case is done with 32-bit
 * lanes: a product of two small floats is exact in float, scaling it by a power of two and converting it to
 * an integer cuts it off, and the sums fit. Operands whose products leave float's range, and infinities, take
 * slower ways. */
#include <math.h>
#include <string.h>

#include "lib/emulator/dot.h"
#include "lib/emulator/number.h"

enum { W = EMU_DOT_COLUMNS, ZERO = -126 };
#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#endif

/* Bits of fraction and the least exponent of a type's values once they are floats. */
static const struct {
    emu_format format;
    int least;
} types[EMU_MMA_ELEMENTS] = {
    [EMU_MMA_TF32] = {EMU_TF32, -126}, [EMU_MMA_F16] = {EMU_F16, -14},   [EMU_MMA_BF16] = {EMU_BF16, -126},
    [EMU_MMA_E4M3] = {EMU_E4M3, -6},   [EMU_MMA_E5M2] = {EMU_E5M2, -14},
};

emu_dot_rule emu_dot_rule_of(emu_element a, emu_element d, bool wgmma)
{
    bool small = wgmma && (a == EMU_MMA_E4M3 || a == EMU_MMA_E5M2);
    return (emu_dot_rule){.fraction = small ? 13 : 25, .result = small ? 13 : 23, .half = d == EMU_MMA_F16};
}

void emu_tile_reset(emu_tile *tile)
{
    tile->least = INT16_MAX;
    tile->most = INT16_MIN;
    tile->special = false;
}

static float widen(emu_element type, uint32_t bits)
{
    uint32_t wide;
    float f;
    switch (type) {
    case EMU_MMA_F16: return emu_half_to_float(bits);
    case EMU_MMA_BF16: return emu_bfloat_to_float(bits);
    case EMU_MMA_TF32: wide = bits & ~UINT32_C(0x1fff); break;
    default: wide = (uint32_t)emu_convert(EMU_F32, types[type].format, bits, EMU_RN, 0); break;
    }
    memcpy(&f, &wide, sizeof f);
    return f;
}

void emu_tile_set(emu_tile *tile, emu_element type, int row, int column, int count, const uint32_t *bits)
{
    float *values = tile->values + (size_t)row * (size_t)tile->stride + column;
    int16_t *exponents = tile->exponents + (size_t)row * (size_t)tile->stride + column;
    int least = types[type].least, low = tile->least, high = tile->most;
    bool special = false;
    for (int i = 0; i < count; i++) {
        float f = widen(type, bits[i]);
        uint32_t u;
        memcpy(&u, &f, sizeof u);
        int e = (int)(u >> 23 & 255) - 127;
        special |= e == 128;
        e = (u & 0x7fffffff) == 0 ? ZERO : e < least ? least : e;
        if (u & 0x7fffffff) {
            low = e < low ? e : low;
            high = e > high ? e : high;
        }
        values[i] = f;
        exponents[i] = (int16_t)e;
    }
    tile->least = low;
    tile->most = high;
    tile->special |= special;
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
INLINE float finish(double sum, const emu_dot_rule *rule)
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
static float finish_small(double sum, const emu_dot_rule *rule)
{
    double unit = power(ZERO - rule->result);
    return (float)(trunc(sum / unit) * unit);
}

static float to_half(float value)
{
    return emu_half_to_float(emu_float_to_half(value));
}

/* One element without any assumption on its operands. */
static float element(const emu_dot_rule *rule, int k, const emu_tile *a, int row, const emu_tile *b,
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

/* W elements of a row at once: all products are in float's range, and nothing is infinite. */
INLINE void columns(const emu_dot_rule *rule, int k, const float *x, const int16_t *ex, const float *b,
                    const int16_t *eb, int b_stride, float *c)
{
    int16_t most[W];
    int32_t low[W], high[W];
    float scale[W];
    for (int j = 0; j < W; j++) most[j] = (int16_t)exponent_of(c[j], rule->half);
    for (int l = 0; l < k; l++) {
        const int16_t *e = eb + (size_t)l * (size_t)b_stride;
        int16_t mine = ex[l];
        for (int j = 0; j < W; j++) {
            int16_t s = (int16_t)(mine + e[j]);
            most[j] = s > most[j] ? s : most[j];
        }
    }
    for (int j = 0; j < W; j++) {
        /* Where everything is tiny all products are 0: any scale does for them. */
        int e = most[j] < -100 ? -100 : most[j];
        uint32_t bits = (uint32_t)(rule->fraction - e + 127) << 23;
        memcpy(&scale[j], &bits, sizeof bits);
        low[j] = high[j] = 0;
    }
    /* Sixteen aligned products of up to 28 bits could leave an int32_t: two sums. */
    int half = k / 2;
    for (int l = 0; l < half; l++) {
        const float *y = b + (size_t)l * (size_t)b_stride;
        float mine = x[l];
        for (int j = 0; j < W; j++) {
            float p = mine * y[j];
            low[j] += (int32_t)(p * scale[j]);
        }
    }
    for (int l = half; l < k; l++) {
        const float *y = b + (size_t)l * (size_t)b_stride;
        float mine = x[l];
        for (int j = 0; j < W; j++) {
            float p = mine * y[j];
            high[j] += (int32_t)(p * scale[j]);
        }
    }
    bool small = false;
    double sums[W];
    for (int j = 0; j < W; j++) {
        double aligned = (double)(int32_t)((double)c[j] * power(rule->fraction - most[j]));
        double sum = (double)low[j] + (double)high[j];
        sums[j] = (sum + aligned) * power(most[j] - rule->fraction);
    }
    for (int j = 0; j < W; j++) c[j] = finish(sums[j], rule);
    if (rule->half) {
        for (int j = 0; j < W; j++) c[j] = to_half(c[j]);
        return;
    }
    for (int j = 0; j < W; j++) small |= fabs(sums[j]) < 0x1p-126;
    for (int j = 0; small && j < W; j++)
        if (fabs(sums[j]) < 0x1p-126) c[j] = finish_small(sums[j], rule);
}

typedef void columns_function(const emu_dot_rule *, int, const float *, const int16_t *, const float *,
                              const int16_t *, int, float *);

INLINE void columns_any(const emu_dot_rule *rule, int k, const float *x, const int16_t *ex, const float *b,
                        const int16_t *eb, int b_stride, float *c)
{
    if (k == 16)
        columns(rule, 16, x, ex, b, eb, b_stride, c);
    else
        columns(rule, k, x, ex, b, eb, b_stride, c);
}

static void columns_plain(const emu_dot_rule *rule, int k, const float *x, const int16_t *ex, const float *b,
                          const int16_t *eb, int b_stride, float *c)
{
    columns_any(rule, k, x, ex, b, eb, b_stride, c);
}

#if defined(WIDE)
WIDE static void columns_wide(const emu_dot_rule *rule, int k, const float *x, const int16_t *ex,
                              const float *b, const int16_t *eb, int b_stride, float *c)
{
    columns_any(rule, k, x, ex, b, eb, b_stride, c);
}
#endif

static columns_function *columns_best(void)
{
#if defined(WIDE)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return columns_wide;
#endif
    return columns_plain;
}

static bool finite_row(const float *c)
{
    bool finite = true;
    for (int j = 0; j < W; j++) {
        uint32_t u;
        memcpy(&u, &c[j], sizeof u);
        finite &= (u & 0x7f800000) != 0x7f800000;
    }
    return finite;
}

void emu_dot_float(const emu_dot_rule *rule, int rows, int width, int k, const emu_tile *a, const emu_tile *b,
                   float *c, int stride)
{
    /* In range: no product above 2^127 or, unless it is 0, below 2^-100; at most 16 aligned ones in each sum.
     */
    bool empty = a->least > a->most || b->least > b->most;
    bool quick = !a->special && !b->special && k <= (rule->fraction > 20 ? 16 : 512) &&
                 (empty || (a->most + b->most < 126 && a->least + b->least >= -100));
    columns_function *best = columns_best();
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j += W) {
            float *row = c + (size_t)i * (size_t)stride + j;
            if (quick && finite_row(row)) {
                size_t at = (size_t)i * (size_t)a->stride;
                best(rule, k, a->values + at, a->exponents + at, b->values + j, b->exponents + j, b->stride,
                     row);
                continue;
            }
            for (int n = j; n < width && n < j + W; n++)
                row[n - j] = element(rule, k, a, i, b, n, row[n - j]);
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

void emu_dot_integer(bool satfinite, int rows, int width, int k, const int16_t *a, int a_stride,
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
