/* Rewrites of operations by what defines their operands, until none applies. */
#ifndef CUTE_LIB_PASSES_LAYOUTS_PEEPHOLE_H
#define CUTE_LIB_PASSES_LAYOUTS_PEEPHOLE_H

#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"

/* Which rules of an operation's row. */
typedef const cute_op_rule *(*cute_rules_of)(const cute_op_row *row);

/* Applies them to all operations in `root`, in order, until none applies. A rewrite whose result is not
 * of the old type is dropped: a rule need not prove what the types decide. Returns how many were done.
 * Operations that nothing uses any more go. A remark of `pass` (NULL: none) says which were rewritten. */
size_t cute_peephole_run(MlirOperation root, cute_rules_of rules, const cute_pass_run *pass);

#endif
