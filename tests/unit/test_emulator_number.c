/* Numbers of PTX. Oracles: the definition of each format evaluated with ldexp and searched for the nearest
 * value; the host's IEEE 754 arithmetic under fesetround; constants from the PTX ISA. */
#include <fenv.h>
#include <math.h>

#include "lib/numeric/number.h"
#include "tests/unit/test.h"

static uint64_t seed = 12345;
static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static float f32(uint64_t bits)
{
    uint32_t b = (uint32_t)bits;
    float f;
    memcpy(&f, &b, 4);
    return f;
}
static uint32_t b32(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}
static double f64(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, 8);
    return f;
}
static uint64_t b64(double f)
{
    uint64_t b;
    memcpy(&b, &f, 8);
    return b;
}

/* A format by its definition: (-1)^s * 2^(e - bias) * 1.m. */
typedef struct format {
    num_format id;
    int bits, mantissa, bias;
    bool infinity, nan; /* the last exponent is for infinity and NaN; only all ones is NaN */
} format;
static const format formats[] = {
    {NUM_F16, 16, 10, 15, true, true}, {NUM_BF16, 16, 7, 127, true, true}, {NUM_E5M2, 8, 2, 15, true, true},
    {NUM_E4M3, 8, 3, 7, false, true},  {NUM_E2M3, 6, 3, 1, false, false},  {NUM_E3M2, 6, 2, 3, false, false},
    {NUM_E2M1, 4, 1, 1, false, false},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static double value(const format *f, unsigned bits)
{
    unsigned sign = bits >> (f->bits - 1) & 1, ones = (1u << (f->bits - 1 - f->mantissa)) - 1;
    unsigned e = bits >> f->mantissa & ones, m = bits & ((1u << f->mantissa) - 1);
    double r;
    if (f->infinity && e == ones)
        r = m ? NAN : INFINITY;
    else if (!f->infinity && f->nan && (bits & ((1u << (f->bits - 1)) - 1)) == (1u << (f->bits - 1)) - 1)
        r = NAN;
    else
        r = e ? ldexp(1 + ldexp(m, -f->mantissa), (int)e - f->bias) : ldexp(m, 1 - f->bias - f->mantissa);
    return sign ? -r : r;
}

static void test_widening(void)
{
    for (int i = 0; i < FORMATS; i++)
        for (unsigned bits = 0; bits < 1u << formats[i].bits; bits++) {
            double want = value(&formats[i], bits);
            uint32_t got = (uint32_t)num_convert(NUM_F32, formats[i].id, bits, NUM_RN, 0);
            /* An H200 keeps a bf16's NaN. */
            uint32_t nan = formats[i].id == NUM_BF16 ? bits << 16 : 0x7fffffff;
            if (isnan(want) ? got != nan : got != b32((float)want)) {
                CHECK_INT(bits, -1);
                return;
            }
            uint64_t got64 = num_convert(NUM_F64, formats[i].id, bits, NUM_RN, 0);
            if (isnan(want) ? !isnan(f64(got64)) : got64 != b64(want)) {
                CHECK_INT(bits, -2);
                return;
            }
        }
    for (unsigned bits = 0; bits < 65536; bits++) {
        if (b32(num_half_to_float(bits)) != (uint32_t)num_convert(NUM_F32, NUM_F16, bits, NUM_RN, 0) ||
            b32(num_bfloat_to_float(bits)) != (uint32_t)num_convert(NUM_F32, NUM_BF16, bits, NUM_RN, 0)) {
            CHECK_INT(bits, -3);
            return;
        }
    }
}

/* How many encodings without sign are finite. */
static unsigned finite_count(const format *f)
{
    unsigned top = 1u << (f->bits - 1), exponent = f->infinity ? 1u << f->mantissa : f->nan;
    return top - exponent;
}

/* The encoding (without sign) that `x` > 0 rounds to among the finite ones; one past the last: overflow. */
static unsigned nearest(const format *f, double x, num_round round, bool negative)
{
    unsigned low = 0, high = finite_count(f), count = high;
    /* The value after the largest, if exponents went on. */
    double last = value(f, count - 1), beyond = last + (last - value(f, count - 2));
    if (x >= beyond) return round == NUM_RZ || (round == (negative ? NUM_RP : NUM_RM)) ? count - 1 : count;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (value(f, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    double below = value(f, low), above = low + 1 == count ? beyond : value(f, low + 1);
    if (x == below) return low;
    double left = x - below, right = above - x; /* exact: few bits */
    switch (round) {
    case NUM_RN: return left < right || (left == right && low % 2 == 0) ? low : low + 1;
    case NUM_RNA: return left < right ? low : low + 1;
    case NUM_RZ: return low;
    case NUM_RM: return negative ? low + 1 : low;
    case NUM_RP: return negative ? low : low + 1;
    }
    return 0;
}

static bool narrow_holds(const format *f, uint32_t bits, num_round round, unsigned flags)
{
    double x = f32(bits);
    uint64_t got = num_convert(f->id, NUM_F32, bits, round, flags);
    unsigned top = 1u << (f->bits - 1), want;
    if (isnan(x)) {
        want = f->bits == 16 ? 0x7fff : 0x7f; /* PTX ISA, cvt: canonical NaN */
        if (!f->nan) want = top - 1;          /* e2m1, e2m3, e3m2: NaN becomes the largest value */
    } else {
        unsigned count = finite_count(f);
        unsigned r = isinf(x) ? count : nearest(f, fabs(x), round, signbit(x));
        bool nan = false;
        if (r == count) {
            if ((flags & NUM_SATFINITE) || !f->nan)
                r--;
            else if (!f->infinity)
                nan = true;
        }
        want = nan ? 0x7f : r | (signbit(x) ? top : 0);
    }
    if (got == want) return true;
    printf("# format %d, f32 %08x, round %d, flags %u: %x, not %x\n", f->id, bits, round, flags,
           (unsigned)got, want);
    return false;
}

static void test_narrowing(void)
{
    static const num_round rounds[] = {NUM_RN, NUM_RZ, NUM_RM, NUM_RP, NUM_RNA};
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (int r = 0; r < 5; r++)
            for (unsigned flags = 0; flags <= NUM_SATFINITE; flags += NUM_SATFINITE) {
                /* Every value, the middle to its neighbour, and a little beside both. */
                unsigned step = f->bits == 16 ? 101 : 1;
                for (unsigned bits = 0; bits < 1u << f->bits; bits += step) {
                    double v = value(f, bits), w = value(f, bits ^ 1);
                    uint32_t points[2] = {b32((float)v), b32((float)((v + w) / 2))};
                    for (int p = 0; p < 2; p++)
                        for (int d = -1; d <= 1; d++)
                            if (!CHECK(narrow_holds(f, points[p] + (uint32_t)d, rounds[r], flags))) return;
                }
                for (int k = 0; k < 500; k++)
                    if (!CHECK(narrow_holds(f, (uint32_t)any(), rounds[r], flags))) return;
            }
    }
}

static void test_quick_narrowing(void)
{
    for (int k = 0; k < 200000; k++) {
        uint32_t bits = (uint32_t)any();
        if (k % 2) bits = (bits & 0x8fffffff) | 0x30000000; /* around f16's range */
        if (k % 4 == 3) bits &= 0xfffff000;                 /* ties */
        /* ftz takes the general way, and changes nothing but subnormal operands */
        bool same = num_float_to_half(f32(bits)) == num_convert(NUM_F16, NUM_F32, bits, NUM_RN, NUM_FTZ);
        if (bits << 1 >= 0x01000000)
            same &= num_float_to_bfloat(f32(bits)) == num_convert(NUM_BF16, NUM_F32, bits, NUM_RN, NUM_FTZ);
        if (!same) {
            CHECK_INT(bits, -1);
            return;
        }
    }
}

/* 32 lanes at once are the same as one by one. */
static void test_lanes(void)
{
    static const num_format halves[] = {NUM_F16, NUM_BF16};
    for (int f = 0; f < 2; f++)
        for (unsigned at = 0; at < 1 << 20; at += 32) {
            uint16_t half[32], narrow[32];
            uint32_t whole[32], wide[32];
            bool same = true;
            for (unsigned l = 0; l < 32; l++) {
                half[l] = (uint16_t)(at + l);
                whole[l] = (uint32_t)any();
                if (at & 32) whole[l] = (whole[l] & 0x8fffffff) | 0x30000000; /* around f16's range */
                if (at & 64) whole[l] &= 0xfffff000;                          /* ties */
                if (at & 128 && l % 8 == 0) whole[l] |= 0x7f800000;           /* infinities, NaN */
            }
            num_convert_lanes(NUM_F32, halves[f], wide, half, NUM_RN, 0);
            num_convert_lanes(halves[f], NUM_F32, narrow, whole, NUM_RN, 0);
            for (unsigned l = 0; l < 32; l++)
                same &= wide[l] == num_convert(NUM_F32, halves[f], half[l], NUM_RN, 0) &&
                        narrow[l] == num_convert(halves[f], NUM_F32, whole[l], NUM_RN, 0);
            if (same) continue;
            CHECK_INT(at, -1);
            return;
        }
}

static void test_tf32(void)
{
    /* 1 + 2^-11 is half-way between 1 and 1 + 2^-10 */
    uint32_t tie = 0x3f801000;
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, tie, NUM_RNA, 0), 0x3f802000);
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, tie, NUM_RN, 0), 0x3f800000);
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, 0x3f803000, NUM_RN, 0), 0x3f804000);
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, 0xbf801fff, NUM_RZ, 0), 0xbf800000);
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, 0xbf803000, NUM_RN, NUM_RELU), 0);
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, 0x7f7fffff, NUM_RNA, 0), 0x7f800000);
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, 0x7f7fffff, NUM_RNA, NUM_SATFINITE), 0x7f7fe000);
    /* found on an H200 */
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, 0xffc00001, NUM_RNA, 0), 0xffc00000);
    CHECK_INT(num_convert(NUM_TF32, NUM_F32, 0xffc00001, NUM_RN, 0), 0x7fffe000);
    CHECK_INT(num_convert(NUM_F32, NUM_TF32, 0x3f801fff, NUM_RN, 0), 0x3f800000);
}

