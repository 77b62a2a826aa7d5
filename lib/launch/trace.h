/* When things happened in a launch: spans of the host's clock and, on a GPU, of its events. Recorded in the child, read by the
 * report. */
#ifndef CUTE_LIB_LAUNCH_TRACE_H
#define CUTE_LIB_LAUNCH_TRACE_H

#include "cute/device.h"
#include "cute/launch.h"

typedef enum trace_kind {
    TRACE_PHASE,    /* index: run_phase */
    TRACE_ALLOC,    /* index: buffer */
    TRACE_UPLOAD,   /* likewise */
    TRACE_DOWNLOAD, /* likewise */
    TRACE_MAP,      /* index: tensor map, copied into device memory */
    TRACE_LAUNCH    /* index: launch of the plan */
} trace_kind;

typedef struct trace_span {
    trace_kind kind;
    uint32_t index,
        launches; /* launches: that may overlap and share the device's times; 0: they are another's */
    int64_t bytes;
    double began, ended; /* host, cute_clock */
    double device_began,
        device; /* seconds on the device: from the first event on, how long; device < 0: not timed */
} trace_span;

/* Lies in memory that both processes see. */
typedef struct trace_log {
    size_t count, capacity;
    double base; /* host time of the device's first event; 0: there are no events */
    trace_span spans[];
} trace_log;

/* The child's recorder. `log` NULL: nothing is recorded. */
typedef struct trace_recorder {
    trace_log *log;
    cute_device *device;
    bool events;                      /* the device's times are asked for: it is a GPU */
    cute_device_event *base, **marks; /* two a span; NULL: none */
} trace_recorder;

size_t trace_log_size(size_t capacity);
/* The device is open. */
cute_status trace_begin(trace_recorder *recorder, trace_log *log, cute_device *device, bool events,
                        cute_arena *arena, cute_diag *diag);
/* A span that begins now; NULL: nothing is recorded. */
trace_span *trace_open(trace_recorder *recorder, trace_kind kind, uint32_t index, int64_t bytes);
/* Puts an event in front of, or behind, what the device does for the span. */
cute_status trace_mark(trace_recorder *recorder, const trace_span *span, bool behind, cute_diag *diag);
void trace_close(trace_span *span);
/* The device is idle: reads the events. */
cute_status trace_resolve(trace_recorder *recorder, cute_diag *diag);

#endif
