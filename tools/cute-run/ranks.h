/* cute-run --ranks: a matrix product, or a launch.json, of several processes. */
#ifndef CUTE_RUN_RANKS_H
#define CUTE_RUN_RANKS_H

#include "tools/cute-run/gemm.h"

/* `argv` is the program's own, for the processes that it starts. */
cute_status run_ranks(const gemm_request *request, char *const *argv, cute_arena *arena, cute_diag *diag);

/* A launch.json that every rank runs: its steps may have collectives. */
typedef struct config_ranks {
    int64_t ranks;
    const char *provider, *problem; /* problem: one line, the same on all ranks */
    char *const *argv;
    cute_launch_options *launch; /* gets the ranks and the rank's device */
    cute_status (*run)(void *context, cute_diag *diag);
    void *context;
} config_ranks;
cute_status run_config_ranks(const config_ranks *config, cute_arena *arena, cute_diag *diag);

/* Rank 0 prints its own report and a line for each rank. `status`: this rank's; the result is that of all. */
cute_status report_config_ranks(const cute_launch *launch, bool json, bool timing, cute_status status,
                                cute_diag *diag);

#endif
