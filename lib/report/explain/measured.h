/* Measurements: the emulator's counters of a launch, and tables of Nsight Compute. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_MEASURED_H
#define CUTE_LIB_REPORT_EXPLAIN_MEASURED_H

#include "lib/code/function.h"
#include "lib/report/explain/explain.h"
#include "lib/report/explain/ncu.h"

/* Block and grid of the kernel's launch; false: the report has no launch of it. */
bool explain_read_launch(const json_t *report, const char *kernel, code_assumptions *out);
/* Sets `counters` of the instructions; false when memory is exhausted. */
bool explain_read_counters(cute_arena *arena, const json_t *report, const char *kernel, ssa_function *f);
/* Block and grid that ncu recorded. */
void explain_set_launch(const ncu_kernel *measured, code_assumptions *out);
/* Sets the shares of findings from the warp-state samples, and the note on stall reasons. `sass` NULL: not read. */
void explain_apply_samples(cute_arena *arena, const ncu_kernel *measured, const ssa_function *sass,
                           explain_kernel *k);

#endif
