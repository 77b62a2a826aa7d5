/* 'explain': why a kernel is slow. */
#ifndef CUTE_TOOLS_CUTE_DUMP_EXPLAIN_H
#define CUTE_TOOLS_CUTE_DUMP_EXPLAIN_H

#include "cute/plugin.h"
#include "lib/base/options/options.h"
#include "lib/cubin/module.h"

typedef struct explain_request {
    cute_arena *arena;
    const char *label;
    const cute_module *module;
    const char *kernel, *arch, *opt_level, *cuda_path; /* NULL: not given */
    const char *config, *ncu;                          /* paths; NULL: not given */
    int64_t sms;
    cute_option_list defines;
    const cute_plugins *plugins; /* NULL: none */
    bool json, html, svg, all, colour;
} explain_request;

cute_status cute_dump_explain(const explain_request *q, cute_buffer *out, cute_diag *diag);

#endif
