/* An array of a thread with an index that is computed. Cured: a column a thread in shared memory. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    float mine[32];
    int i = bid * ntid + tid;
#pragma unroll
    for (int k = 0; k < 32; k++) mine[k] = a[i + k * n];
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += mine[(k * (k + i) >> 3) & 31]; // FIND local-array
    out[i] = sum;
}
KERNEL(cured(const float *a, float *out, int n))
{
    __shared__ float mine[32][256];
    int i = bid * ntid + tid;
#pragma unroll
    for (int k = 0; k < 32; k++) mine[k][tid] = a[i + k * n];
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        sum += mine[(k * (k + i) >> 3) & 31][tid];
    out[i] = sum;
}
