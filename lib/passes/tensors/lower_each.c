/* See lower_each.h. */
#include "lib/passes/tensors/lower_each.h"
#include "lib/passes/dead.h"

#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"

typedef struct lowering {
    cute_pass_run *pass;
    const cute_lower_table *tables;
    size_t count;
    cute_diag *diag; /* empty between operations */
    cute_emitter emitter;
    bool changed;
} lowering;

static const cute_lower_row *find_row(const lowering *l, MlirOperation op)
{
    for (size_t i = 0; i < l->count; i++)
        for (size_t j = 0; j < l->tables[i].count; j++)
            if (cute_op_is(op, l->tables[i].rows[j].name)) return &l->tables[i].rows[j];
    return NULL;
}

static void lower_op(MlirOperation op, void *context)
{
    lowering *l = context;
    const cute_lower_row *row = find_row(l, op);
    if (!row) return;
    cute_arena *arena = cute_arena_create();
    cute_expansion x = {.emitter = &l->emitter, .arena = arena, .diag = l->diag};
    l->changed = true;
    if (arena && row->lower(&x, l->pass, op) == CUTE_OK) {
        mlirOperationDestroy(op);
    } else {
        MlirLocation location = mlirOperationGetLocation(op);
        for (size_t i = 0; i < cute_diag_count(l->diag); i++)
            cute_op_fail(location, row->name, "%s", cute_diag_get(l->diag, i)->text);
        cute_pass_fail(l->pass);
        cute_diag_destroy(l->diag);
        l->diag = cute_diag_create();
    }
    cute_arena_destroy(arena);
}

void cute_lower_tables(MlirOperation root, cute_pass_run *pass, const char *prefix,
                       const cute_lower_table *tables, size_t count)
{
    lowering l = {.pass = pass, .tables = tables, .count = count, .diag = cute_diag_create()};
    cute_op_walk(root, prefix, CUTE_WALK_INNER_FIRST, lower_op, &l);
    cute_diag_destroy(l.diag);
    if (l.changed)
        cute_drop_dead_parts(root);
    else
        cute_pass_unchanged(pass);
}

void cute_lower_rows(MlirOperation root, cute_pass_run *pass, const char *prefix, const cute_lower_row *rows,
                     size_t count)
{
    cute_lower_tables(root, pass, prefix, &(const cute_lower_table){rows, count}, 1);
}
