/* What a program keeps of a compilation beside its output, and the program that is run after it. */
#ifndef CUTE_LIB_TOOLKIT_KEEP_H
#define CUTE_LIB_TOOLKIT_KEEP_H

#include "lib/base/options/options.h"

typedef struct cute_keep {
    bool on;            /* --keep-ptx, --keep-cubin */
    const char *folder; /* --dump-dir; NULL: the one we are in */
    const char *hook;   /* --post-compile, or NULL */
    const char *output; /* where `bytes` were written; NULL or "-": standard output */
} cute_keep;

/* Writes the module to FOLDER/FUNCTION.ARCH.SUFFIX for each of its kernels (SUFFIX is ptx, cubin or fatbin), and runs
 * the hook with CUTE_OUTPUT, CUTE_KERNELS (separated by commas), CUTE_ARCH and CUTE_KIND (the suffix) in its
 * environment; what it prints goes to standard error. Where there is a hook and the output is standard output, the
 * module is kept, so that there is a file. A hook that fails is CUTE_SYSTEM. */
cute_status cute_keep_module(const cute_keep *keep, const cute_option_list *kernels, const char *arch,
                             const char *suffix, const void *bytes, size_t length, cute_diag *diag);

#endif
