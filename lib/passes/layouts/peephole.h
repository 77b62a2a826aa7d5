/* Peephole rewrites of operations by the definitions of their operands, to a fixed point. */
#ifndef CUTE_LIB_PASSES_LAYOUTS_PEEPHOLE_H
#define CUTE_LIB_PASSES_LAYOUTS_PEEPHOLE_H

#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"

/* Selects rules from an operation's row. */
typedef const cute_op_rule *(*cute_rules_of)(const cute_op_row *row);

/* Applies the rules to all operations in `root`, in order, until none applies. A rewrite that changes a
 * result type is dropped: rules need not prove that types match. Removes operations that become unused.
 * Emits remarks through `pass` (may be NULL). Returns the number of rewrites. */
size_t cute_peephole_run(MlirOperation root, cute_rules_of rules, const cute_pass_run *pass);

#endif
