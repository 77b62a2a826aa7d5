/* What kernels did on the emulator, as cute-run --counters reports it: for people, and beside their PTX. */
#ifndef CUTE_LIB_REPORT_LAUNCH_COUNTERS_H
#define CUTE_LIB_REPORT_LAUNCH_COUNTERS_H

#include "lib/base/text/json.h"

/* The tables of "counters": by class and space, then the busiest lines, of the source where it is known. */
void cute_report_counters(const json_t *counters, cute_buffer *out);
/* The PTX with what each of its lines did in front. `report` is a report of cute-run --json --counters, or
 * its "counters"; `kernel` NULL: of all kernels. CUTE_INVALID where `report` is neither, or of other PTX. */
cute_status cute_report_counted_ptx(const char *label, const json_t *report, const char *kernel,
                                    const char *ptx, size_t length, cute_buffer *out, cute_diag *diag);

/* The lines of the source that did something, with what in front; files that are not found are given without
 * their text. CUTE_INVALID where `report` has no counters, or none with source lines. */
cute_status cute_report_counted_source(const char *label, const json_t *report, const char *kernel,
                                       cute_buffer *out, cute_diag *diag);

#endif
