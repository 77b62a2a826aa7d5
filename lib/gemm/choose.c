/* Which ways there are to compute a problem, and what each is estimated to take: waves of tiles at the rate that was
 * measured of the configuration, memory traffic, and the steps around the product. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/base/options/nearest.h"
#include "lib/base/sort.h"
#include "lib/gemm/gemm.h"

enum { MEASURED_ON = 132, GRID_Y = 65535, TAIL_PARTS = 6 }; /* TAIL_PARTS: as in kernels/gemm_sm90 */
/* On 132 multiprocessors. */
static const double bandwidth = 2.95e12;   /* bytes a second from memory */
static const double element_wise = 0.3;    /* the part of it that steps reach */
static const double l2_bandwidth = 6.3e12; /* to read operands once */
static const double fetching = 7.5e12;     /* tiles from L2, without products */
static const double joined = 4;            /* reads of the short side, which all blocks read, that are one */
static const double without_tma = 0.6;     /* the part of it that kernels without TMA reach */
static const double latency = 1.2e-6;      /* seconds until a byte is there */
static const double launch = 2.0e-6;       /* in order on a stream */
static const double beginning = 0.8e-6;    /* of a block */
static const double exchange = 0.3e-6;     /* of sums, for each further block of a tile */
static const double in_the_way = 0.05;     /* the part of what goes on beside that is seen */
static const double joining = 5e-6;        /* of the sums of two parts of a tile, and to clear flags */
static const double further = 2.5e-6;      /* of those of one more */
static const double streaming =
    0.2e-6; /* of a k-tile that few other clusters want at the same time: L2 fetches it */
static const double still_there = 400; /* k-tiles, after so many twice as long */

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

gemm_view gemm_view_of(const gemm_way *way, const gemm_problem *p)
{
    const cute_gemm_problem *g = &p->given;
    /* B as (n, k). */
    gemm_matrix b = {p->b.column, p->b.row, p->b.batch, p->b.span};
    return way->swapped ? (gemm_view){g->n, g->m, g->k, b, p->a} : (gemm_view){g->m, g->n, g->k, p->a, b};
}

int64_t gemm_packed_k(const gemm_way *way, int64_t k)
{
    int64_t v = 16 / cute_dtype_get(way->first->in)->bytes;
    return ceil_div(k, v) * v;
}

/* ---- estimates ---- */

/* TFLOP/s of a configuration on 132 multiprocessors. Where nobody measured it, that of a measured one of the class
 * (or of any), by how much of a tile is loaded for a product; narrow copies reach a sixth. */
