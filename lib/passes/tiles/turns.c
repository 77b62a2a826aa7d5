/* cute-tile-turns: warpgroups that compute alternate tiles, so that one multiplies while the other stores.
 *
 * Requires: cute-warp-specialization; a kernel of resident blocks whose schedule has turns=1, with one loop of products directly in the
 * loop over tiles. Ensures: the consumers are two groups, each with registers and shared memory of its own. Group w computes the tiles
 * w, w + 2, ... of its block; the producer fetches for both, in the order of the tiles. A group starts behind the stages of the tiles
 * before its first one, and skips those of the other group. Between cute.tile.begin_turn and cute.tile.end_turn it alone multiplies.
 *
 * Where the number of stages of a tile is not the same for all, or a value passes from tile to tile, one group computes all tiles, with a
 * remark.
 *
 *     cute.tile.role "consumers" attributes {warps = 4} {
 *       scf.for %t = %first to %count step %step iter_args(%i = %c0, %p = %c0) {
 *         %r:3 = scf.for %k = %c0 to %n ... iter_args(%acc, %i, %p) { PRODUCTS } ; EPILOGUE ; scf.yield %r#1, %r#2
 *       }
 *     }
 * ->
 *     cute.tile.role "consumers" attributes {turns = 2, warps = 4} {
 *       %w = cute.tile.turn() ; %start = %first + %w * %step ; %i0, %p0 = pipeline_index_of(%w * %n)
 *       cute.tile.end_turn(%w == 1 && %first < %count)
 *       scf.for %t = %start to %count step 2 * %step iter_args(%i = %i0, %p = %p0) {
 *         cute.tile.begin_turn() ; %r:3 = scf.for ... { PRODUCTS } ; cute.tile.end_turn(%t + %step < %count) ; EPILOGUE
 *         scf.yield pipeline_advance(%r#1, %r#2, %n)
 *       }
 *     }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/model/model.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { GROUPS = 2, WARPGROUP = 4, THREADS = 128 };

typedef struct work {
    cute_pass_run *pass;
    bool changed;
} work;

/* The consumers of a kernel. */
typedef struct consumers {
    MlirOperation role, tiles, products; /* the loops over tiles and of products */
    MlirOperation await;
    int awaits, roles;
    int64_t stages;
} consumers;

/* ---- the roles and loops of a kernel ---- */

static void note_role(MlirOperation op, void *context)
{
    consumers *c = context;
    c->roles++;
    if (cute_text_is(cute_tile_word(op, "label"), "consumers")) c->role = op;
}

static void note_await(MlirOperation op, void *context)
{
    consumers *c = context;
    c->awaits++;
    c->await = op;
}

/* Outside of the loop over tiles each group executes what all warps did: it may not write. */
static bool only_reads_beside(const consumers *c)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(tile_loop_body(c->role)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (!mlirOperationEqual(op, c->tiles) && !cute_op_is_effect_free(op) &&
            !cute_op_is(op, "cute.tile.load"))
            return false;
    return true;
}

/* The result of the loop of products, and the index of the loop over tiles, that carry operand `i` of the wait; -1: something else. */
static intptr_t carried_by(const consumers *c, intptr_t i, intptr_t *outer)
{
    MlirValue state = mlirOperationGetOperand(c->await, i);
    if (!mlirValueIsABlockArgument(state) ||
        !mlirBlockEqual(mlirBlockArgumentGetOwner(state), tile_loop_body(c->products)))
        return -1;
    intptr_t own = mlirBlockArgumentGetArgNumber(state) - 1;
    MlirValue initial = own < 0 ? state : mlirOperationGetOperand(c->products, 3 + own);
    if (own < 0 || !mlirValueIsABlockArgument(initial) ||
        !mlirBlockEqual(mlirBlockArgumentGetOwner(initial), tile_loop_body(c->tiles)))
        return -1;
    *outer = mlirBlockArgumentGetArgNumber(initial) - 1;
    MlirOperation yield = mlirBlockGetTerminator(tile_loop_body(c->tiles));
    bool returned = *outer >= 0 && mlirValueEqual(mlirOperationGetOperand(yield, *outer),
                                                  mlirOperationGetResult(c->products, own));
    return returned ? own : -1;
}

