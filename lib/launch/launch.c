/* The stages of a launch, in order: read and plan, prepare the data, run, find unwritten elements, check,
 * write outputs. */
#include "lib/launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/file.h"
#include "lib/device/device.h"
#include "lib/launch/config/schema.h"
#include "lib/launch/data/npy.h"

const char *cute_launch_schema_text(void)
{
    size_t length;
    return cute_launch_schema(&length);
}

/* ---- reading and planning ---- */

static cute_status check_outputs(const cute_launch *l, cute_diag *diag)
{
    const cute_config *config = &l->config;
    for (size_t i = 0; i < config->buffer_count; i++) {
        const config_buffer *buffer = &config->buffers[i];
        if (buffer->init != INIT_NONE || l->plan.used[i]) continue;
        if (!buffer->checked && !buffer->output) continue;
        if (!config->launch_count && !buffer->tensor.bytes) continue; /* of no elements */
        if (!config->launch_count)
            return cute_document_fail(&config->document, buffer->path, true, diag,
                                      "expected a launch that writes output '%s', but the grid is empty",
                                      buffer->tensor.name);
        return cute_document_fail(&config->document, buffer->path, true, diag,
                                  "output '%s' is not an argument of any kernel", buffer->tensor.name);
    }
    return CUTE_OK;
}

static cute_status read_and_plan(cute_launch *l, const char *label, const char *text, size_t length,
                                 const char *folder, const cute_module *module, cute_diag *diag)
{
    const cute_launch_options *o = &l->options;
    cute_config *config = &l->config;
    config_device device = {l->device, &l->emulator, o->in_process, o->dry_run, o->multiprocessors};
    config_source source = {label,
                            text,
                            length,
                            folder,
                            module,
                            o->defines,
                            o->define_count,
                            false,
                            &device,
                            o->ranks ? cute_ranks_rank(o->ranks) : 0,
                            o->ranks ? cute_ranks_size(o->ranks) : 1};
    cute_buffer made = {0};
    cute_status read = CUTE_OK;
    if (!text) {
        read = cute_launch_from_options(l->arena, o, module, &made, diag);
        source = (config_source){"<command line>",
                                 cute_buffer_text(&made),
                                 made.length,
                                 NULL,
                                 module,
                                 NULL,
                                 0,
                                 true,
                                 &device,
                                 0,
                                 1};
    }
    if (read == CUTE_OK) read = cute_config_read(l->arena, &source, config, diag);
    cute_buffer_release(&made);
    CUTE_TRY(read);
    CUTE_TRY(cute_formula_check_plugins(o->plugins, diag));
    config->plugins = o->plugins;
    if (o->bench == CUTE_BENCH_NEVER) {
        config->bench.present = false;
        config->bench.baseline_count = 0;
    }
    l->bench = (config->bench.present || o->bench == CUTE_BENCH_ALWAYS) && config->launch_count;
    if (o->no_check) config->check_count = 0;
    /* PTX is compiled for the actual device, so its .target limits only a dry run. */
    bool any = cute_module_get_format(module) == CUTE_MODULE_PTX && !o->dry_run;
    plan_limits limits = cute_plan_limits(any ? "" : cute_module_arch(module), NULL);
    CUTE_TRY(cute_plan_make(config, module, o->kernel, &limits, &l->plan, diag));
    CUTE_TRY(check_outputs(l, diag));
    l->checks = cute_arena_array(l->arena, config->check_count + 1, sizeof *l->checks);
    l->results = cute_arena_array(l->arena, config->check_count + 1, sizeof *l->results);
    l->unwritten = cute_arena_array(l->arena, config->buffer_count + 1, sizeof *l->unwritten);
    l->overruns = cute_arena_array(l->arena, config->buffer_count + 1, sizeof *l->overruns);
    l->outputs = cute_arena_array(l->arena, config->output_count + 1, sizeof *l->outputs);
    if (!l->checks || !l->results || !l->unwritten || !l->overruns || !l->outputs)
        return cute_fail_memory(diag);
    for (size_t i = 0; i < config->check_count; i++)
        CUTE_TRY(cute_check_prepare(config, &config->checks[i], &l->checks[i], diag));
    l->seed = (uint64_t)(o->has_seed ? o->seed : config->seed);
    l->timeout = o->timeout > 0 ? o->timeout : config->timeout;
    return CUTE_OK;
}

