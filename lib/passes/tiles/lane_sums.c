/* cute-tile-lane-sums: a sum that a loop carries, to which each iteration adds the sums of rows, is carried as the parts of lanes.
 *
 * Requires: cute-tile-layouts. A carried tile from 0, that the loop only scales, selects and adds to, and sums of reductions whose rows several
 * lanes have elements of. Ensures: each lane carries the sum of its own elements, and one reduction behind the loop adds the lanes'. A reduction that
 * the loop also compares with a number, for a selection marked `cute.rare`, adds the lanes' parts for the comparison only: cute-tile-rare moves both
 * into the branch. A reduction that the loop uses otherwise stays as it is.
 *
 *     %y = scf.for ... iter_args(%l = 0 : tensor<64x1xf32>) { %s = reduce<add, 1>(%p : tensor<64x64xf32>) ; scf.yield (%l * %f) + %s }
 * ->
 *     %z = scf.for ... iter_args(%l = 0 : tensor<64x4xf32>) { %s = PARTS(%p) : tensor<64x4xf32> ; scf.yield (%l * broadcast %f) + %s }
 *     %y = reduce<add, 1>(%z)
 *
 * PARTS: a reshape to a dimension for each mode of the columns, reductions of those that are values of a thread, and a reshape to lanes.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/copies.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16, MOST_LOOPS = 64 };

/* ---- parts ---- */

/* The columns of a tile as dimensions: one for each mode of its distribution, the slowest first. */
typedef struct columns {
    int count, axis;
    int64_t lanes; /* the product of the dimensions that threads divide */
    struct column {
        int64_t extent, step;
        bool thread;
    } at[CUTE_TILE_RANK];
} columns;

static bool add_columns(columns *c, const tile_modes *modes, bool thread)
{
    for (int i = 0; i < modes->count; i++) {
        const tile_mode *m = &modes->at[i];
        if (m->dim != c->axis || m->extent == 1) continue;
        int at = c->count++;
        if (at == CUTE_TILE_RANK) return false;
        for (; at > 0 && c->at[at - 1].step < m->step; at--) c->at[at] = c->at[at - 1];
        c->at[at].extent = m->extent;
        c->at[at].step = m->step;
        c->at[at].thread = thread;
        if (thread) c->lanes *= m->extent;
    }
    return true;
}

static bool find_columns(const tile_distribution *d, int axis, columns *out)
{
    int64_t below = 1;
    *out = (columns){.axis = axis, .lanes = 1};
    if (!add_columns(out, &d->threads, true) || !add_columns(out, &d->values, false)) return false;
    for (int i = out->count - 1; i >= 0; below *= out->at[i--].extent)
        if (out->at[i].step != below) return false;
    return below == d->shape.extent[axis] && d->shape.rank - 1 + out->count <= CUTE_TILE_RANK;
}

/* Builds operations on tiles, whose types are in the arena. */
typedef struct maker {
    cute_builder b;
    cute_arena *arena;
} maker;

static MlirType type_of(const maker *m, const tile_distribution *d, MlirType element)
{
    return cute_tile_type(&d->shape, element, tile_encoding(m->b.context, m->arena, d));
}

/* A cute.tile.reshape or cute.tile.broadcast. */
static MlirValue build_shaped(const maker *m, const char *name, MlirValue value, const tile_distribution *d)
{
    int32_t extents[CUTE_TILE_RANK];
    for (int i = 0; i < d->shape.rank; i++) extents[i] = (int32_t)d->shape.extent[i];
    return cute_build_value(
        &m->b, name, type_of(m, d, cute_tile_element(mlirValueGetType(value))), CUTE_OPERANDS(value),
        CUTE_NAMED(cute_attribute(m->b.context, "extents",
                                  mlirDenseI32ArrayGet(m->b.context, d->shape.rank, extents))));
}

static MlirValue build_sum(const maker *m, MlirValue value, int axis, MlirType type)
{
    MlirAttribute mode = mlirIntegerAttrGet(mlirIntegerTypeGet(m->b.context, 32), axis);
    return cute_build_value(
        &m->b, "cute.tile.reduce", type, CUTE_OPERANDS(value),
        CUTE_NAMED(cute_attribute(m->b.context, "kind", cute_string_attribute(m->b.context, "add")),
                   cute_attribute(m->b.context, "mode", mode)));
}

