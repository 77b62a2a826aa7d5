/* A transpose by tiles of 32 columns: the lanes of a column are in one bank. Cured: 33 columns. */
#include "cuda.h"
template <int pitch> __device__ static inline void transpose(const float *a, float *out, int n, float *tile)
{
    int x = tid & 31, y = tid >> 5, cols = n / 32, bx = bid % cols * 32, by = bid / cols * 32;
    for (int k = 0; k < 32; k += 8) tile[(y + k) * pitch + x] = a[(by + y + k) * n + bx + x];
    barrier();
    for (int k = 0; k < 32; k += 8)
        out[(bx + y + k) * n + by + x] = tile[x * pitch + y + k]; // FIND bank-conflict
}
KERNEL(slow(const float *a, float *out, int n))
{
    __shared__ float tile[32 * 32];
    transpose<32>(a, out, n, tile);
}
KERNEL(cured(const float *a, float *out, int n))
{
    __shared__ float tile[32 * 33];
    transpose<33>(a, out, n, tile);
}
