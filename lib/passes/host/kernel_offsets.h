/* Tensors that a kernel indexes with 32-bit offsets that are not proved sufficient (docs/metadata.md,
 * `offsets`). */
#ifndef CUTE_LIB_PASSES_HOST_KERNEL_OFFSETS_H
#define CUTE_LIB_PASSES_HOST_KERNEL_OFFSETS_H

#include <mlir-c/IR.h>

#include "lib/ir/mlir/shim.h"

/* Adds `offsets` to the descriptions of a kernel's arguments that are indexed with such offsets: the
 * condition that a launch must check. Emits a remark for each operation that relies on it. */
MlirAttribute cute_describe_offsets(MlirOperation kernel, const cute_pass_run *pass, MlirAttribute args);

#endif
