/* Shared memory of a block: variables of its gpu.module. */
#ifndef CUTE_LIB_PASSES_TENSORS_SHARED_MEMORY_H
#define CUTE_LIB_PASSES_TENSORS_SHARED_MEMORY_H

#include "cute/layout.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/shim.h"

/* Limit for static shared memory; dynamic shared memory may be larger. */
enum { CUTE_STATIC_SHARED = 48 * 1024 };

/* Address (!llvm.ptr<3>) of dynamic shared memory, one variable for each gpu.module, aligned to at least
 * `align`. */
MlirValue cute_shared_dynamic(const cute_builder *b, MlirOperation module, int64_t align);
/* Address of a new static variable. */
MlirValue cute_shared_static(const cute_builder *b, MlirOperation module, int64_t bytes, int64_t align);

/* Bytes that a tensor of known layout reaches from its pointer, including the blocks that swizzles
 * permute, and the required alignment. CUTE_INVALID if the layout is unknown or reaches before the
 * pointer. */
cute_status cute_shared_size(cute_arena *arena, const cute_value *tensor, int64_t *bytes, int64_t *align,
                             cute_diag *diag);
/* Reports the cute.memref.alloca at which a function exceeds CUTE_STATIC_SHARED. */
void cute_shared_check(MlirOperation root, cute_pass_run *pass);

#endif
