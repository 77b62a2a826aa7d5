/* f16 one at a time. Cured: pairs. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    half x = (half)a[2 * i], y = (half)a[2 * i + 1], c = (half)0.5f;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        x = x * x + c; // FIND scalar-half
        y = y * y + c;
    }
    out[i] = (float)x + (float)y;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    half2 x = {(half)a[2 * i], (half)a[2 * i + 1]}, c = {(half)0.5f, (half)0.5f};
#pragma unroll 4
    for (int k = 0; k < n; k++)
        x = x * x + c;
    out[i] = (float)x[0] + (float)x[1];
}
