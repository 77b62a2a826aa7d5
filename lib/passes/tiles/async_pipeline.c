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
    MlirType element = cute_tile_element(type);
    if (mlirTypeIsAFloat(element)) return (int)mlirFloatTypeGetWidth(element);
    int bits = mlirTypeIsAInteger(element) ? (int)mlirIntegerTypeGetWidth(element) : 64;
    return bits < 8 ? 8 : bits;
}

static int64_t tile_bytes(MlirType type, int64_t columns)
{
    cute_tile_shape shape;
    if (!cute_tile_shape_of(type, &shape)) return 0;
    if (columns) shape.extent[shape.rank - 1] = columns;
    /* Rows may have 16 bytes of padding. */
    int64_t rows = cute_tile_size(&shape) / shape.extent[shape.rank - 1];
    return rows * (shape.extent[shape.rank - 1] * bits_of(type) / 8 + 16);
}

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
    bool stays = map && tile_registers_map(arena, &from, &to, map);
    cute_arena_destroy(arena);
    return stays;
}

/* Shared memory of operations other than stages. */
typedef struct scratch {
    const work *w;
    int64_t stores; /* of stores by TMA, in a block */
    int store_count;
    int64_t most; /* the most that another operation needs, in a group of warps that takes turns */
    bool beside;  /* whether one needs it while stages are filled: it is in their loop */
} scratch;

static bool in_loop_with_product(const work *w, MlirOperation op)
{
    for (MlirOperation at = tile_parent(op); !cute_op_is(at, "gpu.func"); at = tile_parent(at))
        for (int i = 0; i < w->count; i++)
            if (mlirOperationEqual(at, w->loops[i])) return true;
    return false;
}

/* Whether `op`, which needs `bytes`, has no shared memory of its own in any case; as tile_find_stages sees it later. */
static bool never_needs(MlirOperation op, int64_t bytes)
{
    static const char *const never[] = {"cute.tile.load",      "cute.tile.gemm",    "cute.tile.iota",
                                        "cute.tile.broadcast", "cute.tile.permute", "cute.tile.scalar"};
    int dims[2];
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (cute_op_is(op, never[i])) return !bytes;
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
        s->store_count++;
    } else if (columns) {
        bool load = cute_op_is(op, "cute.tile.load");
        bytes = tile_bytes(mlirValueGetType(load ? mlirOperationGetResult(op, 0) : value), columns);
    } else if (moved && !stays_in_registers(op)) {
        bytes = tile_bytes(mlirValueGetType(value), 0);
    } else if (cute_op_is(op, "cute.tile.reduce") || cute_op_is(op, "cute.tile.scan")) {
        int64_t all = tile_bytes(mlirValueGetType(value), 0),
                parts = WARPS * tile_bytes(mlirValueGetType(mlirOperationGetResult(op, 0)), 0);
        bytes = parts < all ? parts : all;
    }
    for (int i = 0; i < 2 && cute_op_is(op, "cute.tile.gemm"); i++) {
        int dims[2];
        MlirValue factor = mlirOperationGetOperand(op, i);
        bool staged =
            cute_op_is(tile_parent(op), "scf.for") && !mlirOperationIsNull(tile_operand_source(factor, dims));
        if (!staged) bytes += tile_bytes(mlirValueGetType(factor), 0);
    }
    if (bytes > s->most) s->most = bytes;
    s->beside |= !never_needs(op, bytes) && in_loop_with_product(s->w, op);
}

/* Fewer stages where they would not fit, and late loads by TMA where there is room. Stages that cp.async fills are free behind their loop. */
static void fit_stages(work *w, MlirOperation function)
{
    enum { BARRIERS = 2 << 10, STAGE_BARRIERS = 16 };
    scratch s = {.w = w, .beside = w->schedule.consumers > 0};
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
    int64_t most = s.beside ? s.most * (w->schedule.turns ? w->schedule.consumers : 1) : 0,
            other = (most < s.stores ? s.stores : most) + BARRIERS;
    if (!bytes) return;
    if (w->schedule.stages * bytes + other > limits->block_shared) {
        int64_t fit = (limits->block_shared - other) / bytes;
        tile_refuse(w->pass, function,
                    "%d stages do not fit in shared memory beside %lld bytes for other operations: %lld",
                    w->schedule.stages, (long long)other, (long long)(fit < 1 ? 1 : fit));
        w->schedule.stages = fit < 1 ? 1 : (int)fit;
    }
    /* Buffers that TMA fills before the store are not for other operations. A store without such loads has its own in `most`. */
    if (s.store_count > 1 && most < s.stores) most = s.stores;
    if (w->schedule.stages > 1)
        tile_choose_late(w->pass, function, &w->schedule,
                         limits->block_shared - w->schedule.stages * bytes - most,
                         (int64_t)w->count * w->schedule.stages * STAGE_BARRIERS);
}

