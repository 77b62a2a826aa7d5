/* See role_body.h. The operations of a role are marked first, from those with effects back to the definitions of their operands, and then copied. */
#include "lib/passes/tiles/role_body.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/shim.h"
#include "lib/passes/tiles/copies.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST_KEPT = 256, MOST_CARRIED = 64 };
static const char NEEDED[] = "cute.needed";

typedef struct body {
    MlirBlock entry;
    const tile_role_rule *rule;
    MlirOperation root;        /* the operation with effects, or loop, whose operands are being marked */
    MlirValue kept[MOST_KEPT]; /* arguments of loops, results of branches */
    int kept_count;
    MlirOperation stuck;
    tile_copies copies;
} body;

bool tile_is_scalar_op(MlirOperation op)
{
    return !mlirOperationGetNumRegions(op) && cute_op_is_effect_free(op) && !tile_has_tiles(op);
}

/* ---- marks ---- */

static bool is_kept(const body *b, MlirValue value)
{
    for (int i = b->kept_count; i-- > 0;)
        if (mlirValueEqual(b->kept[i], value)) return true;
    return false;
}

static bool may_have(const body *b, MlirOperation op)
{
    return tile_is_scalar_op(op) || tile_reads_element(op) || b->rule->has(op, b->rule->context) ||
           (b->rule->copies && b->rule->copies(op, b->rule->context));
}

static void mark_value(body *b, MlirValue value);

static void mark(MlirOperation op)
{
    mlirOperationSetDiscardableAttributeByName(op, cute_text(NEEDED),
                                               mlirUnitAttrGet(mlirOperationGetContext(op)));
}

/* Loops and branches around an operation, with what these need themselves. */
static void mark_around(body *b, MlirOperation op)
{
    for (MlirOperation at = tile_parent(op); !cute_op_is(at, "gpu.func"); at = tile_parent(at)) {
        if (cute_op_has(at, NEEDED)) return;
        if (!cute_op_is(at, "scf.for") && !cute_op_is(at, "scf.if")) {
            b->stuck = b->root;
            return;
        }
        mark(at);
        for (intptr_t i = 0; i < (cute_op_is(at, "scf.for") ? 3 : 1); i++)
            mark_value(b, mlirOperationGetOperand(at, i));
    }
}

static void mark_op(body *b, MlirOperation op)
{
    if (cute_op_has(op, NEEDED) || cute_op_has(op, TILE_FRONT) || !mlirOperationIsNull(b->stuck)) return;
    if (!may_have(b, op)) {
        b->stuck = b->root;
        return;
    }
    mark(op);
    mark_around(b, op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        mark_value(b, mlirOperationGetOperand(op, i));
}

static void keep(body *b, MlirValue value)
{
    if (b->kept_count == MOST_KEPT)
        b->stuck = b->root;
    else
        b->kept[b->kept_count++] = value;
}

/* A value that a loop carries, by its number. */
static void mark_carried(body *b, MlirOperation loop, intptr_t i)
{
    MlirBlock inside = tile_loop_body(loop);
    MlirValue argument = mlirBlockGetArgument(inside, 1 + i);
    MlirOperation root = b->root;
    if (is_kept(b, argument)) return;
    keep(b, argument);
    b->root = loop;
    if (!cute_op_has(loop, NEEDED)) mark_around(b, mlirBlockGetTerminator(inside));
    mark_value(b, mlirOperationGetOperand(loop, 3 + i));
    mark_value(b, mlirOperationGetOperand(mlirBlockGetTerminator(inside), i));
    b->root = root;
}

static void mark_chosen(body *b, MlirOperation branch, MlirValue result)
{
    if (is_kept(b, result)) return;
    keep(b, result);
    for (intptr_t r = 0; r < 2; r++) {
        MlirOperation yield =
            mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(branch, r)));
        if (!r) mark_around(b, yield);
        mark_value(b, mlirOperationGetOperand(yield, mlirOpResultGetResultNumber(result)));
    }
}