/* Copies the options, and the strings among them that outlive the call. */
static cute_status copy_options(cute_launch *l, const cute_launch_options *options, cute_diag *diag)
{
    cute_launch_options *o = &l->options;
    cute_device_kind kind;
    int index;
    CUTE_TRY(cute_struct_read(o, sizeof *o, options, "cute_launch_options", diag));
    CUTE_TRY(cute_emulator_read_options(o->emulator, &l->emulator, diag));
    if (o->multiprocessors < 0 || o->multiprocessors > INT32_MAX)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected 1 or more multiprocessors, got %lld",
                         (long long)o->multiprocessors);
    if (o->multiprocessors && !l->emulator.multiprocessors) l->emulator.multiprocessors = o->multiprocessors;
    CUTE_TRY(cute_device_parse_name(o->device, &kind, &index, diag));
    if (l->emulator.devices > 1 && o->device && kind == CUTE_DEVICE_CUDA)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "several devices in one process require the emulator, got device %s", o->device);
    if (o->device && !(l->device = cute_arena_copy(l->arena, o->device, strlen(o->device))))
        return cute_fail_memory(diag);
    if (!o->module_label) return CUTE_OK;
    l->module_label = cute_arena_copy(l->arena, o->module_label, strlen(o->module_label));
    return l->module_label ? CUTE_OK : cute_fail_memory(diag);
}

cute_status cute_launch_open(const char *label, const char *text, size_t length, const char *folder,
                             const cute_module *module, const cute_launch_options *options, cute_launch **out,
                             cute_diag *diag)
{
    double began = cute_clock();
    cute_launch *l = calloc(1, sizeof *l);
    *out = NULL;
    if (!l) return cute_fail_memory(diag);
    l->arena = cute_arena_create();
    cute_status status = l->arena ? copy_options(l, options, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK) status = read_and_plan(l, label, text, length, folder, module, diag);
    l->read_began = began;
    l->read_seconds = cute_clock() - began;
    if (status == CUTE_OK)
        *out = l;
    else
        cute_launch_close(l);
    return status;
}

void cute_launch_close(cute_launch *l)
{
    if (!l) return;
    json_decref(l->checked);
    json_decref(l->counters);
    cute_run_release(&l->run);
    for (size_t i = 0; l->checks && i < l->config.check_count; i++) cute_check_release(&l->checks[i]);
    if (l->config.buffers) cute_data_release(&l->config);
    cute_config_release(&l->config);
    cute_arena_destroy(l->arena);
    free(l);
}

cute_status cute_launch_prepare(cute_launch *l, cute_diag *diag)
{
    double began = cute_clock();
    if (l->prepared) return CUTE_OK;
    CUTE_TRY(cute_data_prepare(&l->config, l->seed, diag));
    l->prepared = true;
    l->data_began = began;
    l->data_seconds = cute_clock() - began;
    return CUTE_OK;
}

static run_request make_request(cute_launch *l)
{
    return (run_request){
        .config = &l->config,
        .plan = &l->plan,
        .device = l->device,
        .emulator = l->emulator,
        .label = l->module_label,
        .timeout = l->timeout,
        .in_process = l->options.in_process,
        .ranks = l->options.ranks,
        .collectives = l->options.collectives,
    };
}

/* ---- unwritten elements and overruns ---- */

static cute_status run_again(cute_launch *l, int variant, cute_diag *diag)
{
    run_result unused;
    for (size_t i = 0; i < l->config.buffer_count; i++) cute_data_restore(&l->config.buffers[i], variant);
    run_request request = make_request(l);
    request.quiet = true;
    request.emulator.checks = 0;
    request.emulator.counters = request.emulator.timeline = false;
    cute_status status = cute_run_plan(&request, &unused, diag);
    cute_run_release(&unused);
    return status;
}

/* A kernel may write the poison's value. So if elements hold the poison, the launches run again over another
 * poison, and elements that hold that one as well are unwritten. The results of the second run replace those
 * of the first. */