static double rate_of(const gemm_config *config, bool vectors)
{
    const double narrow_part = 71.0 / 463, promoted_part = 0.75, doubt = 0.95;
    double best = 0, best_tile = 1;
    /* An instruction has 64 rows there, and reads both operands from shared memory: the fewer columns, the more of
     * its time. */
    if (config->kernel == &gemm_kernel_split) {
        for (size_t i = 0; i < gemm_config_count(); i++) {
            const gemm_config *c = gemm_config_at(i);
            if (c->class == config->class && c->kernel == &gemm_kernel_sm90 && c->vectors > best)
                best = c->vectors;
        }
        return best * (double)config->bn / (double)(config->bn + 32);
    }
    if (vectors ? config->vectors > 0 : config->narrow > 0) return vectors ? config->vectors : config->narrow;
    for (size_t i = 0; i < gemm_config_count(); i++) {
        const gemm_config *c = gemm_config_at(i);
        double rate = c->vectors * (config->promotes && !c->promotes ? promoted_part : 1);
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
    double tile = (double)config->bm * (double)config->bn / (double)(config->bm + config->bn);
    double part = tile < best_tile ? tile / best_tile : 1;
    return best * doubt * (0.4 + 0.6 * part) * (vectors ? 1 : narrow_part);
}

static int64_t resident(const gemm_config *c, int64_t size)
{
    if (c->resident) return c->resident;
    int64_t threads = c->kernel->threads ? c->kernel->threads : 32 * c->warps_m * c->warps_n;
    int64_t shared = (c->bm + c->bn) * c->bk * c->stages * size + 1024;
    int64_t registers = (c->bm * c->bn / threads + 80) * threads;
    const cute_multiprocessor *sm = cute_multiprocessor_of(90); /* rates are those of an H100 */
    int64_t n = sm->warps * CUTE_SM_WARP / threads;
    if (n > sm->block_shared / shared) n = sm->block_shared / shared;
    if (n > CUTE_SM_REGISTERS / registers) n = CUTE_SM_REGISTERS / registers;
    return n < 1 ? 1 : n;
}

/* Seconds of multiplications: waves of tiles, each with the time of two k-tiles for its beginning and end. */
static double computing(const gemm_way *way, const gemm_view *view, int64_t blocks, int64_t at_once,
                        int64_t multiprocessors)
{
    const gemm_config *c = way->config;
    int64_t wave = multiprocessors * at_once,
            k = ceil_div(ceil_div(view->k, c->bk), c->split) * c->bk + 2 * c->bk;
    double tile =
        2.0 * (double)c->bm * (double)c->bn * (double)k / (rate_of(c, way->vectors) * 1e12 / MEASURED_ON);
    if (c->sharing == GEMM_STREAMED) {
        double tiles = (double)ceil_div(view->k, c->bk);
        return tile * (double)blocks / (double)wave + joining + streaming * tiles * (1 + tiles / still_there);
    }
    int64_t rest = blocks % wave, parts = rest ? wave / rest : 1;
    if (parts > TAIL_PARTS) parts = TAIL_PARTS;
    if (c->sharing == GEMM_TAIL && parts > 1)
        return tile * ((double)(blocks / wave) + 1 / (double)parts) + joining + further * (double)(parts - 2);
    return tile * ((double)(blocks / wave * at_once) + (double)ceil_div(blocks % wave, multiprocessors));
}

/* What goes on at the same time takes as long as the longest, and is in its way a little. */
static double longest(const double *seconds, int count)
{
    double most = 0, all = 0;
    for (int i = 0; i < count; i++) {
        all += seconds[i];
        if (seconds[i] > most) most = seconds[i];
    }
    return most + in_the_way * (all - most);
}

/* Seconds of traffic: operands from memory, or from L2 if that still has them; tiles from L2, of which a cluster
 * fetches some for several blocks; and the bytes that can be under way at once. */
static double moving(const gemm_way *way, const gemm_problem *p, const gemm_view *view, int64_t blocks,
                     int64_t at_once, int64_t multiprocessors)
{
    const gemm_config *c = way->config;
    const cute_gemm_problem *g = &p->given;
    int64_t size = cute_dtype_get(p->in)->bytes, most = multiprocessors * at_once;
    double part = (double)multiprocessors / MEASURED_ON, m = (double)g->m, n = (double)g->n, k = (double)g->k;
    double all = (m * k + n * k) * (double)size +
                 m * n * (double)cute_dtype_get(way->product)->bytes * (way->fused && g->beta != 0 ? 2 : 1);
    double stage = (double)((c->bm + c->bn) * c->bk * size);
    double fetched = (double)blocks / (double)c->split * (double)ceil_div(view->k, c->bk) * stage;
    /* L2 joins what blocks of a GPC read at once, but no multicasts. */
    double same = c->kernel == &gemm_kernel_split && c->cluster_m == 1 ? joined : (double)c->cluster_m;
    double asked =
        fetched * ((double)c->bm / (double)c->cluster_n + (double)c->bn / same) / (double)(c->bm + c->bn);
    double under_way = (double)(blocks < most ? blocks : most) * (double)c->stages * stage;
    double reach = fetching * part * (c->kernel->this_chip ? 1 : without_tma);
    double memory = all / ((all > GEMM_L2_KEEPS ? bandwidth : l2_bandwidth) * part);
    return longest((double[]){memory, asked / reach, fetched * latency / under_way}, 3);
}

static double estimate(const gemm_way *way, const gemm_problem *p, const gemm_target *target)
{
    const gemm_config *c = way->config;
    const cute_gemm_problem *g = &p->given;
    gemm_view view = gemm_view_of(way, p);
    int64_t in = cute_dtype_get(p->in)->bytes, at_once = resident(c, in);
    double part = (double)target->multiprocessors / MEASURED_ON;
    int64_t blocks = ceil_div(view.rows, c->bm * c->cluster_m) *
                     ceil_div(view.columns, c->bn * c->cluster_n) * c->cluster_m * c->cluster_n * c->split;
    double seconds = longest((double[]){computing(way, &view, blocks, at_once, target->multiprocessors),
                                        moving(way, p, &view, blocks, at_once, target->multiprocessors)},
                             2);
    double m = (double)g->m, n = (double)g->n;
    /* Blocks of a multiprocessor fetch their first tiles while others multiply. */
    int64_t waves = c->kernel->this_chip && !c->kernel->any_result
                        ? 1
                        : ceil_div(blocks, target->multiprocessors * at_once);
    seconds += launch + (double)(c->split - 1) * exchange + (double)waves * beginning / (double)at_once;
    double stepped = bandwidth * part * element_wise;
    if (way->pack_a) seconds += launch + 2.0 * (double)(view.rows * view.k * in) / stepped;
    if (way->pack_b) seconds += launch + 2.0 * (double)(view.columns * view.k * in) / stepped;
    if (way->epilogue)
        seconds +=
            launch + m * n * (4 + (double)cute_dtype_get(p->out)->bytes * (g->beta != 0 ? 2 : 1)) / stepped;
    return seconds * (double)g->batch;
}

/* ---- ways ---- */

/* Whether the kernel writes rows of D where they lie. */
static bool writes(const gemm_way *way, const gemm_problem *p)
{
    int64_t bytes = way->config->kernel->row_bytes, v = bytes / cute_dtype_get(p->out)->bytes;
    gemm_view view = gemm_view_of(way, p);
    return v <= 1 || (view.columns % v == 0 && p->given.ld_d % v == 0 && p->d.batch % v == 0 &&
                      p->given.align >= bytes);
}

/* What the way has to do for one more problem. */
static void include(gemm_way *way, const gemm_problem *p)
{
    const gemm_config *c = way->config;
    const gemm_kernel *kernel = c->kernel;
    gemm_view v = gemm_view_of(way, p);
    int64_t align = p->given.align;
    way->pack_a = way->pack_a || !kernel->takes(c, p->in, &v.a, v.rows, v.k, align, way->vectors);
    way->pack_b = way->pack_b || !kernel->takes(c, p->in, &v.b, v.columns, v.k, align, way->vectors);
    way->fused = way->fused || kernel->always_fused || !gemm_is_plain(p) || !kernel->makes(p->in, p->out);
    if (way->swapped || kernel->any_result || p->given.order_d == CUTE_GEMM_ROWS)
        way->epilogue = way->epilogue || !writes(way, p);
}

/* As is, or with roles swapped: the kernel writes rows, and columns of D are rows of its transpose. Where the kernel
 * can't make D a step does, which reads sums in any order. */
static void include_all(gemm_way *way, const gemm_problem *problems, size_t count, bool swapped)
{
    const gemm_kernel *kernel = way->config->kernel;
    way->swapped = swapped;
    way->pack_a = way->pack_b = way->fused = way->epilogue = false;
    for (size_t i = 0; i < count; i++) include(way, &problems[i]);
    for (size_t i = 0; i < count && way->fused; i++)
        way->epilogue = way->epilogue || !kernel->fuses || !kernel->fuses(way->config, &problems[i]);
    if (way->epilogue) way->fused = false;
}

/* Copies to C of several elements where all rows take them. Sums lie in rows of a multiple of 4 in the workspace. */
static int64_t copies_of(const gemm_way *way, const gemm_problem *problems, size_t count)
{
    int64_t vc = way->config->kernel->vc, size = cute_dtype_get(way->product)->bytes;
    for (size_t i = 0; i < count; i++) {
        const gemm_problem *p = &problems[i];
        gemm_view v = gemm_view_of(way, p);
        bool fits = v.columns % vc == 0 &&
                    (way->epilogue ||
                     (p->given.ld_d % vc == 0 && p->d.batch % vc == 0 && p->given.align >= vc * size));
        if (!fits) return 1;
    }
    return vc;
}

/* The whole way, from its configuration; `swapped` where the kernel has the choice. */
static bool finish(gemm_way *way, const gemm_problem *problems, size_t count, bool swapped,
                   const gemm_target *target)
{
    const gemm_problem *first = &problems[0];
    const gemm_kernel *kernel = way->config->kernel;
    include_all(way, problems, count, swapped);
    if (!kernel->any_result && !way->epilogue && first->given.order_d == CUTE_GEMM_COLUMNS)
        include_all(way, problems, count, true);
    if (!way->vectors && (way->pack_a || way->pack_b))
        return false; /* what is copied anyway is copied for vectors */
    gemm_view v = gemm_view_of(way, first);
    way->columns_a = !way->pack_a && v.a.column != 1;
    way->columns_b = !way->pack_b && v.b.column != 1;
    way->product = way->epilogue ? first->sum : first->out;
    way->vc = copies_of(way, problems, count);
    way->seconds = 0;
    for (size_t i = 0; i < count; i++) {
        v = gemm_view_of(way, &problems[i]);
        if (kernel->any_result && ceil_div(v.rows, way->config->bm) > GRID_Y) return false;
        way->seconds += estimate(way, &problems[i], target);
    }
    return true;
}

static bool make_way(const gemm_problem *problems, size_t count, const gemm_config *config, bool vectors,
                     const gemm_target *target, gemm_way *out)
{
    const gemm_problem *first = &problems[0];
    const cute_arch *arch = cute_arch_find(target->arch);
    *out = (gemm_way){
        .config = config, .first = first, .vectors = vectors, .multiprocessors = target->multiprocessors};
    int least = config->class == GEMM_FP8 ? 89 : config->kernel->first_arch;
    if (arch && config->kernel->this_chip &&
        (arch->number != config->kernel->first_arch || arch->variant != 'a'))
        return false;
    if (!arch || arch->number < least || gemm_class_of(first->in) != config->class) return false;
    if (config->class == GEMM_FP8 && config->kernel->this_chip && config->promotes == first->fast)
        return false;
    snprintf(out->name, sizeof out->name, "%s%s", config->name, vectors ? "" : ":narrow");
    if (!finish(out, problems, count, false, target)) return false;
    if (!config->kernel->any_result) return true;
    gemm_way other = *out;
    if (finish(&other, problems, count, true, target) && other.seconds < out->seconds) *out = other;
    return true;
}

static int by_seconds(const void *a, const void *b)
{
    const gemm_way *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
    return strcmp(x->name, y->name); /* the same order everywhere */
}

size_t gemm_ways(const gemm_problem *problems, size_t count, const gemm_target *target, gemm_way *out,
                 size_t limit)
{
    size_t found = 0;
    for (size_t i = 0; i < gemm_config_count(); i++)
        for (int vectors = 1; vectors >= 0 && found < limit; vectors--)
            found += make_way(problems, count, gemm_config_at(i), vectors, target, &out[found]);
    cute_sort(out, found, sizeof *out, by_seconds);
    return found;
}

/* ---- the choice ---- */

typedef struct way_list {
    const gemm_way *ways;
    size_t count;
} way_list;

static const char *way_name_at(const void *context, size_t index)
{
    const way_list *list = context;
    return index < list->count ? list->ways[index].name : NULL;
}

static cute_status find_named(const way_list *list, const char *name, gemm_way *out, cute_diag *diag)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->ways[i].name, name) != 0) continue;
        *out = list->ways[i];
        return CUTE_OK;
    }
    const char *near = cute_nearest(name, way_name_at, list);
    cute_fail(diag, CUTE_USAGE, NULL,
              near ? "no configuration '%s' takes this product; did you mean '%s'?"
                   : "no configuration '%s' takes this product",
              name, near);
    cute_buffer text = {0};
    for (size_t i = 0; i < list->count; i++)
        cute_buffer_printf(&text, "%s%s", i ? ", " : "", list->ways[i].name);
    if (list->count) cute_note(diag, NULL, "there are: %s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return CUTE_USAGE;
}

