/* The kernels and their configurations: the operands that each reads in place, and its -D values. */
#include <stdio.h>
#include <string.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/base/list.h"
#include "lib/gemm/gemm.h"

/* build/gen/gemm_sources.inc: each source as bytes with a terminating 0. */
#define GEMM_SOURCE(name, ...) static const char source_##name[] = {__VA_ARGS__};
#include "gemm_sources.inc"
#undef GEMM_SOURCE

gemm_class gemm_class_of(cute_dtype in)
{
    switch (in) {
    case CUTE_F16:
    case CUTE_BF16: return GEMM_HALF;
    case CUTE_TF32: return GEMM_TF32;
    case CUTE_I8: return GEMM_BYTE;
    case CUTE_E4M3:
    case CUTE_E5M2: return GEMM_FP8;
    default: return GEMM_SINGLE;
    }
}

void gemm_define(gemm_defines *defines, const char *format, ...)
{
    va_list args;
    cute_buffer text = {0};
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    const char *copy = cute_arena_copy(defines->arena, cute_buffer_text(&text), text.length);
    if (copy && cute_buffer_ok(&text) &&
        cute_arena_more(defines->arena, &defines->items, defines->count, &defines->capacity,
                        sizeof *defines->items, 32))
        defines->items[defines->count++] = copy;
    else
        defines->failed = true;
    cute_buffer_release(&text);
}

/* Whether every line of a matrix, `along` contiguous elements with stride `step`, is a whole number of
 * aligned vectors of `bytes` bytes. */
static bool is_aligned(const gemm_matrix *m, int64_t along, int64_t step, int64_t size, int64_t bytes,
                       int64_t align)
{
    int64_t v = bytes / size;
    return along % v == 0 && step % v == 0 && m->batch % v == 0 && align >= bytes;
}

/* ---- the product as a tile program ---- */

/* Of warps that load by cp.async or by elements; ldmatrix transposes 16 bits only. */
static bool warps_support_operand(const gemm_config *config, cute_dtype in, const gemm_matrix *m,
                                  int64_t rows, int64_t k, int64_t align, bool vectors)
{
    int64_t size = cute_dtype_get(in)->bytes;
    bool columns = m->column != 1;
    (void)config;
    if (columns && (m->row != 1 || (size != 2 && in != CUTE_F32))) return false;
    if (!vectors) return true;
    return columns ? is_aligned(m, rows, m->column, size, 16, align)
                   : is_aligned(m, k, m->row, size, 16, align);
}

/* TMA needs multiples of 16 bytes; wgmma transposes 16-bit elements only, 64 of them in a buffer's row. */
static bool warpgroups_support_operand(const gemm_config *config, cute_dtype in, const gemm_matrix *m,
                                       int64_t rows, int64_t k, int64_t align, bool vectors)
{
    if (m->column != 1 && config->bn % 64 != 0) return false;
    return vectors && warps_support_operand(config, in, m, rows, k, align, true);
}

/* Integers are summed exactly, and scaled in f64: too many registers for a tile of sums. */
static bool supports_floats(const gemm_config *config, const gemm_problem *p)
{
    (void)config;
    return p->out != CUTE_I32;
}

/* C is loaded by TMA, as D is stored. Tiles of 128x192 of one warpgroup leave no registers for C of f32. */
static bool supports_floats_in_rows(const gemm_config *config, const gemm_problem *p)
{
    const cute_gemm_problem *g = &p->given;
    int64_t size = cute_dtype_get(p->out)->bytes, v = 16 / size;
    bool room = !config->pingpong || config->bn <= 176 || size <= 2;
    return supports_floats(config, p) && (g->beta == 0 || (room && g->ld_c % v == 0 && p->c.batch % v == 0));
}

