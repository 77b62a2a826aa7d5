/* cute-run: runs kernels. Parses options, calls the library, returns the exit code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/checks.h"
#include "cute/emulator.h"
#include "cute/launch.h"
#include "cute/report.h"
#include "lib/base/devices/arch.h"
#include "lib/base/options/settings.h"
#include "lib/base/options/tool.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/file.h"
#include "lib/base/system/library.h"
#include "lib/base/text/json.h"
#include "lib/cubin/module.h"
#include "lib/device/device.h"
#include "lib/launch/sms.h"
#include "lib/plugin/plugins.h"
#include "lib/toolkit/pipe.h"
#include "tools/cute-run/gemm.h"
#include "tools/cute-run/ranks.h"
#include "tools/cute-run/roofline.h"
#include "tools/cute-run/tune.h"

typedef struct run_options {
    char *const *argv;
    const char *trace, *timeline, *config, *timeout, *seed, *checks, *arch, *schedule, *tune;
    size_t tune_runs;
    bool verbose, no_tuned;
    bool list_devices, json, bench, no_bench, strict, timing, template, schema, cache_clear, calibrate;
    gemm_request gemm;
    roofline_request roofline;
    cute_plugins *plugins;
    cute_option_list plugin_paths;
    cute_option_list defines, folders, plans, tensors, expects, allow;
    pipe_values pipe;
    cute_launch_options launch;
    cute_emulator_options emulator;
} run_options;

/* Writes and frees `text`. `data`: JSON, written unchanged. */
static cute_status write_text(const char *path, char *text, bool data, cute_diag *diag)
{
    if (!text) return cute_fail_memory(diag);
    cute_status status = data ? cute_file_write(path, text, strlen(text), diag)
                              : cute_tool_write(path, text, strlen(text), false, diag);
    free(text);
    return status;
}

/* Lists the GPUs, then the emulator. A missing driver is an error only if CUTE_LIBCUDA names one. */
static cute_status list_devices(const run_options *o, cute_diag *diag)
{
    int count;
    bool named = cute_driver_is_named();
    cute_diag *reasons = cute_diag_create();
    if (!reasons) return cute_fail_memory(diag);
    if (cute_device_count(&count, named ? diag : reasons) != CUTE_OK) {
        if (named) {
            cute_diag_destroy(reasons);
            return CUTE_SYSTEM;
        }
        count = 0;
        if (cute_diag_count(reasons))
            cute_report(diag, CUTE_WARNING, NULL, "%s", cute_diag_get(reasons, 0)->text);
    }
    cute_diag_destroy(reasons);
    cute_device_info *devices = calloc((size_t)count + 1, sizeof *devices);
    if (!devices) return cute_fail_memory(diag);
    cute_status status = CUTE_OK;
    for (int i = 0; i < count; i++) devices[i].size = sizeof *devices;
    for (int i = 0; i < count && status == CUTE_OK; i++) status = cute_device_query(i, &devices[i], diag);
    cute_device *emulator = NULL;
    if (status == CUTE_OK) status = cute_emulator_open(NULL, &emulator, diag);
    if (status == CUTE_OK) {
        devices[count] = *cute_device_get_info(emulator);
        status = write_text("-", cute_device_describe(devices, (size_t)count + 1, o->json), o->json, diag);
    }
    cute_device_close(emulator);
    free(devices);
    return status;
}

static cute_status parse_number(const char *name, const char *text, double *out, cute_diag *diag)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out > 0) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "--%s expects a positive number of seconds, got '%s'", name,
                     text);
}

static cute_status parse_seed(const char *text, int64_t *out, cute_diag *diag)
{
    char *end;
    *out = strtoll(text, &end, 0);
    if (end != text && *end == '\0') return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "--seed expects an integer, got '%s'", text);
}

/* The folder of launch.json; files named in it are relative to this folder. */
static const char *config_folder(cute_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return NULL;
    return slash == path ? "/" : cute_arena_copy(arena, path, (size_t)(slash - path));
}

static cute_status refuse_check(const run_options *o, const char *names, const char *at, size_t length,
                                cute_diag *diag)
{
    cute_buffer all = {0};
    cute_buffer_puts(&all, names);
    for (size_t i = 0; o->plugins && i < o->plugins->check_count; i++)
        cute_buffer_printf(&all, ", %s", o->plugins->checks[i].row.name);
    cute_fail(diag, CUTE_USAGE, NULL, "--check expects a list of %s, got '%.*s'", cute_buffer_text(&all),
              (int)length, at);
    cute_buffer_release(&all);
    return CUTE_USAGE;
}

/* Parses --check: "all" or a list such as "race,uninit". Checks require the emulator. */
static cute_status parse_checks(run_options *o, cute_diag *diag)
{
    static const struct {
        const char *name;
        unsigned check;
    } table[] = {
        {"all", CUTE_CHECK_ALL},
#define CHECK(id, bit, name, parts, text) {#name, CUTE_CHECK_##id},
#include "cute/checks.def"
    };
    static const char names[] = "all"
#define CHECK(id, bit, name, parts, text) ", " #name
#include "cute/checks.def"
        ;
    enum { COUNT = sizeof table / sizeof *table };
    for (const char *at = o->checks; at;) {
        size_t length = strcspn(at, ","), n = 0;
        while (n < COUNT && (strlen(table[n].name) != length || memcmp(table[n].name, at, length) != 0)) n++;
        unsigned check = n < COUNT ? table[n].check : cute_plugins_check_bit(o->plugins, at, length);
        if (n == 0) check |= cute_plugins_check_bits(o->plugins);
        if (!check) return refuse_check(o, names, at, length, diag);
        o->emulator.checks |= check;
        at = at[length] ? at + length + 1 : NULL;
    }
    if (o->strict && !o->emulator.checks)
        return cute_fail(diag, CUTE_USAGE, NULL, "--strict requires --check");
    if (o->allow.count && !o->emulator.checks)
        return cute_fail(diag, CUTE_USAGE, NULL, "--allow requires --check");
    if (o->strict) o->emulator.checks |= CUTE_CHECK_STRICT;
    o->emulator.allow = o->allow.items;
    o->emulator.allow_count = o->allow.count;
    if (o->checks && o->launch.device && strcmp(o->launch.device, "emulator") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--check requires the emulator, got device %s",
                         o->launch.device);
    return CUTE_OK;
}

