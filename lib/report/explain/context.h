/* The context and helpers of the functions that search for findings. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_CONTEXT_H
#define CUTE_LIB_REPORT_EXPLAIN_CONTEXT_H

#include "lib/code/function.h"
#include "lib/report/explain/explain.h"

typedef struct explain_context {
    cute_arena *arena;
    const explain_input *input;
    const cute_kernel *kernel, *compiled; /* compiled: with resource usage; NULL: unknown */
    const cute_module *compiled_module;
    ssa_function *ptx, *sass; /* NULL: not available */
    const ssa_function *f;    /* the code that the current row reads; NULL: a launch finding */
    int id;                   /* of the row; from EXPLAIN_COUNT on, of a plugin */
    const explain_row *row;
    double warps;                    /* per scheduler */
    const cute_occupancy *occupancy; /* NULL: unknown */
    cute_occupancy_input resources;  /* its input; threads 0: unknown */
    int64_t stacks,
        l1; /* bytes per multiprocessor: stacks of resident threads; L1 without shared memory; 0: unknown */
    bool launched; /* grid and block come from a launch */
    explain_kernel *out;
    bool failed; /* memory is exhausted */
} explain_context;

typedef void explain_function(explain_context *c);
#define FINDING(id, view, function, ...) explain_function function;
#include "lib/report/explain/findings.def"

/* Runs the function of a plugin. */
struct plugin_finding;
void explain_run_added(explain_context *c, const struct plugin_finding *finding);

/* Adds an instruction that wastes `cycles` per warp, multiplied by its execution count. Instructions of one source line become one
 * finding with the evidence of the worst. `fix` NULL: the row's. */
void explain_add(explain_context *c, const ssa_inst *i, double cycles, const char *fix, const char *format,
                 ...) CUTE_PRINTF(5, 6);
/* The same for stall cycles, which add to the cycles of the instructions. */
void explain_add_wait(explain_context *c, const ssa_inst *i, double cycles, const char *fix,
                      const char *format, ...) CUTE_PRINTF(5, 6);
/* The same for the kernel as a whole; `share` is 0 to 1. */
void explain_add_whole(explain_context *c, const ssa_inst *i, double share, const char *fix,
                       const char *format, ...) CUTE_PRINTF(5, 6);
const char *explain_text(explain_context *c, const char *format, ...) CUTE_PRINTF(2, 3);

/* Instructions of a loop, inner loops included. */
static inline bool explain_in_loop(const ssa_function *f, const ssa_inst *i, uint32_t loop)
{
    return loop != CUTE_NO_LOOP && cute_code_in_loop(f->flow, i->block, loop);
}
/* The address of `i` changes between iterations: its base is defined in the loop. */
bool explain_address_changes(const ssa_function *f, const ssa_inst *i, uint32_t loop);
/* The address is the result of dependent loads, so its layout is not the lanes' choice. */
bool explain_is_chased(explain_context *c, const ssa_inst *i);
double explain_loop_cost(const ssa_function *f, uint32_t loop);
/* Latency in cycles that the other warps of the scheduler do not hide. */
double explain_exposed(const explain_context *c, double latency);
enum {
    LATENCY_GLOBAL = 500,
    LATENCY_LOADED = 1000 /* with a busy memory system */,
    LATENCY_LOCAL = 60,
    LATENCY_SHARED = 30
};

/* 32-byte sectors or shared-memory wavefronts of a request, and the minimum; 0: no active lanes. */
typedef struct explain_traffic {
    int count, ideal;
} explain_traffic;
explain_traffic explain_sectors(const uint64_t at[LANES], uint32_t active, unsigned width);
explain_traffic explain_wavefronts(const uint64_t at[LANES], uint32_t active, unsigned width, bool load);
/* Expected wavefronts of data-dependent addresses. */
typedef struct explain_scatter {
    double count; /* on average */
    int ideal;
    int64_t stride;  /* bytes between lanes for equal data */
    bool is_private; /* each lane has its own range of `stride` bytes */
} explain_scatter;
/* False: the addresses are known exactly, or nothing is known. */
bool explain_expected_wavefronts(const ssa_function *f, const ssa_inst *i, explain_scatter *out);
/* Distinct addresses of a request; of a constant load, which serves one address at a time. */
int explain_distinct_addresses(const uint64_t at[LANES], uint32_t active);
int explain_constant_addresses(const ssa_function *f, const ssa_inst *i);
/* Sets `cached` of all instructions. */
void explain_mark_cached_loads(ssa_function *f);

/* Cycles of a whole division; SASS marks one of its instructions. */
double explain_division_cost(const ssa_function *f, const ssa_inst *i);
/* Scheduler cycles: estimates. */
enum { SECTOR_COST = 8, WAVEFRONT_COST = 4 };
/* Scheduler cycles per warp for the instruction. */
double explain_cost(const ssa_function *f, const ssa_inst *i);

#endif