static void note_stages(MlirOperation op, void *context)
{
    *(int64_t *)context = cute_tile_number(op, "stages", 0);
}

/* NULL, or why the groups do not take turns. */
static const char *find_consumers(MlirOperation function, consumers *c)
{
    *c = (consumers){.role = {NULL}};
    cute_op_walk(function, "cute.tile.role", CUTE_WALK_OUTER_FIRST, note_role, c);
    if (c->roles != 2 || mlirOperationIsNull(c->role)) return "no warp fetches for others";
    cute_op_walk(c->role, "cute.tile.await", CUTE_WALK_OUTER_FIRST, note_await, c);
    if (c->awaits != 1) return "the kernel has several loops of products";
    c->products = tile_parent(c->await);
    c->tiles = tile_parent(c->products);
    if (!cute_op_is(c->products, "scf.for") || !cute_op_is(c->tiles, "scf.for") ||
        !mlirOperationEqual(tile_parent(c->tiles), c->role))
        return "expected a loop of products in that over the tiles of a resident block";
    intptr_t outer[2];
    if (mlirOperationGetNumResults(c->tiles) != 2 || carried_by(c, 1, &outer[0]) < 0 ||
        carried_by(c, 2, &outer[1]) < 0 || outer[0] != 0 || outer[1] != 1)
        return "a value passes from tile to tile";
    if (!only_reads_beside(c)) return "the kernel writes outside of the loop over tiles";
    cute_op_walk(c->products, "cute_nvgpu.arch.pipeline_advance", CUTE_WALK_OUTER_FIRST, note_stages,
                 &c->stages);
    if (c->stages < 1) return "the loop of products has no stages";
    return NULL;
}

/* ---- the change ---- */

static MlirValue number(const cute_builder *b, int64_t value)
{
    return cute_build_constant(b, 32, value);
}

static MlirValue as_i32(const cute_builder *b, MlirValue value)
{
    MlirType i32 = mlirIntegerTypeGet(b->context, 32), type = mlirValueGetType(value);
    if (mlirTypeEqual(type, i32)) return value;
    if (mlirTypeIsAIndex(type)) return cute_unary(b, "arith.index_cast", value, i32);
    return cute_unary(b, mlirIntegerTypeGetWidth(type) > 32 ? "arith.trunci" : "arith.extsi", value, i32);
}

/* Stages that a tile takes: the iterations of its loop of products, computed in front of the loop over tiles. Null: they depend on the
 * tile. */
static MlirValue stages_of_tile(const cute_builder *b, const consumers *c)
{
    const MlirValue none = {NULL};
    MlirValue bounds[3];
    for (intptr_t i = 0; i < 3; i++) {
        bounds[i] =
            tile_recompute(b, tile_loop_body(c->tiles), mlirOperationGetOperand(c->products, i), none, none);
        if (mlirValueIsNull(bounds[i])) return none;
        if (mlirBlockIsNull(b->block)) continue;
        bounds[i] = as_i32(b, bounds[i]);
    }
    if (mlirBlockIsNull(b->block)) return bounds[0];
    MlirValue length = cute_binary(b, "arith.subi", bounds[1], bounds[0]);
    length = cute_binary(b, "arith.maxsi", length, number(b, 0));
    return cute_binary(b, "arith.ceildivui", length, bounds[2]);
}

