/* cute-tile-rare: selections that are seldom made become branches.
 *
 * Requires: cute-tile-layouts; arith.select with `cute.rare`, of one condition. Ensures: they, and the operations that only they need, are
 * in an scf.if that a warp executes where the condition is true of an element that it holds (cute.tile.any). Operations that exchange
 * elements between warps stay in front of it, with a remark.
 *
 *     %f = math.exp2 %x ; %y = arith.mulf %o, %f ; %z = arith.select %far, %y, %o {cute.rare}
 * ->
 *     %any = cute.tile.any(%far)
 *     %z = scf.if %any { %f = math.exp2 %x ; %y = arith.mulf %o, %f ; %r = arith.select %far, %y, %o ; scf.yield %r } else { scf.yield %o }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16, MOST_MOVED = 256 };

typedef struct branch {
    MlirValue condition; /* before broadcasts */
    MlirOperation selects[MOST];
    int count;
    MlirOperation moved[MOST_MOVED]; /* last one first */
    int moved_count;
} branch;

typedef struct work {
    cute_pass_run *pass;
    MlirOperation first; /* a selection that is not in a branch yet */
    bool changed;
} work;

static bool is_rare(MlirOperation op)
{
    return cute_op_is(op, "arith.select") && cute_op_has(op, TILE_RARE);
}

/* The condition of a selection, before it was broadcast to the shape of the values. */
static MlirValue condition_of(MlirOperation select)
{
    MlirValue value = mlirOperationGetOperand(select, 0);
    for (MlirOperation op = cute_defining_op(value);
         !mlirOperationIsNull(op) && (cute_op_is(op, "cute.tile.broadcast") || cute_op_is(op, "cute.tile.convert"));
         op = cute_defining_op(value))
        value = mlirOperationGetOperand(op, 0);
    return value;
}

static bool has_op(const MlirOperation *ops, int count, MlirOperation op)
{
    for (int i = 0; i < count; i++)
        if (mlirOperationEqual(ops[i], op)) return true;
    return false;
}

/* Whether an operation of the block, or in a region of it, uses a result of the branch's selections. */
static bool uses_branch(MlirOperation op, const branch *b)
{
    for (int i = 0; i < b->count; i++)
        for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(b->selects[i], 0));
             !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
            MlirOperation user = mlirOpOperandGetOwner(use);
            while (!mlirOperationIsNull(user) && !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)))
                user = mlirBlockGetParentOperation(mlirOperationGetBlock(user));
            if (mlirOperationEqual(user, op)) return true;
        }
    return false;
}

/* Selections by one condition, until an operation needs one of them. */
static void find_selects(MlirOperation first, branch *b)
{
    *b = (branch){.condition = condition_of(first)};
    for (MlirOperation op = first; !mlirOperationIsNull(op) && b->count < MOST; op = mlirOperationGetNextInBlock(op)) {
        if (uses_branch(op, b)) return;
        if (is_rare(op) && mlirValueEqual(condition_of(op), b->condition)) b->selects[b->count++] = op;
    }
}

/* NULL, or why an operation is not moved into a branch that some warps do not take. */
static const char *why_not_moved(MlirOperation op)
{
    tile_distribution from, to;
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (cute_op_of(op, "arith.") || cute_op_of(op, "math.") || cute_op_is(op, "cute.tile.broadcast") || cute_op_is(op, "cute.tile.iota"))
        return NULL;
    if (!cute_op_is(op, "cute.tile.reduce") || !tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &from) ||
        !tile_distribution_of(result, &to))
        return "";
    return tile_along_lanes(&from, (int)cute_tile_number(op, "mode", 0)) ? NULL : "it combines elements of several warps";
}

/* Whether only the branch needs the result of `op`: its selections, where they are made, and what is moved. */
static bool only_branch(const branch *b, MlirOperation op)
{
    bool any = false;
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        bool chosen = has_op(b->selects, b->count, user) && mlirOpOperandGetOperandNumber(use) < 2;
        if (!chosen && !has_op(b->moved, b->moved_count, user)) return false;
        any = true;
    }
    return any;
}

