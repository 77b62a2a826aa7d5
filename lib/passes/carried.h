/* Tensors in registers that pass through control flow. */
#ifndef CUTE_LIB_PASSES_CARRIED_H
#define CUTE_LIB_PASSES_CARRIED_H

#include <mlir-c/IR.h>

/* Results and arguments of scf.if, scf.for, scf.while and arith.select that can be one tensor only, whichever way is taken,
 * are that tensor: an accumulator stays where it is. Whether there were any. */
bool cute_carry_tensors(MlirOperation root);

#endif