static void mark_value(body *b, MlirValue value)
{
    if (!mlirOperationIsNull(b->stuck)) return;
    if (mlirValueIsABlockArgument(value)) {
        MlirBlock owner = mlirBlockArgumentGetOwner(value);
        intptr_t at = mlirBlockArgumentGetArgNumber(value);
        if (mlirBlockEqual(owner, b->entry)) return;
        MlirOperation loop = mlirBlockGetParentOperation(owner);
        if (!cute_op_is(loop, "scf.for"))
            b->stuck = b->root;
        else if (at)
            mark_carried(b, loop, at - 1);
        else
            mark_around(b, mlirBlockGetTerminator(owner));
        return;
    }
    MlirOperation op = mlirOpResultGetOwner(value);
    if (cute_op_is(op, "scf.for"))
        mark_carried(b, op, mlirOpResultGetResultNumber(value));
    else if (cute_op_is(op, "scf.if"))
        mark_chosen(b, op, value);
    else
        mark_op(b, op);
}

static void mark_root(MlirOperation op, void *context)
{
    body *b = context;
    if (mlirOperationGetNumRegions(op) || cute_op_is_effect_free(op) || cute_op_is(op, "cute.tile.take") ||
        !b->rule->has(op, b->rule->context) || !mlirOperationIsNull(b->stuck))
        return;
    b->root = op;
    mark_op(b, op);
}

static void unmark(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(NEEDED));
}

/* ---- copies ---- */

static void copy_block(body *b, MlirBlock from, MlirBlock to);

