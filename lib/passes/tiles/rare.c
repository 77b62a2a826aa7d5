/* cute-tile-rare: selections that are seldom made become branches.
 *
 * Requires: cute-tile-layouts; arith.select with `cute.rare`, of one condition. Ensures: they, and the operations that only they need, are
 * in an scf.if, marked `cute.rare`, that a warp executes where the condition is true of an element that it holds (cute.tile.any). A value that is the same as
 * the other one where the condition is false, since it is the same operations on selected values, is not selected again. Operations
 * that exchange elements between warps, some of which may not take the branch, stay in front of it, with a remark. A condition whether the sum of
 * lanes' parts of a row exceeds a number (cute-tile-lane-sums) moves into the branch, which is taken where a part is large; warps with
 * parts of the same rows vote.
 *
 *     %f = math.exp2 %x ; %y = arith.mulf %o, %f ; %z = arith.select %far, %y, %o {cute.rare}
 * ->
 *     %any = cute.tile.any(%far)
 *     %z = scf.if %any { %f = math.exp2 %x ; %y = arith.mulf %o, %f ; %r = arith.select %far, %y, %o ; scf.yield %r } else { scf.yield %o } {cute.rare}
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16, MOST_MOVED = 256, MOST_OPS = 1024 };

typedef struct branch {
    MlirValue condition; /* before broadcasts */
    bool in_front;       /* which the branch is taken by; else it is computed in the branch */
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
         !mlirOperationIsNull(op) &&
         (cute_op_is(op, "cute.tile.broadcast") || cute_op_is(op, "cute.tile.convert"));
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

static bool has_attributes_of(MlirOperation x, MlirOperation y)
{
    if (mlirOperationGetNumAttributes(x) != mlirOperationGetNumAttributes(y)) return false;
    for (intptr_t i = 0; i < mlirOperationGetNumAttributes(x); i++) {
        MlirNamedAttribute own = mlirOperationGetAttribute(x, i);
        MlirAttribute other = mlirOperationGetAttributeByName(y, mlirIdentifierStr(own.name));
        if (mlirAttributeIsNull(other) || !mlirAttributeEqual(own.attribute, other)) return false;
    }
    return true;
}

/* Whether `a` is `b` wherever the condition is false: they are the same, `a` is a selection of the branch that is `b` there, or both are the
 * same operation, row by row of the condition, of such operands. */
static bool is_same_elsewhere(MlirValue condition, MlirValue a, MlirValue b, int depth)
{
    enum { DEPTH = 12 };
    if (mlirValueEqual(a, b)) return true;
    MlirOperation x = cute_defining_op(a), y = cute_defining_op(b);
    if (mlirOperationIsNull(x) || depth == DEPTH) return false;
    if (cute_op_is(x, "arith.select") && mlirValueEqual(condition_of(x), condition) &&
        mlirValueEqual(mlirOperationGetOperand(x, 2), b))
        return true;
    if (mlirOperationIsNull(y) || !mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)) ||
        !mlirIdentifierEqual(mlirOperationGetName(x), mlirOperationGetName(y)) ||
        mlirOperationGetNumRegions(x) || mlirOperationGetNumOperands(x) != mlirOperationGetNumOperands(y) ||
        !has_attributes_of(x, y))
        return false;
    cute_tile_shape row, own;
    bool rows = cute_op_of(x, "arith.") || cute_op_of(x, "math.") || cute_op_is(x, "cute.tile.broadcast");
    if (cute_op_is(x, "cute.tile.reduce") && cute_tile_shape_of(mlirValueGetType(condition), &row) &&
        cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(x, 0)), &own))
        rows = row.rank == own.rank && row.extent[cute_tile_number(x, "mode", 0)] == 1;
    for (intptr_t i = 0; rows && i < mlirOperationGetNumOperands(x); i++)
        rows = is_same_elsewhere(condition, mlirOperationGetOperand(x, i), mlirOperationGetOperand(y, i),
                                 depth + 1);
    return rows;
}

/* Whether an operation of the block, or in a region of it, uses a result of the branch's selections. */
static bool uses_branch(MlirOperation op, const branch *b)
{
    for (int i = 0; i < b->count; i++)
        for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(b->selects[i], 0));
             !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
            MlirOperation user = mlirOpOperandGetOwner(use);
            while (!mlirOperationIsNull(user) &&
                   !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)))
                user = mlirBlockGetParentOperation(mlirOperationGetBlock(user));
            if (mlirOperationEqual(user, op)) return true;
        }
    return false;
}

