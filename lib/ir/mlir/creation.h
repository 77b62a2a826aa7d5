/* Checks an operation before its creation: MLIR's inference of result types reads operands and attributes without checks. */
#ifndef CUTE_LIB_IR_MLIR_CREATION_H
#define CUTE_LIB_IR_MLIR_CREATION_H

#include <mlir-c/IR.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether `name` is an operation that takes so many operands, and its attributes are of the right kinds; otherwise an error at
 * `location`. `attributes` is a dictionary or null. */
bool cute_op_can_create(MlirContext context, MlirStringRef name, intptr_t operands, MlirAttribute attributes,
                        MlirLocation location);
/* Whether MLIR infers the result types of the operation. */
bool cute_op_infers(MlirContext context, MlirStringRef name);

#ifdef __cplusplus
}
#endif
#endif
