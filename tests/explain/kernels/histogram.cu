/* A histogram in global memory. Cured: one in shared memory, added up at the end. */
#include "cuda.h"
KERNEL(slow(const int *a, int *out, int n))
{
#pragma unroll 4
    for (int i = bid * ntid + tid; i < n; i += nbid * ntid)
        __nvvm_atom_add_gen_i(out + (a[i] & 255), 1); // FIND contended-atomic
}
KERNEL(cured(const int *a, int *out, int n))
{
    __shared__ int mine[256];
    mine[tid] = 0;
    barrier();
#pragma unroll 4
    for (int i = bid * ntid + tid; i < n; i += nbid * ntid)
        __nvvm_atom_add_gen_i(mine + (a[i] & 255), 1);
    barrier();
    __nvvm_atom_add_gen_i(out + tid, mine[tid]);
}
