/* Extra outputs of a compilation: kept files, and the post-compile program. */
#ifndef CUTE_LIB_TOOLKIT_KEEP_H
#define CUTE_LIB_TOOLKIT_KEEP_H

#include "lib/base/options/options.h"

typedef struct cute_keep {
    bool on;            /* --keep-ptx, --keep-cubin */
    const char *folder; /* --dump-dir; NULL: the working directory */
    const char *hook;   /* --post-compile, or NULL */
    const char *output; /* where `bytes` were written; NULL or "-": standard output */
} cute_keep;

/* Writes the module to FOLDER/FUNCTION.ARCH.SUFFIX for each of its kernels (SUFFIX is ptx, cubin or fatbin),
 * and runs the hook with CUTE_OUTPUT, CUTE_KERNELS (comma-separated), CUTE_ARCH and CUTE_KIND (the suffix) in
 * its environment; its output goes to standard error. With a hook and output to standard output, the module
 * is kept, so that there is a file. CUTE_SYSTEM if the hook fails. */
cute_status cute_keep_module(const cute_keep *keep, const cute_option_list *kernels, const char *arch,
                             const char *suffix, const void *bytes, size_t length, cute_diag *diag);

#endif