static void test_scale(void)
{
    for (unsigned e = 0; e < 255; e++) {
        CHECK_INT(num_convert(NUM_F64, NUM_UE8M0, e, NUM_RN, 0), b64(ldexp(1, (int)e - 127)));
        CHECK_INT(
            num_convert(NUM_UE8M0, NUM_F32, b32((float)ldexp(1.5, (int)e - 127)), NUM_RZ, NUM_SATFINITE), e);
        CHECK_INT(
            num_convert(NUM_UE8M0, NUM_F32, b32((float)ldexp(1.25, (int)e - 127)), NUM_RP, NUM_SATFINITE),
            e == 254 ? 254 : e + 1);
    }
    CHECK_INT(num_convert(NUM_UE8M0, NUM_F32, 0x7fc00000, NUM_RZ, NUM_SATFINITE), 0xff);
}

static const int host_rounds[] = {
    [NUM_RN] = FE_TONEAREST, [NUM_RZ] = FE_TOWARDZERO, [NUM_RM] = FE_DOWNWARD, [NUM_RP] = FE_UPWARD};

static double host(num_op op, double x, double y, double z)
{
    volatile double a = x, b = y, c = z, r;
    switch (op) {
    case NUM_ADD: r = a + b; break;
    case NUM_SUB: r = a - b; break;
    case NUM_MUL: r = a * b; break;
    case NUM_FMA: r = fma(a, b, c); break;
    case NUM_DIV: r = a / b; break;
    case NUM_SQRT: r = sqrt(a); break;
    default: r = 1.0 / a; break;
    }
    return r;
}

