/* The timeline of a launch: spans of host time and, on a GPU, of device time. Recorded in the child, read by
 * the report. */
#ifndef CUTE_LIB_LAUNCH_TRACE_H
#define CUTE_LIB_LAUNCH_TRACE_H

#include "cute/device.h"
#include "cute/launch.h"

typedef enum trace_kind {
    TRACE_PHASE,    /* index: run_phase */
    TRACE_ALLOC,    /* index: buffer */
    TRACE_UPLOAD,   /* index: buffer */
    TRACE_DOWNLOAD, /* index: buffer */
    TRACE_MAP,      /* index: tensor map, copied into device memory */
    TRACE_LAUNCH,   /* index: launch of the plan */
    TRACE_STEP      /* index: step of the plan, a copy or fill */
} trace_kind;

typedef struct trace_span {
    trace_kind kind;
    uint32_t index,
        launches; /* number of overlapping launches timed together; 0: timed with an earlier span */
    int64_t bytes;
    double began, ended; /* host, cute_clock */
    double device_began,
        device; /* seconds of device time: start since the first event, and duration; device < 0: not timed */
} trace_span;

/* In memory shared by both processes. */
typedef struct trace_log {
    size_t count, capacity;
    double base; /* host time of the device's first event; 0: no events */
    trace_span spans[];
} trace_log;

/* The child's recorder. `log` NULL: recording is off. */
typedef struct trace_recorder {
    trace_log *log;
    cute_device *device;
    bool events;                      /* record device time: the device is a GPU */
    cute_device_event *base, **marks; /* marks: two for each span; NULL: none */
} trace_recorder;

size_t trace_log_size(size_t capacity);
/* Call after opening the device. */
cute_status trace_begin(trace_recorder *recorder, trace_log *log, cute_device *device, bool events,
                        cute_arena *arena, cute_diag *diag);
/* Begins a span; NULL if recording is off. */
trace_span *trace_open(trace_recorder *recorder, trace_kind kind, uint32_t index, int64_t bytes);
/* Records an event before the device's work for the span, or at its end, on a stream (NULL: the default stream). */
cute_status trace_mark(trace_recorder *recorder, const trace_span *span, bool end, cute_stream *stream,
                       cute_diag *diag);
void trace_close(trace_span *span);
/* Waits for the device and reads the events. */
cute_status trace_resolve(trace_recorder *recorder, cute_diag *diag);

#endif
