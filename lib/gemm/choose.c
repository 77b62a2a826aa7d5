/* Enumerates the algorithms for a problem and estimates the run time of each: the cost model (lib/model) at the configuration's
 * measured rate, and the launches before and after the product. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/base/options/nearest.h"
#include "lib/base/sort.h"
#include "lib/gemm/gemm.h"
#include "lib/model/model.h"

enum { MAX_GRID_Y = 65535 /* blocks */ };

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

gemm_view gemm_view_of(const gemm_algo *algo, const gemm_problem *p)
{
    const cute_gemm_problem *g = &p->given;
    /* B as (n, k). */
    gemm_matrix b = {p->b.column, p->b.row, p->b.batch, p->b.span};
    return algo->swapped ? (gemm_view){g->n, g->m, g->k, b, p->a} : (gemm_view){g->m, g->n, g->k, p->a, b};
}

int64_t gemm_packed_k(const gemm_algo *algo, int64_t k)
{
    int64_t v = 16 / cute_dtype_get(algo->first->in)->bytes;
    return ceil_div(k, v) * v;
}

/* ---- estimates ---- */

/* TFLOP/s of a configuration on CUTE_MODEL_SMS multiprocessors. If not measured: the rate of the fastest
 * measured configuration of the same kernel and class (else 45, for a 128x256 tile), scaled by the arithmetic
 * intensity of the tile. */
static double config_rate(const gemm_config *config, bool vectors)
{
    /* Narrow copies: the two measured rates of sm80 in configs.def. Promotion: an estimate;
     * bench/gemm/h100.csv has rates with and without. An unmeasured configuration has to be faster by 5 % to
     * be preferred to a measured one. */
    const double narrow_efficiency = 80.0 / 501, promotion_efficiency = 0.75, unmeasured_penalty = 0.95;
    double best = 0, best_tile = 1;
    /* Its wgmma of 64 rows reads both operands from shared memory: with few columns, reading A dominates. */
    if (config->kernel == &gemm_kernel_split) {
        for (size_t i = 0; i < gemm_config_count(); i++) {
            const gemm_config *c = gemm_config_at(i);
            if (c->class == config->class && c->kernel == &gemm_kernel_sm90 && c->rate > best) best = c->rate;
        }
        return best * (double)config->bn / (double)(config->bn + 32);
    }
    if (vectors ? config->rate > 0 : config->narrow_rate > 0)
        return vectors ? config->rate : config->narrow_rate;
    for (size_t i = 0; i < gemm_config_count(); i++) {
        const gemm_config *c = gemm_config_at(i);
        double rate = c->rate * (config->promotes && !c->promotes ? promotion_efficiency : 1);
        if (c->class != config->class || c->kernel != config->kernel || c->promotes > config->promotes ||
            rate <= best)
            continue;
        best = rate;
        best_tile = (double)c->bm * (double)c->bn / (double)(c->bm + c->bn);
    }
    if (best == 0) {
        best = 45;
        best_tile = 128.0 * 256 / (128 + 256);
    }
    return best * unmeasured_penalty * cute_model_intensity(config->bm, config->bn, best_tile) *
           (vectors ? 1 : narrow_efficiency);
}

/* Bytes of a block's stages. */
static int64_t shared_bytes(const gemm_config *c, int64_t size)
{
    return (c->bm + c->bn) * c->bk * c->stages * size;
}

static int64_t blocks_per_sm(const gemm_config *c, int64_t size)
{
    if (c->blocks_per_sm) return c->blocks_per_sm;
    int64_t threads = c->kernel->threads ? c->kernel->threads : 32 * c->warps_m * c->warps_n;
    cute_model_block block = {.threads = threads,
                              .registers = (c->bm * c->bn / threads + 80) * threads,
                              .shared = shared_bytes(c, size) + 1024};
    return cute_model_resident(90, &block); /* rates are those of an H100 */
}

/* Elements of k whose products take as long as the operations of an epilogue on a tile, while no products are computed. Warpgroups with a tile each
 * compute the products of one while the other has its epilogue. */
static double epilogue_depth(const gemm_config *c, const gemm_problem *p, double rate,
                             const cute_model_device *device)
{
    enum { LANES = 128 }; /* of a multiprocessor */
    if (!p->tree) return 0;
    double depth = epilogue_operations(p->tree) * rate / (2 * LANES * device->clock), k = (double)p->given.k;
    if (!c->pingpong) return depth;
    return depth > k ? (depth - k) / 2 : 0;
}

