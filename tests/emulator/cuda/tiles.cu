// Cooperative groups of several warps: their barriers and results lie in the reserved shared memory or in memory of ours.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int *in, int *sums, int *scans, int *turned) {
    __shared__ cg::block_tile_memory<256> memory;
    __shared__ int words[256];
    auto block = cg::this_thread_block(memory);
    int t = block.thread_rank(), v = in[blockIdx.x * 256 + t];
    auto wide = cg::tiled_partition<128>(block);
    auto pair = cg::tiled_partition<64>(block);
    sums[blockIdx.x * 256 + t] = cg::reduce(wide, v, cg::plus<int>()) * 1000 + cg::reduce(pair, v, cg::greater<int>());
    auto warp = cg::tiled_partition<32>(block);
    scans[blockIdx.x * 256 + t] = cg::inclusive_scan(warp, v, cg::plus<int>());
    words[t] = v;
    wide.sync();
    turned[blockIdx.x * 256 + t] = words[t / 128 * 128 + 127 - t % 128];
    if (pair.any(v == 9)) turned[blockIdx.x * 256 + t] += 100;
}

// The same without memory of ours.
extern "C" __global__ void plain(const int *in, int *turned) {
    __shared__ int words[256];
    auto block = cg::this_thread_block();
    int t = block.thread_rank();
    auto wide = cg::tiled_partition<64>(block);
    words[t] = in[t];
    wide.sync();
    int v = words[t / 64 * 64 + 63 - t % 64];
    wide.sync();
    words[t] = v + wide.meta_group_rank() * 1000;
    block.sync();
    turned[t] = words[255 - t];
}
