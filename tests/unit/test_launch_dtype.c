/* lib/launch/data/dtype.c against the compiler's _Float16, against float's own bits, and against a search for the
 * nearest of all values of a format. */
#include <math.h>

#include "lib/launch/data/dtype.h"
#include "tests/unit/test.h"

static uint32_t store(cute_dtype dtype, double value)
{
    uint64_t bits = 0;
    cute_dtype_store(dtype, &bits, 1, 1, &value);
    return (uint32_t)bits;
}

static double load(cute_dtype dtype, uint32_t bits)
{
    uint64_t wide = bits;
    double value;
    cute_dtype_load(dtype, &wide, 1, 1, &value);
    return value;
}

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Doubles whose exponents are around those of f16. */
static double small_random(void)
{
    return ldexp((double)(int64_t)next_random() / 0x1p63, (int)(next_random() % 48) - 30);
}

static void test_f16_load(void)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t code = (uint16_t)bits;
        _Float16 value;
        memcpy(&value, &code, 2);
        double want = (double)(float)value, got = load(CUTE_F16, bits);
        if (want != want ? got == got : got != want || signbit(got) != signbit(want))
            test_fail(__FILE__, __LINE__, "f16 load");
        if (want == want && store(CUTE_F16, got) != bits) test_fail(__FILE__, __LINE__, "f16 round trip");
    }
}

static void test_f16_store(void)
{
    for (int i = 0; i < 1000000; i++) {
        /* Through float: _Float16's conversion from double rounds once in hardware or library; a float is exact. */
        float value = (float)small_random();
        _Float16 half = (_Float16)value;
        uint16_t want;
        memcpy(&want, &half, 2);
        if (store(CUTE_F16, value) != want) {
            printf("# %a: %04x, not %04x\n", value, store(CUTE_F16, value), want);
            test_fail(__FILE__, __LINE__, "f16 store");
            return;
        }
    }
    CHECK(store(CUTE_F16, 65519.99) == 0x7BFF); /* below halfway to 65536: the largest finite, 65504 */
    CHECK(store(CUTE_F16, 65520) == 0x7C00);    /* halfway: up, to infinity */
    CHECK(store(CUTE_F16, -INFINITY) == 0xFC00);
    /* One rounding, not two: 1 + 2^-11 + 2^-40 is above halfway, though as a float it is halfway. */
    CHECK(store(CUTE_F16, 1 + 0x1p-11 + 0x1p-40) == 0x3C01);
    CHECK(store(CUTE_F16, 1 + 0x1p-11) == 0x3C00);
}

static void test_bf16(void)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint32_t wide = bits << 16;
        float want;
        memcpy(&want, &wide, 4);
        double got = load(CUTE_BF16, bits);
        if (want != want ? got == got : got != want) test_fail(__FILE__, __LINE__, "bf16 load");
        if (want == want && store(CUTE_BF16, got) != bits) test_fail(__FILE__, __LINE__, "bf16 round trip");
    }
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)next_random();
        float value;
        memcpy(&value, &bits, 4);
        if (value != value) continue;
        /* Nearest, ties to even, on the bits of a float: add half less one, and the lowest bit that stays. */
        uint32_t want = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
        if (store(CUTE_BF16, value) != want) {
            test_fail(__FILE__, __LINE__, "bf16 store");
            return;
        }
    }
}

static void test_tf32(void)
{
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)next_random();
        float value;
        memcpy(&value, &bits, 4);
        if (value != value) continue;
        uint32_t want = (bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu;
        if (store(CUTE_TF32, value) != want) {
            test_fail(__FILE__, __LINE__, "tf32 store");
            return;
        }
    }
}

/* OCP 8-bit floating point 1.0: sign, exponent, mantissa as numbers. */
static double e4m3_value(uint32_t code)
{
    int e = (int)(code >> 3 & 15), m = (int)(code & 7);
    double v = e ? ldexp(8 + m, e - 7 - 3) : ldexp(m, -6 - 3);
    return code & 0x80 ? -v : v;
}
static double e5m2_value(uint32_t code)
{
    int e = (int)(code >> 2 & 31), m = (int)(code & 3);
    double v = e ? ldexp(4 + m, e - 15 - 2) : ldexp(m, -14 - 2);
    return code & 0x80 ? -v : v;
}

/* The nearest finite code by looking at all, even codes winning ties; beyond the largest: the largest. */
static uint32_t nearest(double (*value_of)(uint32_t), uint32_t largest, double value)
{
    uint32_t best = 0;
    for (uint32_t code = 0; code <= largest; code++) {
        double d = fabs(value_of(code) - fabs(value)), b = fabs(value_of(best) - fabs(value));
        if (d < b || (d == b && code % 2 == 0)) best = code;
    }
    return best | (signbit(value) ? 0x80 : 0);
}

