/* The state of one launch, shared by its stages (launch.c) and its report (report.c). */
#ifndef CUTE_LIB_LAUNCH_LAUNCH_H
#define CUTE_LIB_LAUNCH_LAUNCH_H

#include "cute/launch.h"
#include "lib/launch/data/check.h"
#include "lib/launch/data/data.h"
#include "lib/launch/run.h"

typedef struct launch_output {
    const config_output *config;
    const char *npy, *raw; /* paths of the written files; NULL: not written */
} launch_output;

struct cute_launch {
    cute_arena *arena;
    cute_launch_options options; /* pointers are the caller's and may be invalid, except output_folder */
    cute_emulator_options emulator;
    const char *device, *module_label; /* copies; may be NULL */
    cute_config config;
    cute_plan plan;
    cute_check *checks;
    cute_check_result *results;
    data_unwritten *unwritten; /* per buffer */
    data_overrun *overruns;    /* per buffer */
    launch_output *outputs;
    run_result run;
    uint64_t seed;
    double timeout;   /* seconds; 0: not given */
    json_t *counters; /* by kernel and line; NULL if not requested */
    json_t *checked;  /* findings of the emulator's checks; NULL without checks */
    bool prepared, ran, judged, bench;
    double read_seconds, data_seconds, check_seconds, output_seconds;
    double read_began, data_began, run_began, run_ended, check_began,
        output_began; /* cute_clock; 0: not started */
};

/* Generates the launch.json for options: plans, defines, tensors, expected results. */
cute_status cute_launch_from_options(cute_arena *arena, const cute_launch_options *options,
                                     const cute_module *module, cute_buffer *out, cute_diag *diag);

/* Statistics of a contender's samples. */
typedef struct launch_times {
    int64_t samples, batch;
    double mean, median, min, noise; /* seconds; noise: standard deviation over mean */
} launch_times;

launch_times cute_launch_times(const run_samples *samples, int64_t count);
/* Statistics of a buffer's contents. */
typedef struct launch_stats {
    int64_t count, nans, infinities, zeros;
    double min, max, mean, deviation; /* of the finite elements */
} launch_stats;

launch_stats cute_launch_stats(const cute_tensor *tensor);
/* Prints at most `limit` rows and columns. */
void cute_launch_print(const cute_tensor *tensor, int64_t limit, cute_buffer *out);

#endif
