/* A module's kernels as text and JSON: the table of `cute-link -v` and views of `cute-dump`. */
#ifndef CUTE_LIB_REPORT_MODULE_MODULE_H
#define CUTE_LIB_REPORT_MODULE_MODULE_H

#include "cute/cubin.h"
#include "lib/base/text/json.h"

/* One row per kernel: registers, spills, stack, shared memory, barriers, constants, code; "-": unknown. */
void cute_report_resources(const cute_module *module, cute_buffer *out);
/* The kernels with resources, occupancy, limits and arguments, then the sections. `only` (may be NULL) selects
 * one kernel. */
void cute_report_module(const char *label, const cute_module *module, const char *only, bool sections,
                        cute_buffer *out);
/* One kernel's resources and launch bounds. */
void cute_report_kernel_resources(cute_arena *arena, const cute_kernel *kernel, const char *indent,
                                  cute_buffer *out);
/* {"file", "format", "arch", "kernels": [...], "sections": [...]}; NULL when memory is exhausted. */
json_t *cute_report_module_json(const char *label, const cute_module *module, const char *only,
                                bool sections);
/* One kernel's entry: the keys of docs/metadata.md, "resources" and "occupancy". */
json_t *cute_report_kernel_json(const cute_module *module, const cute_kernel *kernel);

/* Only its names, "resources" and launch bounds. */
json_t *cute_report_resources_json(const cute_kernel *kernel);

#endif