static void end_turn(const cute_builder *b, MlirValue condition)
{
    cute_build(b, "cute.tile.end_turn", CUTE_OPERANDS(condition), CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static MlirOperation advance(const cute_builder *b, const char *name, cute_operands operands, int64_t stages)
{
    MlirType i32 = mlirIntegerTypeGet(b->context, 32), types[2] = {i32, i32};
    return cute_build(b, name, operands, (cute_types){types, 2},
                      CUTE_NAMED(cute_attribute(b->context, "stages", mlirIntegerAttrGet(i32, stages))));
}

static void take_turns(const consumers *c)
{
    cute_builder b = cute_builder_before(c->tiles);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    MlirValue first = mlirOperationGetOperand(c->tiles, 0), count = mlirOperationGetOperand(c->tiles, 1),
              step = mlirOperationGetOperand(c->tiles, 2);
    MlirValue stages = stages_of_tile(&b, c);
    MlirValue group = cute_build_value(&b, "cute.tile.turn", i32, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue behind = cute_binary(&b, "arith.muli", group, step),
              start = cute_binary(&b, "arith.addi", first, behind),
              stride = cute_binary(&b, "arith.muli", step, number(&b, GROUPS));
    MlirOperation state = advance(&b, "cute_nvgpu.arch.pipeline_index_of",
                                  CUTE_OPERANDS(cute_binary(&b, "arith.muli", group, stages)), c->stages);
    /* The first turn begins once the last group has ended one. */
    MlirValue is_last = cute_compare(&b, CUTE_IS_EQ, group, number(&b, GROUPS - 1)),
              any = cute_compare(&b, CUTE_IS_SLT, first, count);
    end_turn(&b, cute_binary(&b, "arith.andi", is_last, any));
    mlirOperationSetOperand(c->tiles, 0, start);
    mlirOperationSetOperand(c->tiles, 2, stride);
    for (intptr_t i = 0; i < 2; i++)
        mlirOperationSetOperand(c->tiles, 3 + i, mlirOperationGetResult(state, i));

    b = cute_builder_before(c->products);
    cute_build(&b, "cute.tile.begin_turn", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    b = cute_builder_before(mlirOperationGetNextInBlock(c->products));
    b.location = mlirOperationGetLocation(c->products);
    MlirValue next = cute_binary(&b, "arith.addi", mlirBlockGetArgument(tile_loop_body(c->tiles), 0), step);
    end_turn(&b, cute_compare(&b, CUTE_IS_SLT, next, count));

    MlirOperation yield = mlirBlockGetTerminator(tile_loop_body(c->tiles));
    b = cute_builder_before(yield);
    MlirValue others = GROUPS > 2 ? cute_binary(&b, "arith.muli", stages, number(&b, GROUPS - 1)) : stages;
    MlirOperation behind_others =
        advance(&b, "cute_nvgpu.arch.pipeline_advance",
                CUTE_OPERANDS(mlirOperationGetOperand(yield, 0), mlirOperationGetOperand(yield, 1), others),
                c->stages);
    for (intptr_t i = 0; i < 2; i++)
        mlirOperationSetOperand(yield, i, mlirOperationGetResult(behind_others, i));
}

static void set_number(MlirOperation op, const char *name, int64_t value)
{
    MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(op), 32);
    mlirOperationSetAttributeByName(op, cute_text(name), mlirIntegerAttrGet(i32, value));
}

static void set_producer(MlirOperation op, void *context)
{
    (void)context;
    if (cute_text_is(cute_tile_word(op, "label"), "producer"))
        set_number(op, "registers", cute_model_group_registers[GROUPS].producer);
}

static void visit_function(MlirOperation function, void *context)
{
    work *w = context;
    tile_schedule schedule;
    consumers c;
    tile_schedule_of(function, &schedule);
    if (!schedule.turns || !tile_is_program(function)) return;
    const char *why = find_consumers(function, &c);
    if (!why && cute_tile_number(c.role, "turns", 1) > 1) return;
    const cute_builder none = {.context = mlirOperationGetContext(function), .block = {NULL}};
    if (!why && mlirValueIsNull(stages_of_tile(&none, &c)))
        why = "the number of iterations depends on the tile";
    if (!why && cute_tile_number(c.role, "warps", 0) != WARPGROUP) why = "several warpgroups share a tile";
    if (why) {
        tile_refuse(w->pass, function, "one warpgroup computes all tiles, without turns: %s", why);
        return;
    }
    take_turns(&c);
    set_number(c.role, "turns", GROUPS);
    set_number(c.role, "registers", cute_model_group_registers[GROUPS].consumer);
    cute_op_walk(function, "cute.tile.role", CUTE_WALK_OUTER_FIRST, set_producer, NULL);
    int32_t block[3] = {THREADS * (GROUPS + 1), 1, 1};
    mlirOperationSetAttributeByName(function, cute_text("nvvm.reqntid"),
                                    mlirDenseI32ArrayGet(mlirOperationGetContext(function), 3, block));
    w->changed = true;
}

static void run_tile_turns(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_turns = {
    .name = "cute-tile-turns",
    .help = "Let warpgroups compute alternate tiles, where the schedule of a tile program says so",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF,
    .run = run_tile_turns,
};
