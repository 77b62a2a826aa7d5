/* A module's kernels for people and for programs: the table of `cute-link -v`, the views of `cute-dump`,
 * JSON. */
#ifndef CUTE_LIB_REPORT_MODULE_MODULE_H
#define CUTE_LIB_REPORT_MODULE_MODULE_H

#include "cute/cubin.h"
#include "lib/base/text/json.h"

/* One row a kernel: registers, spills, stack, shared memory, barriers, constants, code. "-" is not known. */
void cute_report_resources(const cute_module *module, cute_buffer *out);
/* The kernels with resources, occupancy, limits and arguments, then the sections. `only` (may be NULL) names
 * one kernel. */
void cute_report_module(const char *label, const cute_module *module, const char *only, bool sections,
                        cute_buffer *out);
/* One kernel's row of it, and what its source says of a launch. */
void cute_report_kernel_resources(cute_arena *arena, const cute_kernel *kernel, const char *indent,
                                  cute_buffer *out);
/* {"file", "format", "arch", "kernels": [...], "sections": [...]}; NULL when memory is exhausted. */
json_t *cute_report_module_json(const char *label, const cute_module *module, const char *only,
                                bool sections);
/* A kernel's entry of it; the keys of docs/metadata.md and "resources", "occupancy". */
json_t *cute_report_kernel_json(const cute_module *module, const cute_kernel *kernel);

/* Its names, "resources" and limits of a launch alone. */
json_t *cute_report_resources_json(const cute_kernel *kernel);

#endif
