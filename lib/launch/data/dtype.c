/* Element types and their conversions: one encoder and one decoder for every small floating-point format,
 * driven by the rows of dtype.def. */
#include "lib/launch/data/dtype.h"

#include <math.h>
#include <string.h>

#include "cute/device.h"

static const cute_dtype_info infos[] = {
#define D(id, name, bytes, class, exponent, mantissa, npy, rtol, atol, map)                                  \
    {name, bytes, CUTE_CLASS_##class, exponent, mantissa, npy, rtol, atol, map},
#include "lib/launch/data/dtype.def"
#undef D
};

const cute_dtype_info *cute_dtype_get(cute_dtype dtype)
{
    return &infos[dtype];
}

const char *cute_dtype_mlir(cute_dtype dtype)
{
    switch (dtype) {
    case CUTE_E4M3: return "f8E4M3FN";
    case CUTE_E5M2: return "f8E5M2";
    case CUTE_TF32: return "f32";
    default: return infos[dtype].name;
    }
}

bool cute_dtype_find(const char *name, cute_dtype *out)
{
    for (int i = 0; i < CUTE_DTYPE_COUNT; i++) {
        if (strcmp(infos[i].name, name) != 0) continue;
        *out = (cute_dtype)i;
        return true;
    }
    return false;
}

const char *cute_dtype_name_at(const void *unused, size_t index)
{
    (void)unused;
    return index < CUTE_DTYPE_COUNT ? infos[index].name : NULL;
}

/* ---- floating-point formats of at most 32 bits ---- */

static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* e4m3 has no infinities and one NaN; e5m2 has IEEE's codes. Both saturate. */
typedef struct float_format {
    int exponent, mantissa;
    uint32_t max, infinity, nan; /* codes without the sign; infinity: the result of overflow */
} float_format;

static float_format format_of(cute_dtype dtype)
{
    int e = infos[dtype].exponent, m = infos[dtype].mantissa;
    float_format f = {e, m, 0, 0, 0};
    f.infinity = (uint32_t)(((1u << e) - 1) << m);
    f.max = f.infinity - 1;
    f.nan = f.infinity | 1u << (m - 1);
    if (dtype == CUTE_E4M3) f.max = 0x7E, f.nan = 0x7F;
    if (dtype == CUTE_E4M3 || dtype == CUTE_E5M2) f.infinity = f.max;
    if (dtype == CUTE_E5M2) f.nan = 0x7F;
    return f;
}

/* Scales the value so that one unit in the format's last place is 1.0, and rounds by adding and subtracting
 * 2^52. Exact for subnormals; a carry propagates into the exponent. */
static uint32_t encode_float(const float_format *f, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 63) << (f->exponent + f->mantissa);
    bits &= ~(UINT64_C(1) << 63);
    if (bits > UINT64_C(0x7FF0000000000000)) return sign | f->nan;
    int bias = (1 << (f->exponent - 1)) - 1;
    int exponent = (int)(bits >> 52) - 1023;
    if (exponent > bias + 1) return sign | f->infinity;
    if (exponent < 1 - bias) exponent = 1 - bias;
    double magnitude, shift = 0x1p52;
    memcpy(&magnitude, &bits, sizeof magnitude);
    double units = magnitude * power_of_two(f->mantissa - exponent) + shift;
    uint32_t code = (uint32_t)(units - shift) + ((uint32_t)(exponent + bias - 1) << f->mantissa);
    return sign | (code > f->max ? f->infinity : code);
}