/* -1 (not given) becomes 0. */
static cute_status check_threads(int64_t *threads, cute_diag *diag)
{
    if (*threads == -1)
        *threads = 0;
    else if (*threads < 1 || *threads > 1024)
        return cute_fail(diag, CUTE_USAGE, NULL, "--threads expects a number from 1 to 1024, got '%lld'",
                         (long long)*threads);
    return CUTE_OK;
}

/* -1 (not given) becomes 0. */
static cute_status check_sms(int64_t *sms, cute_diag *diag)
{
    if (*sms == -1)
        *sms = 0;
    else if (*sms < 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "--sms expects a positive number, got '%lld'",
                         (long long)*sms);
    return CUTE_OK;
}

/* -1 (not given) becomes 0. */
static cute_status check_devices(run_options *o, cute_diag *diag)
{
    int64_t *devices = &o->emulator.devices;
    if (*devices == -1) {
        *devices = 0;
        return CUTE_OK;
    }
    if (*devices < 1 || *devices > 16)
        return cute_fail(diag, CUTE_USAGE, NULL, "--devices expects a number from 1 to 16, got '%lld'",
                         (long long)*devices);
    if (o->launch.device && strcmp(o->launch.device, "emulator") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--devices requires the emulator, got device %s",
                         o->launch.device);
    return CUTE_OK;
}

/* Fills launch options that are not direct targets of the option table. */
static cute_status fill_launch_options(run_options *o, cute_diag *diag)
{
    cute_launch_options *out = &o->launch;
    out->defines = o->defines.items;
    out->define_count = o->defines.count;
    out->plans = o->plans.items;
    out->plan_count = o->plans.count;
    out->tensors = o->tensors.items;
    out->tensor_count = o->tensors.count;
    out->checks = o->expects.items;
    out->check_count = o->expects.count;
    out->bench = o->no_bench ? CUTE_BENCH_NEVER : o->bench ? CUTE_BENCH_ALWAYS : CUTE_BENCH_AS_CONFIGURED;
    out->stdout_is_data = o->json;
    out->has_seed = o->seed != NULL;
    out->emulator = &o->emulator;
    out->trace = o->trace != NULL;
    out->plugins = o->emulator.plugins = o->plugins;
    CUTE_TRY(parse_checks(o, diag));
    CUTE_TRY(check_threads(&o->emulator.threads, diag));
    CUTE_TRY(check_devices(o, diag));
    CUTE_TRY(check_sms(&out->multiprocessors, diag));
    o->emulator.timeline = o->timeline != NULL;
    if (o->emulator.timeline_block < 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected --timeline-block=N of 0 or more, got %lld",
                         (long long)o->emulator.timeline_block);
    if (o->timeline && out->device && strcmp(out->device, "emulator") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--timeline requires --device=emulator, got --device=%s",
                         out->device);
    if (o->emulator.counters && out->device && strcmp(out->device, "emulator") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--counters requires the emulator, got device %s",
                         out->device);
    if (o->bench && o->no_bench)
        return cute_fail(diag, CUTE_USAGE, NULL, "--bench and --no-bench are mutually exclusive");
    if (o->timeout) CUTE_TRY(parse_number("timeout", o->timeout, &out->timeout, diag));
    if (!o->seed) return CUTE_OK;
    CUTE_TRY(parse_seed(o->seed, &out->seed, diag));
    o->emulator.seed = out->seed;
    return CUTE_OK;
}

/* A launch described by a config or by --plan. */
typedef struct launch_source {
    run_options *o;
    const tuning *tuning;
    const cute_module *module;
    const char *label, *text, *folder; /* of the config; NULL with --plan */
    size_t length;
} launch_source;

/* Runs the launch on the emulator for its counters only, before a timed run on a GPU. */
static cute_status count_work(const launch_source *from, const cute_launch_options *settings, cute_diag *diag)
{
    cute_launch *launch = NULL;
    cute_launch_options own = *settings;
    cute_emulator_options emulator = *settings->emulator;
    emulator.counters = true;
    emulator.checks = CUTE_CHECK_BANK | CUTE_CHECK_COALESCING;
    own.emulator = &emulator;
    own.device = "emulator";
    own.bench = CUTE_BENCH_NEVER;
    own.no_check = true;
    own.stdout_is_data = true;
    /* Result checks are left to the run on the GPU. */
    cute_diag *said = cute_diag_create();
    if (!said) return cute_fail_memory(diag);
    cute_status status = cute_launch_open(from->label, from->text, from->length, from->folder, from->module,
                                          &own, &launch, said);
    if (status == CUTE_OK) status = cute_launch_run(launch, said);
    if (status == CUTE_MISMATCH) status = CUTE_OK;
    for (size_t n = 0; status != CUTE_OK && n < cute_diag_count(said); n++) {
        const cute_message *m = cute_diag_get(said, n);
        cute_report(diag, m->severity, m->place.file ? &m->place : NULL, "%s", m->text);
    }
    if (status == CUTE_OK)
        take_counters(&from->o->roofline, launch);
    else
        cute_note(diag, NULL,
                  "the emulator runs the launch first to collect counters; --work=REPORT reuses those of an "
                  "earlier run");
    cute_diag_destroy(said);
    cute_launch_close(launch);
    return status;
}

static cute_status report_launch(const launch_source *from, const cute_launch *launch, bool right,
                                 cute_diag *diag)
{
    run_options *o = from->o;
    json_t *tune = end_tuning(from->tuning, right);
    launch_report what = {.json = o->json,
                          .timing = o->timing,
                          .all_candidates = o->verbose,
                          .tune = tune,
                          .tuned = from->tuning->known};
    json_t *roofline = NULL;
    cute_status status = CUTE_OK;
    if (o->roofline.wanted) status = add_roofline(&o->roofline, launch, &what, &roofline, diag);
    if (status == CUTE_OK) status = write_text("-", cute_launch_report_with(launch, &what), o->json, diag);
    json_decref(roofline);
    json_decref(tune);
    return status;
}

