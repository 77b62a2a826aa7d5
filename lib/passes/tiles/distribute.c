/* cute-tile-distribute: a tile program as the program of one thread, on vectors of the elements that it holds.
 *
 * Requires: cute-tile-layouts. Ensures: no tile is left; of operations on tiles only cute.tile.program and cute.tile.count, which
 * cute-tile-launch takes. Each operation is complete before the next: conversions, reductions between warps and operands of products
 * use the same shared memory, between barriers. The kernel has `cute.shared_bytes`, the dynamic shared memory that it needs, and
 * `cute.scheduled`, a description of its roles and buffers.
 *
 *     %y = arith.addf %x, %x : tensor<64x32xf32, #cute.layout<"((8,16),(4,4)):((4@1,1@0),(1@1,16@0))">>
 * ->
 *     %y = arith.addf %x, %x : vector<16xf32>
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/late_rows.h"
#include "lib/passes/tiles/schedule.h"

static const cute_pass_option options[] = {CUTE_ARCH_OPTION};

/* ---- operations that choose among registers ---- */

static MlirValue lower_broadcast(tile_emitter *e, const tile_op *t)
{
    MlirValue value = mlirOperationGetOperand(t->op, 0);
    int64_t count = tile_values(&t->out);
    if (!t->tile[0]) return tile_splat(e, value, count);
    int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map);
    if (!map || !tile_registers_map(e->arena, &t->in[0], &t->out, map)) return e->failed = true, value;
    return tile_pick(e, value, map, count);
}

static MlirValue lower_relabelled(tile_emitter *e, const tile_op *t)
{
    (void)e;
    return mlirOperationGetOperand(t->op, 0);
}

static MlirValue lower_stack(tile_emitter *e, const tile_op *t)
{
    intptr_t operands = mlirOperationGetNumOperands(t->op);
    int64_t each = tile_values(&t->in[0]), count = tile_values(&t->out);
    int last = t->out.shape.rank - 1;
    MlirValue all = mlirOperationGetOperand(t->op, 0);
    int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map),
            *from = cute_arena_array(e->arena, (size_t)each, sizeof *from);
    if (!map || !from) return e->failed = true, all;
    for (intptr_t k = 0; k < operands; k++) {
        if (k) all = tile_concat(e, all, mlirOperationGetOperand(t->op, k));
        if (!tile_picked_map(&t->out, &t->in[k], last, k, from)) return e->failed = true, all;
        for (int64_t v = 0; v < each; v++) map[from[v]] = (int32_t)(k * each + v);
    }
    return e->failed ? all : tile_pick(e, all, map, count);
}

static MlirValue lower_pick(tile_emitter *e, const tile_op *t)
{
    MlirValue value = mlirOperationGetOperand(t->op, 0);
    int64_t count = tile_values(&t->out);
    int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map);
    if (!map || !tile_picked_map(&t->in[0], &t->out, (int)cute_tile_number(t->op, "mode", 0),
                                 cute_tile_number(t->op, "index", 0), map))
        return e->failed = true, value;
    return tile_pick(e, value, map, count);
}

static MlirValue lower_scalar(tile_emitter *e, const tile_op *t)
{
    return cute_vector_extract(&e->b, mlirOperationGetOperand(t->op, 0), 0);
}

/* True in all lanes of a warp one of which has such an element, or of the warps that have parts of the same rows. */
static MlirValue lower_any(tile_emitter *e, const tile_op *t)
{
    MlirValue all = mlirOperationGetOperand(t->op, 0), own = {NULL};
    for (int64_t v = 0; v < tile_values(&t->in[0]); v++) {
        MlirValue one = cute_vector_extract(&e->b, all, v);
        own = v ? cute_binary(&e->b, "arith.ori", own, one) : one;
    }
    int64_t parts = cute_tile_number(t->op, "parts", 1);
    if (t->met) return tile_vote(e, own);
    if (parts > 1) return tile_vote_of_parts(e, parts, own);
    return cute_build_value(
        &e->b, "cute_nvgpu.arch.vote", mlirIntegerTypeGet(e->context, 1), CUTE_OPERANDS(own),
        CUTE_NAMED(cute_attribute(e->context, "kind", cute_string_attribute(e->context, "any"))));
}

