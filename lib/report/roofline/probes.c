/* PTX kernels that saturate one ceiling each. Loops have independent chains to hide latency; results are stored under a condition that
 * never holds, so that the compiler keeps them. */
#include "lib/report/roofline/calibrate.h"

enum { CHAINS = 8, ROUNDS = 8, WGMMAS = 8, VECTORS = 4, VECTOR = 16, SHARED_LOADS = 8 };

typedef struct probe_mma {
    const char *name; /* after mma.sync.aligned. or wgmma.mma_async.sync.aligned. */
    int m, n, k;
    const char *type, *sum; /* of registers of A and B, of C */
    int a, b, c;            /* registers */
    const char *scales;     /* of wgmma: operands after scale-d */
} probe_mma;

/* %d0: memory, %d1: its bytes, %r0: iterations, %r1: thread index, %r2: block size, %d2: thread index in the grid, %d3: threads of the
 * grid. */
static void begin_kernel(cute_buffer *out, const char *version, const char *target, const char *shared)
{
    cute_buffer_printf(
        out,
        ".version %s\n.target %s\n.address_size 64\n%s"
        ".visible .entry probe(.param .u64 memory, .param .u64 bytes, .param .u32 iterations)\n{\n"
        ".reg .b64 %%d<16>; .reg .b32 %%r<16>; .reg .pred %%p<4>;\n"
        "ld.param.u64 %%d0, [memory]; ld.param.u64 %%d1, [bytes]; ld.param.u32 %%r0, [iterations];\n"
        "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%ctaid.x; mov.u32 %%r4, %%nctaid.x;\n"
        "mul.wide.u32 %%d2, %%r3, %%r2; cvt.u64.u32 %%d4, %%r1; add.u64 %%d2, %%d2, %%d4; mul.wide.u32 %%d3, "
        "%%r4, %%r2;\n",
        version, target, shared);
}

/* %r5 counts. */
static void begin_loop(cute_buffer *out)
{
    cute_buffer_puts(out, "mov.u32 %r5, 0;\nLOOP:\n");
}

static void end_loop(cute_buffer *out)
{
    cute_buffer_puts(out, "add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, %r0; @%p0 bra LOOP;\n");
}

/* Stores %r6 if it has a value that does not occur. */
static void end_kernel(cute_buffer *out)
{
    cute_buffer_puts(
        out, "setp.ne.u32 %p1, %r6, 0x7fedcba9; @%p1 bra END; st.global.u32 [%d0], %r6;\nEND: ret;\n}\n");
}

/* Copies the first half of the memory to the second, with adjacent threads of the grid. The size is a multiple of a step. */
_Static_assert(2 * VECTORS * VECTOR == ROOF_STEP, "a vector is read and written");
static void put_copy_probe(const roof_probe *probe, cute_buffer *out)
{
    (void)probe;
    begin_kernel(out, "6.3", "sm_75", "");
    cute_buffer_puts(out,
                     ".reg .b32 %v<16>;\nshr.u64 %d5, %d1, 1; add.u64 %d6, %d0, %d5; shl.b64 %d7, %d2, 4; "
                     "shl.b64 %d8, %d3, 4;\nCOPY:\n");
    for (int n = 0; n < VECTORS; n++)
        cute_buffer_printf(out,
                           "add.u64 %%d9, %%d0, %%d7; ld.global.v4.u32 {%%v%d, %%v%d, %%v%d, %%v%d}, [%%d9]; "
                           "add.u64 %%d%d, %%d6, %%d7; add.u64 %%d7, %%d7, %%d8;\n",
                           4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3, 10 + n);
    for (int n = 0; n < VECTORS; n++)
        cute_buffer_printf(out, "st.global.v4.u32 [%%d%d], {%%v%d, %%v%d, %%v%d, %%v%d};\n", 10 + n, 4 * n,
                           4 * n + 1, 4 * n + 2, 4 * n + 3);
    cute_buffer_puts(out, "setp.lt.u64 %p0, %d7, %d5; @%p0 bra COPY;\nret;\n}\n");
}

