/* cute-run --gemm --ranks: a matrix product of several processes. */
#ifndef CUTE_RUN_RANKS_H
#define CUTE_RUN_RANKS_H

#include "tools/cute-run/gemm.h"

/* `argv` is the program's own, for the processes that it starts. */
cute_status run_ranks(const gemm_request *request, char *const *argv, cute_arena *arena, cute_diag *diag);

#endif