static float hostf(num_op op, float x, float y, float z)
{
    volatile float a = x, b = y, c = z, r;
    switch (op) {
    case NUM_ADD: r = a + b; break;
    case NUM_SUB: r = a - b; break;
    case NUM_MUL: r = a * b; break;
    case NUM_FMA: r = fmaf(a, b, c); break;
    case NUM_DIV: r = a / b; break;
    case NUM_SQRT: r = sqrtf(a); break;
    default: r = 1.0f / a; break;
    }
    return r;
}

/* Operands that meet: close exponents, few bits, specials. */
static uint64_t operand(int width, int k)
{
    static const uint64_t special[] = {0,
                                       0x8000000000000000,
                                       1,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000000,
                                       0x3ff0000000000000,
                                       0x000fffffffffffff,
                                       0x7fefffffffffffff,
                                       0x0010000000000000};
    uint64_t x = any();
    if (width == 64) {
        if (k % 5 == 0) return special[x % 10];
        if (k % 5 < 3) return (x & 0x807fffffffffffff) | 0x3f80000000000000;
        return x;
    }
    if (k % 5 == 0) {
        uint64_t s = special[x % 10];
        return b32((float)f64(s)) | (s == 1) | (s == 0x000fffffffffffff ? 0x007fffff : 0);
    }
    if (k % 5 < 3) return (x & 0x83ffffff) | 0x3c000000;
    return x & 0xffffffff;
}

