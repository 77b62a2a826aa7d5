/* Even and odd lanes do different things. Cured: even and odd warps. */
#include "cuda.h"
__device__ static inline float one(float x, int n)
{
    float y = x;
    for (int k = 0; k < n; k++) y = y * x + 0.5f, x = x * y - 0.25f, y = y * y + x, x = x * x - y;
    return y;
}
__device__ static inline float other(float x, int n)
{
    float y = 1;
    for (int k = 0; k < n; k++) y = (y + x) * 0.5f, x = x * 0.75f + y, y = y * x - 0.125f, x = x - y * y;
    return x;
}
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float v = a[i];
    if (tid & 1) // FIND divergence
        v = one(v, n);
    else
        v = other(v, n);
    out[i] = v;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float v = a[i];
    if (tid >> 5 & 1)
        v = one(v, n);
    else
        v = other(v, n);
    out[i] = v;
}