/* Elements of k that take as long as a tile's prologue, of two stages, and its epilogue. */
static int64_t tile_depth(const gemm_config *c, const gemm_problem *p, double rate,
                          const cute_model_device *device)
{
    int64_t own =
        c->pingpong ? cute_model_tile_depth(true, 8 * (int)cute_dtype_get(p->in)->bytes) : 2 * c->bk;
    return own + (int64_t)epilogue_depth(c, p, rate, device);
}

static double estimate(const gemm_algo *algo, const gemm_problem *p, const gemm_target *target)
{
    const gemm_config *c = algo->config;
    const cute_gemm_problem *g = &p->given;
    gemm_view view = gemm_view_of(algo, p);
    int64_t in = cute_dtype_get(p->in)->bytes;
    bool whole = gemm_whole_batch(algo);
    cute_model_device device;
    cute_model_measured(target->multiprocessors, &device);
    const cute_model_problem problem = {.m = view.rows,
                                        .n = view.columns,
                                        .k = view.k,
                                        .batch = whole ? g->batch : 1,
                                        .bits_a = 8 * in,
                                        .bits_b = 8 * in,
                                        .bits_out = 8 * cute_dtype_get(algo->product)->bytes,
                                        .addend = algo->fused && g->beta != 0};
    double rate = config_rate(c, algo->vectors) * 1e12 / CUTE_MODEL_SMS;
    const cute_model_config config = {.bm = c->bm,
                                      .bn = c->bn,
                                      .bk = c->bk,
                                      .stages = c->stages,
                                      .cluster_m = c->cluster_m,
                                      .cluster_n = c->cluster_n,
                                      .split = c->split,
                                      .tail = c->schedule,
                                      .persistent = c->kernel->arch_specific && !c->kernel->any_output_layout,
                                      .tma = c->kernel->arch_specific,
                                      .merged_reads = c->kernel == &gemm_kernel_split,
                                      .resident = blocks_per_sm(c, in),
                                      .overhead = tile_depth(c, p, rate, &device),
                                      .rate = rate};
    cute_model_time time;
    cute_model_estimate(&problem, &config, &device, &time);
    double seconds = time.seconds, m = (double)g->m, n = (double)g->n;
    if (algo->pack_a) seconds += cute_model_elementwise(&device, 2.0 * (double)(view.rows * view.k * in));
    if (algo->pack_b) seconds += cute_model_elementwise(&device, 2.0 * (double)(view.columns * view.k * in));
    if (algo->epilogue)
        seconds += cute_model_elementwise(
            &device, m * n * (4 + (double)cute_dtype_get(p->out)->bytes * (g->beta != 0 ? 2 : 1)));
    return seconds * (double)(whole ? 1 : g->batch);
}

/* ---- algorithms ---- */

/* Whether the kernel can write the rows of D in place. */
static bool can_write_d(const gemm_algo *algo, const gemm_problem *p)
{
    int64_t bytes = algo->config->kernel->row_bytes, v = bytes / cute_dtype_get(p->out)->bytes;
    gemm_view view = gemm_view_of(algo, p);
    return v <= 1 || (view.columns % v == 0 && p->given.ld_d % v == 0 && p->d.batch % v == 0 &&
                      p->given.align >= bytes);
}

/* Adds the steps that one more problem needs. */
static void add_problem(gemm_algo *algo, const gemm_problem *p)
{
    const gemm_config *c = algo->config;
    const gemm_kernel *kernel = c->kernel;
    gemm_view v = gemm_view_of(algo, p);
    int64_t align = p->given.align;
    algo->pack_a =
        algo->pack_a || !kernel->supports_operand(c, p->in, &v.a, v.rows, v.k, align, algo->vectors);
    algo->pack_b =
        algo->pack_b || !kernel->supports_operand(c, p->in, &v.b, v.columns, v.k, align, algo->vectors);
    algo->fused = algo->fused || !gemm_is_plain(p) ||
                  (kernel->supports_output && !kernel->supports_output(p->in, p->out));
    if (algo->swapped || kernel->any_output_layout || p->given.order_d == CUTE_GEMM_ROWS)
        algo->epilogue = algo->epilogue || !can_write_d(algo, p);
    /* The tree's program stores results of any width. */
    if (p->tree) algo->fused = true, algo->epilogue = false;
}

/* Optionally swaps A and B: the kernel writes rows, and the columns of D are the rows of its transpose. If
 * the kernel cannot produce D, an epilogue step does, which reads the sums in any order. */
