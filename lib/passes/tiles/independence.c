/* Blocks of a tile program are independent: a store whose place does not depend on a dimension of the grid that the kernel looks at is
 * executed by several blocks for the same elements. Atomic stores and those under a condition or with a mask that depends on the dimension are left
 * alone, as are places that come from memory. */
#include <stdio.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/tiles.h"

enum { MOST_VALUES = 4096 };

typedef struct slice {
    MlirValue index; /* of the grid */
    const void *seen[MOST_VALUES];
    int count;
} slice;

static bool depends(slice *s, MlirValue value);

static bool any_operand(slice *s, MlirOperation op)
{
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (depends(s, mlirOperationGetOperand(op, i))) return true;
    return false;
}

/* Whether a value that a loop or branch yields depends on the index. */
static bool any_yield(slice *s, MlirOperation op)
{
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
        MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
        if (!mlirBlockIsNull(block) && any_operand(s, mlirBlockGetTerminator(block))) return true;
    }
    return false;
}

/* Whether a value may differ between blocks that differ in the index. */
static bool depends(slice *s, MlirValue value)
{
    if (mlirValueEqual(value, s->index)) return true;
    for (int i = 0; i < s->count; i++)
        if (s->seen[i] == value.ptr) return false;
    if (s->count == MOST_VALUES) return true;
    s->seen[s->count++] = value.ptr;
    if (mlirValueIsABlockArgument(value)) {
        MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
        return cute_op_of(parent, "scf.") && (any_operand(s, parent) || any_yield(s, parent));
    }
    MlirOperation op = mlirOpResultGetOwner(value);
    if (cute_op_is(op, "cute.tile.program")) return false;
    if (!cute_op_is_effect_free(op) && !cute_op_of(op, "scf.")) return true; /* from memory */
    return any_operand(s, op) || any_yield(s, op);
}

static bool depends_on(MlirValue index, MlirOperation op, intptr_t first)
{
    slice s = {.index = index};
    for (intptr_t i = first; i < mlirOperationGetNumOperands(op); i++)
        if (depends(&s, mlirOperationGetOperand(op, i))) return true;
    for (MlirOperation up = mlirOperationGetParentOperation(op); cute_op_of(up, "scf.");
         up = mlirOperationGetParentOperation(up))
        if (any_operand(&s, up)) return true;
    return false;
}

typedef struct search {
    MlirOperation program;
    bool failed;
} search;

/* Whether the grid is stated to have one block there. */
static bool is_single(MlirOperation program, intptr_t dimension)
{
    if (cute_op_has(program, "extents")) return false;
    MlirOperation from = cute_defining_op(mlirOperationGetOperand(program, dimension));
    return !mlirOperationIsNull(from) && cute_op_is(from, "arith.constant") &&
           cute_tile_number(from, "value", 0) == 1;
}

static void note_program(MlirOperation op, void *context)
{
    ((search *)context)->program = op;
}

static void check_store(MlirOperation op, void *context)
{
    search *s = context;
    if (mlirOperationIsNull(s->program) || s->failed || cute_op_has(op, "kind")) return;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(s->program); i++) {
        MlirValue index = mlirOperationGetResult(s->program, i);
        if (mlirOpOperandIsNull(mlirValueGetFirstUse(index)) || is_single(s->program, i) ||
            depends_on(index, op, 1)) /* the tensor may be rows that depend on it */
            continue;
        char text[200], where[120];
        snprintf(text, sizeof text,
                 "expected a place that depends on dimension %d of the grid: blocks that differ there write "
                 "the same elements",
                 (int)i);
        snprintf(
            where, sizeof where,
            "the grid is stated here; cute.tile.store<add> and cute.tile.atomic combine what blocks compute");
        cute_emit_note note = {mlirOperationGetLocation(s->program), where};
        cute_emit_with_notes(mlirOperationGetLocation(op), true, text, &note, 1);
        s->failed = true;
        return;
    }
}

bool tile_check_independence(MlirOperation function)
{
    search s = {{NULL}, false};
    cute_op_walk(function, "cute.tile.program", CUTE_WALK_OUTER_FIRST, note_program, &s);
    cute_op_walk(function, "cute.tile.store", CUTE_WALK_OUTER_FIRST, check_store, &s);
    cute_op_walk(function, "cute.tile.scatter", CUTE_WALK_OUTER_FIRST, check_store, &s);
    return !s.failed;
}
