/* The dump folder: a module compiled through the whole pipeline, with every intermediate stage and a report. */
#ifndef CUTE_LIB_REPORT_FOLDER_DUMPRUN_H
#define CUTE_LIB_REPORT_FOLDER_DUMPRUN_H

#include "lib/base/buffer.h"

typedef struct cute_dump_options {
    const char *input;                        /* an MLIR file, "-": standard input */
    const char *folder;                       /* created if missing */
    const char *arch, *opt_level, *cuda_path; /* may be NULL */
    const char *const *defines;
    size_t define_count;
    const char *const *folders; /* -I */
    size_t folder_count;
    const char *const *allow; /* cute-link's --allow */
    size_t allow_count;
    const char *const *plugins; /* files for cute-ptx */
    size_t plugin_count;
    const char *pipeline;   /* passes to run before the default lowering; may be NULL */
    const char *tensor_map; /* "param", "memory"; may be NULL */
    const char *function;   /* only this function, its callees and launched kernels; may be NULL */
    const char *each;       /* "all", "changed", "none": after which passes the IR is written; may be NULL */
    bool line_info, assertions;
    bool verbose;
} cute_dump_options;

/* Runs cute-ptx and cute-link (next to this program, or on PATH) and writes 00-before.mlir, pass-NNN-NAME.mlir, zz-after.mlir,
 * MODULE.ptx, cubin/MODULE.cubin, cubin_index.json, launch_sites.txt and REPORT.json. Their messages are passed on. If a stage fails,
 * the files of earlier stages remain, as REPORT.json states. Files of an earlier dump are removed, others are not. `commands` receives
 * the command lines, `report` the contents of REPORT.json. */
cute_status cute_dump_run(const cute_dump_options *options, cute_buffer *commands, cute_buffer *report,
                          cute_diag *diag);

#endif
