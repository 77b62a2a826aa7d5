/* What the functions that look for findings share. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_CONTEXT_H
#define CUTE_LIB_REPORT_EXPLAIN_CONTEXT_H

#include "lib/code/function.h"
#include "lib/report/explain/explain.h"

typedef struct explain_context {
    cute_arena *arena;
    const explain_input *input;
    const cute_kernel *kernel, *compiled; /* compiled: with registers; NULL: not known */
    const cute_module *compiled_module;
    x_function *ptx, *sass; /* NULL: not there */
    const x_function *f;    /* what the row looks at; NULL: a row of launches */
    explain_id id;
    double warps;                    /* of a scheduler */
    const cute_occupancy *occupancy; /* NULL: not known */
    cute_occupancy_input resources;  /* of which it is; threads 0: not known */
    int64_t stacks, l1; /* bytes of a multiprocessor: of stacks, of what L1 has beside them; 0: not known */
    bool launched;      /* grid and block are those of a launch */
    explain_kernel *out;
    bool failed; /* memory is exhausted */
} explain_context;

typedef void explain_function(explain_context *c);
#define FINDING(id, view, function, ...) explain_function function;
#include "lib/report/explain/findings.def"

/* An instruction for which `cycles` of a warp could be saved (its weight counted in). Those of one line become one finding,
 * whose evidence is that of the worst. `cure` NULL: the row's. */
void explain_add(explain_context *c, const x_inst *i, double cycles, const char *cure, const char *format,
                 ...) CUTE_PRINTF(5, 6);
/* The same of cycles in which the warp waits, which are no cycles of its instructions. */
void explain_add_wait(explain_context *c, const x_inst *i, double cycles, const char *cure,
                      const char *format, ...) CUTE_PRINTF(5, 6);
/* The same of the whole kernel; `share` 0 to 1. */
void explain_add_whole(explain_context *c, const x_inst *i, double share, const char *cure,
                       const char *format, ...) CUTE_PRINTF(5, 6);
const char *explain_text(explain_context *c, const char *format, ...) CUTE_PRINTF(2, 3);

/* Instructions of a loop, inner loops included. */
static inline bool explain_in_loop(const x_function *f, const x_inst *i, uint32_t loop)
{
    return loop != CUTE_NO_LOOP && cute_code_in_loop(f->flow, i->block, loop);
}
/* Whether the address of `i` is another one in each iteration: what it counts from is made in the loop. */
bool explain_moves(const x_function *f, const x_inst *i, uint32_t loop);
/* Whether a chain of loads leads to its address: its place is the chain's, not the lane's. */
bool explain_is_chased(explain_context *c, const x_inst *i);
double explain_loop_cost(const x_function *f, uint32_t loop);
/* Cycles of latency that the other warps of the scheduler do not hide. */
double explain_exposed(const explain_context *c, double latency);
enum {
    LATENCY_GLOBAL = 500,
    LATENCY_LOADED = 1000 /* where memory is busy */,
    LATENCY_LOCAL = 60,
    LATENCY_SHARED = 30
};

/* 32-byte sectors or wavefronts of shared memory that the lanes touch, and the fewest possible; 0: nobody. */
typedef struct x_traffic {
    int count, ideal;
} x_traffic;
x_traffic x_sectors(const uint64_t at[X_LANES], uint32_t active, unsigned width);
x_traffic x_wavefronts(const uint64_t at[X_LANES], uint32_t active, unsigned width, bool load);
/* The same of a place that data decide, which may be any within their bits. */
typedef struct x_scatter {
    double count; /* on average */
    int ideal;
    int64_t stride; /* bytes from one lane to the next, beside the data */
    bool apart;     /* each lane has a part of its own, `stride` bytes */
} x_scatter;
/* False: they are known, or nothing is known of them. */
bool x_expected_wavefronts(const x_function *f, const x_inst *i, x_scatter *out);
/* Addresses among the lanes; those of a load of constants, which are read one after the other. */
int x_distinct(const uint64_t at[X_LANES], uint32_t active);
int x_constants(const x_function *f, const x_inst *i);
/* Sets `again` of all instructions. */
void x_mark_again(x_function *f);

/* Cycles of all instructions of a division, of which machine code flags one. */
double x_division_cost(const x_function *f, const x_inst *i);
/* Cycles of a scheduler: estimates. */
enum { SECTOR_COST = 8, WAVEFRONT_COST = 4 };
/* Those that a warp takes for the instruction. */
double x_cost(const x_function *f, const x_inst *i);

#endif
