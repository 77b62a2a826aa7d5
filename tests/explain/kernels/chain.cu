/* A list that is walked without a loop: sixteen loads in a row, each of which has its address from the one before. Cured: sixteen loads at once. */
#include "cuda.h"
KERNEL(slow(const int *__restrict__ a, int *__restrict__ out))
{
    int i = bid * ntid + tid, at = i;
#pragma unroll
    for (int k = 0; k < 16; k++)
        at = a[at]; // FIND pointer-chase // NOT uncoalesced
    out[i] = at;
}
KERNEL(cured(const int *__restrict__ a, int *__restrict__ out))
{
    int i = bid * ntid + tid, sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) sum += a[k * nbid * ntid + i];
    out[i] = sum;
}
