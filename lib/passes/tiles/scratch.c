/* See schedule.h: which operations use shared memory other than stages. */
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/lane_swaps.h"
#include "lib/passes/tiles/schedule.h"

/* Whether a conversion or reshape is a choice of registers. */
static bool stays_in_registers(MlirOperation op)
{
    tile_distribution from, to, same;
    if (!tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &from) ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &to))
        return false;
    if (cute_op_is(op, "cute.tile.reshape"))
        return tile_reshaped(&from, &to.shape, &same) && tile_distribution_equal(&same, &to);
    cute_arena *arena = cute_arena_create();
    int32_t *map = arena ? cute_arena_array(arena, (size_t)tile_values(&to) + 1, sizeof *map) : NULL;
    tile_lane_swaps swaps;
    bool stays = map && (tile_registers_map(arena, &from, &to, map) ||
                         (cute_op_has(op, TILE_SWAPPED) && tile_find_swaps(&from, &to, &swaps, &same) &&
                          tile_registers_map(arena, &same, &to, map)));
    cute_arena_destroy(arena);
    return stays;
}

/* Whether a reduction or scan is between lanes of a warp, if between threads at all. */
static bool stays_in_warps(MlirOperation op)
{
    tile_distribution d;
    return tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &d) &&
           tile_along_lanes(&d, (int)cute_tile_number(op, "mode", 0));
}

/* Whether a block has products of warpgroups. */
static bool has_products(MlirBlock block)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (cute_op_is(op, "cute.tile.gemm") && cute_op_has(op, "wgmma")) return true;
    return false;
}

int64_t tile_parts_of_groups(MlirOperation op)
{
    enum { WARP = 32, GROUP = 128, MOST_TOGETHER = 4 };
    tile_distribution d;
    if (!cute_op_is(op, "cute.tile.reduce")) return 0;
    bool beside = false;
    for (MlirOperation at = op; !beside && !cute_op_is(at, "gpu.func"); at = tile_parent(at))
        beside = has_products(mlirOperationGetBlock(at));
    if (!beside || !tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &d)) return 0;
    int axis = (int)cute_tile_number(op, "mode", 0), last = d.threads.count - 1;
    int64_t below = 1;
    for (int i = 0; i < last; below *= d.threads.at[i++].extent)
        if (d.threads.at[i].dim == axis && below * d.threads.at[i].extent > WARP) return 0;
    bool groups =
        last >= 0 && d.threads.at[last].dim == axis && below >= GROUP && below / WARP <= MOST_TOGETHER;
    return groups ? d.threads.at[last].extent : 0;
}

int64_t tile_parts_bytes(MlirOperation op)
{
    cute_tile_shape shape;
    int64_t parts = tile_parts_of_groups(op);
    if (!parts) return 0;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    return cute_tile_shape_of(type, &shape)
               ? parts * cute_tile_size(&shape) * cute_tile_memory_bits(cute_tile_element(type)) / 8
               : 0;
}

int64_t tile_reduction_bytes(MlirOperation op)
{
    enum { WARP = 32 };
    cute_tile_shape shape;
    tile_distribution d;
    if (!tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &d)) return 0;
    int axis = (int)cute_tile_number(op, "mode", 0);
    int64_t parts = 1, below = 1;
    for (int m = 0; m < d.threads.count; below *= d.threads.at[m++].extent)
        for (int64_t step = 1; d.threads.at[m].dim == axis && step < d.threads.at[m].extent; step *= 2)
            if (below * step >= WARP) parts *= 2;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    return parts > 1 && cute_tile_shape_of(type, &shape)
               ? parts * cute_tile_size(&shape) * cute_tile_memory_bits(cute_tile_element(type)) / 8
               : 0;
}

bool tile_needs_no_memory(MlirOperation op)
{
    static const char *const never[] = {"cute.tile.iota",
                                        "cute.tile.broadcast",
                                        "cute.tile.permute",
                                        "cute.tile.scalar",
                                        "cute.tile.stack",
                                        "cute.tile.pick",
                                        "cute.tile.any",
                                        "cute.tile.from",
                                        "cute.tile.settle",
                                        "cute.tile.load",
                                        "cute.tile.store",
                                        "cute.tile.gather",
                                        "cute.tile.take",
                                        "cute.tile.fetch",
                                        "cute.tile.ring",
                                        "cute.tile.pipe",
                                        "cute.tile.part",
                                        "cute.tile.await",
                                        "cute.tile.acquire",
                                        "cute.tile.release",
                                        "cute.tile.role",
                                        "cute.tile.drain",
                                        "cute.tile.program",
                                        "cute.tile.count",
                                        "cute.tile.workers",
                                        "cute.tile.place",
                                        "cute.tile.turn",
                                        "cute.tile.begin_turn",
                                        "cute.tile.end_turn",
                                        "cute.tile.give",
                                        "cute.tile.collect",
                                        "cute.tile.pieces",
                                        "cute.tile.piece",
                                        "cute.tile.put",
                                        "cute.tile.cluster_reduce",
                                        "cute.tile.signal",
                                        "cute.tile.pages",
                                        "cute.tile.rows"};
    if (cute_op_has(op, "width")) return false;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (cute_op_is(op, never[i])) return true;
    if (cute_op_is(op, "cute.tile.convert") || cute_op_is(op, "cute.tile.reshape"))
        return stays_in_registers(op);
    return (cute_op_is(op, "cute.tile.reduce") || cute_op_is(op, "cute.tile.scan")) &&
           (stays_in_warps(op) || tile_parts_of_groups(op));
}
