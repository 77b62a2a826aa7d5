/* Times the probes on a GPU and stores the attained rates in the cache by device name. */
#include "lib/report/roofline/calibrate.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/system/cache.h"
#include "lib/report/table.h"

enum { RUNS = 7, FIRST_ITERATIONS = 64, MOST_ITERATIONS = 1 << 24 };
/* Enough DRAM that L2 hits and the launch time are negligible, but not all of the device's memory. */
enum { MINIMAL_DRAM = 64 << 20, MINIMAL_L2 = 1 << 20, TIMES_L2 = 32, PART_OF_MEMORY = 8 };
static const double enough = 4e-3; /* seconds of a run */

typedef struct bench {
    cute_device *device;
    const roof_device *d;
    cute_device_event *begin, *end;
    cute_address memory;
    size_t bytes; /* of it */
} bench;

/* The working set of a probe: for DRAM whole steps of the grid, for L2 a power of two. */
static uint64_t working_set(const bench *b, const roof_probe *p, int64_t grid)
{
    uint64_t l2 = MINIMAL_L2, step = (uint64_t)ROOF_STEP * (uint64_t)(grid * p->threads);
    if (p->ceiling == ROOF_DRAM) return b->bytes / step * step;
    while (p->ceiling == ROOF_L2 && (int64_t)l2 * 4 <= b->d->l2 && l2 * 2 <= b->bytes) l2 *= 2;
    return l2;
}

static cute_status run_probe(const bench *b, const roof_probe *p, cute_device_function *f,
                             uint32_t iterations, double *seconds, double *amount, cute_diag *diag)
{
    int64_t grid = p->blocks * b->d->multiprocessors;
    cute_address memory = b->memory;
    uint64_t bytes = working_set(b, p, grid);
    cute_device_launch shape = {.size = sizeof shape, .grid = {grid, 1, 1}, .block = {p->threads, 1, 1}};
    void *params[] = {&memory, &bytes, &iterations};
    CUTE_TRY(cute_device_event_record(b->device, b->begin, diag));
    CUTE_TRY(cute_device_start(b->device, f, &shape, params, diag));
    CUTE_TRY(cute_device_event_record(b->device, b->end, diag));
    CUTE_TRY(cute_device_sync(b->device, diag));
    CUTE_TRY(cute_device_elapsed(b->device, b->begin, b->end, seconds, diag));
    *amount = p->amount ? (double)p->amount * (double)grid * iterations : (double)bytes;
    return CUTE_OK;
}

/* The best rate of several sufficiently long runs. */
static cute_status time_probe(const bench *b, const roof_probe *p, cute_device_function *f, double *rate,
                              cute_diag *diag)
{
    uint32_t iterations = p->ceiling == ROOF_DRAM ? 1 : FIRST_ITERATIONS;
    double seconds = 0, amount = 0;
    CUTE_TRY(run_probe(b, p, f, iterations, &seconds, &amount, diag)); /* warm-up */
    CUTE_TRY(run_probe(b, p, f, iterations, &seconds, &amount, diag));
    while (p->ceiling != ROOF_DRAM && seconds < enough / 2 && iterations < MOST_ITERATIONS) {
        double more = seconds > 0 ? enough / seconds : 16;
        iterations *= more > 16 ? 16 : more < 2 ? 2 : (uint32_t)more;
        CUTE_TRY(run_probe(b, p, f, iterations, &seconds, &amount, diag));
    }
    for (int n = 0; n < RUNS; n++) {
        CUTE_TRY(run_probe(b, p, f, iterations, &seconds, &amount, diag));
        if (seconds > 0 && amount / seconds > *rate) *rate = amount / seconds;
    }
    return CUTE_OK;
}

/* Measures one probe; a probe that the driver rejects only gives a warning. */
static cute_status measure_probe(const bench *b, const roof_probe *p, double *rate, cute_diag *diag)
{
    cute_buffer ptx = {0};
    cute_device_module *module = NULL;
    cute_device_function *f = NULL;
    cute_device_launch shape = {.size = sizeof shape, .grid = {1, 1, 1}, .block = {p->threads, 1, 1}};
    cute_diag *quiet = cute_diag_create();
    if (!quiet) return cute_fail_memory(diag);
    p->ptx(p, &ptx);
    bool taken =
        cute_device_load(b->device, "<probe>", cute_buffer_text(&ptx), ptx.length, &module, quiet) == CUTE_OK;
    taken = taken && cute_device_get_function(b->device, module, "probe", &f, quiet) == CUTE_OK &&
            cute_device_prepare(b->device, f, &shape, quiet) == CUTE_OK;
    cute_status status = taken ? time_probe(b, p, f, rate, diag) : CUTE_OK;
    if (!taken)
        cute_report(diag, CUTE_WARNING, NULL, "%s for %s was not measured: %s", p->what,
                    roof_ceilings[p->ceiling].text,
                    cute_diag_count(quiet) ? cute_diag_get(quiet, 0)->text : "the driver rejected it");
    if (module && status == CUTE_OK) status = cute_device_unload(b->device, module, diag);
    cute_buffer_release(&ptx);
    cute_diag_destroy(quiet);
    return status;
}

