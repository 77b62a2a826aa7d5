/* Launch findings: occupancy, block size, grid size. */
#include "lib/report/code/figures.h"
#include "lib/report/explain/context.h"
#include "lib/report/report.h"
#include "lib/report/roofline/roofline.h"

/* Asynchronous copies and tensor cores hide latency without many warps. */
static bool is_pipelined(const ssa_function *f)
{
    for (size_t n = 0; f && n < f->count; n++)
        if (f->insts[n].flags & (INST_TMA | INST_WGMMA | INST_MMA | INST_ASYNC)) return true;
    return false;
}

/* The most bytes per lane that the global loads of one basic block can have in flight. */
static int64_t bytes_in_flight(const ssa_function *f)
{
    int64_t most = 0;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        int64_t sum = 0;
        for (size_t k = 0; k < f->flow->blocks[b].count && f->blocks[b].weight > 0; k++) {
            const ssa_inst *i = &f->insts[f->flow->blocks[b].first + k];
            if (i->access == CUTE_ACCESS_LOAD && i->space == CUTE_CODE_SPACE_GLOBAL) sum += i->width;
        }
        if (sum > most) most = sum;
    }
    return most;
}

enum { ENOUGH_IN_FLIGHT = 32768 /* bytes per multiprocessor: latency times bandwidth (Little's law) */ };
static const double ENOUGH_ILP = 2.5; /* independent instructions that hide the latency of arithmetic */

/* Cycles per warp of a scheduler with `warps` warps: a basic block takes its issue cycles, or its longest latency chain divided by
 * the warps. */
static double estimate_time(const ssa_function *f, const cute_code_figures *figures, double warps,
                            uint32_t *hot)
{
    double sum = 0, most = 0;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        double issue = 0, wait = (double)figures->blocks[b].cycles / warps;
        for (size_t k = 0; block->reached && k < block->count; k++)
            issue += explain_cost(f, &f->insts[block->first + k]);
        double all = (issue > wait ? issue : wait) * f->blocks[b].weight;
        if (block->reached) sum += all;
        if (block->reached && all > most) most = all, *hot = b;
    }
    return sum;
}

/* A block with enough independent arithmetic to hide its own latency. */
static bool hides_latency(const ssa_function *f, const cute_code_figures *figures, uint32_t b)
{
    const cute_code_block *block = &f->flow->blocks[b];
    size_t math = 0, loads = 0;
    for (size_t k = 0; k < block->count; k++) {
        const ssa_inst *i = &f->insts[block->first + k];
        math += (i->flags & INST_MATH) != 0;
        loads += i->access == CUTE_ACCESS_LOAD;
    }
    return figures->blocks[b].ilp >= ENOUGH_ILP && (!loads || math * 10 >= block->count * 3);
}

/* The share of the time that full occupancy would save; *dense: the hottest block hides its own latency. */
static double occupancy_gain(explain_context *c, bool *dense)
{
    cute_code_figures figures = {0};
    uint32_t hot = 0;
    *dense = false;
    if (!c->sass || !c->sass->flow->block_count || c->occupancy->max_warps < 4) return 0;
    if (!cute_code_count(c->arena, c->sass->flow, &figures)) {
        c->failed = true;
        return 0;
    }
    double all = estimate_time(c->sass, &figures, (double)c->occupancy->max_warps / 4, &hot);
    double now = estimate_time(c->sass, &figures, c->warps, &hot);
    *dense = hides_latency(c->sass, &figures, hot);
    return now > 0 ? 1 - all / now : 0;
}

/* The instruction with the highest register pressure, or the first use of shared memory. */
static const ssa_inst *find_limiting_inst(const explain_context *c)
{
    const ssa_function *f = c->sass;
    if (!f || !f->count) return NULL;
    if (c->occupancy->limits & CUTE_LIMIT_REGISTERS) {
        size_t peak = f->flow->peak_at[CUTE_REGISTER_R];
        return peak < f->count ? &f->insts[peak] : NULL;
    }
    for (size_t n = 0; n < f->count && c->occupancy->limits & CUTE_LIMIT_SHARED; n++)
        if (f->insts[n].space == CUTE_CODE_SPACE_SHARED && f->insts[n].access != CUTE_ACCESS_NONE)
            return &f->insts[n];
    return NULL;
}

