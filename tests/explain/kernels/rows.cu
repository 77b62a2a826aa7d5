// A thread sums a row of a sparse matrix, whose begin it loads. Cured: a warp, neighbouring lanes neighbouring elements.
#include "cuda.h"
KERNEL(slow(const int *__restrict__ rows, const float *__restrict__ values, float *__restrict__ out, int n))
{
    int row = bid * 256 + tid;
    if (row >= n) return;
    float sum = 0;
    for (int j = rows[row]; j < rows[row + 1]; j++) // FIND divergence
        sum += values[j];                          // FIND uncoalesced
    out[row] = sum;
}
KERNEL(cured(const int *__restrict__ rows, const float *__restrict__ values, float *__restrict__ out, int n))
{
    int row = bid * 8 + tid / 32, lane = tid % 32;
    if (row >= n) return;
    float sum = 0;
    int j = rows[row] + lane, end = rows[row + 1];
    for (; j + 96 < end; j += 128) sum += values[j] + values[j + 32] + values[j + 64] + values[j + 96];
    for (; j < end; j += 32) sum += values[j];
    for (int d = 16; d; d /= 2) sum += __nvvm_shfl_sync_bfly_f32(-1, sum, d, 31);
    if (!lane) out[row] = sum;
}
