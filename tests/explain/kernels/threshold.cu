/* A comparison with a literal without f: what is compared is widened first. Cured: with f. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float x = a[i], sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        x = x * 0.99f + 0.5f;
        if (x > 0.1) sum += x; // FIND double
    }
    out[i] = sum;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float x = a[i], sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        x = x * 0.99f + 0.5f;
        if (x > 0.1f) sum += x;
    }
    out[i] = sum;
}
