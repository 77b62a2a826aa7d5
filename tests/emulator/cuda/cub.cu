// The blocks of CUB: radix sort, scan with a prefix, reduction, histogram, exchange, run lengths by discontinuities.
#include <cub/cub.cuh>

extern "C" __global__ void __launch_bounds__(128) sort(const unsigned *keys, const float *values, unsigned *out, float *moved) {
    using Load = cub::BlockLoad<unsigned, 128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 8, float>;
    using Store = cub::BlockStore<unsigned, 128, 8, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union { typename Load::TempStorage load; typename Sort::TempStorage sort; typename Store::TempStorage store; } t;
    unsigned k[8];
    float v[8];
    int base = blockIdx.x * 1024;
    Load(t.load).Load(keys + base, k);
    for (int i = 0; i < 8; i++) v[i] = values[base + threadIdx.x * 8 + i];
    __syncthreads();
    Sort(t.sort).SortDescending(k, v);
    __syncthreads();
    Store(t.store).Store(out + base, k);
    for (int i = 0; i < 8; i++) moved[base + threadIdx.x * 8 + i] = v[i];
}

struct Prefix {
    long long running;
    __device__ long long operator()(long long sum) { long long old = running; running += sum; return old; }
};

extern "C" __global__ void __launch_bounds__(96) scans(const int *in, long long *sums, int *heads, int *histogram, int n) {
    using Scan = cub::BlockScan<long long, 96, cub::BLOCK_SCAN_WARP_SCANS>;
    using Heads = cub::BlockDiscontinuity<int, 96>;
    using Histogram = cub::BlockHistogram<unsigned char, 96, 4, 64, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ union { typename Scan::TempStorage scan; typename Heads::TempStorage heads; typename Histogram::TempStorage h; } t;
    __shared__ int bins[64];
    Prefix prefix{0};
    Histogram(t.h).InitHistogram(bins);
    for (int base = 0; base < n; base += 96 * 4) {
        int x[4], flags[4];
        long long s[4];
        unsigned char c[4];
        for (int i = 0; i < 4; i++) {
            int at = base + threadIdx.x * 4 + i;
            x[i] = at < n ? in[at] : 0;
            s[i] = x[i];
            c[i] = x[i] & 63;
        }
        __syncthreads();
        Scan(t.scan).InclusiveSum(s, s, prefix);
        __syncthreads();
        Heads(t.heads).FlagHeads(flags, x, cuda::std::not_equal_to<int>());
        __syncthreads();
        Histogram(t.h).Composite(c, bins);
        for (int i = 0; i < 4; i++) {
            int at = base + threadIdx.x * 4 + i;
            if (at < n) sums[at] = s[i], heads[at] = flags[i];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += 96) histogram[i] = bins[i];
}

extern "C" __global__ void __launch_bounds__(64) warps(const float *in, float *out, int *order) {
    using Reduce = cub::WarpReduce<float>;
    using Sort = cub::WarpMergeSort<int, 4, 32>;
    using Block = cub::BlockReduce<float, 64, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage t[2];
    __shared__ typename Sort::TempStorage s[2];
    __shared__ typename Block::TempStorage b;
    int warp = threadIdx.x / 32;
    float x = in[threadIdx.x], sum = Reduce(t[warp]).Sum(x), most = Reduce(t[warp]).Reduce(x, cuda::maximum<float>());
    float head = Reduce(t[warp]).HeadSegmentedSum(x, threadIdx.x % 5 == 0);
    float all = Block(b).Sum(x);
    int k[4];
    for (int i = 0; i < 4; i++) k[i] = (int)(in[(threadIdx.x * 4 + i) % 64] * 1000) * 7 % 1013;
    Sort(s[warp]).Sort(k, [](int a, int b) { return a < b; });
    for (int i = 0; i < 4; i++) order[threadIdx.x * 4 + i] = k[i];
    out[threadIdx.x] = threadIdx.x % 32 == 0 ? sum + most : head;
    if (threadIdx.x == 0) out[64] = all;
}
