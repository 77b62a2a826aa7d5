/* A loop of one product. Cured: unrolled. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    __shared__ float all[1024];
    for (int k = tid; k < 1024; k += 256) all[k] = a[k];
    barrier();
    float x = a[tid], y = 1;
#pragma unroll 1
    for (int k = 0; k < 1024; k++) {
        y = y * x + 0.5f; // FIND not-unrolled
        asm volatile("" : "+f"(y));
    }
    out[bid * ntid + tid] = y + all[tid ^ 1];
}
KERNEL(cured(const float *a, float *out, int n))
{
    __shared__ float all[1024];
    for (int k = tid; k < 1024; k += 256) all[k] = a[k];
    barrier();
    float x = a[tid], y = 1;
#pragma unroll 16
    for (int k = 0; k < 1024; k++)
        y = y * x + 0.5f;
    out[bid * ntid + tid] = y + all[tid ^ 1];
}
