/* Driver of peephole rewrites: matches the definitions of operands against a table of rules. */
#include "lib/passes/layouts/peephole.h"
#include "lib/passes/dead.h"

#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"

typedef struct state {
    cute_rules_of rules;
    const cute_pass_run *pass; /* for remarks, or NULL */
    size_t done;
} state;

static bool replace_result(MlirOperation op, const cute_rewrite *r)
{
    MlirValue old = mlirOperationGetResult(op, 0), new = r->value;
    if (mlirValueIsNull(new)) {
        MlirOperation made = cute_rewrite_insert(op, r);
        if (mlirOperationIsNull(made)) return false;
        new = mlirOperationGetResult(made, 0);
        if (!mlirTypeEqual(mlirValueGetType(new), mlirValueGetType(old))) {
            mlirOperationDestroy(made);
            return false;
        }
    }
    if (mlirValueEqual(new, old) || !mlirTypeEqual(mlirValueGetType(new), mlirValueGetType(old)))
        return false;
    mlirValueReplaceAllUsesOfWith(old, new);
    return true;
}

static void remark_rewrite(const cute_pass_run *pass, MlirOperation op, MlirOperation source,
                           const cute_rewrite *r)
{
    if (!cute_pass_wants_remarks(pass)) return;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op)), of = {0};
    if (!mlirOperationIsNull(source)) of = mlirIdentifierStr(mlirOperationGetName(source));
    cute_pass_remark(pass, mlirOperationGetLocation(op), "'%.*s'%s%.*s%s is %s%s%s", (int)name.length,
                     name.data, of.length ? " of '" : "", (int)of.length, of.length ? of.data : "",
                     of.length ? "'" : "", r->name ? "computed directly, by '" : "an existing value",
                     r->name ? r->name : "", r->name ? "'" : "");
}

static void rewrite_op(MlirOperation op, void *context)
{
    state *s = context;
    if (mlirOperationGetNumResults(op) != 1 ||
        mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, 0))))
        return;
    const cute_op_row *row = cute_op_row_of(op);
    for (const cute_op_rule *rule = row ? s->rules(row) : NULL; rule && rule->rewrite; rule++) {
        MlirOperation source = {NULL};
        if (rule->from) {
            source = cute_defining_op(mlirOperationGetOperand(op, 0));
            if (mlirOperationIsNull(source) || !cute_op_is(source, rule->from)) continue;
        }
        cute_rewrite r = {.value = {NULL}};
        if (!rule->rewrite(op, source, &r) || !replace_result(op, &r)) continue;
        if (s->pass) remark_rewrite(s->pass, op, source, &r);
        s->done++;
        return;
    }
}

size_t cute_peephole_run(MlirOperation root, cute_rules_of rules, const cute_pass_run *pass)
{
    size_t all = 0;
    for (;;) {
        state s = {.rules = rules, .pass = pass};
        cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, rewrite_op, &s);
        all += s.done;
        if (s.done == 0) return all;
        cute_drop_dead(root);
    }
}
