/* Runs a plan on a device in a child process, so that a kernel that faults or hangs affects only the
 * child. */
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
    cute_emulator_options emulator; /* used if the device is the emulator */
    const char *label;              /* the module's name in the emulator's messages; may be NULL */
    double timeout;                 /* seconds for a launch; 0: see launch.h */
    bool bench;
    bool trace;            /* fill in result.trace */
    bool in_process;       /* without a child process; uses the caller's print callback */
    cute_ranks *ranks;     /* of this process's collectives; NULL: alone */
    int collectives;       /* a comm_provider */
    bool quiet;            /* discard the output of kernels, in a repeated run */
    bool stdout_to_stderr; /* redirect the output of kernels, because stdout has JSON */
} run_request;

/* The times of a contender in the bench: the plan or a baseline. */
typedef struct run_samples {
    double *seconds; /* per run; config->bench.samples entries */
    int64_t batch;
} run_samples;

typedef struct run_result {
    cute_device_info device;
    bool has_device, emulated;
    cute_emulator_counts counts;
    const char *check_report;      /* JSON text, in `shared`; NULL without checks */
    const char *counters;          /* JSON text, in `shared`; NULL if not requested */
    const char *timeline;          /* the same */
    cute_function_info *functions; /* per launch of the plan */
    double phases[RUN_PHASES];     /* seconds */
    const trace_log *trace;        /* NULL if not requested */
    run_samples *samples;          /* 1 + baselines; NULL without a bench */
    void *shared;
    size_t shared_size;
} run_result;

/* Uploads the buffers, launches, and downloads outputs and checked buffers. Adds the child's messages to
 * `diag`. CUTE_INVALID: a kernel failed or hung. Release the result also after a failure. */
cute_status cute_run_plan(const run_request *request, run_result *out, cute_diag *diag);
void cute_run_release(run_result *result);

/* ---- within the child ---- */

typedef struct run_child run_child;
/* Restarts the parent's timeout. */
void run_progress(run_child *child);
cute_device *run_device(run_child *child);
/* The device address of a buffer's first element. */
cute_address run_address(run_child *child, const config_buffer *buffer);
/* Starts all steps of a sequence, without waiting. */
cute_status run_start_sequence(run_child *child, size_t which, cute_diag *diag);
/* Times the plan and its baselines, alternating between them. */
cute_status run_bench(run_child *child, const run_request *request, run_samples *samples, cute_diag *diag);

#endif
