// CUB's decoupled look-back over tiles of the grid: the state of a tile fits into one word (int), or is guarded by a flag
// of its own (pair).
#include <cub/cub.cuh>
struct pair { long long a, b; };
struct add { __host__ __device__ pair operator()(pair x, pair y) const { return {x.a + y.a, x.b + y.b}; } };
template <class T, class Op> struct kit {
    using State = cub::ScanTileState<T>;
    using Prefix = cub::TilePrefixCallbackOp<T, Op, State>;
    using Scan = cub::BlockScan<T, 128>;
};
template <class T, class Op> __device__ void init(void *temp, int tiles) {
    typename kit<T, Op>::State s;
    size_t bytes = 0;
    s.AllocationSize(tiles, bytes);
    s.Init(tiles, temp, bytes);
    s.InitializeStatus(tiles);
}
template <class T, class Op> __device__ void run(void *temp, int tiles, T *x) {
    using K = kit<T, Op>;
    __shared__ union { typename K::Scan::TempStorage scan; } t;
    __shared__ typename K::Prefix::TempStorage p;
    typename K::State s;
    size_t bytes = 0;
    s.AllocationSize(tiles, bytes);
    s.Init(tiles, temp, bytes);
    T v = x[blockIdx.x * 128 + threadIdx.x], total;
    if (blockIdx.x == 0) {
        typename K::Scan(t.scan).InclusiveScan(v, v, Op(), total);
        if (threadIdx.x == 0) s.SetInclusive(0, total);
    } else {
        typename K::Prefix prefix(s, p, Op(), blockIdx.x);
        typename K::Scan(t.scan).InclusiveScan(v, v, Op(), prefix);
    }
    x[blockIdx.x * 128 + threadIdx.x] = v;
}
extern "C" __global__ void init_int(void *temp, int tiles) { init<int, cuda::std::plus<int>>(temp, tiles); }
extern "C" __global__ void init_pair(void *temp, int tiles) { init<pair, add>(temp, tiles); }
extern "C" __global__ void scan_int(void *temp, int tiles, int *x) { run<int, cuda::std::plus<int>>(temp, tiles, x); }
extern "C" __global__ void scan_pair(void *temp, int tiles, pair *x) { run<pair, add>(temp, tiles, x); }
