// A producer warp fills a ring of buffers, consumer warps empty it; full and empty are cuda::barriers, or mbarriers
// that count the bytes of bulk copies.
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int STAGES = 2, CHUNK = 128;

extern "C" __global__ void barriers(const int *in, int *out, int n) {
    __shared__ int ring[STAGES][CHUNK];
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full[STAGES], empty[STAGES];
    if (threadIdx.x < STAGES) {
        init(&full[threadIdx.x], blockDim.x);
        init(&empty[threadIdx.x], blockDim.x);
    }
    __syncthreads();
    int chunks = n / CHUNK, before = blockIdx.x;
    if (threadIdx.x < 32) {
        for (int c = before, s = 0; c < chunks; c += gridDim.x, s++) {
            empty[s % STAGES].arrive_and_wait();
            for (int i = threadIdx.x; i < CHUNK; i += 32) ring[s % STAGES][i] = in[c * CHUNK + i];
            (void)full[s % STAGES].arrive();
        }
    } else {
        for (int s = 0; s < STAGES; s++) (void)empty[s].arrive();
        for (int c = before, s = 0; c < chunks; c += gridDim.x, s++) {
            full[s % STAGES].arrive_and_wait();
            for (int i = threadIdx.x - 32; i < CHUNK; i += blockDim.x - 32)
                out[c * CHUNK + i] = 3 * ring[s % STAGES][CHUNK - 1 - i];
            (void)empty[s % STAGES].arrive();
        }
    }
}

extern "C" __global__ void bulk(const int *in, int *out, int n) {
    __shared__ __align__(128) int ring[STAGES][CHUNK], result[STAGES][CHUNK];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], blockDim.x - 32);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    int chunks = n / CHUNK;
    if (threadIdx.x == 0) {
        for (int c = blockIdx.x, s = 0; c < chunks; c += gridDim.x, s++) {
            if (s >= STAGES)
                while (!ptx::mbarrier_try_wait_parity(&empty[s % STAGES], (s / STAGES - 1) & 1)) {}
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s % STAGES], 4 * CHUNK);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring[s % STAGES], in + c * CHUNK, 4 * CHUNK,
                               &full[s % STAGES]);
        }
    } else if (threadIdx.x >= 32) {
        for (int c = blockIdx.x, s = 0; c < chunks; c += gridDim.x, s++) {
            if (threadIdx.x == 32) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<STAGES - 1>());
            while (!ptx::mbarrier_try_wait_parity(&full[s % STAGES], (s / STAGES) & 1)) {}
            asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x - 32) : "memory");
            for (int i = threadIdx.x - 32; i < CHUNK; i += blockDim.x - 32)
                result[s % STAGES][i] = ring[s % STAGES][i] ^ (c << 16);
            ptx::fence_proxy_async(ptx::space_shared);
            ptx::mbarrier_arrive(&empty[s % STAGES]);
            asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x - 32) : "memory");
            if (threadIdx.x == 32) {
                ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + c * CHUNK, result[s % STAGES], 4 * CHUNK);
                ptx::cp_async_bulk_commit_group();
            }
        }
        if (threadIdx.x == 32) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}
