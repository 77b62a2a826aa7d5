/* Elements by an index that each lane loads. Cured: in the order of the lanes. */
#include "cuda.h"
KERNEL(slow(const float *__restrict__ a, const int *__restrict__ at, float *__restrict__ out, int n))
{
    int i = bid * ntid + tid;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += a[at[k * ntid + i]]; // FIND uncoalesced
    out[i] = sum;
}
KERNEL(cured(const float *__restrict__ a, const int *__restrict__ at, float *__restrict__ out, int n))
{
    int i = bid * ntid + tid;
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++) sum += a[at[k] + i];
    out[i] = sum;
}
