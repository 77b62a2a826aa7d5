/* Bits of the index are reversed, as in front of an FFT of 2^20 points. Cured: by tiles of 32x32 in shared memory. */
#include "cuda.h"
KERNEL(slow(const float *__restrict__ a, float *__restrict__ out, int n))
{
    unsigned i = bid * ntid + tid;
    out[i] = a[__builtin_bitreverse32(i) >> 12]; // FIND uncoalesced
}
KERNEL(cured(const float *__restrict__ a, float *__restrict__ out, int n))
{
    __shared__ float tile[32 * 33];
    unsigned lane = tid & 31, warp = tid >> 5, middle = bid;
#pragma unroll
    for (int k = 0; k < 32; k += 8) tile[(warp + k) * 33 + lane] = a[(warp + k) << 15 | middle << 5 | lane];
    barrier();
    unsigned back = __builtin_bitreverse32(middle) >> 22, row = __builtin_bitreverse32(lane) >> 27;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        out[(__builtin_bitreverse32(warp + k) >> 27) << 15 | back << 5 | lane] = tile[row * 33 + (warp + k)];
}
