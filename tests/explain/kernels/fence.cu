/* Stores that the whole system has to see, one by one. Cured: those of the block. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
    for (int k = 0; k < n; k++) {
        out[i + k * all] = (float)k;
        asm volatile("membar.sys;" ::: "memory"); // FIND fence
    }
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid;
    for (int k = 0; k < n; k++) {
        out[i + k * all] = (float)k;
        asm volatile("membar.cta;" ::: "memory");
    }
}
