/* Which tensors a kernel indexes in 32 bits without knowing that these are enough (docs/metadata.md, `offsets`). */
#ifndef CUTE_LIB_PASSES_HOST_KERNEL_OFFSETS_H
#define CUTE_LIB_PASSES_HOST_KERNEL_OFFSETS_H

#include <mlir-c/IR.h>

#include "lib/ir/mlir/shim.h"

/* The descriptions of a kernel's arguments, `offsets` among those of tensors that are indexed so: what a launch has to make
 * sure of. Each operation that relies on it is remarked. */
MlirAttribute cute_describe_offsets(MlirOperation kernel, const cute_pass_run *pass, MlirAttribute args);

#endif
