/* A launch and its results as one JSON value, from which the text is generated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/report.h"
#include "lib/base/sort.h"
#include "lib/base/text/demangle.h"
#include "lib/base/text/json.h"
#include "lib/launch/launch.h"
#include "lib/report/launch/counters.h"
#include "lib/report/launch/steps.h"
#include "lib/report/launch/tune.h"
#include "lib/report/report.h"
#include "lib/report/resources/resources.h"
#include "lib/report/roofline/roofline.h"

static json_t *extents_json(const int64_t *values, int count)
{
    return cute_json_integers(values, (size_t)count, CUTE_DYNAMIC);
}

/* JSON has no NaN and no infinities. */
static json_t *real_or_name(double value)
{
    if (value != value) return json_string("nan");
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

static json_t *index_json(const cute_tensor *t, int64_t linear)
{
    int64_t index[CUTE_TENSOR_RANK];
    if (linear < 0) return json_null();
    for (int i = t->rank; i-- > 0; linear /= t->shape[i]) index[i] = linear % t->shape[i];
    return extents_json(index, t->rank);
}

/* The occupancy of a launch; NULL if the registers are unknown, as for PTX on the emulator. */
static json_t *occupancy_json(const cute_launch *l, const plan_launch *p, const cute_function_info *f)
{
    cute_occupancy_input in = {.size = sizeof in};
    cute_occupancy o = {.size = sizeof o};
    cute_occupancy_of_kernel(l->plan.module, p->kernel, &in, NULL);
    if (f && f->registers > 0 && !l->run.emulated) { /* a GPU: the driver's register count */
        in.arch = l->run.device.arch;
        in.registers = f->registers;
        in.static_smem = f->static_smem;
    }
    in.threads = p->shape.block[0] * p->shape.block[1] * p->shape.block[2];
    in.dynamic_smem = p->shape.dynamic_smem;
    in.cluster = 0;
    if (!in.registers || cute_occupancy_compute(&in, &o, NULL) != CUTE_OK) return NULL;
    json_t *value = cute_occupancy_result_json(&o);
    json_object_set_new(value, "arch", json_string(in.arch));
    double resident = (double)o.blocks * (double)(f ? l->run.device.multiprocessors : 0), blocks = 1;
    for (int d = 0; d < 3; d++) blocks *= (double)p->shape.grid[d];
    if (resident > 0 && !l->run.emulated) json_object_set_new(value, "waves", json_real(blocks / resident));
    return value;
}

static void text_occupancy(const json_t *value, cute_buffer *out)
{
    const json_t *waves = json_object_get(value, "waves");
    long long blocks = json_integer_value(json_object_get(value, "blocks"));
    size_t index;
    json_t *limit;
    cute_buffer_printf(out, "  occupancy on %s: %lld block%s, %lld of %lld warps (%.0f%%), limited by ",
                       json_string_value(json_object_get(value, "arch")), blocks, blocks == 1 ? "" : "s",
                       (long long)json_integer_value(json_object_get(value, "warps")),
                       (long long)json_integer_value(json_object_get(value, "max_warps")),
                       json_real_value(json_object_get(value, "fraction")) * 100);
    json_array_foreach(json_object_get(value, "limits"), index, limit)
        cute_buffer_printf(out, "%s%s", index ? ", " : "", json_string_value(limit));
    if (waves) cute_buffer_printf(out, "; %.2f waves", json_real_value(waves));
    cute_buffer_putc(out, '\n');
}

static json_t *launch_json(const cute_launch *l, size_t i)
{
    const plan_launch *p = &l->plan.main.launches[i];
    const cute_function_info *f = l->ran ? &l->run.functions[i] : NULL;
    const char *name = cute_symbol_name(l->arena, p->kernel->name);
    json_t *args = json_array(), *maps = json_array(), *textures = json_array();
    for (size_t k = 0; k < p->arg_count; k++) json_array_append_new(args, json_string(p->arg_texts[k]));
    for (size_t k = 0; k < p->fixup_count; k++)
        if (p->fixups[k].kind == FIXUP_MAP || p->fixups[k].kind == FIXUP_MAP_ADDRESS)
            json_array_append_new(maps, json_string(l->plan.maps[p->fixups[k].index].text));
        else if (p->fixups[k].kind == FIXUP_TEXTURE)
            json_array_append_new(textures, json_string(l->plan.textures[p->fixups[k].index].text));
    json_t *value = json_pack(
        "{s:o,s:o*,s:o,s:o,s:o*,s:I,s:o*,s:o*,s:o,s:O*,s:O*}", "kernel", cute_json_text(p->kernel->name),
        "demangled", name != p->kernel->name ? cute_json_text(name) : NULL, "grid",
        extents_json(p->shape.grid, 3), "block", extents_json(p->shape.block, 3), "cluster",
        p->shape.cluster[0] ? extents_json(p->shape.cluster, 3) : NULL, "dynamic_smem", p->shape.dynamic_smem,
        "cooperative", p->shape.cooperative ? json_true() : NULL, "programmatic",
        p->shape.programmatic ? json_true() : NULL, "args", args, "tensor_maps",
        json_array_size(maps) ? maps : NULL, "textures", json_array_size(textures) ? textures : NULL);
    json_decref(maps);
    json_decref(textures);
    if (f)
        json_object_update_new(value, json_pack("{s:I,s:I,s:I}", "registers", f->registers, "static_smem",
                                                f->static_smem, "local_bytes", f->local_bytes));
    json_t *occupancy = occupancy_json(l, p, f);
    if (occupancy) json_object_set_new(value, "occupancy", occupancy);
    return value;
}

static json_t *buffer_json(const config_buffer *b)
{
    static const char *const inits[] = {"none",     "value", "iota", "uniform", "normal",
                                        "integers", "nan",   "expr", "npy",     "raw"};
    const cute_tensor *t = &b->tensor;
    return json_pack("{s:s,s:s,s:o,s:o,s:I,s:s}", "name", t->name, "dtype", cute_dtype_get(t->dtype)->name,
                     "shape", extents_json(t->shape, t->rank), "strides", extents_json(t->strides, t->rank),
                     "bytes", t->bytes, "init", inits[b->init]);
}

/* The entry of `list` with that name, which is added if there is none. */
static json_t *named_entry(json_t *list, const char *name)
{
    json_t *item;
    size_t i;
    json_array_foreach(list, i,
                       item) if (!strcmp(json_string_value(json_object_get(item, "name")), name)) return item;
    json_array_append_new(list, json_pack("{s:o}", "name", cute_json_text(name)));
    return json_array_get(list, json_array_size(list) - 1);
}

/* The temporaries of the launches, one for all runs of a host function, as large as the largest; NULL: none. */
static json_t *temporaries_json(const cute_launch *l)
{
    json_t *list = l->plan.temporary_count ? json_array() : NULL;
    for (size_t i = 0; i < l->plan.temporary_count; i++) {
        const plan_temporary *t = &l->plan.temporaries[i];
        json_t *item = named_entry(list, t->name);
        if (t->memory.bytes >= json_integer_value(json_object_get(item, "bytes")))
            json_object_set_new(item, "bytes", json_integer(t->memory.bytes));
        if (t->memory.init >= 0) json_object_set_new(item, "init", json_integer(t->memory.init));
    }
    return list;
}

static json_t *error_json(const cute_tensor *t, json_t *size, int64_t at)
{
    return json_pack("{s:o*,s:o}", "value", size, "index", index_json(t, at));
}

static json_t *check_json(const cute_launch *l, size_t i)
{
    const cute_check_result *r = &l->results[i];
    const config_check *c = l->checks[i].config;
    const cute_tensor *t = &c->buffer->tensor;
    json_t *first = NULL;
    if (r->first >= 0)
        first = json_pack("{s:o,s:o,s:o}", "index", index_json(t, r->first), "got", real_or_name(r->got),
                          "want", real_or_name(r->want));
    json_t *left_out = !c->uncertain ? NULL
                                     : json_pack("{s:I,s:s}", "count", (json_int_t)r->left_out, "unit",
                                                 c->uncertain_bits ? "bits" : "elements");
    return json_pack("{s:s,s:b,s:I,s:I,s:f,s:f,s:o*,s:o*,s:o,s:o,s:o,s:I,s:I,s:o*}", "buffer", t->name, "ok",
                     r->bad == 0 && !r->empty, "compared", r->compared, "bad", r->bad, "rtol", c->rtol,
                     "atol", c->atol, "ulp", c->ulp >= 0 ? json_integer(c->ulp) : NULL, "first_bad", first,
                     "max_abs", error_json(t, json_real(r->max_abs), r->max_abs_at), "max_rel",
                     error_json(t, json_real(r->max_rel), r->max_rel_at), "max_ulp",
                     error_json(t, json_integer(r->max_ulp), r->max_ulp_at), "nans", r->got_nans,
                     "expected_nans", r->want_nans, "left_out", left_out);
}

static json_t *output_json(const launch_output *o)
{
    const cute_tensor *t = &o->config->buffer->tensor;
    json_t *stats = NULL;
    if (o->config->stats) {
        launch_stats s = cute_launch_stats(t);
        stats =
            json_pack("{s:I,s:o*,s:o*,s:o*,s:o*,s:I,s:I,s:I}", "count", s.count, "min", json_real(s.min),
                      "max", json_real(s.max), "mean", json_real(s.mean), "deviation", json_real(s.deviation),
                      "zeros", s.zeros, "nans", s.nans, "infinities", s.infinities);
    }
    return json_pack("{s:s,s:o*,s:o*,s:o*}", "buffer", t->name, "npy", cute_json_text(o->npy), "raw",
                     cute_json_text(o->raw), "stats", stats);
}

static json_t *times_json(const cute_launch *l, size_t which, const char *name, double bytes, double flops)
{
    launch_times t = cute_launch_times(&l->run.samples[which], l->config.bench.samples);
    json_t *value = json_pack("{s:o,s:I,s:I,s:f,s:f,s:f,s:f}", "name", cute_json_text(name), "samples",
                              (json_int_t)t.samples, "batch", (json_int_t)t.batch, "mean_s", t.mean,
                              "median_s", t.median, "min_s", t.min, "noise", t.noise);
    if (bytes > 0 && t.median > 0)
        json_object_update_new(
            value, json_pack("{s:f,s:f}", "bytes", bytes, "gbytes_per_s", bytes / t.median * 1e-9));
    if (flops > 0 && t.median > 0)
        json_object_update_new(
            value, json_pack("{s:f,s:f}", "flops", flops, "tflops_per_s", flops / t.median * 1e-12));
    return value;
}

/* Speed relative to a baseline: by bandwidth if both have one, else by operation rate, else by time. Above 1: faster. */
static double speed_ratio(const json_t *own, const json_t *peer)
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
    {"instructions", "warp instructions", offsetof(cute_emulator_counts, instructions)},
    {"lanes", "lane operations", offsetof(cute_emulator_counts, lanes)},
    {"global_read", "bytes read from global memory", offsetof(cute_emulator_counts, global_read)},
    {"global_written", "bytes written to global memory", offsetof(cute_emulator_counts, global_written)},
    {"shared_read", "bytes read from shared memory", offsetof(cute_emulator_counts, shared_read)},
    {"shared_written", "bytes written to shared memory", offsetof(cute_emulator_counts, shared_written)},
    {"divergences", "divergent branches", offsetof(cute_emulator_counts, divergences)},
    {"barriers", "block barriers", offsetof(cute_emulator_counts, barriers)},
    {"mma_flops", "tensor-core operations", offsetof(cute_emulator_counts, mma_flops)},
};