static void test_arithmetic(void)
{
    for (num_op op = NUM_ADD; op <= NUM_RCP; op++)
        for (num_round round = NUM_RN; round <= NUM_RP; round++)
            for (int block = 0; block < 200; block++) {
                uint64_t a[32], b[32], c[32], d[32];
                uint32_t x[32], y[32], z[32], r[32];
                for (int i = 0; i < 32; i++) {
                    a[i] = operand(64, block + i);
                    b[i] = operand(64, block / 5 + i);
                    c[i] = operand(64, block / 25 + i);
                    if (i % 8 == 7) c[i] = b64(-f64(a[i]) * f64(b[i])); /* cancels */
                    if (i % 8 == 6) b[i] = a[i] ^ (any() & 7) ^ 0x8000000000000000;
                    x[i] = (uint32_t)operand(32, block + i);
                    y[i] = (uint32_t)operand(32, block / 5 + i);
                    z[i] = (uint32_t)operand(32, block / 25 + i);
                    if (i % 8 == 7) z[i] = b32(-f32(x[i]) * f32(y[i]));
                    if (i % 8 == 6) y[i] = x[i] ^ (uint32_t)(any() & 7) ^ 0x80000000;
                }
                num_f64_lanes(op, d, a, b, c, round, 0);
                num_f32_lanes(op, r, x, y, z, round, 0);
                for (int i = 0; i < 32; i++) {
                    fesetround(host_rounds[round]);
                    double want = host(op, f64(a[i]), f64(b[i]), f64(c[i]));
                    float wantf = hostf(op, f32(x[i]), f32(y[i]), f32(z[i]));
                    fesetround(FE_TONEAREST);
                    uint64_t soft = num_arithmetic(op, NUM_F64, a[i], b[i], c[i], round, 0);
                    uint64_t softf = num_arithmetic(op, NUM_F32, x[i], y[i], z[i], round, 0);
                    if ((isnan(want) ? !isnan(f64(d[i])) : d[i] != b64(want)) || soft != d[i]) {
                        printf("# op %d round %d: %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " -> %016" PRIx64
                               " %016" PRIx64 ", not %016" PRIx64 "\n",
                               op, round, a[i], b[i], c[i], d[i], soft, b64(want));
                        test_fail(__FILE__, __LINE__, "it differs");
                        return;
                    }
                    if (r[i] != (isnan(wantf) ? 0x7fffffff : b32(wantf)) || softf != r[i]) {
                        printf("# op %d round %d: %08x %08x %08x -> %08x %08x, not %08x\n", op, round, x[i],
                               y[i], z[i], r[i], (unsigned)softf, b32(wantf));
                        test_fail(__FILE__, __LINE__, "it differs");
                        return;
                    }
                }
            }
}

