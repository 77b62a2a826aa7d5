/* What integers and pointers of a kernel are in one thread, as far as they follow from the thread's index: what the passes
 * that look at a warp's accesses ask. */
#ifndef CUTE_LIB_PASSES_TENSORS_LANE_VALUES_H
#define CUTE_LIB_PASSES_TENSORS_LANE_VALUES_H

#include <mlir-c/IR.h>

#include "cute/base.h"

/* A number, or a pointer: so many bytes behind `root`, which stands for an address that is a multiple of all powers of
 * two that matter. */
typedef struct cute_cell {
    bool known;
    const void *root; /* NULL: a number */
    int64_t value;
} cute_cell;

typedef struct cute_lane_values cute_lane_values;

/* A builtin.unrealized_conversion_cast with this attribute is a root: what is behind it can be told from other memory. */
#define CUTE_ROOT_ATTRIBUTE "cute.root"

/* Of thread `thread` of a block of these extents (0: one row of threads). Arguments of the kernel are taken to be large
 * multiples of what divides them, blocks to be the first one, loops to be in their first iteration. NULL when memory is
 * exhausted. Kept: `arena`. */
cute_lane_values *cute_lane_values_create(cute_arena *arena, int64_t thread, const int64_t block[3]);
void cute_lane_values_destroy(cute_lane_values *values);
/* An integer or a pointer; not known where it comes from memory, another lane, or an operation that nobody foresaw. */
cute_cell cute_lane_value(cute_lane_values *values, MlirValue value);

#endif
