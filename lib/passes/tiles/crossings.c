/* See schedule.h: tiles that pass between the warpgroup that computes a factor and the consumers.
 *
 * A tile passes where its distribution is over other threads than that of the operation that needs it: a cute.tile.convert, or the factor of a wide
 * product. It goes through a ring of one stage, behind its definition; tiles that are known before the first of them is needed have one pipe.
 *
 *     scf.for ... {
 *       %h = FACTOR(%s) ; %d = cute.tile.gemm(%h, %b, %acc)
 *     }
 * ->
 *     scf.for ... iter_args(..., %phase = %c0) {
 *       %h = FACTOR(%s) ; cute.tile.acquire(%pipe, %c0, 1 - %phase) ; cute.tile.put(%h, %ring, %c0, %pipe)
 *       cute.tile.await(%pipe, %c0, %phase) ; %u = cute.tile.take(%ring, %c0) ; %d = cute.tile.gemm(%u, %b, %acc)
 *       cute.tile.release(%pipe, %c0) ; scf.yield ..., 1 - %phase
 *     }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 32 };

typedef struct crossing {
    MlirOperation use; /* the conversion, or the product */
    MlirValue tile;
    MlirOperation made; /* null: an argument of the block */
    int64_t threads;    /* that have it */
    int64_t pipe;       /* of those with the same number, from 1 on; 0: not chosen yet */
} crossing;

typedef struct crossings {
    crossing items[MOST];
    int count;
    bool failed; /* there are too many, or one is in a branch */
} crossings;

static int64_t threads_of(MlirValue tile)
{
    tile_distribution d;
    return tile_distribution_of(mlirValueGetType(tile), &d) ? tile_threads(&d) : 0;
}

bool tile_changes_role(MlirOperation op)
{
    return cute_op_is(op, "cute.tile.convert") &&
           threads_of(mlirOperationGetOperand(op, 0)) != threads_of(mlirOperationGetResult(op, 0));
}

static void note_crossing(MlirOperation op, void *context)
{
    crossings *all = context;
    MlirValue tile = {NULL};
    if (tile_changes_role(op)) tile = mlirOperationGetOperand(op, 0);
    if (cute_op_is(op, "cute.tile.gemm")) tile = tile_exchanged(op, 0);
    if (mlirValueIsNull(tile)) return;
    if (all->count == MOST) {
        all->failed = true;
        return;
    }
    all->items[all->count++] =
        (crossing){.use = op, .tile = tile, .made = cute_defining_op(tile), .threads = threads_of(tile)};
}

static MlirBlock block_of(const crossing *c)
{
    return mlirOperationIsNull(c->made) ? mlirBlockArgumentGetOwner(c->tile) : mlirOperationGetBlock(c->made);
}

/* The loop whose body the tile is known in; null: it is known in the kernel's block. */
static bool loop_of(const crossing *c, MlirOperation *loop)
{
    MlirOperation parent = mlirBlockGetParentOperation(block_of(c));
    *loop = (MlirOperation){NULL};
    if (cute_op_is(parent, "gpu.func")) return true;
    *loop = parent;
    return cute_op_is(parent, "scf.for") && cute_op_is(tile_parent(parent), "gpu.func");
}

/* The first operation of its block that needs the tile on the other side. */
static MlirOperation first_need(const crossing *c)
{
    MlirBlock block = block_of(c);
    if (!cute_op_is(c->use, "cute.tile.convert")) return c->use;
    return tile_first_user(block, mlirOperationGetResult(c->use, 0));
}

static bool is_known(const crossing *c, MlirOperation before)
{
    return mlirOperationIsNull(c->made) ||
           (!mlirOperationEqual(c->made, before) && cute_op_in_front(c->made, before));
}

