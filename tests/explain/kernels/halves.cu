/* One f16 a thread. Cured: pairs, by half the threads. */
#include "cuda.h"
KERNEL(slow(const half *__restrict__ a, half *__restrict__ out, int n))
{
    int i = bid * ntid + tid;
    half x = a[i];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        x = x * x + (half)0.5f; // FIND scalar-half
    out[i] = x;
}
KERNEL(cured(const half *__restrict__ a, half *__restrict__ out, int n))
{
    int i = bid * ntid + tid;
    half2 x = ((const half2 *)a)[i], c = {(half)0.5f, (half)0.5f};
#pragma unroll 4
    for (int k = 0; k < n; k++)
        x = x * x + c;
    ((half2 *)out)[i] = x;
}
