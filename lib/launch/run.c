/* Runs a plan in a child process, which the parent monitors. Progress, messages and times are in a shared
 * mapping. */
#include "lib/launch/run_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/devices/arch.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/signals.h"
#include "lib/base/text/demangle.h"
#include "lib/device/device.h"
#include "lib/launch/data/data.h"

/* Seconds. The grace period lets the emulator detect a timeout first, as its message is more specific. */
enum { DEFAULT_TIMEOUT = 30, EMULATOR_GRACE = 2 };
enum { REPORT_BYTES = 1 << 24, MESSAGE_BYTES = 1 << 16, MESSAGE_LIMIT = 256 };

typedef struct shared_message {
    cute_severity severity;
    size_t at, file, line_text; /* offsets in `text`; file 0: no place */
    int line, column, length;
    const char *code; /* static, so also valid in the parent of the fork */
} shared_message;

typedef struct run_shared {
    atomic_int phase, launch;    /* launch: index of the last one started, -1: none */
    _Atomic double launch_began; /* its start time */
    atomic_llong progress;
    atomic_int finished;
    cute_status status;
    cute_device_info device;
    bool has_device;
    atomic_bool emulated;
    cute_emulator_counts counts;
    double phases[RUN_PHASES];
    bool has_report, has_counters, has_timeline;
    char report[REPORT_BYTES]; /* of the checks; unused pages are not allocated */
    char counters[REPORT_BYTES];
    char timeline[REPORT_BYTES];
    size_t message_count, text_length;
    shared_message messages[MESSAGE_LIMIT];
    size_t facts[CUTE_FACT_COUNT]; /* offsets in `text`; 0: unknown */
    char text[MESSAGE_BYTES];
} run_shared;

static double timeout_of(const run_request *request)
{
    return request->timeout > 0 ? request->timeout : DEFAULT_TIMEOUT;
}

void run_progress(run_child *child)
{
    atomic_fetch_add(&child->shared->progress, 1);
}
cute_address run_address(run_child *child, const config_buffer *buffer)
{
    const cute_tensor *t = &buffer->tensor;
    return child->buffers[buffer - child->request->config->buffers] +
           (cute_address)(t->offset * cute_dtype_get(t->dtype)->bytes);
}

cute_device *run_device(run_child *child)
{
    return child->device;
}

static void enter_phase(run_child *child, run_phase phase)
{
    double t = cute_clock();
    int before = atomic_load(&child->shared->phase);
    child->shared->phases[before] += t - child->phase_began;
    trace_log *log = (trace_log *)(uintptr_t)child->result->trace;
    if (log && log->count < log->capacity && (int)phase != before)
        log->spans[log->count++] = (trace_span){.kind = TRACE_PHASE,
                                                .index = (uint32_t)before,
                                                .began = child->phase_began,
                                                .ended = t,
                                                .device = -1};
    child->phase_began = t;
    atomic_store(&child->shared->phase, phase);
    run_progress(child);
}

/* ---- the child ---- */

static void signal_progress(void *context)
{
    run_progress(context);
}

static void signal_rank(void *context)
{
    cute_ranks_beat(((run_child *)context)->request->ranks);
}

static void print_text(void *context, const char *text, size_t length)
{
    (void)context;
    fwrite(text, 1, length, stdout);
}

static cute_status open_named_device(run_child *c, cute_diag *diag)
{
    const run_request *r = c->request;
    cute_emulator_options options = r->emulator;
    options.timeout = r->timeout;
    options.patience = 0.9 * timeout_of(r);
    if (r->in_process && r->quiet) options.print = NULL;
    if (!r->in_process) {
        options.heartbeat = signal_progress;
        options.context = c;
        options.print = print_text;
    }
    if (r->ranks) {
        options.heartbeat = signal_rank;
        options.context = c;
    }
    const char *name =
        options.checks || options.counters || options.timeline || options.devices ? "emulator" : r->device;
    CUTE_TRY(cute_device_open_with(name, &options, &c->device, diag));
    c->shared->emulated = c->device->ops->emulator != NULL;
    return CUTE_OK;
}

