/* 48,000 bytes of shared memory a block: half of the warps that a multiprocessor could have. Cured: a third. */
#include "cuda.h"
template <int size> __device__ static inline void take(const float *a, float *out, int n, float *all)
{
#pragma clang loop unroll(disable)
    for (int k = tid; k < size; k += 256)
        all[k] = a[k + bid]; // FIND occupancy
    barrier();
    float sum = 0;
#pragma clang loop unroll(disable)
    for (int k = 0; k < n; k++) sum += all[(k * 13 + tid) % size];
    out[bid * 256 + tid] = sum;
}
KERNEL(slow(const float *__restrict__ a, float *__restrict__ out, int n))
{
    __shared__ float all[12000];
    take<12000>(a, out, n, all);
}
KERNEL(cured(const float *__restrict__ a, float *__restrict__ out, int n))
{
    __shared__ float all[4000];
    take<4000>(a, out, n, all);
}
