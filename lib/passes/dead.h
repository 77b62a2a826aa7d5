/* Removal of unused operations without side effects, run at the end of a pass on everything inside `root`. */
#ifndef CUTE_LIB_PASSES_DEAD_H
#define CUTE_LIB_PASSES_DEAD_H

#include <mlir-c/IR.h>

/* Visits users first, so operands that only a removed operation used are removed too. */
void cute_drop_dead(MlirOperation root);
/* Removes only operations that build aggregates, after their users have been changed to read the operands
 * directly. */
void cute_drop_dead_parts(MlirOperation root);

/* Removes the body of each scf.if without an else whose condition is the constant false, then the
 * operations whose names start with `prefix` that had no other users. */
void cute_drop_never_run(MlirOperation root, const char *prefix);

#endif
