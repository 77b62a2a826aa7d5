/* The state of one launch, shared by its stages (launch.c) and its report (report.c). */
#ifndef CUTE_LIB_LAUNCH_LAUNCH_H
#define CUTE_LIB_LAUNCH_LAUNCH_H

#include "cute/launch.h"
#include "lib/launch/data/check.h"
#include "lib/launch/data/data.h"
#include "lib/launch/run.h"

typedef struct launch_output {
    const config_output *config;
    const char *npy, *raw; /* where it was written; NULL: not */
} launch_output;

struct cute_launch {
    cute_arena *arena;
    cute_launch_options options; /* its pointers but output_folder are the caller's */
    cute_emulator_options emulator;
    const char *device, *module_label; /* copies; may be NULL */
    cute_config config;
    cute_plan plan;
    cute_check *checks;
    cute_check_result *results;
    data_unwritten *unwritten; /* per buffer */
    data_overrun *overruns;    /* likewise */
    launch_output *outputs;
    run_result run;
    uint64_t seed;
    double timeout;   /* 0: not said */
    json_t *counters; /* by kernel and line; NULL where they are not wanted */
    json_t *checked;  /* what the emulator's checks reported; NULL without */
    bool prepared, ran, judged, bench;
    double read_seconds, data_seconds, check_seconds, output_seconds;
    double read_began, data_began, run_began, run_ended, check_began,
        output_began; /* cute_clock; 0: it never did */
};

/* The launch.json that options stand for: plans, defines, tensors, expected results. */
cute_status cute_launch_from_options(cute_arena *arena, const cute_launch_options *options,
                                     const cute_module *module, cute_buffer *out, cute_diag *diag);

/* Mean, median, ... of a contender's samples. */
typedef struct launch_times {
    int64_t samples, batch;
    double mean, median, min, noise; /* seconds; noise: the deviation over the mean */
} launch_times;

launch_times cute_launch_times(const run_samples *samples, int64_t count);
/* Statistics of a buffer's contents. */
typedef struct launch_stats {
    int64_t count, nans, infinities, zeros;
    double min, max, mean, deviation; /* of the finite ones */
} launch_stats;

launch_stats cute_launch_stats(const cute_tensor *tensor);
/* Rows and columns, at most `limit` of each. */
void cute_launch_print(const cute_tensor *tensor, int64_t limit, cute_buffer *out);

#endif