static cute_status find_unwritten(cute_launch *l, bool *found, cute_diag *diag)
{
    const cute_config *config = &l->config;
    uint8_t **masks = cute_arena_array(l->arena, config->buffer_count + 1, sizeof *masks);
    bool suspicious = false;
    if (!masks) return cute_fail_memory(diag);
    *found = false;
    cute_status status = CUTE_OK;
    for (size_t i = 0; i < config->buffer_count; i++) {
        config_buffer *buffer = &config->buffers[i];
        l->unwritten[i] = (data_unwritten){0, -1};
        l->overruns[i] = cute_data_overrun(buffer, 0);
        if (buffer->init != INIT_NONE || buffer->global || !l->plan.used[i]) continue;
        masks[i] = calloc((size_t)buffer->tensor.count / 8 + 1, 1);
        if (!masks[i])
            status = cute_fail_memory(diag);
        else
            l->unwritten[i] = cute_data_unwritten(buffer, 0, masks[i], false);
        suspicious = suspicious || l->unwritten[i].count > 0;
    }
    if (l->options.ranks) suspicious = false; /* another run would need all ranks; the first stands */
    if (status == CUTE_OK && suspicious) status = run_again(l, 1, diag);
    for (size_t i = 0; i < config->buffer_count; i++) {
        data_overrun *overrun = &l->overruns[i];
        if (suspicious && status == CUTE_OK) {
            data_overrun again = cute_data_overrun(&config->buffers[i], 1);
            if (overrun->before < 0) overrun->before = again.before;
            if (overrun->after < 0) overrun->after = again.after;
            if (masks[i]) l->unwritten[i] = cute_data_unwritten(&config->buffers[i], 1, masks[i], true);
        }
        free(masks[i]);
        *found = *found || (l->unwritten[i].count > 0 && !config->buffers[i].allow_unwritten) ||
                 overrun->before >= 0 || overrun->after >= 0;
    }
    return status;
}

static void report_unwritten(const cute_launch *l, cute_diag *diag)
{
    const cute_config *config = &l->config;
    for (size_t i = 0; i < config->buffer_count; i++) {
        const config_buffer *buffer = &config->buffers[i];
        const data_unwritten *u = &l->unwritten[i];
        const data_overrun *o = &l->overruns[i];
        const char *name = buffer->tensor.name, *kind = buffer->init == INIT_NONE ? "output" : "buffer";
        if (o->after >= 0)
            cute_document_fail(&config->document, buffer->path, true, diag,
                               "%s %s: the kernel wrote beyond its end, at byte %lld of %lld", kind, name,
                               (long long)(buffer->tensor.bytes + o->after), (long long)buffer->tensor.bytes);
        if (o->before >= 0)
            cute_document_fail(&config->document, buffer->path, true, diag,
                               "%s %s: the kernel wrote %lld byte%s before its start", kind, name,
                               (long long)o->before, o->before == 1 ? "" : "s");
        if (u->count == 0 || buffer->allow_unwritten) continue;
        cute_buffer index = {0};
        cute_tensor_index_text(&buffer->tensor, u->first, &index);
        cute_document_fail(&config->document, buffer->path, true, diag,
                           "output %s: %lld of %lld elements were never written, the first at %s", name,
                           (long long)u->count, (long long)buffer->tensor.count, index.data);
        cute_note(diag, NULL,
                  "fix: write all elements, permit this with \"unwritten\": \"allow\", or initialize the "
                  "buffer with 'init'");
        cute_buffer_release(&index);
    }
}

/* ---- checking ---- */

static void value_text(cute_dtype dtype, double value, char *out, size_t size)
{
    bool long_digits = cute_dtype_get(dtype)->class != CUTE_CLASS_FLOAT || dtype == CUTE_F64;
    /* The sign of a NaN is irrelevant. */
    if (value != value)
        snprintf(out, size, "nan");
    else
        snprintf(out, size, "%.*g", long_digits ? 17 : 9, value);
}

static void report_mismatches(const cute_launch *l, size_t which, cute_diag *diag)
{
    const config_check *check = l->checks[which].config;
    const cute_check_result *r = &l->results[which];
    const cute_tensor *t = &check->buffer->tensor;
    cute_buffer first = {0}, at = {0};
    char got[40], want[40];
    value_text(t->dtype, r->got, got, sizeof got);
    value_text(t->dtype, r->want, want, sizeof want);
    cute_tensor_index_text(t, r->first, &first);
    cute_document_fail(&l->config.document, check->path, false, diag,
                       "%lld of %lld elements of %s are wrong, the first at %s: got %s, want %s",
                       (long long)r->bad, (long long)r->compared, t->name, first.data, got, want);
    if (r->max_abs_at >= 0) {
        cute_tensor_index_text(t, r->max_abs_at, &at);
        cute_note(diag, NULL,
                  "the largest error is %.4g at %s, relative %.4g, %lld ulp; tolerance: rtol %g, atol %g%s",
                  r->max_abs, at.data, r->max_rel, (long long)r->max_ulp, check->rtol, check->atol,
                  check->ulp >= 0 ? " or the given ulp" : "");
    }
    if (r->got_nans || r->want_nans)
        cute_note(diag, NULL, "expected %lld NaN%s, got %lld", (long long)r->want_nans,
                  r->want_nans == 1 ? "" : "s", (long long)r->got_nans);
    cute_buffer_release(&first);
    cute_buffer_release(&at);
}