static cute_status open_device(run_child *c, cute_diag *diag)
{
    const cute_plan *plan = c->request->plan;
    CUTE_TRY(open_named_device(c, diag));
    c->shared->device = *cute_device_get_info(c->device);
    c->shared->has_device = true;
    if (c->request->ranks && cute_ranks_size(c->request->ranks) > 1)
        CUTE_TRY(cute_comm_open(c->request->ranks, c->device, (comm_provider)c->request->collectives,
                                &c->comm, diag));
    const cute_arch *made = cute_arch_find(cute_module_arch(plan->module));
    const cute_arch *device = cute_arch_find(c->shared->device.arch);
    bool binary = cute_module_get_format(plan->module) == CUTE_MODULE_CUBIN && !c->shared->emulated;
    if (made && device && binary && !cute_arch_compatible(made, true, device)) {
        cute_fail(diag, CUTE_INVALID, NULL, "the module is for %s, but device %d (%s) is %s", made->name,
                  c->shared->device.index, c->shared->device.name, c->shared->device.arch);
        cute_note(diag, NULL, "fix: compile it with -arch %s, or select another device with --device",
                  device->name);
        return CUTE_INVALID;
    }
    plan_limits limits = cute_plan_limits(NULL, &c->shared->device);
    for (size_t i = 0; i < plan->main.count; i++) {
        cute_device_launch unused;
        const plan_launch *launch = &plan->main.launches[i];
        CUTE_TRY(cute_plan_shape(plan->config, launch->config, launch->kernel, &limits, &unused, diag));
    }
    return CUTE_OK;
}

static cute_status load_launch(run_child *c, const plan_launch *launch, cute_device_function **function,
                               cute_function_info *info, cute_diag *diag)
{
    CUTE_TRY(cute_device_get_function(c->device, c->module, launch->kernel->name, function, diag));
    if (info) info->size = sizeof *info;
    if (info) CUTE_TRY(cute_device_function_info(c->device, *function, info, diag));
    size_t size;
    for (size_t i = 0; i < launch->param_count; i++)
        if (cute_device_param_size(c->device, *function, i, &size) && (int64_t)size != launch->param_sizes[i])
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "parameter %zu of kernel '%s': expected %zu bytes, got %lld", i,
                             launch->kernel->name, size, (long long)launch->param_sizes[i]);
    return cute_device_prepare(c->device, *function, &launch->shape, diag);
}

static cute_status load_sequence(run_child *c, const plan_sequence *sequence, loaded_sequence *out,
                                 cute_function_info *infos, cute_diag *diag)
{
    out->functions = cute_arena_array(c->arena, sequence->count + 1, sizeof *out->functions);
    out->params = cute_arena_array(c->arena, sequence->count + 1, sizeof *out->params);
    if (!out->functions || !out->params) return cute_fail_memory(diag);
    for (size_t i = 0; i < sequence->count; i++)
        CUTE_TRY(load_launch(c, &sequence->launches[i], &out->functions[i], infos ? &infos[i] : NULL, diag));
    return CUTE_OK;
}

static cute_status load_module(run_child *c, cute_diag *diag)
{
    const cute_plan *plan = c->request->plan;
    size_t count = 1 + plan->config->bench.baseline_count;
    c->sequences = cute_arena_array(c->arena, count, sizeof *c->sequences);
    if (!c->sequences) return cute_fail_memory(diag);
    CUTE_TRY(cute_launch_load(c->device, plan->module, c->request->label, &c->module, diag));
    CUTE_TRY(load_sequence(c, &plan->main, &c->sequences[0], c->result->functions, diag));
    for (size_t i = 1; i < count; i++)
        CUTE_TRY(load_sequence(c, &plan->baselines[i - 1], &c->sequences[i], NULL, diag));
    return CUTE_OK;
}

guard_sizes run_guards(const run_child *c)
{
    enum { EMULATOR_GUARD = 256 };
    return c->shared->emulated ? (guard_sizes){0, EMULATOR_GUARD}
                               : (guard_sizes){CUTE_GUARD_BYTES, CUTE_GUARD_BYTES};
}

/* Uploads and downloads are traced. */
static cute_status upload_traced(run_child *c, trace_kind kind, size_t index, cute_address to,
                                 const void *from, size_t size, cute_diag *diag)
{
    trace_span *span = trace_open(&c->trace, kind, (uint32_t)index, (int64_t)size);
    CUTE_TRY(trace_mark(&c->trace, span, false, NULL, diag));
    CUTE_TRY(cute_device_upload(c->device, to, from, size, diag));
    CUTE_TRY(trace_mark(&c->trace, span, true, NULL, diag));
    trace_close(span);
    return CUTE_OK;
}

static cute_status download_traced(run_child *c, size_t index, void *to, cute_address from, size_t size,
                                   cute_diag *diag)
{
    if (!size) return CUTE_OK;
    trace_span *span = trace_open(&c->trace, TRACE_DOWNLOAD, (uint32_t)index, (int64_t)size);
    CUTE_TRY(trace_mark(&c->trace, span, false, NULL, diag));
    CUTE_TRY(cute_device_download(c->device, to, from, size, diag));
    CUTE_TRY(trace_mark(&c->trace, span, true, NULL, diag));
    trace_close(span);
    return CUTE_OK;
}

