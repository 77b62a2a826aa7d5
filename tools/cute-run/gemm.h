/* cute-run --gemm: matrix multiplication without a module or a launch.json. */
#ifndef CUTE_RUN_GEMM_H
#define CUTE_RUN_GEMM_H

#include "cute/launch.h"
#include "lib/gemm/distributed/distributed.h"

typedef struct gemm_request {
    gemm_words words;
    dist_words dist;
    const char *configuration, *vs, *l2, *trace;
    const char *arch; /* of an estimate; NULL: the device's */
    bool tune, no_tuned, json, timing;
    const cute_launch_options *launch;
} gemm_request;

cute_status run_gemm(const gemm_request *request, cute_arena *arena, cute_diag *diag);

#endif
