/* Reports, as text or as JSON from the same data. Texts are malloc'ed and freed by the caller; NULL when
 * memory is exhausted. */
#ifndef CUTE_REPORT_H
#define CUTE_REPORT_H

#include "cute/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The plan of a launch and, after a run, its results. `timing`: also the duration of each phase. */
CUTE_API char *cute_launch_report(const cute_launch *launch, bool json, bool timing);
/* The begin and end of each allocation, copy, launch and check of a launch with options.trace, even if it
 * failed, in the JSON format of Chrome's trace viewer and Perfetto. docs/reports.md names the fields. */
CUTE_API char *cute_launch_trace(const cute_launch *launch);
/* The waits, copies, products and stores of the warps of one block of each launch on the emulator, with
 * options.emulator->timeline, in the same format; docs/emulator.md describes it. */
CUTE_API char *cute_launch_timeline(const cute_launch *launch);
/* The kernels of a module with their parameters and resources. The JSON is that of cute-dump --json:
 * docs/metadata.md names its keys. */
CUTE_API char *cute_module_describe(const cute_module *module, bool json);
/* The properties of `count` devices from cute_device_query. */
CUTE_API char *cute_device_describe(const cute_device_info *devices, size_t count, bool json);

#ifdef __cplusplus
}
#endif
#endif