static cute_status run_launch(const launch_source *from, const cute_launch_options *settings, cute_diag *diag)
{
    cute_launch *launch = NULL;
    run_options *o = from->o;
    if (o->roofline.timed && !o->roofline.counters) CUTE_TRY(count_work(from, settings, diag));
    CUTE_TRY(cute_launch_open(from->label, from->text, from->length, from->folder, from->module, settings,
                              &launch, diag));
    cute_status status =
        settings->dry_run ? cute_launch_prepare(launch, diag) : cute_launch_run(launch, diag);
    if (o->trace) { /* also after a failure */
        cute_status written = write_text(o->trace, cute_launch_trace(launch), true, diag);
        if (status == CUTE_OK) status = written;
    }
    if (o->timeline) {
        cute_status written = write_text(o->timeline, cute_launch_timeline(launch), true, diag);
        if (status == CUTE_OK) status = written;
    }
    if (settings->ranks && (status == CUTE_OK || status == CUTE_MISMATCH)) {
        status = report_config_ranks(launch, o->json, o->timing, status, diag);
    } else if (status == CUTE_OK || status == CUTE_MISMATCH) {
        cute_status written = report_launch(from, launch, status == CUTE_OK, diag);
        if (status == CUTE_OK) status = written;
    }
    cute_launch_close(launch);
    return status;
}

/* Reads launch.json, if there is one. */
static cute_status read_source(run_options *o, cute_arena *arena, cute_buffer *text, launch_source *out,
                               cute_diag *diag)
{
    *out = (launch_source){.o = o};
    if (!o->config) return CUTE_OK;
    CUTE_TRY(cute_file_read(o->config, text, diag));
    out->label = cute_file_label(o->config);
    out->text = cute_buffer_text(text);
    out->length = text->length;
    out->folder = config_folder(arena, o->config);
    return CUTE_OK;
}

static cute_status run_config(run_options *o, cute_arena *arena, const char *path,
                              const launch_source *source, cute_diag *diag)
{
    if (o->roofline.wanted) CUTE_TRY(plan_roofline(&o->roofline, &o->launch, &o->emulator, diag));
    cute_launch_options settings = o->launch;
    bool text_file = cute_module_get_container(source->module) == CUTE_MODULE_PTX;
    settings.module_label = cute_arena_printf(arena, text_file ? "%s" : "%s(ptx)", cute_file_label(path));
    cute_status status = run_launch(source, &settings, diag);
    json_decref(o->roofline.counters);
    return status;
}

/* The target for MLIR: -arch, else the architecture of the device it runs on. *device is that device; without a kind, none was found. */
static cute_status choose_arch(run_options *o, cute_arena *arena, cute_pipe *pipe, cute_device_info *device,
                               cute_diag *diag)
{
    bool runs = (o->config || o->plans.count) && !o->launch.dry_run;
    const config_device wanted = {
        .name = o->checks || o->emulator.counters || o->timeline || o->emulator.devices ? "emulator"
                                                                                        : o->launch.device,
        .multiprocessors = o->launch.multiprocessors > 0 ? o->launch.multiprocessors : 0};
    const cute_arch *arch;
    pipe->arch = o->arch ? o->arch : cute_setting_default("arch", NULL);
    *device = (cute_device_info){0};
    cute_status found = cute_launch_device(&wanted, device, runs ? diag : NULL);
    if (found != CUTE_OK) return runs ? found : CUTE_OK;
    pipe->ptx = strcmp(device->kind, "emulator") == 0;
    if (pipe->arch) return CUTE_OK;
    pipe->arch = cute_arena_printf(arena, "%sa", device->arch);
    if (pipe->arch && (arch = cute_arch_find(pipe->arch)) == NULL) pipe->arch = device->arch;
    pipe->arch = pipe->arch ? cute_arena_printf(arena, "%s", pipe->arch) : NULL;
    return pipe->arch ? CUTE_OK : cute_fail_memory(diag);
}

/* ---- tuning ---- */

static void set_tuning(const run_options *o, const launch_source *source, const cute_pipe *pipe,
                       const char *path, tuning *out)
{
    out->request = (tune_request){
        .subject = {.path = path,
                    .text = cute_buffer_text(&out->text),
                    .length = out->text.length,
                    .arch = pipe->arch,
                    .defines = &o->defines,
                    .folders = &o->folders,
                    .schedule = o->schedule,
                    .values = &o->pipe,
                    .label = source->label,
                    .config = source->text,
                    .config_length = source->length,
                    .folder = source->folder,
                    .options = &o->launch,
                    .device = &out->device},
        .runs = o->tune_runs,
        .seed = (uint64_t)o->launch.seed,
        .emulated = pipe->ptx,
    };
}

/* Sets the -D and the schedule of a candidate: for the source, and for params of launch.json with these names. */
static cute_status use_candidate(run_options *o, cute_arena *arena, const tune_candidate *c,
                                 cute_option_list *defines, cute_diag *diag)
{
    cute_option_list all = {0};
    for (size_t i = 0; i < o->launch.define_count; i++)
        if (!cute_option_append(arena, &all, o->launch.defines[i])) return cute_fail_memory(diag);
    for (size_t i = 0; i < c->define_count; i++)
        if (!cute_option_append(arena, &all, c->defines[i]) ||
            !cute_option_append(arena, defines, c->defines[i]))
            return cute_fail_memory(diag);
    o->launch.defines = all.items;
    o->launch.define_count = all.count;
    return CUTE_OK;
}

/* --tune, or the candidate that an earlier --tune remembered. With --tune *image is the compiled module, else empty. */
static cute_status apply_tuning(run_options *o, cute_arena *arena, tuning *t, cute_pipe *pipe,
                                cute_option_list *defines, cute_buffer *image, cute_diag *diag)
{
    tune_candidate known;
    t->cache = cute_cache_folder(arena, NULL);
    if (o->tune) {
        CUTE_TRY(search_candidates(t, arena, diag));
        cute_buffer_append(image, t->search.best->image.data, t->search.best->image.length);
        if (!cute_buffer_ok(image)) return cute_fail_memory(diag);
        return use_candidate(o, arena, t->search.best, defines, diag);
    }
    if (o->no_tuned || !recall_candidate(t, arena, &known)) return CUTE_OK;
    if (known.schedule) pipe->schedule = known.schedule;
    if (o->verbose)
        cute_report(diag, CUTE_REMARK, NULL,
                    "tuned: %s%s%s, the choice of an earlier --tune; --no-tuned uses the defaults",
                    tune_defines_text(arena, &known), known.schedule ? ", schedule " : "",
                    known.schedule ? known.schedule : "");
    return use_candidate(o, arena, &known, defines, diag);
}