static MlirValue lower_iota(tile_emitter *e, const tile_op *t)
{
    int axis = (int)cute_tile_number(t->op, "mode", 0);
    int64_t count = tile_values(&t->out);
    int32_t *own = cute_arena_array(e->arena, (size_t)count, sizeof *own);
    if (!own) return e->failed = true, (MlirValue){NULL};
    for (int64_t v = 0; v < count; v++) {
        int64_t coord[CUTE_TILE_RANK] = {0};
        tile_modes_coord(&t->out.values, v, coord);
        own[v] = (int32_t)coord[axis];
    }
    MlirValue first = tile_thread_coord(e, &t->out, axis);
    if (mlirOperationGetNumOperands(t->op))
        first = cute_binary(&e->b, "arith.addi", first, mlirOperationGetOperand(t->op, 0));
    MlirValue out =
        cute_binary(&e->b, "arith.addi", tile_splat(e, first, count), tile_i32_vector(e, own, count));
    tile_note_index(e, out, first, own, count);
    return out;
}

static const struct {
    const char *name;
    MlirValue (*lower)(tile_emitter *e, const tile_op *t);
} lowerings[] = {
    {"cute.tile.from", tile_lower_from},
    {"cute.tile.load", tile_lower_load},
    {"cute.tile.store", tile_lower_store},
    {"cute.tile.gather", tile_lower_gather},
    {"cute.tile.scatter", tile_lower_scatter},
    {"cute.tile.atomic", tile_lower_scatter},
    {"cute.tile.signal", tile_lower_signal},
    {"cute.tile.convert", tile_lower_convert},
    {"cute.tile.reduce", tile_lower_reduce},
    {"cute.tile.scan", tile_lower_scan},
    {"cute.tile.gemm", tile_lower_gemm},
    {"cute.tile.broadcast", lower_broadcast},
    {"cute.tile.permute", lower_relabelled},
    {"cute.tile.reshape", tile_lower_reshape},
    {"cute.tile.stack", lower_stack},
    {"cute.tile.pick", lower_pick},
    {"cute.tile.scalar", lower_scalar},
    {"cute.tile.iota", lower_iota},
    {"cute.tile.any", lower_any},
    {"cute.tile.ring", tile_lower_ring},
    {"cute.tile.part", tile_lower_ring},
    {"cute.tile.pipe", tile_lower_pipe},
    {"cute.tile.acquire", tile_lower_acquire},
    {"cute.tile.await", tile_lower_await},
    {"cute.tile.drain", tile_lower_drain},
    {"cute.tile.release", tile_lower_release},
    {"cute.tile.fetch", tile_lower_fetch},
    {"cute.tile.take", tile_lower_take},
    {"cute.tile.put", tile_lower_put},
    {"cute.tile.settle", tile_lower_settle},
    {"cute.tile.role", tile_lower_role},
    {"cute.tile.turn", tile_lower_turn},
    {"cute.tile.begin_turn", tile_lower_begin_turn},
    {"cute.tile.end_turn", tile_lower_end_turn},
    {"cute.tile.give", tile_lower_give},
    {"cute.tile.collect", tile_lower_collect},
    {"cute.tile.reduce_scatter", tile_lower_reduce_scatter},
    {"cute.tile.cluster_reduce", tile_lower_cluster_reduce},
};

/* ---- what is to be done, before types change ---- */

typedef struct work {
    tile_emitter *e;
    tile_op *ops;
    size_t count, capacity;
} work;

