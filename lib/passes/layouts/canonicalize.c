/* cute-canonicalize: simplifies values of the dialect.
 *
 * Requires: verified IR. Ensures: no part is extracted from a value that was just built, no value is built
 * from the parts of one value, inverse conversions cancel, static values are
 * cute.static, no pure operation is duplicated or dead.
 *
 *     %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(4,1)">) -> !cute.layout<"(?,4):(4,1)">
 *     %t = cute.get_shape(%l) : !cute.layout<"(?,4):(4,1)"> -> !cute.shape<"(?,4)">
 *     use(%t)
 * ->
 *     use(%s)
 */
#include "lib/ir/mlir/shim.h"
#include "lib/passes/layouts/peephole.h"
#include "lib/passes/passes.h"

static const cute_op_rule *simplify_rules(const cute_op_row *row)
{
    return row->simplify;
}

static void run_canonicalize(MlirOperation root, cute_pass_run *pass)
{
    cute_peephole_run(root, simplify_rules, NULL);
    if (!cute_pass_run_pipeline(pass, "cute-fold-static,cse", root)) cute_pass_fail(pass);
}

const cute_pass cute_pass_canonicalize = {
    .name = "cute-canonicalize",
    .help = "Simplify values of the dialect cute",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH,
    .run = run_canonicalize,
};
