/* Products of bytes are unpacked and added one by one. Cured: four by dp4a. */
#include "cuda.h"
KERNEL(slow(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid, sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        int x = a[k * all + i], y = b[k];
        sum += (signed char)x * (signed char)y + (signed char)(x >> 8) * (signed char)(y >> 8) + // FIND scalar-bytes
               (signed char)(x >> 16) * (signed char)(y >> 16) + (x >> 24) * (y >> 24);
    }
    out[i] = sum;
}
KERNEL(cured(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ out, int n))
{
    int i = bid * ntid + tid, all = nbid * ntid, sum = 0;
    for (int m = 0; m < n; m += 4)
#pragma unroll
        for (int k = m; k < m + 4; k++) {
            int x = a[k * all + i], y = b[k];
            asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(y));
        }
    out[i] = sum;
}
