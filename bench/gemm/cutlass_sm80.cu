// The peer of the sm_80 GEMMs: CUTLASS 2's tensor-op kernels and cuBLAS, f16 in, f32 accumulators, f16 out.
//   nvcc -std=c++17 -O3 -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=sm_90a \
//        -I CUTLASS/include -o cutlass_sm80 cutlass_sm80.cu -lcublas
//   cutlass_sm80 M N K    prints a line a kernel: name, ms (median of 50 launches, events), TFLOP/s
// A is M-major, B is N-major, C is N-major, as kernels of CuTe's ampere/tensorop_gemm have them ("tn" lines: A and B K-major).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublas_v2.h>
#include <cuda_fp16.h>

#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        auto status_ = (call);                                                                               \
        if (status_ != decltype(status_)(0)) {                                                               \
            std::fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, int(status_));         \
            std::exit(3);                                                                                    \
        }                                                                                                    \
    } while (0)

using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

template <class LayoutA, class LayoutB, int M, int N, int K, int WarpM, int WarpN, int Stages>
using Kernel = cutlass::gemm::device::Gemm<
    Half, LayoutA, Half, LayoutB, Half, Row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<M, N, K>, cutlass::gemm::GemmShape<WarpM, WarpN, K>,
    cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<Half, 8, float, float,
                                                 cutlass::epilogue::thread::ScaleType::OnlyAlphaScaling>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, Stages>;

static int m, n, k;
static __half *a, *b, *c, *reference;

__global__ void fill(__half *p, size_t count, unsigned seed)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
         i += size_t(gridDim.x) * blockDim.x) {
        unsigned x = unsigned(i) * 2654435761u ^ seed;
        x ^= x >> 15, x *= 2246822519u, x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
        p[i] = __float2half(float(x) / 4294967296.f - 0.5f);
    }
}

template <class Launch> static double median_ms(Launch launch)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int i = 0; i < 60; i++) {
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 10) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static void report(const char *name, double ms)
{
    std::printf("%-34s %9.4f ms %8.1f TFLOP/s\n", name, ms, 2e-9 * m * n * k / ms);
}

// Norm of the difference to cuBLAS's result over its norm.
static double difference()
{
    std::vector<__half> x(size_t(m) * n), y(size_t(m) * n);
    CHECK(cudaMemcpy(x.data(), c, x.size() * 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(y.data(), reference, y.size() * 2, cudaMemcpyDeviceToHost));
    double d = 0, s = 0;
    for (size_t i = 0; i < x.size(); i++) {
        double u = __half2float(x[i]), v = __half2float(y[i]);
        d += (u - v) * (u - v), s += v * v;
    }
    return std::sqrt(d / s);
}

template <class Gemm, class LayoutA, class LayoutB> static void run(const char *name)
{
    int lda = std::is_same<LayoutA, Row>::value ? k : m, ldb = std::is_same<LayoutB, Row>::value ? n : k;
    Gemm gemm;
    typename Gemm::Arguments arguments({m, n, k}, {(Half *)a, lda}, {(Half *)b, ldb}, {(Half *)c, n},
                                       {(Half *)c, n}, {1.f, 0.f});
    CHECK(gemm.initialize(arguments));
    CHECK(cudaMemset(c, 0xff, size_t(m) * n * 2));
    CHECK(gemm());
    double error = difference();
    if (!(error < 2e-3)) {
        std::fprintf(stderr, "%s is wrong: %g\n", name, error);
        std::exit(4);
    }
    report(name, median_ms([&] { gemm(); }));
}

template <class LayoutA, class LayoutB> static void layouts(cublasHandle_t handle, const char *prefix)
{
    bool a_k = std::is_same<LayoutA, Row>::value, b_k = std::is_same<LayoutB, Column>::value;
    float one = 1, zero = 0;
    // C (M x N, row major) is C^T (N x M, column major) = B^T A^T.
    auto cublas = [&](__half *out) {
        CHECK(cublasGemmEx(handle, b_k ? CUBLAS_OP_T : CUBLAS_OP_N, a_k ? CUBLAS_OP_N : CUBLAS_OP_T, n, m, k, &one, b,
                           CUDA_R_16F, b_k ? k : n, a, CUDA_R_16F, a_k ? k : m, &zero, out, CUDA_R_16F, n,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    };
    cublas(reference);
    char name[64];
#define RUN(M, N, K, WM, WN, S)                                                                              \
    std::snprintf(name, sizeof name, "%s cutlass %dx%dx%d warp %dx%d x%d", prefix, M, N, K, WM, WN, S);      \
    run<Kernel<LayoutA, LayoutB, M, N, K, WM, WN, S>, LayoutA, LayoutB>(name)
    RUN(128, 128, 32, 64, 64, 3);
    RUN(128, 128, 32, 64, 64, 4);
    RUN(128, 256, 32, 64, 64, 3);
    RUN(256, 128, 32, 64, 64, 3);
    RUN(128, 128, 64, 64, 64, 3);
    std::snprintf(name, sizeof name, "%s cublas", prefix);
    report(name, median_ms([&] { cublas(c); }));
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: cutlass_sm80 M N K\n");
        return 2;
    }
    m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
    CHECK(cudaMalloc(&a, size_t(m) * k * 2));
    CHECK(cudaMalloc(&b, size_t(n) * k * 2));
    CHECK(cudaMalloc(&c, size_t(m) * n * 2));
    CHECK(cudaMalloc(&reference, size_t(m) * n * 2));
    fill<<<512, 256>>>(a, size_t(m) * k, 1);
    fill<<<512, 256>>>(b, size_t(n) * k, 2);
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    layouts<Column, Row>(handle, "nt");
    layouts<Row, Column>(handle, "tn");
    return 0;
}
