/* Address arithmetic, shared by the lowering of pointers and of accesses. */
#ifndef CUTE_LIB_IR_OPS_ADDRESS_H
#define CUTE_LIB_IR_OPS_ADDRESS_H

#include "cute/layout.h"
#include "lib/ir/mlir/builder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The MLIR type named `text`, or its substitute if LLVM 19 lacks it; null for an unknown type. */
MlirType cute_element_type(MlirContext context, const char *text);
/* The LLVM storage type of an element (i8 for less than 8 bits); null if unsupported. */
MlirType cute_stored_type(MlirType element, int bits);
/* llvm.getelementptr by an SSA integer (null: none) plus a constant, in elements of `bits` bits with
 * storage type `stored`. */
MlirValue cute_advance(const cute_builder *b, MlirValue pointer, MlirType stored, int bits, MlirValue by,
                       int64_t constant);
/* The address with the pointer's swizzle applied. */
MlirValue cute_swizzled_address(const cute_builder *b, const cute_pointer *pointer, MlirValue address);

#ifdef __cplusplus
}
#endif

#endif
