/* The views 'accesses', 'layouts' and 'schedule'. */
#ifndef CUTE_TOOLS_CUTE_DUMP_KERNEL_H
#define CUTE_TOOLS_CUTE_DUMP_KERNEL_H

#include "cute/cubin.h"
#include "lib/base/buffer.h"
#include "lib/base/options/options.h"

typedef struct kernel_request {
    cute_arena *arena;
    const char *label, *kernel; /* kernel: NULL for all */
    const char *block;  /* "256", "16x16": the block size of kernels that do not state it; may be NULL */
    const char *config; /* path of a launch.json; may be NULL */
    cute_option_list defines; /* params of the config */
    int64_t number;           /* the layout to draw; 0: not given */
    bool json, svg, html, table;
} kernel_request;

/* The cost of each memory access. */
cute_status cute_dump_accesses(const kernel_request *q, const cute_module *module, cute_buffer *out,
                               cute_diag *diag);

/* The layouts in a kernel, listed or drawn. */
cute_status cute_dump_layouts(const kernel_request *q, const cute_module *module, cute_buffer *out,
                              cute_diag *diag);

/* The schedules of tile programs: a table, JSON or swimlanes. */
cute_status cute_dump_schedule(const kernel_request *q, const cute_module *module, cute_buffer *out,
                               cute_diag *diag);

#endif
