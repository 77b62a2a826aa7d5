/* The timeline of a launch in Chrome's Trace Event Format: complete events ("X") of a process for the device, with threads for the
 * host, copies and kernels. */
#include "cute/report.h"

#include <math.h>

#include "lib/base/text/demangle.h"
#include "lib/base/text/json.h"
#include "lib/launch/launch.h"
#include "lib/report/launch/steps.h"

enum { PROCESS = 1, ROW_HOST = 0, ROW_COPIES, ROW_KERNELS, ROWS };
static const char *const row_names[ROWS] = {"host", "copies", "kernels"};
static const char *const phases[RUN_PHASES] = {
    "open device", "load module", "upload", "launch", "download", "bench", "close",
};

typedef struct timeline {
    const cute_launch *launch;
    json_t *events;
    double zero, last; /* host times */
} timeline;

static json_t *microseconds(double seconds)
{
    return json_real(seconds > 0 ? round(seconds * 1e9) * 1e-3 : 0); /* the clock has nanoseconds */
}

/* Takes `args`. */
static void put_event(const timeline *t, int row, const char *name, const char *category, double began,
                      double seconds, json_t *args)
{
    json_array_append_new(t->events, json_pack("{s:o,s:s,s:s,s:i,s:i,s:o,s:o,s:o*}", "name",
                                               cute_json_text(name), "cat", category, "ph", "X", "pid",
                                               PROCESS, "tid", row, "ts", microseconds(began - t->zero),
                                               "dur", microseconds(seconds), "args", args));
}

static void put_name(const timeline *t, const char *what, int row, const char *name)
{
    json_array_append_new(t->events, json_pack("{s:s,s:s,s:i,s:i,s:{s:o}}", "name", what, "ph", "M", "pid",
                                               PROCESS, "tid", row, "args", "name", cute_json_text(name)));
}

static json_t *extent_json(const int64_t *n)
{
    return json_sprintf("%lldx%lldx%lld", (long long)n[0], (long long)n[1], (long long)n[2]);
}

static json_t *launch_args(const cute_launch *l, uint32_t index)
{
    const plan_launch *p = &l->plan.main.launches[index];
    const cute_function_info *f = l->ran ? &l->run.functions[index] : NULL;
    json_t *args = json_pack("{s:o,s:o,s:o,s:I}", "kernel", cute_json_text(p->kernel->name), "grid",
                             extent_json(p->shape.grid), "block", extent_json(p->shape.block), "dynamic_smem",
                             (json_int_t)p->shape.dynamic_smem);
    if (p->shape.cluster[0]) json_object_set_new(args, "cluster", extent_json(p->shape.cluster));
    if (f) json_object_set_new(args, "static_smem", json_integer(f->static_smem));
    if (f && f->registers) json_object_set_new(args, "registers", json_integer(f->registers));
    return args;
}

static json_t *copy_args(const trace_span *s, double seconds)
{
    json_t *args = json_pack("{s:I}", "bytes", (json_int_t)s->bytes);
    if (seconds > 0) json_object_set_new(args, "gbytes_per_s", json_real((double)s->bytes / seconds * 1e-9));
    return args;
}

/* Launches that overlap share a span: "first + second". */
static const char *span_name(const cute_launch *l, const trace_span *s, uint32_t launches)
{
    const cute_config *config = &l->config;
    const char *name;
    switch (s->kind) {
    case TRACE_PHASE: return phases[s->index];
    case TRACE_ALLOC:
        return cute_arena_printf(l->arena, "allocate %s", config->buffers[s->index].tensor.name);
    case TRACE_UPLOAD:
        return cute_arena_printf(l->arena, "copy %s to the device", config->buffers[s->index].tensor.name);
    case TRACE_DOWNLOAD:
        return cute_arena_printf(l->arena, "copy %s from the device", config->buffers[s->index].tensor.name);
    case TRACE_MAP: return cute_arena_printf(l->arena, "copy tensor map %u to the device", s->index);
    case TRACE_STEP: return cute_launch_step_text(l, s->index);
    case TRACE_LAUNCH: break;
    }
    name = cute_symbol_name(l->arena, l->plan.main.launches[s->index].kernel->name);
    for (uint32_t n = 1; name && n < launches; n++)
        name =
            cute_arena_printf(l->arena, "%s + %s", name,
                              cute_symbol_name(l->arena, l->plan.main.launches[s->index + n].kernel->name));
    return name;
}

