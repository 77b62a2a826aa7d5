/* The dump folder: a module taken through the whole pipe, with everything that stands between, and a report.
 */
#ifndef CUTE_LIB_REPORT_FOLDER_DUMPRUN_H
#define CUTE_LIB_REPORT_FOLDER_DUMPRUN_H

#include "lib/base/buffer.h"

typedef struct cute_dump_options {
    const char *input;                        /* an MLIR file, "-": standard input */
    const char *folder;                       /* made where it is not */
    const char *arch, *opt_level, *cuda_path; /* may be NULL */
    const char *const *defines;
    size_t define_count;
    const char *const *folders; /* -I */
    size_t folder_count;
    const char *const *allow; /* cute-link's --allow */
    size_t allow_count;
    const char *pipeline;   /* passes to run before the default lowering; may be NULL */
    const char *tensor_map; /* "param", "memory"; may be NULL */
    const char *function;   /* only this one, with what it calls and launches; may be NULL */
    const char *each;       /* "all", "changed", "none": after which passes the IR is written; may be NULL */
    bool line_info, assertions;
    bool verbose;
} cute_dump_options;

/* Runs cute-ptx and cute-link, which are beside this program or on PATH, and writes 00-before.mlir,
 * pass-NNN-NAME.mlir, zz-after.mlir, MODULE.ptx, cubin/MODULE.cubin, cubin_index.json, launch_sites.txt and
 * REPORT.json. Their messages are passed on. When a stage fails, the whole files of those before it stay, and
 * REPORT.json says so. What an earlier dump left in the folder is removed, other files are not. `commands`
 * takes the command lines, `report` what REPORT.json has. */
cute_status cute_dump_run(const cute_dump_options *options, cute_buffer *commands, cute_buffer *report,
                          cute_diag *diag);

#endif