/* Along which dimensions the mask of a load or store repeats: those that a broadcast made. */
static void note_mask(tile_op *t)
{
    intptr_t at = cute_op_is(t->op, "cute.tile.load") ? 2 : cute_op_is(t->op, "cute.tile.store") ? 3 : -1;
    if (at < 0 || mlirOperationGetNumOperands(t->op) <= at) return;
    MlirOperation from = cute_defining_op(mlirOperationGetOperand(t->op, at));
    while (!mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.convert"))
        from = cute_defining_op(mlirOperationGetOperand(from, 0));
    if (mlirOperationIsNull(from) || !cute_op_is(from, "cute.tile.broadcast")) return;
    cute_tile_shape small, shape = t->in[at].shape;
    MlirType type = mlirValueGetType(mlirOperationGetOperand(from, 0));
    if (!mlirTypeIsARankedTensor(type))
        small.rank = 0;
    else if (!cute_tile_shape_of(type, &small))
        return;
    int missing = shape.rank - small.rank;
    for (int i = 0; i < shape.rank; i++) t->same_mask[i] = i < missing || small.extent[i - missing] == 1;
}

typedef struct reads {
    MlirValue tensor;
    const tile_distribution *stored;
    bool by_others;
} reads;

static void look_for_read(MlirOperation op, void *context)
{
    reads *r = context;
    tile_distribution d;
    bool load = cute_op_is(op, "cute.tile.load");
    if ((!load && !cute_op_is(op, "cute.tile.gather")) ||
        !mlirValueEqual(mlirOperationGetOperand(op, 0), r->tensor))
        return;
    bool same = load && tile_distribution_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &d) &&
                tile_distribution_equal(&d, r->stored);
    for (int i = 0; same && i < d.threads.count; i++) same = d.threads.at[i].dim != TILE_COPIES;
    if (!same) r->by_others = true;
}

/* Whether a kernel also loads the tensor of a store, which is in place then, into other threads than those that store an element. */
static void note_reads(const tile_emitter *e, tile_op *t)
{
    if (!cute_op_is(t->op, "cute.tile.store")) return;
    reads r = {mlirOperationGetOperand(t->op, 1), &t->in[0], false};
    cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, look_for_read, &r);
    t->follows_loads = r.by_others;
}

/* Whether a loop other than that over the tiles of a resident block, which are disjoint, has both. */
static bool in_one_loop(MlirOperation a, MlirOperation b)
{
    for (MlirOperation at = tile_parent(a); !cute_op_is(at, "gpu.func"); at = tile_parent(at)) {
        if (!cute_op_is(at, "scf.for")) continue;
        bool tiles = false, has = false;
        for (MlirOperation own = mlirBlockGetFirstOperation(tile_loop_body(at)); !mlirOperationIsNull(own);
             own = mlirOperationGetNextInBlock(own))
            tiles |= cute_op_is(own, "cute.tile.place");
        for (MlirOperation of = tile_parent(b); !cute_op_is(of, "gpu.func"); of = tile_parent(of))
            has |= mlirOperationEqual(of, at);
        if (has && !tiles) return true;
    }
    return false;
}

typedef struct earlier {
    tile_op *load;
    bool behind; /* the load has been visited */
} earlier;

static void look_for_store(MlirOperation op, void *context)
{
    earlier *f = context;
    if (mlirOperationEqual(op, f->load->op)) f->behind = true;
    if ((!cute_op_is(op, "cute.tile.store") && !cute_op_is(op, "cute.tile.scatter") &&
         !cute_op_is(op, "cute.tile.atomic")) ||
        !mlirValueEqual(mlirOperationGetOperand(op, 1), mlirOperationGetOperand(f->load->op, 0)) ||
        (f->behind && !in_one_loop(op, f->load->op)))
        return;
    f->load->follows_stores = true;
    f->load->follows_tma |= cute_op_has(op, "tma");
}

/* Whether a load may read elements that the same block stored before it. */
static void note_writes(const tile_emitter *e, tile_op *t)
{
    earlier f = {t, false};
    if (cute_op_is(t->op, "cute.tile.load") || cute_op_is(t->op, "cute.tile.gather"))
        cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, look_for_store, &f);
}

static void look_for_parts(MlirOperation op, void *context)
{
    *(bool *)context |= tile_parts_of_groups(op) > 0;
}

/* Reductions whose parts are those of warpgroups. The memory that the first one of an iteration writes is free: since those of the iteration before,
 * all warps have met, where a factor was put into its stage. */
static void note_parts(tile_op *t)
{
    bool before = !cute_op_is(tile_parent(t->op), "scf.for"), met = false;
    t->parts = tile_parts_of_groups(t->op);
    if (!t->parts) return;
    for (MlirOperation at = mlirBlockGetFirstOperation(mlirOperationGetBlock(t->op));
         !mlirOperationEqual(at, t->op); at = mlirOperationGetNextInBlock(at))
        cute_op_walk(at, "cute.tile.reduce", CUTE_WALK_OUTER_FIRST, look_for_parts, &before);
    for (MlirOperation at = t->op; !mlirOperationIsNull(at); at = mlirOperationGetNextInBlock(at))
        met |= cute_op_is(at, "cute.tile.put");
    t->first_parts = met && !before;
}

