/* Links PTX, cubins, fatbins, archives, device objects and gpu.binary to one cubin or fatbin with ptxas,
 * nvlink and fatbinary: cute-link without its command line. */
#ifndef CUTE_LIB_CUBIN_LINK_H
#define CUTE_LIB_CUBIN_LINK_H

#include "lib/base/options/options.h"
#include "lib/toolkit/messages.h"

typedef struct cute_link_input {
    const char *label; /* for messages; also passed to nvlink for libraries */
    const void *bytes;
    size_t length;
} cute_link_input;

typedef struct cute_link_options {
    cute_option_list archs;     /* as spelt by the user, "a,b" too; empty: from the input, ARCH, or sm_90a */
    cute_option_list xptxas;    /* further options for ptxas, each possibly a comma-separated list */
    cute_option_list libraries; /* -l */
    cute_option_list folders;   /* -L */
    cute_option_list allow;     /* kinds of slow code (--allow), each possibly a comma-separated list */
    const char *cuda_path;
    const char *opt_level; /* "0" to "3"; NULL: ptxas's default */
    int64_t max_registers; /* 0: no limit */
    int64_t tool_timeout;  /* time limit per program in seconds; 0: none */
    bool line_info, debug;
    bool relocatable; /* stop before nvlink */
    bool fatbin;
    bool werror, quiet, verbose;
    bool strip;       /* omit the sections with PTX and metadata */
    bool dry_run;     /* only record the commands */
    const char *keep; /* file name prefix of intermediate files to keep; NULL: none */
} cute_link_options;

typedef struct cute_link_stage {
    const char *name; /* "ptxas", "nvlink", "fatbinary", "metadata" */
    double seconds;
} cute_link_stage;

typedef struct cute_link_result {
    cute_buffer output;   /* released by the caller, also after a failure */
    cute_buffer commands; /* the command lines, one per line; released likewise */
    cute_usage_list usage;
    cute_link_stage stages[8];
    size_t stage_count;
} cute_link_result;

/* CUTE_USAGE: an invalid value. cute_link calls it. */
cute_status cute_link_check_options(const cute_link_options *options, cute_diag *diag);
/* CUTE_USAGE: options that contradict each other; CUTE_INVALID: the input, ptxas's and nvlink's errors,
 * -Werror; CUTE_SYSTEM: no toolkit. Strings of the result are in `arena`. */
cute_status cute_link(cute_arena *arena, const cute_link_options *options, const cute_link_input *inputs,
                      size_t count, cute_link_result *result, cute_diag *diag);

#endif
