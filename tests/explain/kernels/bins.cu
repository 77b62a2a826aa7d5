// Sums of sixteen bins, by atomics of f32 in shared memory. Cured: a column of bins for each lane.
#include "cuda.h"
KERNEL(slow(const unsigned *__restrict__ keys, const float *__restrict__ values, float *__restrict__ out, int n))
{
    __shared__ float bins[16];
    if (tid < 16) bins[tid] = 0;
    barrier();
#pragma unroll 4
    for (int i = bid * 1024 + tid; i < bid * 1024 + n; i += 256)
        __nvvm_atom_add_gen_f(&bins[keys[i] & 15], values[i]); // FIND contended-atomic
    barrier();
    if (tid < 16) out[bid * 16 + tid] = bins[tid];
}
KERNEL(cured(const unsigned *__restrict__ keys, const float *__restrict__ values, float *__restrict__ out, int n))
{
    __shared__ float bins[16][256];
    for (int b = 0; b < 16; b++) bins[b][tid] = 0;
#pragma unroll 4
    for (int i = bid * 1024 + tid; i < bid * 1024 + n; i += 256) bins[keys[i] & 15][tid] += values[i];
    barrier();
    for (int b = tid / 32; b < 16; b += 8) {
        float sum = 0;
        for (int j = tid % 32; j < 256; j += 32) sum += bins[b][j];
        for (int d = 16; d; d /= 2) sum += __nvvm_shfl_sync_bfly_f32(-1, sum, d, 31);
        if (tid % 32 == 0) out[bid * 16 + b] = sum;
    }
}
