/* One divisor for many numbers, without a loop: the inverse is computed once, the quotients are not. Cured: multiplied in f32. */
#include "cuda.h"
KERNEL(slow(const unsigned *__restrict__ a, unsigned *__restrict__ out, unsigned by))
{
    unsigned x = a[bid * ntid + tid], sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 32; k++)
        sum += (x ^ (k * 7)) / by; // FIND integer-division
    out[bid * ntid + tid] = sum;
}
KERNEL(cured(const unsigned *__restrict__ a, unsigned *__restrict__ out, unsigned by))
{
    float inverse = __nvvm_rcp_approx_ftz_f((float)by);
    unsigned x = a[bid * ntid + tid], sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 32; k++) sum += (unsigned)((float)((x ^ (k * 7)) & 0xffffff) * inverse);
    out[bid * ntid + tid] = sum;
}
