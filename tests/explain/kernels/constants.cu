/* A table in constant memory that each lane indexes. Cured: in shared memory. */
#include "cuda.h"
__attribute__((constant)) float table[1024];
KERNEL(slow(const int *a, const float *b, float *out, int n))
{
    int i = bid * ntid + tid;
    float sum = 0;
    int at = a[i];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += table[(at + k * tid) & 1023]; // FIND constant-by-lane
    out[i] = sum;
}
KERNEL(cured(const int *a, const float *b, float *out, int n))
{
    __shared__ float mine[1024];
    for (int k = 0; k < 1024; k += 256) mine[k + tid] = b[k + tid];
    barrier();
    int i = bid * ntid + tid;
    float sum = 0;
    int at = a[i];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += mine[(at + k * tid) & 1023];
    out[i] = sum;
}
