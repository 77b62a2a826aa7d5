// A division of 64 bits, which compilers branch around: no divergence. NOT stands for what is not told. Cured: of 32 bits, once.
#include "cuda.h"
KERNEL(slow(const unsigned long *a, float *out, long n, unsigned long width)) // NOT divergence
{
    float sum = 0;
    long i = (long)bid * ntid + tid, all = (long)nbid * ntid;
    for (long k = i; k < n; k += all) {
        unsigned long at = a[k];
        sum += (float)(at / width) * 0.5f; // FIND integer-division
    }
    out[i] = sum;
}
KERNEL(cured(const unsigned long *a, float *out, long n, unsigned long width))
{
    float sum = 0, inverse = 1.0f / (float)width;
    long i = (long)bid * ntid + tid, all = (long)nbid * ntid;
#pragma unroll 4
    for (long k = i; k < n; k += all) {
        unsigned long at = a[k];
        sum += (float)at * inverse * 0.5f;
    }
    out[i] = sum;
}
