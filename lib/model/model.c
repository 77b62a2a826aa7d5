/* Estimates of products: waves of tiles at a rate, memory traffic, launches. See model.h. */
#include "lib/model/model.h"

#include <stdio.h>

#include "lib/base/devices/multiprocessor.h"

const char *const cute_model_tail_names[] = {"whole", "split", "stream"};

/* The constants. Some comments name the measurement behind a figure; the other constants are estimates. bench/gemm/h100.csv has the
 * algorithms that the model chooses, with their measured rates. */

/* Fraction of the bandwidth of device memory that elementwise kernels reach. */
static const double elementwise_efficiency = 0.3;
/* Fraction of the bandwidth of tiles from L2 that kernels without TMA reach. */
static const double non_tma_efficiency = 0.6;
/* Reads of the operand that all blocks share which L2 merges into one request; bench/README.md, "Hopper", has the sector counts.
 * Multicasts are not merged. */
static const double coalesced_reads = 4;
/* Seconds from a load to its data. */
static const double load_latency = 1.2e-6;
/* Seconds from the start of TMA's copies of a stage to the first bytes; the others follow at the multiprocessor's share of L2
 * (with two stages, of which one is filled at a time, 48 KiB took 1.0 to 1.2 us on an H100, 96 KiB 1.9 to 2.2). */
static const double fill_latency = 0.4e-6;
/* Without stages a tile is loaded to registers, written to shared memory and read, between barriers: times load_latency. */
static const double synchronous_loads = 2;
/* Seconds that a launch adds to those before it on a stream. */
static const double launch_overhead = 2.0e-6;
/* Seconds from the start of a block to its first multiplication. */
static const double block_prologue = 0.8e-6;
/* Seconds to reduce the sums of one more block of a cluster, where blocks split the k of a tile. */
static const double cluster_reduction = 0.3e-6;
/* Fraction of concurrent work that is not hidden. */
static const double overlap_loss = 0.05;
/* Seconds to add the partial sums of a tile that two clusters share, including the fill of the flags; and for each further cluster.
 * bench/README.md, "Hopper", compares the three schedules. */
static const double tile_fixup = 5e-6;
static const double tile_fixup_extra = 2.5e-6;
/* Stream-K clusters are at different k at a time and share fewer reads: seconds of L2 misses for each k-tile of a product, and the
 * number of k-tiles at which that doubles (the same comparison). */
static const double stream_k_miss = 0.2e-6;
static const double l2_decay_tiles = 400;

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Concurrent work takes as long as the longest part, plus a fraction of the rest. */
static double overlapped(const double *seconds, int count)
{
    double most = 0, all = 0;
    for (int i = 0; i < count; i++) {
        all += seconds[i];
        if (seconds[i] > most) most = seconds[i];
    }
    return most + overlap_loss * (all - most);
}

/* Seconds of multiplications: waves of tiles, each with its overhead. */
static double compute_seconds(const cute_model_problem *p, const cute_model_config *c, int64_t blocks,
                              int64_t multiprocessors)
{
    int64_t wave = multiprocessors * c->resident,
            k = ceil_div(ceil_div(p->k, c->bk), c->split) * c->bk + c->overhead;
    double tile = 2.0 * (double)c->bm * (double)c->bn * (double)k / c->rate;
    if (c->tail == CUTE_MODEL_STREAM_K) {
        double tiles = (double)ceil_div(p->k, c->bk);
        return tile * (double)blocks / (double)wave + tile_fixup +
               stream_k_miss * tiles * (1 + tiles / l2_decay_tiles);
    }
    int64_t rest = blocks % wave, parts = rest ? wave / rest : 1;
    if (parts > CUTE_MODEL_TAIL_CLUSTERS) parts = CUTE_MODEL_TAIL_CLUSTERS;
    if (c->tail == CUTE_MODEL_SPLIT && parts > 1)
        return tile * ((double)(blocks / wave) + 1 / (double)parts) + tile_fixup +
               tile_fixup_extra * (double)(parts - 2);
    return tile * ((double)(blocks / wave * c->resident) + (double)ceil_div(blocks % wave, multiprocessors));
}

/* Bytes of A and B that are read from device memory. What exceeds L2 is read again by each wave of blocks: the rows and columns of the
 * tiles that are computed at once, which the order arranges. */
static double operand_bytes(const cute_model_problem *p, const cute_model_config *c, double once, double all,
                            int64_t at_once, const cute_model_device *d)
{
    if (!c->order || all <= (double)d->resident) return once;
    int64_t rows = ceil_div(p->m, c->bm), columns = ceil_div(p->n, c->bn), down, across;
    if (c->order > 1) {
        down = smaller(c->order * c->cluster_m, rows);
        across = smaller(ceil_div(at_once, down), columns);
    } else {
        across = smaller(columns, at_once);
        down = smaller(ceil_div(at_once, across), rows);
    }
    double waves = (double)rows * (double)columns * (double)p->batch / ((double)down * (double)across);
    double wave = ((double)down * (double)c->bm * (double)p->bits_a +
                   (double)across * (double)c->bn * (double)p->bits_b) *
                  (double)p->k / 8;
    return waves * wave > once ? waves * wave : once;
}

/* Seconds of traffic, bounded by operands from memory (or from L2 if still there), by tiles from L2, some of which are multicast to a
 * cluster, and by latency with the bytes in flight. */
