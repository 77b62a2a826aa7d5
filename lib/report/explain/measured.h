/* What was measured: a launch on the emulator, ncu's tables. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_MEASURED_H
#define CUTE_LIB_REPORT_EXPLAIN_MEASURED_H

#include "lib/report/explain/explain.h"
#include "lib/report/explain/model.h"

/* Block and grid of the kernel's launch; false: it was not launched. */
bool explain_read_launch(const json_t *report, const char *kernel, x_launch *out);
/* Sets `seen` of the instructions; false when memory is exhausted. */
bool explain_read_counters(cute_arena *arena, const json_t *report, const char *kernel, x_function *f);
/* Shares of findings by where the samples fell, and a note of the stalls. CUTE_INVALID: it is no table of ncu's. */
cute_status explain_read_ncu(cute_arena *arena, const explain_input *input, explain_report *report,
                             cute_diag *diag);

#endif