/* Whether products that read the factor `value`, or a view of it, are complete in front of `before`: those that an iteration begins with wait there. */
static bool is_read_in_front(MlirValue value, MlirOperation before)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        bool complete = false,
             view = cute_op_is(user, "cute.tile.permute") || cute_op_is(user, "cute.tile.reshape");
        if (view && !is_read_in_front(mlirOperationGetResult(user, 0), before)) return false;
        if (view || !cute_op_has(user, "pending")) continue;
        for (MlirOpOperand of = mlirValueGetFirstUse(mlirOperationGetResult(user, 0));
             !mlirOpOperandIsNull(of); of = mlirOpOperandGetNextUse(of)) {
            MlirOperation at = mlirOpOperandGetOwner(of);
            complete |= cute_op_is(at, "cute.tile.settle") && cute_op_in_front(at, before);
        }
        if (!complete) return false;
    }
    return true;
}

/* Where warpgroups vote in front of a put into a single stage: the put, if the vote may be of all warps, which then meet there and not in front of the
 * put, since products that read the stage are complete. */
static MlirOperation put_behind_vote(MlirOperation any)
{
    MlirOperation none = {NULL}, put = any;
    cute_tile_shape tile;
    int64_t stages;
    if (!cute_op_is(any, "cute.tile.any") || !cute_op_has(any, "parts")) return none;
    while (!mlirOperationIsNull(put) && !cute_op_is(put, "cute.tile.put") &&
           !cute_op_is(put, "cute.tile.gemm"))
        put = mlirOperationGetNextInBlock(put);
    if (mlirOperationIsNull(put) || !cute_op_is(put, "cute.tile.put")) return none;
    MlirValue ring = mlirOperationGetOperand(put, 1);
    const cute_value *type = cute_type_peek(mlirValueGetType(ring));
    if (!type || !cute_tile_ring_shape(type, &tile, &stages) || stages != 1) return none;
    for (MlirOpOperand use = mlirValueGetFirstUse(ring); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation take = mlirOpOperandGetOwner(use);
        if (cute_op_is(take, "cute.tile.take") && !is_read_in_front(mlirOperationGetResult(take, 0), any))
            return none;
    }
    return put;
}

static void note_votes(tile_op *t)
{
    if (cute_op_is(t->op, "cute.tile.any")) t->met = !mlirOperationIsNull(put_behind_vote(t->op));
    if (!cute_op_is(t->op, "cute.tile.put")) return;
    for (MlirOperation at = mlirBlockGetFirstOperation(mlirOperationGetBlock(t->op));
         !mlirOperationEqual(at, t->op) && !t->met; at = mlirOperationGetNextInBlock(at))
        t->met = mlirOperationEqual(put_behind_vote(at), t->op);
}

/* Operands of products that are in stages, which warpgroups read there even if others have them in registers; takes that need no registers for it, and views of them. */
static void note_stage(tile_emitter *e, tile_op *t)
{
    t->role = tile_role_of(e, t->op);
    if (cute_op_is(t->op, "cute.tile.gemm")) {
        for (int i = 0; i < 2; i++) {
            MlirOperation take = tile_operand_source(mlirOperationGetOperand(t->op, i), t->source[i].dims);
            if (mlirOperationIsNull(take) || !cute_op_is(take, "cute.tile.take") ||
                !(cute_op_has(t->op, "wgmma") || tile_read_in_place(take)))
                continue;
            t->source[i].ring = tile_buffer_of(e, mlirOperationGetOperand(take, 0));
            t->source[i].stage = mlirOperationGetOperand(take, 1);
            for (int k = 0; k < 2; k++) t->source[i].extent[k] = t->in[i].shape.extent[k];
        }
        return;
    }
    MlirOperation root = t->op;
    while (!mlirOperationIsNull(root) &&
           (cute_op_is(root, "cute.tile.permute") || cute_op_is(root, "cute.tile.reshape")))
        root = cute_defining_op(mlirOperationGetOperand(root, 0));
    t->in_place =
        !mlirOperationIsNull(root) && cute_op_is(root, "cute.tile.take") && tile_read_in_place(root);
}

