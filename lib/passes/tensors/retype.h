/* Propagation of a changed value type. */
#ifndef CUTE_LIB_PASSES_TENSORS_RETYPE_H
#define CUTE_LIB_PASSES_TENSORS_RETYPE_H

#include <mlir-c/IR.h>

/* Changes the type of `value` and infers the types of its users again. False, with the operation in
 * *stuck, if a user's type cannot be inferred (control flow, calls, explicit types); the IR is invalid
 * then. */
bool cute_retype(MlirValue value, MlirType type, MlirOperation *stuck);

#endif
