/* What random programs are made of: the same source is CUDA C for nvcc, CUDA without headers for clang, and C++ for the
 * host, where one call stands for a thread. Nothing here depends on undefined behaviour of C: sums are of unsigned
 * numbers, counts of shifts are cut off, divisors and conversions are looked at. */
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#if defined(HOST)
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define DEV   static
#define CONST static const
#elif defined(__clang__)
#define __device__    __attribute__((device))
#define __constant__  __attribute__((constant))
#define DEV           static __device__
#define CONST         __constant__ const
#define KERNEL        extern "C" __attribute__((global)) void
#define TID           __nvvm_read_ptx_sreg_tid_x()
#define BLOCK         __nvvm_read_ptx_sreg_ctaid_x()
#define NTID          __nvvm_read_ptx_sreg_ntid_x()
#define SYNC()        __syncthreads()
#define SYNC_COUNT(p) (u32) __nvvm_bar0_popc(p)
#define SYNC_AND(p)   (u32) __nvvm_bar0_and(p)
#define SYNC_OR(p)    (u32) __nvvm_bar0_or(p)
#define SHARED        __attribute__((shared, aligned(16)))
#else
#define DEV           static __device__
#define CONST         __constant__ const
#define KERNEL        extern "C" __global__ void
#define TID           threadIdx.x
#define BLOCK         blockIdx.x
#define NTID          blockDim.x
#define SYNC()        __syncthreads()
#define SYNC_COUNT(p) (u32) __syncthreads_count(p)
#define SYNC_AND(p)   (u32) __syncthreads_and(p)
#define SYNC_OR(p)    (u32) __syncthreads_or(p)
#define SHARED        __shared__ __align__(16)
#endif
#define NOINLINE __attribute__((noinline))

#define DIVISION(T, W, least)                                                                                \
    DEV T quotient_##T(T a, T b)                                                                             \
    {                                                                                                        \
        return b == 0 ? (T)7 : a == (T)(least) && b == (T) - 1 ? a : (T)(a / b);                             \
    }                                                                                                        \
    DEV T remainder_##T(T a, T b)                                                                            \
    {                                                                                                        \
        return b == 0 ? (T)3 : a == (T)(least) && b == (T) - 1 ? (T)0 : (T)(a % b);                          \
    }
DIVISION(i8, u32, -128)
DIVISION(u8, u32, 255)
DIVISION(i16, u32, -32768)
DIVISION(u16, u32, 65535)
DIVISION(i32, u32, 0x80000000u)
DIVISION(u32, u32, 0xffffffffu)
DIVISION(i64, u64, 0x8000000000000000ull)
DIVISION(u64, u64, 0xffffffffffffffffull)

/* Floating point to integer where the value fits. */
#define CONVERSION(T, low, high)                                                                             \
    DEV T T##_of_f32(f32 x)                                                                                  \
    {                                                                                                        \
        return x >= (f32)(low) && x < (f32)(high) ? (T)x : (T)11;                                            \
    }                                                                                                        \
    DEV T T##_of_f64(f64 x)                                                                                  \
    {                                                                                                        \
        return x >= (f64)(low) && x < (f64)(high) ? (T)x : (T)13;                                            \
    }
CONVERSION(i8, -128, 127)
CONVERSION(u8, 0, 255)
CONVERSION(i16, -32768, 32767)
CONVERSION(u16, 0, 65535)
CONVERSION(i32, -2147483648.0, 2147483648.0)
CONVERSION(u32, 0, 4294967296.0)
CONVERSION(i64, -9223372036854775808.0, 9223372036854775808.0)
CONVERSION(u64, 0, 18446744073709551616.0)

/* Bits, with one NaN for all: which one an operation gives differs between processors. */
DEV u32 bits_f32(f32 x)
{
    union {
        f32 f;
        u32 u;
    } v;
    v.f = x;
    return x != x ? 0x7fc00000u : v.u;
}
DEV u64 bits_f64(f64 x)
{
    union {
        f64 f;
        u64 u;
    } v;
    v.f = x;
    return x != x ? 0x7ff8000000000000ull : v.u;
}
DEV f32 f32_of_bits(u32 x)
{
    union {
        f32 f;
        u32 u;
    } v;
    v.u = x;
    return v.f;
}
DEV f64 f64_of_bits(u64 x)
{
    union {
        f64 f;
        u64 u;
    } v;
    v.u = x;
    return v.f;
}

