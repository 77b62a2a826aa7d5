/* Memory accesses of a kernel's first warps, with the addresses that follow from the thread index. */
#ifndef CUTE_LIB_PASSES_TENSORS_WARP_ACCESSES_H
#define CUTE_LIB_PASSES_TENSORS_WARP_ACCESSES_H

#include <mlir-c/IR.h>

#include "cute/layout.h"
#include "lib/base/devices/traffic.h"
#include "lib/ir/mlir/shim.h"

enum { CUTE_ACCESS_WARPS = 2 };

typedef struct cute_access {
    MlirLocation location;  /* of the operation it was lowered from */
    bool store, plain_load; /* plain_load: not by ldmatrix or a copy */
    cute_space space;       /* gmem or smem */
    bool known;             /* the fields below are valid */
    uint32_t bytes;         /* per lane */
    const void *root;       /* root of the addresses: see lane_values.h */
    cute_request requests[CUTE_ACCESS_WARPS];
    uint32_t count; /* participating warps */
} cute_access;

typedef struct cute_accesses {
    cute_access *items; /* in `arena`, in the order of the operations */
    size_t count, capacity;
} cute_accesses;

/* Dialects that a pass must load to call cute_lowered_clone. */
#define CUTE_LOWERED_DIALECTS                                                                                \
    (CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_MATH |                  \
     CUTE_DIALECT_SCF | CUTE_DIALECT_LLVM | CUTE_DIALECT_NVVM | CUTE_DIALECT_VECTOR)
/* Clones the module `root` at its end and lowers copies and MMAs in the clone, for analysis; its
 * diagnostics are discarded. `prepare` (may be NULL) changes the clone first; false: failure. Null if it
 * cannot be lowered; otherwise the caller destroys it. Its operations keep their locations. */
MlirOperation cute_lowered_clone(cute_pass_run *pass, MlirOperation root,
                                 bool (*prepare)(MlirOperation clone, void *context), void *context);

/* Accesses of a function with lowered copies. CUTE_SYSTEM when memory is exhausted. */
cute_status cute_accesses_of(cute_arena *arena, MlirOperation function, cute_accesses *out);

#endif
