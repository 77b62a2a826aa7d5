/* A sum for each of four classes, which are the upper bits of a byte. Cured: sums in registers, reduced in the warp. */
#include "cuda.h"
KERNEL(slow(const unsigned char *__restrict__ a, unsigned *__restrict__ out, int n))
{
    __shared__ unsigned sums[4];
    if (tid < 4) sums[tid] = 0;
    barrier();
    for (int k = bid * ntid + tid; k < n; k += nbid * ntid)
        __atomic_fetch_add(&sums[a[k] >> 6], a[k] & 63u, __ATOMIC_RELAXED); // FIND contended-atomic
    barrier();
    if (tid < 4) out[bid * 4 + tid] = sums[tid];
}
KERNEL(cured(const uint4 *__restrict__ a, unsigned *__restrict__ out, int n))
{
    unsigned sums[4] = {0, 0, 0, 0};
    for (int k = bid * ntid + tid; k < n / 16; k += nbid * ntid) {
        uint4 v = a[k];
#pragma unroll
        for (int w = 0; w < 4; w++)
#pragma unroll
            for (int b = 0; b < 32; b += 8) {
                unsigned kind = v[w] >> (b + 6) & 3, weight = v[w] >> b & 63;
#pragma unroll
                for (unsigned c = 0; c < 4; c++) sums[c] += kind == c ? weight : 0;
            }
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        for (int d = 16; d; d /= 2) sums[c] += (unsigned)__nvvm_shfl_sync_bfly_i32(-1, (int)sums[c], d, 31);
    if (tid % 32 == 0)
        for (int c = 0; c < 4; c++) out[(bid * ntid + tid) / 32 * 4 + c] = sums[c];
}