/* The nearest half of an exact sum of products, through long double (64 bits) rounded to odd by hand. */
static void test_halves(void)
{
    static const num_format ids[] = {NUM_F16, NUM_BF16};
    for (int f = 0; f < 2; f++)
        for (num_op op = NUM_ADD; op <= NUM_FMA; op++)
            for (int block = 0; block < 400; block++) {
                uint32_t a[32], b[32], c[32], d[32];
                for (int i = 0; i < 32; i++) {
                    a[i] = (uint32_t)any();
                    b[i] = (uint32_t)any();
                    c[i] = (uint32_t)any();
                    if (block % 3 == 1) {
                        a[i] = (a[i] & 0x87ff87ff) | 0x38003800;
                        b[i] = (b[i] & 0x87ff87ff) | 0x38003800;
                    }
                    if (block % 3 == 2) {
                        b[i] &= 0xff00ff00;
                        c[i] &= 0x80038003;
                    }
                }
                num_half_lanes(op, ids[f], true, d, a, b, c, NUM_RN, 0);
                for (int i = 0; i < 64; i++) {
                    int s = i % 2 * 16, l = i / 2;
                    unsigned x = a[l] >> s & 0xffff, y = b[l] >> s & 0xffff, z = c[l] >> s & 0xffff;
                    uint64_t want = num_arithmetic(op, ids[f], x, y, z, NUM_RN, 0);
                    if ((d[l] >> s & 0xffff) != want) {
                        printf("# op %d format %d: %04x %04x %04x -> %04x, not %04x\n", op, ids[f], x, y, z,
                               d[l] >> s & 0xffff, (unsigned)want);
                        test_fail(__FILE__, __LINE__, "it differs");
                        return;
                    }
                }
            }
    /* By hand, f16: 1 + 2^-11 is a tie and goes to 1; with 2^-24 more it goes up. fma(1, 1, 2^-11) has no
     * more. */
    CHECK_INT(num_arithmetic(NUM_ADD, NUM_F16, 0x3c00, 0x1000, 0, NUM_RN, 0), 0x3c00);
    CHECK_INT(num_arithmetic(NUM_ADD, NUM_F16, 0x3c01, 0x1000, 0, NUM_RN, 0), 0x3c02);
    CHECK_INT(num_arithmetic(NUM_FMA, NUM_F16, 0x3c01, 0x3c01, 0x8000, NUM_RN, 0), 0x3c02);
    /* bf16: 1 * (1 + 2^-7) + 2^-8 * ... : a tie broken by a bit far below. 0x3f81 + 0x3b80 = tie; 0x3b81
     * above */
    CHECK_INT(num_arithmetic(NUM_FMA, NUM_BF16, 0x3f80, 0x3f80, 0x3b80, NUM_RN, 0), 0x3f80);
    CHECK_INT(num_arithmetic(NUM_FMA, NUM_BF16, 0x3f80, 0x3b81, 0x3f80, NUM_RN, 0), 0x3f81);
    CHECK_INT(num_arithmetic(NUM_ADD, NUM_F16, 0x7bff, 0x7bff, 0, NUM_RN, NUM_SAT), 0x3c00);
    CHECK_INT(num_arithmetic(NUM_ADD, NUM_F16, 0x7e00, 0x3c00, 0, NUM_RN, 0), 0x7fff);
    CHECK_INT(num_arithmetic(NUM_FMA, NUM_F16, 0x3c00, 0xbc00, 0, NUM_RN, NUM_RELU), 0);
    CHECK_INT(num_arithmetic(NUM_ADD, NUM_F16, 1, 1, 0, NUM_RN, NUM_FTZ), 0);
}

static void test_flush(void)
{
    uint32_t a[32], b[32], c[32], d[32];
    for (int i = 0; i < 32; i++) {
        a[i] = i % 2 ? 0x807fffff : 0x00000001;
        b[i] = 0x3f800000;
        c[i] = 0x80000000;
    }
    num_f32_lanes(NUM_MUL, d, a, b, NULL, NUM_RN, NUM_FTZ);
    CHECK_INT(d[0], 0);
    CHECK_INT(d[1], 0x80000000);
    num_f32_lanes(NUM_MUL, d, a, b, NULL, NUM_RN, 0);
    CHECK_INT(d[1], 0x807fffff);
    num_f32_lanes(NUM_MUL, d, a, b, NULL, NUM_RP, NUM_FTZ);
    CHECK_INT(d[1], 0x80000000);
    for (int i = 0; i < 32; i++) a[i] = 0x00800000; /* 2^-126 * 0.5 is subnormal */
    for (int i = 0; i < 32; i++) b[i] = 0x3f000000;
    num_f32_lanes(NUM_FMA, d, a, b, c, NUM_RN, NUM_FTZ);
    CHECK_INT(d[31], 0);
    num_f32_lanes(NUM_FMA, d, a, b, c, NUM_RN, 0);
    CHECK_INT(d[31], 0x00400000);
}

static void test_saturation(void)
{
    static const uint32_t in[] = {0x7fc00000, 0xffc00000, 0x7f800000, 0xff800000,
                                  0x3f800001, 0xbf000000, 0x80000000, 0x3f000000};
    static const uint32_t out[] = {0, 0, 0x3f800000, 0, 0x3f800000, 0, 0, 0x3f000000};
    uint32_t a[32], b[32], d[32];
    for (int i = 0; i < 32; i++) {
        a[i] = in[i % 8];
        b[i] = 0x3f800000;
    }
    for (num_round round = NUM_RN; round <= NUM_RP; round++) {
        num_f32_lanes(NUM_MUL, d, a, b, NULL, round, NUM_SAT);
        for (int i = 0; i < 8; i++) CHECK_INT(d[i], out[i]);
    }
    for (int i = 0; i < 8; i++) CHECK_INT(num_convert(NUM_F32, NUM_F32, in[i], NUM_RN, NUM_SAT), out[i]);
    CHECK_INT(num_convert(NUM_F16, NUM_F32, 0xc0000000, NUM_RN, NUM_RELU), 0);
    CHECK_INT(num_convert(NUM_F16, NUM_F32, 0xffc00000, NUM_RN, NUM_RELU), 0x7fff);
}