static cute_status upload_global(run_child *c, size_t index, cute_diag *diag)
{
    const config_buffer *buffer = &c->request->config->buffers[index];
    const cute_tensor *t = &buffer->tensor;
    size_t size = 0;
    CUTE_TRY(cute_device_get_global(c->device, c->module, c->request->plan->symbols[index],
                                    &c->buffers[index], &size, diag));
    if (size != (size_t)t->bytes)
        return cute_document_fail(&c->request->config->document,
                                  config_member(c->request->config, buffer->path, "shape"), false, diag,
                                  "expected %zu bytes, the size of variable '%s', got %lld", size, t->name,
                                  (long long)t->bytes);
    run_progress(c);
    return buffer->init == INIT_NONE
               ? CUTE_OK
               : upload_traced(c, TRACE_UPLOAD, index, c->buffers[index], t->data, size, diag);
}

static cute_status upload_buffers(run_child *c, cute_diag *diag)
{
    const cute_config *config = c->request->config;
    c->windows = cute_arena_array(c->arena, config->buffer_count + 1, sizeof *c->windows);
    if (!c->windows) return cute_fail_memory(diag);
    guard_sizes g = run_guards(c);
    for (size_t i = 0; i < config->buffer_count; i++) {
        const cute_tensor *t = &config->buffers[i].tensor;
        if (config->buffers[i].global) {
            CUTE_TRY(upload_global(c, i, diag));
            continue;
        }
        size_t bytes, at = run_piece(c, &config->buffers[i], &bytes), size = g.front + bytes + g.back;
        char *end = (char *)t->data + t->bytes;
        trace_span *span = trace_open(&c->trace, TRACE_ALLOC, (uint32_t)i, (int64_t)size);
        CUTE_TRY(config->buffers[i].window && c->comm
                     ? cute_comm_window(c->comm, size, &c->buffers[i], &c->windows[i], diag)
                     : cute_device_alloc(c->device, size, &c->buffers[i], diag));
        trace_close(span);
        CUTE_TRY(
            upload_traced(c, TRACE_UPLOAD, i, c->buffers[i], (char *)t->data - g.front + at, size, diag));
        c->buffers[i] += g.front;
        if (at + bytes != (size_t)t->bytes) /* a part of it: the guard is behind the whole */
            CUTE_TRY(cute_device_upload(c->device, c->buffers[i] + bytes, end, g.back, diag));
        bool written = config->buffers[i].init != INIT_NONE;
        if (c->shared->emulated)
            CUTE_TRY(cute_emulator_describe_buffer(c->device, c->buffers[i], run_name(c, t->name), bytes,
                                                   written, diag));
        run_progress(c);
    }
    return CUTE_OK;
}

/* One allocation for all runs of a host function, as large as the largest; runs on several streams each have their own. Poisoned,
 * like outputs. */
static cute_status allocate_temporary(run_child *c, size_t index, cute_address *out, cute_diag *diag)
{
    const cute_plan *plan = c->request->plan;
    const plan_temporary *t = &plan->temporaries[index];
    int64_t most = 0;
    for (size_t i = 0; i < plan->temporary_count; i++) {
        if (i != index && (plan->main.streams > 1 || strcmp(plan->temporaries[i].name, t->name) != 0))
            continue;
        if (i < index) {
            *out = c->buffers[c->request->config->buffer_count + i];
            return CUTE_OK;
        }
        if (plan->temporaries[i].memory.bytes > most) most = plan->temporaries[i].memory.bytes;
    }
    size_t size = (size_t)most + run_guards(c).back;
    CUTE_TRY(cute_device_alloc(c->device, size, out, diag));
    CUTE_TRY(cute_device_fill(c->device, *out, 0xFF, size, diag));
    if (!c->shared->emulated) return CUTE_OK;
    return cute_emulator_describe_buffer(c->device, *out, run_name(c, t->name), (size_t)most, false, diag);
}

static cute_status allocate_temporaries(run_child *c, cute_diag *diag)
{
    for (size_t i = 0; i < c->request->plan->temporary_count; i++) {
        CUTE_TRY(allocate_temporary(c, i, &c->buffers[c->request->config->buffer_count + i], diag));
        run_progress(c);
    }
    return CUTE_OK;
}

