/* Declarations shared by the views of lib/report; internal. */
#ifndef CUTE_LIB_REPORT_REPORT_H
#define CUTE_LIB_REPORT_REPORT_H

#include "cute/occupancy.h"
#include "cute/report.h"
#include "lib/base/devices/arch.h"
#include "lib/base/text/json.h"
#include "lib/cubin/kernel_occupancy.h"

/* "cubin", "ptx", "fatbin" */
const char *cute_module_format_name(cute_module_format format);
/* "PROGBITS", "CUDA_INFO", ...; "" for an unknown type */
const char *cute_section_kind(uint32_t type);

/* cute_launch_report with an optional roofline, and without sections that were only collected for it; with a search of candidates
 * (lib/report/launch/tune.h), or the candidate of an earlier one. */
typedef struct launch_report {
    bool json, timing, no_counters, no_kernel_checks;
    bool all_candidates; /* of the text: refused ones, too */
    const json_t *roofline, *tune, *tuned;
} launch_report;
char *cute_launch_report_with(const cute_launch *launch, const launch_report *what);

#endif
