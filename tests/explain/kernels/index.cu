/* 64-bit products for each element. Cured: 32 bits. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, long long n, long long pitch))
{
    int i = bid * ntid + tid;
    float sum = 0;
    unsigned long long at = (unsigned long long)i;
#pragma unroll 4
    for (int k = 0; k < (int)n; k++) {
        at = at * (unsigned long long)pitch + 1; // FIND wide-index
        sum += (float)(int)(at >> 40);
    }
    out[i] = sum;
}
KERNEL(cured(const float *a, float *out, long long n, long long pitch))
{
    int i = bid * ntid + tid;
    float sum = 0;
    unsigned at = (unsigned)i, p = (unsigned)pitch;
#pragma unroll 4
    for (int k = 0; k < (int)n; k++) {
        at = at * p + 1;
        sum += (float)(int)(at >> 8);
    }
    out[i] = sum;
}