static void product_define(const gemm_algo *algo, gemm_defines *d)
{
    const gemm_config *c = algo->config;
    const cute_gemm_problem *g = &algo->first->given;
    cute_dtype in = algo->first->in;
    int64_t size = cute_dtype_get(in)->bytes, out_size = cute_dtype_get(algo->product)->bytes;
    gemm_view v = gemm_view_of(algo, algo->first);
    gemm_define(d, "T=%s", cute_dtype_mlir(in));
    gemm_define(d, "ACC=%s", cute_dtype_mlir(algo->first->sum));
    gemm_define(d, "TD=%s", cute_dtype_mlir(algo->product));
    gemm_define(d, "BITS=%lld", (long long)size * 8);
    gemm_define(d, "BITSD=%lld", (long long)out_size * 8);
    gemm_define(d, "Z=%s", in == CUTE_I8 ? "0" : "0.0");
    gemm_define(d, "A=%d", algo->columns_a);
    gemm_define(d, "B=%d", algo->columns_b);
    gemm_define(d, "TF32=%d", in == CUTE_TF32);
    gemm_define(d, "PROMOTE=%d", c->promotes);
    gemm_define(d, "SCALE=%d", algo->fused && algo->scales);
    gemm_define(d, "ADD=%d", algo->fused && g->beta != 0);
    gemm_define(d, "BIAS=%d", !algo->fused || !g->bias ? 0 : algo->swapped ? 2 : 1);
    gemm_define(d, "ACT=%d", algo->fused ? (int)g->activation : 0);
    gemm_define(d, "E=%s", algo->product == CUTE_I32 ? "f64" : "f32"); /* f32 lacks large integers */
    gemm_define(d, "ALIGN=%lld", (long long)(algo->vectors ? 16 : size));
    gemm_define(d, "ALIGND=%lld", (long long)(algo->vc * out_size));
    gemm_define(d, "EDGE=%lld", (long long)(c->kernel->any_output_layout ? size : 16));
    gemm_define(d, "D=%d", algo->columns_d);
    gemm_define(d, "BM=%lld", (long long)c->bm);
    gemm_define(d, "BN=%lld", (long long)c->bn);
    gemm_define(d, "BK=%lld", (long long)c->bk);
    if (algo->program) /* other buffers than those of the configuration's measured epilogue */
        gemm_define(d, "SCHEDULE=auto");
    else if (c->kernel == &gemm_kernel_split)
        /* Operands too large to stay in L2 until the next run do not replace the others. */
        gemm_define(d,
                    "SCHEDULE=stages=%lld consumers=%lld cluster=%lldx1 persistent=0 split=%lld blocks=%lld "
                    "l2=%s",
                    (long long)c->stages, (long long)c->bm / 64, (long long)c->cluster_m, (long long)c->split,
                    (long long)c->blocks_per_sm,
                    v.rows * v.k > GEMM_L2_RESIDENT / size ? "stream" : "normal");
    else if (c->kernel->arch_specific)
        gemm_define(
            d, "SCHEDULE=stages=%lld consumers=2 cluster=%lldx%lld persistent=1 order=8 turns=%d tail=%s",
            (long long)c->stages, (long long)c->cluster_m, (long long)c->cluster_n, c->pingpong,
            cute_model_tail_names[c->schedule]);
    else
        gemm_define(d, "SCHEDULE=stages=%lld consumers=0 cluster=1x1 persistent=0 threads=%lld",
                    (long long)c->stages, (long long)(32 * c->warps_m * c->warps_n));
}

#define PRODUCT                                                                                              \
    .name = "product", .function = "product", .source = source_product, .result = "D", .addend = "C",        \
    .tiles = true, .store_bytes = 16, .takes_epilogue = true, .define = product_define

const gemm_kernel gemm_kernel_sm80 = {
    PRODUCT,
    .first_arch = 80,
    .supports_operand = warps_support_operand,
    .supports_epilogue = supports_floats,
};

/* Without tensor cores: configurations of its own. */
const gemm_kernel gemm_kernel_sgemm = {
    PRODUCT,
    .first_arch = 80,
    .supports_operand = warps_support_operand,
    .supports_epilogue = supports_floats,
};

const gemm_kernel gemm_kernel_sm90 = {
    PRODUCT,
    .first_arch = 90,
    .arch_specific = true,
    .threads = 384,
    .row_bytes = 16,
    .supports_operand = warpgroups_support_operand,
    .supports_epilogue = supports_floats_in_rows,
};

/* ---- the product with a k that blocks of a cluster divide ---- */

static bool rounds_to(cute_dtype in, cute_dtype out)
{
    return in == CUTE_I8 ? out == CUTE_I32 : out == CUTE_F32 || out == CUTE_F16 || out == CUTE_BF16;
}

/* Any number of rows, any k; transposed operands need whole swizzled rows of a buffer. */
static bool split_supports_operand(const gemm_config *config, cute_dtype in, const gemm_matrix *m,
                                   int64_t rows, int64_t k, int64_t align, bool vectors)
{
    int64_t size = cute_dtype_get(in)->bytes;
    bool columns = m->column != 1;
    (void)rows, (void)k;
    if (!vectors || (columns && (m->row != 1 || size != 2 || config->bn % 16 != 0))) return false;
    return is_aligned(m, 0, columns ? m->column : m->row, size, 16, align);
}

/* Rounds once, to D's type; computes integers in f64. */
static bool split_supports_epilogue(const gemm_config *config, const gemm_problem *p)
{
    (void)config;
    return p->out == CUTE_I32 || p->out == CUTE_F32 || p->out == CUTE_F16 || p->out == CUTE_BF16;
}

const gemm_kernel gemm_kernel_split = {
    PRODUCT,
    .first_arch = 90,
    .arch_specific = true,
    .any_output_layout = true,
    .supports_operand = split_supports_operand,
    .supports_output = rounds_to,
    .supports_epilogue = split_supports_epilogue,
};

