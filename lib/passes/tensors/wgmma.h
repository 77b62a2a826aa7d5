/* Products of warpgroups: what cute-nvgpu-mma-lowering makes of wgmma's atoms. */
#ifndef CUTE_LIB_PASSES_TENSORS_WGMMA_H
#define CUTE_LIB_PASSES_TENSORS_WGMMA_H

#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"

/* cute.gemm by an atom of wgmma, D and C being one tensor: an instruction for each (m,n,k), k outermost. */
cute_status cute_lower_wgmma(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op);

/* cute_nvgpu.arch.warpgroup_mma as the fence, the product, the wait and the arrival that it stands for; whether there is one. */
bool cute_expand_warpgroup_mma(MlirOperation root);

/* nvvm.wgmma.fence and wait with the registers that wgmmas beside them use as operands: nothing that makes these registers
 * sinks below a fence, nothing that reads them rises above a wait. Before products are lowered. */
void cute_pin_wgmma(MlirOperation root, cute_pass_run *pass);

#endif
