/* cute-tile-persistent: as many blocks as are resident at once, which take tiles of the grid in turn.
 *
 * Requires: cute-tile-layouts; a kernel whose schedule says persistent=1, with one cute.tile.program at its top level, of a tensor and
 * extents, or of numbers. Without a tensor there are no clusters, which may reach beyond the grid. Ensures: the operations behind it are in a
 * loop over the tiles of this block's cluster (cute.tile.workers), in the raster order of the schedule (cute.tile.place). Blocks are
 * independent, so neither the order nor the place of a tile matters. Where the iterations of a loop depend on the tile, every second
 * round goes backwards: where tiles come by length, a cluster with a long one in one round has a short one in the next.
 *
 *     %m, %n = cute.tile.program(%c) {extents = array<i32: 128, 256>} ...
 *     BODY
 * ->
 *     %first, %count, %step = cute.tile.workers(%c) {cluster = array<i32: 2, 1>, extents = array<i32: 128, 256>} ...
 *     scf.for %tile = %first to %count step %step : i32 {
 *       %m, %n = cute.tile.place(%tile, %c) {cluster = array<i32: 2, 1>, extents = array<i32: 128, 256>, order = 8 : i32} ...
 *       BODY
 *     }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

typedef struct search {
    cute_pass_run *pass;
    bool changed;
} search;

static MlirAttribute cluster_attribute(MlirContext context, const tile_schedule *s, intptr_t rank)
{
    int32_t blocks[3] = {1, 1, 1};
    if (rank > 1) blocks[rank - 2] = s->cluster[0];
    blocks[rank - 1] = s->cluster[1];
    return mlirDenseI32ArrayGet(context, rank, blocks);
}

static void note_uneven(MlirOperation loop, void *context)
{
    *(bool *)context |= tile_places_of_bounds(loop) != 0;
}

/* The tile that a cluster takes in the round of tile `at`: in every second one, if it is full, the one at the same distance from its end. */
static MlirValue to_and_fro(const cute_builder *b, MlirValue at, MlirOperation workers)
{
    MlirValue first = mlirOperationGetResult(workers, 0), count = mlirOperationGetResult(workers, 1),
              step = mlirOperationGetResult(workers, 2), one = cute_build_constant(b, 32, 1);
    MlirValue begin = cute_binary(b, "arith.subi", at, first),
              end = cute_binary(b, "arith.addi", begin, step),
              round = cute_binary(b, "arith.divui", begin, step),
              odd = cute_compare(b, CUTE_IS_EQ, cute_binary(b, "arith.andi", round, one), one),
              full = cute_compare(b, CUTE_IS_ULE, end, count);
    MlirValue from_end = cute_binary(b, "arith.subi", cute_binary(b, "arith.subi", end, one), first);
    return cute_select(b, cute_binary(b, "arith.andi", odd, full), from_end, at);
}