/* Reads with adjacent threads of the grid; each thread has eight vectors in flight. The size is a multiple of a step. */
static void put_dram_probe(const roof_probe *probe, cute_buffer *out)
{
    enum { LOADS = ROOF_STEP / VECTOR };
    (void)probe;
    begin_kernel(out, "6.3", "sm_75", "");
    cute_buffer_printf(
        out,
        ".reg .b32 %%v<%d>;\nshl.b64 %%d7, %%d2, 4; shl.b64 %%d8, %%d3, 4; add.u64 %%d5, %%d0, %%d7; "
        "add.u64 %%d6, %%d0, %%d1; mov.u32 %%r6, 0;\nREAD:\n",
        4 * LOADS);
    for (int n = 0; n < LOADS; n++)
        cute_buffer_printf(
            out, "ld.global.cs.v4.u32 {%%v%d, %%v%d, %%v%d, %%v%d}, [%%d5]; add.u64 %%d5, %%d5, %%d8;\n",
            4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3);
    for (int n = 0; n < 4 * LOADS; n++) cute_buffer_printf(out, "xor.b32 %%r6, %%r6, %%v%d;\n", n);
    cute_buffer_puts(out, "setp.lt.u64 %p0, %d5, %d6; @%p0 bra READ;\n");
    end_kernel(out);
}

/* Repeated reads that bypass L1; the size is a power of two. */
static void put_l2_probe(const roof_probe *probe, cute_buffer *out)
{
    (void)probe;
    begin_kernel(out, "6.3", "sm_75", "");
    cute_buffer_puts(
        out, ".reg .b32 %v<4>;\nsub.u64 %d5, %d1, 1; shl.b64 %d7, %d2, 4; shl.b64 %d8, %d3, 4; mov.u32 "
             "%r6, 0;\n");
    begin_loop(out);
    for (int n = 0; n < VECTORS; n++)
        cute_buffer_puts(
            out, "and.b64 %d9, %d7, %d5; add.u64 %d9, %d9, %d0; ld.global.cg.v4.u32 {%v0, %v1, %v2, %v3}, "
                 "[%d9]; xor.b32 %v0, %v0, %v1; xor.b32 %v2, %v2, %v3; xor.b32 %v0, %v0, %v2; xor.b32 %r6, "
                 "%r6, %v0; add.u64 %d7, %d7, %d8;\n");
    end_loop(out);
    end_kernel(out);
}

/* Without bank conflicts; volatile keeps the loads in the loop. */
static void put_shared_probe(const roof_probe *probe, cute_buffer *out)
{
    begin_kernel(out, "6.3", "sm_75", "");
    cute_buffer_printf(
        out,
        ".shared .align 16 .b8 tile[%lld]; .reg .b32 %%v<4>;\nshl.b32 %%r7, %%r1, 4; mov.u32 %%r8, tile; "
        "add.u32 %%r7, %%r7, %%r8; mov.u32 %%r6, 0; st.shared.v4.u32 [%%r7], {%%r1, %%r6, %%r1, %%r6};\n",
        (long long)(probe->threads * VECTOR));
    begin_loop(out);
    for (int n = 0; n < SHARED_LOADS; n++)
        cute_buffer_puts(out,
                         "ld.volatile.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%r7]; xor.b32 %r6, %r6, %v0;\n");
    end_loop(out);
    end_kernel(out);
}

/* CHAINS registers %x of `type`, and the instruction `format` for each; # is the register. */
static void put_chains(cute_buffer *out, const char *version, const char *target, const char *type,
                       const char *init, const char *format)
{
    begin_kernel(out, version, target, "");
    cute_buffer_printf(out, ".reg .%s %%x<%d>;\n", type, CHAINS);
    for (int n = 0; n < CHAINS; n++) cute_buffer_printf(out, "mov.%s %%x%d, %s;\n", type, n, init);
    begin_loop(out);
    for (int again = 0; again < ROUNDS; again++)
        for (int n = 0; n < CHAINS; n++) {
            for (const char *c = format; *c; c++)
                if (*c == '#')
                    cute_buffer_printf(out, "%%x%d", n);
                else
                    cute_buffer_putc(out, *c);
            cute_buffer_putc(out, '\n');
        }
    end_loop(out);
}