#if defined(HOST)
DEV f32 root_f32(f32 x)
{
    return sqrtf(x < 0 ? -x : x);
}
DEV f64 root_f64(f64 x)
{
    return sqrt(x < 0 ? -x : x);
}
DEV f32 fma_f32(f32 a, f32 b, f32 c)
{
    return fmaf(a, b, c);
}
DEV f64 fma_f64(f64 a, f64 b, f64 c)
{
    return fma(a, b, c);
}
#elif defined(__clang__)
DEV f32 root_f32(f32 x)
{
    return __nvvm_sqrt_rn_f(x < 0 ? -x : x);
}
DEV f64 root_f64(f64 x)
{
    return __nvvm_sqrt_rn_d(x < 0 ? -x : x);
}
DEV f32 fma_f32(f32 a, f32 b, f32 c)
{
    return __builtin_fmaf(a, b, c);
}
DEV f64 fma_f64(f64 a, f64 b, f64 c)
{
    return __builtin_fma(a, b, c);
}
#else
DEV f32 root_f32(f32 x)
{
    return sqrtf(x < 0 ? -x : x);
}
DEV f64 root_f64(f64 x)
{
    return sqrt(x < 0 ? -x : x);
}
DEV f32 fma_f32(f32 a, f32 b, f32 c)
{
    return fmaf(a, b, c);
}
DEV f64 fma_f64(f64 a, f64 b, f64 c)
{
    return fma(a, b, c);
}
#endif

/* Instructions with a name of their own: on the host by definition. */
#if !defined(HOST) && !defined(__clang__)
DEV u32 count_ones(u32 a)
{
    return __popc(a);
}
DEV u32 count_ones64(u64 a)
{
    return __popcll(a);
}
DEV u32 leading(u32 a)
{
    return __clz(a);
}
DEV u32 leading64(u64 a)
{
    return __clzll(a);
}
DEV u32 first_one(u32 a)
{
    return __ffs(a);
}
DEV u32 reverse(u32 a)
{
    return __brev(a);
}
DEV u64 reverse64(u64 a)
{
    return __brevll(a);
}
DEV u32 funnel_left(u32 a, u32 b, u32 n)
{
    return __funnelshift_l(a, b, n);
}
DEV u32 funnel_right_clamp(u32 a, u32 b, u32 n)
{
    return __funnelshift_rc(a, b, n);
}
DEV u32 permute(u32 a, u32 b, u32 s)
{
    return __byte_perm(a, b, s & 0x7777);
}
DEV i32 dot4(u32 a, u32 b, i32 c)
{
    return __dp4a((int)a, (int)b, c);
}
DEV u32 udot2_high(u32 a, u32 b, u32 c)
{
    return __dp2a_hi(a, b, c);
}
DEV i32 high_product(i32 a, i32 b)
{
    return __mulhi(a, b);
}
DEV u64 high_product64(u64 a, u64 b)
{
    return __umul64hi(a, b);
}
DEV i32 product24(i32 a, i32 b)
{
    return __mul24(a, b);
}
DEV u32 distance(i32 a, i32 b, u32 c)
{
    return __sad(a, b, c);
}
DEV i32 middle(i32 a, i32 b)
{
    return __hadd(a, b);
}
#else
DEV u32 count_ones64(u64 a)
{
#if defined(HOST)
    u32 n = 0;
    for (; a; a >>= 1) n += (u32)(a & 1);
    return n;
#else
    return (u32)__builtin_popcountll(a);
#endif
}
DEV u32 count_ones(u32 a)
{
    return count_ones64(a);
}
DEV u32 leading(u32 a)
{
    u32 n = 0;
    for (; n < 32 && !(a >> (31 - n) & 1); n++) continue;
    return n;
}
DEV u32 leading64(u64 a)
{
    return a >> 32 ? leading((u32)(a >> 32)) : 32 + leading((u32)a);
}
DEV u32 first_one(u32 a)
{
    return a ? 32 - leading(a & (0 - a)) : 0;
}
DEV u32 reverse(u32 a)
{
    u32 r = 0;
    for (int n = 0; n < 32; n++) r |= (a >> n & 1) << (31 - n);
    return r;
}
DEV u64 reverse64(u64 a)
{
    return (u64)reverse((u32)a) << 32 | reverse((u32)(a >> 32));
}
DEV u32 funnel_left(u32 a, u32 b, u32 n)
{
    return (u32)((((u64)b << 32 | a) << (n & 31)) >> 32);
}
DEV u32 funnel_right_clamp(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)b << 32 | a) >> (n < 32 ? n : 32));
}
DEV u32 permute(u32 a, u32 b, u32 s)
{
    u64 v = (u64)b << 32 | a;
    u32 r = 0;
    for (int n = 0; n < 4; n++) r |= (u32)(v >> ((s >> (4 * n) & 7) * 8) & 255) << (8 * n);
    return r;
}
DEV i32 dot4(u32 a, u32 b, i32 c)
{
    u32 r = (u32)c;
    for (int n = 0; n < 32; n += 8) r += (u32)((i32)(i8)(a >> n) * (i32)(i8)(b >> n));
    return (i32)r;
}
DEV u32 udot2_high(u32 a, u32 b, u32 c)
{
    return c + (a & 0xffff) * (b >> 16 & 255) + (a >> 16) * (b >> 24);
}
DEV i32 high_product(i32 a, i32 b)
{
    return (i32)((i64)a * b >> 32);
}
DEV u64 high_product64(u64 a, u64 b)
{
    return (u64)((unsigned __int128)a * b >> 64);
}
DEV i32 product24(i32 a, i32 b)
{
    i32 x = (i32)((u32)a << 8) >> 8, y = (i32)((u32)b << 8) >> 8;
    return (i32)(u32)(u64)((i64)x * y);
}
DEV u32 distance(i32 a, i32 b, u32 c)
{
    return c + (a > b ? (u32)a - (u32)b : (u32)b - (u32)a);
}
DEV i32 middle(i32 a, i32 b)
{
    return (i32)(((i64)a + b) >> 1);
}
#endif

