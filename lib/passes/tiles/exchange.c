/* cute-tile-exchange: factors that threads compute from sums, and that other warpgroups need too, go through stages in shared memory.
 *
 * With `factors=1` tiles that pass between the warpgroup of a factor and the consumers do so as well (crossings.c).
 *
 * Requires: cute-async-pipeline; loops with products of warpgroups. Ensures: such a factor is written to a ring by cute.tile.put, and its product
 * reads it there (cute.tile.take), so that the product need not be complete before the next operation. The stages of a ring, where there are two,
 * are used in turn.
 *
 *     %h = FACTOR(%s) ; %t = cute.tile.permute(%h) ; %d = cute.tile.gemm(%t, %b, %acc)
 * ->
 *     scf.for ... iter_args(..., %i = %c0) {
 *       %h = FACTOR(%s) ; cute.tile.put(%h, %ring, %i) ; %u = cute.tile.take(%ring, %i) ; %t = cute.tile.permute(%u)
 *       %d = cute.tile.gemm(%t, %b, %acc) ; scf.yield ..., 1 - %i
 *     }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/buffer.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16 };

/* A factor, and the product that reads it as operand `side`. */
typedef struct factor {
    MlirOperation product;
    int side;
    MlirValue tile;
} factor;

typedef struct work {
    MlirOperation loops[MOST];
    int count;
} work;

/* Whether the other operand is in a stage or in registers of the instruction. */
static bool is_ready(MlirOperation product, int side)
{
    int dims[2];
    if (side && cute_op_has(product, TILE_HELD)) return true;
    MlirOperation source = tile_operand_source(mlirOperationGetOperand(product, !side), dims);
    return !mlirOperationIsNull(source) && cute_op_is(source, "cute.tile.take");
}

static int find_factors(MlirOperation loop, factor out[MOST])
{
    int count = 0;
    for (MlirOperation op = mlirBlockGetFirstOperation(tile_loop_body(loop)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (!cute_op_is(op, "cute.tile.gemm") || !cute_op_has(op, "wgmma")) continue;
        for (int i = 0; i < 2; i++) {
            MlirValue tile = tile_exchanged(op, i);
            if (!mlirValueIsNull(tile) && is_ready(op, i) && count < MOST)
                out[count++] = (factor){op, i, tile};
        }
    }
    return count;
}

static void note_loop(MlirOperation op, void *context)
{
    work *w = context;
    factor factors[MOST];
    if (w->count < MOST && find_factors(op, factors)) w->loops[w->count++] = op;
}

MlirValue tile_filled_pipe(MlirOperation op)
{
    intptr_t at = cute_op_is(op, "cute.tile.fetch") ? 4 : cute_op_is(op, "cute.tile.put") ? 3 : -1;
    return at > 0 && mlirOperationGetNumOperands(op) > at ? mlirOperationGetOperand(op, at)
                                                          : (MlirValue){NULL};
}

MlirValue tile_pipe_of(MlirValue ring)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(ring); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirValue pipe = tile_filled_pipe(mlirOpOperandGetOwner(use));
        if (!mlirValueIsNull(pipe)) return pipe;
    }
    return (MlirValue){NULL};
}