/* The distribution of the lanes' parts of a reduction's rows. False where one thread has each row, or modes do not fit. */
static bool parts_of(MlirOperation reduce, tile_distribution *out)
{
    tile_distribution d, parts, whole;
    cute_tile_shape shape;
    columns c;
    int axis = (int)cute_tile_number(reduce, "mode", 0);
    if (mlirOperationGetNumOperands(reduce) != 1 || !cute_text_is(cute_tile_word(reduce, "kind"), "add") ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(reduce, 0)), &d) ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetResult(reduce, 0)), &whole) ||
        !find_columns(&d, axis, &c) || c.lanes == 1)
        return false;
    shape = d.shape;
    shape.extent[axis] = c.lanes;
    *out = (tile_distribution){.shape = shape};
    const tile_modes *from[] = {&d.threads, &d.values};
    tile_modes *to[] = {&out->threads, &out->values};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < from[side]->count; i++) {
            tile_mode m = from[side]->at[i];
            if (m.dim == axis && side) continue;
            int64_t step = 1;
            for (int k = 0; m.dim == axis && k < c.count; k++)
                if (c.at[k].thread && c.at[k].step < m.step) step *= c.at[k].extent;
            if (!tile_modes_add(to[side], m.extent, m.dim, m.dim == axis ? step : m.step)) return false;
        }
    tile_normalize(out);
    /* Their sums are distributed as the reduction's were. */
    shape.extent[axis] = 1;
    if (!tile_projected(out, &shape, &parts)) return false;
    tile_normalize(&parts);
    tile_normalize(&whole);
    return tile_distribution_equal(&parts, &whole);
}

/* The lanes' parts of a reduction; null: a reshape does not fit. */
static MlirValue build_parts(const maker *m, MlirOperation reduce, const tile_distribution *parts)
{
    tile_distribution d, now;
    columns c;
    int axis = (int)cute_tile_number(reduce, "mode", 0);
    MlirValue value = mlirOperationGetOperand(reduce, 0), none = {NULL};
    if (!tile_distribution_of(mlirValueGetType(value), &d) || !find_columns(&d, axis, &c)) return none;
    if (c.lanes == d.shape.extent[axis]) return value;
    cute_tile_shape shape = {.rank = 0};
    for (int i = 0; i < d.shape.rank; i++)
        for (int k = 0; k < (i == axis ? c.count : 1); k++)
            shape.extent[shape.rank++] = i == axis ? c.at[k].extent : d.shape.extent[i];
    if (!tile_reshaped(&d, &shape, &now)) return none;
    value = build_shaped(m, "cute.tile.reshape", value, &now);
    for (int k = c.count - 1; k >= 0; k--) {
        tile_distribution next;
        if (c.at[k].thread) continue;
        shape.extent[axis + k] = 1;
        if (!tile_projected(&now, &shape, &next)) return none;
        tile_normalize(&next);
        MlirType element = cute_tile_element(mlirValueGetType(value));
        value = build_sum(m, value, axis + k, type_of(m, &next, element));
        now = next;
    }
    return build_shaped(m, "cute.tile.reshape", value, parts);
}

/* ---- conditions ---- */

enum { OGT = 2, OGE = 3 }; /* arith.cmpf */

