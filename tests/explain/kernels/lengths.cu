/* Each lane has a number of iterations of its own. Cured: the warp shares the work of a row. */
#include "cuda.h"
KERNEL(slow(const float *a, const int *length, float *out, int n))
{
    int row = bid * ntid + tid;
    float x = a[row];
    int count = length[row];
    for (int k = 0; k < count; k++) // FIND divergence
        x = x * 0.99f + 0.5f;
    out[row] = x;
}
KERNEL(cured(const float *a, const int *length, float *out, int n))
{
    int row = bid * ntid + tid;
    float x = a[row];
    int count = length[bid];
    for (int k = 0; k < count; k++)
        x = x * 0.99f + 0.5f;
    out[row] = x;
}
