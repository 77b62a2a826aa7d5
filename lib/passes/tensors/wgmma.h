/* Lowering of wgmma atoms, for cute-nvgpu-mma-lowering. */
#ifndef CUTE_LIB_PASSES_TENSORS_WGMMA_H
#define CUTE_LIB_PASSES_TENSORS_WGMMA_H

#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"

/* Lowers a cute.gemm by a wgmma atom with D and C the same tensor: an instruction for each (m,n,k), k
 * outermost. */
cute_status cute_lower_wgmma(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op);

/* Expands cute_nvgpu.arch.warpgroup_mma to its fence, product, wait and arrival; returns whether there is
 * one. */
bool cute_expand_warpgroup_mma(MlirOperation root);

/* Gives nvvm.wgmma.fence and wait the registers of the adjacent wgmmas as operands, so that definitions do
 * not sink below a fence and uses do not rise above a wait. Call before lowering products. */
void cute_pin_wgmma(MlirOperation root, cute_pass_run *pass);

#endif