/* ---- rings ---- */

typedef struct stages {
    tile_ahead ahead;
    MlirValue rings[TILE_AHEAD], pipe;
} stages;

static MlirBlock entry_of(MlirOperation op)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(cute_op_parent(op, "gpu.func"), 0));
}

static void make_rings(work *w, MlirOperation loop, stages *s)
{
    cute_builder b = cute_builder_at_start(entry_of(loop), mlirOperationGetLocation(loop));
    int64_t bytes = 0;
    for (int i = 0; i < s->ahead.count; i++) {
        MlirOperation load = s->ahead.loads[i];
        b.location = mlirOperationGetLocation(load);
        s->rings[i] = cute_build_value(&b, "cute.tile.ring",
                                       tile_ring_type(load, w->schedule.stages, w->schedule.consumers > 0),
                                       CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        cute_tile_shape shape;
        MlirType tile = mlirValueGetType(mlirOperationGetResult(load, 0));
        cute_tile_shape_of(tile, &shape);
        MlirType element = cute_tile_element(tile);
        int bits = mlirTypeIsAFloat(element) ? (int)mlirFloatTypeGetWidth(element)
                                             : (int)mlirIntegerTypeGetWidth(element);
        bytes += cute_tile_size(&shape) * bits / 8;
    }
    if (!w->schedule.consumers) return;
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    b.location = mlirOperationGetLocation(loop);
    s->pipe = cute_build_value(
        &b, "cute.tile.pipe", mlirTypeParseGet(b.context, cute_text("!cute.ptr<i64, smem, align<8>>")),
        CUTE_NO_OPERANDS,
        CUTE_NAMED(cute_attribute(b.context, "bytes", mlirIntegerAttrGet(i32, bytes)),
                   cute_attribute(b.context, "stages", mlirIntegerAttrGet(i32, w->schedule.stages))));
}

static void fetch(const cute_builder *b, const stages *s, int i, MlirValue coord, MlirValue stage)
{
    MlirValue operands[] = {mlirOperationGetOperand(s->ahead.loads[i], 0), coord, s->rings[i], stage,
                            s->pipe};
    cute_builder own = *b;
    own.location = mlirOperationGetLocation(s->ahead.loads[i]);
    cute_build(&own, "cute.tile.fetch", (cute_operands){operands, mlirValueIsNull(s->pipe) ? 4 : 5},
               CUTE_NO_TYPES, CUTE_NO_NAMED);
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

/* The operation in front of which stages are released: behind the last product where only products read them, else the end. */
static MlirOperation last_reader(MlirBlock body, const stages *s)
{
    MlirOperation at = mlirBlockGetTerminator(body), end = at;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "cute.tile.gemm")) at = mlirOperationGetNextInBlock(op);
        if (!cute_op_is(op, "cute.tile.take")) continue;
        bool own = false;
        for (int i = 0; i < s->ahead.count; i++)
            own |= mlirValueEqual(mlirOperationGetOperand(op, 0), s->rings[i]);
        if (own && !tile_read_in_place(op)) return end;
    }
    return at;
}

static void pipeline_tma(work *w, MlirOperation loop, stages *s)
{
    MlirValue state[2];
    cute_builder start = cute_builder_at_start(entry_of(loop), mlirOperationGetLocation(loop));
    loop = carry_state(&start, loop, state);
    MlirBlock body = tile_loop_body(loop);
    MlirType i32 = mlirIntegerTypeGet(start.context, 32);
    /* The fetches are in the place of the first load: the operands of their coordinates are above each load, and may be copied. */
    MlirValue iv = mlirBlockGetArgument(body, 0);
    cute_builder b = cute_builder_at_start(body, mlirOperationGetLocation(loop));
    b.before = mlirBlockGetFirstOperation(body);
    MlirValue other = cute_binary(&b, "arith.xori", state[1], i32_of(&b, 1));
    cute_build(&b, "cute.tile.acquire", CUTE_OPERANDS(s->pipe, state[0], other), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    for (int i = 0; i < s->ahead.count; i++) {
        MlirValue coord = tile_recompute(&b, body, mlirOperationGetOperand(s->ahead.loads[i], 1), iv, iv);
        fetch(&b, s, i, coord, state[0]);
    }
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
        CUTE_NAMED(cute_attribute(b.context, "stages", mlirIntegerAttrGet(i32, w->schedule.stages))));
    intptr_t last = mlirOperationGetNumOperands(yield) - 2;
    for (int i = 0; i < 2; i++) mlirOperationSetOperand(yield, last + i, mlirOperationGetResult(next, i));
}

