/* Row and column by an argument. Cured: divided once, then counted on. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n, int width))
{
    float sum = 0;
    int i = bid * ntid + tid, all = nbid * ntid;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        int at = i + k * all;
        sum += (float)(at / width) * 0.5f; // FIND integer-division
        sum += (float)(at & 15);
    }
    out[i] = sum;
}
KERNEL(cured(const float *a, float *out, int n, int width))
{
    float sum = 0;
    int i = bid * ntid + tid, all = nbid * ntid, row = i / width, rest = i % width;
    int rows = all / width, more = all % width;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        sum += (float)row * 0.5f;
        sum += (float)((i + k * all) & 15);
        row += rows, rest += more;
        if (rest >= width) rest -= width, row++;
    }
    out[i] = sum;
}