/* Tiles of the block, from the same side, that are known where the first of them is needed. */
static void choose_pipes(crossings *all, MlirBlock block)
{
    int64_t pipes = 0;
    for (;;) {
        crossing *first = NULL;
        for (int i = 0; i < all->count; i++) { /* needed first */
            crossing *c = &all->items[i];
            if (c->pipe || !mlirBlockEqual(block_of(c), block)) continue;
            if (!first || cute_op_in_front(first_need(c), first_need(first))) first = c;
        }
        if (!first) return;
        first->pipe = ++pipes;
        for (int i = 0; i < all->count; i++) {
            crossing *c = &all->items[i];
            if (!c->pipe && mlirBlockEqual(block_of(c), block) && c->threads == first->threads &&
                is_known(c, first_need(first)))
                c->pipe = first->pipe;
        }
    }
}

static MlirType with_element(MlirType tile, MlirType element)
{
    cute_tile_shape shape;
    cute_tile_shape_of(tile, &shape);
    return cute_tile_type(&shape, element, mlirRankedTensorTypeGetEncoding(tile));
}

/* The type of the tile in its stage: elements of i1 are bytes there. */
static MlirType stored_type(MlirType tile)
{
    MlirType element = cute_tile_element(tile);
    bool truth = mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1;
    return truth ? with_element(tile, mlirIntegerTypeGet(mlirTypeGetContext(tile), 8)) : tile;
}

/* The operation behind which all tiles of a pipe are known; null: the block's arguments are enough. */
static MlirOperation last_made(const crossings *all, MlirBlock block, int64_t pipe)
{
    MlirOperation last = {NULL};
    for (int i = 0; i < all->count; i++) {
        const crossing *c = &all->items[i];
        if (c->pipe != pipe || !mlirBlockEqual(block_of(c), block) || mlirOperationIsNull(c->made)) continue;
        if (mlirOperationIsNull(last) || cute_op_in_front(last, c->made)) last = c->made;
    }
    return last;
}

static MlirValue make_pipe(MlirOperation function, MlirLocation location)
{
    cute_builder b =
        cute_builder_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)), location);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    return cute_build_value(&b, "cute.tile.pipe",
                            mlirTypeParseGet(b.context, cute_text("!cute.ptr<i64, smem, align<8>>")),
                            CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(b.context, "bytes", mlirIntegerAttrGet(i32, 0)),
                                       cute_attribute(b.context, "stages", mlirIntegerAttrGet(i32, 1))));
}