/* Sums in other directions. */
#if !defined(HOST) && !defined(__clang__)
DEV f32 sum_down(f32 a, f32 b)
{
    return __fadd_rd(a, b);
}
DEV f32 product_zero(f32 a, f32 b)
{
    return __fmul_rz(a, b);
}
DEV f64 sum_up(f64 a, f64 b)
{
    return __dadd_ru(a, b);
}
#elif defined(__clang__)
DEV f32 sum_down(f32 a, f32 b)
{
    return __nvvm_add_rm_f(a, b);
}
DEV f32 product_zero(f32 a, f32 b)
{
    return __nvvm_mul_rz_f(a, b);
}
DEV f64 sum_up(f64 a, f64 b)
{
    return __nvvm_add_rp_d(a, b);
}
#else
#define DIRECTED(name, T, op, mode)                                                                          \
    DEV NOINLINE T name(T a, T b)                                                                            \
    {                                                                                                        \
        volatile T x = a, y = b;                                                                             \
        fesetround(mode);                                                                                    \
        volatile T r = x op y;                                                                               \
        fesetround(FE_TONEAREST);                                                                            \
        return r;                                                                                            \
    }
DIRECTED(sum_down, f32, +, FE_DOWNWARD)
DIRECTED(product_zero, f32, *, FE_TOWARDZERO)
DIRECTED(sum_up, f64, +, FE_UPWARD)
#endif

