/* Counts of each thread in an array of its own. Cured: in shared memory, a column a thread. */
#include "cuda.h"
KERNEL(slow(const int *__restrict__ a, int *__restrict__ out, int n))
{
    int mine[32];
    for (int k = 0; k < 32; k++) mine[k] = 0;
    for (int k = tid; k < n; k += ntid)
        mine[a[k] & 31]++; // FIND local-array
    for (int k = 0; k < 32; k++) out[bid * 256 + tid + k * 65536] = mine[k];
}
KERNEL(cured(const int *__restrict__ a, int *__restrict__ out, int n))
{
    __shared__ int mine[32 * 256];
    for (int k = 0; k < 32; k++) mine[k * 256 + tid] = 0;
#pragma unroll 4
    for (int k = tid; k < n; k += ntid) mine[(a[k] & 31) * 256 + tid]++;
    for (int k = 0; k < 32; k++) out[bid * 256 + tid + k * 65536] = mine[k * 256 + tid];
}
