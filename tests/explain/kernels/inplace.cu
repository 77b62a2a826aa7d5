/* A sum that is stored each time, since the other pointer may point there. Cured: a local variable. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        out[i] += a[k * ntid + i]; // FIND reload
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float sum = out[i];
#pragma unroll 4
    for (int k = 0; k < n; k++) sum += a[k * ntid + i];
    out[i] = sum;
}