#if !defined(HOST)
/* Lanes that the warp of a thread has: the last one of a block may have fewer. */
DEV u32 whole_warp(void)
{
    u32 rest = NTID - (TID & ~31u);
    return rest >= 32 ? 0xffffffffu : (1u << rest) - 1;
}
#if defined(__clang__)
DEV u32 ballot(u32 m, bool p)
{
    return __nvvm_vote_ballot_sync(m, p);
}
DEV bool any(u32 m, bool p)
{
    return __nvvm_vote_any_sync(m, p);
}
DEV bool all(u32 m, bool p)
{
    return __nvvm_vote_all_sync(m, p);
}
DEV u32 shuffle(u32 m, u32 v, u32 l, u32 w)
{
    return (u32)__nvvm_shfl_sync_idx_i32(m, (i32)v, (i32)l, (i32)((32 - w) << 8 | 31));
}
DEV u32 shuffle_up(u32 m, u32 v, u32 n, u32 w)
{
    return (u32)__nvvm_shfl_sync_up_i32(m, (i32)v, (i32)n, (i32)((32 - w) << 8));
}
DEV u32 shuffle_down(u32 m, u32 v, u32 n, u32 w)
{
    return (u32)__nvvm_shfl_sync_down_i32(m, (i32)v, (i32)n, (i32)((32 - w) << 8 | 31));
}
DEV u32 shuffle_xor(u32 m, u32 v, u32 n, u32 w)
{
    return (u32)__nvvm_shfl_sync_bfly_i32(m, (i32)v, (i32)n, (i32)((32 - w) << 8 | 31));
}
DEV u32 reduce_add(u32 m, u32 v)
{
    return (u32)__nvvm_redux_sync_add((i32)v, (i32)m);
}
DEV u32 reduce_max(u32 m, u32 v)
{
    return (u32)__nvvm_redux_sync_umax(v, (i32)m);
}
DEV u32 reduce_smin(u32 m, u32 v)
{
    return (u32)__nvvm_redux_sync_min((i32)v, (i32)m);
}
DEV u32 reduce_xor(u32 m, u32 v)
{
    return (u32)__nvvm_redux_sync_xor((i32)v, (i32)m);
}
DEV u32 match(u32 m, u32 v)
{
    return (u32)__nvvm_match_any_sync_i32(m, v);
}
DEV void warp_sync(u32 m)
{
    __nvvm_bar_warp_sync(m);
}
DEV u32 atomic_add(u32 *p, u32 v)
{
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
DEV u64 atomic_add64(u64 *p, u64 v)
{
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
DEV u32 atomic_max(u32 *p, u32 v)
{
    return __nvvm_atom_max_gen_ui(p, v);
}
DEV u32 atomic_smin(u32 *p, u32 v)
{
    return (u32)__nvvm_atom_min_gen_i((i32 *)p, (i32)v);
}
DEV u32 atomic_or(u32 *p, u32 v)
{
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
DEV u32 atomic_and(u32 *p, u32 v)
{
    return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
}
DEV u32 atomic_xor(u32 *p, u32 v)
{
    return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}
DEV u32 atomic_inc(u32 *p, u32 v)
{
    return __nvvm_atom_inc_gen_ui(p, v);
}
DEV f32 atomic_addf(f32 *p, f32 v)
{
    return __nvvm_atom_add_gen_f(p, v);
}
DEV u32 atomic_cas(u32 *p, u32 a, u32 b)
{
    return (u32)__nvvm_atom_cas_gen_i((i32 *)p, (i32)a, (i32)b);
}
#else
DEV u32 ballot(u32 m, bool p)
{
    return __ballot_sync(m, p);
}
DEV bool any(u32 m, bool p)
{
    return __any_sync(m, p);
}
DEV bool all(u32 m, bool p)
{
    return __all_sync(m, p);
}
DEV u32 shuffle(u32 m, u32 v, u32 l, u32 w)
{
    return __shfl_sync(m, v, l, w);
}
DEV u32 shuffle_up(u32 m, u32 v, u32 n, u32 w)
{
    return __shfl_up_sync(m, v, n, w);
}
DEV u32 shuffle_down(u32 m, u32 v, u32 n, u32 w)
{
    return __shfl_down_sync(m, v, n, w);
}
DEV u32 shuffle_xor(u32 m, u32 v, u32 n, u32 w)
{
    return __shfl_xor_sync(m, v, n, w);
}
DEV u32 reduce_add(u32 m, u32 v)
{
    return __reduce_add_sync(m, v);
}
DEV u32 reduce_max(u32 m, u32 v)
{
    return __reduce_max_sync(m, v);
}
DEV u32 reduce_smin(u32 m, u32 v)
{
    return (u32)__reduce_min_sync(m, (i32)v);
}
DEV u32 reduce_xor(u32 m, u32 v)
{
    return __reduce_xor_sync(m, v);
}
DEV u32 match(u32 m, u32 v)
{
    return __match_any_sync(m, v);
}
DEV void warp_sync(u32 m)
{
    __syncwarp(m);
}
DEV u32 atomic_add(u32 *p, u32 v)
{
    return atomicAdd(p, v);
}
DEV u64 atomic_add64(u64 *p, u64 v)
{
    return atomicAdd(p, v);
}
DEV u32 atomic_max(u32 *p, u32 v)
{
    return atomicMax(p, v);
}
DEV u32 atomic_smin(u32 *p, u32 v)
{
    return (u32)atomicMin((i32 *)p, (i32)v);
}
DEV u32 atomic_or(u32 *p, u32 v)
{
    return atomicOr(p, v);
}
DEV u32 atomic_and(u32 *p, u32 v)
{
    return atomicAnd(p, v);
}
DEV u32 atomic_xor(u32 *p, u32 v)
{
    return atomicXor(p, v);
}
DEV u32 atomic_inc(u32 *p, u32 v)
{
    return atomicInc(p, v);
}
DEV f32 atomic_addf(f32 *p, f32 v)
{
    return atomicAdd(p, v);
}
DEV u32 atomic_cas(u32 *p, u32 a, u32 b)
{
    return atomicCAS(p, a, b);
}
#endif
/* The upper half of a word by compare-and-swap: threads of a warp that wait for each other. */
DEV void add_upper(u32 *p, u32 v)
{
    u32 seen = *(volatile u32 *)p, was;
    do {
        was = seen;
        seen = atomic_cas(p, was, (was & 0xffff) | (((was >> 16) + v) & 0xffff) << 16);
    } while (seen != was);
}
#endif
