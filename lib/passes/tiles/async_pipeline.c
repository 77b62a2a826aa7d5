/* cute-async-pipeline: the loads of a loop with products run ahead of it, into rings of buffers in shared memory.
 *
 * Requires: cute-tile-layouts; loops with products in kernels whose schedule has two stages or more. Ensures: each load of such a loop
 * that can run ahead is a cute.tile.fetch to a stage of a ring, read by cute.tile.take.
 *
 * With warpgroups as consumers each stage has mbarriers (cute.tile.pipe) and is filled by TMA. The fetch stays in its iteration; it runs
 * ahead once cute-warp-specialization gives it to other warps:
 *
 *     scf.for %k = ... iter_args(%acc) { %a = cute.tile.load(%A, %c) ... ; %d = cute.tile.gemm(%a, %b, %acc) }
 * ->
 *     scf.for %k = ... iter_args(%acc, %i, %phase) {
 *       cute.tile.acquire(%pipe, %i, %other) ; cute.tile.fetch(%A, %c, %ring, %i, %pipe)
 *       cute.tile.await(%pipe, %i, %phase) ; %a = cute.tile.take(%ring, %i) ; %d = cute.tile.gemm(%a, %b, %acc)
 *       cute.tile.release(%pipe, %i)
 *     }
 *
 * Without, the fetch is cp.async, of the iteration `stages - 1` later; those of the first iterations are in front of the loop.
 * A loop has two rings or more, any number of iterations, and may be in other loops. Where a load cannot run ahead it stays, with a
 * remark.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/late_copies.h"
#include "lib/passes/tiles/schedule.h"

static const cute_pass_option options[] = {CUTE_ARCH_OPTION};

typedef struct work {
    cute_pass_run *pass;
    const cute_arch *arch;
    tile_schedule schedule;
    MlirOperation loops[32];
    int count;
    bool changed;
} work;

static void note_loop(MlirOperation op, void *context)
{
    work *w = context;
    for (MlirOperation at = mlirBlockGetFirstOperation(tile_loop_body(op)); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at))
        if (cute_op_is(at, "cute.tile.gemm") && w->count < 32) {
            w->loops[w->count++] = op;
            return;
        }
}

static void refuse(MlirOperation load, const char *why, void *context)
{
    work *w = context;
    tile_refuse(w->pass, load, "this load does not run ahead: %s", why);
}

static MlirValue i32_of(const cute_builder *b, int64_t value)
{
    return cute_build_constant(b, 32, value);
}

/* ---- shared memory ---- */

static int bits_of(MlirType type)
{
    return cute_tile_memory_bits(cute_tile_element(type));
}

int64_t tile_staged_bytes(const cute_tile_shape *shape, int bits)
{
    int64_t columns = shape->extent[shape->rank - 1];
    return cute_tile_size(shape) / columns * (columns * bits / 8 + 16);
}

static int64_t tile_bytes(MlirType type, int64_t columns)
{
    cute_tile_shape shape;
    if (!cute_tile_shape_of(type, &shape)) return 0;
    if (columns) shape.extent[shape.rank - 1] = columns;
    return tile_staged_bytes(&shape, bits_of(type));
}

/* Shared memory of operations other than stages. */
typedef struct scratch {
    int64_t stores; /* of stores by TMA, in a block */
    int store_count;
    int64_t most;      /* the most that another operation needs, in a group of warps that takes turns */
    int64_t slots;     /* of sums that other blocks send */
    int64_t exchanged; /* of stages of factors that threads write */
    int64_t parts;     /* of parts of rows that warpgroups combine */
    bool kept;         /* stages are filled in front of loops, or by other warps */
    bool beside;       /* whether one needs it while stages are filled: it is in their loop */
} scratch;

/* Whether `op`, which needs `bytes`, has no shared memory of its own in any case; as tile_find_stages sees it later. */
static bool never_needs(MlirOperation op, int64_t bytes)
{
    int dims[2];
    if (cute_op_is(op, "cute.tile.load") || cute_op_is(op, "cute.tile.gemm")) return !bytes;
    if (tile_needs_no_memory(op)) return true;
    if (!cute_op_is(op, "cute.tile.reshape")) return false;
    MlirOperation load = tile_operand_source(mlirOperationGetResult(op, 0), dims);
    return !mlirOperationIsNull(load) && tile_read_in_place(load);
}

