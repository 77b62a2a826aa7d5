/* Coefficients that may change by the stores of the loop. Cured: loaded in front of it. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        float x = (float)k;
        out[i + k * all] = ((((a[0] * x + a[1]) * x + a[2]) * x + a[3]) * x + a[4]) * x + a[5]; // FIND reload
    }
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
    float c0 = a[0], c1 = a[1], c2 = a[2], c3 = a[3], c4 = a[4], c5 = a[5];
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        float x = (float)k;
        out[i + k * all] = ((((c0 * x + c1) * x + c2) * x + c3) * x + c4) * x + c5;
    }
}