static void add_problems(gemm_algo *algo, const gemm_problem *problems, size_t count, bool swapped)
{
    const gemm_kernel *kernel = algo->config->kernel;
    algo->swapped = swapped;
    algo->pack_a = algo->pack_b = algo->fused = algo->epilogue = algo->scales = false;
    for (size_t i = 0; i < count; i++) {
        add_problem(algo, &problems[i]);
        algo->scales = algo->scales || problems[i].given.alpha != 1;
    }
    for (size_t i = 0; i < count && algo->fused && !problems[i].tree; i++)
        algo->epilogue = algo->epilogue || !kernel->supports_epilogue ||
                         !kernel->supports_epilogue(algo->config, &problems[i]);
    if (algo->epilogue) algo->fused = false;
}

/* The vector length of stores to D that fits all rows, and those of C. Rows of sums in the workspace are padded to a multiple of 4, of 4
 * bytes each. */
static int64_t store_vector_of(const gemm_algo *algo, const gemm_problem *problems, size_t count)
{
    int64_t size = cute_dtype_get(algo->product)->bytes, vc = algo->config->kernel->store_bytes / size;
    if (vc < 1) return 1;
    for (size_t i = 0; i < count; i++) {
        const gemm_problem *p = &problems[i];
        gemm_view v = gemm_view_of(algo, p);
        bool fits = (algo->columns_d ? v.rows : v.columns) % vc == 0 &&
                    (algo->epilogue ||
                     (p->given.ld_d % vc == 0 && p->d.batch % vc == 0 && p->given.align >= vc * size &&
                      (p->given.beta == 0 || (p->given.ld_c % vc == 0 && p->c.batch % vc == 0))));
        if (!fits) return 1;
    }
    return vc;
}

/* Completes an algorithm from its configuration; `swapped` applies if the kernel supports both. */
static bool complete_algo(gemm_algo *algo, const gemm_problem *problems, size_t count, bool swapped,
                          const gemm_target *target)
{
    const gemm_problem *first = &problems[0];
    const gemm_kernel *kernel = algo->config->kernel;
    add_problems(algo, problems, count, swapped);
    if (!kernel->any_output_layout && !algo->epilogue && first->given.order_d == CUTE_GEMM_COLUMNS)
        add_problems(algo, problems, count, true);
    if (!algo->vectors && (algo->pack_a || algo->pack_b))
        return false; /* packed operands always allow vectors */
    gemm_view v = gemm_view_of(algo, first);
    algo->columns_a = !algo->pack_a && v.a.column != 1;
    algo->columns_b = !algo->pack_b && v.b.column != 1;
    algo->product = algo->epilogue ? first->sum : first->out;
    algo->columns_d = kernel->any_output_layout && !algo->epilogue &&
                      (first->given.order_d == CUTE_GEMM_COLUMNS) != algo->swapped;
    algo->vc = store_vector_of(algo, problems, count);
    algo->seconds = 0;
    for (size_t i = 0; i < count; i++) {
        v = gemm_view_of(algo, &problems[i]);
        if (kernel->any_output_layout && ceil_div(v.rows, algo->config->bm) > MAX_GRID_Y) return false;
        algo->seconds += estimate(algo, &problems[i], target);
    }
    return true;
}

static bool make_algo(const gemm_problem *problems, size_t count, const gemm_config *config, bool vectors,
                      const gemm_target *target, gemm_algo *out)
{
    const gemm_problem *first = &problems[0];
    const cute_arch *arch = cute_arch_find(target->arch);
    *out = (gemm_algo){
        .config = config, .first = first, .vectors = vectors, .multiprocessors = target->multiprocessors};
    int least = config->class == GEMM_FP8 ? 89 : config->kernel->first_arch;
    if (arch && config->kernel->arch_specific &&
        (arch->number != config->kernel->first_arch || arch->variant != 'a'))
        return false;
    if (!arch || arch->number < least || gemm_class_of(first->in) != config->class) return false;
    /* An expression knows rows from columns, and its kernels are not divided along k. */
    if (first->tree && (!config->kernel->tiles || config->kernel->any_output_layout || config->split > 1 ||
                        !gemm_expression_fits(config, first)))
        return false;
    const cute_multiprocessor *own = cute_multiprocessor_of(arch->number);
    if (own && shared_bytes(config, cute_dtype_get(first->in)->bytes) > own->block_shared) return false;
    if (config->class == GEMM_FP8 && config->kernel->arch_specific && config->promotes == first->fast)
        return false;
    snprintf(out->name, sizeof out->name, "%s%s", config->name, vectors ? "" : ":narrow");
    if (!complete_algo(out, problems, count, false, target)) return false;
    if (!config->kernel->any_output_layout) return true;
    gemm_algo other = *out;
    if (complete_algo(&other, problems, count, true, target) && other.seconds < out->seconds) *out = other;
    return true;
}

static int compare_seconds(const void *a, const void *b)
{
    const gemm_algo *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
    return strcmp(x->name, y->name); /* deterministic order */
}