/* ---- modules ---- */

static cute_status compile_mlir(run_options *o, cute_tool *tool, const char *path,
                                const launch_source *source, tuning *t, cute_buffer *bytes)
{
    cute_option_list defines;
    CUTE_TRY(cute_pipe_defines(tool->arena, &o->defines, cute_buffer_text(bytes), bytes->length, &defines,
                               tool->diag));
    cute_pipe pipe = {.defines = &defines,
                      .folders = &o->folders,
                      .plugins = &o->plugin_paths,
                      .schedule = o->schedule,
                      .values = &o->pipe,
                      .format = tool->format};
    cute_buffer said = {0};
    t->text = *bytes;
    *bytes = (cute_buffer){0};
    cute_status status = choose_arch(o, tool->arena, &pipe, &t->device, tool->diag);
    if (status == CUTE_OK && source && t->device.kind) {
        set_tuning(o, source, &pipe, path, t);
        status = apply_tuning(o, tool->arena, t, &pipe, &defines, bytes, tool->diag);
    }
    if (status == CUTE_OK && !bytes->length)
        status = cute_pipe_run(tool->arena, &pipe, path, cute_buffer_text(&t->text), t->text.length, bytes,
                               &said, tool->diag);
    fputs(cute_buffer_text(&said), stderr);
    cute_buffer_release(&said);
    return status;
}

/* An option that only MLIR has; NULL: none is given. */
static const char *mlir_option(const run_options *o)
{
    return o->arch            ? "-arch"
           : o->folders.count ? "-I"
           : o->schedule      ? "--schedule"
           : o->tune          ? "--tune"
                              : cute_pipe_first_given(&o->pipe, PIPE_FOR_BOTH);
}

/* Opens the module; MLIR is compiled first. `source` NULL: nothing is launched. */
static cute_status open_module(run_options *o, cute_tool *tool, const char *path, const launch_source *source,
                               tuning *t, cute_module **out)
{
    cute_buffer bytes = {0};
    cute_status status = cute_file_read(path, &bytes, tool->diag);
    if (status == CUTE_OK && cute_content_is_mlir(cute_buffer_text(&bytes), bytes.length)) {
        status = compile_mlir(o, tool, path, source, t, &bytes);
    } else if (status == CUTE_OK && o->defines.count && !o->config && !o->plans.count) {
        status =
            cute_fail(tool->diag, CUTE_USAGE, NULL, "-D requires --config=launch.json or --plan=FUNCTION");
    } else if (status == CUTE_OK && mlir_option(o)) {
        status = cute_fail(tool->diag, CUTE_USAGE, &(cute_place){.file = cute_file_label(path)},
                           "%s applies to MLIR only, and this file is already compiled", mlir_option(o));
    }
    if (status == CUTE_OK)
        status = cute_module_open(cute_file_label(path), cute_buffer_text(&bytes), bytes.length, NULL, out,
                                  tool->diag);
    cute_buffer_release(&bytes);
    return status;
}

/* Gives the params "rank" and "ranks" of the config, if it has them, their values. */
static cute_status define_rank(run_options *o, cute_arena *arena, const launch_source *source,
                               cute_diag *diag)
{
    json_t *root = NULL;
    const int values[] = {cute_ranks_rank(o->launch.ranks), cute_ranks_size(o->launch.ranks)};
    static const char *const names[] = {"rank", "ranks"};
    cute_option_list all = {0};
    CUTE_TRY(cute_json_parse(source->label, source->text, source->length, &root, diag));
    bool fine = true;
    for (size_t i = 0; i < o->launch.define_count; i++)
        fine = fine && cute_option_append(arena, &all, o->launch.defines[i]);
    for (int i = 0; i < 2; i++) {
        if (!json_object_get(json_object_get(root, "params"), names[i])) continue;
        const char *define = cute_arena_printf(arena, "%s=%d", names[i], values[i]);
        fine = fine && define && cute_option_append(arena, &all, define);
    }
    json_decref(root);
    o->launch.defines = all.items;
    o->launch.define_count = all.count;
    return fine ? CUTE_OK : cute_fail_memory(diag);
}

/* Runs the launches of a config or of --plan. */
static cute_status launch_module(run_options *o, cute_tool *tool, const char *path)
{
    cute_module *module = NULL;
    cute_buffer text = {0};
    launch_source source;
    tuning t = {0};
    if (!o->launch.ranks) CUTE_TRY(fill_launch_options(o, tool->diag));
    cute_status status = read_source(o, tool->arena, &text, &source, tool->diag);
    if (status == CUTE_OK && o->launch.ranks) status = define_rank(o, tool->arena, &source, tool->diag);
    if (status == CUTE_OK) status = open_module(o, tool, path, &source, &t, &module);
    source.module = module;
    source.tuning = &t;
    if (status == CUTE_OK) status = run_config(o, tool->arena, path, &source, tool->diag);
    cute_module_close(module);
    release_tuning(&t);
    cute_buffer_release(&text);
    return status;
}

/* For run_config_ranks. */
typedef struct rank_launch {
    run_options *o;
    cute_tool *tool;
    const char *path;
} rank_launch;

static cute_status launch_of_rank(void *context, cute_diag *diag)
{
    const rank_launch *l = context;
    cute_tool own = *l->tool;
    own.diag = diag;
    return launch_module(l->o, &own, l->path);
}

