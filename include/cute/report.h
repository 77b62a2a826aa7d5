/* Reports for people and for programs: text, or JSON from the same value. Texts are malloc'ed, the caller frees them;
 * NULL when memory is exhausted. */
#ifndef CUTE_REPORT_H
#define CUTE_REPORT_H

#include "cute/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The plan of a launch and, after a run, its results. `timing`: also how long each phase took. */
CUTE_API char *cute_launch_report(const cute_launch *launch, bool json, bool timing);
/* When each allocation, copy, launch and check of it began and ended, in the JSON of Chrome's trace viewer and Perfetto: of a
 * launch with options.trace, also of one that failed. docs/reports.md names the fields. */
CUTE_API char *cute_launch_trace(const cute_launch *launch);
/* What a module's kernels want. The JSON is that of cute-dump --json: docs/metadata.md names its keys. */
CUTE_API char *cute_module_describe(const cute_module *module, bool json);
/* What `count` devices are, as cute_device_query filled them in. */
CUTE_API char *cute_device_describe(const cute_device_info *devices, size_t count, bool json);

#ifdef __cplusplus
}
#endif
#endif
