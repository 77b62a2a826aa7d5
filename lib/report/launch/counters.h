/* The emulator's counters of kernels (cute-run --counters) as tables and as annotated PTX or source. */
#ifndef CUTE_LIB_REPORT_LAUNCH_COUNTERS_H
#define CUTE_LIB_REPORT_LAUNCH_COUNTERS_H

#include "lib/base/text/json.h"

/* Tables by class and state space, then the busiest source or PTX lines. */
void cute_report_counters(const json_t *counters, cute_buffer *out);
/* The PTX with counters before each line. `report` is a report of cute-run --json --counters, or its "counters"; `kernel` NULL: all
 * kernels. CUTE_INVALID: `report` has no counters, or belongs to other PTX. */
cute_status cute_report_counted_ptx(const char *label, const json_t *report, const char *kernel,
                                    const char *ptx, size_t length, cute_buffer *out, cute_diag *diag);

/* The executed source lines with counters before each; missing files are shown without text. CUTE_INVALID: `report` has no counters
 * with source lines. */
cute_status cute_report_counted_source(const char *label, const json_t *report, const char *kernel,
                                       cute_buffer *out, cute_diag *diag);

#endif
