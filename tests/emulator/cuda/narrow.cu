// Narrow floats: conversions to and from fp8, bf16, half, their packed arithmetic and comparisons.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

extern "C" __global__ void fp8(const float *in, uint8_t *e4m3, uint8_t *e5m2, uint16_t *pairs, float *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    e4m3[i] = __nv_fp8_e4m3(in[i]).__x;
    e5m2[i] = __nv_fp8_e5m2(in[i]).__x;
    pairs[i] = __nv_cvt_float2_to_fp8x2(make_float2(in[i], -in[i]), __NV_NOSAT, __NV_E4M3);
    __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(pairs[i], __NV_E4M3);
    __nv_fp8_e5m2 five;
    five.__x = e5m2[i];
    back[i] = __half2float(__ushort_as_half(h.x)) + float(five);
}

extern "C" __global__ void halves(const half2 *x, const half2 *y, half2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half2 a = x[i], b = y[i], *o = out + 12 * i;
    o[0] = __hfma2(a, b, a);
    o[1] = __hadd2_sat(a, b);
    o[2] = __hmul2(a, b);
    o[3] = __h2div(a, b);
    o[4] = __hmax2(a, b);
    o[5] = __hmin2_nan(a, b);
    o[6] = __hgt2(a, b);
    o[7] = h2exp2(a);
    o[8] = h2sqrt(__habs2(a));
    o[9] = __hfma2_relu(a, b, b);
    o[10] = __halves2half2(hrint(a.x), hfloor(a.y));
    o[11] = __floats2half2_rn(__half2float(a.x) * 3, (float)__half2int_rz(b.y));
}

extern "C" __global__ void brains(const __nv_bfloat162 *x, const __nv_bfloat162 *y, __nv_bfloat162 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat162 a = x[i], b = y[i], *o = out + 8 * i;
    o[0] = __hfma2(a, b, a);
    o[1] = __hadd2(a, b);
    o[2] = __hmul2(a, b);
    o[3] = __hmax2_nan(a, b);
    o[4] = __hneg2(__hsub2(a, b));
    o[5] = __hle2(a, b);
    o[6] = __floats2bfloat162_rn(__bfloat162float(a.x) / 3, __bfloat162float(a.y) * 1e-3f);
    o[7] = __hfma2_relu(a, b, b);
}
