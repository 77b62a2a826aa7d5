/* Steps of a plan: launches, copies, fills and events on streams. Binds their addresses and starts them on a device. */
#include "cute/emulator.h"
#include "lib/base/numbers/checked.h"
#include "lib/device/device.h"
#include "lib/launch/plan/plan.h"

/* ---- binding ---- */

static const char *memory_name(const cute_plan *plan, size_t index)
{
    size_t buffers = plan->config->buffer_count;
    return index < buffers ? plan->config->buffers[index].tensor.name
                           : plan->temporaries[index - buffers].name;
}

static int64_t memory_bytes(const cute_plan *plan, size_t index)
{
    size_t buffers = plan->config->buffer_count;
    return index < buffers ? plan->config->buffers[index].tensor.bytes
                           : plan->temporaries[index - buffers].memory.bytes;
}

/* `size`: bytes at the address. */
static cute_status bind_range(const cute_plan *plan, const plan_step *step, const host_number *address,
                              int64_t size, size_t *index, int64_t *bytes, cute_diag *diag)
{
    const cute_document *document = &plan->config->document;
    int64_t end;
    const char *what = step->step->kind == HOST_COPY   ? "copy"
                       : step->step->kind == HOST_FILL ? "fill"
                                                       : "collective";
    if (address->base < 0)
        return cute_document_fail(document, step->config->path, false, diag,
                                  "expected the address of a tensor or temporary for a %s, got %lld", what,
                                  (long long)address->value);
    *index = cute_plan_locate(plan, step->config->plan, address, bytes);
    *bytes += address->value;
    if (*bytes >= 0 && cute_add64(*bytes, size, &end) && end <= memory_bytes(plan, *index)) return CUTE_OK;
    return cute_document_fail(document, step->config->path, false, diag,
                              "the %s of %lld bytes at byte %lld is out of bounds of '%s', which has %lld",
                              what, (long long)size, (long long)*bytes, memory_name(plan, *index),
                              (long long)memory_bytes(plan, *index));
}

int64_t cute_plan_step_span(const host_step *step, bool target)
{
    int64_t bytes, to, from;
    if (!step->box || !host_box_spans(step->box, &bytes, &to, &from)) return step->bytes;
    return target ? to : from;
}

static cute_status bind_source(const cute_plan *plan, plan_step *step, int64_t size, cute_diag *diag)
{
    CUTE_TRY(bind_range(plan, step, &step->step->from, size, &step->from, &step->from_bytes, diag));
    const config_buffer *from =
        step->from < plan->config->buffer_count ? &plan->config->buffers[step->from] : NULL;
    if (from && from->init == INIT_NONE && !from->global && !plan->writes[step->from])
        return cute_document_fail(&plan->config->document, step->config->path, false, diag,
                                  "the %s reads buffer '%s', which has no 'init' and is not written "
                                  "by an earlier step",
                                  step->step->kind == HOST_COPY ? "copy" : "collective", from->tensor.name);
    return CUTE_OK;
}

cute_status cute_plan_bind_step(cute_plan *plan, plan_step *step, cute_diag *diag)
{
    const host_step *s = step->step;
    if (s->kind != HOST_COPY && s->kind != HOST_FILL && s->kind != HOST_COLLECTIVE) return CUTE_OK;
    if (s->kind == HOST_COPY) CUTE_TRY(bind_source(plan, step, cute_plan_step_span(s, false), diag));
    if (s->kind == HOST_COLLECTIVE && s->from_size) CUTE_TRY(bind_source(plan, step, s->from_size, diag));
    if (s->kind == HOST_COLLECTIVE && !s->bytes) return CUTE_OK;
    CUTE_TRY(bind_range(plan, step, &s->to, cute_plan_step_span(s, true), &step->to, &step->to_bytes, diag));
    if (step->to < plan->config->buffer_count) plan->writes[step->to] = 1;
    int64_t distance = step->to_bytes - step->from_bytes;
    bool overlaps =
        s->box ? host_box_overlaps(s->box, distance) : distance < s->bytes && -distance < s->bytes;
    if (s->kind == HOST_COPY && step->to == step->from && overlaps && s->bytes)
        return cute_document_fail(&plan->config->document, step->config->path, false, diag,
                                  "the source and the target of the copy overlap in '%s'",
                                  memory_name(plan, step->to));
    return CUTE_OK;
}

