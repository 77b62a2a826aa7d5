/* A barrier for each step of a sum in shared memory. Cured: shuffles. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    __shared__ float all[256];
    float total = 0;
    for (int r = 0; r < 64; r++) {
        all[tid] = a[(bid * 64 + r) * ntid + tid];
        barrier();
        for (int s = 128; s; s >>= 1) {
            if (tid < s) all[tid] += all[tid + s];
            barrier(); // FIND barrier
        }
        total += all[0];
        barrier();
    }
    if (tid == 0) out[bid] = total;
}
KERNEL(cured(const float *a, float *out, int n))
{
    __shared__ float all[8];
    float total = 0;
#pragma unroll 8
    for (int r = 0; r < 64; r++) total += a[(bid * 64 + r) * ntid + tid];
#pragma unroll
    for (int m = 16; m; m /= 2) total += __nvvm_shfl_sync_bfly_f32(0xffffffff, total, m, 31);
    if ((tid & 31) == 0) all[tid >> 5] = total;
    barrier();
    if (tid < 8) {
        total = all[tid];
#pragma unroll
        for (int m = 4; m; m /= 2) total += __nvvm_shfl_sync_bfly_f32(0xff, total, m, 31);
        if (tid == 0) out[bid] = total;
    }
}
