// Counts of bytes: each block in shared memory by atomics, one set of counts for every two warps, then added up.
extern "C" __global__ void histogram(const uchar4 *in, unsigned *counts, unsigned long long *weight, int n4) {
    __shared__ unsigned part[4][256];
    unsigned *flat = &part[0][0];
    for (int i = threadIdx.x; i < 4 * 256; i += blockDim.x) flat[i] = 0;
    __syncthreads();
    unsigned *mine = part[threadIdx.x / 64];
    unsigned long long w = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        uchar4 v = in[i];
        atomicAdd(&mine[v.x], 1);
        atomicAdd(&mine[v.y], 1);
        atomicAdd(&mine[v.z], 1);
        unsigned old = atomicInc(&mine[v.w], 0xffffffffu);
        w += v.x + 256ull * v.y + 65536ull * v.z + old * 0ull;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&counts[i], part[0][i] + part[1][i] + part[2][i] + part[3][i]);
    atomicAdd(weight, w);
}
