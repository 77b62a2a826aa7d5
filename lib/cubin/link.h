/* From PTX, cubins, fatbins, archives, device objects and gpu.binary to one cubin or fatbin, through ptxas,
 * nvlink and fatbinary. What cute-link does, without its command line. */
#ifndef CUTE_LIB_CUBIN_LINK_H
#define CUTE_LIB_CUBIN_LINK_H

#include "lib/base/options/options.h"
#include "lib/toolkit/messages.h"

typedef struct cute_link_input {
    const char *label; /* for messages; names libraries for nvlink, too */
    const void *bytes;
    size_t length;
} cute_link_input;

typedef struct cute_link_options {
    cute_option_list archs;  /* as the user spells them, "a,b" too; empty: from the input, ARCH, or sm_90a */
    cute_option_list xptxas; /* further options for ptxas; one may hold several with commas between them */
    cute_option_list libraries; /* -l */
    cute_option_list folders;   /* -L */
    cute_option_list
        allow; /* kinds of slow code (cute_slow_kind); one may hold several with commas between them */
    const char *cuda_path;
    const char *opt_level; /* "0" to "3"; NULL: ptxas's default */
    int64_t max_registers; /* 0: no limit */
    int64_t tool_timeout;  /* seconds that each program may take; 0: any */
    bool line_info, debug;
    bool relocatable; /* stop before nvlink */
    bool fatbin;
    bool werror, quiet, verbose;
    bool strip;       /* leave the sections with PTX and metadata out */
    bool dry_run;     /* only say which programs would run */
    const char *keep; /* prefix of the names of intermediate files that stay; NULL: none do */
} cute_link_options;

typedef struct cute_link_stage {
    const char *name; /* "ptxas", "nvlink", "fatbinary", "metadata" */
    double seconds;
} cute_link_stage;

typedef struct cute_link_result {
    cute_buffer output;   /* released by the caller, also after a failure */
    cute_buffer commands; /* the programs as one would type them, a line each; the same */
    cute_usage_list usage;
    cute_link_stage stages[8];
    size_t stage_count;
} cute_link_result;

/* CUTE_USAGE: a value that is none. cute_link asks itself. */
cute_status cute_link_check_options(const cute_link_options *options, cute_diag *diag);
/* CUTE_USAGE: options that contradict each other; CUTE_INVALID: the input, ptxas's and nvlink's errors,
 * -Werror; CUTE_SYSTEM: no toolkit. Strings of the result are in `arena`. */
cute_status cute_link(cute_arena *arena, const cute_link_options *options, const cute_link_input *inputs,
                      size_t count, cute_link_result *result, cute_diag *diag);

#endif