static void note_scratch(MlirOperation op, void *context)
{
    enum { STORED = 32 << 10, WARPS = 32 };
    scratch *s = context;
    int64_t bytes = 0, columns = cute_tile_number(op, "width", 0);
    bool moved = cute_op_is(op, "cute.tile.convert") || cute_op_is(op, "cute.tile.reshape");
    MlirValue value = mlirOperationGetNumOperands(op) ? mlirOperationGetOperand(op, 0) : (MlirValue){NULL};
    if (cute_op_has(op, "tma")) {
        s->stores = STORED;
        s->store_count += mlirOperationEqual(tile_joined_store(op), op);
    } else if (columns) {
        bool load = cute_op_is(op, "cute.tile.load");
        bytes = tile_bytes(mlirValueGetType(load ? mlirOperationGetResult(op, 0) : value), columns);
    } else if (tile_changes_role(op)) {
        cute_tile_shape shape;
        cute_tile_shape_of(mlirValueGetType(value), &shape);
        s->exchanged += cute_tile_size(&shape) * bits_of(mlirValueGetType(value)) / 8;
    } else if (moved && !tile_needs_no_memory(op)) {
        bytes = tile_bytes(mlirValueGetType(value), 0);
    } else if (cute_op_is(op, "cute.tile.reduce") && !tile_needs_no_memory(op)) {
        bytes = tile_reduction_bytes(op);
    } else if (cute_op_is(op, "cute.tile.scan") && !tile_needs_no_memory(op)) {
        int64_t all = tile_bytes(mlirValueGetType(value), 0),
                parts = WARPS * tile_bytes(mlirValueGetType(mlirOperationGetResult(op, 0)), 0);
        bytes = parts < all ? parts : all;
    }
    if (tile_parts_bytes(op) > s->parts) s->parts = tile_parts_bytes(op);
    for (int i = 0; i < 2 && cute_op_is(op, "cute.tile.gemm"); i++) {
        int dims[2];
        MlirValue factor = mlirOperationGetOperand(op, i);
        MlirValue exchanged = cute_op_has(op, "wgmma") ? tile_exchanged(op, i) : (MlirValue){NULL};
        if (!mlirValueIsNull(exchanged)) {
            cute_tile_shape shape;
            cute_tile_shape_of(mlirValueGetType(exchanged), &shape);
            s->exchanged +=
                tile_exchange_stages(op, i) * tile_stage_bytes(&shape, bits_of(mlirValueGetType(exchanged)));
            continue;
        }
        bool staged = cute_op_is(tile_parent(op), "scf.for") &&
                      !mlirOperationIsNull(tile_operand_source(factor, dims)),
             held = !i && cute_op_has(op, TILE_HELD);
        if (!staged && !held) bytes += tile_bytes(mlirValueGetType(factor), 0);
    }
    if (cute_op_is(op, "cute.tile.reduce_scatter")) bytes = tile_scatter_bytes(op, &s->slots);
    if (cute_op_is(op, "cute.tile.cluster_reduce")) s->slots += tile_cluster_reduce_bytes(op);
    if (bytes > s->most) s->most = bytes;
    s->beside |= !tile_changes_role(op) && !never_needs(op, bytes) && tile_meets_stages(op, s->kept);
}

static MlirBlock entry_of(MlirOperation op)
{
    MlirOperation function = cute_op_is(op, "gpu.func") ? op : cute_op_parent(op, "gpu.func");
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
}

static void find_once_in(MlirBlock block, bool tma, MlirOperation out[TILE_AHEAD], int *count)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (cute_op_is(op, "cute.tile.load") && *count < TILE_AHEAD && !tile_why_not_once(op, tma))
            out[(*count)++] = op;
}

/* Loads in front of loops whose tiles only products read: they are fetched once, by TMA once for each tile of a resident block. */
static int find_once(const work *w, MlirOperation function, MlirOperation out[TILE_AHEAD])
{
    int count = 0;
    bool tma = w->schedule.consumers > 0;
    find_once_in(entry_of(function), tma, out, &count);
    MlirOperation place = tile_find_op(function, "cute.tile.place");
    if (tma && !mlirOperationIsNull(place) && cute_op_is(tile_parent(place), "scf.for"))
        find_once_in(mlirOperationGetBlock(place), tma, out, &count);
    return count;
}

