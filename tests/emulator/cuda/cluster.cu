// A histogram over the shared memories of a cluster: each block owns a part of the bins; then the blocks of a cluster
// pass a ring of values on, and reduce across it by bulk copies into each other's shared memory.
#include <cooperative_groups.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int BLOCKS = 4, BINS = 64;

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) histogram(const int *in, int *counts, int n) {
    __shared__ int bins[BINS];
    auto cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0;
    cluster.sync();
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int bin = in[i];
        atomicAdd(cluster.map_shared_rank(bins, bin / BINS) + bin % BINS, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&counts[cluster.block_rank() * BINS + i], bins[i]);
}

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) ring(const float *in, float *out) {
    extern __shared__ __align__(16) float dyn[];
    float *mine = dyn, *got = dyn + blockDim.x;
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    mine[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();
    float sum = mine[threadIdx.x];
    for (int r = 1; r < BLOCKS; r++) {
        if (threadIdx.x == 0) {
            int peer = (rank + r) % BLOCKS;
            uint64_t *there = cluster.map_shared_rank(&bar, peer);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, there,
                                           4 * blockDim.x);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(got, peer), mine,
                               4 * blockDim.x, there);
        }
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, (r - 1) & 1)) {}
        sum = sum * 2 + got[threadIdx.x];
        cluster.sync();
    }
    float *other = cluster.map_shared_rank(mine, rank ^ 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum + other[blockDim.x - 1 - threadIdx.x] * cluster.num_blocks();
    cluster.sync();
}
