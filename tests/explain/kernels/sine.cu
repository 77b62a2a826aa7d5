/* sinf as the libraries have it: arguments above 105615 are reduced in a local array, and are rare. Cured: sin.approx alone. */
#include "cuda.h"
__device__ static const unsigned bits_of_2_over_pi[6] = {0x3c439041u, 0xdb629599u, 0xf534ddc0u, 0xfc2757d1u, 0x4e441529u, 0xa2f9836eu};
__device__ static float large(float x)
{
    unsigned bits = __builtin_bit_cast(unsigned, x), high = 0, words[7];
    unsigned mantissa = bits << 8 | 0x80000000u;
#pragma unroll 1
    for (int k = 0; k < 6; k++) {
        unsigned long long p = (unsigned long long)bits_of_2_over_pi[k] * mantissa + high;
        words[k] = (unsigned)p;
        high = (unsigned)(p >> 32);
    }
    words[6] = high;
    int at = 4 - (int)(bits >> 23 & 3);
    return (float)(words[at + 2] >> 1 | words[at + 1] << 31) * 1.5e-9f;
}
__device__ static float polynomial(float x, int quadrant)
{
    float s = x * x, c = quadrant & 1 ? 1.0f : x;
    float p = quadrant & 1 ? 2.44331571e-5f : -1.95152959e-4f;
    p = p * s + (quadrant & 1 ? -1.38873162e-3f : 8.33216087e-3f);
    p = p * s + (quadrant & 1 ? 4.16666456e-2f : -1.66666546e-1f);
    return p * (quadrant & 1 ? s * s : s * x) + c;
}
KERNEL(slow(const float *__restrict__ a, float *__restrict__ out))
{
    float x = a[bid * ntid + tid], r = x;
    int quadrant = (int)(x * 0.636619747f);
    if (__builtin_fabsf(x) > 105615.0f) // FIND argument-reduction // NOT divergence // NOT local-array
        r = large(x);
    else
        r = x - (float)quadrant * 1.57079637f;
    out[bid * ntid + tid] = polynomial(r, quadrant);
}
KERNEL(cured(const float *__restrict__ a, float *__restrict__ out))
{
    out[bid * ntid + tid] = __nvvm_sin_approx_ftz_f(a[bid * ntid + tid]);
}
