/* cute-layout-fusion: fuses chains of operations on layouts.
 *
 * Requires: verified IR. Ensures: chains that select, group or flatten modes are one operation, sizes are
 * taken of the original value, and static layouts are composed with each other before they are composed with
 * a dynamic one.
 *
 *     %1 = cute.composition(%a, %b) : (!cute.layout<"(?,8):(8,1)">, !cute.layout<...>) -> ...
 *     %2 = cute.composition(%1, %c)
 * ->
 *     %1 = cute.composition(%b, %c)
 *     %2 = cute.composition(%a, %1)
 */
#include "lib/ir/mlir/shim.h"
#include "lib/passes/layouts/peephole.h"
#include "lib/passes/passes.h"

static const cute_op_rule *fusion_rules(const cute_op_row *row)
{
    return row->fuse;
}

static void run_layout_fusion(MlirOperation root, cute_pass_run *pass)
{
    cute_peephole_run(root, fusion_rules, pass);
    if (!cute_pass_run_pipeline(pass, "cute-fold-static,cse", root)) cute_pass_fail(pass);
}

const cute_pass cute_pass_layout_fusion = {
    .name = "cute-layout-fusion",
    .help = "Fuse chains of operations on layouts",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH,
    .run = run_layout_fusion,
};
