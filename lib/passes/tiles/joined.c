/* See joined.h: which stores and reductions are joined.
 *
 *     cute.tile.store %d, %D[%i, %j]                   cute.tile.store %d, %D[%i, %j] {cute.joined = 0}
 *     %s = cute.tile.reduce<add, 0> %g           ->    %s = cute.tile.reduce<add, 0> %g {cute.joined = 0}
 *     cute.tile.store %s, %S[%i, %j]                   cute.tile.store %s, %S[%i, %j]
 *
 * None of a set needs the result of another one: a reduction whose result the operand of a store needs is in an earlier set, or in none. */
#include "lib/passes/tiles/joined.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/schedule.h"

enum { BETWEEN = 512 }; /* operations from the first of a set to another one */

/* ---- sets ---- */

static int64_t set_of(MlirOperation op)
{
    return cute_tile_number(op, TILE_JOINED, -1);
}

void tile_joined_with(MlirOperation op, tile_joined *out)
{
    int64_t set = set_of(op);
    *out = (tile_joined){.ops = {op}, .count = 1};
    if (set < 0) return;
    out->count = 0;
    for (MlirOperation at = mlirBlockGetFirstOperation(mlirOperationGetBlock(op));
         !mlirOperationIsNull(at) && out->count < TILE_JOINED_OPS; at = mlirOperationGetNextInBlock(at))
        if (set_of(at) == set) out->ops[out->count++] = at;
}

MlirOperation tile_joined_store(MlirOperation op)
{
    tile_joined set;
    tile_joined_with(op, &set);
    for (int i = 0; i < set.count; i++)
        if (cute_op_is(set.ops[i], "cute.tile.store")) return set.ops[i];
    return (MlirOperation){NULL};
}

/* ---- operations that move ---- */

/* Whether an operation computes a value from its operands alone, in each thread or between lanes. */
static bool is_pure(MlirOperation op)
{
    static const char *const names[] = {"cute.tile.broadcast", "cute.tile.reshape", "cute.tile.permute",
                                        "cute.tile.pick",      "cute.tile.stack",   "cute.tile.iota",
                                        "cute.tile.convert",   "cute.tile.count",   "cute.make_coord"};
    if (mlirOperationGetNumRegions(op)) return false;
    if (cute_op_of(op, "arith.") || cute_op_of(op, "math.")) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cute_op_is(op, names[i])) return true;
    return false;
}

/* Whether `op` may be computed in front of stores that are before it. */
static bool may_move(MlirOperation op)
{
    return is_pure(op) ||
           (cute_op_is(op, "cute.tile.load") && !tile_is_written(mlirOperationGetOperand(op, 0), op));
}

/* Whether stores behind `op` may be done in front of it. */
static bool may_be_passed(MlirOperation op)
{
    return may_move(op) || cute_op_is(op, "cute.tile.store") || cute_op_is(op, "cute.tile.reduce");
}

typedef struct candidates {
    tile_joined ops;
    tile_distribution d;
    int stores;
    MlirOperation between[BETWEEN]; /* operations behind the first one */
    int between_count;
} candidates;

/* Moves what computes the operands of `op` in front of the first of the set. False: one of these
 * is of the set or stays where it is, and none moves. */
static bool bring_operands(candidates *s, MlirOperation op)
{
    bool needed[BETWEEN] = {false};
    MlirOperation user = op;
    for (int i = s->between_count; i >= 0; i--) {
        if (i < s->between_count) {
            if (!needed[i]) continue;
            user = s->between[i];
            if (!may_move(user)) return false;
        }
        for (intptr_t k = 0; k < mlirOperationGetNumOperands(user); k++) {
            MlirOperation from = cute_defining_op(mlirOperationGetOperand(user, k));
            if (!mlirOperationIsNull(from) && mlirOperationEqual(from, s->ops.ops[0])) return false;
            for (int j = 0; j < i && !mlirOperationIsNull(from); j++)
                needed[j] |= mlirOperationEqual(s->between[j], from);
        }
    }
    int kept = 0;
    for (int i = 0; i < s->between_count; i++) {
        if (needed[i])
            mlirOperationMoveBefore(s->between[i], s->ops.ops[0]);
        else
            s->between[kept++] = s->between[i];
    }
    s->between_count = kept;
    return true;
}

/* Whether the set, or an operation behind its first one, stores to the tensor. */
static bool stores_to(const candidates *s, MlirValue tensor)
{
    MlirValue root = tile_tensor_root(tensor);
    for (int i = -1; i < s->between_count; i++) {
        MlirOperation op = i < 0 ? s->ops.ops[0] : s->between[i];
        if (cute_op_is(op, "cute.tile.store") &&
            mlirValueEqual(tile_tensor_root(mlirOperationGetOperand(op, 1)), root))
            return true;
    }
    return false;
}

