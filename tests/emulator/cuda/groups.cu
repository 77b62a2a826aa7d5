// Cooperative groups: tiles of several sizes, coalesced and labelled groups, reductions, scans, and a barrier of the
// whole grid between the rounds of a relaxation.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int *in, int *out, int *counts) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    auto eight = cg::tiled_partition(block, 8);
    int i = cg::this_grid().thread_rank(), x = in[i];
    int sum = cg::reduce(quad, x, cg::plus<int>());
    int most = cg::reduce(warp, x, cg::greater<int>());
    int before = cg::exclusive_scan(warp, x, cg::plus<int>());
    int low = cg::inclusive_scan(quad, x, cg::less<int>());
    if (x % 3 == 0) {
        auto active = cg::coalesced_threads();
        int place = 0;
        if (active.thread_rank() == 0) place = atomicAdd(&counts[0], active.size());
        place = active.shfl(place, 0) * 0 + active.thread_rank();
        sum += 1000 * place + active.num_threads() * 100000;
        sum ^= cg::reduce(active, x, cg::bit_xor<int>());
    }
    auto label = cg::labeled_partition(warp, x & 3);
    int peers = cg::reduce(label, 1, cg::plus<int>());
    auto binary = cg::binary_partition(quad, x > 0);
    int ranks = eight.thread_rank() * 16 + binary.thread_rank() + 256 * quad.meta_group_rank();
    int voted = quad.any(x > 900) + 2 * quad.all(x > -500) + 4 * __popc(warp.ballot(x & 1)) + warp.match_any(x & 7) % 127;
    out[8 * i] = sum;
    out[8 * i + 1] = most;
    out[8 * i + 2] = before;
    out[8 * i + 3] = low;
    out[8 * i + 4] = peers;
    out[8 * i + 5] = ranks;
    out[8 * i + 6] = voted;
    out[8 * i + 7] = quad.shfl_xor(x, 1) - eight.size() * x + warp.shfl_up(x, 3);
    block.sync();
}

extern "C" __global__ void relax(float *u, float *v, int n, int rounds) {
    auto grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            v[i] = 0.25f * u[i ? i - 1 : n - 1] + 0.5f * u[i] + 0.25f * u[i + 1 < n ? i + 1 : 0];
        grid.sync();
        float *t = u;
        u = v;
        v = t;
    }
}