static cute_status encode_maps(run_child *c, uint8_t (*encoded)[CUTE_MAP_BYTES], cute_diag *diag)
{
    const cute_plan *plan = c->request->plan;
    c->map_addresses = cute_arena_array(c->arena, plan->map_count + 1, sizeof *c->map_addresses);
    if (!c->map_addresses) return cute_fail_memory(diag);
    for (size_t i = 0; i < plan->map_count; i++) {
        const cute_address *memory = c->ranks[plan->maps[i].rank].buffers;
        CUTE_TRY(cute_plan_encode_map(&plan->maps[i], memory, c->device, encoded[i], diag));
        if (!plan->maps[i].in_memory) continue;
        CUTE_TRY(cute_device_alloc(c->device, CUTE_MAP_BYTES, &c->map_addresses[i], diag));
        CUTE_TRY(upload_traced(c, TRACE_MAP, i, c->map_addresses[i], encoded[i], CUTE_MAP_BYTES, diag));
    }
    return CUTE_OK;
}

static cute_status open_textures(run_child *c, cute_diag *diag)
{
    const cute_plan *plan = c->request->plan;
    c->textures = cute_arena_array(c->arena, plan->texture_count + 1, sizeof *c->textures);
    if (!c->textures) return cute_fail_memory(diag);
    for (size_t i = 0; i < plan->texture_count; i++)
        CUTE_TRY(cute_plan_open_texture(&plan->textures[i], c->ranks[plan->textures[i].rank].buffers,
                                        c->device, &c->textures[i], diag));
    return CUTE_OK;
}

static cute_status fill_sequences(run_child *c, cute_diag *diag)
{
    const cute_plan *plan = c->request->plan;
    uint8_t(*maps)[CUTE_MAP_BYTES] = cute_arena_array(c->arena, plan->map_count + 1, CUTE_MAP_BYTES);
    if (!maps) return cute_fail_memory(diag);
    CUTE_TRY(encode_maps(c, maps, diag));
    CUTE_TRY(open_textures(c, diag));
    for (size_t s = 0; s <= plan->config->bench.baseline_count; s++) {
        const plan_sequence *sequence = s ? &plan->baselines[s - 1] : &plan->main;
        for (size_t i = 0; i < sequence->count; i++) {
            void ***params = &c->sequences[s].params[i];
            CUTE_TRY(cute_plan_copy_params(c->arena, &sequence->launches[i], params, diag));
            cute_plan_apply_fixups(&sequence->launches[i], *params, c->buffers, maps, c->map_addresses,
                                   c->textures);
        }
        loaded_sequence *loaded = &c->sequences[s];
        loaded->run = (plan_run){.plan = plan,
                                 .sequence = sequence,
                                 .device = c->device,
                                 .memory = c->buffers,
                                 .functions = loaded->functions,
                                 .params = loaded->params,
                                 .comm = c->comm,
                                 .textures = c->textures,
                                 .windows = c->windows,
                                 .window_front = (int64_t)run_guards(c).front};
        CUTE_TRY(cute_plan_open_streams(&loaded->run, c->arena, diag));
    }
    return run_fill_ranks(c, maps, diag);
}

cute_status run_start_sequence(run_child *c, size_t which, cute_diag *diag)
{
    return cute_plan_start_steps(&c->sequences[which].run, diag);
}

/* For the messages of other ranks. */
static void name_step(run_child *c, size_t index, const host_step *s)
{
    if (s->kind == HOST_COLLECTIVE)
        cute_ranks_step(c->request->ranks, "step %zu, %s", index, comm_kind_name((comm_kind)s->call));
    else if (s->kind == HOST_LAUNCH)
        cute_ranks_step(c->request->ranks, "step %zu, kernel %s", index,
                        c->sequences[0].run.sequence->launches[s->launch].kernel->name);
}

static cute_status sync_steps(run_child *c, cute_diag *diag)
{
    return c->comm ? cute_comm_sync(c->comm, diag) : cute_device_sync(c->device, diag);
}

/* Starts a step and traces it. On one stream, waits for a launch before the next, so that a fault can be attributed; only
 * programmatic launches overlap. *first is the span that these share: an event between them would serialize them. */