cute_status gemm_choose(const gemm_problem *problems, size_t count, const gemm_target *target,
                        const char *name, const char *cache, const char *device, gemm_way *out,
                        cute_diag *diag)
{
    gemm_way ways[GEMM_WAYS];
    char tuned[sizeof out->name];
    double seconds = 0;
    bool emulated = false;
    way_list list = {ways, gemm_ways(problems, count, target, ways, GEMM_WAYS)};
    if (!list.count)
        return cute_fail(diag, CUTE_INVALID, NULL, "no kernel computes products of %s on %s",
                         problems[0].given.type_a, target->arch);
    if (name && *name) return find_named(&list, name, out, diag);
    *out = ways[0];
    if (count != 1 ||
        !gemm_tuned_find(problems, target, device, cache, tuned, sizeof tuned, &seconds, &emulated))
        return CUTE_OK;
    /* What a later version has no more is no error: the estimate holds. */
    if (find_named(&list, tuned, out, NULL) == CUTE_OK) {
        out->tuned = true;
        out->emulated = emulated;
        out->seconds = seconds;
    } else {
        *out = ways[0];
    }
    return CUTE_OK;
}

/* ---- the seeds' get_optimal_tile_size ---- */

cute_status cute_gemm_optimal_tile(int64_t m, int64_t n, int64_t k, const char *arch, int64_t tile[3],
                                   cute_diag *diag)
{
    cute_gemm_problem given = CUTE_GEMM_PROBLEM;
    const cute_arch *known;
    gemm_problem problem;
    gemm_way way;
    given.m = m;
    given.n = n;
    given.k = k;
    given.type_a = "f16";
    CUTE_TRY(cute_arch_parse(arch ? arch : "sm_90a", NULL, &known, diag));
    CUTE_TRY(gemm_problem_read(&given, -1, &problem, diag));
    gemm_target target = {known->name, MEASURED_ON};
    CUTE_TRY(gemm_choose(&problem, 1, &target, NULL, "", NULL, &way, diag));
    tile[0] = way.config->bm;
    tile[1] = way.config->bn;
    tile[2] = way.config->bk;
    return CUTE_OK;
}