static void test_min_max(void)
{
    /* PTX ISA: +0 > -0; one NaN gives the other operand, with .NaN a NaN */
    static const uint32_t one = 0x3f800000, two = 0xc0000000, nan = 0xffc00001;
    static const struct {
        num_op op;
        uint32_t a, b, r;
        unsigned flags;
    } t[] = {
        {NUM_MIN, 0, 0x80000000, 0x80000000, 0},
        {NUM_MAX, 0x80000000, 0, 0, 0},
        {NUM_MIN, one, nan, one, 0},
        {NUM_MAX, nan, two, two, 0},
        {NUM_MAX, nan, two, 0x7fffffff, NUM_NAN},
        {NUM_MIN, nan, nan, 0x7fffffff, 0},
        {NUM_MIN, one, two, two, 0},
        {NUM_MAX, one, two, one, 0},
        {NUM_MAX, one, two, 0xc0000000, NUM_XORSIGN}, /* |2| with the product's sign */
        {NUM_MIN, one, two, 0xbf800000, NUM_XORSIGN},
        {NUM_MAX, 0xbf800000, two, 0x40000000, NUM_XORSIGN},
    };
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        uint32_t a[32], b[32], d[32];
        for (int i = 0; i < 32; i++) {
            a[i] = t[k].a;
            b[i] = t[k].b;
        }
        num_f32_lanes(t[k].op, d, a, b, NULL, NUM_RN, t[k].flags);
        CHECK_INT(d[5], t[k].r);
        CHECK_INT(num_arithmetic(t[k].op, NUM_F32, t[k].a, t[k].b, 0, NUM_RN, t[k].flags), t[k].r);
    }
    CHECK_INT(num_arithmetic(NUM_MAX, NUM_F16, 0x7e00, 0xbc00, 0, NUM_RN, 0), 0xbc00);
    CHECK_INT(num_arithmetic(NUM_MAX, NUM_BF16, 0x7fc0, 0xbf80, 0, NUM_RN, NUM_NAN), 0x7fff);
    CHECK_INT(num_arithmetic(NUM_MIN, NUM_F64, b64(-1), b64(2), 0, NUM_RN, 0), b64(-1));
}

