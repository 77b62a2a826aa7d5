/* More values than registers: at most 32 of a thread (__launch_bounds__). Cured: as many as it wants. */
#include "cuda.h"
template <int N> __device__ static inline void work(const float *a, float *out, int n)
{
    float v[N];
    int i = bid * ntid + tid;
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = a[i + k * n];
    for (int r = 0; r < n; r++) {
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = v[k] * v[(k + 7) % N] + v[(k * 3 + 1) % N]; // FIND spill
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < N; k++) sum += v[k];
    out[i] = sum;
}
extern "C" __global__ void __attribute__((launch_bounds(256, 8))) slow(const float *a, float *out, int n) { work<48>(a, out, n); }
extern "C" __global__ void __attribute__((launch_bounds(256))) cured(const float *a, float *out, int n) { work<48>(a, out, n); }
