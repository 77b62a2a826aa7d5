// A tiled f32 product whose tiles come by cp.async through a ring of stages: by the pipeline primitives, by
// cuda::pipeline shared by the block, and by cooperative_groups::memcpy_async.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
constexpr int TILE = 16, STAGES = 3;

extern "C" __global__ void primitives(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) float as[STAGES][TILE][TILE + 4], bs[STAGES][TILE][TILE + 4];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE, col = blockIdx.x * TILE, tiles = k / TILE;
    auto load = [&](int t) {
        if (t < tiles && tx < TILE / 4) {
            __pipeline_memcpy_async(&as[t % STAGES][ty][4 * tx], &a[(row + ty) * k + t * TILE + 4 * tx], 16);
            __pipeline_memcpy_async(&bs[t % STAGES][ty][4 * tx], &b[(t * TILE + ty) * n + col + 4 * tx], 16);
        }
        __pipeline_commit();
    };
    for (int s = 0; s < STAGES - 1; s++) load(s);
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        load(t + STAGES - 1);
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        for (int p = 0; p < TILE; p++) sum += as[t % STAGES][ty][p] * bs[t % STAGES][p][tx];
        __syncthreads();
    }
    c[(row + ty) * n + col + tx] = sum;
}

extern "C" __global__ void pipeline(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) float as[STAGES][TILE][TILE], bs[STAGES][TILE][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE, col = blockIdx.x * TILE, tiles = k / TILE;
    float sum = 0;
    for (int load = 0, t = 0; t < tiles; t++) {
        for (; load < tiles && load < t + STAGES; load++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&as[load % STAGES][ty][tx], &a[(row + ty) * k + load * TILE + tx], sizeof(float), pipe);
            cuda::memcpy_async(&bs[load % STAGES][ty][tx], &b[(load * TILE + ty) * n + col + tx], sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        for (int p = 0; p < TILE; p++) sum += as[t % STAGES][ty][p] * bs[t % STAGES][p][tx];
        pipe.consumer_release();
    }
    c[(row + ty) * n + col + tx] = sum;
}

extern "C" __global__ void groups(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) float as[TILE][TILE], bs[TILE][TILE];
    auto block = cg::this_thread_block();
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        for (int r = 0; r < TILE; r++) {
            cg::memcpy_async(block, as[r], &a[(row + r) * k + t], sizeof(float) * TILE);
            cg::memcpy_async(block, bs[r], &b[(t + r) * n + col], cuda::aligned_size_t<16>(sizeof(float) * TILE));
        }
        cg::wait(block);
        for (int p = 0; p < TILE; p++) sum += as[ty][p] * bs[p][tx];
        block.sync();
    }
    c[(row + ty) * n + col + tx] = sum;
}
