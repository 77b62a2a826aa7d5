/* Whether a kernel's 32-bit offsets reach all elements of a tensor (docs/metadata.md, `offsets`). */
#ifndef CUTE_LIB_LAUNCH_PLAN_OFFSETS_H
#define CUTE_LIB_LAUNCH_PLAN_OFFSETS_H

#include "cute/cubin.h"

/* *farthest is the sum of (extent - 1) * |stride| over the leaves that the metadata lists, in elements;
 * unknown leaves are read from `bytes`, the parameter. True if it is below the metadata's limit, or without a
 * limit. */
bool cute_offsets_fit(const cute_arg *arg, const uint8_t *bytes, uint64_t *farthest);

/* A note for tensors that do not fit. */
#define CUTE_OFFSETS_FIX                                                                                     \
    "fix: declare the strides as ?{i64}, or the extents if the strides are static: the kernel uses 32-bit "  \
    "offsets"

#endif