/* Steps of several streams have a row for each stream. */
static int row_of(const cute_launch *l, const trace_span *s)
{
    const plan_sequence *sequence = &l->plan.main;
    if (sequence->streams > 1)
        for (size_t i = 0; i < sequence->step_count; i++) {
            const host_step *step = sequence->steps[i].step;
            bool launch = step->kind == HOST_LAUNCH;
            if ((s->kind == TRACE_LAUNCH && launch && step->launch == s->index) ||
                (s->kind == TRACE_STEP && s->index == i))
                return ROWS + step->stream;
        }
    return s->kind == TRACE_LAUNCH ? ROW_KERNELS : ROW_COPIES;
}

static void name_streams(const timeline *t)
{
    const plan_sequence *sequence = &t->launch->plan.main;
    for (int stream = 0; sequence->streams > 1 && stream < sequence->streams; stream++) {
        const char *name = NULL;
        for (size_t i = 0; i < sequence->step_count && !name; i++)
            if (sequence->steps[i].step->stream == stream) name = sequence->steps[i].config->stream;
        const char *text =
            stream && name ? cute_arena_printf(t->launch->arena, "stream %s", name) : "default stream";
        put_name(t, "thread_name", ROWS + stream, text ? text : "stream");
    }
}

static void put_span(const timeline *t, const trace_log *log, const trace_span *s)
{
    const cute_launch *l = t->launch;
    bool launch = s->kind == TRACE_LAUNCH, copy = s->kind >= TRACE_UPLOAD && !launch;
    double ended = s->ended > 0 ? s->ended : t->last;
    put_event(t, ROW_HOST, span_name(l, s, 1), s->kind == TRACE_PHASE ? "phase" : "call", s->began,
              ended - s->began, s->bytes ? json_pack("{s:I}", "bytes", (json_int_t)s->bytes) : NULL);
    if (!launch && !copy) return;
    bool timed = s->device >= 0;
    double began = timed ? log->base + s->device_began : s->began,
           seconds = timed ? s->device : ended - s->began;
    if (!s->launches) return;
    json_t *args = launch ? launch_args(l, s->index) : copy_args(s, seconds);
    json_object_set_new(args, "clock", json_string(timed ? "device" : "host"));
    put_event(t, row_of(l, s), span_name(l, s, s->launches), launch ? "kernel" : "copy", began, seconds,
              args);
}

char *cute_launch_trace(const cute_launch *l)
{
    const trace_log *log = l->run.trace;
    const struct {
        const char *name;
        double began, seconds;
    } parts[] = {
        {"plan", l->read_began, l->read_seconds},
        {"make data", l->data_began, l->data_seconds},
        {"run", l->run_began, l->run_ended - l->run_began},
        {"check", l->check_began, l->check_seconds},
        {"write outputs", l->output_began, l->output_seconds},
    };
    timeline t = {.launch = l, .events = json_array(), .zero = l->read_began, .last = l->run_ended};
    const cute_device_info *d = &l->run.device;
    const char *device = !l->run.has_device ? "no device"
                         : l->run.emulated  ? d->name
                                            : cute_arena_printf(l->arena, "%s (cuda:%d)", d->name, d->index);
    put_name(&t, "process_name", ROW_HOST, device);
    for (int row = 0; row < ROWS; row++) put_name(&t, "thread_name", row, row_names[row]);
    name_streams(&t);
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++)
        if (parts[n].began > 0)
            put_event(&t, ROW_HOST, parts[n].name, "stage", parts[n].began, parts[n].seconds, NULL);
    for (size_t n = 0; log && n < log->count; n++) put_span(&t, log, &log->spans[n]);
    cute_buffer unused = {0};
    return cute_json_finish(json_pack("{s:o,s:s}", "traceEvents", t.events, "displayTimeUnit", "ms"), true,
                            &unused);
}
