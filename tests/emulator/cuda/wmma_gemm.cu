// c = a b by nvcuda::wmma in four types; a warp owns a tile, operands by shared memory for f16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_f16(const half *a, const half *b, float *c, int m, int n, int k) {
    __shared__ __align__(32) half as[2][16][24], bs[2][16][24];
    int warp = threadIdx.y, row = (blockIdx.y * 2 + warp / 1) * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int p = 0; p < k; p += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            as[warp][i / 16][i % 16] = a[(row + i / 16) * k + p + i % 16];
            bs[warp][i / 16][i % 16] = b[(p + i % 16) * n + col + i / 16];
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, &as[warp][0][0], 24);
        wmma::load_matrix_sync(fb, &bs[warp][0][0], 24);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncwarp();
    }
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] > 0 ? fc.x[i] : 0;
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int m, int n, int k) {
    int row = blockIdx.y * 32, col = blockIdx.x * 8;
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int p = 0; p < k; p += 16) {
        wmma::load_matrix_sync(fa, a + row * k + p, k);
        wmma::load_matrix_sync(fb, b + p * n + col, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + col * m + row, fc, m, wmma::mem_col_major);
}

extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *c, int m, int n, int k) {
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    for (int p = 0; p < k; p += 8) {
        wmma::load_matrix_sync(fa, a + row * k + p, k);
        wmma::load_matrix_sync(fb, b + p * n + col, n);
        for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
        for (int i = 0; i < fb.num_elements; i++) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_s8(const signed char *a, const signed char *b, int *c, int m, int n, int k) {
    int row = blockIdx.y * 8, col = blockIdx.x * 32;
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    for (int p = 0; p < k; p += 16) {
        wmma::load_matrix_sync(fa, a + row * k + p, k);
        wmma::load_matrix_sync(fb, b + p * n + col, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_f64(const double *a, const double *b, double *c, int m, int n, int k) {
    int row = blockIdx.y * 8, col = blockIdx.x * 8;
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0);
    for (int p = 0; p < k; p += 4) {
        wmma::load_matrix_sync(fa, a + row * k + p, k);
        wmma::load_matrix_sync(fb, b + p * n + col, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}
