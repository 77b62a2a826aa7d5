/* Columns of a tile of pairs. Cured: a column more. */
#include "cuda.h"
typedef float float2 __attribute__((ext_vector_type(2)));
template <int pitch> __device__ static inline void turn(const float2 *a, float2 *out, int n, float2 *tile)
{
    int x = tid & 15, y = tid >> 4;
    for (int k = 0; k < n; k++) {
        tile[y * pitch + x] = a[(bid * n + k) * 256 + tid];
        barrier();
        float2 v = tile[x * pitch + y]; // FIND bank-conflict
        out[(bid * n + k) * 256 + tid] = v;
        barrier();
    }
}
KERNEL(slow(const float2 *a, float2 *out, int n))
{
    __shared__ float2 tile[16 * 16];
    turn<16>(a, out, n, tile);
}
KERNEL(cured(const float2 *a, float2 *out, int n))
{
    __shared__ float2 tile[16 * 17];
    turn<17>(a, out, n, tile);
}