/* The emulator's counts; its times do not predict those of a GPU. */
static json_t *counts_json(const cute_emulator_counts *counts)
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
    json_t *baselines = json_array();
    const char *name = l->plan.main.count == 1 ? l->plan.main.launches[0].kernel->name : "all launches";
    json_t *own = times_json(l, 0, name, b->bytes, b->flops);
    /* double data rate: two transfers per clock */
    double peak = 2e3 * (double)l->run.device.memory_clock * (double)l->run.device.bus_width / 8;
    if (b->bytes > 0 && peak > 0)
        json_object_set_new(own, "of_peak",
                            json_real(json_real_value(json_object_get(own, "gbytes_per_s")) * 1e9 / peak));
    for (size_t i = 0; i < b->baseline_count; i++) {
        json_t *peer =
            times_json(l, i + 1, b->baselines[i].name, b->baselines[i].bytes, b->baselines[i].flops);
        json_object_set_new(peer, "ratio", json_real(speed_ratio(own, peer)));
        json_array_append_new(baselines, peer);
    }
    return json_pack("{s:s,s:s,s:o,s:o}", "cache", b->cold ? "cold" : "warm", "timing",
                     b->graph ? "graph" : "events", "kernel", own, "baselines", baselines);
}

static json_t *unwritten_json(const cute_launch *l)
{
    json_t *list = json_array();
    for (size_t i = 0; i < l->config.buffer_count; i++) {
        const data_unwritten *u = &l->unwritten[i];
        const data_overrun *o = &l->overruns[i];
        const cute_tensor *t = &l->config.buffers[i].tensor;
        if (u->count == 0 && o->after < 0 && o->before < 0) continue;
        json_array_append_new(
            list, json_pack("{s:s,s:I,s:o,s:o*,s:o*}", "buffer", t->name, "unwritten", u->count, "first",
                            u->count ? index_json(t, u->first) : json_null(), "written_behind_end",
                            o->after >= 0 ? json_integer(o->after) : NULL, "written_before_start",
                            o->before >= 0 ? json_integer(o->before) : NULL));
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

static json_t *report_json(const cute_launch *l, const launch_report *what)
{
    const cute_device_info *d = &l->run.device;
    json_t *launches = json_array(), *buffers = json_array(), *checks = json_array(), *outputs = json_array();
    for (size_t i = 0; i < l->plan.main.count; i++) json_array_append_new(launches, launch_json(l, i));
    for (size_t i = 0; i < l->config.buffer_count; i++)
        json_array_append_new(buffers, buffer_json(&l->config.buffers[i]));
    for (size_t i = 0; i < l->config.check_count && l->judged; i++)
        json_array_append_new(checks, check_json(l, i));
    for (size_t i = 0; i < l->config.output_count && l->judged; i++)
        if (l->outputs[i].config) json_array_append_new(outputs, output_json(&l->outputs[i]));
    json_t *device = l->ran ? json_pack("{s:i,s:s,s:s,s:i}", "index", d->index, "name", d->name, "arch",
                                        d->arch, "driver", d->driver_version)
                            : NULL;
    if (device && l->config.ranks > 1) json_object_set_new(device, "count", json_integer(l->config.ranks));
    return json_pack(
        "{s:o,s:s,s:I,s:o,s:o*,s:o*,s:o,s:o*,s:o,s:o,s:o*,s:o*,s:o*,s:O*,s:O*,s:O*,s:O*,s:O*,s:o*}", "config",
        cute_json_text(l->config.document.label), "arch", cute_module_arch(l->plan.module), "seed",
        (json_int_t)l->seed, "launches", launches, "steps", cute_launch_steps_json(l), "temporaries",
        temporaries_json(l), "buffers", buffers, "device", device, "checks", checks, "outputs", outputs,
        "unwritten", l->judged ? unwritten_json(l) : NULL, "bench",
        l->ran && l->bench && !l->run.emulated ? bench_json(l) : NULL, "counts",
        l->ran && l->run.emulated ? counts_json(&l->run.counts) : NULL, "counters",
        what->no_counters ? NULL : l->counters, "kernel_checks", what->no_kernel_checks ? NULL : l->checked,
        "roofline", what->roofline, "tune", what->tune, "tuned", what->tuned, "timing",
        what->timing ? timing_json(l) : NULL);
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
    const char *name = json_string_value(json_object_get(value, "demangled"));
    cute_buffer_printf(out, "%s: grid ", name ? name : json_string_value(json_object_get(value, "kernel")));
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
    json_array_foreach(json_object_get(value, "textures"), index, item)
        cute_buffer_printf(out, "  %s\n", json_string_value(item));
    if (json_object_get(value, "occupancy")) text_occupancy(json_object_get(value, "occupancy"), out);
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
    if (!bad && !json_is_true(json_object_get(value, "ok"))) {
        cute_buffer_printf(out, "check %s: FAILED, 'where' is 0 for all elements\n", buffer);
        return;
    }
    if (bad) {
        cute_buffer_printf(out, "check %s: FAILED, %lld of %lld elements are wrong\n", buffer, bad, compared);
        return;
    }
    const json_t *left_out = json_object_get(value, "left_out");
    long long count = json_integer_value(json_object_get(left_out, "count"));
    cute_buffer_printf(
        out, "check %s: passed, %lld elements, largest error %.3g, relative %.3g, %lld ulp", buffer, compared,
        json_real_value(json_object_get(json_object_get(value, "max_abs"), "value")),
        json_real_value(json_object_get(json_object_get(value, "max_rel"), "value")),
        (long long)json_integer_value(json_object_get(json_object_get(value, "max_ulp"), "value")));
    if (count)
        cute_buffer_printf(out, "; %lld %s left out, within rounding of a threshold", count,
                           json_string_value(json_object_get(left_out, "unit")));
    cute_buffer_putc(out, '\n');
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

/* "device 0: PTX emulator (sm_90a)", or of several "devices 0 to 3: ...", whose arguments are those of the first. */
static void text_device(const json_t *value, cute_buffer *out)
{
    json_int_t first = json_integer_value(json_object_get(value, "index")),
               count = json_integer_value(json_object_get(value, "count"));
    if (count > 1)
        cute_buffer_printf(out, "devices %lld to %lld: ", (long long)first, (long long)(first + count - 1));
    else
        cute_buffer_printf(out, "device %lld: ", (long long)first);
    cute_buffer_printf(out, "%s (%s)\n", json_string_value(json_object_get(value, "name")),
                       json_string_value(json_object_get(value, "arch")));
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

/* Accesses by line, the largest excess over the ideal first. */
static int compare_excess(const void *a, const void *b)
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
    cute_sort(sorted, count, sizeof(json_t *), compare_excess);
    if (count) cute_buffer_printf(out, "%-44s %12s %12s %12s\n", title, "requests", "actual", "ideal");
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
    size_t index, errors = 0, warnings = 0;
    json_t *item;
    json_array_foreach(json_object_get(value, "findings"), index, item)
    {
        bool error = !strcmp(json_string_value(json_object_get(item, "severity")), "error");
        *(error ? &errors : &warnings) += 1;
    }
    cute_buffer_puts(out, "kernel checks:");
    json_array_foreach(json_object_get(value, "checks"), index, item)
        cute_buffer_printf(out, "%s %s", index ? "," : "", json_string_value(item));
    cute_buffer_puts(out, errors ? ": FAILED" : ": passed");
    if (errors) cute_buffer_printf(out, ", %zu found", errors);
    if (warnings) cute_buffer_printf(out, ", %zu warning%s", warnings, warnings > 1 ? "s" : "");
    cute_buffer_putc(out, '\n');
    text_lines(lines, "shared", "shared memory, wavefronts", out);
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
    cute_launch_steps_print(json_object_get(value, "steps"), out);
    json_array_foreach(json_object_get(value, "temporaries"), index, item)
        cute_buffer_printf(out, "%s: %lld bytes\n", json_string_value(json_object_get(item, "name")),
                           (long long)json_integer_value(json_object_get(item, "bytes")));
    if (!l->plan.main.step_count) cute_buffer_puts(out, "no launch: the grid is empty\n");
    if (!l->ran) json_array_foreach(json_object_get(value, "buffers"), index, item) text_buffer(item, out);
    if (device) text_device(device, out);
    json_array_foreach(json_object_get(value, "outputs"), index, item) text_output(l, index, item, out);
    json_array_foreach(json_object_get(value, "checks"), index, item) text_check(item, out);
    if (bench) text_bench(bench, out);
    if (json_object_get(value, "counts")) text_counts(json_object_get(value, "counts"), out);
    if (json_object_get(value, "counters")) cute_report_counters(json_object_get(value, "counters"), out);
    if (json_object_get(value, "kernel_checks"))
        text_kernel_checks(json_object_get(value, "kernel_checks"), out);
    if (json_object_get(value, "roofline")) cute_roofline_text(json_object_get(value, "roofline"), out);
    if (!timing) return;
    cute_buffer_puts(out, "timing:");
    json_object_foreach((json_t *)(uintptr_t)timing, key, item)
        cute_buffer_printf(out, " %.*s %.1f ms", (int)strlen(key) - 2, key, json_real_value(item) * 1e3);
    cute_buffer_putc(out, '\n');
}

char *cute_launch_report_with(const cute_launch *launch, const launch_report *what)
{
    cute_buffer out = {0};
    json_t *value = report_json(launch, what);
    if (!what->json && what->tune) cute_tune_text(what->tune, what->all_candidates, &out);
    if (!what->json) report_text(launch, value, &out);
    return cute_json_finish(value, what->json, &out);
}

char *cute_launch_report(const cute_launch *launch, bool json, bool timing)
{
    return cute_launch_report_with(launch, &(launch_report){.json = json, .timing = timing});
}