static bool limit_of(MlirOperation compare, double *limit)
{
    MlirValue value = mlirOperationGetOperand(compare, 1);
    MlirOperation from = cute_defining_op(value);
    if (!mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.broadcast"))
        value = mlirOperationGetOperand(from, 0);
    MlirOperation constant = cute_defining_op(value);
    if (mlirOperationIsNull(constant) || !cute_op_is(constant, "arith.constant")) return false;
    MlirAttribute number = mlirOperationGetAttributeByName(constant, cute_text("value"));
    if (!mlirAttributeIsAFloat(number)) number = cute_constant_splat(value);
    if (mlirAttributeIsNull(number) || !mlirAttributeIsAFloat(number)) return false;
    *limit = mlirFloatAttrGetValueDouble(number);
    return *limit > 0;
}

/* Whether the condition decides selections marked rare, and nothing else. */
static bool is_only_rare(MlirValue condition)
{
    bool any = false;
    for (MlirOpOperand use = mlirValueGetFirstUse(condition); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        bool broadcast = cute_op_is(user, "cute.tile.broadcast") || cute_op_is(user, "cute.tile.convert"),
             select = cute_op_is(user, "arith.select") && cute_op_has(user, TILE_RARE) &&
                      mlirOpOperandGetOperandNumber(use) == 0;
        if (!select && !(broadcast && is_only_rare(mlirOperationGetResult(user, 0)))) return false;
        any = true;
    }
    return any;
}

MlirOperation tile_tested_sum(MlirValue condition)
{
    MlirOperation none = {NULL}, compare = cute_defining_op(condition);
    double limit;
    tile_distribution d;
    if (mlirOperationIsNull(compare) || !cute_op_is(compare, "arith.cmpf") || !limit_of(compare, &limit))
        return none;
    int64_t predicate = cute_tile_number(compare, "predicate", 0);
    MlirOperation sum = cute_defining_op(mlirOperationGetOperand(compare, 0));
    if ((predicate != OGT && predicate != OGE) || mlirOperationIsNull(sum) ||
        !cute_op_is(sum, "cute.tile.reduce") || !cute_text_is(cute_tile_word(sum, "kind"), "add") ||
        mlirOperationGetNumOperands(sum) != 1 || !is_only_rare(condition) ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(sum, 0)), &d))
        return none;
    bool votes = tile_along_lanes(&d, (int)cute_tile_number(sum, "mode", 0)) || tile_parts_of_groups(sum);
    return votes ? sum : none;
}

MlirOperation tile_tested_parts(MlirValue condition)
{
    MlirOperation none = {NULL}, sum = tile_tested_sum(condition);
    tile_distribution d;
    if (mlirOperationIsNull(sum) || mlirOperationIsNull(cute_only_user(mlirOperationGetResult(sum, 0))) ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(sum, 0)), &d))
        return none;
    for (int i = 0; i < d.values.count; i++)
        if (d.values.at[i].dim == cute_tile_number(sum, "mode", 0) && d.values.at[i].extent > 1) return none;
    return sum;
}

MlirValue tile_may_exceed(const cute_builder *b, MlirValue condition)
{
    MlirOperation sum = tile_tested_parts(condition), compare = cute_defining_op(condition);
    MlirValue parts = mlirOperationGetOperand(sum, 0), none = {NULL};
    int axis = (int)cute_tile_number(sum, "mode", 0);
    tile_distribution d;
    double limit;
    cute_arena *arena = cute_arena_create();
    if (!arena || !tile_distribution_of(mlirValueGetType(parts), &d) || !limit_of(compare, &limit))
        return cute_arena_destroy(arena), none;
    maker m = {*b, arena};
    MlirType element = cute_tile_element(mlirValueGetType(parts));
    /* A sum of n terms exceeds a number if one exceeds its nth part; half of that, since sums are rounded. */
    MlirAttribute least =
        mlirFloatAttrDoubleGet(b->context, element, limit / (2.0 * (double)d.shape.extent[axis]));
    MlirValue constant = cute_build_value(b, "arith.constant", element, CUTE_NO_OPERANDS,
                                          CUTE_NAMED(cute_attribute(b->context, "value", least))),
              number = build_shaped(&m, "cute.tile.broadcast", constant, &d);
    MlirAttribute greater = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), OGT);
    MlirValue out = cute_build_value(b, "arith.cmpf", type_of(&m, &d, mlirIntegerTypeGet(b->context, 1)),
                                     CUTE_OPERANDS(parts, number),
                                     CUTE_NAMED(cute_attribute(b->context, "predicate", greater)));
    cute_arena_destroy(arena);
    return out;
}

/* ---- sums that a loop carries ---- */

/* The operations from a loop's argument and from reductions to the next value. */
typedef struct carried {
    MlirOperation loop;
    MlirBlock body;
    intptr_t index;
    MlirValue argument;
    MlirOperation reduces[MOST], chain[MOST];
    unsigned summed[MOST]; /* of the chain: a bit for each operand that is a sum */
    int reduce_count, chain_count;
} carried;

