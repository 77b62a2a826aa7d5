/* Dot products with the alignment and truncation of tensor cores: code shared by all vector widths, and the
 * slow path for operands that dot_lanes.h does not support: infinities, NaN, and products outside float's
 * range. */
#include <math.h>
#include <string.h>

#include "lib/numeric/dot.h"
#include "lib/numeric/number.h"
#include "lib/numeric/number_quick.h"

enum { ZERO = -126 };

const num_dot_lanes *num_dot_lanes_of(int n)
{
    const num_dot_lanes *found[4] = {0};
    int count = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        found[count++] = &num_dot_lanes_16;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found[count++] = &num_dot_lanes_8;
#endif
    found[count] = &num_dot_lanes_4;
    return n < 3 ? found[n] : NULL;
}

static double power_of_two(int e) /* 2^e, for e from -1022 to 1023 */
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static int exponent_of(float x, int floor)
{
    uint32_t bits = num_as_bits(x);
    int e = (int)(bits >> 23 & 255) - 127;
    return (bits & 0x7fffffff) == 0 ? ZERO : e < floor ? floor : e;
}

/* Rounds a sum, exact in double, to the result's format. */
static float round_sum(double sum, const num_dot_rule *rule)
{
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    uint64_t below = rule->half ? 0x1fffffff : (UINT64_C(1) << (52 - rule->result)) - 1;
    uint64_t cut = bits & below;
    bits &= ~below;
    if (rule->half && cut) bits |= below + 1; /* round to odd before the final rounding to nearest */
    memcpy(&sum, &bits, sizeof sum);
    return (float)sum;
}

/* Results below the smallest normal f32 have fewer bits. */
static float round_small_sum(double sum, const num_dot_rule *rule)
{
    double unit = power_of_two(ZERO - rule->result);
    return (float)(trunc(sum / unit) * unit);
}

float num_dot_element(const num_dot_rule *rule, int count, const float *x, size_t stride_x, int floor_x,
                      const float *y, size_t stride_y, int floor_y, float c)
{
    double plain = c;
    int most = exponent_of(c, rule->half ? -14 : -126);
    for (int l = 0; l < count; l++) {
        float p = x[(size_t)l * stride_x], q = y[(size_t)l * stride_y];
        int e = exponent_of(p, floor_x) + exponent_of(q, floor_y);
        plain += (double)p * (double)q;
        if (e > most) most = e;
    }
    if (isnan(plain)) return num_as_float(0x7fffffff);
    if (!isfinite(plain)) return (float)plain;
    double scale = power_of_two(rule->fraction - most), sum = trunc((double)c * scale);
    for (int l = 0; l < count; l++)
        sum += trunc((double)x[(size_t)l * stride_x] * (double)y[(size_t)l * stride_y] * scale);
    sum *= power_of_two(most - rule->fraction);
    float r = fabs(sum) < 0x1p-126 && !rule->half ? round_small_sum(sum, rule) : round_sum(sum, rule);
    if (rule->half) r = num_as_float(num_widen_half(num_narrow_half(num_as_bits(r))));
    return r == 0 ? 0 : r;
}
