/* Counts of a thread lie together in shared memory: 16 words apart. Cured: a column a thread. */
#include "cuda.h"
template <int thread, int key> __device__ static inline void counts(const unsigned *__restrict__ a, int *__restrict__ out, int n, int *mine)
{
    for (int k = 0; k < 16; k++) mine[tid * thread + k * key] = 0;
#pragma unroll 8
    for (int k = bid * ntid + tid; k < n; k += nbid * ntid)
        mine[tid * thread + (a[k] & 15) * key]++; // FIND bank-conflict
    barrier();
    if (tid < 16) {
        int sum = 0;
#pragma unroll 8
        for (int k = 0; k < 256; k++) sum += mine[k * thread + tid * key];
        out[bid * 16 + tid] = sum;
    }
}
KERNEL(slow(const unsigned *__restrict__ a, int *__restrict__ out, int n)) // NOT one-load-in-flight
{
    __shared__ int mine[256 * 16];
    counts<16, 1>(a, out, n, mine);
}
KERNEL(cured(const unsigned *__restrict__ a, int *__restrict__ out, int n))
{
    __shared__ int mine[256 * 16];
    for (int k = 0; k < 16; k++) mine[tid + k * 256] = 0;
#pragma unroll 8
    for (int k = bid * ntid + tid; k < n; k += nbid * ntid)
        mine[tid + (a[k] & 15) * 256]++;
    barrier();
    int key = tid >> 4, sum = 0;
#pragma unroll
    for (int k = 0; k < 256; k += 16) sum += mine[key * 256 + k + (tid & 15)];
#pragma unroll
    for (int m = 8; m; m /= 2) sum += __nvvm_shfl_sync_bfly_i32(0xffffffff, sum, m, 31);
    if ((tid & 15) == 0) out[bid * 16 + key] = sum;
}