static void test_integers(void)
{
    /* cvt.rni of halves: ties to even */
    CHECK_INT(num_to_integer(NUM_F32, b32(2.5f), 32, true, NUM_RN, 0), 2);
    CHECK_INT(num_to_integer(NUM_F32, b32(-3.5f), 32, true, NUM_RN, 0), -4);
    CHECK_INT(num_to_integer(NUM_F32, b32(-2.5f), 32, true, NUM_RZ, 0), -2);
    CHECK_INT(num_to_integer(NUM_F32, b32(-2.5f), 32, true, NUM_RM, 0), -3);
    CHECK_INT(num_to_integer(NUM_F32, b32(-2.5f), 32, true, NUM_RP, 0), -2);
    CHECK_INT(num_to_integer(NUM_F32, b32(300), 8, true, NUM_RZ, 0), 127);
    CHECK_INT(num_to_integer(NUM_F32, b32(-300), 8, true, NUM_RZ, 0), -128);
    CHECK_INT(num_to_integer(NUM_F32, b32(-1), 32, false, NUM_RZ, 0), 0);
    CHECK_INT(num_to_integer(NUM_F32, 0x7f800000, 32, true, NUM_RZ, 0), INT32_MAX);
    CHECK_INT(num_to_integer(NUM_F32, 0xff800000, 64, true, NUM_RZ, 0), INT64_MIN);
    CHECK_INT(num_to_integer(NUM_F32, b32(1e30f), 64, false, NUM_RZ, 0), -1); /* 2^64 - 1 */
    /* PTX ISA, cvt: NaN is 0, but 1 << (width - 1) with f64, s64 or u64 */
    CHECK_INT(num_to_integer(NUM_F32, 0x7fc00000, 32, true, NUM_RZ, 0), 0);
    CHECK_INT(num_to_integer(NUM_F32, 0x7fc00000, 64, true, NUM_RZ, 0), INT64_MIN);
    CHECK_INT(num_to_integer(NUM_F64, 0x7ff8000000000000, 32, false, NUM_RZ, 0), 0x80000000);
    CHECK_INT(num_to_integer(NUM_F64, 0x7ff8000000000000, 32, true, NUM_RZ, 0), INT32_MIN);
    CHECK_INT(num_to_integer(NUM_F32, 1, 32, true, NUM_RP, NUM_FTZ), 0);
    CHECK_INT(num_to_integer(NUM_F32, 1, 32, true, NUM_RP, 0), 1);
    CHECK_INT(num_to_integral(NUM_F32, NUM_F32, b32(-0.25f), NUM_RN, 0), 0x80000000);
    CHECK_INT(num_to_integral(NUM_F64, NUM_F64, b64(4503599627370497.5), NUM_RN, 0), b64(4503599627370498.0));
    for (int k = 0; k < 20000; k++) {
        uint64_t x = any() >> (k % 64) | 1;
        for (num_round round = NUM_RN; round <= NUM_RP; round++) {
            fesetround(host_rounds[round]);
            volatile int64_t s = (int64_t)x;
            volatile uint64_t u = x;
            volatile float sf = (float)s, uf = (float)u;
            volatile double sd = (double)s, ud = (double)u;
            fesetround(FE_TONEAREST);
            double v = f64(x), r = round == NUM_RN   ? rint(v)
                                   : round == NUM_RZ ? trunc(v)
                                   : round == NUM_RM ? floor(v)
                                                     : ceil(v);
            if (num_from_integer(NUM_F32, x, 64, true, round, 0) != b32(sf) ||
                num_from_integer(NUM_F32, x, 64, false, round, 0) != b32(uf) ||
                num_from_integer(NUM_F64, x, 64, true, round, 0) != b64(sd) ||
                num_from_integer(NUM_F64, x, 64, false, round, 0) != b64(ud) ||
                (!isnan(r) && num_to_integral(NUM_F64, NUM_F64, x, round, 0) != b64(r))) {
                CHECK_INT(x, round);
                return;
            }
        }
    }
    CHECK_INT(num_from_integer(NUM_F16, 65520, 32, false, NUM_RN, 0), 0x7c00);
    CHECK_INT(num_from_integer(NUM_F16, 0xffff, 16, true, NUM_RN, 0), 0xbc00);
    CHECK_INT(num_integer_convert(8, true, 300, 32, true, true), 127);
    CHECK_INT(num_integer_convert(8, true, 300, 32, true, false), 44);
    CHECK_INT(num_integer_convert(16, false, (uint64_t)-5, 32, true, true), 0);
    CHECK_INT(num_integer_convert(64, true, 0xffffffff, 32, true, false), -1);
    CHECK_INT(num_integer_convert(64, true, 0xffffffff, 32, false, false), 0xffffffff);
}

