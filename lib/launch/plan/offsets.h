/* Whether a kernel reaches all of a tensor with the offsets that it computes in 32 bits (docs/metadata.md, `offsets`). */
#ifndef CUTE_LIB_LAUNCH_PLAN_OFFSETS_H
#define CUTE_LIB_LAUNCH_PLAN_OFFSETS_H

#include "cute/cubin.h"

/* *farthest is the sum of (extent - 1) * |stride| over the leaves that the argument names, in elements; its unknown leaves stand
 * in `bytes`, its parameter. True where it is below what the argument says, or the argument says nothing. */
bool cute_offsets_fit(const cute_arg *arg, const uint8_t *bytes, uint64_t *farthest);

/* "kernel 'k' computes offsets of 'x' in 32 bits: declare ...": what to do about one that does not. */
#define CUTE_OFFSETS_FIX                                                                                     \
    "the kernel computes its offsets in 32 bits; declare its strides as ?{i64}, or its extents where the "   \
    "strides are known"

#endif
