// Ways to order memory without a barrier of all: flags, locks, tickets, trees of counters, named barriers, semaphores,
// latches, rings in shared memory. All are right, so checks have nothing to say.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
namespace cg = cooperative_groups;

// Stream-K: blocks share the work of tiles; who does not own a tile leaves a partial sum, the owner waits for it.
extern "C" __global__ void stream_k(const int *in, int *out, int *partial, int *flags, int tiles, int depth) {
    int total = tiles * depth, each = (total + gridDim.x - 1) / gridDim.x;
    int begin = blockIdx.x * each, end = min(begin + each, total), t = threadIdx.x;
    for (int at = end; at > begin;) {
        int tile = (at - 1) / depth, first = max(begin, tile * depth), sum = 0;
        for (int k = first; k < at; k++) sum += in[k * blockDim.x + t];
        if (first > tile * depth) { // the tile began in a block before
            partial[blockIdx.x * blockDim.x + t] = sum;
            __syncthreads();
            if (t == 0) {
                cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[blockIdx.x]);
                flag.store(1, cuda::memory_order_release);
            }
        } else {
            for (int other = blockIdx.x + 1; other * each < (tile + 1) * depth; other++) {
                if (t == 0) {
                    cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[other]);
                    int ready;
                    do ready = flag.load(cuda::memory_order_acquire);
                    while (!ready);
                }
                __syncthreads();
                sum += partial[other * blockDim.x + t];
            }
            out[tile * blockDim.x + t] = sum;
        }
        at = first;
    }
}

// The turnstile of GEMMs that split K: blocks add to the same tile in the order of their numbers.
extern "C" __global__ void in_turn(int *out, int *turn) {
    if (threadIdx.x == 0) {
        while (*(volatile int *)turn != (int)blockIdx.x) {}
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    __syncthreads();
    out[threadIdx.x] = out[threadIdx.x] * 3 + blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(turn, 1);
}

// A lock by every thread, and one by one thread of each block for all.
extern "C" __global__ void locks(int *lock, int *sums) {
    for (bool done = false; !done;) {
        if (atomicCAS(&lock[0], 0, 1) == 0) {
            __threadfence();
            sums[0] += threadIdx.x;
            sums[1]++;
            __threadfence();
            atomicExch(&lock[0], 0);
            done = true;
        }
    }
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock[1], 0, 1) != 0) {}
        __threadfence();
    }
    __syncthreads();
    sums[2 + threadIdx.x] += blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> held(lock[1]);
        held.store(0, cuda::memory_order_release);
    }
}

// A tree: of two children the one that comes last goes on to the parent.
extern "C" __global__ void tree(const int *in, int *nodes, int *visits, int leaves) {
    int leaf = blockIdx.x * blockDim.x + threadIdx.x;
    if (leaf >= leaves) return;
    int node = leaves - 1 + leaf;
    nodes[node] = in[leaf];
    while (node > 0) {
        node = (node - 1) / 2;
        __threadfence();
        if (atomicAdd(&visits[node], 1) == 0) return;
        __threadfence();
        nodes[node] = nodes[2 * node + 1] + nodes[2 * node + 2];
    }
}

// The last block sums what all left, as in the programming guide.
extern "C" __global__ void last_block(const int *in, int *sums, unsigned *count, int *out) {
    __shared__ int s[128];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    for (int k = 64; k > 0; k /= 2) {
        __syncthreads();
        if (t < k) s[t] += s[t + k];
    }
    if (t == 0) {
        sums[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (int b = t; b < gridDim.x; b += blockDim.x) sum += sums[b];
    for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t == 0) *out = s[0] + s[1] + s[2] + s[3];
}

// Tickets: who comes takes the next piece of work; the number goes through shared memory.
extern "C" __global__ void tickets(int *next, int *out, int pieces) {
    __shared__ int piece[2];
    for (int turn = 0;; turn ^= 1) {
        if (threadIdx.x == 0) piece[turn] = atomicAdd(next, 1);
        __syncthreads();
        int mine = piece[turn];
        if (mine >= pieces) break;
        out[mine * blockDim.x + threadIdx.x] = mine + threadIdx.x;
    }
}

// Warps in pairs: one fills a slot, the other empties it, by named barriers of 64 threads.
extern "C" __global__ void named(const int *in, int *out, int rounds) {
    __shared__ int slot[4][32];
    int lane = threadIdx.x % 32, pair = threadIdx.x / 64, full = 1 + 2 * pair, empty = 2 + 2 * pair;
    bool fills = threadIdx.x / 32 % 2 == 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        int at = (blockIdx.x * rounds + r) * 64 + pair * 32 + lane;
        if (fills) {
            if (r > 0) asm volatile("barrier.cta.sync %0, 64;" ::"r"(empty) : "memory");
            slot[pair][31 - lane] = in[at];
            asm volatile("barrier.cta.arrive %0, 64;" ::"r"(full) : "memory");
        } else {
            asm volatile("barrier.cta.sync %0, 64;" ::"r"(full) : "memory");
            out[at] = slot[pair][lane] + r;
            if (r + 1 < rounds) asm volatile("barrier.cta.arrive %0, 64;" ::"r"(empty) : "memory");
        }
    }
}