/* Fewer stages where they would not fit, and late loads by TMA where there is room. Stages that cp.async fills are free behind their loop. */
static void fit_stages(work *w, MlirOperation function)
{
    enum { BARRIERS = 2 << 10, STAGE_BARRIERS = 16 };
    MlirOperation once[TILE_AHEAD];
    int fetched_once = find_once(w, function, once);
    scratch s = {.kept = w->schedule.consumers > 0 || fetched_once};
    int64_t bytes = 0;
    const cute_multiprocessor *limits = w->arch ? cute_multiprocessor_of(w->arch->number) : NULL;
    if (!limits) return;
    w->count = 0;
    cute_op_walk(function, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, w);
    for (int i = 0; i < w->count; i++) {
        tile_ahead ahead;
        tile_find_ahead(w->loops[i], w->schedule.consumers > 0, &ahead, NULL, NULL);
        for (int k = 0; k < ahead.count; k++) bytes += tile_ring_bytes(ahead.loads[k]);
    }
    cute_op_walk(function, "cute.tile.", CUTE_WALK_OUTER_FIRST, note_scratch, &s);
    int64_t front = s.slots + s.exchanged + s.parts;
    for (int i = fetched_once; i-- > 0;) front += tile_ring_bytes(once[i]);
    int64_t most = s.most * (w->schedule.turns ? w->schedule.consumers : 1),
            shared = tile_slice_share(&w->schedule, limits->block_shared), room = shared - BARRIERS - front,
            need = most < s.stores ? s.stores : most;
    /* Behind their loops the memory of stages may be that of other operations: of warps that load by cp.async always, of roles where both do not
     * fit (tile_find_stages). */
    if (!s.beside && !w->schedule.consumers) most = need = 0;
    bool frees = !s.beside && !w->schedule.turns && need <= w->schedule.stages * bytes;
    /* The rest of shared memory belongs to the multiprocessor's other blocks. */
    bool crowded = w->schedule.blocks > 1;
    if (frees && (crowded || w->schedule.stages * bytes + need > room)) most = need = 0;
    if (!bytes) return;
    if (w->schedule.stages * bytes + need > room) {
        int64_t fit = (room - need) / bytes, other = need + BARRIERS + front;
        tile_refuse(w->pass, function,
                    "%d stages do not fit in shared memory beside %lld bytes for other operations: %lld",
                    w->schedule.stages, (long long)other, (long long)(fit < 1 ? 1 : fit));
        w->schedule.stages = fit < 1 ? 1 : (int)fit;
        if (fit < 2 && tile_factor_threads(&w->schedule))
            tile_give_up_factors(function, "two stages do not fit beside the tiles that pass between roles");
    }
    /* Buffers that TMA fills before the store are not for other operations. A store without such loads has its own in `most`. */
    if (s.store_count > 1 && most < s.stores) most = s.stores;
    if (w->schedule.stages > 1)
        tile_choose_late(w->pass, function, &w->schedule,
                         crowded ? 0 : shared - w->schedule.stages * bytes - most - front,
                         (int64_t)(w->count + fetched_once) * w->schedule.stages * STAGE_BARRIERS);
}

int64_t tile_most_memory(MlirOperation function, int64_t turns)
{
    scratch s = {0};
    cute_op_walk(function, "cute.tile.", CUTE_WALK_OUTER_FIRST, note_scratch, &s);
    int64_t most = s.most * turns;
    return most < s.stores ? s.stores : most;
}

/* ---- rings ---- */

typedef struct stages {
    tile_ahead ahead;
    MlirValue rings[TILE_AHEAD], pipe;
    int count;    /* stages of a ring */
    bool alone;   /* no other pipe is in the loop */
    bool streams; /* tiles of A leave L2 first */
} stages;