size_t gemm_algos(const gemm_problem *problems, size_t count, const gemm_target *target, gemm_algo *out,
                  size_t limit)
{
    size_t found = 0;
    for (size_t i = 0; i < gemm_config_count(); i++)
        for (int vectors = 1; vectors >= 0 && found < limit; vectors--)
            found += make_algo(problems, count, gemm_config_at(i), vectors, target, &out[found]);
    cute_sort(out, found, sizeof *out, compare_seconds);
    return found;
}

cute_status gemm_fail_unsupported(const gemm_problem *problems, size_t count, const gemm_target *target,
                                  cute_diag *diag)
{
    gemm_problem plain = problems[0];
    gemm_algo algos[GEMM_MAX_ALGOS];
    plain.tree = NULL;
    bool wide = problems[0].tree && count == 1 && gemm_algos(&plain, 1, target, algos, GEMM_MAX_ALGOS);
    if (!wide)
        return cute_fail(diag, CUTE_INVALID, NULL, "no kernel multiplies %s on %s", problems[0].given.type_a,
                         target->arch);
    return cute_fail(
        diag, CUTE_INVALID, NULL,
        "no kernel of %s on %s has registers for this epilogue: expected matrices of at most 4 N "
        "columns",
        problems[0].given.type_a, target->arch);
}

/* ---- the choice ---- */

typedef struct algo_list {
    const gemm_algo *algos;
    size_t count;
} algo_list;

static const char *algo_name_at(const void *context, size_t index)
{
    const algo_list *list = context;
    return index < list->count ? list->algos[index].name : NULL;
}

static cute_status find_algo(const algo_list *list, const char *name, gemm_algo *out, cute_diag *diag)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->algos[i].name, name) != 0) continue;
        *out = list->algos[i];
        return CUTE_OK;
    }
    const char *near = cute_nearest(name, algo_name_at, list);
    cute_fail(diag, CUTE_USAGE, NULL,
              near ? "no configuration '%s' supports this product; did you mean '%s'?"
                   : "no configuration '%s' supports this product",
              name, near);
    cute_buffer text = {0};
    for (size_t i = 0; i < list->count; i++)
        cute_buffer_printf(&text, "%s%s", i ? ", " : "", list->algos[i].name);
    if (list->count) cute_note(diag, NULL, "available: %s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return CUTE_USAGE;
}

cute_status gemm_choose(const gemm_problem *problems, size_t count, const gemm_target *target,
                        const char *name, const char *cache, const char *device, gemm_algo *out,
                        cute_diag *diag)
{
    gemm_algo algos[GEMM_MAX_ALGOS];
    char tuned[sizeof out->name];
    double seconds = 0;
    bool emulated = false;
    algo_list list = {algos, gemm_algos(problems, count, target, algos, GEMM_MAX_ALGOS)};
    if (!list.count) return gemm_fail_unsupported(problems, count, target, diag);
    if (name && *name) return find_algo(&list, name, out, diag);
    *out = algos[0];
    /* A second kernel for reductions of rows takes longer than a slower tile. */
    for (size_t i = list.count; problems[0].tree && i-- > 0;)
        if (gemm_expression_has_rows(&algos[i], &problems[0])) *out = algos[i];
    if (count != 1 ||
        !gemm_tuned_find(problems, target, device, cache, tuned, sizeof tuned, &seconds, &emulated))
        return CUTE_OK;
    /* A name that this version has dropped is ignored: the estimate is used. */
    if (find_algo(&list, tuned, out, NULL) == CUTE_OK) {
        out->tuned = true;
        out->emulated = emulated;
        out->seconds = seconds;
    } else {
        *out = algos[0];
    }
    return CUTE_OK;
}

/* ---- the tile alone ---- */

cute_status cute_gemm_optimal_tile(int64_t m, int64_t n, int64_t k, const char *arch, int64_t tile[3],
                                   cute_diag *diag)
{
    cute_gemm_problem given = CUTE_GEMM_PROBLEM;
    const cute_arch *known;
    gemm_problem problem;
    gemm_algo algo;
    given.m = m;
    given.n = n;
    given.k = k;
    given.type_a = "f16";
    CUTE_TRY(cute_arch_parse(arch ? arch : "sm_90a", NULL, &known, diag));
    CUTE_TRY(gemm_problem_read(&given, -1, &problem, diag));
    gemm_target target = {known->name, CUTE_MODEL_SMS};
    CUTE_TRY(gemm_choose(&problem, 1, &target, NULL, "", NULL, &algo, diag));
    tile[0] = algo.config->bm;
    tile[1] = algo.config->bn;
    tile[2] = algo.config->bk;
    return CUTE_OK;
}
