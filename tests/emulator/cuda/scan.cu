// An inclusive scan of a whole array in one pass: blocks take tickets, publish their sum and look back at the blocks
// before them until one has published its prefix (decoupled look-back).
struct __align__(8) State {
    int flag;  // 0 nothing, 1 sum of the block, 2 inclusive prefix
    int value;
};

__device__ int scan_warp(int x) {
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(~0u, x, d);
        if (threadIdx.x % 32 >= d) x += y;
    }
    return x;
}

extern "C" __global__ void scan(const int *in, int *out, unsigned long long *states, int *ticket, int n) {
    __shared__ int block, before, warps[32];
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    int i = block * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int x = scan_warp(i < n ? in[i] : 0);
    if (lane == 31) warps[warp] = x;
    __syncthreads();
    if (warp == 0) {
        int w = scan_warp(lane < blockDim.x / 32 ? warps[lane] : 0);
        warps[lane] = w;
    }
    __syncthreads();
    if (warp) x += warps[warp - 1];
    int sum = warps[blockDim.x / 32 - 1];
    if (threadIdx.x == 0) {
        union { State s; unsigned long long word; } mine;
        mine.s = State{block ? 1 : 2, sum};
        atomicExch(&states[block], mine.word);
        int prefix = 0;
        for (int b = block - 1; b >= 0; b--) {
            union { State s; unsigned long long word; } other;
            do other.word = atomicAdd(&states[b], 0ull);
            while (!other.s.flag);
            prefix += other.s.value;
            if (other.s.flag == 2) break;
        }
        mine.s = State{2, prefix + sum};
        atomicExch(&states[block], mine.word);
        before = prefix;
    }
    __syncthreads();
    if (i < n) out[i] = before + x;
}
