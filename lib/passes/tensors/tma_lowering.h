/* Copies by the tensor memory accelerator, for cute-nvgpu-copy-lowering. */
#ifndef CUTE_LIB_PASSES_TENSORS_TMA_LOWERING_H
#define CUTE_LIB_PASSES_TENSORS_TMA_LOWERING_H

#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"

/* Whether `op`, a cute.copy or cute.prefetch, uses a TMA atom. */
bool cute_tma_copies(MlirOperation op);
/* Lowers a copy between a tensor of coordinates and one in shared memory. */
cute_status cute_tma_lower_copy(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op);
/* Lowers a prefetch of coordinates into the L2 cache. */
cute_status cute_tma_lower_prefetch(const cute_expansion *x, MlirOperation op);
/* Lowers cute_nvgpu.copy_tma_desc and update_tma_desc: a copy of a tensor map in shared memory, and its
 * modification there. */
cute_status cute_tma_lower_copy_map(const cute_expansion *x, MlirOperation op);
cute_status cute_tma_lower_update_map(const cute_expansion *x, MlirOperation op);
/* A generic pointer to the tensor map of operand #0, an atom. */
cute_status cute_tma_map_of(const cute_expansion *x, MlirOperation op, const cute_builder *b, MlirValue *out);

#endif