/* ---- running ---- */

cute_status cute_plan_open_streams(plan_run *run, cute_arena *arena, cute_diag *diag)
{
    const plan_sequence *s = run->sequence;
    run->streams = cute_arena_array(arena, (size_t)s->streams + 1, sizeof *run->streams);
    run->marks = cute_arena_array(arena, (size_t)s->streams + 1, sizeof *run->marks);
    run->events = cute_arena_array(arena, (size_t)s->events + 1, sizeof *run->events);
    if (!run->streams || !run->marks || !run->events) return cute_fail_memory(diag);
    if (s->streams <= 1) return CUTE_OK;
    for (int i = 0; i < s->streams; i++) {
        if (i) CUTE_TRY(cute_stream_create(run->device, &run->streams[i], diag));
        CUTE_TRY(cute_device_event_create(run->device, &run->marks[i], diag));
    }
    for (int i = 0; i < s->events; i++)
        CUTE_TRY(cute_device_event_create(run->device, &run->events[i], diag));
    return CUTE_OK;
}

/* `stream` NULL: the default stream. */
static cute_status record_event(const plan_run *run, cute_stream *stream, cute_device_event *event,
                                cute_diag *diag)
{
    return stream ? cute_stream_record(stream, event, diag)
                  : cute_device_event_record(run->device, event, diag);
}

static cute_status wait_event(const plan_run *run, cute_stream *stream, cute_device_event *event,
                              cute_diag *diag)
{
    return run->device->ops->stream_wait(run->device, stream, event, diag);
}

cute_status cute_plan_fork(const plan_run *run, cute_diag *diag)
{
    if (run->sequence->streams <= 1) return CUTE_OK;
    CUTE_TRY(record_event(run, run->streams[0], run->marks[0], diag));
    for (int i = 1; i < run->sequence->streams; i++)
        CUTE_TRY(wait_event(run, run->streams[i], run->marks[0], diag));
    return CUTE_OK;
}

cute_status cute_plan_join(const plan_run *run, cute_diag *diag)
{
    for (int i = 1; i < run->sequence->streams; i++) {
        CUTE_TRY(record_event(run, run->streams[i], run->marks[i], diag));
        CUTE_TRY(wait_event(run, run->streams[0], run->marks[i], diag));
    }
    return CUTE_OK;
}

/* Alone, a rank's collectives are copies. */
static cute_status start_collective(const plan_run *run, const plan_step *step, cute_stream *stream,
                                    cute_diag *diag)
{
    const host_step *s = step->step;
    comm_call call = {.kind = (comm_kind)s->call,
                      .type = comm_type_find(cute_dtype_get((cute_dtype)s->dtype)->name),
                      .count = s->count,
                      .peer = s->peer,
                      .signals = s->signals};
    if (s->from_size) call.from = run->memory[step->from] + (cute_address)step->from_bytes;
    if (s->bytes) call.to = run->memory[step->to] + (cute_address)step->to_bytes;
    if (!run->comm)
        return s->from_size && s->bytes && call.from != call.to
                   ? run->device->ops->copy(run->device, stream, call.to, call.from, (size_t)s->bytes, diag)
                   : CUTE_OK;
    if (call.kind == COMM_PUT) {
        call.window = run->windows[step->to];
        call.offset = step->to_bytes + run->window_front;
    }
    return cute_comm_start(run->comm, &call, stream, diag);
}

