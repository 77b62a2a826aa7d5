// c = a b^T in f16 with f32 sums: a producer warpgroup loads tiles by TMA into a ring with the 128-byte swizzle, two
// consumer warpgroups multiply by wgmma, registers moved by setmaxnreg, the result leaves by a TMA store. Clusters of
// two blocks share the tiles of b by multicast.
#include <cstdint>
#include <cuda_fp16.h>
struct __align__(64) TensorMap { char bytes[128]; };
constexpr int BM = 128, BN = 64, BK = 64, STAGES = 3;

__device__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void wait(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\n"
                 "bra again;\ndone:\n}" ::"r"(smem(bar)), "r"(parity) : "memory");
}

__device__ void load(void *to, const TensorMap *map, uint64_t *bar, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
                 "[%2];" ::"r"(smem(to)), "l"(map), "r"(smem(bar)), "r"(x), "r"(y) : "memory");
}

__device__ void load_both(void *to, const TensorMap *map, uint64_t *bar, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(smem(to)), "l"(map), "r"(smem(bar)), "r"(x), "r"(y),
                 "h"((uint16_t)3) : "memory");
}

__device__ uint64_t descriptor(const void *p) {
    return (uint64_t)((smem(p) & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

__device__ void product(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile("{wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,"
                 "%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                   "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                   "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
                   "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}

struct Stage {
    half a[BM][BK], b[BN][BK];
};

extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(384)
    gemm(const __grid_constant__ TensorMap ma, const __grid_constant__ TensorMap mb, const __grid_constant__ TensorMap mc,
         int k) {
    extern __shared__ __align__(1024) Stage stages[];
    __shared__ __align__(128) float result[BM][BN / 2 * 2];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(&full[s])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(smem(&empty[s]))); // two warpgroups of two blocks
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    int group = threadIdx.x / 128, steps = k / BK, row = blockIdx.y * BM, col = blockIdx.x * BN;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int t = 0; t < steps; t++) {
                int s = t % STAGES;
                if (t >= STAGES) wait(&empty[s], (t / STAGES - 1) & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(&full[s])),
                             "r"((uint32_t)sizeof(Stage)) : "memory");
                load(stages[s].a, &ma, &full[s], t * BK, row);
                load_both(stages[s].b[rank * BN / 2], &mb, &full[s], t * BK, col + rank * BN / 2);
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float d[32] = {};
        for (int t = 0; t < steps; t++) {
            int s = t % STAGES;
            wait(&full[s], (t / STAGES) & 1);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int p = 0; p < BK; p += 16)
                product(d, descriptor(&stages[s].a[(group - 1) * 64][p]), descriptor(&stages[s].b[0][p]));
            asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (threadIdx.x % 128 < 2)
                asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(smem(&empty[s])),
                             "r"((uint32_t)threadIdx.x % 128) : "memory");
        }
        int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, r = (group - 1) * 64 + warp * 16 + lane / 4;
        for (int i = 0; i < 8; i++)
            for (int h = 0; h < 2; h++) {
                result[r + 8 * h][8 * i + lane % 4 * 2] = d[4 * i + 2 * h];
                result[r + 8 * h][8 * i + lane % 4 * 2 + 1] = d[4 * i + 2 * h + 1];
            }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync 1, 256;" ::: "memory");
        if (threadIdx.x == 128) {
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&mc),
                         "r"(smem(result)), "r"(col), "r"(row) : "memory");
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
        }
    }
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
