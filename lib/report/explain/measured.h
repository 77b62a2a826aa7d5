/* What was measured: a launch on the emulator, ncu's tables. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_MEASURED_H
#define CUTE_LIB_REPORT_EXPLAIN_MEASURED_H

#include "lib/code/function.h"
#include "lib/report/explain/explain.h"
#include "lib/report/explain/ncu.h"

/* Block and grid of the kernel's launch; false: it was not launched. */
bool explain_read_launch(const json_t *report, const char *kernel, code_assumptions *out);
/* Sets `seen` of the instructions; false when memory is exhausted. */
bool explain_read_counters(cute_arena *arena, const json_t *report, const char *kernel, x_function *f);
/* Block and grid as ncu saw them. */
void explain_set_launch(const ncu_kernel *measured, code_assumptions *out);
/* Shares of findings by where the samples fell, and a note of the stalls. `sass` NULL: not read. */
void explain_apply_samples(cute_arena *arena, const ncu_kernel *measured, const x_function *sass,
                           explain_kernel *k);

#endif
