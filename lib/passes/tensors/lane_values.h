/* Integers and pointers of a lowered kernel in the lanes of a warp, as far as they follow from the thread's
 * index. */
#ifndef CUTE_LIB_PASSES_TENSORS_LANE_VALUES_H
#define CUTE_LIB_PASSES_TENSORS_LANE_VALUES_H

#include <mlir-c/IR.h>

#include "cute/base.h"

/* A number, or an address: an offset in bytes from `root` (lib/passes/values/values.h). */
typedef struct cute_cell {
    bool known;
    const void *root; /* NULL: a number */
    int64_t value;
} cute_cell;

typedef struct cute_lane_values cute_lane_values;

/* Of a warp of a block of these extents (block[0] = 0: unknown, one row of threads). Arguments of the kernel
 * are taken to be large multiples of their divisors, blocks to be the first one, loops to be in their first
 * iteration. NULL when memory is exhausted. */
cute_lane_values *cute_lane_values_create(int warp, const int64_t block[3]);
void cute_lane_values_destroy(cute_lane_values *values);
/* An integer or a pointer; unknown if it comes from memory, another lane, or an unsupported operation. */
cute_cell cute_lane_value(cute_lane_values *values, MlirValue value, int lane);

#endif
