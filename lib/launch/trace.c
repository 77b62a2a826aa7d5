/* Records spans of a launch, and events around their work on the device. */
#include "lib/launch/trace.h"

#include "lib/base/system/clock.h"

size_t trace_log_size(size_t capacity)
{
    return sizeof(trace_log) + capacity * sizeof(trace_span);
}

cute_status trace_begin(trace_recorder *r, trace_log *log, cute_device *device, bool events,
                        cute_arena *arena, cute_diag *diag)
{
    *r = (trace_recorder){.log = log, .device = device, .events = log && events};
    if (!r->events) return CUTE_OK;
    r->marks = cute_arena_array(arena, 2 * log->capacity + 1, sizeof(cute_device_event *));
    if (!r->marks) return cute_fail_memory(diag);
    CUTE_TRY(cute_device_event_create(device, &r->base, diag));
    CUTE_TRY(cute_device_event_record(device, r->base, diag));
    CUTE_TRY(cute_device_sync(device, diag));
    log->base = cute_clock();
    return CUTE_OK;
}

trace_span *trace_open(trace_recorder *r, trace_kind kind, uint32_t index, int64_t bytes)
{
    trace_log *log = r->log;
    if (!log || log->count == log->capacity) return NULL;
    trace_span *span = &log->spans[log->count++];
    *span = (trace_span){
        .kind = kind, .index = index, .launches = 1, .bytes = bytes, .began = cute_clock(), .device = -1};
    return span;
}

cute_status trace_mark(trace_recorder *r, const trace_span *span, bool end, cute_stream *stream,
                       cute_diag *diag)
{
    if (!span || !r->events) return CUTE_OK;
    cute_device_event **at = &r->marks[2 * (span - r->log->spans) + end];
    CUTE_TRY(cute_device_event_create(r->device, at, diag));
    return stream ? cute_stream_record(stream, *at, diag) : cute_device_event_record(r->device, *at, diag);
}

void trace_close(trace_span *span)
{
    if (span) span->ended = cute_clock();
}

cute_status trace_resolve(trace_recorder *r, cute_diag *diag)
{
    if (!r->events) return CUTE_OK;
    CUTE_TRY(cute_device_sync(r->device, diag));
    for (size_t n = 0; n < r->log->count; n++) {
        trace_span *span = &r->log->spans[n];
        cute_device_event *begin = r->marks[2 * n], *end = r->marks[2 * n + 1];
        if (!begin || !end) continue;
        CUTE_TRY(cute_device_elapsed(r->device, r->base, begin, &span->device_began, diag));
        CUTE_TRY(cute_device_elapsed(r->device, begin, end, &span->device, diag));
    }
    return CUTE_OK;
}
