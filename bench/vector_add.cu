// The same kernel as kernels/vector_add/vector_add.mlir, for nvcc.
extern "C" __global__ void __launch_bounds__(256) vector_add(const float *__restrict__ a, const float *__restrict__ b,
                                                             float *__restrict__ c, long long n)
{
    long long i = 4 * (256LL * blockIdx.x + threadIdx.x);
    if (i + 4 <= n) {
        float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i);
        *(float4 *)(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (; i < n; i++) c[i] = a[i] + b[i];
    }
}
