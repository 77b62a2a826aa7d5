// The functions of math.h in float and double (their slow paths use local memory and tables in .const), and the
// intrinsics whose rounding is said.
#include <cuda_fp16.h>

extern "C" __global__ void math_f32(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i], s, c;
    float *o = out + 32 * i;
    sincosf(a * 1e6f, &s, &c);
    o[0] = s, o[1] = c;
    o[2] = tanf(a), o[3] = expf(a), o[4] = logf(fabsf(a)), o[5] = powf(fabsf(a), b);
    o[6] = sinhf(a), o[7] = tanhf(a), o[8] = asinf(a / 100), o[9] = atan2f(a, b);
    o[10] = cbrtf(a), o[11] = erff(a), o[12] = lgammaf(a), o[13] = fmodf(a, b);
    o[14] = remainderf(a, b), o[15] = hypotf(a, b), o[16] = log1pf(fabsf(a)), o[17] = expm1f(a);
    o[18] = __fdiv_rn(a, b), o[19] = __fsqrt_rz(fabsf(a)), o[20] = __fmaf_ru(a, b, 1), o[21] = __frcp_rd(b);
    o[22] = rintf(a), o[23] = truncf(b), o[24] = ldexpf(a, 5), o[25] = nextafterf(a, b);
    o[26] = fdimf(a, b), o[27] = copysignf(a, b), o[28] = a / b, o[29] = sqrtf(fabsf(b));
    o[30] = j0f(a), o[31] = normcdff(a);
}

extern "C" __global__ void math_f64(const double *x, const double *y, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = x[i], b = y[i], whole;
    double *o = out + 16 * i;
    int e;
    o[0] = sin(a * 1e9), o[1] = exp(a), o[2] = log(fabs(a)), o[3] = pow(fabs(a), b);
    o[4] = atan2(a, b), o[5] = cbrt(a), o[6] = tgamma(fabs(a)), o[7] = fmod(a, b);
    o[8] = a / b, o[9] = sqrt(fabs(a)), o[10] = __fma_rd(a, b, 1.0), o[11] = __ddiv_ru(a, b);
    o[12] = frexp(a, &e) + e, o[13] = modf(b, &whole) + whole, o[14] = erfc(a), o[15] = rsqrt(fabs(b));
}

extern "C" __global__ void integers(const int *x, const long long *y, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = x[i];
    unsigned u = a;
    long long b = y[i];
    long long *o = out + 16 * i;
    o[0] = b / (a | 1), o[1] = b % (a | 1), o[2] = (unsigned long long)b / (u | 1), o[3] = __mulhi(a, (int)b);
    o[4] = __mul64hi(b, b), o[5] = __popcll(b) + 100 * __clz(a) + 10000 * __ffs(a), o[6] = __brevll(b);
    o[7] = __byte_perm(a, (int)b, 0x3715), o[8] = __funnelshift_l(a, (int)b, a), o[9] = __funnelshift_rc(a, (int)b, b);
    o[10] = __dp4a(a, (int)b, 7), o[11] = __dp2a_lo(a, (int)b, -7), o[12] = __sad(a, (int)b, u), o[13] = __hadd(a, (int)b);
    o[14] = a >> (b & 31) ^ b << (a & 63), o[15] = (int)(b % 1000) * (a % 1000) + abs(a) + max(a, (int)b);
}
