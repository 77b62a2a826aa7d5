/* The work of a kernel, from its counters, and the time that each ceiling of a device requires for it. */
#include <string.h>

#include "lib/report/roofline/roofline.h"

/* Seconds between two launches on a stream, the least time of any kernel. */
static const double launch_time = 2e-6;
enum { SHARED_WAVEFRONT = 128, SECTOR = 32 };

static double integer_of(const json_t *value, const char *key)
{
    return (double)json_integer_value(json_object_get(value, key));
}

/* Traffic of the unified L1 and shared memory: shared-memory wavefronts, global-memory sectors, and the bytes of bulk copies and
 * wgmma, which are neither. */
static double l1_bytes(const json_t *kernel, const roof_work *w)
{
    const json_t *wavefronts = json_object_get(kernel, "wavefronts"),
                 *sectors = json_object_get(kernel, "sectors");
    double bytes = w->shared_read + w->shared_written, threads = 0;
    size_t index;
    json_t *line;
    double global = SECTOR * integer_of(sectors, "count");
    if (!wavefronts) return bytes + global;
    json_array_foreach(json_object_get(kernel, "lines"), index, line)
    {
        const json_t *shared = json_object_get(json_object_get(line, "bytes"), "shared");
        if (json_object_get(line, "wavefronts"))
            threads += integer_of(shared, "read") + integer_of(shared, "written");
    }
    return bytes - threads + global + SHARED_WAVEFRONT * integer_of(wavefronts, "count");
}

roof_work cute_roof_work_of_counters(const json_t *kernel)
{
    const json_t *bytes = json_object_get(kernel, "bytes"), *work = json_object_get(kernel, "work");
    const json_t *dram = json_object_get(kernel, "dram"), *l2 = json_object_get(kernel, "l2");
    const json_t *bulk = json_object_get(kernel, "bulk"), *shared = json_object_get(bytes, "shared");
    roof_work w = {.kernel = json_string_value(json_object_get(kernel, "kernel")),
                   .launches = json_integer_value(json_object_get(kernel, "launches")),
                   .blocks = json_integer_value(json_object_get(kernel, "blocks")),
                   .dram_read = integer_of(dram, "read"),
                   .dram_written = integer_of(dram, "written"),
                   .l2_read = integer_of(l2, "read"),
                   .l2_written = integer_of(l2, "written"),
                   .shared_read = integer_of(shared, "read"),
                   .shared_written = integer_of(shared, "written"),
                   .bulk_read = integer_of(bulk, "read"),
                   .bulk_written = integer_of(bulk, "written"),
                   .atomics = integer_of(kernel, "global_atomics"),
                   .has_dram = dram != NULL};
    if (!w.kernel) w.kernel = "";
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        const json_t *one = json_object_get(work, roof_ceilings[n].key);
        w.operations[n] = integer_of(one, "operations");
        w.amount[n] = n >= ROOF_TENSOR_F64 ? w.operations[n] : integer_of(one, "lanes");
    }
    w.amount[ROOF_DRAM] = w.dram_read + w.dram_written;
    w.amount[ROOF_L2] = w.l2_read + w.l2_written;
    w.amount[ROOF_L1] = l1_bytes(kernel, &w);
    w.amount[ROOF_ISSUE] = integer_of(kernel, "issued");
    return w;
}

roof_bound cute_roof_bound(const roof_device *d, const roof_work *w, bool cached)
{
    roof_bound b = {0};
    double launches = w->launches > 0 ? (double)w->launches : 1, slowest = 0, least = launch_time * launches;
    double blocks = (double)w->blocks / launches;
    double part =
        w->blocks == 0 || blocks >= (double)d->multiprocessors ? 1 : blocks / (double)d->multiprocessors;
    bool measured = false, fits = cached && w->amount[ROOF_DRAM] / launches <= (double)d->l2;
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        double share = d->each_multiprocessor[n] ? part : 1;
        if (d->most[n] > 0) b.seconds[n] = w->amount[n] / (d->most[n] * share);
        if (n == ROOF_DRAM && fits) continue;
        if (b.seconds[n] > b.seconds[b.bound] || (b.bound == ROOF_DRAM && fits)) b.bound = (roof_ceiling)n;
        double rate = d->measured[n] > 0 ? d->measured[n] : d->most[n];
        measured = measured || (d->measured[n] > 0 && w->amount[n] > 0);
        if (rate > 0 && w->amount[n] / (rate * share) > slowest) slowest = w->amount[n] / (rate * share);
    }
    b.launch = b.seconds[b.bound] < least;
    b.expected = b.launch ? least : b.seconds[b.bound];
    if (measured) b.attainable = slowest < least ? least : slowest;
    return b;
}