static double decode_float(const float_format *f, uint32_t code, bool has_infinity)
{
    uint32_t sign = code >> (f->exponent + f->mantissa) & 1;
    uint32_t magnitude = code & ((1u << (f->exponent + f->mantissa)) - 1);
    int bias = (1 << (f->exponent - 1)) - 1;
    uint32_t e = magnitude >> f->mantissa, m = magnitude & ((1u << f->mantissa) - 1);
    double value;
    if (has_infinity && e == (1u << f->exponent) - 1)
        value = m ? NAN : INFINITY;
    else if (!has_infinity && magnitude == f->nan)
        value = NAN;
    else if (e == 0)
        value = m * power_of_two(1 - bias - f->mantissa);
    else
        value = ((1u << f->mantissa) + m) * power_of_two((int)e - bias - f->mantissa);
    return sign ? -value : value;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t tf32_bits(double value)
{
    float_format f = format_of(CUTE_TF32);
    return encode_float(&f, value) << 13;
}

/* ---- loads ---- */

#define LOAD(type)                                                                                           \
    for (size_t i = 0; i < count; i++) out[i] = (double)((const type *)from)[(int64_t)i * stride]

void cute_dtype_load(cute_dtype dtype, const void *from, int64_t stride, size_t count, double *out)
{
    switch (dtype) {
    case CUTE_F64: LOAD(double); break;
    case CUTE_TF32:
    case CUTE_F32: LOAD(float); break;
    case CUTE_I8: LOAD(int8_t); break;
    case CUTE_I16: LOAD(int16_t); break;
    case CUTE_I32: LOAD(int32_t); break;
    case CUTE_I64: LOAD(int64_t); break;
    case CUTE_I1:
    case CUTE_U8: LOAD(uint8_t); break;
    case CUTE_U16: LOAD(uint16_t); break;
    case CUTE_U32: LOAD(uint32_t); break;
    case CUTE_U64: LOAD(uint64_t); break;
    case CUTE_BF16:
        for (size_t i = 0; i < count; i++) {
            uint32_t code = ((const uint16_t *)from)[(int64_t)i * stride];
            out[i] = (double)float_of(code << 16);
        }
        break;
    case CUTE_F16: {
        float_format f = format_of(dtype);
        for (size_t i = 0; i < count; i++) {
            uint32_t code = ((const uint16_t *)from)[(int64_t)i * stride];
            uint32_t magnitude = code & 0x7FFF;
            /* 2^112 changes the exponent's bias from 15 to 127, also for subnormals. */
            out[i] = magnitude < 0x7C00
                         ? (double)(float_of((code & 0x8000) << 16 | magnitude << 13) * 0x1p112f)
                         : decode_float(&f, code, true);
        }
        break;
    }
    default: {
        float_format f = format_of(dtype);
        for (size_t i = 0; i < count; i++)
            out[i] = decode_float(&f, ((const uint8_t *)from)[(int64_t)i * stride], dtype == CUTE_E5M2);
    }
    }
}

/* ---- stores ---- */

static uint64_t integer_bits(double value)
{
    if (value != value) return 0;
    if (value <= -0x1p63) return (uint64_t)INT64_MIN;
    if (value < 0x1p63) return (uint64_t)(int64_t)value;
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

#define STORE(type, expression)                                                                              \
    for (size_t i = 0; i < count; i++) ((type *)to)[(int64_t)i * stride] = (type)(expression)

void cute_dtype_store(cute_dtype dtype, void *to, int64_t stride, size_t count, const double *values)
{
    switch (dtype) {
    case CUTE_F64: STORE(double, values[i]); break;
    case CUTE_F32: STORE(float, values[i]); break;
    case CUTE_TF32: STORE(uint32_t, tf32_bits(values[i])); break;
    case CUTE_I1: STORE(uint8_t, values[i] != 0); break;
    case CUTE_I8:
    case CUTE_U8: STORE(uint8_t, integer_bits(values[i])); break;
    case CUTE_I16:
    case CUTE_U16: STORE(uint16_t, integer_bits(values[i])); break;
    case CUTE_I32:
    case CUTE_U32: STORE(uint32_t, integer_bits(values[i])); break;
    case CUTE_U64: STORE(uint64_t, integer_bits(values[i])); break;
    case CUTE_I64: STORE(int64_t, values[i] >= 0x1p63 ? INT64_MAX : (int64_t)integer_bits(values[i])); break;
    default: {
        float_format f = format_of(dtype);
        if (infos[dtype].bytes == 2)
            STORE(uint16_t, encode_float(&f, values[i]));
        else
            STORE(uint8_t, encode_float(&f, values[i]));
    }
    }
}

void cute_dtype_round(cute_dtype dtype, double *values, size_t count)
{
    uint64_t scratch[64];
    if (dtype == CUTE_F64) return;
    while (count > 0) {
        size_t n = count < 64 ? count : 64;
        cute_dtype_store(dtype, scratch, 1, n, values);
        cute_dtype_load(dtype, scratch, 1, n, values);
        values += n;
        count -= n;
    }
}

/* ---- distances ---- */

/* Orders codes by value; negative codes are mirrored, so that -0 and +0 are equal. */
static int64_t ordinal(cute_dtype dtype, double value)
{
    uint64_t code = 0;
    int64_t magnitude;
    cute_dtype_store(dtype, &code, 1, 1, &value);
    if (dtype == CUTE_TF32) code >>= 13;
    int bits = dtype == CUTE_TF32 ? 19 : (int)infos[dtype].bytes * 8;
    uint64_t sign = UINT64_C(1) << (bits - 1);
    magnitude = (int64_t)(code & (sign - 1));
    return code & sign ? -magnitude : magnitude;
}

int64_t cute_dtype_ulps(cute_dtype dtype, double a, double b)
{
    if (a != a || b != b) return INT64_MAX;
    if (a == b) return 0;
    if (infos[dtype].class != CUTE_CLASS_FLOAT) {
        double difference = fabs(a - b);
        return difference < 0x1p62 ? (int64_t)ceil(difference) : INT64_MAX;
    }
    int64_t difference;
    if (__builtin_sub_overflow(ordinal(dtype, a), ordinal(dtype, b), &difference)) return INT64_MAX;
    return difference < 0 ? -difference : difference;
}

void cute_dtype_poison(cute_dtype dtype, int variant, uint8_t out[8])
{
    memset(out, variant ? 0x9D : 0xCB, 8);
    switch (dtype) { /* little endian; quiet NaNs with a payload */
    case CUTE_F64: out[7] = 0x7F, out[6] = variant ? 0xFD : 0xFB; break;
    case CUTE_TF32:
    case CUTE_F32: out[3] = 0x7F, out[2] = variant ? 0xDD : 0xCB; break;
    case CUTE_BF16: out[1] = 0x7F, out[0] = variant ? 0xDD : 0xCB; break;
    case CUTE_F16: out[1] = 0x7E, out[0] = variant ? 0xDD : 0xCB; break;
    case CUTE_E4M3: out[0] = variant ? 0xFF : 0x7F; break;
    case CUTE_E5M2: out[0] = variant ? 0x7D : 0x7E; break;
    case CUTE_I1: out[0] = variant ? 0x9D : 0xCB; break;
    default: break;
    }
}