MlirValue tile_make_ring(MlirOperation function, MlirValue tile, int stages)
{
    cute_tile_shape shape;
    MlirType type = mlirValueGetType(tile), element = cute_tile_element(type);
    MlirOperation made = cute_defining_op(tile);
    cute_builder b =
        cute_builder_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)),
                              mlirOperationGetLocation(mlirOperationIsNull(made) ? function : made));
    cute_buffer text = {0};
    cute_tile_shape_of(type, &shape);
    int contiguous = shape.rank - 1;
    while (contiguous && shape.extent[contiguous] == 1) contiguous--;
    mlirTypePrint(element, cute_print_to_buffer, &text);
    MlirType ring = tile_stage_type(b.context, cute_buffer_text(&text), cute_tile_memory_bits(element),
                                    &shape, contiguous, stages);
    cute_buffer_release(&text);
    return cute_build_value(&b, "cute.tile.ring", ring, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

/* The permutations between `tile` and `operand`, of `with` in place of it. */
static MlirValue permuted(const cute_builder *b, MlirValue operand, MlirValue tile, MlirValue with)
{
    if (mlirValueEqual(operand, tile)) return with;
    MlirOperation op = cute_defining_op(operand), copy = mlirOperationClone(op);
    mlirOperationSetOperand(copy, 0, permuted(b, mlirOperationGetOperand(op, 0), tile, with));
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
    return mlirOperationGetResult(copy, 0);
}

static void exchange(MlirOperation loop)
{
    factor factors[MOST];
    MlirValue taken[MOST];
    int count = find_factors(loop, factors);
    int64_t stages = 1;
    for (int i = 0; i < count; i++)
        if (tile_exchange_stages(factors[i].product, factors[i].side) > stages)
            stages = tile_exchange_stages(factors[i].product, factors[i].side);
    cute_builder start = cute_builder_before(loop);
    MlirValue stage = cute_build_constant(&start, 32, 0);
    intptr_t last = mlirOperationGetNumResults(loop);
    if (stages > 1) {
        loop = tile_loop_carry(loop, &stage, 1);
        stage = mlirBlockGetArgument(tile_loop_body(loop), 1 + last);
    }
    MlirBlock body = tile_loop_body(loop);
    for (int i = 0; i < count; i++) {
        const factor *f = &factors[i];
        int same = 0;
        while (same < i && !mlirValueEqual(factors[same].tile, f->tile)) same++;
        if (same == i) {
            MlirValue ring = tile_make_ring(cute_op_parent(loop, "gpu.func"), f->tile, (int)stages);
            MlirOperation made = cute_defining_op(f->tile);
            cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(made));
            b.location = mlirOperationGetLocation(f->product);
            cute_build(&b, "cute.tile.put", CUTE_OPERANDS(f->tile, ring, stage), CUTE_NO_TYPES,
                       CUTE_NO_NAMED);
            taken[i] = cute_build_value(&b, "cute.tile.take", mlirValueGetType(f->tile),
                                        CUTE_OPERANDS(ring, stage), CUTE_NO_NAMED);
        } else {
            taken[i] = taken[same];
        }
        cute_builder b = cute_builder_before(f->product);
        mlirOperationSetOperand(
            f->product, f->side,
            permuted(&b, mlirOperationGetOperand(f->product, f->side), f->tile, taken[i]));
    }
    if (stages > 1) {
        MlirOperation yield = mlirBlockGetTerminator(body);
        cute_builder b = cute_builder_before(yield);
        mlirOperationSetOperand(yield, last, tile_stage_behind(&b, stage, stages));
    }
    tile_drop_unused(body);
}

/* The warpgroup that computes a factor passes it to the consumers. */
static void visit_function(MlirOperation function, void *context)
{
    bool *changed = context;
    tile_schedule schedule;
    tile_schedule_of(function, &schedule);
    if (!tile_factor_threads(&schedule) || !tile_is_program(function)) return;
    *changed = true;
    if (tile_pass_between_roles(function)) return;
    tile_give_up_factors(function,
                         "a tile passes between the warpgroup of a factor and the consumers in a branch");
}

static void run_tile_exchange(MlirOperation root, cute_pass_run *pass)
{
    work w = {.count = 0};
    bool changed = false;
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &changed);
    cute_op_walk(root, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, &w);
    for (int i = 0; i < w.count; i++) exchange(w.loops[i]);
    if (!w.count && !changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_exchange = {
    .name = "cute-tile-exchange",
    .help = "Pass factors that are computed from sums to all warpgroups through stages in shared memory",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF,
    .run = run_tile_exchange,
};