/* Combines all chains so that none can be removed. */
static void put_fp32_probe(const roof_probe *probe, cute_buffer *out)
{
    (void)probe;
    put_chains(out, "6.3", "sm_75", "f32", "0f3F000000", "fma.rn.f32 #, #, #, #;");
    for (int n = 1; n < CHAINS; n++)
        cute_buffer_printf(out,
                           "mov.b32 %%r7, %%x%d; mov.b32 %%r8, %%x0; xor.b32 %%r7, "
                           "%%r7, %%r8; mov.b32 %%x0, %%r7;\n",
                           n);
    cute_buffer_puts(out, "mov.b32 %r6, %x0;\n");
    end_kernel(out);
}

static void put_fp64_probe(const roof_probe *probe, cute_buffer *out)
{
    (void)probe;
    put_chains(out, "6.3", "sm_75", "f64", "0d3FE0000000000000", "fma.rn.f64 #, #, #, #;");
    cute_buffer_puts(out, "mov.b64 %d5, %x0;\n");
    for (int n = 1; n < CHAINS; n++)
        cute_buffer_printf(out, "mov.b64 %%d6, %%x%d; xor.b64 %%d5, %%d5, %%d6;\n", n);
    cute_buffer_puts(out, "cvt.u32.u64 %r6, %d5;\n");
    end_kernel(out);
}

static void put_word_probe(const roof_probe *probe, cute_buffer *out, const char *format)
{
    (void)probe;
    put_chains(out, "6.3", "sm_75", "b32", "0x38003800", format);
    cute_buffer_puts(out, "mov.b32 %r6, %x0;\n");
    for (int n = 1; n < CHAINS; n++) cute_buffer_printf(out, "xor.b32 %%r6, %%r6, %%x%d;\n", n);
    end_kernel(out);
}

static void put_fp16_probe(const roof_probe *probe, cute_buffer *out)
{
    put_word_probe(probe, out, "fma.rn.f16x2 #, #, #, #;");
}

static void put_special_probe(const roof_probe *probe, cute_buffer *out)
{
    (void)probe;
    put_chains(out, "6.3", "sm_75", "f32", "0f3F000000", "ex2.approx.ftz.f32 #, #;");
    cute_buffer_puts(out, "mov.b32 %r6, %x0;\n");
    for (int n = 1; n < CHAINS; n++)
        cute_buffer_printf(out, "mov.b32 %%r7, %%x%d; xor.b32 %%r6, %%r6, %%r7;\n", n);
    end_kernel(out);
}

/* {%x4, %x5, ...} */
static void put_registers(cute_buffer *out, const char *name, int first, int count)
{
    for (int n = 0; n < count; n++) cute_buffer_printf(out, "%s%%%s%d", n ? ", " : "{", name, first + n);
    cute_buffer_puts(out, "}");
}

static void combine_accumulators(cute_buffer *out, const char *type, int count)
{
    bool wide = type[1] == '6';
    cute_buffer_puts(out, "mov.u32 %r6, 0;\n");
    for (int n = 0; n < count; n++)
        if (wide)
            cute_buffer_printf(out,
                               "mov.b64 %%d5, %%c%d; cvt.u32.u64 %%r7, %%d5; xor.b32 %%r6, %%r6, %%r7;\n", n);
        else
            cute_buffer_printf(out, "mov.b32 %%r7, %%c%d; xor.b32 %%r6, %%r6, %%r7;\n", n);
}

/* Fragments are not zero, since products of zeros take less power. */
static void put_mma_probe(const roof_probe *probe, cute_buffer *out)
{
    const probe_mma *p = probe->mma;
    bool wide = p->type[1] == '6';
    begin_kernel(out, probe->from >= 89 ? "8.4" : "7.0",
                 probe->from >= 90   ? "sm_90"
                 : probe->from >= 89 ? "sm_89"
                                     : "sm_80",
                 "");
    cute_buffer_printf(out, ".reg .%s %%a<%d>; .reg .%s %%b<%d>; .reg .%s %%c<%d>;\n", p->type, p->a, p->type,
                       p->b, p->sum, CHAINS * p->c);
    for (int n = 0; n < p->a + p->b; n++)
        cute_buffer_printf(out, "mov.b%d %%%c%d, %s;\n", wide ? 64 : 32, n < p->a ? 'a' : 'b',
                           n < p->a ? n : n - p->a, wide ? "0x3FE0000000000000" : "0x38013802");
    for (int n = 0; n < CHAINS * p->c; n++) cute_buffer_printf(out, "mov.b%d %%c%d, 0;\n", wide ? 64 : 32, n);
    begin_loop(out);
    for (int n = 0; n < CHAINS; n++) {
        cute_buffer_printf(out, "mma.sync.aligned.%s ", p->name);
        put_registers(out, "c", n * p->c, p->c);
        cute_buffer_puts(out, ", ");
        put_registers(out, "a", 0, p->a);
        cute_buffer_puts(out, ", ");
        put_registers(out, "b", 0, p->b);
        cute_buffer_puts(out, ", ");
        put_registers(out, "c", n * p->c, p->c);
        cute_buffer_puts(out, ";\n");
    }
    end_loop(out);
    combine_accumulators(out, p->sum, CHAINS * p->c);
    end_kernel(out);
}

