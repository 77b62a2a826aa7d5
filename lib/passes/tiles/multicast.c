/* cute-tile-multicast: blocks of a cluster that need the same tile fetch a part of it each, for all of them.
 *
 * Requires: cute-warp-specialization; a kernel whose cute.tile.workers or cute.tile.program has a cluster. Ensures: fetches whose tile does not depend on
 * the block's place along a dimension of the cluster have that dimension in `multicast`. Then the blocks along it have to run the same
 * iterations: fetches in loops whose bounds depend on the place stay as they are, with a remark.
 *
 *     cute.tile.fetch(%A, %c, %ring, %i, %pipe)                                  // %c has %m of cute.tile.place, not %n
 * ->
 *     cute.tile.fetch(%A, %c, %ring, %i, %pipe) {multicast = array<i32: 1>}      // with cluster = array<i32: 1, 2>
 */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

typedef struct work {
    cute_pass_run *pass;
    bool changed;
} work;

/* Whether each of so many blocks can fetch rows of the tile: at multiples of 128 bytes in shared memory. */
static bool has_parts(MlirOperation fetch, int64_t blocks)
{
    enum { ALIGN = 128 };
    cute_tile_shape tile;
    int64_t stages, rows = 1;
    const cute_value *ring = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(fetch, 2)));
    if (!cute_tile_ring_shape(ring, &tile, &stages)) return false;
    for (int i = 0; i < tile.rank; i++) {
        const cute_tree *stride = ring->layout.stride->items[i];
        while (stride->kind == CUTE_TREE_TUPLE) stride = stride->items[0];
        if (stride->value.value != 1) rows *= tile.extent[i];
    }
    int64_t bits = cute_tile_size(&tile) * ring->pointer->bits;
    return rows % blocks == 0 && bits % (blocks * ALIGN * 8) == 0;
}

static void visit_fetch(MlirOperation fetch, void *context)
{
    work *w = context;
    int64_t cluster[CUTE_TILE_RANK];
    if (mlirValueIsNull(tile_filled_pipe(fetch)) || cute_op_has(fetch, "multicast")) return;
    MlirOperation function = cute_op_parent(fetch, "gpu.func"),
                  workers = tile_find_op(function, "cute.tile.workers");
    if (mlirOperationIsNull(workers)) workers = tile_find_op(function, "cute.tile.program");
    if (mlirOperationIsNull(workers)) return;
    int rank = tile_cluster_of(workers, cluster), count = 0;
    int depends = tile_places_of(mlirOperationGetOperand(fetch, 0)) |
                  tile_places_of(mlirOperationGetOperand(fetch, 1)),
        bounds = 0;
    for (MlirOperation loop = tile_parent(fetch); cute_op_is(loop, "scf.for"); loop = tile_parent(loop))
        bounds |= tile_places_of_bounds(loop);
    int32_t along[CUTE_TILE_RANK];
    int64_t blocks = 1;
    for (int i = 0; i < rank; i++)
        if (cluster[i] > 1 && !(depends & (TILE_UNKNOWN_PLACE | 1 << i)))
            along[count++] = i, blocks *= cluster[i];
    if (!count) return;
    if (!has_parts(fetch, blocks)) {
        cute_pass_remark(
            w->pass, mlirOperationGetLocation(fetch),
            "blocks of a cluster do not share this tile: it has no parts of whole rows and 128 bytes");
        return;
    }
    int differ = TILE_UNKNOWN_PLACE;
    for (int i = 0; i < count; i++) differ |= 1 << along[i];
    if (bounds & differ) {
        tile_refuse(w->pass, fetch,
                    "blocks of a cluster do not share this tile: the bounds of a loop depend on the block");
        return;
    }
    mlirOperationSetAttributeByName(fetch, cute_text("multicast"),
                                    mlirDenseI32ArrayGet(mlirOperationGetContext(fetch), count, along));
    w->changed = true;
}

