/* What LLVM says when it gives up (recover.h), as an error with a place. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_GAVEUP_H
#define CUTE_LIB_IR_DIAGNOSTICS_GAVEUP_H

#include "lib/ir/diagnostics/diagnostics.h"

/* When it happened. */
typedef struct cute_moment {
    const char *stage;  /* "codegen" */
    const char *module; /* the gpu.module under way, or NULL */
    const char *arch;   /* "sm_80", or NULL */
} cute_moment;

/* Adds an error for `reason`, LLVM's text, to source->diag and returns CUTE_INVALID. The place is the operation's where `reason`
 * names its line, which it does for code with line information. *placed: whether it did. */
cute_status cute_gave_up(const cute_mlir_source *source, const cute_moment *moment, const char *reason,
                         bool *placed);

#endif