static cute_status start_traced(run_child *c, size_t index, trace_span **first, cute_diag *diag)
{
    const plan_run *run = &c->sequences[0].run;
    const plan_sequence *sequence = run->sequence;
    const host_step *s = sequence->steps[index].step;
    bool launches = s->kind == HOST_LAUNCH, last = index + 1 == sequence->step_count;
    const host_step *next = last ? NULL : sequence->steps[index + 1].step;
    bool overlaps = launches && next && next->kind == HOST_LAUNCH && next->stream == s->stream &&
                    sequence->launches[next->launch].shape.programmatic;
    if (s->kind == HOST_RECORD || s->kind == HOST_WAIT) return cute_plan_start_step(run, index, diag);
    trace_span *span = trace_open(&c->trace, launches ? TRACE_LAUNCH : TRACE_STEP,
                                  (uint32_t)(launches ? s->launch : index), s->bytes);
    if (!*first) CUTE_TRY(trace_mark(&c->trace, *first = span, false, run->streams[s->stream], diag));
    if (*first && *first != span) {
        (*first)->launches++;
        span->launches = 0;
    }
    CUTE_TRY(cute_plan_start_step(run, index, diag));
    if (!overlaps) {
        CUTE_TRY(trace_mark(&c->trace, *first, true, run->streams[s->stream], diag));
        if (sequence->streams <= 1) CUTE_TRY(sync_steps(c, diag));
        *first = NULL;
    }
    trace_close(span);
    return CUTE_OK;
}

static cute_status launch_all(run_child *c, cute_diag *diag)
{
    const plan_run *run = &c->sequences[0].run;
    trace_span *first = NULL;
    CUTE_TRY(cute_plan_fork(run, diag));
    for (size_t i = 0; i < run->sequence->step_count; i++) {
        const host_step *s = run->sequence->steps[i].step;
        if (s->kind == HOST_LAUNCH) atomic_store(&c->shared->launch, (int)s->launch);
        atomic_store(&c->shared->launch_began, cute_clock());
        if (c->request->ranks) name_step(c, i, s);
        CUTE_TRY(start_traced(c, i, &first, diag));
        run_progress(c);
    }
    if (run->sequence->streams <= 1) return CUTE_OK;
    CUTE_TRY(cute_plan_join(run, diag));
    if (!c->shared->emulated) atomic_store(&c->shared->launch, -1); /* a fault may be of any of them */
    return sync_steps(c, diag);
}

static cute_status download_buffers(run_child *c, cute_diag *diag)
{
    const cute_config *config = c->request->config;
    guard_sizes g = run_guards(c);
    for (size_t i = 0; i < config->buffer_count; i++) {
        const config_buffer *buffer = &config->buffers[i];
        size_t bytes, at = run_piece(c, buffer, &bytes);
        char *data = buffer->tensor.data, *end = data + buffer->tensor.bytes;
        bool wanted = buffer->init == INIT_NONE || buffer->checked || buffer->output;
        if (buffer->global) {
            if (wanted) CUTE_TRY(download_traced(c, i, data, c->buffers[i], bytes, diag));
        } else if (wanted) {
            CUTE_TRY(
                download_traced(c, i, data + at - g.front, c->buffers[i] - g.front, g.front + bytes, diag));
            CUTE_TRY(download_traced(c, i, end, c->buffers[i] + bytes, g.back, diag));
        } else {
            CUTE_TRY(download_traced(c, i, data - g.front, c->buffers[i] - g.front, g.front, diag));
            CUTE_TRY(download_traced(c, i, end, c->buffers[i] + bytes, g.back, diag));
        }
        run_progress(c);
    }
    return run_download_ranks(c, diag);
}

static cute_status run_phases(run_child *c, cute_diag *diag)
{
    enter_phase(c, RUN_OPEN);
    CUTE_TRY(open_device(c, diag));
    CUTE_TRY(trace_begin(&c->trace, (trace_log *)(uintptr_t)c->result->trace, c->device, !c->shared->emulated,
                         c->arena, diag));
    enter_phase(c, RUN_LOAD);
    CUTE_TRY(load_module(c, diag));
    enter_phase(c, RUN_UPLOAD);
    CUTE_TRY(run_make_ranks(c, diag));
    for (size_t r = run_rank_count(c); r-- > 0;) { /* the first remains selected */
        CUTE_TRY(run_select_rank(c, r, diag));
        CUTE_TRY(upload_buffers(c, diag));
        CUTE_TRY(allocate_temporaries(c, diag));
    }
    CUTE_TRY(fill_sequences(c, diag));
    enter_phase(c, RUN_LAUNCH);
    CUTE_TRY(launch_all(c, diag));
    enter_phase(c, RUN_DOWNLOAD);
    CUTE_TRY(download_buffers(c, diag));
    CUTE_TRY(trace_resolve(&c->trace, diag));
    if (c->shared->emulated) c->shared->counts = *cute_emulator_get_counts(c->device);
    if (c->request->bench && !c->shared->emulated) {
        enter_phase(c, RUN_BENCH);
        CUTE_TRY(run_bench(c, c->request, c->result->samples, diag));
    }
    enter_phase(c, RUN_DONE);
    return CUTE_OK;
}