/* A launch.json by several processes. */
static cute_status launch_ranks(run_options *o, cute_tool *tool, const char *path)
{
    const char *other = o->plans.count       ? "--plan"
                        : o->launch.dry_run  ? "--dry-run"
                        : o->bench           ? "--bench"
                        : o->tune            ? "--tune"
                        : o->trace           ? "--trace"
                        : o->timeline        ? "--timeline"
                        : o->roofline.wanted ? "--roofline"
                                             : NULL;
    if (other) return cute_fail(tool->diag, CUTE_USAGE, NULL, "--ranks and %s are mutually exclusive", other);
    if (strcmp(o->config, "-") == 0 || strcmp(path, "-") == 0)
        return cute_fail(tool->diag, CUTE_USAGE, NULL,
                         "--ranks expects files, got standard input: each rank reads them");
    cute_buffer line = {0};
    cute_buffer_printf(&line, "%s with %s, seed %s", path, o->config, o->seed ? o->seed : "of the config");
    for (size_t i = 0; i < o->defines.count; i++) cute_buffer_printf(&line, ", %s", o->defines.items[i]);
    rank_launch launch = {o, tool, path};
    config_ranks job = {.ranks = o->gemm.dist.ranks,
                        .provider = o->gemm.dist.provider,
                        .problem = cute_buffer_text(&line),
                        .argv = o->argv,
                        .launch = &o->launch,
                        .run = launch_of_rank,
                        .context = &launch};
    cute_status status = fill_launch_options(o, tool->diag);
    if (status == CUTE_OK) status = run_config_ranks(&job, tool->arena, tool->diag);
    cute_buffer_release(&line);
    return status;
}

static cute_status run_module(run_options *o, cute_tool *tool, const char *path)
{
    cute_diag *diag = tool->diag;
    cute_module *module = NULL;
    const cute_kernel *kernel;
    if (!o->template && o->gemm.dist.ranks && o->config) return launch_ranks(o, tool, path);
    if (!o->template && (o->config || o->plans.count)) return launch_module(o, tool, path);
    tuning t = {0};
    cute_status status = open_module(o, tool, path, NULL, &t, &module);
    release_tuning(&t);
    if (status != CUTE_OK) return status;
    if (o->template && o->plans.count) {
        char *text = NULL;
        status = cute_launch_plan_template(module, o->plans.items[0], &text, diag);
        if (status == CUTE_OK) status = write_text("-", text, true, diag);
    } else if (o->template) {
        status = cute_module_find_kernel(module, o->launch.kernel, &kernel, diag);
        if (status == CUTE_OK) status = write_text("-", cute_launch_template(kernel), true, diag);
    } else {
        if (o->launch.kernel) status = cute_module_find_kernel(module, o->launch.kernel, &kernel, diag);
        if (status == CUTE_OK) status = write_text("-", cute_module_describe(module, o->json), o->json, diag);
    }
    cute_module_close(module);
    return status;
}

/* Runs --gemm, which takes no module and no options that describe a launch. */
static cute_status run_gemm_options(run_options *o, cute_arena *arena, const cute_option_list *operands,
                                    cute_diag *diag)
{
    bool estimates = o->gemm.dist.split && o->launch.dry_run;
    const char *other = operands->count                               ? operands->items[0]
                        : o->config                                   ? "--config"
                        : o->plans.count                              ? "--plan"
                        : o->tensors.count                            ? "--tensor"
                        : o->expects.count                            ? "--expect"
                        : o->launch.kernel                            ? "--kernel"
                        : o->defines.count && !o->gemm.words.epilogue ? "-D"
                        : o->folders.count                            ? "-I"
                        : o->arch && !estimates                       ? "-arch"
                        : o->schedule                                 ? "--schedule"
                        : o->template                                 ? "--template"
                                      : cute_pipe_first_given(&o->pipe, PIPE_FOR_BOTH);
    if (other)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "'%s' cannot be combined with --gemm, which defines the whole launch", other);
    if (o->tune && *o->tune)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--tune with --gemm measures all configurations: expected no number, got '%s'",
                         o->tune);
    o->gemm.words.values = (const char *const *)o->defines.items;
    o->gemm.words.value_count = o->defines.count;
    o->defines.count = 0; /* scalars of the epilogue, not params */
    CUTE_TRY(fill_launch_options(o, diag));
    o->gemm.launch = &o->launch;
    o->gemm.arch = o->arch;
    o->gemm.tune = o->tune != NULL;
    o->gemm.no_tuned = o->no_tuned;
    o->gemm.json = o->json;
    o->gemm.timing = o->timing;
    o->gemm.trace = o->trace;
    if (o->gemm.dist.ranks || o->gemm.dist.split) return run_ranks(&o->gemm, o->argv, arena, diag);
    return run_gemm(&o->gemm, arena, diag);
}

/* The first option that requires --split; NULL if none is given. */
static const char *stray_ranks_option(const dist_words *w)
{
    return w->collective ? "--collective"
           : w->overlap  ? "--overlap"
           : w->groups   ? "--groups"
           : w->provider ? "--comm"
           : w->link     ? "--link"
           : w->node     ? "--node"
           : w->seeds    ? "--seeds"
                         : NULL;
}

/* The first option that requires --gemm; NULL if none is given. */
static const char *stray_gemm_option(const gemm_request *g)
{
    const gemm_words *w = &g->words;
    return w->dtype           ? "--dtype"
           : w->dtype_d       ? "--dtype-d"
           : w->accumulate    ? "--accumulate"
           : w->layout        ? "--layout"
           : w->alpha         ? "--alpha"
           : w->beta          ? "--beta"
           : w->batch         ? "--batch"
           : w->align         ? "--align"
           : w->bias          ? "--bias"
           : w->relu          ? "--relu"
           : w->gelu          ? "--gelu"
           : w->epilogue      ? "--epilogue"
           : g->configuration ? "--configuration"
           : g->vs            ? "--vs"
           : g->l2            ? "--l2"
           : g->dist.split    ? "--split"
                              : NULL;
}

static cute_status clear_cache(cute_arena *arena, cute_diag *diag)
{
    const char *folder = cute_cache_folder(arena, NULL);
    char *text =
        folder ? cute_arena_printf(arena, "%zu entries removed from %s\n", cute_cache_clear(folder), folder)
               : cute_arena_printf(arena, "no cache\n");
    return text ? cute_file_write("-", text, strlen(text), diag) : cute_fail_memory(diag);
}

