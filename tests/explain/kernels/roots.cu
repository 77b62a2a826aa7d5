// A root with all bits in a loop. Cured: an approximation.
#include "cuda.h"
KERNEL(slow(const float *__restrict__ a, float *__restrict__ out, int n))
{
    float sum = 0, x = a[bid * 256 + tid];
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        sum += __nvvm_sqrt_rn_f(x); // FIND slow-math
        x += 1;
    }
    out[bid * 256 + tid] = sum;
}
KERNEL(cured(const float *__restrict__ a, float *__restrict__ out, int n))
{
    float sum = 0, x = a[bid * 256 + tid];
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        sum += x * __nvvm_rsqrt_approx_f(x);
        x += 1;
    }
    out[bid * 256 + tid] = sum;
}