/* Tensor cores of sm_100 to sm_110 are only fast through tcgen05, so the mma.sync probes do not apply. */
static bool is_applicable(const roof_probe *p, int arch)
{
    return arch >= p->from && (!p->to || arch <= p->to) &&
           !(p->mma && cute_arch_has(arch, CUTE_FEATURE_TCGEN05));
}

cute_status cute_roof_calibrate(cute_device *device, roof_device *d, cute_diag *diag)
{
    const cute_device_info *info = cute_device_get_info(device);
    int arch = info->major * 10 + info->minor;
    bench b = {.device = device, .d = d};
    bool any = false;
    if (strcmp(info->kind, "emulator") == 0)
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expected a GPU to calibrate, got the emulator, whose times do not predict those of a GPU");
    cute_roof_device_of_info(info, d);
    int64_t bytes = d->l2 * TIMES_L2, part = info->memory / PART_OF_MEMORY;
    if (part > 0 && bytes > part) bytes = part;
    b.bytes = (size_t)(bytes > MINIMAL_DRAM ? bytes : MINIMAL_DRAM);
    CUTE_TRY(cute_device_alloc(device, b.bytes, &b.memory, diag));
    cute_status status = cute_device_fill(device, b.memory, 0x5a, b.bytes, diag);
    if (status == CUTE_OK) status = cute_device_event_create(device, &b.begin, diag);
    if (status == CUTE_OK) status = cute_device_event_create(device, &b.end, diag);
    for (size_t n = 0; n < roof_probe_count && status == CUTE_OK; n++) {
        const roof_probe *p = &roof_probes[n];
        double rate = 0;
        if (!is_applicable(p, arch)) continue;
        status = measure_probe(&b, p, &rate, diag);
        if (status != CUTE_OK) break;
        any = any || rate > 0;
        if (rate > d->measured[p->ceiling]) d->measured[p->ceiling] = rate;
    }
    if (status == CUTE_OK) status = cute_device_free(device, b.memory, diag);
    if (status == CUTE_OK && !any)
        status = cute_fail(diag, CUTE_SYSTEM, NULL, "nothing was measured: the driver rejected all kernels");
    return status;
}

/* ---- cache ---- */

static const char kind[] = "roofline";

static void put_key(const roof_device *d, cute_buffer *key)
{
    cute_buffer_printf(key, "%s|%s|%lld|%.0f", d->name, d->arch, (long long)d->multiprocessors, d->clock);
}

void cute_roof_remember(const char *folder, const roof_device *d)
{
    cute_buffer key = {0}, text = {0};
    json_t *value = json_object();
    put_key(d, &key);
    for (int n = 0; n < ROOF_CEILINGS; n++)
        if (d->measured[n] > 0) json_object_set_new(value, roof_ceilings[n].key, json_real(d->measured[n]));
    cute_json_dump(value, false, &text);
    if (folder && cute_buffer_ok(&key) && cute_buffer_ok(&text))
        cute_cache_put(folder, kind, key.data, key.length, text.data, text.length);
    json_decref(value);
    cute_buffer_release(&key);
    cute_buffer_release(&text);
}

bool cute_roof_recall(const char *folder, roof_device *d)
{
    cute_buffer key = {0}, text = {0};
    json_t *value = NULL;
    put_key(d, &key);
    if (folder && cute_buffer_ok(&key) && cute_cache_get(folder, kind, key.data, key.length, &text))
        value = json_loadb(cute_buffer_text(&text), text.length, 0, NULL);
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        double rate = json_number_value(json_object_get(value, roof_ceilings[n].key));
        if (rate > 0) d->measured[n] = rate;
    }
    bool found = json_is_object(value);
    json_decref(value);
    cute_buffer_release(&key);
    cute_buffer_release(&text);
    return found;
}

char *cute_roof_device_report(const roof_device *d, bool json)
{
    cute_buffer out = {0};
    cute_arena *arena = cute_arena_create();
    cute_table table = {.arena = arena, .columns = 4};
    if (!json && arena) {
        cute_buffer_printf(&out, "%s (%s): %lld multiprocessors at %.0f MHz\n", d->name, d->arch,
                           (long long)d->multiprocessors, d->clock * 1e-6);
        cute_table_row(&table, (const char *[]){"ceiling", "peak", "measured", ""});
        for (int n = 0; n < ROOF_CEILINGS; n++) {
            const roof_ceiling_info *info = &roof_ceilings[n];
            if (d->most[n] <= 0 && d->measured[n] <= 0) continue;
            const char *share = d->most[n] > 0 && d->measured[n] > 0
                                    ? cute_arena_printf(arena, "%.1f%%", 100 * d->measured[n] / d->most[n])
                                    : "";
            cute_table_row(&table,
                           (const char *[]){info->text, cute_roof_rate(arena, d->most[n], info->unit),
                                            cute_roof_rate(arena, d->measured[n], info->unit), share});
        }
        cute_table_print(&table, 1, "  ", &out);
    }
    char *text = cute_json_finish(cute_roof_device_json(d), json, &out);
    cute_arena_destroy(arena);
    return text;
}
