/* Reports: one JSON value is built from a launch; people get it as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/launch/launch.h"
#include "lib/report/counters.h"

static json_t *extents(const int64_t *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_integer(values[i]));
    return list;
}

/* JSON has no NaN and no infinities. */
static json_t *number(double value)
{
    if (value != value) return json_string("nan");
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

static json_t *index_of(const cute_tensor *t, int64_t linear)
{
    int64_t index[CUTE_TENSOR_RANK];
    if (linear < 0) return json_null();
    for (int i = t->rank; i-- > 0; linear /= t->shape[i]) index[i] = linear % t->shape[i];
    return extents(index, t->rank);
}

static json_t *launch_json(const cute_launch *l, size_t i)
{
    const plan_launch *p = &l->plan.main.launches[i];
    json_t *value = json_object(), *args = json_array();
    json_object_set_new(value, "kernel", json_string(p->kernel->name));
    json_object_set_new(value, "grid", extents(p->shape.grid, 3));
    json_object_set_new(value, "block", extents(p->shape.block, 3));
    if (p->shape.cluster[0]) json_object_set_new(value, "cluster", extents(p->shape.cluster, 3));
    json_object_set_new(value, "dynamic_smem", json_integer(p->shape.dynamic_smem));
    if (p->shape.cooperative) json_object_set_new(value, "cooperative", json_true());
    if (p->shape.programmatic) json_object_set_new(value, "programmatic", json_true());
    for (size_t k = 0; k < p->arg_count; k++) json_array_append_new(args, json_string(p->arg_texts[k]));
    json_object_set_new(value, "args", args);
    for (size_t k = 0; k < p->fixup_count; k++) {
        if (p->fixups[k].kind == FIXUP_BUFFER) continue;
        json_t *maps = json_object_get(value, "tensor_maps");
        if (!maps) json_object_set_new(value, "tensor_maps", maps = json_array());
        json_array_append_new(maps, json_string(l->plan.maps[p->fixups[k].index].text));
    }
    if (!l->ran) return value;
    const cute_function_info *f = &l->run.functions[i];
    json_object_set_new(value, "registers", json_integer(f->registers));
    json_object_set_new(value, "static_smem", json_integer(f->static_smem));
    json_object_set_new(value, "local_bytes", json_integer(f->local_bytes));
    return value;
}

static json_t *buffer_json(const config_buffer *b)
{
    static const char *const inits[] = {"none",     "value", "iota", "uniform", "normal",
                                        "integers", "nan",   "expr", "npy",     "raw"};
    json_t *value = json_object();
    json_object_set_new(value, "name", json_string(b->tensor.name));
    json_object_set_new(value, "dtype", json_string(cute_dtype_get(b->tensor.dtype)->name));
    json_object_set_new(value, "shape", extents(b->tensor.shape, b->tensor.rank));
    json_object_set_new(value, "strides", extents(b->tensor.strides, b->tensor.rank));
    json_object_set_new(value, "bytes", json_integer(b->tensor.bytes));
    json_object_set_new(value, "init", json_string(inits[b->init]));
    return value;
}

static json_t *error_json(const cute_tensor *t, json_t *size, int64_t at)
{
    json_t *value = json_object();
    json_object_set_new(value, "value", size);
    json_object_set_new(value, "index", index_of(t, at));
    return value;
}

static json_t *check_json(const cute_launch *l, size_t i)
{
    const cute_check_result *r = &l->results[i];
    const config_check *c = l->checks[i].config;
    const cute_tensor *t = &c->buffer->tensor;
    json_t *value = json_object();
    json_object_set_new(value, "buffer", json_string(t->name));
    json_object_set_new(value, "ok", json_boolean(r->bad == 0));
    json_object_set_new(value, "compared", json_integer(r->compared));
    json_object_set_new(value, "bad", json_integer(r->bad));
    json_object_set_new(value, "rtol", json_real(c->rtol));
    json_object_set_new(value, "atol", json_real(c->atol));
    if (c->ulp >= 0) json_object_set_new(value, "ulp", json_integer(c->ulp));
    if (r->first >= 0) {
        json_t *first = json_object();
        json_object_set_new(first, "index", index_of(t, r->first));
        json_object_set_new(first, "got", number(r->got));
        json_object_set_new(first, "want", number(r->want));
        json_object_set_new(value, "first_bad", first);
    }
    json_object_set_new(value, "max_abs", error_json(t, json_real(r->max_abs), r->max_abs_at));
    json_object_set_new(value, "max_rel", error_json(t, json_real(r->max_rel), r->max_rel_at));
    json_object_set_new(value, "max_ulp", error_json(t, json_integer(r->max_ulp), r->max_ulp_at));
    json_object_set_new(value, "nans", json_integer(r->got_nans));
    json_object_set_new(value, "expected_nans", json_integer(r->want_nans));
    return value;
}

static json_t *output_json(const launch_output *o)
{
    json_t *value = json_object();
    json_object_set_new(value, "buffer", json_string(o->config->buffer->tensor.name));
    if (o->npy) json_object_set_new(value, "npy", json_string(o->npy));
    if (o->raw) json_object_set_new(value, "raw", json_string(o->raw));
    if (!o->config->stats) return value;
    launch_stats s = cute_launch_stats(&o->config->buffer->tensor);
    json_t *stats = json_object();
    json_object_set_new(stats, "count", json_integer(s.count));
    json_object_set_new(stats, "min", json_real(s.min));
    json_object_set_new(stats, "max", json_real(s.max));
    json_object_set_new(stats, "mean", json_real(s.mean));
    json_object_set_new(stats, "deviation", json_real(s.deviation));
    json_object_set_new(stats, "zeros", json_integer(s.zeros));
    json_object_set_new(stats, "nans", json_integer(s.nans));
    json_object_set_new(stats, "infinities", json_integer(s.infinities));
    json_object_set_new(value, "stats", stats);
    return value;
}

static json_t *times_json(const cute_launch *l, size_t which, const char *name, double bytes, double flops)
{
    launch_times t = cute_launch_times(&l->run.samples[which], l->config.bench.samples);
    json_t *value = json_object();
    json_object_set_new(value, "name", json_string(name));
    json_object_set_new(value, "samples", json_integer(t.samples));
    json_object_set_new(value, "batch", json_integer(t.batch));
    json_object_set_new(value, "mean_s", json_real(t.mean));
    json_object_set_new(value, "median_s", json_real(t.median));
    json_object_set_new(value, "min_s", json_real(t.min));
    json_object_set_new(value, "noise", json_real(t.noise));
    if (bytes > 0 && t.median > 0) {
        json_object_set_new(value, "bytes", json_real(bytes));
        json_object_set_new(value, "gbytes_per_s", json_real(bytes / t.median * 1e-9));
    }
    if (flops > 0 && t.median > 0) {
        json_object_set_new(value, "flops", json_real(flops));
        json_object_set_new(value, "tflops_per_s", json_real(flops / t.median * 1e-12));
    }
    return value;
}

/* How the plan compares: by the rate of bytes where both have one, else of operations, else by time. Above 1:
 * faster. */
static double ratio(const json_t *own, const json_t *peer)
{
    static const char *const rates[] = {"gbytes_per_s", "tflops_per_s"};
    for (int i = 0; i < 2; i++) {
        const json_t *a = json_object_get(own, rates[i]), *b = json_object_get(peer, rates[i]);
        if (a && b) return json_real_value(a) / json_real_value(b);
    }
    double mine = json_real_value(json_object_get(own, "median_s"));
    return mine > 0 ? json_real_value(json_object_get(peer, "median_s")) / mine : 0;
}

typedef struct count_name {
    const char *key, *text;
    size_t offset;
} count_name;
static const count_name count_names[] = {
    {"instructions", "instructions of warps", offsetof(cute_device_counts, instructions)},
    {"lanes", "lane operations", offsetof(cute_device_counts, lanes)},
    {"global_read", "bytes read from global memory", offsetof(cute_device_counts, global_read)},
    {"global_written", "bytes written to global memory", offsetof(cute_device_counts, global_written)},
    {"shared_read", "bytes read from shared memory", offsetof(cute_device_counts, shared_read)},
    {"shared_written", "bytes written to shared memory", offsetof(cute_device_counts, shared_written)},
    {"divergences", "branches that parted a warp", offsetof(cute_device_counts, divergences)},
    {"barriers", "barriers of blocks", offsetof(cute_device_counts, barriers)},
    {"mma_flops", "operations of tensor cores", offsetof(cute_device_counts, mma_flops)},
};

/* The emulator counts; it has no times that mean anything on a GPU. */
static json_t *counts_json(const cute_device_counts *counts)
{
    json_t *value = json_object();
    for (size_t i = 0; i < sizeof count_names / sizeof *count_names; i++) {
        uint64_t count;
        memcpy(&count, (const char *)counts + count_names[i].offset, sizeof count);
        json_object_set_new(value, count_names[i].key, json_integer((json_int_t)count));
    }
    return value;
}

static void text_counts(const json_t *value, cute_buffer *out)
{
    for (size_t i = 0; i < sizeof count_names / sizeof *count_names; i++) {
        long long count = json_integer_value(json_object_get(value, count_names[i].key));
        if (count) cute_buffer_printf(out, "  %14lld %s\n", count, count_names[i].text);
    }
}

static json_t *bench_json(const cute_launch *l)
{
    const config_bench *b = &l->config.bench;
    json_t *value = json_object(), *baselines = json_array();
    const char *name = l->plan.main.count == 1 ? l->plan.main.launches[0].kernel->name : "all launches";
    json_t *own = times_json(l, 0, name, b->bytes, b->flops);
    json_object_set_new(value, "cache", json_string(b->cold ? "cold" : "warm"));
    json_object_set_new(value, "timing", json_string(b->graph ? "graph" : "events"));
    json_object_set_new(value, "kernel", own);
    /* Two transfers a clock: double data rate. */
    double peak = 2e3 * (double)l->run.device.memory_clock * (double)l->run.device.bus_width / 8;
    if (b->bytes > 0 && peak > 0)
        json_object_set_new(own, "of_peak",
                            json_real(json_real_value(json_object_get(own, "gbytes_per_s")) * 1e9 / peak));
    for (size_t i = 0; i < b->baseline_count; i++) {
        json_t *peer =
            times_json(l, i + 1, b->baselines[i].name, b->baselines[i].bytes, b->baselines[i].flops);
        json_object_set_new(peer, "ratio", json_real(ratio(own, peer)));
        json_array_append_new(baselines, peer);
    }
    json_object_set_new(value, "baselines", baselines);
    return value;
}

static json_t *unwritten_json(const cute_launch *l)
{
    json_t *list = json_array();
    for (size_t i = 0; i < l->config.buffer_count; i++) {
        const data_unwritten *u = &l->unwritten[i];
        const cute_tensor *t = &l->config.buffers[i].tensor;
        if (u->count == 0 && u->outside < 0) continue;
        json_t *value = json_object();
        json_object_set_new(value, "buffer", json_string(t->name));
        json_object_set_new(value, "unwritten", json_integer(u->count));
        json_object_set_new(value, "first", index_of(t, u->first));
        if (u->outside >= 0) json_object_set_new(value, "written_behind_end", json_integer(u->outside));
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *timing_json(const cute_launch *l)
{
    static const char *const names[] = {"open_s", "load_s", "upload_s", "launch_s", "download_s", "bench_s"};
    json_t *value = json_object();
    json_object_set_new(value, "plan_s", json_real(l->read_seconds));
    json_object_set_new(value, "data_s", json_real(l->data_seconds));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(value, names[i], json_real(l->run.phases[i]));
    json_object_set_new(value, "check_s", json_real(l->check_seconds));
    json_object_set_new(value, "output_s", json_real(l->output_seconds));
    return value;
}

static json_t *report_json(const cute_launch *l, bool timing)
{
    json_t *value = json_object(), *launches = json_array(), *buffers = json_array(), *checks = json_array(),
           *outputs = json_array();
    json_object_set_new(value, "config", json_string(l->config.document.label));
    json_object_set_new(value, "arch", json_string(cute_module_arch(l->plan.module)));
    json_object_set_new(value, "seed", json_integer((json_int_t)l->seed));
    for (size_t i = 0; i < l->plan.main.count; i++) json_array_append_new(launches, launch_json(l, i));
    for (size_t i = 0; i < l->config.buffer_count; i++)
        json_array_append_new(buffers, buffer_json(&l->config.buffers[i]));
    json_object_set_new(value, "launches", launches);
    json_object_set_new(value, "buffers", buffers);
    if (l->ran) {
        json_t *device = json_object();
        json_object_set_new(device, "index", json_integer(l->run.device.index));
        json_object_set_new(device, "name", json_string(l->run.device.name));
        json_object_set_new(device, "arch", json_string(l->run.device.arch));
        json_object_set_new(device, "driver", json_integer(l->run.device.driver_version));
        json_object_set_new(value, "device", device);
    }
    for (size_t i = 0; i < l->config.check_count && l->judged; i++)
        json_array_append_new(checks, check_json(l, i));
    for (size_t i = 0; i < l->config.output_count && l->judged; i++)
        if (l->outputs[i].config) json_array_append_new(outputs, output_json(&l->outputs[i]));
    json_object_set_new(value, "checks", checks);
    json_object_set_new(value, "outputs", outputs);
    if (l->judged) json_object_set_new(value, "unwritten", unwritten_json(l));
    if (l->ran && l->bench && !l->run.emulated) json_object_set_new(value, "bench", bench_json(l));
    if (l->ran && l->run.emulated) json_object_set_new(value, "counts", counts_json(&l->run.counts));
    if (l->counters) json_object_set(value, "counters", l->counters);
    if (l->checked) json_object_set(value, "kernel_checks", l->checked);
    if (timing) json_object_set_new(value, "timing", timing_json(l));
    return value;
}

/* ---- text ---- */

static void text_extents(const json_t *list, cute_buffer *out)
{
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)list, index, item)
        cute_buffer_printf(out, "%s%lld", index ? "x" : "", (long long)json_integer_value(item));
}

static void text_launch(const json_t *value, cute_buffer *out)
{
    const json_t *cluster = json_object_get(value, "cluster"),
                 *registers = json_object_get(value, "registers");
    long long smem = json_integer_value(json_object_get(value, "dynamic_smem"));
    size_t index;
    json_t *item;
    cute_buffer_printf(out, "%s: grid ", json_string_value(json_object_get(value, "kernel")));
    text_extents(json_object_get(value, "grid"), out);
    cute_buffer_puts(out, ", block ");
    text_extents(json_object_get(value, "block"), out);
    if (cluster) {
        cute_buffer_puts(out, ", cluster ");
        text_extents(cluster, out);
    }
    if (smem) cute_buffer_printf(out, ", %lld bytes of dynamic shared memory", smem);
    if (json_object_get(value, "cooperative")) cute_buffer_puts(out, ", cooperative");
    if (json_object_get(value, "programmatic")) cute_buffer_puts(out, ", programmatic");
    if (json_integer_value(registers)) /* the emulator has none */
        cute_buffer_printf(out, ", %lld registers", (long long)json_integer_value(registers));
    cute_buffer_putc(out, '\n');
    json_array_foreach(json_object_get(value, "args"), index, item)
        cute_buffer_printf(out, "  %s\n", json_string_value(item));
    json_array_foreach(json_object_get(value, "tensor_maps"), index, item)
        cute_buffer_printf(out, "  tensor map: %s\n", json_string_value(item));
}

static void text_buffer(const json_t *value, cute_buffer *out)
{
    const char *init = json_string_value(json_object_get(value, "init"));
    cute_buffer_printf(out, "buffer %s: %s ", json_string_value(json_object_get(value, "name")),
                       json_string_value(json_object_get(value, "dtype")));
    text_extents(json_object_get(value, "shape"), out);
    cute_buffer_printf(out, ", %lld bytes, %s\n",
                       (long long)json_integer_value(json_object_get(value, "bytes")),
                       strcmp(init, "none") == 0 ? "output" : init);
}

static void text_check(const json_t *value, cute_buffer *out)
{
    const char *buffer = json_string_value(json_object_get(value, "buffer"));
    long long compared = json_integer_value(json_object_get(value, "compared")),
              bad = json_integer_value(json_object_get(value, "bad"));
    if (bad) {
        cute_buffer_printf(out, "check %s: FAILED, %lld of %lld elements are wrong\n", buffer, bad, compared);
        return;
    }
    cute_buffer_printf(
        out, "check %s: passed, %lld elements, largest error %.3g, relative %.3g, %lld ulp\n", buffer,
        compared, json_real_value(json_object_get(json_object_get(value, "max_abs"), "value")),
        json_real_value(json_object_get(json_object_get(value, "max_rel"), "value")),
        (long long)json_integer_value(json_object_get(json_object_get(value, "max_ulp"), "value")));
}

static void text_output(const cute_launch *l, size_t i, const json_t *value, cute_buffer *out)
{
    const launch_output *o = &l->outputs[i];
    const json_t *stats = json_object_get(value, "stats");
    const cute_tensor *t = &o->config->buffer->tensor;
    if (o->npy) cute_buffer_printf(out, "output %s: %s\n", t->name, o->npy);
    if (o->raw) cute_buffer_printf(out, "output %s: %s\n", t->name, o->raw);
    if (stats)
        cute_buffer_printf(out,
                           "output %s: %lld elements, min %.6g, max %.6g, mean %.6g, deviation %.6g, %lld "
                           "zeros, %lld NaNs, %lld infinities\n",
                           t->name, (long long)json_integer_value(json_object_get(stats, "count")),
                           json_real_value(json_object_get(stats, "min")),
                           json_real_value(json_object_get(stats, "max")),
                           json_real_value(json_object_get(stats, "mean")),
                           json_real_value(json_object_get(stats, "deviation")),
                           (long long)json_integer_value(json_object_get(stats, "zeros")),
                           (long long)json_integer_value(json_object_get(stats, "nans")),
                           (long long)json_integer_value(json_object_get(stats, "infinities")));
    if (o->config->print) {
        cute_buffer_printf(out, "output %s:\n", t->name);
        cute_launch_print(t, o->config->print, out);
    }
}

static void text_seconds(const json_t *value, const char *key, cute_buffer *out)
{
    double s = json_real_value(json_object_get(value, key));
    if (s >= 1)
        cute_buffer_printf(out, " %9.3f s ", s);
    else if (s >= 1e-3)
        cute_buffer_printf(out, " %9.3f ms", s * 1e3);
    else
        cute_buffer_printf(out, " %9.3f us", s * 1e6);
}

static void text_times(const json_t *value, cute_buffer *out)
{
    const json_t *bandwidth = json_object_get(value, "gbytes_per_s"),
                 *rate = json_object_get(value, "tflops_per_s");
    const json_t *ratio_value = json_object_get(value, "ratio"), *of_peak = json_object_get(value, "of_peak");
    cute_buffer_printf(out, "%-24s %7lld", json_string_value(json_object_get(value, "name")),
                       (long long)json_integer_value(json_object_get(value, "samples")));
    text_seconds(value, "mean_s", out);
    text_seconds(value, "median_s", out);
    text_seconds(value, "min_s", out);
    cute_buffer_printf(out, " %6.2f%%", json_real_value(json_object_get(value, "noise")) * 100);
    if (bandwidth)
        cute_buffer_printf(out, " %9.1f", json_real_value(bandwidth));
    else
        cute_buffer_puts(out, "         -");
    if (rate)
        cute_buffer_printf(out, " %9.3f", json_real_value(rate));
    else
        cute_buffer_puts(out, "         -");
    if (of_peak) cute_buffer_printf(out, "  %.1f%% of peak bandwidth", json_real_value(of_peak) * 100);
    if (ratio_value)
        cute_buffer_printf(out, "  kernel at %.1f%% of this", json_real_value(ratio_value) * 100);
    cute_buffer_putc(out, '\n');
}

static void text_bench(const json_t *value, cute_buffer *out)
{
    size_t index;
    json_t *item;
    cute_buffer_printf(out, "bench: L2 %s, %s\n", json_string_value(json_object_get(value, "cache")),
                       json_string_value(json_object_get(value, "timing")));
    cute_buffer_printf(out, "%-24s %7s %12s %12s %12s %7s %9s %9s\n", "", "samples", "mean", "median", "min",
                       "noise", "GB/s", "TFLOP/s");
    text_times(json_object_get(value, "kernel"), out);
    json_array_foreach(json_object_get(value, "baselines"), index, item) text_times(item, out);
}

/* Accesses by line, the worst first: what they took and what they could. */
static int by_excess(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    json_int_t p = json_integer_value(json_object_get(x, "transactions")) -
                   json_integer_value(json_object_get(x, "ideal"));
    json_int_t q = json_integer_value(json_object_get(y, "transactions")) -
                   json_integer_value(json_object_get(y, "ideal"));
    return p < q ? 1 : p > q ? -1 : 0;
}

static void text_lines(const json_t *lines, const char *space, const char *title, cute_buffer *out)
{
    enum { SHOWN = 16 };
    size_t index, count = 0;
    json_t *item, **sorted = calloc(json_array_size(lines) + 1, sizeof *sorted);
    if (!sorted) return;
    json_array_foreach((json_t *)(uintptr_t)lines, index,
                       item) if (!strcmp(json_string_value(json_object_get(item, "space")), space))
        sorted[count++] = item;
    qsort(sorted, count, sizeof(json_t *), by_excess);
    if (count) cute_buffer_printf(out, "%-44s %12s %12s %12s\n", title, "requests", "taken", "ideal");
    for (size_t n = 0; n < count && n < SHOWN; n++) {
        char where[160];
        const char *file = json_string_value(json_object_get(sorted[n], "file"));
        long long line = json_integer_value(json_object_get(sorted[n], file ? "line" : "ptx_line"));
        snprintf(where, sizeof where, "  %s:%lld %s", file ? file : "PTX line", line,
                 json_string_value(json_object_get(sorted[n], "instruction")));
        cute_buffer_printf(out, "%-44s %12lld %12lld %12lld\n", where,
                           (long long)json_integer_value(json_object_get(sorted[n], "requests")),
                           (long long)json_integer_value(json_object_get(sorted[n], "transactions")),
                           (long long)json_integer_value(json_object_get(sorted[n], "ideal")));
    }
    if (count > SHOWN) cute_buffer_printf(out, "  and %zu more lines: see --json\n", count - SHOWN);
    free(sorted);
}

static void text_kernel_checks(const json_t *value, cute_buffer *out)
{
    const json_t *lines = json_object_get(value, "lines");
    size_t index, found = json_array_size(json_object_get(value, "findings"));
    json_t *item;
    cute_buffer_puts(out, "kernel checks:");
    json_array_foreach(json_object_get(value, "checks"), index, item)
        cute_buffer_printf(out, "%s %s", index ? "," : "", json_string_value(item));
    if (found)
        cute_buffer_printf(out, ": FAILED, %zu found\n", found);
    else
        cute_buffer_puts(out, ": passed\n");
    text_lines(lines, "shared", "shared memory, turns of the banks", out);
    text_lines(lines, "global", "global memory, sectors of 32 bytes", out);
}

static void report_text(const cute_launch *l, const json_t *value, cute_buffer *out)
{
    const json_t *device = json_object_get(value, "device"), *bench = json_object_get(value, "bench");
    const json_t *timing = json_object_get(value, "timing");
    size_t index;
    json_t *item;
    const char *key;
    json_array_foreach(json_object_get(value, "launches"), index, item) text_launch(item, out);
    if (!l->ran) json_array_foreach(json_object_get(value, "buffers"), index, item) text_buffer(item, out);
    if (device)
        cute_buffer_printf(out, "device %lld: %s (%s)\n",
                           (long long)json_integer_value(json_object_get(device, "index")),
                           json_string_value(json_object_get(device, "name")),
                           json_string_value(json_object_get(device, "arch")));
    json_array_foreach(json_object_get(value, "outputs"), index, item) text_output(l, index, item, out);
    json_array_foreach(json_object_get(value, "checks"), index, item) text_check(item, out);
    if (bench) text_bench(bench, out);
    if (json_object_get(value, "counts")) text_counts(json_object_get(value, "counts"), out);
    if (json_object_get(value, "counters")) cute_report_counters(json_object_get(value, "counters"), out);
    if (json_object_get(value, "kernel_checks"))
        text_kernel_checks(json_object_get(value, "kernel_checks"), out);
    if (!timing) return;
    cute_buffer_puts(out, "timing:");
    json_object_foreach((json_t *)(uintptr_t)timing, key, item)
        cute_buffer_printf(out, " %.*s %.1f ms", (int)strlen(key) - 2, key, json_real_value(item) * 1e3);
    cute_buffer_putc(out, '\n');
}

char *cute_launch_report(const cute_launch *launch, bool json, bool timing)
{
    cute_buffer out = {0};
    json_t *value = report_json(launch, timing);
    if (json) {
        cute_json_dump(value, true, &out);
        cute_buffer_putc(&out, '\n');
    } else {
        report_text(launch, value, &out);
    }
    json_decref(value);
    if (cute_buffer_ok(&out)) return out.data;
    cute_buffer_release(&out);
    return NULL;
}
