/* Addresses: what the lowering of pointers and that of accesses make of LLVM's operations. */
#ifndef CUTE_LIB_IR_OPS_ADDRESS_H
#define CUTE_LIB_IR_OPS_ADDRESS_H

#include "cute/layout.h"
#include "lib/ir/mlir/builder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of the program that `text` names, or null; of one that LLVM 19 lacks what stands for it. */
MlirType cute_element_type(MlirContext context, const char *text);
/* What LLVM keeps an element of that type in, one of less than 8 bits in i8; null where it has no such thing. */
MlirType cute_stored_type(MlirType element, int bits);
/* llvm.getelementptr by an integer of the program (null: none) and a constant, in elements of `bits` bits that LLVM
 * keeps in `stored`. */
MlirValue cute_advance(const cute_builder *b, MlirValue pointer, MlirType stored, int bits, MlirValue by,
                       int64_t constant);
/* An address xor-ed as the pointer's type asks. */
MlirValue cute_swizzled_address(const cute_builder *b, const cute_pointer *pointer, MlirValue address);

#ifdef __cplusplus
}
#endif

#endif
