/* Four floats of a thread are loaded one by one from what L1 has. Cured: one float4. */
#include "cuda.h"
KERNEL(slow(const float *__restrict__ a, float *__restrict__ out, int n))
{
    int i = (bid * ntid + tid) * 4;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        const float *p = a + (k * ntid + tid) * 4;
        float4 v = {p[0], p[1], p[2], p[3]}; // FIND vector-width
        sum += v;
    }
    *(float4 *)(out + i) = sum;
}
KERNEL(cured(const float *__restrict__ a, float *__restrict__ out, int n))
{
    int i = (bid * ntid + tid) * 4;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 4
    for (int k = 0; k < n; k++) sum += *(const float4 *)(a + (k * ntid + tid) * 4);
    *(float4 *)(out + i) = sum;
}
