/* See emit.h: barriers of a role's threads, and of warps that have parts of the same rows. */
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"

enum { WARP = 32 };

/* The number of the barrier of the role, or of its group; null: it is the block's, 0. */
static MlirValue barrier_number(tile_emitter *e)
{
    if (!mlirValueIsNull(e->role->turn))
        return cute_binary(&e->b, "arith.addi", e->role->turn, tile_i32(e, TILE_GROUP_BARRIERS));
    return e->role->barrier ? tile_i32(e, e->role->barrier) : (MlirValue){NULL};
}

MlirOperation tile_barrier(tile_emitter *e)
{
    MlirValue barrier = barrier_number(e);
    if (!mlirValueIsNull(barrier))
        return cute_build(&e->b, "cute_nvgpu.arch.named_barrier_sync",
                          CUTE_OPERANDS(barrier, tile_i32(e, e->threads)), CUTE_NO_TYPES, CUTE_NO_NAMED);
    return cute_build(&e->b, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static MlirValue vote(tile_emitter *e, MlirValue barrier, int64_t threads, MlirValue condition)
{
    return cute_build_value(
        &e->b, "cute_nvgpu.arch.named_barrier_vote", mlirIntegerTypeGet(e->context, 1),
        CUTE_OPERANDS(barrier, tile_i32(e, threads), condition),
        CUTE_NAMED(cute_attribute(e->context, "kind", cute_string_attribute(e->context, "or"))));
}

MlirValue tile_vote(tile_emitter *e, MlirValue condition)
{
    MlirValue barrier = barrier_number(e);
    return vote(e, mlirValueIsNull(barrier) ? tile_i32(e, 0) : barrier, e->threads, condition);
}

/* The barrier of the warps that have parts of the same rows: one of each of `parts` warpgroups. */
static MlirValue barrier_of_parts(tile_emitter *e, int64_t parts)
{
    int64_t together = e->threads / WARP / parts;
    if (e->role_count > TILE_PART_BARRIERS) e->failed = true; /* these are numbers of other roles */
    MlirValue warp = cute_binary(&e->b, "arith.subi", e->role->warp, tile_i32(e, e->role->first_warp)),
              rows = cute_binary(&e->b, "arith.remui", warp, tile_i32(e, together));
    return cute_binary(&e->b, "arith.addi", rows, tile_i32(e, TILE_PART_BARRIERS));
}

MlirValue tile_vote_of_parts(tile_emitter *e, int64_t parts, MlirValue condition)
{
    return vote(e, barrier_of_parts(e, parts), WARP * parts, condition);
}

void tile_meet_parts(tile_emitter *e, int64_t parts)
{
    tile_sync(e, "cute_nvgpu.arch.named_barrier_sync",
              CUTE_OPERANDS(barrier_of_parts(e, parts), tile_i32(e, WARP * parts)), CUTE_NO_NAMED);
}
