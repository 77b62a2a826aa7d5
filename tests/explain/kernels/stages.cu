/* cp.async that is waited for at once. Cured: the copy of the next tile is under way during the work. */
#include "cuda.h"
__device__ static inline void copy(float *to, const float *from)
{
    unsigned shared = (unsigned)(unsigned long long)(__attribute__((address_space(3))) float *)to;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;" ::"r"(shared), "l"(from) : "memory");
}
KERNEL(slow(const float *a, float *out, int n))
{
    __shared__ float4 tile[256];
    float sum = 0;
    const float4 *from = (const float4 *)a + bid * n * 256;
    for (int t = 0; t < n; t++) {
        copy((float *)&tile[tid], (const float *)(from + t * 256 + tid));
        asm volatile("cp.async.wait_group 0;" ::: "memory"); // FIND no-stages
        barrier();
#pragma unroll
        for (int k = 0; k < 32; k++) {
            float4 v = tile[(tid & ~31) + ((tid + k) & 31)];
            sum += v.x * v.y + v.z * v.w;
        }
        barrier();
    }
    out[bid * ntid + tid] = sum;
}
KERNEL(cured(const float *a, float *out, int n))
{
    __shared__ float4 tile[2][256];
    float sum = 0;
    const float4 *from = (const float4 *)a + bid * n * 256;
    copy((float *)&tile[0][tid], (const float *)(from + tid));
    for (int t = 0; t < n; t++) {
        int next = t + 1 < n ? t + 1 : t;
        copy((float *)&tile[(t + 1) & 1][tid], (const float *)(from + next * 256 + tid));
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        barrier();
#pragma unroll
        for (int k = 0; k < 32; k++) {
            float4 v = tile[t & 1][(tid & ~31) + ((tid + k) & 31)];
            sum += v.x * v.y + v.z * v.w;
        }
        barrier();
    }
    out[bid * ntid + tid] = sum;
}