/* The result of the outermost of the loops that carry `value`, an argument of the innermost, unchanged from each to the next; null: not so. */
static MlirValue behind_loops(MlirValue value, MlirOperation *outermost)
{
    const MlirValue none = {NULL};
    for (;;) {
        if (!mlirValueIsABlockArgument(value)) return none;
        MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value)), outer;
        intptr_t at = mlirBlockArgumentGetArgNumber(value) - 1;
        if (!cute_op_is(loop, "scf.for") || at < 0) return none;
        value = mlirOperationGetOperand(loop, 3 + at);
        outer = tile_parent(loop);
        *outermost = loop;
        MlirValue result = mlirOperationGetResult(loop, at);
        if (!cute_op_is(outer, "scf.for")) return result;
        MlirOperation yield = mlirBlockGetTerminator(tile_loop_body(outer));
        if (!mlirValueIsABlockArgument(value)) return none;
        intptr_t above = mlirBlockArgumentGetArgNumber(value) - 1;
        if (above < 0 || !mlirValueEqual(mlirOperationGetOperand(yield, above), result)) return none;
    }
}

/* The acquires of a pipe; the last one counts. */
typedef struct filling {
    MlirValue pipe;
    MlirOperation acquire;
    bool shared, drained;
} filling;

static void note_shared(MlirOperation fetch, void *context)
{
    filling *f = context;
    f->shared |= cute_op_has(fetch, "multicast") && mlirValueEqual(tile_filled_pipe(fetch), f->pipe);
}

static void note_acquire(MlirOperation op, void *context)
{
    filling *f = context;
    if (!mlirValueEqual(mlirOperationGetOperand(op, 0), f->pipe)) return;
    if (cute_op_is(op, "cute.tile.drain"))
        f->drained = true;
    else
        f->acquire = op;
}

/* Other blocks release the stages of a pipe whose fetches are shared: the role that fills them waits for that. Without a drain there is a barrier of
 * the cluster at the end, which waits for the stores of the results, too. */
static void drain_pipe(MlirOperation pipe, void *context)
{
    work *w = context;
    MlirOperation function = cute_op_parent(pipe, "gpu.func"), loop = {NULL};
    filling f = {.pipe = mlirOperationGetResult(pipe, 0)};
    cute_op_walk(function, "cute.tile.fetch", CUTE_WALK_OUTER_FIRST, note_shared, &f);
    cute_op_walk(function, "cute.tile.acquire", CUTE_WALK_OUTER_FIRST, note_acquire, &f);
    cute_op_walk(function, "cute.tile.drain", CUTE_WALK_OUTER_FIRST, note_acquire, &f);
    if (!f.shared || f.drained || mlirOperationIsNull(f.acquire)) return;
    MlirOperation other = cute_defining_op(mlirOperationGetOperand(f.acquire, 2));
    if (mlirOperationIsNull(other) || !cute_op_is(other, "arith.xori")) return;
    MlirValue stage = behind_loops(mlirOperationGetOperand(f.acquire, 1), &loop),
              phase = behind_loops(mlirOperationGetOperand(other, 0), &loop);
    if (mlirValueIsNull(stage) || mlirValueIsNull(phase)) return;
    cute_builder b = cute_builder_at_end(mlirOperationGetBlock(loop), mlirOperationGetLocation(loop));
    b.before = mlirOperationGetNextInBlock(loop);
    phase = cute_binary(&b, "arith.xori", phase, cute_build_constant(&b, 32, 1));
    cute_build(&b, "cute.tile.drain", CUTE_OPERANDS(f.pipe, stage, phase), CUTE_NO_TYPES, CUTE_NO_NAMED);
    w->changed = true;
}

static void run_tile_multicast(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "cute.tile.fetch", CUTE_WALK_OUTER_FIRST, visit_fetch, &w);
    if (w.changed) cute_op_walk(root, "cute.tile.pipe", CUTE_WALK_OUTER_FIRST, drain_pipe, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_multicast = {
    .name = "cute-tile-multicast",
    .help = "Share fetches among the blocks of a cluster",
    .dialects = CUTE_DIALECT_CUTE,
    .run = run_tile_multicast,
};
