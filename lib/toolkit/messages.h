/* What ptxas and nvlink print, as diagnostics and as a table of resources. */
#ifndef CUTE_LIB_TOOLKIT_MESSAGES_H
#define CUTE_LIB_TOOLKIT_MESSAGES_H

#include "lib/base/options/options.h"
#include "lib/base/text/names.h"
#include "lib/toolkit/ptxplace.h"

/* What `ptxas -v` says of one function; -1: nothing. */
typedef struct cute_usage {
    const char *name;
    bool entry;
    int64_t registers, barriers, shared;
    int64_t stack, spill_stores, spill_loads, max_stack;
    int64_t milliseconds; /* of compiling it, rounded down */
    struct cute_usage *next;
} cute_usage;

typedef struct cute_usage_list {
    cute_usage *first, *last;
    cute_names names; /* of them, each with its address */
} cute_usage_list;

typedef struct cute_tool_output {
    const char *text; /* what the program printed */
    size_t length;
    const cute_ptx_text *ptx; /* what it was given; NULL: none, or several files */
    bool werror;              /* warnings become errors, with "[-Werror]" after them */
    bool verbose;             /* all that it says is passed on, infos as remarks */
    bool quiet;               /* no warnings and remarks */
    /* Code that is much slower than it says is of a kind, "wgmma-serialized", an error, or "setmaxnreg-ignored", a warning
     * and with `werror` an error. These are warnings anyway; one item may have several with commas between them. */
    cute_option_list allow;
    bool allow_all; /* code for a debugger, with assertions, or not optimised */
} cute_tool_output;

/* CUTE_USAGE: there is no such kind. */
cute_status cute_tool_check_allowed(const cute_option_list *allow, cute_diag *diag);

/* Adds every message to `diag` (text that is not understood, too) and the resources to `usage`, which is in
 * `arena` (NULL: not wanted). The messages' places are those of the user's source where .loc says it, with
 * the PTX's in a note, else the PTX's. CUTE_INVALID when there was an error. */
cute_status cute_tool_messages(cute_arena *arena, const cute_tool_output *output, cute_usage_list *usage,
                               cute_diag *diag);

/* A warning of our own about a function of `ptx`, as an error where `werror`. */
cute_status cute_report_function(cute_arena *arena, const cute_ptx_text *ptx, const char *function,
                                 bool werror, cute_diag *diag, const char *format, ...) CUTE_PRINTF(6, 7);

#endif
