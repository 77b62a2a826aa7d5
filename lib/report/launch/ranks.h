/* The report of a product of several ranks, or of its estimate. */
#ifndef CUTE_LIB_REPORT_LAUNCH_RANKS_H
#define CUTE_LIB_REPORT_LAUNCH_RANKS_H

#include "lib/gemm/distributed/distributed.h"

typedef struct ranks_report {
    const dist_problem *problem;
    const dist_choice *choice;
    const cute_model_network *network;
    const dist_outcome *outcome; /* NULL: a dry run */
    const char *launcher, *arch;
    int64_t multiprocessors;
} ranks_report;

/* Text or JSON, allocated with malloc; NULL when memory is exhausted. */
char *cute_ranks_report(const ranks_report *report, bool json);

#endif
