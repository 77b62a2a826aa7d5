// The dialects `cute` and `cute_nvgpu`. Types and operations are only declared here; their semantics are C: types.c for
// the text of types, ops/ for operations (one row each).
#ifndef CUTE_IR_TD
#define CUTE_IR_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "lib/ir/dialects/cute_types.td"
include "lib/ir/dialects/cute_tensor_types.td"
include "lib/ir/dialects/cute_nvgpu_types.td"
include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_index_ops.td"
include "lib/ir/dialects/cute_layout_ops.td"
include "lib/ir/dialects/cute_tensor_ops.td"
include "lib/ir/dialects/cute_atom_ops.td"
include "lib/ir/dialects/cute_memory_ops.td"
include "lib/ir/dialects/cute_tile_ops.td"
include "lib/ir/dialects/cute_nvgpu_ops.td"
include "lib/ir/dialects/cute_nvgpu_arch_ops.td"

#endif
