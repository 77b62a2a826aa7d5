/* The output of ptxas and nvlink as diagnostics and as a table of resources. */
#ifndef CUTE_LIB_TOOLKIT_MESSAGES_H
#define CUTE_LIB_TOOLKIT_MESSAGES_H

#include "lib/base/options/options.h"
#include "lib/base/text/names.h"
#include "lib/toolkit/ptxplace.h"

/* Resource usage of a function from `ptxas -v`, sizes in bytes; -1: unknown. */
typedef struct cute_usage {
    const char *name;
    bool entry;
    int64_t registers, barriers, shared;
    int64_t stack, spill_stores, spill_loads, max_stack;
    int64_t milliseconds; /* compile time, rounded down */
    struct cute_usage *next;
} cute_usage;

typedef struct cute_usage_list {
    cute_usage *first, *last;
    cute_names names; /* index of the entries by name */
} cute_usage_list;

typedef struct cute_tool_output {
    const char *text; /* output of the program */
    size_t length;
    const cute_ptx_text *ptx; /* its input; NULL: none, or several files */
    bool werror;              /* warnings become errors with the suffix "[-Werror]" */
    bool verbose;             /* pass on all lines, infos as remarks */
    bool quiet;               /* omit warnings and remarks */
    /* Kinds of unexpectedly slow code to report as warnings: "wgmma-serialized" (by default an error) and
     * "setmaxnreg-ignored" (by default a warning, an error with `werror`). Each item may be a comma-separated
     * list. */
    cute_option_list allow;
    bool allow_all; /* debugging builds, with -g, assertions or -O0 */
} cute_tool_output;

/* CUTE_USAGE: an unknown kind. */
cute_status cute_tool_check_allowed(const cute_option_list *allow, cute_diag *diag);

/* Adds every message to `diag`, including unrecognized text, and resources to `usage`, which is in `arena`
 * (NULL: not needed). Places are in the user's source if .loc gives one, with the PTX place in a note; else
 * in the PTX. CUTE_INVALID if there was an error. */
cute_status cute_tool_messages(cute_arena *arena, const cute_tool_output *output, cute_usage_list *usage,
                               cute_diag *diag);

/* Reports our own warning about a function of `ptx`, an error with `werror`. */
cute_status cute_report_function(cute_arena *arena, const cute_ptx_text *ptx, const char *function,
                                 bool werror, cute_diag *diag, const char *format, ...) CUTE_PRINTF(6, 7);

#endif
