/* Tables of ncu --csv: the raw page, the details page, the source page, of any number of kernels and launches. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_NCU_H
#define CUTE_LIB_REPORT_EXPLAIN_NCU_H

#include "cute/base.h"

enum { NCU_REASONS = 24, NCU_FAMILIES = 8 };

typedef struct ncu_stall {
    const char *text; /* "waiting at fences" */
    double value;
} ncu_stall;

/* Metrics that differ in the reason alone: ratios, percentages, samples. Summed over launches. */
typedef struct ncu_family {
    const char *prefix, *suffix;
    size_t prefix_length;
    ncu_stall items[NCU_REASONS];
    size_t count;
} ncu_family;

typedef struct ncu_sample {
    int64_t address /* in the function; -1: of a line */, line;
    const char *file; /* NULL: not known */
    double count;
    const char *stall; /* what most of them waited for; NULL */
} ncu_sample;

typedef struct ncu_kernel {
    const char *name;          /* as ncu tells it */
    int64_t block[3], grid[3]; /* 0: not known */
    ncu_family families[NCU_FAMILIES];
    size_t family_count;
    ncu_sample *samples; /* of all launches */
    size_t count, capacity;
    bool by_line;
} ncu_kernel;

typedef struct ncu_table {
    ncu_kernel *kernels;
    size_t count, capacity;
} ncu_table;

/* CUTE_INVALID: it is none, and the message says what it is. */
cute_status ncu_read(cute_arena *arena, const char *label, const char *text, size_t length, ncu_table *out,
                     cute_diag *diag);
/* What was measured of a kernel, whose name in the module is `symbol`; NULL: nothing. `only`: the table's source page may
 * lack the name. */
const ncu_kernel *ncu_find(cute_arena *arena, const ncu_table *table, const char *symbol, bool only);
/* Why warps stalled: the family with most reasons. */
size_t ncu_stalls(const ncu_kernel *kernel, ncu_stall out[NCU_REASONS]);

#endif
