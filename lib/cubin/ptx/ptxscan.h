/* Reads the declarations of a PTX module: version, target, and each kernel's parameters and launch bounds.
 * Instructions are skipped. */
#ifndef CUTE_LIB_CUBIN_PTX_PTXSCAN_H
#define CUTE_LIB_CUBIN_PTX_PTXSCAN_H

#include "cute/cubin.h"

typedef struct cute_ptx_scan {
    int version;        /* 80 of ".version 8.0" */
    const char *target; /* "sm_90a"; NULL: none */
    size_t target_offset;
    size_t kernel_count;
    cute_kernel *kernels; /* without metadata: one argument per parameter */
} cute_ptx_scan;

/* Whether the bytes look like PTX: .version after blanks and comments. */
bool cute_ptx_is(const void *bytes, size_t length);
/* Reads only .version and .target. */
cute_status cute_ptx_scan_head(cute_arena *arena, const char *label, const char *text, size_t length,
                               cute_ptx_scan *out, cute_diag *diag);
/* Strings are in `arena`. CUTE_INVALID with the place of a syntax error. */
cute_status cute_ptx_scan_all(cute_arena *arena, const char *label, const char *text, size_t length,
                              cute_ptx_scan *out, cute_diag *diag);
/* Arguments for a kernel without metadata: one per parameter, "arg0"... */
cute_arg *cute_args_of_params(cute_arena *arena, const cute_param *params, size_t count);

#endif
