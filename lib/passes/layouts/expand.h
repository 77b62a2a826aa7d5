/* Expansion of operations of the layout algebra. */
#ifndef CUTE_LIB_PASSES_LAYOUTS_EXPAND_H
#define CUTE_LIB_PASSES_LAYOUTS_EXPAND_H

#include "lib/ir/mlir/shim.h"

/* Replaces operations in `root` by their expansion (ops.h), restricted to the names in `wanted` (NULL:
 * all), and removes operands that become unused. An operation that cannot be expanded is an error, and
 * `pass` fails. Returns the number of replaced operations. */
size_t cute_expand(MlirOperation root, cute_pass_run *pass,
                   bool (*wanted)(const cute_pass_run *pass, MlirOperation op));

#endif
