/* Shared memory of a block as variables of its gpu.module. */
#ifndef CUTE_LIB_PASSES_TENSORS_SHARED_MEMORY_H
#define CUTE_LIB_PASSES_TENSORS_SHARED_MEMORY_H

#include "cute/layout.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/shim.h"

/* The most that a kernel may declare; what a launch gives it may be more. */
enum { CUTE_STATIC_SHARED = 48 * 1024 };

/* The address (!llvm.ptr<3>) of the memory whose size the launch says, one for all of a gpu.module, which is aligned to at
 * least `align`. */
MlirValue cute_shared_dynamic(const cute_builder *b, MlirOperation module, int64_t align);
/* That of a variable of its own. */
MlirValue cute_shared_static(const cute_builder *b, MlirOperation module, int64_t bytes, int64_t align);

/* The bytes that a tensor of known layout reaches from its pointer on, with all that swizzles exchange, and what they have to be
 * aligned to. CUTE_INVALID where the layout is not known, or reaches before the pointer. */
cute_status cute_shared_size(cute_arena *arena, const cute_value *tensor, int64_t *bytes, int64_t *align,
                             cute_diag *diag);
/* Errors at the cute.memref.alloca with which a function has more than CUTE_STATIC_SHARED. */
void cute_shared_check(MlirOperation root, cute_pass_run *pass);

#endif
