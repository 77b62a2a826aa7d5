// The peer of gemm_sm90: CUTLASS 3's warp-specialised cooperative kernel, bf16 in, f32 accumulators, bf16 out, 128x256x64 tiles,
// clusters of 2x1, A and B K-major.
//   nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -I CUTLASS/include -o cutlass_sm90 cutlass_sm90.cu
//   cutlass_sm90 M N K    prints ms (median of 50 launches, events) and TFLOP/s
// Its compile is also what bench/compile's figure from text to cubin stands beside.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        auto status_ = (call);                                                                               \
        if (status_ != decltype(status_)(0)) {                                                               \
            std::fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, int(status_));         \
            std::exit(3);                                                                                    \
        }                                                                                                    \
    } while (0)

using namespace cute;
using Element = cutlass::bfloat16_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using BlockTile = Shape<_128, _256, _64>;
using Cluster = Shape<_2, _1, _1>;

using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, BlockTile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, Row, 8, Element, Row, 8,
    cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, Row, 8, Element, Column, 8, float, BlockTile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<
    cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>>;

__global__ void fill(Element *p, size_t count, unsigned seed)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
         i += size_t(gridDim.x) * blockDim.x) {
        unsigned x = unsigned(i) * 2654435761u ^ seed;
        x ^= x >> 15, x *= 2246822519u, x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
        p[i] = Element(float(x) / 4294967296.f - 0.5f);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) return std::fprintf(stderr, "usage: cutlass_sm90 M N K\n"), 2;
    int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
    Element *a, *b, *c;
    CHECK(cudaMalloc(&a, sizeof *a * m * k));
    CHECK(cudaMalloc(&b, sizeof *b * n * k));
    CHECK(cudaMalloc(&c, sizeof *c * m * n));
    fill<<<1024, 256>>>(a, size_t(m) * k, 1);
    fill<<<1024, 256>>>(b, size_t(n) * k, 2);
    using Stride = typename Gemm::GemmKernel::StrideA;
    Stride rows_a{k, _1{}, 0}, rows_b{k, _1{}, 0};
    typename Gemm::GemmKernel::StrideD rows_c{n, _1{}, 0};
    cutlass::KernelHardwareInfo device;
    device.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(0);
    typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k, 1}, {a, rows_a, b, rows_b},
                                       {{1.f, 0.f}, nullptr, {}, c, rows_c}, device};
    Gemm gemm;
    void *workspace = nullptr;
    CHECK(cudaMalloc(&workspace, std::max<size_t>(1, Gemm::get_workspace_size(arguments))));
    CHECK(gemm.can_implement(arguments));
    CHECK(gemm.initialize(arguments, workspace));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int i = 0; i < 60; i++) {
        CHECK(cudaEventRecord(start));
        CHECK(gemm.run());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 10) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    double ms = times[times.size() / 2];
    std::printf("CUTLASS 3 128x256x64 2x1 cooperative  %.4f ms  %.1f TFLOP/s\n", ms, 2.0 * m * n * k / ms / 1e9);
    return 0;
}
