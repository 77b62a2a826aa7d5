/* The time of kernels without products: bytes of device memory, blocks that wait for their loads, instructions. See model.h. */
#include "lib/base/devices/multiprocessor.h"
#include "lib/model/model.h"

/* The constants are estimates. Seconds from a load to its data, with many loads in flight. */
static const double load_latency = 0.9e-6;
/* Seconds from the start of a block to its first load, and from its last store to the next block's start. */
static const double block_overhead = 0.4e-6;
/* Seconds for a barrier of a block, with the exchange through shared memory. */
static const double barrier_latency = 40e-9;
static const double launch_overhead = 2.0e-6;
/* Fraction of concurrent work that is not hidden. */
static const double overlap_loss = 0.05;
/* Warps that begin an instruction in a cycle; cycles between two of one warp, which mostly depend on one another. */
enum { LANES = 32, SCHEDULERS = 4, CYCLES = 3 };

static double larger(double a, double b)
{
    return a > b ? a : b;
}

void cute_model_traffic_estimate(const cute_model_traffic *t, const cute_model_device *d,
                                 cute_model_time *out)
{
    const cute_multiprocessor *sm = cute_multiprocessor_of(d->arch);
    cute_model_block block = {
        .threads = t->threads, .registers = t->threads * t->registers, .shared = t->shared};
    int64_t resident = cute_model_resident(d->arch, &block), warps = (t->threads + LANES - 1) / LANES;
    if (sm && sm->blocks && resident > sm->blocks) resident = sm->blocks;
    double blocks = (double)t->blocks, slots = (double)(d->multiprocessors * resident);
    double sms = (double)d->multiprocessors < blocks ? (double)d->multiprocessors : blocks;
    *out = (cute_model_time){.blocks = t->blocks, .waves = blocks / slots, .fixed = launch_overhead};
    out->dram_bytes = blocks * t->bytes;
    out->operands = out->dram_bytes / d->dram;
    double each = t->operations / (double)(LANES * warps) + t->warp_operations; /* instructions of a warp */
    out->main_loop = blocks * (double)warps * each / (SCHEDULERS * sms * d->clock);
    out->latency = larger(out->waves, 1) * (block_overhead + t->loads * load_latency +
                                            t->barriers * barrier_latency + CYCLES * each / d->clock);
    double all = out->operands + out->latency + out->main_loop,
           most = larger(out->operands, larger(out->latency, out->main_loop));
    out->seconds = out->fixed + most + overlap_loss * (all - most);
    out->bound = most <= out->fixed      ? "launch"
                 : most == out->operands ? "device memory"
                 : most == out->latency  ? "load latency"
                                         : "instructions";
}
