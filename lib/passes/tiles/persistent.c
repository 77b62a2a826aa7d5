/* cute-tile-persistent: as many blocks as are resident at once, which take tiles of the grid in turn.
 *
 * Requires: cute-tile-layouts; a kernel whose schedule says persistent=1, with one cute.tile.program of a tensor and extents at its
 * top level. Ensures: the operations behind it are in a loop over the tiles of this block's cluster (cute.tile.workers), in the raster
 * order of the schedule (cute.tile.place). Blocks are independent, so neither the order nor the place of a tile matters.
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

static void make_persistent(MlirOperation function, MlirOperation program, const tile_schedule *s)
{
    cute_builder b = cute_builder_before(program);
    MlirContext context = b.context;
    MlirType i32 = mlirIntegerTypeGet(context, 32), types[3] = {i32, i32, i32};
    intptr_t rank = mlirOperationGetNumResults(program);
    MlirValue tensor = mlirOperationGetOperand(program, 0);
    MlirNamedAttribute extents =
                           cute_attribute(context, "extents",
                                          mlirOperationGetAttributeByName(program, cute_text("extents"))),
                       cluster = cute_attribute(context, "cluster", cluster_attribute(context, s, rank));
    MlirOperation workers = cute_build(&b, "cute.tile.workers", CUTE_OPERANDS(tensor), (cute_types){types, 3},
                                       CUTE_NAMED(cluster, extents));
    MlirLocation at = mlirOperationGetLocation(program);
    MlirBlock body = mlirBlockCreate(1, &i32, &at);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    cute_builder inside = cute_builder_at_end(body, at);
    MlirAttribute order = mlirIntegerAttrGet(i32, s->order);
    MlirOperation place = cute_build(
        &inside, "cute.tile.place", CUTE_OPERANDS(mlirBlockGetArgument(body, 0), tensor),
        (cute_types){types, rank}, CUTE_NAMED(cluster, extents, cute_attribute(context, "order", order)));
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

static void visit_function(MlirOperation function, void *context)
{
    search *s = context;
    tile_schedule schedule;
    tile_schedule_of(function, &schedule);
    if (!schedule.persistent || !tile_is_program(function)) return;
    MlirOperation program = tile_find_op(function, "cute.tile.program");
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    if (mlirOperationIsNull(program)) return;
    if (!cute_op_has(program, "extents") || !mlirBlockEqual(mlirOperationGetBlock(program), entry) ||
        !mlirBlockIsNull(mlirBlockGetNextInRegion(entry))) {
        tile_refuse(s->pass, program,
                    "blocks are not resident: expected cute.tile.program<EXTENTS> of a tensor, at the "
                    "top level of the kernel");
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
