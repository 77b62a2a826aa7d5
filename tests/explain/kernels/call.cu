/* A small function that is not inlined. Cured: inlined. */
#include "cuda.h"
__attribute__((noinline)) __device__ static float step(float x, float y) { return x * y + 0.5f; }
__device__ static inline float inlined(float x, float y) { return x * y + 0.5f; }
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float x = a[i], y = 1;
    for (int k = 0; k < n; k++)
        y = step(y, x); // FIND call
    out[i] = y;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float x = a[i], y = 1;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        y = inlined(y, x);
    out[i] = y;
}
