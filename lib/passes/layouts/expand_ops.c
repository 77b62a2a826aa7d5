/* cute-expand-ops: expands the layout algebra to arithmetic on unknown leaves.
 *
 * Requires: verified IR. Ensures: of the dialect cute only static, make_*, get_scalars and print remain.
 * Operations are emitted in the order in which the algebra computes; nothing is shared or folded across
 * operations, except that values built by make_* are not taken apart again.
 *
 *     %i = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
 * ->
 *     %s:2 = cute.get_scalars<{only_dynamic}> (%c) : !cute.coord<"(?,?)">
 *     %p = arith.muli %s#0, %c8 overflow<nsw> : i32
 *     %q = arith.addi %p, %s#1 overflow<nsw> : i32
 *     %i = cute.make_int_tuple(%q) : (i32) -> !cute.int_tuple<"?">
 */
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/dead.h"
#include "lib/passes/layouts/expand.h"
#include "lib/passes/passes.h"

typedef struct expansion {
    cute_pass_run *pass;
    bool (*wanted)(const cute_pass_run *pass, MlirOperation op);
    size_t done;
    cute_diag *diag; /* empty between operations */
    cute_emitter emitter;
} expansion;

static void expand_op(MlirOperation op, void *context)
{
    expansion *e = context;
    const cute_op_row *row = cute_op_row_of(op);
    if (!row || !row->expand || (row->expands && !row->expands(op))) return;
    if (e->wanted && !e->wanted(e->pass, op)) return;
    cute_arena *arena = cute_arena_create();
    MlirLocation location = mlirOperationGetLocation(op);
    cute_expansion x = {.emitter = &e->emitter, .arena = arena, .diag = e->diag};
    if (arena && row->expand(row, &x, op) == CUTE_OK) {
        mlirOperationDestroy(op);
        e->done++;
    } else {
        cute_op_fail_diag(location, e->diag);
        cute_pass_fail(e->pass);
        cute_diag_destroy(e->diag);
        e->diag = cute_diag_create();
    }
    cute_arena_destroy(arena);
}

size_t cute_expand(MlirOperation root, cute_pass_run *pass,
                   bool (*wanted)(const cute_pass_run *pass, MlirOperation op))
{
    expansion e = {.pass = pass, .wanted = wanted, .diag = cute_diag_create()};
    cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, expand_op, &e);
    cute_diag_destroy(e.diag);
    cute_drop_dead_parts(root);
    return e.done;
}

static void run_expand_ops(MlirOperation root, cute_pass_run *pass)
{
    cute_expand(root, pass, NULL);
}

const cute_pass cute_pass_expand_ops = {
    .name = "cute-expand-ops",
    .help = "Expand the layout algebra to arithmetic on unknown leaves",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_MATH |
                CUTE_DIALECT_SCF,
    .run = run_expand_ops,
};
