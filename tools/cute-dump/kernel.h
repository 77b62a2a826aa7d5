/* The views of what kernels do with memory. */
#ifndef CUTE_TOOLS_CUTE_DUMP_KERNEL_H
#define CUTE_TOOLS_CUTE_DUMP_KERNEL_H

#include "cute/cubin.h"
#include "lib/base/buffer.h"
#include "lib/base/options/options.h"

typedef struct kernel_question {
    cute_arena *arena;
    const char *label, *kernel; /* kernel: only this one; may be NULL */
    const char *block;          /* "256", "16x16", for kernels that do not state it; may be NULL */
    const char *config;         /* a launch.json, whose launches are meant; may be NULL */
    cute_option_list defines;   /* of it */
    int64_t number;             /* of the layout whose picture is wanted; 0: not said */
    bool json, svg, html, table;
} kernel_question;

/* What each access costs. */
cute_status cute_dump_accesses(const kernel_question *q, const cute_module *module, cute_buffer *out,
                               cute_diag *diag);

/* The layouts in a kernel, and their pictures. */
cute_status cute_dump_layouts(const kernel_question *q, const cute_module *module, cute_buffer *out,
                              cute_diag *diag);

#endif
