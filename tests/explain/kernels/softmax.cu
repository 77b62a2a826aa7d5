/* A softmax of rows of 4096, which reads them three times. Cured: once, into registers. */
#include "cuda.h"
__device__ static inline float power(float x) { return __nvvm_ex2_approx_f(x * 1.442695f); }
__device__ static inline float most(float x, float *all)
{
#pragma unroll
    for (int m = 16; m; m /= 2) x = __builtin_fmaxf(x, __nvvm_shfl_sync_bfly_f32(0xffffffff, x, m, 31));
    if ((tid & 31) == 0) all[tid >> 5] = x;
    barrier();
    x = all[tid & 7];
#pragma unroll
    for (int m = 4; m; m /= 2) x = __builtin_fmaxf(x, __nvvm_shfl_sync_bfly_f32(0xffffffff, x, m, 31));
    barrier();
    return x;
}
__device__ static inline float total(float x, float *all)
{
#pragma unroll
    for (int m = 16; m; m /= 2) x += __nvvm_shfl_sync_bfly_f32(0xffffffff, x, m, 31);
    if ((tid & 31) == 0) all[tid >> 5] = x;
    barrier();
    x = all[tid & 7];
#pragma unroll
    for (int m = 4; m; m /= 2) x += __nvvm_shfl_sync_bfly_f32(0xffffffff, x, m, 31);
    barrier();
    return x;
}
KERNEL(slow(const float *__restrict__ a, float *__restrict__ out, int n))
{
    __shared__ float all[8];
    const float *row = a + bid * 4096;
    float top = -1e30f, sum = 0;
#pragma unroll 4
    for (int k = tid; k < 4096; k += 256) top = __builtin_fmaxf(top, row[k]);
    top = most(top, all);
#pragma unroll 4
    for (int k = tid; k < 4096; k += 256) sum += power(row[k] - top); // FIND reread
    sum = 1 / total(sum, all);
#pragma unroll 4
    for (int k = tid; k < 4096; k += 256) out[bid * 4096 + k] = power(row[k] - top) * sum; // FIND reread
}
KERNEL(cured(const float *__restrict__ a, float *__restrict__ out, int n))
{
    __shared__ float all[8];
    const float4 *row = (const float4 *)(a + bid * 4096);
    float4 x[4];
    float top = -1e30f, sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        x[k] = row[k * 256 + tid];
        top = __builtin_fmaxf(top, __builtin_fmaxf(__builtin_fmaxf(x[k].x, x[k].y), __builtin_fmaxf(x[k].z, x[k].w)));
    }
    top = most(top, all);
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum += x[k][j] = power(x[k][j] - top);
    sum = 1 / total(sum, all);
#pragma unroll
    for (int k = 0; k < 4; k++) ((float4 *)(out + bid * 4096))[k * 256 + tid] = x[k] * sum;
}
