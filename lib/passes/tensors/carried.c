/* See carried.h. A tensor in registers is memory: control flow that can yield one tensor only is replaced
 * by that tensor. */
#include "lib/passes/tensors/carried.h"

#include <stdlib.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"

static bool in_registers(MlirValue value)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(value));
    return type && type->type == CUTE_MEMREF && type->pointer->space == CUTE_SPACE_RMEM;
}

static MlirOperation end_of(MlirOperation op, intptr_t region)
{
    return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)));
}

/* ---- origins of a value ---- */

void cute_origins_add(cute_origins *s, MlirValue value)
{
    for (size_t i = 0; i < s->count; i++)
        if (mlirValueEqual(s->value[i], value)) return;
    if (s->count < sizeof s->value / sizeof *s->value)
        s->value[s->count++] = value;
    else
        s->unknown = true;
}

void cute_origins_follow(cute_origins *s, MlirValue value)
{
    bool argument = mlirValueIsABlockArgument(value);
    MlirBlock block = argument ? mlirBlockArgumentGetOwner(value) : (MlirBlock){NULL};
    MlirOperation op = argument ? mlirBlockGetParentOperation(block) : mlirOpResultGetOwner(value);
    intptr_t at = argument ? mlirBlockArgumentGetArgNumber(value) : mlirOpResultGetResultNumber(value);
    if (cute_op_is(op, "scf.for") && !(argument && at == 0)) { /* bounds and step; the loop counter */
        intptr_t carried = argument ? at - 1 : at;
        cute_origins_add(s, mlirOperationGetOperand(op, carried + 3));
        cute_origins_add(s, mlirOperationGetOperand(end_of(op, 0), carried));
    } else if (cute_op_is(op, "scf.while")) {
        bool before =
            argument && mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
        if (before) cute_origins_add(s, mlirOperationGetOperand(op, at));
        cute_origins_add(s, mlirOperationGetOperand(end_of(op, before), before ? at : at + 1));
    } else if (cute_op_is(op, "scf.if") && !argument) {
        for (intptr_t i = 0; i < 2; i++) cute_origins_add(s, mlirOperationGetOperand(end_of(op, i), at));
    } else if (cute_op_is(op, "arith.select")) {
        for (intptr_t i = 1; i < 3; i++) cute_origins_add(s, mlirOperationGetOperand(op, i));
    } else {
        s->unknown = true;
    }
}

/* ---- unique tensors ---- */

static void replace_uses(MlirValue of, MlirValue with, bool *changed)
{
    if (mlirValueEqual(of, with) || mlirOpOperandIsNull(mlirValueGetFirstUse(of))) return;
    mlirValueReplaceAllUsesOfWith(of, with);
    *changed = true;
}

/* Both regions yield the same tensor. */
static void simplify_if(MlirOperation op, bool *changed)
{
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        MlirValue result = mlirOperationGetResult(op, i), one = mlirOperationGetOperand(end_of(op, 0), i);
        if (in_registers(result) && mlirValueEqual(one, mlirOperationGetOperand(end_of(op, 1), i)))
            replace_uses(result, one, changed);
    }
}

static void simplify_select(MlirOperation op, bool *changed)
{
    MlirValue result = mlirOperationGetResult(op, 0), one = mlirOperationGetOperand(op, 1);
    if (in_registers(result) && mlirValueEqual(one, mlirOperationGetOperand(op, 2)))
        replace_uses(result, one, changed);
}

/* Index of `value` among the arguments of `block` after the first `skip`; -1: none. */
static intptr_t block_argument_index(MlirValue value, MlirBlock block, intptr_t skip)
{
    if (!mlirValueIsABlockArgument(value) || !mlirBlockEqual(mlirBlockArgumentGetOwner(value), block))
        return -1;
    return mlirBlockArgumentGetArgNumber(value) - skip;
}

/* Iterations carry the same tensors: arguments initialised with one tensor may be permuted. */
static void simplify_for(MlirOperation op, bool *changed)
{
    enum { BOUNDS = 3 };
    intptr_t count = mlirOperationGetNumResults(op);
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    MlirOperation end = mlirBlockGetTerminator(body);
    bool *same = malloc((size_t)count + 1), again = true;
    if (!same) return;
    for (intptr_t i = 0; i < count; i++) same[i] = in_registers(mlirOperationGetResult(op, i));
    while (again) {
        again = false;
        for (intptr_t i = 0; i < count; i++) {
            if (!same[i]) continue;
            MlirValue first = mlirOperationGetOperand(op, BOUNDS + i), next = mlirOperationGetOperand(end, i);
            intptr_t from = block_argument_index(next, body, 1);
            bool other =
                from >= 0 && same[from] && mlirValueEqual(mlirOperationGetOperand(op, BOUNDS + from), first);
            if (other || mlirValueEqual(next, first)) continue;
            same[i] = false;
            again = true;
        }
    }
    for (intptr_t i = 0; i < count; i++) {
        if (!same[i]) continue;
        MlirValue first = mlirOperationGetOperand(op, BOUNDS + i);
        replace_uses(mlirBlockGetArgument(body, i + 1), first, changed);
        replace_uses(mlirOperationGetResult(op, i), first, changed);
    }
    free(same);
}

static void simplify_while(MlirOperation op, bool *changed)
{
    MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)),
              after = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1));
    MlirOperation condition = end_of(op, 0), end = end_of(op, 1);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue first = mlirOperationGetOperand(op, i), next = mlirOperationGetOperand(end, i);
        if (!in_registers(first)) continue;
        intptr_t from = block_argument_index(next, after, 0);
        if (from >= 0) next = mlirOperationGetOperand(condition, from + 1);
        if (mlirValueEqual(next, first) || block_argument_index(next, before, 0) == i)
            replace_uses(mlirBlockGetArgument(before, i), first, changed);
    }
    /* The forwarded value of the condition is known outside if the loop starts with it. */
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        MlirValue given = mlirOperationGetOperand(condition, i + 1);
        for (intptr_t j = 0; in_registers(given) && j < mlirOperationGetNumOperands(op); j++) {
            if (!mlirValueEqual(given, mlirOperationGetOperand(op, j))) continue;
            replace_uses(mlirBlockGetArgument(after, i), given, changed);
            replace_uses(mlirOperationGetResult(op, i), given, changed);
        }
    }
}

static void simplify_op(MlirOperation op, void *changed)
{
    static const struct {
        const char *name;
        void (*simplify)(MlirOperation op, bool *changed);
    } rows[] = {{"scf.if", simplify_if}, {"scf.for", simplify_for}, {"scf.while", simplify_while}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cute_op_is(op, rows[i].name) && mlirOperationGetNumResults(op)) rows[i].simplify(op, changed);
}

static void simplify_one_select(MlirOperation op, void *changed)
{
    simplify_select(op, changed);
}

bool cute_carry_tensors(MlirOperation root)
{
    bool any = false, changed = true;
    while (changed) {
        changed = false;
        cute_op_walk(root, "scf.", CUTE_WALK_INNER_FIRST, simplify_op, &changed);
        cute_op_walk(root, "arith.select", CUTE_WALK_INNER_FIRST, simplify_one_select, &changed);
        any |= changed;
    }
    return any;
}
