/* Every thread adds to one sum. Cured: a warp adds first, one lane goes on. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    __nvvm_atom_add_gen_f((float *)out, a[i]); // FIND contended-atomic
}
KERNEL(cured(const float *a, float *out, int n))
{
    int i = bid * ntid + tid;
    float v = a[i];
#pragma unroll
    for (int m = 16; m; m /= 2) v += __nvvm_shfl_sync_bfly_f32(0xffffffff, v, m, 31);
    if ((tid & 31) == 0) __nvvm_atom_add_gen_f((float *)out, v);
}