static void make_persistent(MlirOperation function, MlirOperation program, const tile_schedule *s)
{
    cute_builder b = cute_builder_before(program);
    MlirContext context = b.context;
    MlirType i32 = mlirIntegerTypeGet(context, 32), types[3] = {i32, i32, i32};
    intptr_t rank = mlirOperationGetNumResults(program), sizes = mlirOperationGetNumOperands(program);
    MlirValue operands[4]; /* of cute.tile.place: the tile, the sizes or the tensor */
    for (intptr_t i = 0; i < sizes; i++) operands[1 + i] = mlirOperationGetOperand(program, i);
    MlirNamedAttribute named[3] = {cute_attribute(context, "cluster", cluster_attribute(context, s, rank))};
    intptr_t count = 1;
    MlirAttribute tile = mlirOperationGetAttributeByName(program, cute_text("extents"));
    if (!mlirAttributeIsNull(tile)) named[count++] = cute_attribute(context, "extents", tile);
    MlirOperation workers = cute_build(&b, "cute.tile.workers", (cute_operands){operands + 1, sizes},
                                       (cute_types){types, 3}, (cute_named){named, count});
    named[count++] = cute_attribute(context, "order", mlirIntegerAttrGet(i32, s->order));
    MlirLocation at = mlirOperationGetLocation(program);
    MlirBlock body = mlirBlockCreate(1, &i32, &at);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    cute_builder inside = cute_builder_at_end(body, at);
    bool uneven = false;
    cute_op_walk(function, "scf.for", CUTE_WALK_OUTER_FIRST, note_uneven, &uneven);
    operands[0] = mlirBlockGetArgument(body, 0);
    if (uneven) operands[0] = to_and_fro(&inside, operands[0], workers);
    MlirOperation place = cute_build(&inside, "cute.tile.place", (cute_operands){operands, 1 + sizes},
                                     (cute_types){types, rank}, (cute_named){named, count});
    for (MlirOperation op = mlirOperationGetNextInBlock(program), next; !cute_op_is(op, "gpu.return");
         op = next) {
        next = mlirOperationGetNextInBlock(op);
        mlirOperationRemoveFromParent(op);
        mlirBlockAppendOwnedOperation(body, op);
    }
    cute_build(&inside, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    for (intptr_t i = 0; i < rank; i++)
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(program, i), mlirOperationGetResult(place, i));
    cute_build_regions(&b, "scf.for",
                       CUTE_OPERANDS(mlirOperationGetResult(workers, 0), mlirOperationGetResult(workers, 1),
                                     mlirOperationGetResult(workers, 2)),
                       CUTE_NO_TYPES, CUTE_NO_NAMED, &region, 1);
    mlirOperationDestroy(program);
    int32_t blocks[3] = {s->cluster[0] * s->cluster[1], 1, 1};
    if (blocks[0] > 1)
        mlirOperationSetAttributeByName(function, cute_text("nvvm.cluster_dim"),
                                        mlirDenseI32ArrayGet(context, 3, blocks));
}

/* Whether a tensor begins at an index that depends on the tile: its tensor map's coordinates are computed once, in front of the tiles. */
static void look_for_from(MlirOperation op, void *context)
{
    *(bool *)context |= tile_places_of(mlirOperationGetOperand(op, 1)) != 0;
}

static void visit_function(MlirOperation function, void *context)
{
    search *s = context;
    tile_schedule schedule;
    tile_schedule_of(function, &schedule);
    if (!schedule.persistent || !tile_is_program(function)) return;
    MlirOperation program = tile_find_op(function, "cute.tile.program");
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    if (mlirOperationIsNull(program)) return;
    bool of_numbers = !cute_op_has(program, "extents"),
         clusters = schedule.cluster[0] * schedule.cluster[1] > 1;
    if (of_numbers && clusters) {
        tile_refuse(
            s->pass, program,
            "blocks are not resident: expected cluster=1x1, or cute.tile.program<EXTENTS> of a tensor");
        return;
    }
    if (cute_op_has(program, TILE_IN_CLUSTER) || !mlirBlockEqual(mlirOperationGetBlock(program), entry) ||
        !mlirBlockIsNull(mlirBlockGetNextInRegion(entry))) {
        tile_refuse(s->pass, program,
                    "blocks are not resident: expected cute.tile.program without clusters of its own, at the "
                    "top level of the kernel");
        return;
    }
    bool moves = false;
    cute_op_walk(function, "cute.tile.from", CUTE_WALK_OUTER_FIRST, look_for_from, &moves);
    if (moves) {
        tile_refuse(s->pass, program,
                    "blocks are not resident: the first index of a cute.tile.from depends on the tile");
        return;
    }
    make_persistent(function, program, &schedule);
    s->changed = true;
}

static void run_tile_persistent(MlirOperation root, cute_pass_run *pass)
{
    search s = {.pass = pass};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &s);
    if (!s.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_persistent = {
    .name = "cute-tile-persistent",
    .help = "Resident blocks that take tiles in turn, where the schedule of a tile program says so",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_SCF,
    .run = run_tile_persistent,
};
