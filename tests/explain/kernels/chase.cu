/* A list is walked: each address comes from the load before it. Cured: the order is an array of its own. */
#include "cuda.h"
KERNEL(slow(const int *next, const float *value, float *out, int n))
{
    int i = bid * ntid + tid;
    int at = i;
    for (int k = 0; k < n; k++)
        at = next[at]; // FIND pointer-chase
    out[i] = value[at];
}
KERNEL(cured(const int *next, const float *value, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
    int at = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        at ^= next[i + k * all];
    out[i] = value[at & 1023];
}
