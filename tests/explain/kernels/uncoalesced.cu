/* A matrix of n columns is summed by rows: each thread has a row. Cured: each thread has a column of the transpose. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int row = bid * ntid + tid;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k]; // FIND uncoalesced
    out[row] = sum;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int row = bid * ntid + tid, rows = nbid * ntid;
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        sum += a[k * rows + row];
    out[row] = sum;
}
