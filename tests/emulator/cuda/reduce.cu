// Sums of a block and of a grid by shuffles: each warp by __shfl_xor_sync, the warps of a block through shared memory,
// the blocks by an atomic. Integers by __reduce_*_sync as well.
__device__ float warp_sum(float x) {
    for (int lane = 16; lane; lane >>= 1) x += __shfl_xor_sync(~0u, x, lane);
    return x;
}

extern "C" __global__ void reduce(const float *in, const int *keys, float *sums, int *total, unsigned *bits, int n) {
    __shared__ float warps[32];
    float x = 0;
    int key = 0;
    unsigned all = ~0u, any = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        x += in[i];
        key += keys[i];
        all &= keys[i];
        any |= keys[i];
    }
    x = warp_sum(x);
    key = __reduce_add_sync(~0u, key);
    all = __reduce_and_sync(~0u, all);
    any = __reduce_or_sync(~0u, any);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) {
        warps[warp] = x;
        atomicAdd(total, key);
        atomicAnd(&bits[0], all);
        atomicOr(&bits[1], any);
        atomicMax((int *)&bits[2], key);
        atomicMin((int *)&bits[3], key);
    }
    __syncthreads();
    if (warp == 0) {
        x = warp_sum(lane < blockDim.x / 32 ? warps[lane] : 0.0f);
        if (lane == 0) sums[blockIdx.x] = x;
    }
}
