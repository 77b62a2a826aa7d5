/* Tables of `ncu --csv`: the raw, details and source pages, for any number of kernels and launches. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_NCU_H
#define CUTE_LIB_REPORT_EXPLAIN_NCU_H

#include "cute/base.h"

enum { NCU_REASONS = 24, NCU_FAMILIES = 8 };

typedef struct ncu_stall {
    const char *text; /* "memory fence" */
    double value;
} ncu_stall;

/* Metrics that differ only in the stall reason: ratios, percentages or samples. Summed over launches. */
typedef struct ncu_family {
    const char *prefix, *suffix;
    size_t prefix_length;
    ncu_stall items[NCU_REASONS];
    size_t count;
} ncu_family;

typedef struct ncu_sample {
    int64_t address /* in the function; -1: a source line's sample */, line;
    const char *file; /* NULL: unknown */
    double count;
    const char *stall; /* the most frequent stall reason; NULL */
} ncu_sample;

typedef struct ncu_kernel {
    const char *name;          /* as ncu writes it */
    int64_t block[3], grid[3]; /* 0: unknown */
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

/* CUTE_INVALID: not a table of ncu; the message names the format if it is known. */
cute_status ncu_read(cute_arena *arena, const char *label, const char *text, size_t length, ncu_table *out,
                     cute_diag *diag);
/* The measurements of the kernel with this symbol; NULL: none. `only`: also accept a source page without a kernel name. */
const ncu_kernel *ncu_find(cute_arena *arena, const ncu_table *table, const char *symbol, bool only);
/* The stall reasons: the family with the most of them. */
size_t ncu_stalls(const ncu_kernel *kernel, ncu_stall out[NCU_REASONS]);

#endif
