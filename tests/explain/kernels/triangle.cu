/* Lanes count to different ends, which the lane's number tells. Cured: warps do. */
#include "cuda.h"
template <int shift> __device__ static inline void steps(const float *a, float *out)
{
    int i = bid * ntid + tid;
    float x = a[i], y = 0;
    for (int k = 0; k < (tid >> shift & 31) * 8; k++) // FIND divergence
        y = y * x + 0.5f, x = x * y - 0.25f, y = y + x * x;
    out[i] = y;
}
KERNEL(slow(const float *a, float *out))
{
    steps<0>(a, out);
}
KERNEL(cured(const float *a, float *out))
{
    steps<5>(a, out);
}
