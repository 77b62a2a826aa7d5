/* A sum of a warp in volatile shared memory. Cured: shuffles. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    __shared__ float all[288];
    volatile float *v = all + (tid & ~31);
    int lane = tid & 31;
    float x = a[bid * ntid + tid];
    for (int k = 0; k < n; k++) {
        v[lane] = x;
        if (lane < 16) {
            v[lane] += v[lane + 16]; // FIND volatile
            v[lane] += v[lane + 8];
            v[lane] += v[lane + 4];
            v[lane] += v[lane + 2];
            v[lane] += v[lane + 1];
        }
        x = v[0] * 0.03f;
    }
    out[bid * ntid + tid] = x;
}
KERNEL(cured(const float *a, float *out, int n))
{
    float x = a[bid * ntid + tid];
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int m = 16; m; m /= 2) x += __nvvm_shfl_sync_bfly_f32(0xffffffff, x, m, 31);
        x *= 0.03f;
    }
    out[bid * ntid + tid] = x;
}
