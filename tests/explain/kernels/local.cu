/* An array of a thread with an index that is computed. Cured: selected by conditions. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    float mine[8];
    int i = bid * ntid + tid;
#pragma unroll
    for (int k = 0; k < 8; k++) mine[k] = a[i + k * n];
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += mine[(k * (k + i) >> 3) & 7]; // FIND local-array
    out[i] = sum;
}
KERNEL(cured(const float *a, float *out, int n))
{
    __shared__ float mine[8][256];
    int i = bid * ntid + tid;
#pragma unroll
    for (int k = 0; k < 8; k++) mine[k][tid] = a[i + k * n];
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        sum += mine[(k * (k + i) >> 3) & 7][tid];
    out[i] = sum;
}
