/* Every other lane leaves at once. Cured: every other block. */
#include "cuda.h"
__device__ static inline void work(const float *a, float *out, int n)
{
    int i = bid * ntid + tid;
    float x = a[i], y = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) y = y * x + 0.5f, x = x * y - 0.25f;
    out[i] = y;
}
KERNEL(slow(const float *a, float *out, int n))
{
    if (tid & 1) return; // FIND divergence
    work(a, out, n);
}
KERNEL(cured(const float *a, float *out, int n))
{
    if (bid & 1) return;
    work(a, out, n);
}