/* ---- the table ---- */

#define SIZE_HALF   2
#define SIZE_TF32   4
#define SIZE_BYTE   1
#define SIZE_FP8    1
#define SIZE_SINGLE 4
#define GEMM_CONFIG(kernel_, class_, bm_, bn_, bytes, stages_, wm, wn, rate_, narrow_)                       \
    {.kernel = &gemm_kernel_##kernel_,                                                                       \
     .class = GEMM_##class_,                                                                                 \
     .bm = bm_,                                                                                              \
     .bn = bn_,                                                                                              \
     .bk = (bytes) / SIZE_##class_,                                                                          \
     .stages = stages_,                                                                                      \
     .warps_m = wm,                                                                                          \
     .warps_n = wn,                                                                                          \
     .cluster_m = 1,                                                                                         \
     .cluster_n = 1,                                                                                         \
     .split = 1,                                                                                             \
     .rate = rate_,                                                                                          \
     .narrow_rate = narrow_,                                                                                 \
     .name = #kernel_ ":" #bm_ "x" #bn_ ":" #bytes ":" #stages_},
#define GEMM_CONFIG_OF_SM90(class_, bm_, bn_, stages_, cm, cn, pingpong_, rate_, promotes_, schedule_,       \
                            suffix)                                                                          \
    {.kernel = &gemm_kernel_sm90,                                                                            \
     .class = GEMM_##class_,                                                                                 \
     .bm = bm_,                                                                                              \
     .bn = bn_,                                                                                              \
     .bk = 128 / SIZE_##class_,                                                                              \
     .stages = stages_,                                                                                      \
     .cluster_m = cm,                                                                                        \
     .cluster_n = cn,                                                                                        \
     .pingpong = pingpong_,                                                                                  \
     .split = 1,                                                                                             \
     .blocks_per_sm = 1,                                                                                     \
     .rate = rate_,                                                                                          \
     .promotes = promotes_,                                                                                  \
     .schedule = CUTE_MODEL_##schedule_,                                                                     \
     .name = "sm90:" #bm_ "x" #bn_ ":" #stages_ ":" #cm "x" #cn ":" #pingpong_ suffix},
#define GEMM_CONFIG_SM90(class_, bm_, bn_, stages_, cm, cn, turns_, rate)                                    \
    GEMM_CONFIG_OF_SM90(class_, bm_, bn_, stages_, cm, cn, turns_, rate, false, WHOLE, "")
#define GEMM_CONFIG_PROMOTES(class_, bm_, bn_, stages_, cm, cn, turns_, rate)                                \
    GEMM_CONFIG_OF_SM90(class_, bm_, bn_, stages_, cm, cn, turns_, rate, true, WHOLE, ":f32")
#define GEMM_CONFIG_TAIL(class_, bm_, bn_, stages_, cm, cn, rate)                                            \
    GEMM_CONFIG_OF_SM90(class_, bm_, bn_, stages_, cm, cn, 0, rate, false, SPLIT, ":tail")
#define GEMM_CONFIG_STREAM_K(class_, bm_, bn_, stages_, cm, cn, rate)                                        \
    GEMM_CONFIG_OF_SM90(class_, bm_, bn_, stages_, cm, cn, 0, rate, false, STREAM_K, ":k")
#define GEMM_CONFIG_SPLIT(class_, bm_, bn_, bytes, stages_, split_, cm, resident_)                           \
    {.kernel = &gemm_kernel_split,                                                                           \
     .class = GEMM_##class_,                                                                                 \
     .bm = bm_,                                                                                              \
     .bn = bn_,                                                                                              \
     .bk = (bytes) / SIZE_##class_,                                                                          \
     .stages = stages_,                                                                                      \
     .cluster_m = cm,                                                                                        \
     .cluster_n = 1,                                                                                         \
     .split = split_,                                                                                        \
     .blocks_per_sm = resident_,                                                                             \
     .name = "split:" #bm_ "x" #bn_ ":" #bytes ":" #stages_ ":" #split_ "x" #cm ":" #resident_},
static const gemm_config configs[] = {
#include "lib/gemm/configs.def"
};

size_t gemm_config_count(void)
{
    return sizeof configs / sizeof *configs;
}

const gemm_config *gemm_config_at(size_t index)
{
    return index < gemm_config_count() ? &configs[index] : NULL;
}

const char *gemm_source_pack(void)
{
    return source_gemm_pack;
}

const char *gemm_source_epilogue(void)
{
    return source_gemm_epilogue;
}

const char *gemm_source_collective(comm_kind kind)
{
    switch (kind) {
    case COMM_ALL_GATHER: return source_all_gather;
    case COMM_ALL_REDUCE: return source_all_reduce;
    case COMM_REDUCE_SCATTER: return source_reduce_scatter;
    default: return NULL;
    }
}