static void test_approximate(void)
{
    static const struct {
        num_op op;
        double low, high, bound; /* relative, but sin and cos: absolute */
    } t[] = {
        /* bounds of PTX ISA 8.5, 9.7.3 */
        {NUM_EX2, -126, 127, 0x1p-22},
        {NUM_LG2, 0.001, 1000, 0x1p-22},
        {NUM_SIN, -3.14, 3.14, 0x1p-20},
        {NUM_COS, -3.14, 3.14, 0x1p-20},
        {NUM_TANH, -5, 5, 0x1p-11},
        {NUM_RSQRT, 1e-30, 1e30, 0x1p-22},
        {NUM_RCP_APPROX, 1e-30, 1e30, 0x1p-22},
        {NUM_SQRT_APPROX, 1e-30, 1e30, 0x1p-22},
    };
    for (size_t k = 0; k < sizeof t / sizeof *t; k++)
        for (int n = 0; n < 20000; n++) {
            float x = (float)(t[k].low + (t[k].high - t[k].low) * ldexp((double)(any() >> 11), -53));
            double want = 0;
            switch (t[k].op) {
            case NUM_EX2: want = exp2(x); break;
            case NUM_LG2: want = log2(x); break;
            case NUM_SIN: want = sin(x); break;
            case NUM_COS: want = cos(x); break;
            case NUM_TANH: want = tanh(x); break;
            case NUM_RSQRT: want = 1 / sqrt(x); break;
            case NUM_RCP_APPROX: want = 1 / (double)x; break;
            default: want = sqrt(x); break;
            }
            double got = f32(num_arithmetic(t[k].op, NUM_F32, b32(x), 0, 0, NUM_RN, 0));
            bool absolute = t[k].op == NUM_SIN || t[k].op == NUM_COS;
            if (t[k].op == NUM_LG2 && fabs(want) < 1) absolute = true;
            if (fabs(got - want) > t[k].bound * (absolute ? 1 : fabs(want))) {
                CHECK_INT(t[k].op, n);
                return;
            }
        }
    /* Corner cases of the tables there. */
    CHECK_INT(num_arithmetic(NUM_EX2, NUM_F32, 0xff800000, 0, 0, NUM_RN, 0), 0);
    CHECK_INT(num_arithmetic(NUM_LG2, NUM_F32, 0x80000000, 0, 0, NUM_RN, 0), 0xff800000);
    CHECK_INT(num_arithmetic(NUM_LG2, NUM_F32, 1, 0, 0, NUM_RN, NUM_FTZ), 0xff800000);
    CHECK_INT(num_arithmetic(NUM_SIN, NUM_F32, 0x7f800000, 0, 0, NUM_RN, 0), 0x7fffffff);
    CHECK_INT(num_arithmetic(NUM_RSQRT, NUM_F32, 0x80000000, 0, 0, NUM_RN, 0), 0xff800000);
    CHECK_INT(num_arithmetic(NUM_RSQRT, NUM_F32, 0xbf800000, 0, 0, NUM_RN, 0), 0x7fffffff);
    CHECK_INT(num_arithmetic(NUM_RCP_APPROX, NUM_F32, 0x80000000, 0, 0, NUM_RN, 0), 0xff800000);
    CHECK_INT(num_arithmetic(NUM_DIV_APPROX, NUM_F32, b32(8), b32(0x1p127f), 0, NUM_RN, 0), 0);
    CHECK_INT(num_arithmetic(NUM_DIV_APPROX, NUM_F32, 0x7f800000, b32(0x1p127f), 0, NUM_RN, 0), 0x7fffffff);
    CHECK_INT(num_arithmetic(NUM_DIV_FULL, NUM_F32, b32(8), b32(0x1p127f), 0, NUM_RN, 0), b32(0x1p-124f));
    CHECK_INT(num_arithmetic(NUM_RCP_APPROX, NUM_F64, b64(4), 0, 0, NUM_RN, NUM_FTZ), b64(0.25));
    CHECK_INT(num_arithmetic(NUM_EX2, NUM_F16, 0x4000, 0, 0, NUM_RN, 0), 0x4400);
    CHECK_INT(num_arithmetic(NUM_TANH, NUM_BF16, 0x7f80, 0, 0, NUM_RN, 0), 0x3f80);
}

static void test_compare(void)
{
    static const uint32_t order[] = {0xff800000, 0xbf800000, 0x80000001, 0, 1, 0x3f800000, 0x7f800000};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            CHECK_INT(num_compare(NUM_F32, order[i], order[j], 0), i < j   ? NUM_LESS
                                                                   : i > j ? NUM_GREATER
                                                                           : NUM_EQUAL);
    CHECK_INT(num_compare(NUM_F32, 0, 0x80000000, 0), NUM_EQUAL);
    CHECK_INT(num_compare(NUM_F32, 1, 0x80000001, NUM_FTZ), NUM_EQUAL);
    CHECK_INT(num_compare(NUM_F16, 0x7e00, 0x7e00, 0), NUM_UNORDERED);
}

int main(void)
{
    TEST("every value of the small formats widens to the number that its definition says", test_widening);
    TEST("f32 narrows to the value that a search finds, in each rounding, saturated or not", test_narrowing);
    TEST("the quick conversions to f16 and bf16 agree with the general one", test_quick_narrowing);
    TEST("32 lanes are converted as one is", test_lanes);
    TEST("tf32 has ten bits of fraction, and rounds away from zero with rna", test_tf32);
    TEST("ue8m0 holds the powers of two from 2^-127 to 2^127", test_scale);
    TEST("f32 and f64 arithmetic is the host's in each of four roundings", test_arithmetic);
    TEST("f16 and bf16 arithmetic is rounded once", test_halves);
    TEST("ftz flushes operands and results to zeros with their sign", test_flush);
    TEST("sat brings a result into [0, 1] and a NaN to 0", test_saturation);
    TEST("min and max order zeros and handle NaN and xorsign as documented", test_min_max);
    TEST("integers and floats convert with every rounding, clamped, NaN as documented", test_integers);
    TEST("approximate functions are within the documented errors", test_approximate);
    TEST("comparisons know unordered values and signed zeros", test_compare);
    return test_finish();
}