// A ring in shared memory between two warps with head and tail as atomics of the block.
extern "C" __global__ void ring(const int *in, int *out, int count) {
    __shared__ int data[8];
    __shared__ cuda::atomic<int, cuda::thread_scope_block> head, tail;
    if (threadIdx.x == 0) {
        head.store(0, cuda::memory_order_relaxed);
        tail.store(0, cuda::memory_order_relaxed);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int n = 0; n < count; n++) {
            while (n - tail.load(cuda::memory_order_acquire) == 8) {}
            data[n % 8] = in[blockIdx.x * count + n];
            head.store(n + 1, cuda::memory_order_release);
        }
    } else if (threadIdx.x == 32) {
        for (int n = 0; n < count; n++) {
            while (head.load(cuda::memory_order_acquire) == n) {}
            out[blockIdx.x * count + n] = 2 * data[n % 8];
            tail.store(n + 1, cuda::memory_order_release);
        }
    }
}

// A hash table: a key is taken by an exchange, its count goes up by atomics; the slots are read behind a grid barrier.
extern "C" __global__ void table(const int *in, int *keys, int *counts, int *out, int n, int slots) {
    auto grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
        int key = in[i], at = key * 7 % slots;
        for (;; at = (at + 1) % slots) {
            int old = atomicCAS(&keys[at], -1, key);
            if (old == -1 || old == key) break;
        }
        atomicAdd(&counts[at], 1);
    }
    grid.sync();
    for (int i = grid.thread_rank(); i < slots; i += grid.size())
        if (keys[i] >= 0) out[keys[i]] = counts[i];
}

// What the standard library has: latch, semaphore, a barrier of the block with a function behind it, fences.
extern "C" __global__ void library(const int *in, int *out) {
    using namespace cuda;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ alignas(8) char room[2][sizeof(binary_semaphore<thread_scope_block>) + 64];
    auto &ready = *reinterpret_cast<latch<thread_scope_block> *>(room[0]);
    auto &one = *reinterpret_cast<binary_semaphore<thread_scope_block> *>(room[1]);
    __shared__ barrier<thread_scope_block> turn;
    __shared__ atomic<int, thread_scope_block> published;
    __shared__ int x[64], total;
    int t = threadIdx.x;
    if (t == 0) {
        new (&ready) latch<thread_scope_block>(64);
        new (&one) binary_semaphore<thread_scope_block>(1);
        init(&turn, 64);
        published.store(0, memory_order_relaxed);
        total = 0;
    }
    __syncthreads();
    x[t] = in[blockIdx.x * 64 + t];
    ready.arrive_and_wait();
    int seen = x[63 - t];
    for (int lane = 0; lane < 32; lane++) {
        if (t % 32 == lane) {
            one.acquire();
            total += seen;
            one.release();
        }
    }
    turn.arrive_and_wait();
    int sum = total;
    turn.arrive_and_wait();
    if (t == 5) {
        x[0] = sum;
        atomic_thread_fence(memory_order_release, thread_scope_block);
        published.store(1, memory_order_relaxed);
    }
    if (t == 40) {
        while (published.load(memory_order_relaxed) == 0) {}
        atomic_thread_fence(memory_order_acquire, thread_scope_block);
        out[blockIdx.x] = x[0];
    }
}

// Within warps: rows of a tile by their warp alone, tiles of eight lanes, pairs that part and come together.
extern "C" __global__ void warps(const int *in, int *out) {
    __shared__ int tile[4][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, at = blockIdx.x * blockDim.x + threadIdx.x;
    auto eight = cg::tiled_partition<8>(cg::this_thread_block());
    tile[warp][lane] = in[at];
    __syncwarp();
    int x = tile[warp][lane ^ 31];
    __syncwarp();
    if (lane < 16) {
        tile[warp][lane] = x;
        __syncwarp(0x0000ffff);
        x += tile[warp][lane ^ 1];
    } else {
        tile[warp][lane] = x;
        __syncwarp(0xffff0000);
        x += tile[warp][lane ^ 8];
    }
    __syncwarp();
    tile[warp][lane] = x;
    eight.sync();
    x = tile[warp][lane / 8 * 8 + 7 - lane % 8];
    __syncwarp();
    if (eight.thread_rank() == 0) tile[warp][lane / 8] = x;
    __syncwarp();
    out[at] = tile[warp][lane / 8] - x;
}

// Bytes of one word: each is ordered on its own, whatever its neighbours do meanwhile.
extern "C" __global__ void bytes(const int *in, unsigned char *cells, int *out) {
    __shared__ unsigned char s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    for (int k = 0; k < 4; k++) cells[base + 4 * t + k] = s[4 * t + k] = in[base + 4 * t + k];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        int other = 4 * ((t + 5) % 64);
        sum += cells[base + other + k] + 3 * s[other + k];
        __syncthreads();
        cells[base + 4 * t + k] = s[4 * t + k] = k; // the others read the next byte by now
    }
    out[blockIdx.x * 64 + t] = sum;
}