/* Fills the temporaries that the run begins with. */
static cute_status fill_temporaries(const plan_run *run, const plan_step *step, cute_stream *stream,
                                    cute_diag *diag)
{
    const cute_plan *plan = run->plan;
    for (size_t i = step->first_fill; i < step->first_fill + step->fill_count; i++) {
        const host_temporary *t = &plan->temporaries[i].memory;
        if (t->init < 0 || !t->bytes) continue;
        CUTE_TRY(run->device->ops->fill(run->device, stream, run->memory[plan->config->buffer_count + i],
                                        (uint64_t)t->init, 1, (size_t)t->bytes, diag));
    }
    return CUTE_OK;
}

/* The fills, and the copy, of a step in the memory of one rank. */
static cute_status start_memory_step(const plan_run *run, size_t index, cute_stream *stream, cute_diag *diag)
{
    const plan_step *step = &run->sequence->steps[index];
    const host_step *s = step->step;
    cute_device *device = run->device;
    CUTE_TRY(fill_temporaries(run, step, stream, diag));
    if (!s->bytes) return CUTE_OK;
    if (s->kind == HOST_COPY && s->box)
        return cute_plan_copy_box(run, s->box, run->memory[step->to] + (cute_address)step->to_bytes,
                                  run->memory[step->from] + (cute_address)step->from_bytes, stream, diag);
    if (s->kind == HOST_COPY)
        return device->ops->copy(device, stream, run->memory[step->to] + (cute_address)step->to_bytes,
                                 run->memory[step->from] + (cute_address)step->from_bytes, (size_t)s->bytes,
                                 diag);
    if (s->kind == HOST_FILL)
        return device->ops->fill(device, stream, run->memory[step->to] + (cute_address)step->to_bytes,
                                 s->value, s->width, (size_t)s->bytes, diag);
    return CUTE_OK;
}

/* On all ranks at the same time. */
static cute_status start_launch(const plan_run *run, size_t launch, cute_stream *stream, cute_diag *diag)
{
    enum { DEVICES_MOST = 16 }; /* of cute_emulator_options.devices */
    void *const *params[DEVICES_MOST] = {run->params[launch]};
    cute_device_launch shape = run->sequence->launches[launch].shape;
    const plan_launch *bound = &run->sequence->launches[launch];
    shape.stream = stream;
    if (!run->other_count) {
        CUTE_TRY(cute_plan_move_textures(run, bound, false, stream, diag));
        CUTE_TRY(cute_device_start(run->device, run->functions[launch], &shape, run->params[launch], diag));
        return cute_plan_move_textures(run, bound, true, stream, diag);
    }
    for (size_t r = 0; r < run->other_count && r + 1 < DEVICES_MOST; r++)
        params[r + 1] = run->others[r].params[launch];
    return cute_emulator_start_all(run->device, run->functions[launch], &shape, params, diag);
}

cute_status cute_plan_start_step(const plan_run *run, size_t index, cute_diag *diag)
{
    const plan_step *step = &run->sequence->steps[index];
    const host_step *s = step->step;
    const bool single = run->sequence->streams <= 1; /* events within a stream have no effect */
    cute_stream *stream = run->streams[s->stream];
    CUTE_TRY(start_memory_step(run, index, stream, diag));
    for (size_t r = 0; r < run->other_count; r++)
        CUTE_TRY(start_memory_step(&run->others[r], index, stream, diag));
    switch (s->kind) {
    case HOST_LAUNCH: return start_launch(run, s->launch, stream, diag);
    case HOST_COPY:
    case HOST_FILL: return CUTE_OK;
    case HOST_COLLECTIVE: return start_collective(run, step, stream, diag);
    case HOST_RECORD: return single ? CUTE_OK : record_event(run, stream, run->events[s->event], diag);
    case HOST_WAIT: return single ? CUTE_OK : wait_event(run, stream, run->events[s->event], diag);
    }
    return CUTE_OK;
}

cute_status cute_plan_start_steps(const plan_run *run, cute_diag *diag)
{
    CUTE_TRY(cute_plan_fork(run, diag));
    for (size_t i = 0; i < run->sequence->step_count; i++) CUTE_TRY(cute_plan_start_step(run, i, diag));
    return cute_plan_join(run, diag);
}