/* A check without elements would pass for any kernel. */
static void report_empty(const cute_launch *l, size_t which, cute_diag *diag)
{
    const config_check *check = l->checks[which].config;
    const cute_tensor *t = &check->buffer->tensor;
    const cute_path *where = config_member(&l->config, check->path, "where");
    if (check->sample > 0 && check->sample < t->count)
        cute_document_fail(&l->config.document, where, false, diag,
                           "expected elements of %s to check, got none: 'where' is 0 for all %lld samples",
                           t->name, (long long)check->sample);
    else
        cute_document_fail(&l->config.document, where, false, diag,
                           "expected elements of %s to check, got none: 'where' is 0 for all %lld", t->name,
                           (long long)t->count);
}

static cute_status check_results(cute_launch *l, cute_diag *diag)
{
    double began = cute_clock();
    bool unwritten = false, bad = false;
    CUTE_TRY(find_unwritten(l, &unwritten, diag));
    report_unwritten(l, diag);
    for (size_t i = 0; i < l->config.check_count; i++) {
        CUTE_TRY(cute_check_run(&l->config, &l->checks[i], l->seed, &l->results[i], diag));
        if (l->results[i].bad == 0 && !l->results[i].empty) continue;
        bad = true;
        if (l->results[i].empty)
            report_empty(l, i, diag);
        else
            report_mismatches(l, i, diag);
    }
    l->judged = true;
    l->check_began = began;
    l->check_seconds = cute_clock() - began;
    return bad || unwritten ? CUTE_MISMATCH : CUTE_OK;
}

/* ---- outputs ---- */

static const char *output_path(cute_launch *l, const char *name)
{
    const char *folder = l->options.output_folder;
    if (name[0] == '/' || !folder) return name;
    return cute_arena_printf(l->arena, "%s/%s", folder, name);
}

static cute_status write_outputs(cute_launch *l, cute_diag *diag)
{
    double began = cute_clock();
    if (l->options.output_folder) CUTE_TRY(cute_make_directory(l->options.output_folder, diag));
    for (size_t i = 0; i < l->config.output_count; i++) {
        const config_output *o = &l->config.outputs[i];
        const cute_tensor *t = &o->buffer->tensor;
        launch_output *out = &l->outputs[i];
        out->config = o;
        if (o->npy) {
            out->npy = output_path(l, o->npy);
            CUTE_TRY(cute_npy_write(out->npy, t, t->data, diag));
        }
        if (!o->raw) continue;
        cute_buffer bytes = {0};
        out->raw = output_path(l, o->raw);
        cute_tensor_pack(t, t->data, &bytes);
        cute_status status = cute_buffer_ok(&bytes)
                                 ? cute_file_write(out->raw, bytes.data, bytes.length, diag)
                                 : cute_fail_memory(diag);
        cute_buffer_release(&bytes);
        CUTE_TRY(status);
    }
    l->output_began = began;
    l->output_seconds = cute_clock() - began;
    return CUTE_OK;
}

/* Whether the emulator's checks reported errors. */
static bool has_errors(const json_t *checked)
{
    size_t n;
    json_t *finding;
    json_array_foreach(json_object_get(checked, "findings"), n, finding)
    {
        const char *severity = json_string_value(json_object_get(finding, "severity"));
        if (severity && !strcmp(severity, "error")) return true;
    }
    return false;
}

cute_status cute_launch_run(cute_launch *l, cute_diag *diag)
{
    CUTE_TRY(cute_launch_prepare(l, diag));
    run_request request = make_request(l);
    request.bench = l->bench;
    request.stdout_to_stderr = l->options.stdout_is_data;
    request.trace = l->options.trace;
    l->run_began = cute_clock();
    cute_status run = cute_run_plan(&request, &l->run, diag);
    l->run_ended = cute_clock();
    if (l->run.counters) l->counters = json_loads(l->run.counters, 0, NULL);
    if (l->run.check_report) l->checked = json_loads(l->run.check_report, 0, NULL);
    CUTE_TRY(run);
    l->ran = true;
    if (l->options.bench == CUTE_BENCH_ALWAYS && l->run.emulated)
        cute_report(diag, CUTE_WARNING, NULL,
                    "not timed: the emulator's run time does not predict a GPU's; the report has instruction "
                    "counts instead");
    cute_status judged = check_results(l, diag);
    if (judged == CUTE_OK && has_errors(l->checked)) judged = CUTE_MISMATCH;
    if (judged != CUTE_OK && judged != CUTE_MISMATCH) return judged;
    cute_status written = write_outputs(l, diag);
    return written != CUTE_OK ? written : judged;
}