/* Whether all warps that a reduction combines take the same branch: those that combine parts of rows have the same elements of a condition with one
 * element of a row. */
static bool is_of_warps_together(const branch *b, MlirOperation op)
{
    cute_tile_shape shape;
    return tile_parts_of_groups(op) && cute_tile_shape_of(mlirValueGetType(b->condition), &shape) &&
           shape.extent[cute_tile_number(op, "mode", 0)] == 1;
}

/* NULL, or why an operation is not moved into a branch that some warps do not take. */
static const char *why_not_moved(const branch *b, MlirOperation op)
{
    tile_distribution from, to;
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (cute_op_of(op, "arith.") || cute_op_of(op, "math.") || cute_op_is(op, "cute.tile.broadcast") ||
        cute_op_is(op, "cute.tile.iota") || (cute_op_is(op, "cute.tile.reshape") && tile_needs_no_memory(op)))
        return NULL;
    if (!cute_op_is(op, "cute.tile.reduce") ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &from) ||
        !tile_distribution_of(result, &to))
        return "";
    return tile_along_lanes(&from, (int)cute_tile_number(op, "mode", 0)) || is_of_warps_together(b, op)
               ? NULL
               : "it combines elements of several warps";
}

/* Whether only the branch uses the result of `op`: its selections, as condition or first value, and operations that move into it. */
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
    MlirOperation ops[MOST_OPS], last = b->selects[b->count - 1];
    int count = 0;
    b->moved_count = 0;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, last);
         op = mlirOperationGetNextInBlock(op))
        ops[count++ % MOST_OPS] = op;
    for (int left = count < MOST_OPS ? count : MOST_OPS; left-- > 0;) {
        MlirOperation op = ops[--count % MOST_OPS];
        bool pure = mlirOperationGetNumResults(op) == 1 && !mlirOperationGetNumRegions(op) &&
                    cute_op_is_effect_free(op) && !cute_op_is(op, "arith.constant");
        if (!pure || b->moved_count == MOST_MOVED || has_op(b->selects, b->count, op) ||
            (b->in_front && mlirValueEqual(mlirOperationGetResult(op, 0), b->condition)) ||
            !only_branch(b, op))
            continue;
        const char *why = why_not_moved(b, op);
        if (!why)
            b->moved[b->moved_count++] = op;
        else if (*why && w)
            tile_refuse(w->pass, op, "this is computed whether it is needed or not: %s", why);
    }
}

/* Selections by one condition that one branch can make: no operation between them uses their results, except those that move into it. */
static void find_branch(const work *w, MlirOperation first, bool in_front, branch *b)
{
    *b = (branch){.condition = condition_of(first), .in_front = in_front};
    for (MlirOperation op = first; !mlirOperationIsNull(op) && b->count < MOST;
         op = mlirOperationGetNextInBlock(op))
        if (is_rare(op) && mlirValueEqual(condition_of(op), b->condition)) b->selects[b->count++] = op;
    for (bool again = true; again;) {
        again = false;
        find_moved(NULL, b);
        int passed = 0;
        for (MlirOperation op = first; !mlirOperationEqual(op, b->selects[b->count - 1]) && !again;
             op = mlirOperationGetNextInBlock(op)) {
            bool own = has_op(b->selects, b->count, op);
            again = !own && !has_op(b->moved, b->moved_count, op) && uses_branch(op, b);
            if (again) b->count = passed;
            passed += own;
        }
    }
    find_moved(w, b);
}