static cute_status run_cute_run(cute_tool *tool, void *context)
{
    static const pipe_option_id kept[] = {PIPE_KEEP_IR,     PIPE_KEEP_PTX, PIPE_KEEP_CUBIN,
                                          PIPE_DUMP_PASSES, PIPE_PRINT_IR, PIPE_POST_COMPILE};
    run_options *o = context;
    const cute_option_list *operands = &tool->operands;
    cute_diag *diag = tool->diag;
    if (o->schema)
        return cute_file_write("-", cute_launch_schema_text(), strlen(cute_launch_schema_text()), diag);
    if (o->list_devices) return list_devices(o, diag);
    if (o->calibrate) return calibrate_device(o->launch.device, o->json, tool->arena, diag);
    if (o->cache_clear) return clear_cache(tool->arena, diag);
    if (o->plugin_paths.count) {
        const plugin_site site = {.program = "cute-run"};
        if (o->tune)
            return cute_fail(diag, CUTE_USAGE, NULL, "--tune and --load-plugin are mutually exclusive");
        o->no_tuned = true; /* earlier results are of other code */
        CUTE_TRY(cute_plugins_load(o->plugin_paths.items, o->plugin_paths.count, &site, &o->plugins, diag));
    }
    if (!o->roofline.wanted && (o->roofline.of || o->roofline.work || o->roofline.svg))
        return cute_fail(diag, CUTE_USAGE, NULL, "%s requires --roofline",
                         o->roofline.of     ? "--of"
                         : o->roofline.work ? "--work"
                                            : "--svg");
    if (o->trace && o->launch.dry_run)
        return cute_fail(diag, CUTE_USAGE, NULL, "--trace and --dry-run are mutually exclusive");
    if (o->timeline && (o->launch.dry_run || o->gemm.words.shapes))
        return cute_fail(diag, CUTE_USAGE, NULL, "--timeline and %s are mutually exclusive",
                         o->launch.dry_run ? "--dry-run" : "--gemm");
    if (o->emulator.timeline_block && !o->timeline)
        return cute_fail(diag, CUTE_USAGE, NULL, "--timeline-block requires --timeline=FILE");
    if (o->roofline.wanted && (o->launch.dry_run || o->gemm.words.shapes))
        return cute_fail(diag, CUTE_USAGE, NULL, "--roofline and %s are mutually exclusive",
                         o->launch.dry_run ? "--dry-run" : "--gemm");
    if (o->emulator.devices != -1 && o->gemm.words.shapes && !o->gemm.dist.split)
        return cute_fail(diag, CUTE_USAGE, NULL, "--devices with --gemm requires --split=m, n or k");
    if (stray_ranks_option(&o->gemm.dist) && !o->gemm.dist.split && !(o->config && o->gemm.dist.ranks))
        return cute_fail(diag, CUTE_USAGE, NULL, "%s requires --split=m, n or k",
                         stray_ranks_option(&o->gemm.dist));
    if (o->gemm.words.shapes) return run_gemm_options(o, tool->arena, operands, diag);
    if (o->gemm.dist.ranks && !o->gemm.words.shapes && !o->config)
        return cute_fail(diag, CUTE_USAGE, NULL, "--ranks requires --gemm=MxNxK or --config=launch.json");
    if (stray_gemm_option(&o->gemm))
        return cute_fail(diag, CUTE_USAGE, NULL, "%s requires --gemm=MxNxK", stray_gemm_option(&o->gemm));
    if (o->tune && !o->config && !o->plans.count)
        return cute_fail(
            diag, CUTE_USAGE, NULL,
            "--tune requires --gemm=MxNxK, or MLIR with --config=launch.json or --plan=FUNCTION");
    if (o->tune && o->launch.dry_run)
        return cute_fail(diag, CUTE_USAGE, NULL, "--tune and --dry-run are mutually exclusive");
    for (size_t i = 0; o->tune && i < sizeof kept / sizeof *kept; i++)
        if (cute_pipe_given(&o->pipe, kept[i]))
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "--tune and --%s are mutually exclusive: run again without --tune",
                             cute_pipe_option(kept[i], NULL).name);
    if (o->tune) CUTE_TRY(parse_tune(o->tune, &o->tune_runs, diag));
    if (operands->count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one module, got %zu: unexpected '%s'",
                         operands->count, operands->items[1]);
    if (o->config && o->plans.count)
        return cute_fail(diag, CUTE_USAGE, NULL, "--config and --plan are mutually exclusive");
    if (o->launch.kernel && o->plans.count)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--kernel and --plan are mutually exclusive: a plan selects its kernels");
    if (!o->plans.count && (o->tensors.count || o->expects.count))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "%s requires --plan=FUNCTION, the function with this parameter",
                         o->tensors.count ? "--tensor" : "--expect");
    if (!o->config && !o->plans.count &&
        (o->launch.dry_run || o->bench || o->checks || o->emulator.counters || o->roofline.wanted ||
         o->trace || o->timeline))
        return cute_fail(diag, CUTE_USAGE, NULL, "%s requires --config=launch.json or --plan=FUNCTION",
                         o->launch.dry_run      ? "--dry-run"
                         : o->bench             ? "--bench"
                         : o->checks            ? "--check"
                         : o->emulator.counters ? "--counters"
                         : o->roofline.wanted   ? "--roofline"
                         : o->timeline          ? "--timeline"
                                                : "--trace");
    const char *path = operands->count ? operands->items[0] : "-";
    if (o->config && strcmp(o->config, "-") == 0 && strcmp(path, "-") == 0)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "cannot read both the module and the config from standard input");
    return run_module(o, tool, path);
}