static void use_pipe(const cute_builder *b, const char *name, MlirValue pipe, MlirValue stage,
                     MlirValue phase)
{
    cute_build(b, name, CUTE_OPERANDS(pipe, stage, phase), CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* Passes the tiles of one pipe. `phase`: of the loop around them; null: they pass once. */
static void pass_tiles(MlirOperation function, crossings *all, MlirBlock block, int64_t pipe, MlirValue phase)
{
    MlirValue rings[MOST];
    MlirOperation last = last_made(all, block, pipe);
    cute_builder b = cute_builder_before(mlirOperationIsNull(last) ? mlirBlockGetFirstOperation(block)
                                                                   : mlirOperationGetNextInBlock(last));
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    bool loop = !mlirValueIsNull(phase);
    for (int i = 0; i < all->count; i++)
        if (all->items[i].pipe == pipe && mlirBlockEqual(block_of(&all->items[i]), block))
            b.location = mlirOperationGetLocation(all->items[i].use);
    MlirValue mbarriers = make_pipe(function, b.location), stage = cute_integer(&b, i32, 0);
    if (loop)
        use_pipe(&b, "cute.tile.acquire", mbarriers, stage,
                 cute_binary(&b, "arith.xori", phase, cute_integer(&b, i32, 1)));
    for (int i = 0; i < all->count; i++) {
        const crossing *c = &all->items[i];
        if (c->pipe != pipe || !mlirBlockEqual(block_of(c), block)) continue;
        MlirType type = mlirValueGetType(c->tile), stored = stored_type(type);
        MlirValue tile =
            mlirTypeEqual(type, stored) ? c->tile : cute_unary(&b, "arith.extui", c->tile, stored);
        rings[i] = tile_make_ring(function, tile, 1);
        cute_build(&b, "cute.tile.put", CUTE_OPERANDS(tile, rings[i], stage, mbarriers), CUTE_NO_TYPES,
                   CUTE_NO_NAMED);
    }
    use_pipe(&b, "cute.tile.await", mbarriers, stage, loop ? phase : stage);
    for (int i = 0; i < all->count; i++) {
        crossing *c = &all->items[i];
        if (c->pipe != pipe || !mlirBlockEqual(block_of(c), block)) continue;
        bool converts = cute_op_is(c->use, "cute.tile.convert");
        MlirType type = mlirValueGetType(converts ? mlirOperationGetResult(c->use, 0) : c->tile),
                 stored = stored_type(type);
        MlirValue taken =
            cute_build_value(&b, "cute.tile.take", stored, CUTE_OPERANDS(rings[i], stage), CUTE_NO_NAMED);
        if (!mlirTypeEqual(type, stored)) taken = cute_unary(&b, "arith.trunci", taken, type);
        if (converts)
            mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(c->use, 0), taken);
        else
            mlirOperationSetOperand(c->use, 0, taken);
    }
    if (!loop) return;
    cute_builder end = cute_builder_before(mlirBlockGetTerminator(block));
    end.location = b.location;
    cute_build(&end, "cute.tile.release", CUTE_OPERANDS(mbarriers, stage), CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* A phase that each iteration changes. */
static MlirValue carry_phase(MlirOperation loop)
{
    cute_builder start = cute_builder_before(loop);
    MlirValue zero = cute_build_constant(&start, 32, 0);
    intptr_t last = mlirOperationGetNumResults(loop);
    loop = tile_loop_carry(loop, &zero, 1);
    MlirBlock body = tile_loop_body(loop);
    MlirValue phase = mlirBlockGetArgument(body, 1 + last);
    MlirOperation yield = mlirBlockGetTerminator(body);
    cute_builder b = cute_builder_before(yield);
    mlirOperationSetOperand(
        yield, last, cute_binary(&b, "arith.xori", phase, cute_integer(&b, mlirValueGetType(phase), 1)));
    return phase;
}

static void pass_in_block(MlirOperation function, crossings *all, MlirBlock block, MlirValue phase)
{
    choose_pipes(all, block);
    for (int64_t pipe = 1, found = 1; found; pipe++) {
        found = 0;
        for (int i = 0; i < all->count; i++)
            found |= all->items[i].pipe == pipe && mlirBlockEqual(block_of(&all->items[i]), block);
        if (found) pass_tiles(function, all, block, pipe, phase);
    }
    for (int i = 0; i < all->count; i++) {
        crossing *c = &all->items[i];
        if (!c->pipe || !cute_op_is(c->use, "cute.tile.convert")) continue;
        mlirOperationDestroy(c->use);
        *c = all->items[--all->count];
        i--;
    }
}

static void find(MlirOperation function, crossings *all)
{
    *all = (crossings){.count = 0};
    cute_op_walk(function, "cute.tile.", CUTE_WALK_OUTER_FIRST, note_crossing, all);
}

bool tile_pass_between_roles(MlirOperation function)
{
    crossings all;
    MlirOperation loop;
    find(function, &all);
    for (int i = 0; i < all.count; i++) all.failed |= !loop_of(&all.items[i], &loop);
    if (all.failed) return false;
    /* Carrying a value replaces a loop, and so the blocks and arguments that were found. */
    MlirValue phases[MOST];
    MlirBlock done[MOST];
    int loops = 0;
    for (int i = 0; i < all.count; i++) {
        bool carried = false;
        for (int k = 0; k < loops; k++) carried |= mlirBlockEqual(done[k], block_of(&all.items[i]));
        if (carried || !loop_of(&all.items[i], &loop) || mlirOperationIsNull(loop)) continue;
        phases[loops] = carry_phase(loop);
        done[loops] = mlirBlockArgumentGetOwner(phases[loops]);
        loops++;
        find(function, &all);
        i = -1;
    }
    for (int k = 0; k < loops; k++) pass_in_block(function, &all, done[k], phases[k]);
    find(function, &all);
    pass_in_block(function, &all, mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)),
                  (MlirValue){NULL});
    return true;
}
