/* The accesses of a kernel's first warps to memory: at which addresses, where those follow from the thread's index. */
#ifndef CUTE_LIB_PASSES_TENSORS_WARP_ACCESSES_H
#define CUTE_LIB_PASSES_TENSORS_WARP_ACCESSES_H

#include <mlir-c/IR.h>

#include "cute/layout.h"
#include "lib/base/devices/traffic.h"
#include "lib/ir/mlir/shim.h"

enum { CUTE_ACCESS_WARPS = 2 };

typedef struct cute_access {
    MlirLocation location;  /* of what it was made of */
    bool store, plain_load; /* plain_load: not of ldmatrix or a copy */
    cute_space space;       /* gmem or smem */
    bool known;             /* what follows is set */
    uint32_t bytes;         /* of a lane */
    const void *root;       /* what the addresses are behind: see lane_values.h */
    cute_request requests[CUTE_ACCESS_WARPS];
    uint32_t count; /* of warps that take part */
} cute_access;

typedef struct cute_accesses {
    cute_access *items; /* in `arena`, in the order of the operations */
    size_t count, capacity;
} cute_accesses;

/* What a pass that calls cute_lowered_clone needs loaded. */
#define CUTE_LOWERED_DIALECTS                                                                                \
    (CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_MATH |                  \
     CUTE_DIALECT_SCF | CUTE_DIALECT_LLVM | CUTE_DIALECT_NVVM | CUTE_DIALECT_VECTOR)
/* A copy of `root`, a module, at its end, with its copies and products lowered, for a look: what it says is not reported.
 * `prepare` (may be NULL) changes it before; false: it cannot. Null where it cannot be lowered; else to be destroyed. Its
 * operations keep their locations. */
MlirOperation cute_lowered_clone(cute_pass_run *pass, MlirOperation root,
                                 bool (*prepare)(MlirOperation clone, void *context), void *context);

/* Of a function whose copies are lowered. CUTE_SYSTEM when memory is exhausted. */
cute_status cute_accesses_of(cute_arena *arena, MlirOperation function, cute_accesses *out);

#endif