static void collect_tile_op(MlirOperation op, void *context)
{
    work *w = context;
    static const char *const of_launch[] = {"cute.tile.program", "cute.tile.count",  "cute.tile.workers",
                                            "cute.tile.place",   "cute.tile.pieces", "cute.tile.piece",
                                            "cute.tile.rows",    "cute.tile.pages"};
    for (size_t i = 0; i < sizeof of_launch / sizeof *of_launch; i++)
        if (cute_op_is(op, of_launch[i])) return;
    if (w->e->failed) return;
    if (!cute_arena_more(w->e->arena, &w->ops, w->count, &w->capacity, sizeof *w->ops, 32)) {
        w->e->failed = true;
        return;
    }
    tile_op *t = &w->ops[w->count++];
    *t = (tile_op){.op = op};
    w->e->b.location = mlirOperationGetLocation(op);
    bool ok = mlirOperationGetNumOperands(op) <= TILE_OPERANDS;
    for (intptr_t i = 0; ok && i < mlirOperationGetNumOperands(op); i++) {
        MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
        t->tile[i] = mlirTypeIsARankedTensor(type);
        if (t->tile[i]) ok = tile_distribution_of(type, &t->in[i]);
    }
    if (ok && mlirOperationGetNumResults(op) &&
        mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, 0))))
        ok = tile_distribution_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &t->out);
    if (ok) note_mask(t);
    if (ok) note_reads(w->e, t);
    if (ok) note_writes(w->e, t);
    if (ok) note_stage(w->e, t);
    if (ok) note_parts(t);
    if (ok) note_votes(t);
    if (!ok)
        tile_fail(w->e, "expected tiles that are distributed over threads: run cute-tile-layouts before "
                        "cute-tile-distribute");
}

/* ---- types ---- */

static void set_vector(tile_emitter *e, MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    tile_distribution d;
    if (e->failed || !mlirTypeIsARankedTensor(type)) return;
    if (!tile_distribution_of(type, &d)) {
        tile_fail(e, "expected tiles that are distributed over threads: run cute-tile-layouts before "
                     "cute-tile-distribute");
        return;
    }
    mlirValueSetType(value, tile_vector_type(cute_tile_element(type), tile_values(&d)));
}

static void set_vectors(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        set_vector(e, mlirOperationGetResult(op, i));
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++)
                set_vector(e, mlirBlockGetArgument(b, i));
    if (e->failed || !cute_op_is(op, "arith.constant")) return;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text("value"));
    if (mlirTypeIsAVector(type) && mlirTypeIsARankedTensor(mlirAttributeGetType(value)))
        mlirOperationSetAttributeByName(
            op, cute_text("value"),
            mlirDenseElementsAttrSplatGet(type, mlirDenseElementsAttrGetSplatValue(value)));
}

/* ---- one kernel ---- */

/* The operations that are joined with the first one, which is `at`; they are removed. */
static void lower_joined(work *w, size_t at)
{
    tile_emitter *e = w->e;
    const tile_op *ops[TILE_JOINED_OPS] = {NULL};
    MlirValue results[TILE_JOINED_OPS] = {{NULL}};
    tile_joined set;
    tile_joined_with(w->ops[at].op, &set);
    for (size_t i = at; i < w->count; i++)
        for (int k = 0; k < set.count; k++)
            if (mlirOperationEqual(w->ops[i].op, set.ops[k])) {
                ops[k] = &w->ops[i];
                w->ops[i].done = true;
            }
    for (int k = 0; k < set.count; k++)
        if (!ops[k]) e->failed = true;
    if (!e->failed) tile_lower_joined(e, ops, set.count, results);
    if (e->failed) {
        e->failed = false;
        tile_fail(e, "these stores and reductions, which are computed together, are not lowered");
        return;
    }
    for (int k = 0; k < set.count; k++) {
        if (mlirOperationGetNumResults(set.ops[k]))
            mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(set.ops[k], 0), results[k]);
        mlirOperationDestroy(set.ops[k]);
    }
}

