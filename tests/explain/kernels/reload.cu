/* A factor that may change by the stores of the loop. Cured: loaded in front of it. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        out[i + k * all] = a[0] * (float)k; // FIND reload
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
    float factor = a[0];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        out[i + k * all] = factor * (float)k;
}
