/* A sum with one load at a time (four lanes' worth of work less than there is). Cured: eight under way. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        sum += a[i]; // FIND one-load-in-flight
        i += all;
        asm volatile("" : "+f"(sum));
    }
    out[bid * ntid + tid] = sum;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        float v[8];
#pragma unroll
        for (int j = 0; j < 8; j++) v[j] = a[i + j * all];
#pragma unroll
        for (int j = 0; j < 8; j++) sum += v[j];
        i += 8 * all;
    }
    out[bid * ntid + tid] = sum;
}
