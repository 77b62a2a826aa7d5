// The dialect `cute`: layouts, their parts, and the operations of the layout algebra.
// Every type and operation here is data; what they mean is C: types.c for the types' text, ops/ for
// the operations (a row each).
#ifndef CUTE_IR_TD
#define CUTE_IR_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "lib/ir/cute_types.td"
include "lib/ir/cute_ops.td"
include "lib/ir/cute_index_ops.td"
include "lib/ir/cute_layout_ops.td"

#endif