/* Consecutive core matrices of 128 bytes: two along K, then along M or N; A before B. */
static void put_wgmma_probe(const roof_probe *probe, cute_buffer *out)
{
    enum { A_BYTES = 64 * 32, TILE_BYTES = A_BYTES + 256 * 32, LEADING = 128, STRIDE = 256 };
    const probe_mma *p = probe->mma;
    begin_kernel(out, "8.0", "sm_90a", "");
    cute_buffer_printf(
        out,
        ".shared .align 1024 .b8 tile[%d]; .reg .%s %%c<%d>;\nmov.u32 %%r7, tile; shl.b32 %%r8, %%r1, 2; "
        "mov.u32 %%r9, %%r8;\nFILL: add.u32 %%r10, %%r7, %%r9; mul.lo.u32 %%r11, %%r9, 0x9e3779b1; "
        "and.b32 %%r11, %%r11, 0x3f3f3f3f; st.shared.u32 [%%r10], %%r11; shl.b32 %%r12, %%r2, 2; add.u32 "
        "%%r9, %%r9, %%r12; setp.lt.u32 %%p0, %%r9, %d; @%%p0 bra FILL;\n"
        "fence.proxy.async; bar.sync 0;\n",
        TILE_BYTES, p->sum, p->c, TILE_BYTES);
    cute_buffer_printf(
        out,
        "cvt.u64.u32 %%d5, %%r7; shr.u64 %%d5, %%d5, 4; and.b64 %%d5, %%d5, 0x3fff; or.b64 %%d5, %%d5, "
        "0x%llx; add.u64 %%d6, %%d5, %d;\n",
        (unsigned long long)LEADING / 16 << 16 | (unsigned long long)STRIDE / 16 << 32, A_BYTES / 16);
    for (int n = 0; n < p->c; n++) cute_buffer_printf(out, "mov.b32 %%c%d, 0;\n", n);
    begin_loop(out);
    cute_buffer_puts(out, "wgmma.fence.sync.aligned;\n");
    for (int n = 0; n < WGMMAS; n++) {
        cute_buffer_printf(out, "wgmma.mma_async.sync.aligned.%s ", p->name);
        put_registers(out, "c", 0, p->c);
        cute_buffer_printf(out, ", %%d5, %%d6, 1%s;\n", p->scales);
    }
    cute_buffer_puts(out, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    end_loop(out);
    combine_accumulators(out, p->sum, p->c);
    end_kernel(out);
}

#define MMA(m, n, k, types, ...)   {"m" #m "n" #n "k" #k ".row.col." types, m, n, k, __VA_ARGS__, ""}
#define WGMMA(k, types, sum, rest) {"m64n256k" #k "." types, 64, 256, k, "b64", sum, 0, 0, 128, rest}
static const probe_mma f16 = MMA(16, 8, 16, "f32.f16.f16.f32", "b32", "f32", 4, 2, 4),
                       bf16 = MMA(16, 8, 16, "f32.bf16.bf16.f32", "b32", "f32", 4, 2, 4),
                       tf32 = MMA(16, 8, 8, "f32.tf32.tf32.f32", "b32", "f32", 4, 2, 4),
                       i8 = MMA(16, 8, 32, "s32.s8.s8.s32", "b32", "b32", 4, 2, 4),
                       e4m3 = MMA(16, 8, 32, "f32.e4m3.e4m3.f32", "b32", "f32", 4, 2, 4),
                       f64_sm80 = MMA(8, 8, 4, "f64.f64.f64.f64", "f64", "f64", 1, 1, 2),
                       f64_sm90 = MMA(16, 8, 16, "f64.f64.f64.f64", "f64", "f64", 8, 4, 4);
static const probe_mma wg_f16 = WGMMA(16, "f32.f16.f16", "f32", ", 1, 1, 0, 0"),
                       wg_bf16 = WGMMA(16, "f32.bf16.bf16", "f32", ", 1, 1, 0, 0"),
                       wg_tf32 = WGMMA(8, "f32.tf32.tf32", "f32", ", 1, 1"),
                       wg_e4m3 = WGMMA(32, "f32.e4m3.e4m3", "f32", ", 1, 1"),
                       wg_i8 = WGMMA(32, "s32.s8.s8", "b32", "");

enum { SIMPLE = 512, WARPS = 8, GROUPS = 2 };
#define CHAINED(ceiling, what, from, ptx)                                                                    \
    {ROOF_##ceiling, what, from, 0, SIMPLE, 2, ROUNDS * CHAINS * SIMPLE, ptx, NULL}
#define BY_MMA(ceiling, from, to, of, m, n, k)                                                               \
    {ROOF_##ceiling, "mma.sync", from, to, 32 * WARPS, 2, 2LL * CHAINS * WARPS * (m) * (n) * (k),            \
     put_mma_probe,  &of}
#define BY_WGMMA(ceiling, of, k)                                                                             \
    {ROOF_##ceiling,  "wgmma", 90, 90, 128 * GROUPS, 1, 2LL * WGMMAS * GROUPS * 64 * 256 * (k),              \
     put_wgmma_probe, &of}

const roof_probe roof_probes[] = {
    {ROOF_DRAM, "copy", 75, 0, SIMPLE, 2, 0, put_copy_probe, NULL},
    {ROOF_DRAM, "ld.global.v4", 75, 0, SIMPLE, 2, 0, put_dram_probe, NULL},
    {ROOF_DRAM, "ld.global.v4 of more warps", 75, 0, SIMPLE, 4, 0, put_dram_probe, NULL},
    {ROOF_L2, "ld.global.cg", 75, 0, SIMPLE, 2, VECTORS *VECTOR *SIMPLE, put_l2_probe, NULL},
    {ROOF_L2, "ld.global.cg of more warps", 75, 0, SIMPLE, 4, VECTORS *VECTOR *SIMPLE, put_l2_probe, NULL},
    {ROOF_L1, "ld.shared.v4", 75, 0, SIMPLE, 2, SHARED_LOADS *VECTOR *SIMPLE, put_shared_probe, NULL},
    CHAINED(FP64, "fma.f64", 75, put_fp64_probe),
    CHAINED(FP32, "fma.f32", 75, put_fp32_probe),
    CHAINED(FP16, "fma.f16x2", 75, put_fp16_probe),
    CHAINED(SPECIAL, "ex2.approx", 75, put_special_probe),
    BY_MMA(TENSOR_F64, 80, 80, f64_sm80, 8, 8, 4),
    BY_MMA(TENSOR_F64, 90, 0, f64_sm90, 16, 8, 16),
    BY_MMA(TENSOR_TF32, 80, 0, tf32, 16, 8, 8),
    BY_MMA(TENSOR_F16, 80, 0, f16, 16, 8, 16),
    BY_MMA(TENSOR_BF16, 80, 0, bf16, 16, 8, 16),
    BY_MMA(TENSOR_F8, 89, 0, e4m3, 16, 8, 32),
    BY_MMA(TENSOR_I8, 80, 0, i8, 16, 8, 32),
    BY_WGMMA(TENSOR_TF32, wg_tf32, 8),
    BY_WGMMA(TENSOR_F16, wg_f16, 16),
    BY_WGMMA(TENSOR_BF16, wg_bf16, 16),
    BY_WGMMA(TENSOR_F8, wg_e4m3, 32),
    BY_WGMMA(TENSOR_I8, wg_i8, 32),
};
const size_t roof_probe_count = sizeof roof_probes / sizeof *roof_probes;