/* Rings of `count` stages, and with TMA a pipe. */
static void make_rings(work *w, MlirOperation loop, int count, stages *s)
{
    s->count = count;
    s->streams = w->schedule.l2 == TILE_L2_STREAM;
    cute_builder b = cute_builder_at_start(entry_of(loop), mlirOperationGetLocation(loop));
    int64_t bytes = 0;
    for (int i = 0; i < s->ahead.count; i++) {
        MlirOperation load = s->ahead.loads[i];
        b.location = mlirOperationGetLocation(load);
        s->rings[i] =
            cute_build_value(&b, "cute.tile.ring", tile_ring_type(load, count, w->schedule.consumers > 0),
                             CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        cute_tile_shape shape;
        MlirType tile = mlirValueGetType(mlirOperationGetResult(load, 0));
        cute_tile_shape_of(tile, &shape);
        bytes += cute_tile_size(&shape) * cute_tile_bits(cute_tile_element(tile)) / 8;
    }
    if (!w->schedule.consumers) return;
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    b.location = mlirOperationGetLocation(loop);
    s->pipe = cute_build_value(
        &b, "cute.tile.pipe", mlirTypeParseGet(b.context, cute_text("!cute.ptr<i64, smem, align<8>>")),
        CUTE_NO_OPERANDS,
        CUTE_NAMED(cute_attribute(b.context, "bytes", mlirIntegerAttrGet(i32, bytes)),
                   cute_attribute(b.context, "stages", mlirIntegerAttrGet(i32, count))));
}

/* Whether tiles are those of A: they depend on the index of the grid's rows, and not on that of its columns. */
static bool is_of_rows(MlirValue coord, MlirOperation function)
{
    MlirOperation grid = tile_find_op(function, "cute.tile.place");
    if (mlirOperationIsNull(grid)) grid = tile_find_op(function, "cute.tile.program");
    if (mlirOperationIsNull(grid)) return false;
    int64_t tile[CUTE_TILE_RANK];
    int rank = cute_tile_numbers(mlirOperationGetAttributeByName(grid, cute_text("extents")), tile),
        places = tile_places_of(coord);
    return rank > 1 && !(places & (TILE_UNKNOWN_PLACE | 1 << (rank - 1))) && places & 1 << (rank - 2);
}

static void fetch(const cute_builder *b, const stages *s, int i, MlirValue coord, MlirValue stage)
{
    MlirValue operands[] = {mlirOperationGetOperand(s->ahead.loads[i], 0), coord, s->rings[i], stage,
                            s->pipe};
    cute_builder own = *b;
    own.location = mlirOperationGetLocation(s->ahead.loads[i]);
    MlirOperation made = cute_build(&own, "cute.tile.fetch",
                                    (cute_operands){operands, mlirValueIsNull(s->pipe) ? 4 : 5},
                                    CUTE_NO_TYPES, CUTE_NO_NAMED),
                  function = cute_op_parent(made, "gpu.func");
    if (s->streams && !mlirValueIsNull(s->pipe) && is_of_rows(coord, function))
        mlirOperationSetAttributeByName(made, cute_text("streams"), mlirUnitAttrGet(own.context));
}

static void take(MlirOperation load, MlirValue ring, MlirValue stage)
{
    cute_builder b = cute_builder_before(load);
    MlirValue result = mlirOperationGetResult(load, 0);
    MlirValue tile = cute_build_value(&b, "cute.tile.take", mlirValueGetType(result),
                                      CUTE_OPERANDS(ring, stage), CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(result, tile);
    mlirOperationDestroy(load);
}

/* ---- TMA: stage and phase are carried through the loop and those around it ---- */

/* Whether each operation around `loop` up to the kernel is a loop. */
static bool only_loops(MlirOperation loop)
{
    MlirOperation at = tile_parent(loop);
    while (cute_op_is(at, "scf.for")) at = tile_parent(at);
    return cute_op_is(at, "gpu.func");
}

static MlirOperation carry_state(const cute_builder *start, MlirOperation loop, MlirValue state[2])
{
    MlirOperation around = tile_parent(loop);
    MlirValue initial[2] = {{NULL}, {NULL}};
    intptr_t at = 0;
    bool nested = cute_op_is(around, "scf.for");
    if (nested) {
        around = carry_state(start, around, initial);
        at = mlirOperationGetNumResults(around) - 2;
    } else {
        for (int i = 0; i < 2; i++) initial[i] = i32_of(start, 0);
    }
    loop = tile_loop_carry(loop, initial, 2);
    intptr_t own = mlirOperationGetNumResults(loop) - 2;
    if (nested) {
        MlirOperation yield = mlirBlockGetTerminator(tile_loop_body(around));
        for (int i = 0; i < 2; i++)
            mlirOperationSetOperand(yield, at + i, mlirOperationGetResult(loop, own + i));
    }
    for (int i = 0; i < 2; i++) state[i] = mlirBlockGetArgument(tile_loop_body(loop), 1 + own + i);
    return loop;
}

/* Whether a product reads stages of these rings. */
static bool reads(MlirOperation product, const stages *s)
{
    for (int k = 0; k < 2; k++) {
        int dims[2];
        MlirOperation source = tile_operand_source(mlirOperationGetOperand(product, k), dims);
        for (int i = 0; i < s->ahead.count && !mlirOperationIsNull(source); i++)
            if (cute_op_is(source, "cute.tile.take") &&
                mlirValueEqual(mlirOperationGetOperand(source, 0), s->rings[i]))
                return true;
    }
    return false;
}

typedef struct reader {
    const stages *s;
    bool found;
} reader;

static void note_reader(MlirOperation op, void *context)
{
    reader *r = context;
    r->found |= reads(op, r->s);
}

/* The operation in front of which stages are released: behind the last product that reads them where only products do, else the end. */
static MlirOperation last_reader(MlirBlock body, const stages *s)
{
    MlirOperation at = mlirBlockGetTerminator(body), end = at;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        reader r = {s, false};
        cute_op_walk(op, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, note_reader, &r);
        if (r.found) at = mlirOperationGetNextInBlock(op);
        if (!cute_op_is(op, "cute.tile.take")) continue;
        bool own = false;
        for (int i = 0; i < s->ahead.count; i++)
            own |= mlirValueEqual(mlirOperationGetOperand(op, 0), s->rings[i]);
        if (own && !tile_read_in_place(op)) return end;
    }
    return at;
}

/* The operation behind the last fetch of a loop, the first one if it has none. */
static MlirOperation behind_fetches(MlirBlock body)
{
    MlirOperation at = mlirBlockGetFirstOperation(body);
    for (MlirOperation op = at; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
        if (cute_op_is(op, "cute.tile.fetch")) at = mlirOperationGetNextInBlock(op);
    return at;
}

/* Returns the loop that takes the place of `loop`. */
static MlirOperation pipeline_tma(MlirOperation loop, stages *s)
{
    MlirValue state[2];
    cute_builder start = cute_builder_at_start(entry_of(loop), mlirOperationGetLocation(loop));
    loop = carry_state(&start, loop, state);
    MlirBlock body = tile_loop_body(loop);
    MlirType i32 = mlirIntegerTypeGet(start.context, 32);
    /* The fetches are in the place of the first load: the operands of their coordinates are above each load, and may be copied. */
    MlirValue iv = mlirBlockGetArgument(body, 0);
    cute_builder b = cute_builder_at_start(body, mlirOperationGetLocation(loop));
    b.before = behind_fetches(body);
    MlirValue other = cute_binary(&b, "arith.xori", state[1], i32_of(&b, 1));
    cute_build(&b, "cute.tile.acquire", CUTE_OPERANDS(s->pipe, state[0], other), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    for (int i = 0; i < s->ahead.count; i++) {
        MlirValue coord = tile_recompute(&b, body, mlirOperationGetOperand(s->ahead.loads[i], 1), iv, iv);
        fetch(&b, s, i, coord, state[0]);
    }
    if (!s->alone) b.before = s->ahead.loads[0]; /* the others' products do not wait for these tiles */
    cute_build(&b, "cute.tile.await", CUTE_OPERANDS(s->pipe, state[0], state[1]), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    for (int i = 0; i < s->ahead.count; i++) take(s->ahead.loads[i], s->rings[i], state[0]);
    MlirOperation yield = mlirBlockGetTerminator(body);
    b.before = last_reader(body, s);
    cute_build(&b, "cute.tile.release", CUTE_OPERANDS(s->pipe, state[0]), CUTE_NO_TYPES, CUTE_NO_NAMED);
    b.before = yield;
    MlirType types[2] = {i32, i32};
    MlirOperation next = cute_build(
        &b, "cute_nvgpu.arch.pipeline_advance", CUTE_OPERANDS(state[0], state[1]), (cute_types){types, 2},
        CUTE_NAMED(cute_attribute(b.context, "stages", mlirIntegerAttrGet(i32, s->count))));
    intptr_t last = mlirOperationGetNumOperands(yield) - 2;
    for (int i = 0; i < 2; i++) mlirOperationSetOperand(yield, last + i, mlirOperationGetResult(next, i));
    return loop;
}

/* The product that alone reads a load; null: several, or another operation. */
static MlirOperation only_product(MlirValue tile)
{
    MlirOperation found = {NULL};
    const MlirOperation none = {NULL};
    for (MlirOpOperand use = mlirValueGetFirstUse(tile); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        bool view = cute_op_is(user, "cute.tile.permute") || cute_op_is(user, "cute.tile.reshape");
        if (view) user = only_product(mlirOperationGetResult(user, 0));
        if (mlirOperationIsNull(user) || !cute_op_is(user, "cute.tile.gemm") ||
            (!mlirOperationIsNull(found) && !mlirOperationEqual(found, user)))
            return none;
        found = user;
    }
    return found;
}

/* Tiles of a product whose other factor is computed from the sums of an earlier one have a pipe of their own: the earlier product neither
 * waits for them, nor are its own kept until the later one. `all` becomes those of the first such group, which is returned. */
static tile_ahead split_group(tile_ahead *all)
{
    tile_ahead first = {0}, rest = {0};
    MlirOperation product = {NULL};
    bool chained = false;
    for (int i = 0; i < all->count; i++) {
        MlirOperation own = only_product(mlirOperationGetResult(all->loads[i], 0));
        if (mlirOperationIsNull(own)) return first = *all, *all = (tile_ahead){0}, first;
        chained |= !mlirOperationIsNull(tile_product_of(mlirOperationGetOperand(own, 0)));
        if (mlirOperationIsNull(product)) product = own;
        tile_ahead *to = mlirOperationEqual(own, product) ? &first : &rest;
        to->loads[to->count++] = all->loads[i];
    }
    if (!chained) return first = *all, *all = (tile_ahead){0}, first;
    *all = rest;
    return first;
}

static void pipeline_groups(work *w, MlirOperation loop, tile_ahead all)
{
    for (bool alone = true; all.count; alone = false) {
        stages s = {.ahead = split_group(&all)};
        s.alone = alone && !all.count;
        make_rings(w, loop, w->schedule.stages, &s);
        loop = pipeline_tma(loop, &s);
    }
}

/* ---- cp.async ---- */

static void commit(const cute_builder *b)
{
    cute_build(b, "cute_nvgpu.arch.cp_async_commit_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* The fetches of iteration `k`. */
static void fetch_all(const cute_builder *b, const stages *s, MlirBlock body, MlirValue iv, MlirValue k,
                      MlirValue stage)
{
    for (int i = 0; i < s->ahead.count; i++) {
        MlirValue coord = tile_recompute(b, body, mlirOperationGetOperand(s->ahead.loads[i], 1), iv, k);
        fetch(b, s, i, coord, stage);
    }
}

/* The same where `condition` is true. */
static void fetch_if(const cute_builder *b, const stages *s, MlirBlock body, MlirValue iv, MlirValue k,
                     MlirValue condition, MlirValue stage)
{
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock then = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], then);
    cute_builder inside = cute_builder_at_end(then, b->location);
    cute_build_regions(b, "scf.if", CUTE_OPERANDS(condition), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    fetch_all(&inside, s, body, iv, k, stage);
    cute_build(&inside, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* This thread's copies but those of the last `left` commits are complete. */
static void wait_for_own(const cute_builder *b, int left)
{
    MlirType i32 = mlirIntegerTypeGet(b->context, 32);
    cute_build(b, "cute_nvgpu.arch.cp_async_wait_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
               CUTE_NAMED(cute_attribute(b->context, "groups", mlirIntegerAttrGet(i32, left))));
}

/* Those of all threads. */
static void wait_for_copies(const cute_builder *b, int left)
{
    wait_for_own(b, left);
    cute_build(b, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* The only operation of a loop that reads its tiles, a product; null: others do. */
static MlirOperation only_reader(MlirOperation loop, const stages *s)
{
    const MlirOperation none = {NULL};
    MlirOperation product = none;
    for (MlirOperation at = mlirBlockGetFirstOperation(tile_loop_body(loop)); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at)) {
        bool multiplies = cute_op_is(at, "cute.tile.gemm");
        if (mlirOperationGetNumRegions(at) || (multiplies && !mlirOperationIsNull(product))) return none;
        if (multiplies) product = at;
    }
    for (int i = 0; i < s->ahead.count; i++)
        if (!mlirOperationEqual(only_product(mlirOperationGetResult(s->ahead.loads[i], 0)), product))
            return none;
    return product;
}

static bool by_tensor_cores(MlirOperation product, const cute_arch *arch)
{
    tile_product p;
    cute_tile_shape shapes[2];
    MlirType types[2] = {mlirValueGetType(mlirOperationGetOperand(product, 0)),
                         mlirValueGetType(mlirOperationGetOperand(product, 2))};
    for (int i = 0; i < 2; i++) cute_tile_shape_of(types[i], &shapes[i]);
    tile_product_choose(&shapes[0], &shapes[1], cute_tile_element(types[0]), cute_tile_element(types[1]),
                        product, arch, 32, &p);
    return !p.multiply_add;
}

/* The iterations from `stop` on, which fetch nothing, in a loop of their own behind `loop`, which ends there. */
static void split_last(const cute_builder *b, MlirOperation loop, MlirValue stop)
{
    MlirValue low = mlirOperationGetOperand(loop, 0), step = mlirOperationGetOperand(loop, 2),
              zero = cute_integer(b, mlirValueGetType(low), 0),
              length = cute_binary(b, "arith.subi", stop, low),
              count = cute_binary(b, "arith.ceildivsi", length, step),
              first = cute_binary(b, "arith.addi", low, cute_binary(b, "arith.muli", count, step));
    MlirOperation last = mlirOperationClone(loop), next = mlirOperationGetNextInBlock(loop);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(loop), next, last);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(loop); i++) {
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop, i), mlirOperationGetResult(last, i));
        mlirOperationSetOperand(last, 3 + i, mlirOperationGetResult(loop, i));
    }
    mlirOperationSetOperand(last, 0, cute_select(b, cute_compare(b, CUTE_IS_SGT, length, zero), first, low));
    mlirOperationSetOperand(loop, 1, stop);
    MlirBlock body = tile_loop_body(last);
    MlirOperation yield = mlirBlockGetTerminator(body), wait = {NULL};
    for (MlirOperation at = mlirBlockGetFirstOperation(body), behind; !mlirOperationEqual(at, yield);
         at = behind) {
        behind = mlirOperationGetNextInBlock(at);
        if (cute_op_is(at, "cute.tile.fetch"))
            mlirOperationDestroy(at);
        else if (cute_op_is(at, "cute_nvgpu.arch.cp_async_wait_group"))
            wait = at;
    }
    tile_drop_unused(body);
    /* Not directly behind the product, whose lowering would read a stage that is not filled. */
    MlirOperation barrier = mlirOperationGetNextInBlock(wait);
    mlirOperationMoveBefore(wait, yield);
    mlirOperationMoveBefore(barrier, yield);
    tile_loop_keep_whole(last);
}

/* In front of the loop, the tiles of its first iterations. The rings may have been read by an earlier loop. */
static void fetch_first(const cute_builder *b, const stages *s, MlirOperation loop, int ahead)
{
    MlirValue low = mlirOperationGetOperand(loop, 0), step = mlirOperationGetOperand(loop, 2);
    MlirBlock body = tile_loop_body(loop);
    MlirValue iv = mlirBlockGetArgument(body, 0);
    cute_build(b, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirValue length = cute_binary(b, "arith.subi", mlirOperationGetOperand(loop, 1), low);
    for (int i = 0; i < ahead; i++) {
        MlirValue far = cute_binary(b, "arith.muli", step, cute_integer(b, mlirValueGetType(low), i));
        MlirValue there = cute_compare(b, CUTE_IS_SGT, length, far);
        fetch_if(b, s, body, iv, cute_binary(b, "arith.addi", low, far), there, i32_of(b, i));
        commit(b);
    }
}

/* A loop whose tiles one product by tensor cores alone reads. It need not wait where iterations meet: the wait for the next iteration's tiles is
 * behind the product, so that its lowering can read the first of them before it is complete. Fetches have no branch, so that ptxas mixes
 * them with multiplications: the last iterations, which have none, are another loop.
 *
 *     fetch 0 ... ; wait ; for %k = 0 to n - ahead { fetch %k + ahead ; gemm ; wait } ; for %k = n - ahead to n { gemm ; wait }
 */
static void pipeline_product(work *w, MlirOperation loop, stages *s, MlirOperation product)
{
    int ahead = w->schedule.stages - 1;
    MlirValue low = mlirOperationGetOperand(loop, 0), stop = mlirOperationGetOperand(loop, 1),
              step = mlirOperationGetOperand(loop, 2);
    MlirType type = mlirValueGetType(low);
    cute_builder b = cute_builder_before(loop);
    MlirValue initial[] = {i32_of(&b, 0), i32_of(&b, ahead)};
    loop = tile_loop_carry(loop, initial, 2);
    MlirBlock body = tile_loop_body(loop);
    intptr_t carried = mlirOperationGetNumResults(loop) - 2;
    MlirValue iv = mlirBlockGetArgument(body, 0), read = mlirBlockGetArgument(body, 1 + carried),
              write = mlirBlockGetArgument(body, 2 + carried);
    MlirOperation yield = mlirBlockGetTerminator(body);
    b = cute_builder_before(loop);
    fetch_first(&b, s, loop, ahead);
    wait_for_copies(&b, ahead - 1);
    MlirValue far = cute_binary(&b, "arith.muli", step, cute_integer(&b, type, ahead)),
              full = cute_binary(&b, "arith.subi", stop, far);
    b = cute_builder_before(product);
    fetch_all(&b, s, body, iv, cute_binary(&b, "arith.addi", iv, far), write);
    commit(&b);
    b.before = mlirOperationGetNextInBlock(product);
    wait_for_copies(&b, ahead - 1);
    for (int i = 0; i < s->ahead.count; i++) take(s->ahead.loads[i], s->rings[i], read);
    b.before = yield;
    mlirOperationSetOperand(yield, carried, tile_stage_behind(&b, read, w->schedule.stages));
    mlirOperationSetOperand(yield, carried + 1, read);
    tile_drop_unused(body);
    b = cute_builder_before(loop);
    split_last(&b, loop, full);
}

/* Another loop waits for the tiles of an iteration at its start, and fetches a later one's to the stage that was read in the iteration before. */
static void pipeline_copies(work *w, MlirOperation loop, stages *s)
{
    MlirOperation product = only_reader(loop, s);
    if (!mlirOperationIsNull(product) && by_tensor_cores(product, w->arch)) {
        pipeline_product(w, loop, s, product);
        return;
    }
    int ahead = w->schedule.stages - 1;
    MlirValue stop = mlirOperationGetOperand(loop, 1), step = mlirOperationGetOperand(loop, 2);
    MlirType type = mlirValueGetType(stop);
    cute_builder b = cute_builder_before(loop);
    MlirValue initial[2] = {i32_of(&b, 0), i32_of(&b, ahead)};
    loop = tile_loop_carry(loop, initial, 2);
    MlirBlock body = tile_loop_body(loop);
    intptr_t last = mlirOperationGetNumResults(loop) - 2;
    MlirValue iv = mlirBlockGetArgument(body, 0), read = mlirBlockGetArgument(body, 1 + last),
              write = mlirBlockGetArgument(body, 2 + last);
    b = cute_builder_before(loop);
    fetch_first(&b, s, loop, ahead);
    b = cute_builder_at_start(body, mlirOperationGetLocation(loop));
    b.before = mlirBlockGetFirstOperation(body);
    wait_for_copies(&b, ahead - 1);
    MlirValue far = cute_binary(&b, "arith.muli", step, cute_integer(&b, type, ahead));
    MlirValue left = cute_binary(&b, "arith.subi", stop, iv);
    MlirValue there = cute_compare(&b, CUTE_IS_SGT, left, far);
    fetch_if(&b, s, body, iv, cute_binary(&b, "arith.addi", iv, far), there, write);
    commit(&b);
    for (int i = 0; i < s->ahead.count; i++) take(s->ahead.loads[i], s->rings[i], read);
    MlirOperation yield = mlirBlockGetTerminator(body);
    b.before = yield;
    mlirOperationSetOperand(yield, last, tile_stage_behind(&b, read, w->schedule.stages));
    mlirOperationSetOperand(yield, last + 1, read);
    tile_drop_unused(body);
}

/* By cp.async: a group in front of those of the loops, whose waits are for it too. It is complete behind the loops that have no iteration. */
static void copy_once(MlirOperation load, const stages *s)
{
    MlirBlock block = mlirOperationGetBlock(load);
    MlirOperation last = {NULL};
    cute_builder b = cute_builder_before(load);
    MlirValue zero = i32_of(&b, 0);
    fetch(&b, s, 0, mlirOperationGetOperand(load, 1), zero);
    commit(&b);
    take(load, s->rings[0], zero);
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        reader r = {s, false};
        cute_op_walk(op, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, note_reader, &r);
        if (r.found) last = op;
    }
    b = cute_builder_before(mlirOperationIsNull(last) ? mlirBlockGetTerminator(block)
                                                      : mlirOperationGetNextInBlock(last));
    wait_for_own(&b, 0);
}

/* A load in front of the loops: one stage, which is filled once and stays; in the loop over a resident block's tiles once for each. */
static void fetch_once(work *w, MlirOperation load)
{
    stages s = {.ahead = {1, {load}}};
    MlirOperation loop = tile_parent(load);
    make_rings(w, load, 1, &s);
    if (cute_op_is(loop, "scf.for")) {
        pipeline_tma(loop, &s);
        return;
    }
    if (mlirValueIsNull(s.pipe)) {
        copy_once(load, &s);
        return;
    }
    cute_builder b = cute_builder_before(load);
    MlirValue zero = i32_of(&b, 0);
    cute_build(&b, "cute.tile.acquire", CUTE_OPERANDS(s.pipe, zero, i32_of(&b, 1)), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    fetch(&b, &s, 0, mlirOperationGetOperand(load, 1), zero);
    cute_build(&b, "cute.tile.await", CUTE_OPERANDS(s.pipe, zero, zero), CUTE_NO_TYPES, CUTE_NO_NAMED);
    take(load, s.rings[0], zero);
}

/* ---- the pass ---- */

static void visit_function(MlirOperation function, void *context)
{
    work *w = context;
    tile_schedule_of(function, &w->schedule);
    if (w->schedule.naive || w->schedule.stages < 2 || !tile_is_program(function)) return;
    fit_stages(w, function);
    if (w->schedule.stages < 2) return;
    for (int i = 0;; i++) {
        /* Again after each one: loops around it are new operations, in the same order. */
        stages s = {0};
        w->count = 0;
        cute_op_walk(function, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, w);
        if (i >= w->count) break;
        tile_find_ahead(w->loops[i], w->schedule.consumers > 0, &s.ahead, refuse, w);
        if (!s.ahead.count) continue;
        if (w->schedule.consumers && !only_loops(w->loops[i])) {
            tile_refuse(w->pass, w->loops[i],
                        "loads of this loop do not run ahead: it is in an operation other than a loop");
            continue;
        }
        if (w->schedule.consumers) {
            pipeline_groups(w, w->loops[i], s.ahead);
        } else {
            make_rings(w, w->loops[i], w->schedule.stages, &s);
            pipeline_copies(w, w->loops[i], &s);
        }
        w->changed = true;
    }
    MlirOperation once[TILE_AHEAD];
    while (w->changed && find_once(w, function, once)) fetch_once(w, once[0]);
}

static void run_async_pipeline(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    if (!cute_pass_arch(pass, 0, root, &w.arch)) return;
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_async_pipeline = {
    .name = "cute-async-pipeline",
    .help = "Fetch the tiles of loops with products ahead, into stages in shared memory",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU |
                CUTE_DIALECT_SCF,
    .run = run_async_pipeline,
};
