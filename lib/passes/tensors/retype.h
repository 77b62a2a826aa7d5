/* Types that follow from a value whose type changes. */
#ifndef CUTE_LIB_PASSES_TENSORS_RETYPE_H
#define CUTE_LIB_PASSES_TENSORS_RETYPE_H

#include <mlir-c/IR.h>

/* Gives `value` another type, and infers again what follows from it. False, with the operation in *stuck, where one does not
 * say what then follows (control flow, calls, types that were written): the IR is not valid then. */
bool cute_retype(MlirValue value, MlirType type, MlirOperation *stuck);

#endif