static void append_yield(MlirBlock block, MlirLocation at, MlirValue *values, int count)
{
    cute_builder end = cute_builder_at_end(block, at);
    cute_build(&end, "scf.yield", (cute_operands){values, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* The value that takes the place of the selection's result: `values` has those of the branch's selections up to number `count`. */
static MlirValue instead(const branch *b, const MlirValue *values, int count, MlirValue value)
{
    for (int i = 0; i < count; i++)
        if (mlirValueEqual(mlirOperationGetResult(b->selects[i], 0), value)) return values[i];
    return value;
}

/* The selections and the operations that move, in order, at the end of the branch's block. */
static void fill_branch(const branch *b, MlirBlock block, MlirValue *made)
{
    bool same[MOST];
    int count = 0;
    MlirOperation next, last = b->selects[b->count - 1];
    for (int i = 0; i < b->count; i++)
        same[i] = is_same_elsewhere(b->condition, mlirOperationGetOperand(b->selects[i], 1),
                                    mlirOperationGetOperand(b->selects[i], 2), 0);
    for (MlirOperation op = mlirBlockGetFirstOperation(mlirOperationGetBlock(last)); count < b->count;
         op = next) {
        next = mlirOperationGetNextInBlock(op);
        bool selects = has_op(b->selects, b->count, op);
        if (!selects && !has_op(b->moved, b->moved_count, op)) continue;
        if (selects && same[count]) {
            made[count] = instead(b, made, count, mlirOperationGetOperand(op, 1));
            count++;
            continue;
        }
        MlirOperation own = selects ? mlirOperationClone(op) : op;
        if (!selects) mlirOperationRemoveFromParent(op);
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(own); i++)
            mlirOperationSetOperand(own, i, instead(b, made, count, mlirOperationGetOperand(own, i)));
        mlirBlockAppendOwnedOperation(block, own);
        if (!selects) continue;
        mlirOperationRemoveDiscardableAttributeByName(own, cute_text(TILE_RARE));
        made[count++] = mlirOperationGetResult(own, 0);
    }
}

/* Whether the branch decides all selections by its condition, each part of whose sum is a value of a thread: then it is taken where one of them is
 * large. */
static bool may_test_parts(const branch *b)
{
    MlirOperation sum = tile_tested_parts(b->condition), compare = cute_defining_op(b->condition);
    return !mlirOperationIsNull(sum) && has_op(b->moved, b->moved_count, sum) &&
           has_op(b->moved, b->moved_count, compare);
}

/* Where a branch is taken: where the condition is true of an element that a warp holds, or may be of one that several warps have parts of. */
static MlirValue taken(const branch *b, const cute_builder *here)
{
    MlirValue condition = b->in_front ? b->condition : tile_may_exceed(here, b->condition);
    int64_t parts = b->in_front ? 0 : tile_parts_of_groups(tile_tested_parts(b->condition));
    MlirNamedAttribute of_parts = cute_attribute(
        here->context, "parts", mlirIntegerAttrGet(mlirIntegerTypeGet(here->context, 32), parts));
    return cute_build_value(here, "cute.tile.any", mlirIntegerTypeGet(here->context, 1),
                            CUTE_OPERANDS(condition), (cute_named){&of_parts, parts ? 1 : 0});
}

static void make_branch(const branch *b)
{
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock blocks[2];
    MlirValue made[MOST], others[MOST];
    MlirType types[MOST];
    cute_builder here = cute_builder_before(b->selects[b->count - 1]);
    MlirValue any = taken(b, &here);
    for (int i = 0; i < 2; i++) {
        blocks[i] = mlirBlockCreate(0, NULL, NULL);
        mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
    }
    fill_branch(b, blocks[0], made);
    for (int i = 0; i < b->count; i++) {
        others[i] = instead(b, others, i, mlirOperationGetOperand(b->selects[i], 2));
        types[i] = mlirValueGetType(made[i]);
    }
    append_yield(blocks[0], here.location, made, b->count);
    append_yield(blocks[1], here.location, others, b->count);
    MlirOperation branches = cute_build_regions(&here, "scf.if", CUTE_OPERANDS(any),
                                                (cute_types){types, b->count}, CUTE_NO_NAMED, regions, 2);
    mlirOperationSetDiscardableAttributeByName(branches, cute_text(TILE_RARE), mlirUnitAttrGet(here.context));
    for (int i = 0; i < b->count; i++) {
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(b->selects[i], 0),
                                      mlirOperationGetResult(branches, i));
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
        w->changed = true;
        if (!mlirTypeIsARankedTensor(mlirValueGetType(condition_of(w->first)))) {
            mlirOperationRemoveDiscardableAttributeByName(w->first, cute_text(TILE_RARE));
            continue;
        }
        find_branch(NULL, w->first, false, &b);
        find_branch(w, w->first, !may_test_parts(&b), &b);
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
    .help = "Turn selections marked rare into branches that compute the selected value",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_SCF,
    .run = run_tile_rare,
};
