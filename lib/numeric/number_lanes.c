/* Arithmetic and conversions over the 32 lanes of a warp: loops of constant length over local arrays, which
 * compilers vectorize, compiled a second time for hosts with AVX2 and FMA. Other cases (rounding modes, rare
 * formats) call number.c for each lane. */
#include <math.h>
#include <string.h>

#include "lib/numeric/number_quick.h"
#include "lib/numeric/number_soft.h"

enum { LANES = 32 };
#define EACH(i) for (int i = 0; i < LANES; i++)
#define INLINE  static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
static bool has_wide_vectors(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define WIDE
static bool has_wide_vectors(void)
{
    return false;
}
#endif

INLINE double as_double(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

INLINE uint64_t as_bits64(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

float num_half_to_float(uint32_t bits)
{
    return num_as_float(num_widen_half(bits));
}
float num_bfloat_to_float(uint32_t bits)
{
    return num_as_float(num_widen_bfloat(bits));
}
uint32_t num_float_to_half(float value)
{
    return num_narrow_half(num_as_bits(value));
}
uint32_t num_float_to_bfloat(float value)
{
    return num_narrow_bfloat(num_as_bits(value));
}

/* ---- f32 ---- */

INLINE uint32_t flush32(uint32_t x)
{
    return (x & 0x7f800000) == 0 ? x & 0x80000000 : x;
}

INLINE uint32_t finish32(uint32_t x)
{
    return (x & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : x;
}

INLINE uint32_t clamp32(uint32_t x)
{
    return x > 0x7f800000   ? 0
           : x > 0x3f800000 ? 0x3f800000
                            : x; /* the sign makes it larger than any number */
}

INLINE uint32_t relu32(uint32_t x)
{
    return (int32_t)x < 0 ? 0 : x;
}

/* Bits as integers in the order of the numbers, -0 below +0. */
INLINE int32_t ordered32(uint32_t x)
{
    return (int32_t)(x ^ ((uint32_t)((int32_t)x >> 31) & 0x7fffffff));
}

INLINE uint32_t extreme32(uint32_t a, uint32_t b, bool most, unsigned flags)
{
    uint32_t sign = (a ^ b) & 0x80000000;
    if (flags & NUM_XORSIGN) {
        a &= 0x7fffffff;
        b &= 0x7fffffff;
    }
    bool nan_a = (a & 0x7fffffff) > 0x7f800000, nan_b = (b & 0x7fffffff) > 0x7f800000;
    bool less = ordered32(a) < ordered32(b);
    uint32_t r = less != most ? a : b;
    r = nan_a ? b : r;
    r = nan_b ? a : r;
    if (flags & NUM_XORSIGN) r |= sign;
    if (flags & NUM_NAN) return (nan_a | nan_b) ? 0x7fffffff : r;
    return (nan_a & nan_b) ? 0x7fffffff : r;
}

/* One operation over all lanes; `op` and `flags` are constants after inlining. */
INLINE void f32_loop(num_op op, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                     unsigned flags)
{
    uint32_t x[LANES], y[LANES], z[LANES], r[LANES];
    memcpy(x, a, sizeof x);
    memcpy(y, b ? b : a, sizeof y);
    memcpy(z, c ? c : a, sizeof z);
    if (flags & NUM_FTZ) {
        EACH(i) x[i] = flush32(x[i]);
        EACH(i) y[i] = flush32(y[i]);
        EACH(i) z[i] = flush32(z[i]);
    }
    switch (op) {
    case NUM_ADD: EACH(i) r[i] = num_as_bits(num_as_float(x[i]) + num_as_float(y[i])); break;
    case NUM_SUB: EACH(i) r[i] = num_as_bits(num_as_float(x[i]) - num_as_float(y[i])); break;
    case NUM_MUL: EACH(i) r[i] = num_as_bits(num_as_float(x[i]) * num_as_float(y[i])); break;
    case NUM_FMA:
        EACH(i)
        r[i] = num_as_bits(__builtin_fmaf(num_as_float(x[i]), num_as_float(y[i]), num_as_float(z[i])));
        break;
    case NUM_DIV: EACH(i) r[i] = num_as_bits(num_as_float(x[i]) / num_as_float(y[i])); break;
    case NUM_RCP: EACH(i) r[i] = num_as_bits(1.0f / num_as_float(x[i])); break;
    case NUM_SQRT: EACH(i) r[i] = num_as_bits(sqrtf(num_as_float(x[i]))); break;
    case NUM_MIN: EACH(i) r[i] = extreme32(x[i], y[i], false, flags); break;
    case NUM_MAX: EACH(i) r[i] = extreme32(x[i], y[i], true, flags); break;
    case NUM_ABS: EACH(i) r[i] = x[i] & 0x7fffffff; break;
    case NUM_NEG: EACH(i) r[i] = x[i] ^ 0x80000000; break;
    default: memset(r, 0, sizeof r); break;
    }
    EACH(i) r[i] = finish32(r[i]);
    if (flags & NUM_FTZ) EACH(i) r[i] = flush32(r[i]);
    if (flags & NUM_SAT) EACH(i) r[i] = clamp32(r[i]);
    if (flags & NUM_RELU) EACH(i) r[i] = relu32(r[i]);
    memcpy(d, r, sizeof r);
}

INLINE void f32_body(num_op op, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                     unsigned flags)
{
    switch (op) {
#define ROW(name)                                                                                            \
    case name:                                                                                               \
        if (flags == 0)                                                                                      \
            f32_loop(name, d, a, b, c, 0);                                                                   \
        else if (flags == NUM_FTZ)                                                                           \
            f32_loop(name, d, a, b, c, NUM_FTZ);                                                             \
        else                                                                                                 \
            f32_loop(name, d, a, b, c, flags);                                                               \
        break;
        ROW(NUM_ADD)
        ROW(NUM_SUB)
        ROW(NUM_MUL)
        ROW(NUM_FMA)
#undef ROW
    default: f32_loop(op, d, a, b, c, flags); break;
    }
}

WIDE static void f32_wide(num_op op, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                          unsigned flags)
{
    f32_body(op, d, a, b, c, flags);
}

static void run_f32_plain(num_op op, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                          unsigned flags)
{
    f32_body(op, d, a, b, c, flags);
}

/* One approximate function; operands have been flushed. */
static float approximate_float(num_op op, float x, float y)
{
    switch (op) {
    case NUM_EX2: return exp2f(x);
    case NUM_LG2: return log2f(x);
    case NUM_SIN: return sinf(x);
    case NUM_COS: return cosf(x);
    case NUM_TANH: return tanhf(x);
    case NUM_RSQRT: return (float)(1.0 / sqrt((double)x));
    case NUM_RCP_APPROX: return 1.0f / x;
    case NUM_SQRT_APPROX: return sqrtf(x);
    case NUM_DIV_APPROX: {
        uint32_t magnitude = num_as_bits(y) & 0x7fffffff; /* 1 / y is subnormal and treated as zero */
        if (magnitude > 0x7e800000 && magnitude < 0x7f800000)
            return x * num_as_float(num_as_bits(y) & 0x80000000);
        return x / y;
    }
    case NUM_DIV_FULL: return x / y;
    default: return 0;
    }
}

static uint32_t approximate32(num_op op, uint32_t a, uint32_t b, unsigned flags)
{
    if (flags & NUM_FTZ) {
        a = flush32(a);
        b = flush32(b);
    }
    uint32_t r = finish32(num_as_bits(approximate_float(op, num_as_float(a), num_as_float(b))));
    if (flags & NUM_FTZ) r = flush32(r);
    if (flags & NUM_SAT) r = clamp32(r);
    return flags & NUM_RELU ? relu32(r) : r;
}

/* True if rounding is irrelevant or to nearest. */
static bool rounds_to_nearest(num_op op, num_round round)
{
    return round == NUM_RN || op == NUM_MIN || op == NUM_MAX || op == NUM_ABS || op == NUM_NEG;
}

void num_f32_lanes(num_op op, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                   num_round round, unsigned flags)
{
    if (op >= NUM_EX2) {
        EACH(i) d[i] = approximate32(op, a[i], b ? b[i] : 0, flags);
    } else if (!rounds_to_nearest(op, round)) {
        EACH(i)
        d[i] = (uint32_t)number_arithmetic(op, NUM_F32, a[i], b ? b[i] : 0, c ? c[i] : 0, round, flags);
    } else if (has_wide_vectors()) {
        f32_wide(op, d, a, b, c, flags);
    } else {
        run_f32_plain(op, d, a, b, c, flags);
    }
}

/* ---- f64 ---- */

INLINE bool is_nan64(uint64_t x)
{
    return (x & INT64_MAX) > 0x7ff0000000000000;
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on the upper 32 bits. */
static uint64_t approximate64(num_op op, uint64_t a)
{
    a &= UINT64_C(0xffffffff00000000);
    if ((a & 0x7ff0000000000000) == 0) a &= UINT64_C(1) << 63;
    if (is_nan64(a)) return 0x7fffffff00000000;
    double x = as_double(a), r = op == NUM_RSQRT ? 1.0 / sqrt(x) : 1.0 / x;
    uint64_t bits = as_bits64(r) & UINT64_C(0xffffffff00000000);
    if (is_nan64(bits)) return 0x7fffffff00000000;
    return (bits & 0x7ff0000000000000) == 0 ? bits & UINT64_C(1) << 63 : bits;
}

/* rsqrt.approx.f64, which does not flush subnormals. */
static uint64_t rsqrt64(uint64_t a)
{
    if (is_nan64(a)) return a | UINT64_C(1) << 51;
    double x = as_double(a);
    return x < 0 ? 0xfff8000000000000 : as_bits64(1.0 / sqrt(x));
}

INLINE void f64_body(num_op op, uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c)
{
    double x[LANES], y[LANES], z[LANES], r[LANES];
    memcpy(x, a, sizeof x);
    memcpy(y, b ? b : a, sizeof y);
    memcpy(z, c ? c : a, sizeof z);
    switch (op) {
    case NUM_ADD: EACH(i) r[i] = x[i] + y[i]; break;
    case NUM_SUB: EACH(i) r[i] = x[i] - y[i]; break;
    case NUM_MUL: EACH(i) r[i] = x[i] * y[i]; break;
    case NUM_FMA: EACH(i) r[i] = __builtin_fma(x[i], y[i], z[i]); break;
    case NUM_DIV: EACH(i) r[i] = x[i] / y[i]; break;
    case NUM_RCP: EACH(i) r[i] = 1.0 / x[i]; break;
    default: EACH(i) r[i] = sqrt(x[i]); break;
    }
    uint64_t bits[LANES];
    memcpy(bits, r, sizeof bits);
    /* Processors select a payload by the order of operands, so select it here. */
    bool some = false;
    EACH(i) some |= is_nan64(bits[i]);
    if (some) EACH(i)
        {
            uint64_t operands[3] = {a[i], b ? b[i] : 0, c ? c[i] : 0};
            if (is_nan64(bits[i])) bits[i] = number_nan(NUM_F64, op, operands);
        }
    memcpy(d, bits, sizeof bits);
}

WIDE static void f64_wide(num_op op, uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c)
{
    if (op == NUM_FMA)
        f64_body(NUM_FMA, d, a, b, c);
    else
        f64_body(op, d, a, b, c);
}

static void run_f64_plain(num_op op, uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c)
{
    f64_body(op, d, a, b, c);
}

static uint64_t clamp64(uint64_t x)
{
    const uint64_t infinity = 0x7ff0000000000000, one = 0x3ff0000000000000;
    return x > infinity ? 0 : x > one ? one : x;
}

void num_f64_lanes(num_op op, uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                   num_round round, unsigned flags)
{
    if (op > NUM_SQRT || round != NUM_RN) EACH(i)
    d[i] = num_arithmetic(op, NUM_F64, a[i], b ? b[i] : 0, c ? c[i] : 0, round, flags & ~(unsigned)NUM_SAT);
    else if (has_wide_vectors()) f64_wide(op, d, a, b, c);
    else run_f64_plain(op, d, a, b, c);
    if (flags & NUM_SAT) EACH(i) d[i] = clamp64(d[i]);
}

/* ---- f16 and bf16 ---- */

/* Eight values at a time, in the compilers' vector types; comparisons of vectors yield masks. */
typedef uint16_t shorts8 __attribute__((vector_size(16)));
typedef uint32_t words8 __attribute__((vector_size(32)));
typedef float floats8 __attribute__((vector_size(32)));
typedef float floats4 __attribute__((vector_size(16)));
typedef int64_t longs4 __attribute__((vector_size(32)));
typedef double doubles4 __attribute__((vector_size(32)));
#define SELECT(mask, x, y) (((x) & (words8)(mask)) | ((y) & ~(words8)(mask)))

/* num_widen_half, num_widen_bfloat. */
INLINE void widen8(bool brain, floats8 *out, const uint16_t *in)
{
    shorts8 h;
    memcpy(&h, in, sizeof h);
    words8 x = __builtin_convertvector(h, words8);
    if (brain) {
        *out = (floats8)(x << 16);
        return;
    }
    words8 magnitude = (x & 0x7fff) << 13, sign = (x & 0x8000) << 16;
    floats8 one = (floats8)((words8){0} + (113u << 23));
    words8 small = (words8)((floats8)(magnitude + (113u << 23)) - one);
    words8 r = SELECT(magnitude < 0x00800000, small, magnitude + (112u << 23));
    r = SELECT(magnitude >= 0x0f800000, magnitude + (224u << 23), r) | sign;
    *out = (floats8)SELECT(magnitude > 0x0f800000, (words8){0} + 0x7fffffff, r);
}

/* num_narrow_half, num_narrow_bfloat. */
INLINE void narrow8(bool brain, uint16_t *out, const floats8 *in)
{
    words8 x = (words8)*in, magnitude = x & 0x7fffffff, r;
    if (brain) {
        r = (x + 0x7fff + (x >> 16 & 1)) >> 16;
    } else {
        words8 normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
        words8 small = (words8)((floats8)magnitude + 0.5f) - 0x3f000000;
        r = SELECT(magnitude < (113u << 23), small, normal);
        r = SELECT(magnitude >= 0x47800000, (words8){0} + 0x7c00, r) | (x >> 16 & 0x8000);
    }
    r = SELECT(magnitude > 0x7f800000, (words8){0} + 0x7fff, r);
    shorts8 h = __builtin_convertvector(r, shorts8);
    memcpy(out, &h, sizeof h);
}

/* The exact a * b + c, rounded to odd: the last bit is set if something was truncated, so that the next
 * rounding, to 11 bits or fewer, is correct. The product of two halves is exact in double. */
INLINE void fma4(floats4 *a, const floats4 *b, const floats4 *c)
{
    doubles4 p = __builtin_convertvector(*a, doubles4) * __builtin_convertvector(*b, doubles4);
    doubles4 q = __builtin_convertvector(*c, doubles4);
    doubles4 s = p + q, t = s - p;
    doubles4 u = s - t;
    doubles4 error = p - u;
    error += q - t; /* TwoSum: s + error is the exact sum */
    longs4 bits = (longs4)s, exponent = bits & 0x7ff0000000000000;
    longs4 some = (error != 0) & (s != 0) & (exponent != 0x7ff0000000000000);
    longs4 inward = (error > 0) ^ (s > 0); /* the exact sum is nearer to zero than s: one unit less */
    bits = (((bits + inward) | 1) & some) | (bits & ~some);
    longs4 cut = (bits & 0x1fffffff) != 0;
    bits = (bits & ~INT64_C(0x1fffffff)) | (cut & 0x20000000);
    *a = __builtin_convertvector((doubles4)bits, floats4);
}

INLINE void fma8(floats8 *a, const floats8 *b, const floats8 *c)
{
    floats4 x[2], y[2], z[2];
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    memcpy(z, c, sizeof z);
    fma4(&x[0], &y[0], &z[0]);
    fma4(&x[1], &y[1], &z[1]);
    memcpy(a, x, sizeof x);
}

/* Sums and products of halves in float, whose 24 bits make a second rounding correct. */
INLINE void half_loop(num_op op, bool brain, int n, uint16_t *d, const uint16_t *a, const uint16_t *b,
                      const uint16_t *c)
{
    uint16_t r[2 * LANES];
    bool tiny = false;
    for (int i = 0; i < n; i += 8) {
        floats8 x, y, z;
        widen8(brain, &x, a + i);
        widen8(brain, &y, b + i);
        if (op == NUM_FMA) {
            widen8(brain, &z, c + i);
            fma8(&x, &y, &z);
            words8 small = (words8)((((words8)x & 0x7fffffff) - 1) < 0x00ffffff);
            for (int j = 0; brain && j < 8; j++) tiny |= small[j] != 0;
        } else {
            x = op == NUM_ADD ? x + y : op == NUM_SUB ? x - y : x * y;
        }
        narrow8(brain, r + i, &x);
    }
    /* A subnormal float was rounded twice. */
    for (int i = 0; tiny && i < n; i++)
        r[i] = (uint16_t)number_arithmetic(op, NUM_BF16, a[i], b[i], c[i], NUM_RN, 0);
    memcpy(d, r, (size_t)n * sizeof *d);
}

INLINE void half_body(num_op op, bool brain, bool pair, uint16_t *d, const uint16_t *a, const uint16_t *b,
                      const uint16_t *c)
{
#define ROW(name)                                                                                            \
    case name:                                                                                               \
        if (brain && pair)                                                                                   \
            half_loop(name, true, 2 * LANES, d, a, b, c);                                                    \
        else if (brain)                                                                                      \
            half_loop(name, true, LANES, d, a, b, c);                                                        \
        else if (pair)                                                                                       \
            half_loop(name, false, 2 * LANES, d, a, b, c);                                                   \
        else                                                                                                 \
            half_loop(name, false, LANES, d, a, b, c);                                                       \
        break;
    switch (op) {
        ROW(NUM_ADD)
        ROW(NUM_SUB)
        ROW(NUM_MUL)
        ROW(NUM_FMA)
    default: break;
    }
#undef ROW
}

WIDE static void half_wide(num_op op, bool brain, bool pair, uint16_t *d, const uint16_t *a,
                           const uint16_t *b, const uint16_t *c)
{
    half_body(op, brain, pair, d, a, b, c);
}

static void run_half_plain(num_op op, bool brain, bool pair, uint16_t *d, const uint16_t *a,
                           const uint16_t *b, const uint16_t *c)
{
    half_body(op, brain, pair, d, a, b, c);
}

void num_half_lanes(num_op op, num_format format, bool pair, void *d, const void *a, const void *b,
                    const void *c, num_round round, unsigned flags)
{
    int count = pair ? 2 * LANES : LANES;
    if (op <= NUM_FMA && round == NUM_RN && flags == 0) {
        (has_wide_vectors() ? half_wide : run_half_plain)(op, format == NUM_BF16, pair, d, a, b, c);
        return;
    }
    const uint16_t *x = a, *y = b, *z = c;
    uint16_t *r = d;
    for (int i = 0; i < count; i++)
        r[i] = (uint16_t)num_arithmetic(op, format, x[i], y ? y[i] : 0, z ? z[i] : 0, round, flags);
}

/* ---- one value ---- */

static uint64_t sign_operation(num_op op, num_format format, uint64_t a, unsigned flags)
{
    const number_format *f = &number_formats[format];
    uint64_t top = UINT64_C(1) << (f->bits - 1);
    num_class class = num_classify(format, a);
    if (class == NUM_NOT_A_NUMBER) return format == NUM_F64 ? a : f->nan;
    if (class == NUM_SUBNORMAL && (flags & NUM_FTZ) && (format == NUM_F32 || format == NUM_F16)) a &= top;
    return op == NUM_ABS ? a & ~top : a ^ top;
}

uint64_t num_arithmetic(num_op op, num_format format, uint64_t a, uint64_t b, uint64_t c, num_round round,
                        unsigned flags)
{
    uint64_t r;
    if (op == NUM_MIN || op == NUM_MAX)
        r = number_min_max(op, format, a, b, flags);
    else if (op == NUM_ABS || op == NUM_NEG)
        r = sign_operation(op, format, a, flags);
    else if (op < NUM_EX2)
        return number_arithmetic(op, format, a, b, c, round, flags);
    else if (format == NUM_F64 && op == NUM_RSQRT && !(flags & NUM_FTZ))
        r = rsqrt64(a);
    else if (format == NUM_F64)
        r = approximate64(op, a);
    else if (format == NUM_F32)
        return approximate32(op, (uint32_t)a, (uint32_t)b, flags);
    else {
        uint32_t x = (uint32_t)num_convert(NUM_F32, format, a, NUM_RN, 0);
        uint32_t y = (uint32_t)num_convert(NUM_F32, format, b, NUM_RN, 0);
        if ((flags & NUM_FTZ) && num_classify(format, a) == NUM_SUBNORMAL) x &= 0x80000000;
        r = num_convert(format, NUM_F32, approximate32(op, x, y, 0), NUM_RN, 0);
        if ((flags & NUM_FTZ) && num_classify(format, r) == NUM_SUBNORMAL) r &= 0x8000;
    }
    if (flags & (NUM_SAT | NUM_RELU))
        r = num_convert(format, format, r, NUM_RN, flags & (NUM_SAT | NUM_RELU));
    return r;
}

/* ---- conversions ---- */

static uint64_t lane_get(num_format format, const void *lanes, int i)
{
    if (format == NUM_F64) return ((const uint64_t *)lanes)[i];
    if (format == NUM_F32 || format == NUM_TF32) return ((const uint32_t *)lanes)[i];
    return ((const uint16_t *)lanes)[i];
}

static void lane_set(num_format format, void *lanes, int i, uint64_t value)
{
    if (format == NUM_F64)
        ((uint64_t *)lanes)[i] = value;
    else if (format == NUM_F32 || format == NUM_TF32)
        ((uint32_t *)lanes)[i] = (uint32_t)value;
    else
        ((uint16_t *)lanes)[i] = (uint16_t)value;
}

INLINE void narrow_body(bool brain, uint16_t *d, const uint32_t *a)
{
    floats8 x[LANES / 8];
    memcpy(x, a, sizeof x);
    for (int i = 0; i < LANES / 8; i++) narrow8(brain, d + 8 * i, &x[i]);
}

INLINE void widen_body(bool brain, uint32_t *d, const uint16_t *a)
{
    floats8 x[LANES / 8];
    for (int i = 0; i < LANES / 8; i++) widen8(brain, &x[i], a + 8 * i);
    memcpy(d, x, sizeof x);
}

WIDE static void narrow_wide(bool brain, uint16_t *d, const uint32_t *a)
{
    narrow_body(brain, d, a);
}
static void run_narrow_plain(bool brain, uint16_t *d, const uint32_t *a)
{
    narrow_body(brain, d, a);
}
WIDE static void widen_wide(bool brain, uint32_t *d, const uint16_t *a)
{
    widen_body(brain, d, a);
}
static void run_widen_plain(bool brain, uint32_t *d, const uint16_t *a)
{
    widen_body(brain, d, a);
}

static bool is_half(num_format format)
{
    return format == NUM_F16 || format == NUM_BF16;
}

void num_convert_lanes(num_format to, num_format from, void *d, const void *a, num_round round,
                       unsigned flags)
{
    if (is_half(to) && from == NUM_F32 && round == NUM_RN && flags == 0)
        (has_wide_vectors() ? narrow_wide : run_narrow_plain)(to == NUM_BF16, d, a);
    else if (to == NUM_F32 && is_half(from) && flags == 0)
        (has_wide_vectors() ? widen_wide : run_widen_plain)(from == NUM_BF16, d, a);
    else
        EACH(i) lane_set(to, d, i, num_convert(to, from, lane_get(from, a, i), round, flags));
}
