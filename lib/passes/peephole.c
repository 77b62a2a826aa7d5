/* The driver of peephole rewrites: matches the operations that define operands against a table of rules. */
#include "lib/passes/peephole.h"
#include "lib/ir/builder.h"

#include "lib/ir/hooks.h"
#include "lib/ir/shim.h"

MlirOperation cute_maker(MlirValue value)
{
    return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

static MlirAttribute attribute_of(void *context, MlirStringRef name)
{
    const cute_rewrite *r = context;
    for (intptr_t i = 0; i < r->attribute_count; i++)
        if (mlirStringRefEqual(mlirIdentifierStr(r->attributes[i].name), name))
            return r->attributes[i].attribute;
    return (MlirAttribute){NULL};
}

static cute_status infer(cute_arena *arena, MlirContext context, cute_rewrite *r, MlirType *out)
{
    cute_operation operation;
    cute_value operands[3], result;
    cute_attributes attributes;
    if (strncmp(r->name, "cute.", 5) != 0 || !cute_operation_find(r->name + 5, &operation))
        return CUTE_INVALID;
    for (intptr_t i = 0; i < r->operand_count; i++)
        CUTE_TRY(cute_type_value(mlirValueGetType(r->operands[i]), &operands[i], NULL));
    CUTE_TRY(cute_op_attributes(arena, attribute_of, r, &attributes, NULL));
    CUTE_TRY(
        cute_apply(arena, NULL, operation, operands, (size_t)r->operand_count, &attributes, &result, NULL));
    *out = cute_type_of_value(context, arena, &result);
    return mlirTypeIsNull(*out) ? CUTE_SYSTEM : CUTE_OK;
}

MlirOperation cute_rewrite_insert(MlirOperation where, const cute_rewrite *r)
{
    cute_arena *arena = cute_arena_create();
    cute_builder b = cute_builder_before(where);
    cute_rewrite copy = *r;
    MlirType type;
    MlirOperation made = {NULL};
    if (arena && infer(arena, mlirOperationGetContext(where), &copy, &type) == CUTE_OK)
        made = cute_build(&b, r->name, (cute_operands){r->operands, r->operand_count}, CUTE_TYPES(type),
                          (cute_named){r->attributes, r->attribute_count});
    cute_arena_destroy(arena);
    return made;
}

typedef struct state {
    const cute_peephole *table;
    size_t count, done;
} state;

static bool replace(MlirOperation op, const cute_rewrite *r)
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

static void visit(MlirOperation op, void *context)
{
    state *s = context;
    if (mlirOperationGetNumResults(op) != 1 ||
        mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, 0))))
        return;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    for (size_t i = 0; i < s->count; i++) {
        const cute_peephole *row = &s->table[i];
        if (!cute_text_is(name, row->op)) continue;
        MlirOperation source = {NULL};
        if (row->from) {
            source = cute_maker(mlirOperationGetOperand(op, 0));
            if (mlirOperationIsNull(source) || !cute_op_is(source, row->from)) continue;
        }
        cute_rewrite r = {.value = {NULL}};
        if (!row->rewrite(op, source, &r) || !replace(op, &r)) continue;
        s->done++;
        return;
    }
}

static void drop(MlirOperation op, void *context)
{
    (void)context;
    if (cute_op_is_dead(op)) mlirOperationDestroy(op);
}

size_t cute_peephole_run(MlirOperation root, const cute_peephole *table, size_t count)
{
    size_t all = 0;
    for (;;) {
        state s = {.table = table, .count = count};
        cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, visit, &s);
        all += s.done;
        if (s.done == 0) return all;
        cute_op_walk(root, NULL, CUTE_WALK_LAST_FIRST, drop, NULL);
    }
}
