/* Carrying out a plan on a device, in a child process: a kernel that faults or hangs takes only the child
 * with it. */
#ifndef CUTE_LIB_LAUNCH_RUN_H
#define CUTE_LIB_LAUNCH_RUN_H

#include "cute/emulator_options.h"
#include "lib/launch/plan/plan.h"
#include "lib/launch/trace.h"

typedef enum run_phase {
    RUN_OPEN,
    RUN_LOAD,
    RUN_UPLOAD,
    RUN_LAUNCH,
    RUN_DOWNLOAD,
    RUN_BENCH,
    RUN_DONE,
    RUN_PHASES
} run_phase;

typedef struct run_request {
    const cute_config *config;
    const cute_plan *plan;
    const char *device;             /* a name for cute_device_open */
    cute_emulator_options emulator; /* where it is one */
    const char *label; /* of the module, where the emulator names lines of its PTX; may be NULL */
    double timeout;    /* seconds that a launch may take; 0: see launch.h */
    bool bench;
    bool trace;            /* result.trace is wanted */
    bool in_process;       /* no child; the emulator's print is the caller's */
    bool quiet;            /* what kernels print is dropped: a repeated run */
    bool stdout_to_stderr; /* what kernels print goes to stderr: stdout carries JSON */
} run_request;

/* The times of one contender in the bench: the plan itself, or a baseline. */
typedef struct run_samples {
    double *seconds; /* of one run; config->bench.samples of them */
    int64_t batch;
} run_samples;

typedef struct run_result {
    cute_device_info device;
    bool has_device, emulated;
    cute_emulator_counts counts;   /* of the emulator */
    const char *check_report;      /* JSON text, in `shared`; NULL without checks */
    const char *counters;          /* likewise; NULL where they are not wanted */
    cute_function_info *functions; /* per launch of the plan */
    double phases[RUN_PHASES];     /* seconds */
    const trace_log *trace;        /* NULL: not wanted */
    run_samples *samples;          /* 1 + baselines; NULL without a bench */
    void *shared;
    size_t shared_size;
} run_result;

/* Runs the plan: uploads the buffers, launches, downloads those that are outputs or checked. Messages from
 * the child are added to `diag`; CUTE_INVALID when a kernel failed or hung. Release the result also after a
 * failure. */
cute_status cute_run_plan(const run_request *request, run_result *out, cute_diag *diag);
void cute_run_release(run_result *result);

/* ---- within the child ---- */

typedef struct run_child run_child;
/* Something happened: the parent's clock starts again. */
void run_progress(run_child *child);
cute_device *run_device(run_child *child);
/* Where a buffer of the config begins: its first element. */
cute_address run_address(run_child *child, const config_buffer *buffer);
/* Starts every launch of a sequence, without waiting. */
cute_status run_start_sequence(run_child *child, const plan_sequence *sequence, size_t which,
                               cute_diag *diag);
/* Times the plan and its baselines in turn. */
cute_status run_bench(run_child *child, const run_request *request, run_samples *samples, cute_diag *diag);

#endif