static bool send_text(run_shared *shared, const char *text, size_t length, size_t *at)
{
    if (length + 1 > MESSAGE_BYTES - shared->text_length) return false;
    *at = shared->text_length;
    memcpy(shared->text + *at, text, length);
    shared->text[*at + length] = '\0';
    shared->text_length += length + 1;
    return true;
}

static void send_messages(run_shared *shared, const cute_diag *diag)
{
    shared->text_length = 1; /* offset 0 means none */
    for (int i = 0; i < CUTE_FACT_COUNT; i++) {
        const char *fact = cute_diag_fact(diag, i);
        if (fact && !send_text(shared, fact, strlen(fact), &shared->facts[i])) return;
    }
    for (size_t i = 0; i < cute_diag_count(diag) && shared->message_count < MESSAGE_LIMIT; i++) {
        const cute_message *message = cute_diag_get(diag, i);
        const cute_place *place = &message->place;
        shared_message *m = &shared->messages[shared->message_count];
        *m = (shared_message){.severity = message->severity, .code = message->code};
        if (!send_text(shared, message->text, strlen(message->text), &m->at)) return;
        if (place->file && send_text(shared, place->file, strlen(place->file), &m->file)) {
            m->line = place->line;
            m->column = place->column;
            m->length = place->length;
            if (place->text && !send_text(shared, place->text, place->text_length, &m->line_text))
                m->line_text = 0;
        }
        shared->message_count++;
    }
}

/* Sends JSON text, without "lines" and "spans" if it is too long, and frees it. */
static bool send_json(char *text, char *out)
{
    if (text && strlen(text) >= REPORT_BYTES) { /* findings are more important than counts */
        json_t *value = json_loads(text, 0, NULL), *item;
        size_t index;
        free(text);
        if (json_is_object(value)) json_object_set_new(value, "lines", json_array());
        json_array_foreach(value, index, item)
        {
            json_object_set_new(item, json_object_get(item, "spans") ? "spans" : "lines", json_array());
        }
        text = json_dumps(value, JSON_COMPACT);
        json_decref(value);
    }
    bool sent = text && strlen(text) < REPORT_BYTES;
    if (sent) memcpy(out, text, strlen(text) + 1);
    free(text);
    return sent;
}

/* Also called after a fault, for the findings before it. */
static void send_report(run_child *c)
{
    if (!c->device) return;
    c->shared->has_report = send_json(cute_emulator_checks_json(c->device), c->shared->report);
    c->shared->has_counters = send_json(cute_emulator_counters_json(c->device), c->shared->counters);
    c->shared->has_timeline = send_json(cute_emulator_timeline_json(c->device), c->shared->timeline);
}

static _Noreturn void child_main(const run_request *request, run_result *result, run_shared *shared,
                                 pid_t parent)
{
    run_child c = {.request = request, .shared = shared, .result = result, .phase_began = cute_clock()};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(CUTE_SYSTEM);
    if (request->quiet) {
        if (!freopen("/dev/null", "w", stdout)) fclose(stdout);
    } else if (request->stdout_to_stderr) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    cute_diag *diag = cute_diag_create();
    c.arena = cute_arena_create();
    cute_status status = diag && c.arena ? run_phases(&c, diag) : cute_fail_memory(diag);
    send_messages(shared, diag);
    send_report(&c);
    shared->status = status;
    fflush(stdout);
    atomic_store(&shared->finished, 1);
    /* After a fault, the context cannot be closed; the driver releases it when the process ends. */
    if (status == CUTE_OK) cute_device_close(c.device);
    _exit(0);
}

/* ---- the parent ---- */

static const char *const phase_names[RUN_PHASES] = {
    "opening the device", "loading the module",       "copying the buffers to the device",
    "running the kernel", "copying the results back", "timing the kernel",
    "closing the device",
};