int main(int argc, char **argv)
{
    run_options o = {.argv = argv,
                     .launch = {.size = sizeof o.launch, .multiprocessors = -1},
                     .emulator = {.size = sizeof o.emulator, .threads = -1, .devices = -1}};
    const cute_option table[] = {
        {CUTE_OPTION_GROUP, "Launching", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "config", 'c', "FILE", "Run the launches of FILE, see launch.json(5)",
         &o.config},
        {CUTE_OPTION_LIST, "plan", 'p', "FUNCTION", "Run the launches of this host function", &o.plans},
        {CUTE_OPTION_LIST, "tensor", 0, "NAME=DTYPE:SHAPE[:STRIDES][:INIT]",
         "Define a tensor argument of the function", &o.tensors},
        {CUTE_OPTION_LIST, "expect", 0, "NAME=EXPRESSION", "Define the expected contents of a tensor",
         &o.expects},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE",
         "Set a param of the config or an argument of the function; MLIR: replace ${NAME}", &o.defines},
        {CUTE_OPTION_LIST, "include", 'I', "DIR", "MLIR: search DIR for included files", &o.folders},
        {CUTE_OPTION_STRING, "arch", 0, "sm_XX[a|f]",
         "MLIR: compile for this architecture (default: the device); --split --dry-run: estimate for it",
         &o.arch},
        {CUTE_OPTION_STRING, "gpu-arch", 0, "sm_XX[a|f]", NULL, &o.arch},
        {CUTE_OPTION_STRING, "kernel", 'k', "NAME", "Launch this kernel instead of the config's",
         &o.launch.kernel},
        {CUTE_OPTION_FLAG, "dry-run", 'n', NULL, "Validate the launch and print the plan; needs no GPU",
         &o.launch.dry_run},
        {CUTE_OPTION_STRING, "device", 'd', "N|emulator", "Select a GPU, or run PTX on the CPU (default 0)",
         &o.launch.device},
        {CUTE_OPTION_INT, "devices", 0, "N", "Run on N emulated devices that access each other's memory",
         &o.emulator.devices},
        {CUTE_OPTION_STRING, "seed", 0, "N", "Seed random data and the emulator's schedule", &o.seed},
        {CUTE_OPTION_INT, "threads", 0, "N", "Run blocks on N host threads, on the emulator",
         &o.emulator.threads},
        {CUTE_OPTION_INT, "sms", 0, "N",
         "Set the number of multiprocessors for launch plans (default: the device's)",
         &o.launch.multiprocessors},
        {CUTE_OPTION_STRING, "check", 0, "all|LIST", "Detect races and other bugs on the emulator",
         &o.checks},
        {CUTE_OPTION_FLAG, "strict", 0, NULL, "Treat warnings of --check as errors", &o.strict},
        {CUTE_OPTION_LIST, "allow", 0, "CHECK[@FILE:LINE],...",
         "Report these findings of --check as warnings", &o.allow},
        {CUTE_OPTION_LIST, "load-plugin", 0, "FILE",
         "Add checks and reductions of a plugin (.so), and load it when MLIR is compiled", &o.plugin_paths},
        {CUTE_OPTION_STRING, "timeout", 0, "SECONDS", "Stop a kernel after SECONDS (default 30 on a GPU)",
         &o.timeout},
        {CUTE_OPTION_GROUP, "Compilation of MLIR, as by cute-ptx and cute-link", 0, NULL, NULL, NULL},
#define PIPE_OPTION(id, kind, name, letter, value, help, programs)                                           \
    {CUTE_OPTION_##kind, name, letter, value, help, &o.pipe.of[PIPE_##id]},
#define PIPE_ALIAS(id, kind, name, value) {CUTE_OPTION_##kind, name, 0, value, NULL, &o.pipe.of[PIPE_##id]},
#include "lib/toolkit/pipe_options.def"
        {CUTE_OPTION_GROUP, "Tuning", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "schedule", 0, "TEXT", "MLIR: schedule tile programs, as cute-ptx --schedule",
         &o.schedule},
        {CUTE_OPTION_MAYBE, "tune", 0, "N",
         "Measure up to N candidates of MLIR (default 32), or all configurations of --gemm, and remember the "
         "fastest",
         &o.tune},
        {CUTE_OPTION_FLAG, "no-tuned", 0, NULL, "Do not use the result of an earlier --tune", &o.no_tuned},
        {CUTE_OPTION_FLAG, "verbose", 'v', NULL,
         "List refused candidates of --tune, too; say that a remembered one is used", &o.verbose},
        {CUTE_OPTION_GROUP, "Matrix multiplication", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "gemm", 'g', "MxNxK[,...]",
         "Compute D = A B, or a group of products; needs no module", &o.gemm.words.shapes},
        {CUTE_OPTION_STRING, "dtype", 0, "TYPE",
         "Set the type of A and B: f16 bf16 tf32 f32 e4m3 e5m2 i8 (default bf16)", &o.gemm.words.dtype},
        {CUTE_OPTION_STRING, "dtype-d", 0, "TYPE", "Set the type of D, C and the bias",
         &o.gemm.words.dtype_d},
        {CUTE_OPTION_STRING, "accumulate", 0, "f32|fast",
         "Accumulate e4m3 and e5m2 in f32, or as tensor cores do (default fast)", &o.gemm.words.accumulate},
        {CUTE_OPTION_STRING, "layout", 0, "tn|nn|nt|tt[t|n]",
         "Store A, B, D by rows (t) or by columns (n) (default tnt)", &o.gemm.words.layout},
        {CUTE_OPTION_INT, "batch", 0, "N", "Compute a batch of N products", &o.gemm.words.batch},
        {CUTE_OPTION_STRING, "alpha", 0, "X", "Scale the product by X", &o.gemm.words.alpha},
        {CUTE_OPTION_STRING, "beta", 0, "X", "Add X C", &o.gemm.words.beta},
        {CUTE_OPTION_FLAG, "bias", 0, NULL, "Add a bias, one element per column", &o.gemm.words.bias},
        {CUTE_OPTION_FLAG, "relu", 0, NULL, "Apply ReLU to the result", &o.gemm.words.relu},
        {CUTE_OPTION_FLAG, "gelu", 0, NULL, "Apply GELU to the result", &o.gemm.words.gelu},
        {CUTE_OPTION_STRING, "epilogue", 0, "TEXT",
         "Apply an expression to the sums, such as 'D = gelu(acc + bias[j])'; -D sets its scalars",
         &o.gemm.words.epilogue},
        {CUTE_OPTION_INT, "align", 0, "BYTES", "Set the alignment of all addresses (default 16)",
         &o.gemm.words.align},
        {CUTE_OPTION_STRING, "configuration", 0, "NAME", "Use this configuration instead of choosing one",
         &o.gemm.configuration},
        {CUTE_OPTION_STRING, "vs", 0, "cublas", "Also time cuBLASLt", &o.gemm.vs},
        {CUTE_OPTION_STRING, "l2", 0, "cold|warm",
         "Run each sample with a cold or warm L2 cache (default warm)", &o.gemm.l2},
        {CUTE_OPTION_GROUP, "Several ranks", 0, NULL, NULL, NULL},
        {CUTE_OPTION_INT, "ranks", 0, "N",
         "Compute the product by N processes, one for each GPU or emulated device; started here unless by "
         "mpirun, "
         "torchrun or srun",
         &o.gemm.dist.ranks},
        {CUTE_OPTION_STRING, "split", 0, "m|n|k", "Divide M, N or K among the ranks", &o.gemm.dist.split},
        {CUTE_OPTION_STRING, "collective", 0, "all-gather|all-reduce|reduce-scatter",
         "Gather A (n) or D (m), or add partial sums (k; default all-reduce)", &o.gemm.dist.collective},
        {CUTE_OPTION_STRING, "overlap", 0, "auto|each|sequence|signal|parts|rotate|peer",
         "Overlap the product with its collective, see docs/ranks.md (default auto; each: run all)",
         &o.gemm.dist.overlap},
        {CUTE_OPTION_INT, "groups", 0, "N", "Send the product in N parts, with --overlap=signal or parts",
         &o.gemm.dist.groups},
        {CUTE_OPTION_INT, "seeds", 0, "N",
         "Check the product of several ranks with the data of N seeds (default 1)", &o.gemm.dist.seeds},
        {CUTE_OPTION_STRING, "comm", 0, "nccl|nccl-send|shared",
         "Use NCCL (nccl-send: without puts), or a stand-in over shared memory (default on the emulator)",
         &o.gemm.dist.provider},
        {CUTE_OPTION_STRING, "link", 0, "NAME|GB/s[,NAME|GB/s]",
         "Estimate with this link within a node, and between nodes", &o.gemm.dist.link},
        {CUTE_OPTION_INT, "node", 0, "N", "Estimate with N ranks in a node (default 8)", &o.gemm.dist.node},
        {CUTE_OPTION_FLAG, "cache-clear", 0, NULL, "Remove cached compilations and measurements",
         &o.cache_clear},
        {CUTE_OPTION_GROUP, "Results", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "DIR", "Write output files to DIR", &o.launch.output_folder},
        {CUTE_OPTION_FLAG, "no-check", 0, NULL, "Skip the comparison of results", &o.launch.no_check},
        {CUTE_OPTION_FLAG, "bench", 'b', NULL, "Time the launches even if the config does not ask for it",
         &o.bench},
        {CUTE_OPTION_FLAG, "no-bench", 0, NULL, "Do not time the launches", &o.no_bench},
        {CUTE_OPTION_FLAG, "json", 0, NULL, "Print the report as JSON", &o.json},
        {CUTE_OPTION_FLAG, "counters", 0, NULL, "Count the work of each source line on the emulator",
         &o.emulator.counters},
        {CUTE_OPTION_FLAG, "timing", 0, NULL, "Print the time of each stage to stderr", &o.timing},
        {CUTE_OPTION_STRING, "trace", 0, "FILE",
         "Write a timeline of copies and launches for chrome://tracing and Perfetto", &o.trace},
        {CUTE_OPTION_STRING, "timeline", 0, "FILE",
         "Write a timeline of the warps of one block on the emulator, in the same format", &o.timeline},
        {CUTE_OPTION_INT, "timeline-block", 0, "N", "Select the block of --timeline (default 0)",
         &o.emulator.timeline_block},
        {CUTE_OPTION_GROUP, "Roofline", 0, NULL, NULL, NULL},
        {CUTE_OPTION_FLAG, "roofline", 0, NULL,
         "Print the limiting resource of each kernel on a device, and the predicted time",
         &o.roofline.wanted},
        {CUTE_OPTION_STRING, "of", 0, "DEVICE",
         "Select the device: h100, a100, ... or sm_N (default: the GPU, or the module's)", &o.roofline.of},
        {CUTE_OPTION_STRING, "work", 0, "REPORT",
         "Read counters from a --counters --json report instead of running the emulator", &o.roofline.work},
        {CUTE_OPTION_STRING, "svg", 0, "FILE", "Write the roofline as an SVG picture", &o.roofline.svg},
        {CUTE_OPTION_FLAG, "calibrate", 0, NULL, "Measure the peak rates of the GPU for its rooflines",
         &o.calibrate},
        {CUTE_OPTION_GROUP, "Information", 0, NULL, NULL, NULL},
        {CUTE_OPTION_FLAG, "list-devices", 'l', NULL, "Print the devices and their properties",
         &o.list_devices},
        {CUTE_OPTION_FLAG, "template", 't', NULL, "Print a launch.json to start from", &o.template},
        {CUTE_OPTION_FLAG, "schema", 0, NULL, "Print the JSON Schema of launch.json", &o.schema},
        {0},
    };
    const cute_command command = {
        .name = "cute-run",
        .synopsis = "[options] [module]",
        .summary = "Run kernels of a cubin, fatbin, PTX or MLIR file as described by a launch.json; check "
                   "and time them.",
        .options = table,
        .epilogue = "Without --config, the kernels of the module and their arguments are printed.\n"
                    "  cute-run k.cubin --template > launch.json\n"
                    "  cute-run k.mlir --config launch.json --device emulator\n"
                    "  cute-run k.cubin --config launch.json -D n=4096\n"
                    "  cute-run k.mlir -O3 -Xptxas=-v --keep-ptx --keep-cubin --config launch.json\n"
                    "  cute-run --gemm 4096x4096x4096 --dtype bf16\n",
    };
    int code = cute_tool_run(&command, NULL, run_cute_run, &o, argc, argv);
    cute_plugins_close(o.plugins);
    return code;
}
