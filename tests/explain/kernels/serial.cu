/* One thread adds up what the block has. Cured: by shuffles. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    __shared__ float all[256];
    all[tid] = a[bid * ntid + tid];
    barrier();
    if (tid == 0) {
        float sum = 0;
#pragma unroll 1
        for (int k = 0; k < 256; k++)
            sum += all[k]; // FIND serial-section
        out[bid] = sum;
    }
}
KERNEL(cured(const float *a, float *out, int n))
{
    __shared__ float all[8];
    float v = a[bid * ntid + tid];
#pragma unroll
    for (int m = 16; m; m /= 2) v += __nvvm_shfl_sync_bfly_f32(0xffffffff, v, m, 31);
    if ((tid & 31) == 0) all[tid >> 5] = v;
    barrier();
    if (tid < 8) {
        v = all[tid];
#pragma unroll
        for (int m = 4; m; m /= 2) v += __nvvm_shfl_sync_bfly_f32(0xff, v, m, 31);
        if (tid == 0) out[bid] = v;
    }
}