static void find_moved(const work *w, branch *b)
{
    MlirBlock block = mlirOperationGetBlock(b->selects[0]);
    MlirOperation ops[4 * MOST_MOVED];
    int count = 0;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, b->selects[b->count - 1]);
         op = mlirOperationGetNextInBlock(op))
        ops[count++ % (4 * MOST_MOVED)] = op;
    for (int left = count < 4 * MOST_MOVED ? count : 4 * MOST_MOVED; left-- > 0;) {
        MlirOperation op = ops[--count % (4 * MOST_MOVED)];
        bool pure = mlirOperationGetNumResults(op) == 1 && !mlirOperationGetNumRegions(op) && cute_op_is_effect_free(op) &&
                    !cute_op_is(op, "arith.constant");
        if (!pure || b->moved_count == MOST_MOVED || mlirValueEqual(mlirOperationGetResult(op, 0), b->condition) ||
            !only_branch(b, op))
            continue;
        const char *why = why_not_moved(op);
        if (!why)
            b->moved[b->moved_count++] = op;
        else if (*why)
            tile_refuse(w->pass, op, "this is computed whether it is needed or not: %s", why);
    }
}

static void append_yield(MlirBlock block, MlirLocation at, MlirValue *values, int count)
{
    cute_builder end = cute_builder_at_end(block, at);
    cute_build(&end, "scf.yield", (cute_operands){values, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static void make_branch(const branch *b)
{
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock blocks[2];
    MlirValue made[MOST], others[MOST];
    MlirType types[MOST];
    MlirOperation last = b->selects[b->count - 1];
    cute_builder here = cute_builder_before(last);
    MlirValue any = cute_build_value(&here, "cute.tile.any", mlirIntegerTypeGet(here.context, 1), CUTE_OPERANDS(b->condition),
                                     CUTE_NO_NAMED);
    for (int i = 0; i < 2; i++) {
        blocks[i] = mlirBlockCreate(0, NULL, NULL);
        mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
    }
    for (int i = b->moved_count; i-- > 0;) {
        mlirOperationRemoveFromParent(b->moved[i]);
        mlirBlockAppendOwnedOperation(blocks[0], b->moved[i]);
    }
    for (int i = 0; i < b->count; i++) {
        MlirOperation copy = mlirOperationClone(b->selects[i]);
        mlirOperationRemoveDiscardableAttributeByName(copy, cute_text(TILE_RARE));
        mlirBlockAppendOwnedOperation(blocks[0], copy);
        made[i] = mlirOperationGetResult(copy, 0);
        others[i] = mlirOperationGetOperand(b->selects[i], 2);
        types[i] = mlirValueGetType(made[i]);
    }
    append_yield(blocks[0], here.location, made, b->count);
    append_yield(blocks[1], here.location, others, b->count);
    MlirOperation branches = cute_build_regions(&here, "scf.if", CUTE_OPERANDS(any), (cute_types){types, b->count}, CUTE_NO_NAMED,
                                                regions, 2);
    for (int i = 0; i < b->count; i++) {
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(b->selects[i], 0), mlirOperationGetResult(branches, i));
        mlirOperationDestroy(b->selects[i]);
    }
}

/* ---- the pass ---- */

static void note_rare(MlirOperation op, void *context)
{
    work *w = context;
    if (mlirOperationIsNull(w->first) && is_rare(op)) w->first = op;
}

static void visit_function(MlirOperation function, void *context)
{
    work *w = context;
    if (tile_is_naive(function) || !tile_is_program(function)) return;
    for (;;) {
        branch b;
        w->first = (MlirOperation){NULL};
        cute_op_walk(function, "arith.select", CUTE_WALK_OUTER_FIRST, note_rare, w);
        if (mlirOperationIsNull(w->first)) return;
        find_selects(w->first, &b);
        w->changed = true;
        if (!mlirTypeIsARankedTensor(mlirValueGetType(b.condition))) {
            mlirOperationRemoveDiscardableAttributeByName(w->first, cute_text(TILE_RARE));
            continue;
        }
        find_moved(w, &b);
        make_branch(&b);
    }
}

static void run_tile_rare(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_rare = {
    .name = "cute-tile-rare",
    .help = "Execute what selections that are seldom made need where they are",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_SCF,
    .run = run_tile_rare,
};