static void describe_launch(const run_request *request, int index, cute_diag *diag)
{
    if (index < 0 && request->plan->main.streams > 1)
        cute_note(
            diag, NULL,
            "steps of %d streams were running: without 'stream' in the steps, the one that failed is named",
            request->plan->main.streams);
    if (index < 0 || (size_t)index >= request->plan->main.count) return;
    const plan_launch *l = &request->plan->main.launches[index];
    const cute_device_launch *s = &l->shape;
    cute_buffer text = {0};
    cute_path_text(l->config->path, &text);
    cute_buffer_printf(&text, ": kernel '%s', grid %lldx%lldx%lld, block %lldx%lldx%lld",
                       cute_symbol_name(request->config->arena, l->kernel->name), (long long)s->grid[0],
                       (long long)s->grid[1], (long long)s->grid[2], (long long)s->block[0],
                       (long long)s->block[1], (long long)s->block[2]);
    if (s->cluster[0])
        cute_buffer_printf(&text, ", cluster %lldx%lldx%lld", (long long)s->cluster[0],
                           (long long)s->cluster[1], (long long)s->cluster[2]);
    if (s->dynamic_smem)
        cute_buffer_printf(&text, ", %lld bytes of dynamic shared memory", (long long)s->dynamic_smem);
    const char *key = json_object_get(l->config->json, "kernel") ? "kernel" : "grid";
    cute_path at = {l->config->path, key, 0};
    cute_place place = cute_document_place(
        &request->config->document, json_object_get(l->config->json, key) ? &at : l->config->path, false);
    cute_note(diag, place.text ? &place : NULL, "in %s", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

static void receive_messages(const run_shared *shared, cute_diag *diag)
{
    for (int i = 0; i < CUTE_FACT_COUNT; i++)
        if (shared->facts[i]) cute_diag_know(diag, i, shared->text + shared->facts[i]);
    for (size_t i = 0; i < shared->message_count; i++) {
        const shared_message *m = &shared->messages[i];
        cute_place place = {
            .file = shared->text + m->file, .line = m->line, .column = m->column, .length = m->length};
        if (m->line_text) {
            place.text = shared->text + m->line_text;
            place.text_length = strlen(place.text);
        }
        cute_report(diag, m->severity, m->file ? &place : NULL, "%s", shared->text + m->at);
        cute_diag_code(diag, m->code);
    }
}

/* Whether the current launch has exceeded its timeout. The emulator detects this first, if it can, and
 * reports why. */
static bool has_timed_out(const run_shared *shared, double timeout)
{
    if (timeout <= 0 || atomic_load(&shared->phase) != RUN_LAUNCH) return false;
    double began = atomic_load(&shared->launch_began);
    return began > 0 &&
           cute_clock() - began > timeout + (atomic_load(&shared->emulated) ? EMULATOR_GRACE : 0);
}

/* Waits until the child ends (true), or makes no progress in time or exceeds the launch's timeout (false). */
static bool wait_for_child(const run_request *request, const run_shared *shared, int pipe_end)
{
    long long seen = -1;
    double since = cute_clock();
    for (;;) {
        if (has_timed_out(shared, request->timeout)) return false;
        double timeout = timeout_of(request) + (atomic_load(&shared->emulated) ? EMULATOR_GRACE : 0);
        struct pollfd p = {.fd = pipe_end, .events = POLLIN};
        int ready = poll(&p, 1, 50);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
        long long progress = atomic_load(&shared->progress);
        if (progress != seen) {
            seen = progress;
            since = cute_clock();
        } else if (cute_clock() - since > timeout) {
            return false;
        }
    }
}

/* Runs the phases in this process. */
static cute_status run_in_process(const run_request *request, run_result *out, run_shared *shared,
                                  cute_diag *diag)
{
    run_child c = {.request = request, .shared = shared, .result = out, .phase_began = cute_clock()};
    c.arena = cute_arena_create();
    cute_status status = c.arena ? run_phases(&c, diag) : cute_fail_memory(diag);
    send_report(&c);
    int phase = atomic_load(&shared->phase);
    if (status != CUTE_OK && (phase == RUN_LAUNCH || phase == RUN_BENCH))
        describe_launch(request, atomic_load(&shared->launch), diag);
    cute_comm_close(c.comm);
    cute_device_close(c.device);
    cute_arena_destroy(c.arena);
    return status;
}

static cute_status report_outcome(const run_request *request, const run_shared *shared, bool ended, int code,
                                  cute_diag *diag)
{
    int phase = atomic_load(&shared->phase), launch = atomic_load(&shared->launch);
    bool in_kernel = phase == RUN_LAUNCH || phase == RUN_BENCH;
    if (phase < 0 || phase >= RUN_PHASES) phase = RUN_OPEN;
    if (!ended && !atomic_load(&shared->finished)) {
        const char *name =
            launch >= 0 && (size_t)launch < request->plan->main.count
                ? cute_symbol_name(request->config->arena, request->plan->main.launches[launch].kernel->name)
                : "?";
        if (in_kernel && launch < 0)
            cute_fail(diag, CUTE_INVALID, NULL, "the steps did not end within %g s and were stopped",
                      timeout_of(request));
        else if (in_kernel)
            cute_fail(diag, CUTE_INVALID, NULL, "kernel '%s' did not end within %g s and was stopped", name,
                      timeout_of(request));
        else
            cute_fail(diag, CUTE_SYSTEM, NULL, "%s did not end within %g s and was stopped",
                      phase_names[phase], timeout_of(request));
        if (in_kernel) describe_launch(request, launch, diag);
        cute_note(diag, NULL, "fix: allow more time with --timeout SECONDS");
        return in_kernel ? CUTE_INVALID : CUTE_SYSTEM;
    }
    receive_messages(shared, diag);
    if (atomic_load(&shared->finished)) {
        if (shared->status != CUTE_OK && in_kernel) describe_launch(request, launch, diag);
        return shared->status;
    }
    if (WIFSIGNALED(code))
        cute_fail(diag, CUTE_SYSTEM, NULL, "the driver ended the process while %s (%s)", phase_names[phase],
                  strsignal(WTERMSIG(code)));
    else
        cute_fail(diag, CUTE_SYSTEM, NULL, "the process ended unexpectedly while %s", phase_names[phase]);
    if (in_kernel) describe_launch(request, launch, diag);
    return CUTE_SYSTEM;
}

/* Maps the memory that the child writes to: messages, kernel resources, samples and the trace. */
static cute_status map_shared(const run_request *request, run_result *out, run_shared **shared,
                              cute_diag *diag)
{
    size_t launches = request->plan->main.count, contenders = 1 + request->config->bench.baseline_count;
    size_t samples = request->bench ? (size_t)request->config->bench.samples : 0;
    size_t spans = request->trace
                       ? RUN_PHASES + 4 * (size_t)request->config->ranks * request->config->buffer_count +
                             request->plan->map_count + request->plan->main.step_count
                       : 0;
    size_t size = sizeof **shared + launches * sizeof *out->functions +
                  contenders * (sizeof *out->samples + samples * sizeof(double)) + 64 +
                  (request->trace ? trace_log_size(spans) : 0);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return cute_fail_memory(diag);
    out->shared = memory;
    out->shared_size = size;
    *shared = (run_shared *)memory;
    atomic_store(&(*shared)->launch, -1);
    memory += (sizeof **shared + 15) / 16 * 16;
    out->functions = (cute_function_info *)memory;
    memory += launches * sizeof *out->functions;
    if (request->trace) {
        memory += (16 - (uintptr_t)memory % 16) % 16;
        trace_log *log = (trace_log *)memory;
        log->capacity = spans;
        out->trace = log;
        memory += trace_log_size(spans);
    }
    if (!request->bench) return CUTE_OK;
    out->samples = (run_samples *)memory;
    memory += contenders * sizeof *out->samples;
    for (size_t i = 0; i < contenders; i++) out->samples[i].seconds = (double *)memory + i * samples;
    return CUTE_OK;
}

/* Copies the results, which may be partial if the run failed. */
static void copy_result(const run_shared *shared, run_result *out)
{
    out->device = shared->device;
    out->device.kind = shared->emulated ? "emulator" : "cuda";
    out->has_device = shared->has_device;
    out->emulated = shared->emulated;
    out->counts = shared->counts;
    out->check_report = shared->has_report ? shared->report : NULL;
    out->counters = shared->has_counters ? shared->counters : NULL;
    out->timeline = shared->has_timeline ? shared->timeline : NULL;
    memcpy(out->phases, shared->phases, sizeof out->phases);
}

static cute_status run_child_process(const run_request *request, run_result *out, run_shared *shared,
                                     cute_diag *diag)
{
    int ends[2], code = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return cute_fail(diag, CUTE_SYSTEM, NULL, "pipe: %s", strerror(errno));
    fflush(stdout);
    fflush(stderr);
    sigset_t held;
    cute_ending_hold(&held);
    pid_t parent = getpid(), child = fork();
    cute_ending *note = child > 0 ? cute_ending_note_process(child, false) : NULL;
    cute_ending_release(&held);
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return cute_fail(diag, CUTE_SYSTEM, NULL, "fork: %s", strerror(errno));
    }
    if (child == 0) {
        close(ends[0]);
        child_main(request, out, shared, parent);
    }
    close(ends[1]);
    bool ended = wait_for_child(request, shared, ends[0]);
    close(ends[0]);
    if (!ended) kill(child, SIGKILL);
    cute_ending_forget(note);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) {
    }
    return report_outcome(request, shared, ended, code, diag);
}

cute_status cute_run_plan(const run_request *request, run_result *out, cute_diag *diag)
{
    run_shared *shared = NULL;
    memset(out, 0, sizeof *out);
    CUTE_TRY(map_shared(request, out, &shared, diag));
    cute_status status = request->in_process ? run_in_process(request, out, shared, diag)
                                             : run_child_process(request, out, shared, diag);
    copy_result(shared, out);
    return status;
}

void cute_run_release(run_result *result)
{
    if (result->shared) munmap(result->shared, result->shared_size);
    memset(result, 0, sizeof *result);
}
