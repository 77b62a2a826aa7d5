/* A warp goes on until its last lane has enough. Cured: all do the same number of steps. */
#include "cuda.h"
KERNEL(slow(const float *a, int *out, int n))
{
    int i = bid * ntid + tid, k = 0;
    float c = a[i], x = 0;
    while (k < n && x * x < 4.0f) x = x * x + c, k++; // FIND divergence
    out[i] = k;
}
KERNEL(cured(const float *a, int *out, int n))
{
    int i = bid * ntid + tid, inside = 0;
    float c = a[i], x = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++) x = x * x + c, inside += x * x < 4.0f;
    out[i] = inside;
}
