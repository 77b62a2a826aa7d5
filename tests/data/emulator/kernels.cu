// CUDA C for the emulator's tests: what nvcc makes of it uses shuffles, atomics, cp.async, mbarriers, wmma, clusters,
// recursion, function pointers, printf. Results are integers, or sums that are exact in float.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <mma.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int square(int x) { return x * x; }
__device__ int cube(int x) { return x * x * x; }
__device__ int (*functions[2])(int) = {square, cube};

extern "C" __global__ void reduce(const int *in, int *out)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 16; i; i /= 2) v += __shfl_xor_sync(~0u, v, i);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

extern "C" __global__ void scan(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[t] = s[t];
}

extern "C" __global__ void pipeline(const int *in, int *out)
{
    __shared__ int s[2][128];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&s[0][t], in + t, 4);
    __pipeline_commit();
    for (int i = 0; i < 4; i++) {
        if (i < 3) __pipeline_memcpy_async(&s[(i + 1) & 1][t], in + (i + 1) * 128 + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[i & 1][(t + 1) % 128];
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void barriers(const int *in, int *out)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[128];
    if (!threadIdx.x) init(&b, 128);
    __syncthreads();
    int sum = 0;
    for (int i = 1; i < 4; i++) {
        s[threadIdx.x] = in[threadIdx.x] * i;
        b.arrive_and_wait();
        sum += s[127 - threadIdx.x];
        b.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void groups(const int *in, int *out)
{
    auto half = cg::tiled_partition<16>(cg::this_thread_block());
    out[threadIdx.x] = cg::reduce(half, in[threadIdx.x], cg::plus<int>());
}

extern "C" __global__ void product(const __half *a, const __half *b, float *out)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(out, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbours(const int *in, int *out)
{
    __shared__ int s[32];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
}

extern "C" __global__ void calls(int *out)
{
    int t = threadIdx.x;
    out[t] = factorial(t % 8) + functions[t & 1](t);
    if (t == 2) printf("thread %d of %s: %5.2f\n", t, "calls", 1.5);
}
