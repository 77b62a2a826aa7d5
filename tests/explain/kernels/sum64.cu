/* f32 summed in f64 by a literal without f. Cured: with it. */
#include "cuda.h"
template <typename T> __device__ static inline void sum(const float *a, float *out, int n)
{
    int i = bid * ntid + tid;
    T total = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        total += a[k * ntid + i] * (T)0.5; // FIND double
    out[i] = (float)total;
}
KERNEL(slow(const float *__restrict__ a, float *__restrict__ out, int n))
{
    sum<double>(a, out, n);
}
KERNEL(cured(const float *__restrict__ a, float *__restrict__ out, int n))
{
    sum<float>(a, out, n);
}
