/* Four floats of a thread are loaded one by one. Cured: one float4. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = (bid * ntid + tid) * 4;
    float x = a[i], y = a[i + 1], z = a[i + 2], w = a[i + 3]; // FIND vector-width
    float4 r = {x * 2, y * 2, z * 2, w * 2};
    *(float4 *)(out + i) = r;
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = (bid * ntid + tid) * 4;
    float4 r = *(const float4 *)(a + i);
    *(float4 *)(out + i) = r * 2;
}
