/* The expansion of operations of the algebra, of all of them or of some. */
#ifndef CUTE_LIB_PASSES_LAYOUTS_EXPAND_H
#define CUTE_LIB_PASSES_LAYOUTS_EXPAND_H

#include "lib/ir/mlir/shim.h"

/* Replaces the operations in `root` that have an expansion (ops.h), by it; of those only the ones that `wanted` names (NULL:
 * all). What was put together for them alone goes. An operation that cannot be expanded is an error, and `pass` fails.
 * Returns how many were. */
size_t cute_expand(MlirOperation root, cute_pass_run *pass,
                   bool (*wanted)(const cute_pass_run *pass, MlirOperation op));

#endif
