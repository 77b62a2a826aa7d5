/* Tensors in registers that pass through control flow. */
#ifndef CUTE_LIB_PASSES_TENSORS_CARRIED_H
#define CUTE_LIB_PASSES_TENSORS_CARRIED_H

#include <mlir-c/IR.h>

/* What a value can be, by the control flow that it comes out of. */
typedef struct cute_origins {
    MlirValue value[256];
    size_t count;
    bool unknown; /* there are more */
} cute_origins;
void cute_origins_add(cute_origins *s, MlirValue value);
/* Adds what goes into the block argument or result `value` of scf.if, scf.for, scf.while, arith.select. */
void cute_origins_follow(cute_origins *s, MlirValue value);

/* Results and arguments of scf.if, scf.for, scf.while and arith.select that can be one tensor only, whichever way is taken,
 * are that tensor: an accumulator stays where it is. Whether there were any. */
bool cute_carry_tensors(MlirOperation root);

#endif