static void lower_op(work *w, size_t at)
{
    tile_emitter *e = w->e;
    tile_op *t = &w->ops[at];
    if (t->done) return;
    e->b = cute_builder_before(t->op);
    if (!cute_op_is(t->op, "cute.tile.role")) tile_enter_role(e, t->role);
    if (t->in_place) {
        t->kept = cute_op_is(t->op, "cute.tile.take");
        if (t->kept) return;
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(t->op, 0), mlirOperationGetOperand(t->op, 0));
        mlirOperationDestroy(t->op);
        return;
    }
    if (t->follows_stores && !e->naive) tile_wait_written(e, t->follows_tma);
    if (cute_op_has(t->op, TILE_LATE)) {
        t->kept = true;
        bool row = cute_text_is(cute_tile_word(t->op, TILE_LATE), TILE_LATE_ROW);
        if (!row && !tile_note_late(e, t)) e->failed = true;
        return;
    }
    if (e->naive) tile_barrier(e);
    if (cute_op_has(t->op, TILE_JOINED)) {
        lower_joined(w, at);
        return;
    }
    for (size_t i = 0; i < sizeof lowerings / sizeof *lowerings; i++) {
        if (!cute_op_is(t->op, lowerings[i].name)) continue;
        MlirValue value = lowerings[i].lower(e, t);
        if (e->failed) {
            e->failed = false;
            char text[128];
            MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(t->op));
            snprintf(text, sizeof text, "this operation on tiles is not lowered: %.*s", (int)name.length,
                     name.data);
            tile_fail(e, text);
            return;
        }
        if (mlirOperationGetNumResults(t->op))
            mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(t->op, 0), value);
        mlirOperationDestroy(t->op);
        return;
    }
    tile_fail(e, "expected an operation on tiles that cute-tile-expand leaves");
}

/* Roles, TMA and wgmma need the warp's index, the same in all lanes. */
static void look_for_warp(MlirOperation op, void *context)
{
    *(bool *)context |= cute_op_is(op, "cute.tile.pipe") || cute_op_is(op, "cute.tile.role") ||
                        cute_op_has(op, "wgmma") || cute_op_has(op, "tma");
}

/* Only operations that nothing uses still refer to a late load. */
static void remove_kept(tile_emitter *e, MlirOperation op)
{
    e->b = cute_builder_before(op);
    MlirValue result = mlirOperationGetResult(op, 0);
    if (cute_op_has(op, TILE_LATE))
        mlirValueReplaceAllUsesOfWith(result, cute_undefined(&e->b, mlirValueGetType(result)));
    mlirOperationDestroy(op);
}

/* A kernel without roles that is one of several: a host function launches them. It may start before the one in front of it has ended, and waits for
 * that; the next one may start. Kernels with roles do so where these begin. */
static void start_early(tile_emitter *e)
{
    enum { LEAST_ARCH = 90 };
    if (e->naive || e->role_count > 1 || !e->arch || e->arch->number < LEAST_ARCH ||
        !tile_is_declared_on_host(e->function))
        return;
    cute_builder b = cute_builder_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(e->function, 0)),
                                           mlirOperationGetLocation(e->function));
    static const char *const ops[] = {"cute_nvgpu.arch.griddepcontrol_launch_dependents",
                                      "cute_nvgpu.arch.griddepcontrol_wait"};
    for (int i = 0; i < 2; i++) cute_build(&b, ops[i], CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationSetAttributeByName(e->function, cute_text(TILE_PROGRAMMATIC), mlirUnitAttrGet(e->context));
}

