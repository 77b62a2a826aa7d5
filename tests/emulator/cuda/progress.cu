// Every thread makes progress though others of its warp wait for it: locks that each thread takes, in functions that
// call each other, and an mbarrier whose last arrival comes from a thread that waits for the asking one to join it.
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init

__device__ unsigned lock, total;

__device__ __noinline__ unsigned critical(unsigned depth, unsigned amount) {
    if (depth > 0) return critical(depth - 1, amount) + 1;
    unsigned seen;
    while (atomicCAS(&lock, 0, 1) != 0) {}
    seen = *(volatile unsigned *)&total;
    *(volatile unsigned *)&total = seen + amount;
    __threadfence();
    atomicExch(&lock, 0);
    return seen;
}

extern "C" __global__ void locks(unsigned *out, unsigned *sum) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, depth = t % 5, amount = t & 1 ? 3 : 2;
    out[t] = critical(depth, amount) - depth < 1000000 ? t : 0;
    __syncthreads();
    if (atomicAdd(sum, 1) == gridDim.x * blockDim.x - 1) *sum = *(volatile unsigned *)&total;
}

extern "C" __global__ void answer(unsigned *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ unsigned value;
    unsigned t = threadIdx.x;
    if (t == 0) init(&bar, 2);
    __syncthreads();
    if (t == 0) {
        bar.wait(bar.arrive());
        out[0] = value;
    }
    if (t == 1) {
        value = 77;
        (void)bar.arrive();
    }
}
