/* Converts LLVM's fatal errors (recover.h) to diagnostics. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_GAVEUP_H
#define CUTE_LIB_IR_DIAGNOSTICS_GAVEUP_H

#include "lib/ir/diagnostics/diagnostics.h"

/* The stage, module and target at the time of the error. */
typedef struct cute_moment {
    const char *stage;  /* "codegen" */
    const char *module; /* the gpu.module under way, or NULL */
    const char *arch;   /* "sm_80", or NULL */
} cute_moment;

/* Adds an error for LLVM's message `reason` to source->diag and returns CUTE_INVALID. *placed: whether
 * `reason` names a line, as it does for code with line information; that line is then the place of the
 * error. */
cute_status cute_gave_up(const cute_mlir_source *source, const cute_moment *moment, const char *reason,
                         bool *placed);

#endif