static void copy_loop(body *b, MlirOperation loop, MlirBlock to)
{
    MlirBlock old = tile_loop_body(loop);
    MlirOperation yield = mlirBlockGetTerminator(old);
    MlirValue operands[MOST_CARRIED + 3], yielded[MOST_CARRIED];
    MlirType types[MOST_CARRIED + 1];
    MlirLocation places[MOST_CARRIED + 1];
    intptr_t kept[MOST_CARRIED], count = 0;
    for (intptr_t i = 0; i < 3; i++) operands[i] = tile_mapped(&b->copies, mlirOperationGetOperand(loop, i));
    types[0] = mlirValueGetType(mlirBlockGetArgument(old, 0));
    for (intptr_t i = 0; i < mlirOperationGetNumResults(loop); i++) {
        if (!is_kept(b, mlirBlockGetArgument(old, 1 + i))) continue;
        if (count == MOST_CARRIED) {
            b->stuck = loop;
            return;
        }
        operands[3 + count] = tile_mapped(&b->copies, mlirOperationGetOperand(loop, 3 + i));
        types[1 + count] = mlirValueGetType(mlirBlockGetArgument(old, 1 + i));
        kept[count++] = i;
    }
    for (intptr_t i = 0; i <= count; i++) places[i] = mlirOperationGetLocation(loop);
    MlirBlock inside = mlirBlockCreate(1 + count, types, places);
    tile_map(&b->copies, mlirBlockGetArgument(old, 0), mlirBlockGetArgument(inside, 0));
    for (intptr_t i = 0; i < count; i++)
        tile_map(&b->copies, mlirBlockGetArgument(old, 1 + kept[i]), mlirBlockGetArgument(inside, 1 + i));
    copy_block(b, old, inside);
    for (intptr_t i = 0; i < count; i++)
        yielded[i] = tile_mapped(&b->copies, mlirOperationGetOperand(yield, kept[i]));
    cute_builder end = cute_builder_at_end(inside, mlirOperationGetLocation(yield)),
                 at = cute_builder_at_end(to, mlirOperationGetLocation(loop));
    cute_build(&end, "scf.yield", (cute_operands){yielded, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, inside);
    MlirOperation made = cute_build_regions(&at, "scf.for", (cute_operands){operands, 3 + count},
                                            (cute_types){types + 1, count}, CUTE_NO_NAMED, &region, 1);
    for (intptr_t i = 0; i < count; i++)
        tile_map(&b->copies, mlirOperationGetResult(loop, kept[i]), mlirOperationGetResult(made, i));
}

static void copy_branch(body *b, MlirOperation branch, MlirBlock to)
{
    MlirRegion regions[2];
    MlirType types[MOST_CARRIED];
    intptr_t kept[MOST_CARRIED], count = 0;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(branch); i++) {
        if (!is_kept(b, mlirOperationGetResult(branch, i))) continue;
        if (count == MOST_CARRIED) {
            b->stuck = branch;
            return;
        }
        types[count] = mlirValueGetType(mlirOperationGetResult(branch, i));
        kept[count++] = i;
    }
    for (intptr_t r = 0; r < 2; r++) {
        MlirBlock old = mlirRegionGetFirstBlock(mlirOperationGetRegion(branch, r));
        regions[r] = mlirRegionCreate();
        if (mlirBlockIsNull(old)) continue; /* no else */
        MlirBlock inside = mlirBlockCreate(0, NULL, NULL);
        MlirOperation yield = mlirBlockGetTerminator(old);
        MlirValue yielded[MOST_CARRIED];
        mlirRegionAppendOwnedBlock(regions[r], inside);
        copy_block(b, old, inside);
        for (intptr_t i = 0; i < count; i++)
            yielded[i] = tile_mapped(&b->copies, mlirOperationGetOperand(yield, kept[i]));
        cute_builder end = cute_builder_at_end(inside, mlirOperationGetLocation(yield));
        cute_build(&end, "scf.yield", (cute_operands){yielded, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    cute_builder at = cute_builder_at_end(to, mlirOperationGetLocation(branch));
    MlirOperation made = cute_build_regions(
        &at, "scf.if", CUTE_OPERANDS(tile_mapped(&b->copies, mlirOperationGetOperand(branch, 0))),
        (cute_types){types, count}, CUTE_NO_NAMED, regions, 2);
    if (cute_op_has(branch, TILE_RARE))
        mlirOperationSetDiscardableAttributeByName(made, cute_text(TILE_RARE), mlirUnitAttrGet(at.context));
    for (intptr_t i = 0; i < count; i++)
        tile_map(&b->copies, mlirOperationGetResult(branch, kept[i]), mlirOperationGetResult(made, i));
}

static void copy_block(body *b, MlirBlock from, MlirBlock to)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(from);
         !mlirOperationIsNull(op) && mlirOperationIsNull(b->stuck); op = mlirOperationGetNextInBlock(op)) {
        if (!cute_op_has(op, NEEDED)) continue;
        if (b->copies.count + MOST_CARRIED > TILE_COPIES_MOST) {
            b->stuck = op;
            return;
        }
        b->copies.into = to;
        if (cute_op_is(op, "scf.for"))
            copy_loop(b, op, to);
        else if (cute_op_is(op, "scf.if"))
            copy_branch(b, op, to);
        else
            unmark(tile_copy(&b->copies, op), NULL);
    }
}

MlirBlock tile_role_body(MlirBlock entry, const tile_role_rule *rule, MlirOperation *stuck)
{
    MlirOperation function = mlirBlockGetParentOperation(entry);
    MlirBlock out = {NULL};
    body b = {.entry = entry, .rule = rule, .root = {NULL}, .stuck = {NULL}, .copies = {.count = 0}};
    cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, mark_root, &b);
    if (mlirOperationIsNull(b.stuck)) {
        out = mlirBlockCreate(0, NULL, NULL);
        copy_block(&b, entry, out);
    }
    cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, unmark, NULL);
    *stuck = b.stuck;
    if (mlirOperationIsNull(b.stuck) || mlirBlockIsNull(out)) return out;
    mlirBlockDestroy(out);
    return (MlirBlock){NULL};
}
