/* Checks an operation before its creation: MLIR's inference of result types reads operands and attributes without checks. */
#ifndef CUTE_LIB_IR_MLIR_CREATION_H
#define CUTE_LIB_IR_MLIR_CREATION_H

#include <stdbool.h>

#include "lib/ir/mlir/builder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether `name` is an operation without regions that takes so many operands, and its attributes are of the right kinds; otherwise an
 * error at `location`. `attributes` is a dictionary or null. */
bool cute_op_can_create(MlirContext context, MlirStringRef name, intptr_t operands, MlirAttribute attributes,
                        MlirLocation location);
/* Whether cute_build_inferred may be called: MLIR infers the types, from operands and attributes that the definition of the operation
 * allows. Otherwise an error at the builder's location. */
bool cute_op_can_infer(const cute_builder *b, MlirStringRef name, cute_operands operands,
                       MlirAttribute attributes);

#ifdef __cplusplus
}
#endif
#endif