/* ---- cp.async ---- */

static void commit(const cute_builder *b)
{
    cute_build(b, "cute_nvgpu.arch.cp_async_commit_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* The fetches of iteration `k` where it is less than `stop`. */
static void fetch_if(const cute_builder *b, const stages *s, MlirBlock body, MlirValue iv, MlirValue k,
                     MlirValue condition, MlirValue stage)
{
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock then = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], then);
    cute_builder inside = cute_builder_at_end(then, b->location);
    cute_build_regions(b, "scf.if", CUTE_OPERANDS(condition), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    for (int i = 0; i < s->ahead.count; i++) {
        MlirValue coord = tile_recompute(&inside, body, mlirOperationGetOperand(s->ahead.loads[i], 1), iv, k);
        fetch(&inside, s, i, coord, stage);
    }
    cute_build(&inside, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static void pipeline_copies(work *w, MlirOperation loop, stages *s)
{
    int ahead = w->schedule.stages - 1;
    MlirContext context = mlirOperationGetContext(loop);
    MlirType i32 = mlirIntegerTypeGet(context, 32);
    MlirValue low = mlirOperationGetOperand(loop, 0), stop = mlirOperationGetOperand(loop, 1),
              step = mlirOperationGetOperand(loop, 2);
    MlirType type = mlirValueGetType(low);
    cute_builder b = cute_builder_before(loop);
    MlirValue initial[2] = {i32_of(&b, 0), i32_of(&b, ahead)};
    loop = tile_loop_carry(loop, initial, 2);
    MlirBlock body = tile_loop_body(loop);
    intptr_t last = mlirOperationGetNumResults(loop) - 2;
    MlirValue iv = mlirBlockGetArgument(body, 0), read = mlirBlockGetArgument(body, 1 + last),
              write = mlirBlockGetArgument(body, 2 + last);
    /* In front of the loop. The rings may have been read by an earlier loop. */
    b = cute_builder_before(loop);
    cute_build(&b, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirValue length = cute_binary(&b, "arith.subi", stop, low);
    for (int i = 0; i < ahead; i++) {
        MlirValue far = cute_binary(&b, "arith.muli", step, cute_integer(&b, type, i));
        MlirValue there = cute_compare(&b, CUTE_IS_SGT, length, far);
        fetch_if(&b, s, body, iv, cute_binary(&b, "arith.addi", low, far), there, i32_of(&b, i));
        commit(&b);
    }
    /* In the loop: wait for this iteration's tiles, fetch those of a later one, to the stage that was read last. */
    b = cute_builder_at_start(body, mlirOperationGetLocation(loop));
    b.before = mlirBlockGetFirstOperation(body);
    cute_build(&b, "cute_nvgpu.arch.cp_async_wait_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
               CUTE_NAMED(cute_attribute(context, "groups", mlirIntegerAttrGet(i32, ahead - 1))));
    cute_build(&b, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirValue far = cute_binary(&b, "arith.muli", step, cute_integer(&b, type, ahead));
    MlirValue left = cute_binary(&b, "arith.subi", stop, iv);
    MlirValue there = cute_compare(&b, CUTE_IS_SGT, left, far);
    fetch_if(&b, s, body, iv, cute_binary(&b, "arith.addi", iv, far), there, write);
    commit(&b);
    for (int i = 0; i < s->ahead.count; i++) take(s->ahead.loads[i], s->rings[i], read);
    MlirOperation yield = mlirBlockGetTerminator(body);
    b.before = yield;
    MlirValue up = cute_binary(&b, "arith.addi", read, i32_of(&b, 1));
    MlirValue wraps = cute_compare(&b, CUTE_IS_EQ, up, i32_of(&b, w->schedule.stages));
    mlirOperationSetOperand(yield, last, cute_select(&b, wraps, i32_of(&b, 0), up));
    mlirOperationSetOperand(yield, last + 1, read);
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
        make_rings(w, w->loops[i], &s);
        if (w->schedule.consumers)
            pipeline_tma(w, w->loops[i], &s);
        else
            pipeline_copies(w, w->loops[i], &s);
        w->changed = true;
    }
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