void find_low_occupancy(explain_context *c)
{
    const cute_occupancy *o = c->occupancy;
    const ssa_function *f = c->ptx ? c->ptx : c->sass;
    cute_occupancy_input in = c->resources;
    cute_occupancy_most more = {.size = sizeof more};
    bool dense;
    if (!o || !f || o->fraction > 0.51 || is_pipelined(f) || !c->compiled) return;
    if (!(o->limits & (CUTE_LIMIT_REGISTERS | CUTE_LIMIT_SHARED | CUTE_LIMIT_BARRIERS))) return;
    if (bytes_in_flight(f) * o->warps * LANES >= ENOUGH_IN_FLIGHT) return;
    double share = occupancy_gain(c, &dense), least = 0.3 * (1 - o->fraction);
    /* Many registers often mean many loads and sums in flight, which hide latency as well. */
    bool moderate = o->limits & CUTE_LIMIT_REGISTERS && o->fraction > 0.34;
    if (!dense && !moderate && share < least) share = least;
    if (f->assume.block_assumed) in.threads = cute_kernel_threads(c->compiled);
    const char *fix = NULL;
    if (in.threads && cute_occupancy_find_most(&in, o->blocks + 1, &more, NULL) == CUTE_OK) {
        if (o->limits & CUTE_LIMIT_SHARED && more.smem >= 0)
            fix = explain_text(
                c,
                "one more block fits with at most %lld bytes of shared memory per block: use a smaller tile, "
                "fewer stages, or a narrower type",
                (long long)more.smem);
        else if (o->limits & CUTE_LIMIT_REGISTERS && more.registers > 0)
            fix = explain_text(
                c,
                "one more block fits with at most %lld registers per thread: use __launch_bounds__, "
                "-maxrregcount=%lld, or less unrolling",
                (long long)more.registers, (long long)more.registers);
    }
    explain_add_whole(c, find_limiting_inst(c), share, fix, "%lld of %lld warps are resident, limited by %s",
                      (long long)o->warps, (long long)o->max_warps, o->limit);
}

void find_small_blocks(explain_context *c)
{
    const cute_occupancy *o = c->occupancy;
    const ssa_function *f = c->ptx ? c->ptx : c->sass;
    if (!o || !f || f->assume.block_assumed || is_pipelined(f)) return;
    int64_t threads = f->assume.block[0] * f->assume.block[1] * f->assume.block[2];
    if (threads % 32 && threads < 512)
        explain_add_whole(c, NULL, 1 - threads / (double)((threads + 31) / 32 * 32),
                          "launch whole warps: multiples of 32",
                          "%lld threads per block leave %lld lanes of the last warp idle", (long long)threads,
                          (long long)(32 - threads % 32));
    if (!(o->limits & CUTE_LIMIT_BLOCKS) || o->fraction > 0.75) return;
    explain_add_whole(c, NULL, 0.5 * (1 - o->fraction), NULL,
                      "%lld threads per block and at most %lld blocks per multiprocessor: %lld of %lld warps",
                      (long long)threads, (long long)o->blocks, (long long)o->warps, (long long)o->max_warps);
}

static int64_t count_multiprocessors(explain_context *c)
{
    roof_device device;
    if (c->input->sms > 0) return c->input->sms;
    return cute_roof_device_of_arch(cute_module_arch(c->input->module), &device) ? device.multiprocessors : 0;
}

void find_tail(explain_context *c)
{
    const ssa_function *f = c->ptx ? c->ptx : c->sass;
    int64_t sms = count_multiprocessors(c);
    if (!c->launched || !c->occupancy || !f || sms < 1 || c->occupancy->blocks < 1) return;
    int64_t blocks = f->assume.grid[0] * f->assume.grid[1] * f->assume.grid[2],
            resident = c->occupancy->blocks * sms;
    if (blocks <= resident) return;
    int64_t waves = (blocks + resident - 1) / resident;
    double share = 1 - blocks / (double)(waves * resident);
    /* Blocks end at different times, so the tail matters less after many waves. */
    if (waves > 8) share /= 4;
    explain_add_whole(
        c, NULL, share, NULL,
        "%lld blocks, %lld resident on %lld multiprocessors: %.2f waves, %lld blocks in the last one",
        (long long)blocks, (long long)resident, (long long)sms, blocks / (double)resident,
        (long long)(blocks - (waves - 1) * resident));
}

void find_idle(explain_context *c)
{
    const ssa_function *f = c->ptx ? c->ptx : c->sass;
    int64_t sms = count_multiprocessors(c);
    if (!c->launched || !f || sms < 1) return;
    int64_t blocks = f->assume.grid[0] * f->assume.grid[1] * f->assume.grid[2];
    if (blocks < 1 || blocks * 10 >= sms * 9) return;
    explain_add_whole(c, NULL, 1 - blocks / (double)sms, NULL, "%lld blocks for %lld multiprocessors",
                      (long long)blocks, (long long)sms);
}