/* Whether a store, which TMA does, or a reduction may be in a set; *d is how its operand is distributed. */
static bool fits(MlirOperation op, tile_distribution *d)
{
    bool store = cute_op_is(op, "cute.tile.store"), reduce = cute_op_is(op, "cute.tile.reduce");
    if ((!store && !reduce) || !tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), d) ||
        !tile_is_banded(d))
        return false;
    if (reduce) return tile_parts_of_groups(op) == 0;
    if (cute_op_has(op, "kind")) return false; /* it adds to the tensor */
    MlirValue tensor = mlirOperationGetOperand(op, 1);
    return mlirOperationGetNumOperands(op) == 3 &&
           tile_fits_stored_bands(cute_type_peek(mlirValueGetType(tensor)), tensor, d);
}

static void end_set(candidates *s, int64_t *number)
{
    if (s->ops.count > 1 && s->stores) {
        MlirContext context = mlirOperationGetContext(s->ops.ops[0]);
        for (int i = 0; i < s->ops.count; i++)
            mlirOperationSetDiscardableAttributeByName(
                s->ops.ops[i], cute_text(TILE_JOINED),
                mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), *number));
        ++*number;
    }
    s->ops.count = s->stores = s->between_count = 0;
}

static bool add_to_set(candidates *s, MlirOperation op, const tile_distribution *d)
{
    bool store = cute_op_is(op, "cute.tile.store");
    if (s->ops.count == TILE_JOINED_OPS || s->between_count == BETWEEN) return false;
    if (!s->ops.count)
        s->d = *d;
    else if (!tile_distribution_equal(d, &s->d) || (store && stores_to(s, mlirOperationGetOperand(op, 1))) ||
             !bring_operands(s, op))
        return false;
    s->ops.ops[s->ops.count++] = op;
    s->stores += store;
    return true;
}

static void join_block(MlirBlock block, int64_t *number)
{
    candidates s = {.stores = 0};
    for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op); op = next) {
        tile_distribution d;
        next = mlirOperationGetNextInBlock(op);
        bool candidate = fits(op, &d);
        if (candidate && !add_to_set(&s, op, &d)) {
            end_set(&s, number);
            add_to_set(&s, op, &d);
        }
        if (!s.ops.count || mlirOperationEqual(op, s.ops.ops[0])) continue;
        if (may_be_passed(op) && s.between_count < BETWEEN)
            s.between[s.between_count++] = op;
        else
            end_set(&s, number);
    }
    end_set(&s, number);
}

typedef struct blocks {
    MlirBlock last;
    int64_t number;
} blocks;

static void visit_store(MlirOperation op, void *context)
{
    blocks *b = context;
    MlirBlock block = mlirOperationGetBlock(op);
    if (cute_op_has(op, TILE_JOINED) || mlirBlockEqual(block, b->last)) return;
    b->last = block;
    join_block(block, &b->number);
}

void tile_join(MlirOperation function)
{
    blocks b = {{NULL}, 0};
    cute_op_walk(function, "cute.tile.store", CUTE_WALK_OUTER_FIRST, visit_store, &b);
}

/* ---- bands ---- */

static void settle_set(MlirOperation op, void *context)
{
    const int64_t *room = context;
    tile_joined set;
    tile_joined_with(op, &set);
    if (set_of(op) < 0 || !mlirOperationEqual(op, tile_joined_store(op))) return;
    int64_t columns = 0, row_bits = 0;
    tile_distribution d;
    tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &d);
    for (int i = 0; i < set.count; i++) {
        int64_t own = cute_tile_number(set.ops[i], "width", 0);
        if (!cute_op_is(set.ops[i], "cute.tile.store")) continue;
        if (!columns || own < columns) columns = own;
        row_bits += cute_type_peek(mlirValueGetType(mlirOperationGetOperand(set.ops[i], 1)))->pointer->bits;
    }
    int64_t rows = cute_tile_size(&d.shape) / d.shape.extent[d.shape.rank - 1];
    while (columns > TILE_BAND_PIECE && rows * columns * row_bits / 8 > *room) columns /= 2;
    for (int i = 0; i < set.count; i++)
        if (cute_op_is(set.ops[i], "cute.tile.store"))
            mlirOperationSetAttributeByName(
                set.ops[i], cute_text("width"),
                mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 32), columns));
}

void tile_settle_joined(MlirOperation function, int64_t bytes)
{
    cute_op_walk(function, "cute.tile.store", CUTE_WALK_OUTER_FIRST, settle_set, &bytes);
}