static void check_8bit(cute_dtype dtype, double (*value_of)(uint32_t), uint32_t largest)
{
    for (uint32_t code = 0; code <= largest; code++)
        for (uint32_t sign = 0; sign <= 0x80; sign += 0x80) {
            if (load(dtype, code | sign) != value_of(code | sign))
                test_fail(__FILE__, __LINE__, "8-bit load");
            if (store(dtype, value_of(code | sign)) != (code | sign))
                test_fail(__FILE__, __LINE__, "8-bit round trip");
        }
    for (int i = 0; i < 50000; i++) {
        double value = small_random() * 16;
        if (store(dtype, value) != nearest(value_of, largest, value)) {
            printf("# %s of %a: %02x, not %02x\n", cute_dtype_get(dtype)->name, value, store(dtype, value),
                   nearest(value_of, largest, value));
            test_fail(__FILE__, __LINE__, "8-bit store");
            return;
        }
    }
    CHECK(store(dtype, 1e9) == largest);
    CHECK(store(dtype, -INFINITY) == (largest | 0x80));
    CHECK(isnan(load(dtype, store(dtype, NAN))));
}

static void test_e4m3(void)
{
    check_8bit(CUTE_E4M3, e4m3_value, 0x7E);
    CHECK(load(CUTE_E4M3, 0x7E) == 448);
    CHECK(store(CUTE_E4M3, NAN) == 0x7F);
}

static void test_e5m2(void)
{
    check_8bit(CUTE_E5M2, e5m2_value, 0x7B);
    CHECK(load(CUTE_E5M2, 0x7B) == 57344);
    CHECK(isinf(load(CUTE_E5M2, 0x7C)));
    CHECK(isnan(load(CUTE_E5M2, 0x7E)));
}

static void test_integers(void)
{
    CHECK_INT((int8_t)store(CUTE_I8, -3.9), -3);
    CHECK_INT(store(CUTE_U8, 300), 44); /* 300 - 256 */
    CHECK_INT((int32_t)store(CUTE_I32, 2147483648.0), INT32_MIN);
    CHECK_INT(store(CUTE_I1, 0.5), 1);
    CHECK_INT(store(CUTE_I32, NAN), 0);
    double big = 0x1p63, small = -0x1p70;
    int64_t wide;
    uint64_t unsigned_wide;
    cute_dtype_store(CUTE_I64, &wide, 1, 1, &big);
    CHECK(wide == INT64_MAX);
    cute_dtype_store(CUTE_I64, &wide, 1, 1, &small);
    CHECK(wide == INT64_MIN);
    cute_dtype_store(CUTE_U64, &unsigned_wide, 1, 1, &big);
    CHECK(unsigned_wide == UINT64_C(1) << 63);
}

static void test_strides(void)
{
    float values[6] = {0, 1, 2, 3, 4, 5};
    double out[3];
    cute_dtype_load(CUTE_F32, values + 1, 2, 3, out);
    CHECK(out[0] == 1 && out[1] == 3 && out[2] == 5);
    cute_dtype_store(CUTE_F32, values, 2, 3, out);
    CHECK(values[0] == 1 && values[1] == 1 && values[2] == 3 && values[4] == 5);
}

static void test_ulps(void)
{
    CHECK_INT(cute_dtype_ulps(CUTE_F32, 1.0, nextafterf(1.0f, 2)), 1);
    CHECK_INT(cute_dtype_ulps(CUTE_F16, 1.0, 1.0 + 3 * 0x1p-10), 3);
    CHECK_INT(cute_dtype_ulps(CUTE_F32, -0.0, 0.0), 0);
    CHECK_INT(cute_dtype_ulps(CUTE_F32, -0x1p-149, 0x1p-149), 2); /* the smallest on both sides of zero */
    CHECK_INT(cute_dtype_ulps(CUTE_TF32, 1.0, 1.0 + 0x1p-10), 1);
    CHECK_INT(cute_dtype_ulps(CUTE_I32, 7, -1), 8);
    CHECK(cute_dtype_ulps(CUTE_F32, NAN, 1) == INT64_MAX);
}

static void test_poison(void)
{
    for (int i = 0; i < CUTE_DTYPE_COUNT; i++) {
        cute_dtype dtype = (cute_dtype)i;
        uint8_t a[8], b[8];
        double value;
        cute_dtype_poison(dtype, 0, a);
        cute_dtype_poison(dtype, 1, b);
        if (!CHECK(memcmp(a, b, (size_t)cute_dtype_get(dtype)->bytes) != 0))
            printf("# %s\n", cute_dtype_get(dtype)->name);
        if (cute_dtype_get(dtype)->class != CUTE_CLASS_FLOAT) continue;
        for (int v = 0; v < 2; v++) {
            cute_dtype_load(dtype, v ? b : a, 1, 1, &value);
            if (!CHECK(isnan(value))) printf("# %s\n", cute_dtype_get(dtype)->name);
        }
    }
}

int main(void)
{
    TEST("every f16 is what the compiler's _Float16 is, and survives a round trip", test_f16_load);
    TEST("numbers round to f16 as the compiler rounds them, once", test_f16_store);
    TEST("bf16 is the upper half of a float, rounded to nearest even", test_bf16);
    TEST("tf32 is a float rounded to ten bits of mantissa", test_tf32);
    TEST("e4m3 takes the nearest of its values and saturates at 448", test_e4m3);
    TEST("e5m2 takes the nearest of its values and saturates at 57344", test_e5m2);
    TEST("integers cut off fractions and wrap", test_integers);
    TEST("loads and stores follow the stride", test_strides);
    TEST("ulps count the values between two numbers", test_ulps);
    TEST("the two poisons differ in each type, and are NaN where there is one", test_poison);
    return test_finish();
}
