// Tensor maps that the kernel makes from zeros with tensormap.replace, one for each element type that has a reduction:
// a box is loaded by one and added to memory by the other (s64: the larger one is kept), at the tensor's edge too.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define REPLACE(field, bits, ...) \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." bits ";" ::__VA_ARGS__ : "memory")

// A map of `rows` rows of `columns` elements, `pitch` bytes apart; the box is 8 rows of 32 bytes.
template <int ELEMTYPE> __device__ void make_map(unsigned map, const void *data, int columns, int rows, long pitch, int size) {
    REPLACE("global_address", "b64 [%0], %1", "r"(map), "l"(data));
    REPLACE("rank", "b32 [%0], 1", "r"(map));
    REPLACE("box_dim", "b32 [%0], 0, %1", "r"(map), "r"(32 / size));
    REPLACE("box_dim", "b32 [%0], 1, 8", "r"(map));
    REPLACE("global_dim", "b32 [%0], 0, %1", "r"(map), "r"(columns));
    REPLACE("global_dim", "b32 [%0], 1, %1", "r"(map), "r"(rows));
    REPLACE("global_stride", "b64 [%0], 0, %1", "r"(map), "l"(pitch));
    REPLACE("element_stride", "b32 [%0], 0, 1", "r"(map));
    REPLACE("element_stride", "b32 [%0], 1, 1", "r"(map));
    REPLACE("elemtype", "b32 [%0], %1", "r"(map), "n"(ELEMTYPE));
    REPLACE("interleave_layout", "b32 [%0], 0", "r"(map));
    REPLACE("swizzle_mode", "b32 [%0], 0", "r"(map));
    REPLACE("fill_mode", "b32 [%0], 0", "r"(map));
}

// To memory, where the unit that copies tensors finds it.
__device__ void publish(char *to, unsigned map) {
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(to), "r"(map) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
}

template <int ELEMTYPE, typename T> __device__ void copy(const T *in, T *out, char *maps, int columns, int rows) {
    constexpr int WIDE = 32 / sizeof(T);
    __shared__ alignas(128) unsigned words[32];
    __shared__ alignas(128) T box[8 * WIDE];
    __shared__ alignas(8) unsigned long long bar;
    unsigned map = __cvta_generic_to_shared(words), to = __cvta_generic_to_shared(box), b = __cvta_generic_to_shared(&bar);
    for (int n = 0; n < 2; n++) {
        words[threadIdx.x] = 0;
        __syncwarp();
        if (threadIdx.x == 0) make_map<ELEMTYPE>(map, n ? out : in, columns, rows, columns * sizeof(T), sizeof(T));
        __syncwarp();
        publish(maps + 128 * n, map);
    }
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        int phase = 0;
        for (int y = 0; y < rows; y += 8)
            for (int x = 0; x < columns; x += WIDE, phase ^= 1) {
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(b) : "memory");
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(maps), "r"(x), "r"(y), "r"(b) : "memory");
                asm volatile("{ .reg .pred p; W%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W%=; }" ::"r"(b), "r"(phase) : "memory");
                if (ELEMTYPE == 5)
                    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group [%0, {%1, %2}], [%3];" ::"l"(maps + 128), "r"(x), "r"(y), "r"(to) : "memory");
                else
                    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(maps + 128), "r"(x), "r"(y), "r"(to) : "memory");
                asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
            }
    }
}

#define KERNEL(name, elemtype, type) \
    extern "C" __global__ void name(const type *in, type *out, char *maps, int columns, int rows) { copy<elemtype>(in, out, maps, columns, rows); }
KERNEL(of_u32, 2, unsigned)
KERNEL(of_s32, 3, int)
KERNEL(of_u64, 4, unsigned long long)
KERNEL(of_s64, 5, long long)
KERNEL(of_f16, 6, __half)
KERNEL(of_f32, 7, float)
KERNEL(of_f32_ftz, 8, float)
KERNEL(of_f64, 9, double)
KERNEL(of_bf16, 10, __nv_bfloat16)
