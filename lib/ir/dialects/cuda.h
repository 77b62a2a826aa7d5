// The generated classes of the dialect cuda. See cuda.td.
#ifndef CUTE_LIB_IR_DIALECTS_CUDA_H
#define CUTE_LIB_IR_DIALECTS_CUDA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "lib/ir/dialects/cuda_dialect.h.inc"
#include "lib/ir/dialects/cuda_enums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "lib/ir/dialects/cuda_types.h.inc"
#define GET_ATTRDEF_CLASSES
#include "lib/ir/dialects/cuda_attrs.h.inc"
#define GET_OP_CLASSES
#include "lib/ir/dialects/cuda_ops.h.inc"

#endif
