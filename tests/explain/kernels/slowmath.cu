/* A division with all bits. Cured: by the inverse. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n, float d))
{
    int i = bid * ntid + tid;
    float x = a[i], y = x;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        y = y / d + x; // FIND slow-math
    out[i] = y;
}
KERNEL(cured(const float *a, float *out, int n, float d))
{
    int i = bid * ntid + tid;
    float x = a[i], y = x, inverse = 1.0f / d;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        y = y * inverse + x;
    out[i] = y;
}