static bool is_sum(carried *s, MlirValue value);

static int find_op(const MlirOperation *ops, int count, MlirOperation op)
{
    for (int i = 0; i < count; i++)
        if (mlirOperationEqual(ops[i], op)) return i;
    return -1;
}

/* Whether the operands in `mask` are sums: then the operation is one of the chain. */
static bool is_sum_of(carried *s, MlirOperation op, unsigned mask)
{
    carried before = *s;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if ((mask >> i & 1) && !is_sum(s, mlirOperationGetOperand(op, i))) return *s = before, false;
    if (s->chain_count == MOST) return *s = before, false;
    s->summed[s->chain_count] = mask;
    s->chain[s->chain_count++] = op;
    return true;
}

/* Whether `value` is linear in the argument and in sums of rows, so that it is the sum of the same of the lanes' parts. */
static bool is_sum(carried *s, MlirValue value)
{
    static const struct {
        const char *name;
        unsigned masks[2]; /* operands that are sums, one way or another */
    } linear[] = {
        {"arith.addf", {3, 0}}, {"arith.subf", {3, 0}}, {"arith.addi", {3, 0}},
        {"arith.mulf", {1, 2}}, {"math.fma", {5, 6}},   {"arith.select", {6, 0}},
    };
    if (mlirValueEqual(value, s->argument)) return true;
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), s->body) ||
        !mlirTypeEqual(mlirValueGetType(value), mlirValueGetType(s->argument)))
        return false;
    if (find_op(s->chain, s->chain_count, op) >= 0 || find_op(s->reduces, s->reduce_count, op) >= 0)
        return true;
    if (cute_op_is(op, "cute.tile.reduce")) {
        tile_distribution parts;
        if (s->reduce_count == MOST || !parts_of(op, &parts)) return false;
        s->reduces[s->reduce_count++] = op;
        return true;
    }
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++)
        if (cute_op_is(op, linear[i].name))
            return is_sum_of(s, op, linear[i].masks[0]) ||
                   (linear[i].masks[1] && is_sum_of(s, op, linear[i].masks[1]));
    return false;
}

/* Whether a use is the loop's next value, or an operand that is a sum of the chain. */
static bool is_own_use(const carried *s, MlirOpOperand use)
{
    MlirOperation user = mlirOpOperandGetOwner(use);
    unsigned operand = mlirOpOperandGetOperandNumber(use);
    if (mlirOperationEqual(user, mlirBlockGetTerminator(s->body))) return operand == s->index;
    int at = find_op(s->chain, s->chain_count, user);
    return at >= 0 && (s->summed[at] >> operand & 1);
}

static bool has_only_own_uses(const carried *s, MlirValue value)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (!is_own_use(s, use)) return false;
    return true;
}

/* Whether a reduction's other uses are conditions of rare selections. */
static bool is_else_tested(const carried *s, MlirOperation reduce)
{
    MlirValue sum = mlirOperationGetResult(reduce, 0);
    for (MlirOpOperand use = mlirValueGetFirstUse(sum); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (is_own_use(s, use)) continue;
        if (!cute_op_is(user, "arith.cmpf") ||
            !mlirOperationEqual(tile_tested_sum(mlirOperationGetResult(user, 0)), reduce))
            return false;
    }
    return true;
}

static bool find_sum(MlirOperation loop, intptr_t index, carried *s, tile_distribution *parts)
{
    *s = (carried){.loop = loop, .index = index, .body = tile_loop_body(loop)};
    s->argument = mlirBlockGetArgument(s->body, 1 + index);
    tile_distribution own;
    MlirValue next = mlirOperationGetOperand(mlirBlockGetTerminator(s->body), index);
    if (!tile_distribution_of(mlirValueGetType(s->argument), &own) || mlirValueEqual(next, s->argument) ||
        !tile_is_zero(mlirOperationGetOperand(loop, 3 + index)) || !is_sum(s, next) || !s->reduce_count ||
        find_op(s->reduces, s->reduce_count, cute_defining_op(next)) >= 0 ||
        !has_only_own_uses(s, s->argument))
        return false;
    for (int i = 0; i < s->chain_count; i++)
        if (!has_only_own_uses(s, mlirOperationGetResult(s->chain[i], 0))) return false;
    for (int i = 0; i < s->reduce_count; i++) {
        if (!parts_of(s->reduces[i], &own) || !is_else_tested(s, s->reduces[i])) return false;
        if (i && !tile_distribution_equal(&own, parts)) return false;
        *parts = own;
    }
    return true;
}

