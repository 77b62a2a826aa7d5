/* Operations whose results nobody uses and that have no other effect, after a pass on all that is inside of `root`. */
#ifndef CUTE_LIB_PASSES_DEAD_H
#define CUTE_LIB_PASSES_DEAD_H

#include <mlir-c/IR.h>

/* Users go first, so that what they alone used goes too. */
void cute_drop_dead(MlirOperation root);
/* Of those only what puts a value together: its users now read the operands directly. */
void cute_drop_dead_parts(MlirOperation root);

/* What stands under an scf.if without an else whose condition is the constant false, then the operations named
 * `prefix`... that nothing but that used. */
void cute_drop_never_run(MlirOperation root, const char *prefix);

#endif