static void lower_function(tile_emitter *e)
{
    work w = {.e = e};
    if (!tile_find_stages(e)) return;
    cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, collect_tile_op, &w);
    if (e->failed) return;
    MlirAttribute description = tile_describe_schedule(e);
    cute_op_walk(e->function, NULL, CUTE_WALK_OUTER_FIRST, set_vectors, e);
    if (e->failed || !w.count) return; /* distributed before */
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(e->function, 0));
    e->b = cute_builder_at_start(entry, mlirOperationGetLocation(e->function));
    e->thread = cute_build_value(&e->b, "nvvm.read.ptx.sreg.tid.x", tile_i32_type(e), CUTE_NO_OPERANDS,
                                 CUTE_NO_NAMED);
    e->roles[0].thread = e->thread;
    bool uniform = false;
    cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, look_for_warp, &uniform);
    if (uniform) {
        MlirValue warp = cute_binary(&e->b, "arith.shrui", e->thread, tile_i32(e, 5));
        e->roles[0].warp = cute_build_value(&e->b, "cute_nvgpu.arch.make_warp_uniform", tile_i32_type(e),
                                            CUTE_OPERANDS(warp), CUTE_NO_NAMED);
    }
    if (e->cluster_size > 1) {
        MlirValue block = cute_build_value(&e->b, "nvvm.read.ptx.sreg.ctaid.x", tile_i32_type(e),
                                           CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        e->rank = cute_binary(&e->b, "arith.remui", block, tile_i32(e, e->cluster_size));
    }
    tile_begin_peers(e);
    /* Before an operation that stays: those behind are lowered. */
    e->start = cute_builder_before(cute_defining_op(tile_i32(e, 0)));
    for (size_t i = 0; i < w.count && !e->failed; i++)
        if (cute_op_is(w.ops[i].op, "cute.tile.gemm") && cute_tile_number(w.ops[i].op, "pending", 0) &&
            !e->naive && !tile_make_accumulator(e, &w.ops[i]))
            e->failed = true;
    for (size_t i = 0; i < w.count && !e->failed; i++) lower_op(&w, i);
    for (size_t i = 0; i < w.count && !e->failed; i++)
        if (w.ops[i].kept) remove_kept(e, w.ops[i].op);
    if (!e->failed) tile_delay_waits(e->function);
    if (!e->failed) tile_finish_roles(e);
    if (!e->failed) start_early(e);
    if (!e->failed) tile_share_reciprocals(e);
    if (!e->failed) tile_compare_indices(e);
    if (!e->failed)
        cute_op_walk(e->function, "cute.tile.pages", CUTE_WALK_LAST_FIRST, tile_remove_pages, NULL);
    if (!e->failed) cute_op_walk(e->function, "cute.tile.rows", CUTE_WALK_OUTER_FIRST, tile_lower_rows, NULL);
    mlirOperationSetAttributeByName(e->function, cute_text("cute.shared_bytes"),
                                    mlirIntegerAttrGet(mlirIntegerTypeGet(e->context, 32), e->shared_bytes));
    tile_write_description(e, description);
}

/* ---- the pass ---- */

static void look_for_tiles(MlirOperation op, void *context)
{
    bool *found = context;
    *found |= cute_op_of(op, "cute.tile.");
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        *found |= mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, i)));
}

bool tile_is_program(MlirOperation function)
{
    bool found = false;
    cute_op_walk(function, "cute.tile.", CUTE_WALK_OUTER_FIRST, look_for_tiles, &found);
    return found;
}

int64_t tile_block_size(MlirOperation function)
{
    static const char *const names[] = {"nvvm.reqntid", "known_block_size", "gpu.known_block_size"};
    for (int i = 0; i < 3; i++) {
        MlirAttribute block = mlirOperationGetAttributeByName(function, cute_text(names[i]));
        if (mlirAttributeIsNull(block) || !mlirAttributeIsADenseI32Array(block)) continue;
        int64_t threads = 1;
        for (intptr_t k = 0; k < mlirDenseArrayGetNumElements(block); k++)
            threads *= mlirDenseI32ArrayGetElement(block, k);
        return threads;
    }
    return 0;
}

typedef struct search {
    const cute_arch *arch;
    bool changed, failed;
} search;

static void visit_function(MlirOperation function, void *context)
{
    search *s = context;
    if (s->failed || !tile_is_program(function)) return;
    tile_emitter e = {.arena = cute_arena_create(),
                      .context = mlirOperationGetContext(function),
                      .function = function,
                      .arch = s->arch,
                      .threads = tile_block_size(function),
                      .naive = tile_is_naive(function)};
    e.b = cute_builder_before(function);
    if (e.arena && e.threads)
        lower_function(&e);
    else
        tile_fail(&e,
                  "expected a kernel with a block size: run cute-tile-layouts before cute-tile-distribute");
    cute_arena_destroy(e.arena);
    s->changed = true;
    s->failed = e.failed;
}

static void run_tile_distribute(MlirOperation root, cute_pass_run *pass)
{
    search s = {0};
    if (!cute_pass_arch(pass, 0, root, &s.arch)) return;
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &s);
    cute_pass_end(pass, s.failed, s.changed);
}

const cute_pass cute_pass_tile_distribute = {
    .name = "cute-tile-distribute",
    .help = "Lower tiles to vectors of each thread",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU |
                CUTE_DIALECT_NVVM | CUTE_DIALECT_SCF | CUTE_DIALECT_VECTOR,
    .run = run_tile_distribute,
};