/* Sums of the chain become the lanes' parts. False where a reshape does not fit: nothing has changed that is used. */
static bool carry_parts(carried *s, const tile_distribution *parts, cute_arena *arena)
{
    MlirValue made[MOST];
    MlirType old = mlirValueGetType(s->argument);
    int axis = (int)cute_tile_number(s->reduces[0], "mode", 0);
    for (int i = 0; i < s->reduce_count; i++) {
        maker m = {cute_builder_before(s->reduces[i]), arena};
        made[i] = build_parts(&m, s->reduces[i], parts);
        if (mlirValueIsNull(made[i])) return false;
    }
    maker m = {cute_builder_before(s->loop), arena};
    MlirType type = type_of(&m, parts, cute_tile_element(old));
    for (int i = 0; i < s->chain_count; i++) {
        MlirOperation op = s->chain[i];
        m.b = cute_builder_before(op);
        for (intptr_t o = 0; o < mlirOperationGetNumOperands(op); o++) {
            MlirValue operand = mlirOperationGetOperand(op, o);
            int from = find_op(s->reduces, s->reduce_count, cute_defining_op(operand));
            if (!(s->summed[i] >> o & 1)) {
                if (tile_is_tile(operand))
                    mlirOperationSetOperand(op, o, build_shaped(&m, "cute.tile.broadcast", operand, parts));
            } else if (from >= 0) {
                mlirOperationSetOperand(op, o, made[from]);
            }
        }
        mlirValueSetType(mlirOperationGetResult(op, 0), type);
    }
    for (int i = 0; i < s->reduce_count; i++) {
        MlirOperation reduce = s->reduces[i];
        if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(reduce, 0))))
            mlirOperationDestroy(reduce);
        else
            mlirOperationSetOperand(reduce, 0, made[i]);
    }
    m.b = cute_builder_before(s->loop);
    mlirOperationSetOperand(s->loop, 3 + s->index, tile_zero_of(&m.b, type));
    mlirValueSetType(s->argument, type);
    MlirValue result = mlirOperationGetResult(s->loop, s->index);
    mlirValueSetType(result, type);
    m.b = cute_builder_before(mlirOperationGetNextInBlock(s->loop));
    MlirValue sum = build_sum(&m, result, axis, old);
    mlirValueReplaceAllUsesOfWith(result, sum);
    mlirOperationSetOperand(cute_defining_op(sum), 0, result);
    return true;
}

/* ---- the pass ---- */

typedef struct work {
    MlirOperation loops[MOST_LOOPS];
    int count;
} work;

static void note_loop(MlirOperation op, void *context)
{
    work *w = context;
    if (w->count < MOST_LOOPS) w->loops[w->count++] = op;
}

static void visit_function(MlirOperation function, void *context)
{
    if (!tile_is_naive(function) && tile_is_program(function))
        cute_op_walk(function, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, context);
}

static void run_tile_lane_sums(MlirOperation root, cute_pass_run *pass)
{
    work w = {.count = 0};
    bool changed = false;
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_emit_error(mlirOperationGetLocation(root), "out of memory");
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &w);
    for (int i = 0; i < w.count; i++)
        for (intptr_t k = 0; k < mlirOperationGetNumResults(w.loops[i]); k++) {
            carried s;
            tile_distribution parts;
            if (find_sum(w.loops[i], k, &s, &parts)) changed |= carry_parts(&s, &parts, arena);
        }
    cute_arena_destroy(arena);
    if (!changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_lane_sums = {
    .name = "cute-tile-lane-sums",
    .help = "Carry sums of rows as the parts of lanes, which are added behind the loop",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH,
    .run = run_tile_lane_sums,
};
