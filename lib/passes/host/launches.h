/* Index from kernels to their launches in a module, built once. */
#ifndef CUTE_LIB_PASSES_HOST_LAUNCHES_H
#define CUTE_LIB_PASSES_HOST_LAUNCHES_H

#include <mlir-c/IR.h>

/* Groups of a gpu.launch_func's operands: async dependencies; grid, block and cluster, each x y z; dynamic shared memory; arguments; async object. */
enum {
    CUTE_LAUNCH_GRID = 1,
    CUTE_LAUNCH_BLOCK = 4,
    CUTE_LAUNCH_CLUSTER = 7,
    CUTE_LAUNCH_DYNAMIC = 10,
    CUTE_LAUNCH_ARGUMENTS = 11,
    CUTE_LAUNCH_GROUPS = 13
};
/* The first operand of each group; an empty one begins where the next does. */
void cute_launch_groups(MlirOperation launch, intptr_t start[CUTE_LAUNCH_GROUPS]);

typedef struct cute_launches cute_launches;

/* Indexes gpu.launch_func and cuda.launch_ex under `root`. Valid until one of them is erased; operands may
 * change. NULL: out of memory. */
cute_launches *cute_launches_create(MlirOperation root);
void cute_launches_destroy(cute_launches *launches);
/* Calls `visit` for each launch of `kernel`, which is in a gpu.module: those of gpu first, in textual
 * order. Does nothing if `launches` is NULL. */
void cute_launches_each(const cute_launches *launches, MlirOperation kernel,
                        void (*visit)(MlirOperation launch, void *context), void *context);

#endif
