/* Tensors in registers that pass through control flow. */
#ifndef CUTE_LIB_PASSES_TENSORS_CARRIED_H
#define CUTE_LIB_PASSES_TENSORS_CARRIED_H

#include <mlir-c/IR.h>

/* The possible origins of a value through control flow. */
typedef struct cute_origins {
    MlirValue value[256];
    size_t count;
    bool unknown; /* there are others */
} cute_origins;
void cute_origins_add(cute_origins *s, MlirValue value);
/* Adds the values that reach the block argument or result `value` of scf.if, scf.for, scf.while,
 * arith.select. */
void cute_origins_follow(cute_origins *s, MlirValue value);

/* Replaces results and arguments of scf.if, scf.for, scf.while and arith.select that can be one tensor
 * only by that tensor, so that an accumulator stays in place. Returns whether it replaced any. */
bool cute_carry_tensors(MlirOperation root);

#endif