static double memory_seconds(const cute_model_problem *p, const cute_model_config *c,
                             const cute_model_device *d, cute_model_time *t)
{
    int64_t most = d->multiprocessors * c->resident, at_once = smaller(t->blocks, most);
    double m = (double)p->m, n = (double)p->n, k = (double)p->k, batch = (double)p->batch;
    double once = (m * k * (double)p->bits_a + n * k * (double)p->bits_b) / 8 * batch;
    double out = m * n * (double)p->bits_out / 8 * (p->addend ? 2 : 1) * batch, all = once + out;
    double stage_a = (double)(c->bm * c->bk * p->bits_a) / 8,
           stage_b = (double)(c->bn * c->bk * p->bits_b) / 8, stage = stage_a + stage_b;
    double fetched = (double)t->blocks / (double)c->split * (double)ceil_div(p->k, c->bk) * stage;
    double sharers = c->merged_reads && c->cluster_m == 1 ? coalesced_reads : (double)c->cluster_m;
    double sharers_a = c->one_row && c->cluster_n == 1 ? coalesced_reads : (double)c->cluster_n;
    t->l2_bytes = fetched * (stage_a / sharers_a + stage_b / sharers) / stage;
    t->dram_bytes = operand_bytes(p, c, once, all, at_once, d) + out;
    double filled = c->stages > c->held ? (double)(c->stages - c->held) : 1,
           in_flight = (double)at_once * filled * stage;
    double l2 = d->l2_tiles * (c->tma ? 1 : non_tma_efficiency);
    t->operands = t->dram_bytes / (all > (double)d->resident ? d->dram : d->l2_operands);
    t->tiles = t->l2_bytes / l2;
    double each =
        c->tma && c->held ? fill_latency + stage * (double)most / (double)c->resident / l2 : load_latency;
    t->latency = fetched * each / in_flight * (c->stages > 1 ? 1 : synchronous_loads);
    return overlapped((double[]){t->operands, t->tiles, t->latency}, 3);
}

static const char *bound_of(const cute_model_time *t, bool resident)
{
    const struct {
        double seconds;
        const char *name;
    } parts[] = {{t->main_loop + t->epilogue, "multiplications"},
                 {t->operands, resident ? "operands from L2" : "device memory"},
                 {t->tiles, "L2"},
                 {t->latency, "load latency"},
                 {t->fixed, "launch"}};
    size_t most = 0;
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].seconds > parts[most].seconds) most = i;
    return parts[most].name;
}

void cute_model_estimate(const cute_model_problem *p, const cute_model_config *c, const cute_model_device *d,
                         cute_model_time *out)
{
    *out = (cute_model_time){0};
    out->blocks = ceil_div(p->m, c->bm * c->cluster_m) * ceil_div(p->n, c->bn * c->cluster_n) * c->cluster_m *
                  c->cluster_n * c->split * p->batch;
    int64_t wave = d->multiprocessors * c->resident;
    double compute = compute_seconds(p, c, out->blocks, d->multiprocessors);
    double memory = memory_seconds(p, c, d, out);
    int64_t k = ceil_div(ceil_div(p->k, c->bk), c->split) * c->bk;
    out->main_loop = compute * (double)k / (double)(k + c->overhead);
    out->epilogue = compute - out->main_loop;
    out->waves = (double)out->blocks / (double)wave;
    /* Without stages a block waits for each of its loads, while the others of the multiprocessor run. */
    out->seconds = c->stages > 1 ? overlapped((double[]){compute, memory}, 2) : compute + memory;
    /* Resident blocks hide each other's prologues; a persistent kernel has one. */
    int64_t waves = c->persistent ? 1 : ceil_div(out->blocks, wave);
    out->fixed = launch_overhead + (double)(c->split - 1) * cluster_reduction +
                 (double)waves * block_prologue / (double)c->resident;
    out->seconds += out->fixed;
    out->bound = bound_of(out, out->dram_bytes <= (double)d->resident);
}

double cute_model_elementwise(const cute_model_device *d, double bytes)
{
    return launch_overhead + bytes / (d->dram * elementwise_efficiency);
}

double cute_model_intensity(int64_t bm, int64_t bn, double best)
{
    double tile = (double)bm * (double)bn / (double)(bm + bn);
    double intensity = tile < best ? tile / best : 1;
    return 0.4 + 0.6 * intensity;
}

/* ---- resources of a block ---- */

int64_t cute_model_resident(int arch, const cute_model_block *b)
{
    const cute_multiprocessor *sm = cute_multiprocessor_of(arch);
    if (!sm || b->threads <= 0) return 1;
    int64_t n = sm->warps ? sm->warps * CUTE_SM_WARP / b->threads : 1;
    if (b->shared > 0) n = smaller(n, sm->block_shared / b->shared);
    if (b->registers > 0) n = smaller(n, CUTE_SM_REGISTERS / b->registers);
    return n < 1 ? 1 : n;
}

bool cute_model_fits(int arch, const cute_model_block *b, char *why, size_t size)
{
    enum { COUNTED = (1 << 20) - 1, ACCUMULATORS = 224 };
    const cute_multiprocessor *sm = cute_multiprocessor_of(arch);
    const struct {
        int64_t needed, most;
        const char *what;
    } limits[] = {{b->threads, CUTE_SM_BLOCK_THREADS, "threads"},
                  {b->shared, sm ? sm->block_shared : INT64_MAX, "bytes of shared memory"},
                  {b->accumulators, ACCUMULATORS, "registers of a thread for sums"},
                  {b->registers, CUTE_SM_REGISTERS, "registers"},
                  {b->stage_bytes, COUNTED, "bytes for one phase of an mbarrier"}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].needed <= limits[i].most) continue;
        snprintf(why, size, "it needs %lld %s, more than the limit of %lld", (long long)limits[i].needed,
                 limits[i].what, (long long)limits[i].most);
        return false;
    }
    return true;
}
