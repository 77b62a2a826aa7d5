/* Literals without f: the product and the sum are f64. Cured: with f. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float x = a[i];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 0.5; // FIND double
    out[i] = x;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float x = a[i];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        x = x * 0.999f + 0.5f;
    out[i] = x;
}
