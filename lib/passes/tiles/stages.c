/* Stages of a scheduled tile program: rings and pipes in shared memory, and what fills and reads them. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/base/buffer.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/bands.h"
#include "lib/passes/tiles/late_rows.h"
#include "lib/passes/tiles/schedule.h"

enum { WARP = 32, GROUP = 4, BARRIER_BYTES = 8 };

/* ---- roles, rings and pipes of the kernel ---- */

tile_buffer *tile_buffer_of(tile_emitter *e, MlirValue value)
{
    for (int i = 0; i < e->buffer_count; i++)
        if (mlirValueEqual(e->buffers[i].view, value)) return &e->buffers[i];
    return NULL;
}

tile_role *tile_role_of(tile_emitter *e, MlirOperation op)
{
    MlirOperation parent = cute_op_is(op, "cute.tile.role") ? op : cute_op_parent(op, "cute.tile.role");
    for (int i = 1; i < e->role_count && !mlirOperationIsNull(parent); i++)
        if (mlirOperationEqual(e->roles[i].op, parent)) return &e->roles[i];
    return &e->roles[0];
}

int64_t tile_role_number(const tile_emitter *e, const tile_role *role)
{
    return role == e->roles ? 0 : role - e->roles - 1;
}

static void add_role(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    if (e->role_count == TILE_ROLES) {
        e->failed = true;
        return;
    }
    tile_role *last = &e->roles[e->role_count - 1], *r = &e->roles[e->role_count];
    int64_t end = last->first_warp + last->warps * last->turns,
            before = e->role_count == 1 ? 0 : (end + GROUP - 1) / GROUP * GROUP;
    *r = (tile_role){.op = op,
                     .first_warp = before,
                     .warps = cute_tile_number(op, "warps", 1),
                     .turns = cute_tile_number(op, "turns", 1),
                     .barrier = e->role_count};
    e->role_count++;
}

static void add_buffer(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    bool part = cute_op_is(op, "cute.tile.part");
    if (e->failed || !(part || cute_op_is(op, "cute.tile.ring") || cute_op_is(op, "cute.tile.pipe"))) return;
    if (e->buffer_count == TILE_BUFFERS) {
        e->failed = true;
        return;
    }
    tile_buffer *b = &e->buffers[e->buffer_count++];
    *b = (tile_buffer){.view = mlirOperationGetResult(op, 0), .is_pipe = cute_op_is(op, "cute.tile.pipe")};
    if (b->is_pipe) {
        b->stages = cute_tile_number(op, "stages", 1);
        b->expected = cute_tile_number(op, "bytes", 0);
        b->bytes = 2 * b->stages * BARRIER_BYTES;
        return;
    }
    cute_tile_shape tile;
    b->ring = cute_type_peek(mlirValueGetType(b->view));
    cute_tile_ring_shape(b->ring, &tile, &b->stages);
    if (part) {
        b->whole = tile_buffer_of(e, mlirOperationGetOperand(op, 0));
        return;
    }
    b->bytes = b->ring->layout.stride->items[tile.rank]->value.value * b->stages * b->ring->pointer->bits / 8;
}

typedef struct readers {
    tile_emitter *e;
    tile_buffer *pipe;
    unsigned roles; /* a bit for each */
    int64_t warps;
    bool by_warpgroup;
} readers;

/* Users of a take that read its stage themselves: products, through views; whether all of them are of warpgroups, and of tf32. */
static bool read_in_place(MlirValue tile, bool *wgmma, bool *tf32)
{
    bool any = false;
    for (MlirOpOperand use = mlirValueGetFirstUse(tile); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        any = true;
        if (cute_op_is(user, "cute.tile.permute") || cute_op_is(user, "cute.tile.reshape")) {
            if (!read_in_place(mlirOperationGetResult(user, 0), wgmma, tf32)) return false;
            continue;
        }
        int dims[2];
        unsigned at = mlirOpOperandGetOperandNumber(use);
        if (!cute_op_is(user, "cute.tile.gemm") || at > 1 ||
            mlirOperationIsNull(tile_operand_source(mlirOperationGetOperand(user, at), dims)))
            return false;
        *wgmma = *wgmma && cute_op_has(user, "wgmma");
        *tf32 = *tf32 && cute_op_has(user, "tf32");
    }
    return any;
}

bool tile_read_in_place(MlirOperation take)
{
    bool wgmma = true, tf32 = true;
    return read_in_place(mlirOperationGetResult(take, 0), &wgmma, &tf32);
}

static void note_take(MlirOperation op, void *context)
{
    readers *r = context;
    bool wgmma = true, tf32 = true;
    const tile_buffer *ring = tile_buffer_of(r->e, mlirOperationGetOperand(op, 0));
    if (!ring || ring->pipe != r->pipe) return;
    if (!read_in_place(mlirOperationGetResult(op, 0), &wgmma, &tf32) || !wgmma) r->by_warpgroup = false;
}

/* A ring that products of warpgroups in tf32 alone read: TMA rounds its elements, of which tensor cores would ignore the low bits. */
static void note_rounding(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    tile_buffer *ring = tile_buffer_of(e, mlirOperationGetOperand(op, 0));
    bool wgmma = true, tf32 = true;
    if (!ring || ring->ring->pointer->bits != 32) return;
    bool rounds = read_in_place(mlirOperationGetResult(op, 0), &wgmma, &tf32) && wgmma && tf32;
    ring->rounds = rounds && (ring->rounds || !ring->taken);
    ring->taken = true;
}

static void note_release(MlirOperation op, void *context)
{
    readers *r = context;
    const tile_role *role = tile_role_of(r->e, op);
    unsigned bit = 1u << (role - r->e->roles);
    if (!mlirValueEqual(mlirOperationGetOperand(op, 0), r->pipe->view) || r->roles & bit) return;
    r->roles |= bit;
    r->warps += role->warps;
}

static int multicast_of(MlirOperation fetch)
{
    int64_t along[CUTE_TILE_RANK];
    int count = cute_tile_numbers(mlirOperationGetAttributeByName(fetch, cute_text("multicast")), along),
        out = 0;
    for (int i = 0; i < count; i++) out |= 1 << along[i];
    return out;
}

static void note_fetch(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    tile_buffer *ring = tile_buffer_of(e, mlirOperationGetOperand(op, 2)),
                *pipe = tile_buffer_of(e, tile_filled_pipe(op));
    int along = multicast_of(op), i = 0;
    if (!ring || !pipe) return;
    ring->pipe = pipe;
    ring->multicast = along;
    ring->addressed = true;
    ring->paged = !mlirOperationIsNull(tile_pages_of(mlirOperationGetOperand(op, 0)));
    if (!tile_origin_of(mlirOperationGetOperand(op, 0), &ring->origin)) e->failed = true;
    while (i < pipe->share_count && pipe->shares[i] != along) i++;
    if (i < pipe->share_count) return;
    if (pipe->share_count == 4)
        e->failed = true;
    else
        pipe->shares[pipe->share_count++] = along;
}

/* Whether a later put of the block is to the same stage of a pipe: the stage is complete with the last one. */
static bool is_followed(MlirOperation put)
{
    MlirValue pipe = tile_filled_pipe(put);
    for (MlirOperation at = mlirOperationGetNextInBlock(put); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at)) {
        if (cute_op_is(at, "cute.tile.acquire") && mlirValueEqual(mlirOperationGetOperand(at, 0), pipe))
            return false;
        if (cute_op_is(at, "cute.tile.put") && mlirValueEqual(tile_filled_pipe(at), pipe)) return true;
    }
    return false;
}

/* Whether products read stages of a ring, and not threads alone. */
static bool is_for_products(MlirValue ring)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(ring); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation take = mlirOpOperandGetOwner(use);
        if (cute_op_is(take, "cute.tile.take") && tile_read_in_place(take)) return true;
    }
    return false;
}

static void note_put(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    tile_buffer *ring = tile_buffer_of(e, mlirOperationGetOperand(op, 1)),
                *pipe = tile_buffer_of(e, tile_filled_pipe(op));
    if (!ring || !pipe) return;
    ring->pipe = pipe;
    ring->by_threads = !is_for_products(ring->view);
    if (!is_followed(op)) pipe->writers += tile_role_of(e, op)->warps;
}

static void note_workers(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    int64_t along[CUTE_TILE_RANK];
    int count = tile_cluster_of(op, along);
    for (int i = 0; i < count; i++) e->cluster_size *= e->cluster[i] = along[i];
}

/* Blocks that have the same tile: those along the dimensions of `along`. */
static int64_t blocks_along(const tile_emitter *e, int along)
{
    int64_t blocks = 1;
    for (int i = 0; i < CUTE_TILE_RANK; i++)
        if (along >> i & 1) blocks *= e->cluster[i];
    return blocks;
}

/* Releases of a stage of a pipe by one reader: one to each block of each group that shares a fetch. */
static int64_t releases_of(const tile_emitter *e, const tile_buffer *pipe)
{
    int64_t all = 0;
    for (int i = 0; i < pipe->share_count; i++) all += blocks_along(e, pipe->shares[i]);
    return all ? all : 1;
}

/* Whether a product reads both operands in their stages, or A in registers, and so needs no other shared memory. */
static bool reads_stages(MlirOperation product)
{
    for (int i = 0; i < 2; i++) {
        int dims[2];
        MlirOperation take = tile_operand_source(mlirOperationGetOperand(product, i), dims);
        if (!i && cute_op_has(product, TILE_HELD)) continue;
        if (mlirOperationIsNull(take) || !cute_op_is(take, "cute.tile.take") || !tile_read_in_place(take))
            return false;
    }
    return true;
}

/* Operations that use shared memory in a loop whose stages are filled meanwhile. */
typedef struct overlap {
    bool kept, found; /* kept: stages are filled in front of loops, or by other warps */
} overlap;

static void note_overlap(MlirOperation op, void *context)
{
    overlap *o = context;
    if (tile_needs_no_memory(op)) return;
    if (cute_op_is(op, "cute.tile.gemm") && reads_stages(op)) return;
    if (cute_op_is(op, "cute.tile.reshape")) {
        int dims[2];
        MlirOperation take = tile_operand_source(mlirOperationGetResult(op, 0), dims);
        if (!mlirOperationIsNull(take) && cute_op_is(take, "cute.tile.take") && tile_read_in_place(take))
            return;
    }
    o->found |= tile_meets_stages(op, o->kept);
}

/* Bytes in front of a ring's part in each stage of the ring. */
static int64_t offset_of_part(const tile_buffer *part)
{
    const cute_layout *l = &part->ring->layout;
    uint32_t columns = l->shape->count - 2;
    const cute_tree *spans = l->shape->items[columns], *steps = l->stride->items[columns];
    MlirOperation op = cute_defining_op(part->view);
    return cute_tile_number(op, "index", 0) * spans->items[1]->value.value * steps->items[1]->value.value *
           part->ring->pointer->bits / 8;
}

bool tile_find_stages(tile_emitter *e)
{
    enum { ALIGN = 1024, ROW = 128 };
    e->roles[0] = (tile_role){.op = {NULL}, .warps = e->threads / WARP, .turns = 1};
    e->role = &e->roles[0];
    e->role_count = 1;
    e->cluster_size = 1;
    for (int i = 0; i < CUTE_TILE_RANK; i++) e->cluster[i] = 1;
    cute_op_walk(e->function, "cute.tile.workers", CUTE_WALK_OUTER_FIRST, note_workers, e);
    cute_op_walk(e->function, "cute.tile.program", CUTE_WALK_OUTER_FIRST, note_workers, e);
    cute_op_walk(e->function, "cute.tile.role", CUTE_WALK_OUTER_FIRST, add_role, e);
    cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, add_buffer, e);
    cute_op_walk(e->function, "cute.tile.fetch", CUTE_WALK_OUTER_FIRST, note_fetch, e);
    cute_op_walk(e->function, "cute.tile.put", CUTE_WALK_OUTER_FIRST, note_put, e);
    cute_op_walk(e->function, "cute.tile.take", CUTE_WALK_OUTER_FIRST, note_rounding, e);
    static const int64_t aligned[] = {ALIGN, ROW, BARRIER_BYTES};
    int64_t ring_bytes = 0;
    for (int k = 0; k < 3; k++) /* swizzled rings, small ones, pipes */
        for (int i = 0; i < e->buffer_count; i++) {
            tile_buffer *b = &e->buffers[i];
            if (b->whole) continue;
            if (k != (b->is_pipe ? 2 : b->ring->pointer->align <= ROW)) continue;
            b->offset = e->shared_bytes;
            e->shared_bytes += (b->bytes + aligned[k] - 1) / aligned[k] * aligned[k];
            if (!b->is_pipe) ring_bytes = e->shared_bytes;
        }
    for (int i = 0; i < e->buffer_count; i++)
        if (e->buffers[i].whole)
            e->buffers[i].offset = e->buffers[i].whole->offset + offset_of_part(&e->buffers[i]);
    tile_place_parts(e);
    if (!tile_find_scatter(e) || !tile_find_cluster_reduces(e)) return false;
    tile_find_copies(e);
    tile_find_rows(e);
    e->shared_bytes = (e->shared_bytes + ALIGN - 1) / ALIGN * ALIGN;
    tile_place_copies(e);
    for (int i = 0; i < e->buffer_count; i++) {
        tile_buffer *b = &e->buffers[i];
        if (!b->is_pipe) continue;
        readers r = {e, b, 0, 0, true};
        cute_op_walk(e->function, "cute.tile.take", CUTE_WALK_OUTER_FIRST, note_take, &r);
        cute_op_walk(e->function, "cute.tile.release", CUTE_WALK_OUTER_FIRST, note_release, &r);
        if (!r.warps) r.warps = 1; /* its stages are never released */
        if (!b->writers) b->writers = 1;
        b->by_warpgroup = r.by_warpgroup && r.warps % GROUP == 0;
        b->readers = b->by_warpgroup ? r.warps / GROUP : r.warps;
    }
    /* Stages are free behind the loops that read them, where nothing fills them any more: behind a barrier. */
    overlap o = {false, false};
    bool piped = false;
    for (int i = 0; i < e->buffer_count; i++) {
        piped |= e->buffers[i].is_pipe;
        o.kept |= piped || e->buffers[i].stages == 1;
    }
    cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, note_overlap, &o);
    const cute_multiprocessor *limits = e->arch ? cute_multiprocessor_of(e->arch->number) : NULL;
    int64_t turns = 1;
    for (int i = 1; i < e->role_count; i++)
        if (e->roles[i].turns > turns) turns = e->roles[i].turns;
    int64_t most = tile_most_memory(e->function, turns);
    tile_schedule schedule;
    tile_schedule_of(e->function, &schedule);
    bool fits = !limits || e->shared_bytes + most <= tile_slice_share(&schedule, limits->block_shared);
    /* Not that of mbarriers, to which other blocks of a cluster still arrive. */
    bool crowded = (e->scatter || schedule.blocks > 1) && most <= ring_bytes;
    /* Behind the stages are slots that other blocks write. */
    bool behind = !e->peers.write || most <= ring_bytes;
    enum { PRODUCER_AND_CONSUMERS = 3 }; /* with the block */
    e->frees_stages = !o.found && e->buffer_count && behind && e->role_count <= PRODUCER_AND_CONSUMERS &&
                      (!piped || crowded || (!fits && turns == 1));
    for (int i = 0; i < e->role_count; i++) {
        e->roles[i].scratch = e->frees_stages ? 0 : e->shared_bytes;
        e->roles[i].shares = e->frees_stages;
    }
    return !e->failed;
}

int64_t tile_pipe_arrivals(const tile_emitter *e, const tile_buffer *pipe)
{
    return pipe->readers * releases_of(e, pipe);
}

void tile_enter_role(tile_emitter *e, tile_role *role)
{
    if (e->role == role) return;
    /* Roles run at the same time: each has memory of its own. */
    if (role->op.ptr && mlirValueIsNull(role->thread)) e->failed = true;
    e->role = role;
    e->thread = role->thread;
    e->threads = role->warps * WARP;
}

/* ---- pointers ---- */

MlirValue tile_offset_by(tile_emitter *e, MlirValue pointer, MlirValue by)
{
    MlirValue tuple = cute_build_value(&e->b, "cute.make_int_tuple", tile_type(e, "!cute.int_tuple<\"?\">"),
                                       CUTE_OPERANDS(by), CUTE_NO_NAMED);
    return tile_emit(e, "cute.add_offset", CUTE_OPERANDS(pointer, tuple), CUTE_NO_NAMED);
}

MlirValue tile_shared_at(tile_emitter *e, const char *pointer, int bits, int64_t offset)
{
    MlirValue base = cute_build_value(&e->b, "cute_nvgpu.arch.get_dyn_smem", tile_type(e, pointer),
                                      CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    if (!offset) return base;
    char text[64];
    snprintf(text, sizeof text, "!cute.int_tuple<\"%lld\">", (long long)(offset * 8 / bits));
    return tile_emit(e, "cute.add_offset", CUTE_OPERANDS(base, tile_static(e, text)), CUTE_NO_NAMED);
}

/* "S<3,4,3>"; "": none. */
static const char *swizzle_text(cute_arena *arena, const cute_pointer *pointer)
{
    const cute_swizzle *s = &pointer->swizzle;
    return s->bits ? cute_arena_printf(arena, "S<%d,%d,%d>", s->bits, s->base, s->shift) : "";
}

MlirValue tile_slice_last(tile_emitter *e, MlirValue value, int rank, MlirValue at)
{
    char text[80] = "!cute.coord<\"(";
    for (int i = 1; i < rank; i++) strcat(text, "_,");
    strcat(text, "?)\">");
    MlirValue coord =
        cute_build_value(&e->b, "cute.make_coord", tile_type(e, text), CUTE_OPERANDS(at), CUTE_NO_NAMED);
    return tile_emit(e, "cute.slice", CUTE_OPERANDS(value, coord), CUTE_NO_NAMED);
}

/* ---- rings and pipes ---- */

static void look_for_wgmma(MlirOperation op, void *context)
{
    *(bool *)context |= cute_op_has(op, "wgmma");
}

/* TMA and wgmma swizzle addresses. For threads the swizzle is of the layout: the known part of an offset then stays a constant. */
MlirValue tile_lower_ring(tile_emitter *e, const tile_op *t)
{
    tile_buffer *b = tile_buffer_of(e, mlirOperationGetResult(t->op, 0));
    const cute_value *ring = b->ring;
    const cute_swizzle *s = &ring->pointer->swizzle;
    const char *swizzle = swizzle_text(e->arena, ring->pointer),
               *layout = cute_layout_text(e->arena, ring->layout);
    bool of_addresses = b->addressed || !s->bits;
    cute_op_walk(e->function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, look_for_wgmma, &of_addresses);
    int base = s->base, unit = ring->pointer->bits / 8;
    for (; unit > 1; unit /= 2) base--;
    char *pointer = cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<%lld>%s%s>",
                                      ring->pointer->element, (long long)ring->pointer->align,
                                      *swizzle && of_addresses ? ", " : "", of_addresses ? swizzle : ""),
         *type = of_addresses ? cute_arena_printf(e->arena, "!cute.layout<\"%s\">", layout)
                              : cute_arena_printf(e->arena, "!cute.composed_layout<\"S<%d,%d,%d> o 0 o %s\">",
                                                  s->bits, base, s->shift, layout);
    if (!pointer || !type) return e->failed = true, (MlirValue){NULL};
    MlirValue at = tile_shared_at(e, pointer, ring->pointer->bits, b->offset);
    b->view = tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, tile_static(e, type)), CUTE_NO_NAMED);
    return b->view;
}

static MlirValue first_thread(tile_emitter *e)
{
    return cute_compare(&e->b, CUTE_IS_EQ, e->roles[0].thread, tile_i32(e, 0));
}

/* The empty mbarriers are behind the full ones. */
static MlirValue barrier_at(tile_emitter *e, const tile_buffer *pipe, bool empty, MlirValue stage)
{
    if (empty) stage = cute_binary(&e->b, "arith.addi", stage, tile_i32(e, pipe->stages));
    return tile_offset_by(e, pipe->view, stage);
}

void tile_block_barrier(tile_emitter *e)
{
    if (!tile_shares_stages(e)) {
        tile_sync(e, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        return;
    }
    /* Initialised mbarriers are visible by their fence. */
    if (!e->failed)
        cute_build(&e->b, "cute_nvgpu.arch.cluster_arrive", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                   CUTE_NAMED(cute_attribute(e->context, "relaxed", mlirUnitAttrGet(e->context))));
    tile_sync(e, "cute_nvgpu.arch.cluster_wait", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

MlirValue tile_lower_pipe(tile_emitter *e, const tile_op *t)
{
    tile_buffer *p = tile_buffer_of(e, mlirOperationGetResult(t->op, 0));
    p->view = tile_shared_at(e, "!cute.ptr<i64, smem, align<1024>>", 64, p->offset);
    tile_if one = tile_if_begin(e, first_thread(e));
    for (int64_t s = 0; s < 2 * p->stages && !e->failed; s++)
        tile_sync(e, "cute_nvgpu.arch.mbarrier_init",
                  CUTE_OPERANDS(tile_offset_by(e, p->view, tile_i32(e, s)),
                                tile_i32(e, s < p->stages ? p->writers : tile_pipe_arrivals(e, p))),
                  CUTE_NO_NAMED);
    tile_init_copies(e);
    /* One fence and one barrier for the mbarriers of all pipes. */
    bool last = true;
    for (const tile_buffer *b = p + 1; b < e->buffers + e->buffer_count; b++) last &= !b->is_pipe;
    if (last) tile_sync(e, "cute_nvgpu.arch.mbarrier_init_fence", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    tile_if_end(e, &one);
    if (!last) return p->view;
    if (tile_peers_start(e))
        tile_sync(e, "cute_nvgpu.arch.warp_sync", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    else
        tile_block_barrier(e);
    return p->view;
}

/* One thread of the role: known from its start, or computed here. */
static MlirValue elected(tile_emitter *e)
{
    return mlirValueIsNull(e->role->elected) ? first_thread(e) : e->role->elected;
}

MlirValue tile_lower_acquire(tile_emitter *e, const tile_op *t)
{
    tile_buffer *p = tile_buffer_of(e, mlirOperationGetOperand(t->op, 0));
    MlirValue none = {NULL}, stage = mlirOperationGetOperand(t->op, 1),
              phase = mlirOperationGetOperand(t->op, 2);
    if (!p) return e->failed = true, none;
    tile_sync(e, "cute_nvgpu.arch.mbarrier_wait", CUTE_OPERANDS(barrier_at(e, p, true, stage), phase),
              CUTE_NO_NAMED);
    if (!p->expected) return none;
    MlirValue full = barrier_at(e, p, false, stage);
    tile_if one = tile_if_begin(e, elected(e));
    tile_sync(e, "cute_nvgpu.arch.mbarrier_arrive_and_expect_tx",
              CUTE_OPERANDS(full, tile_i32(e, p->expected)), CUTE_NO_NAMED);
    tile_if_end(e, &one);
    return none;
}

MlirValue tile_lower_drain(tile_emitter *e, const tile_op *t)
{
    tile_buffer *p = tile_buffer_of(e, mlirOperationGetOperand(t->op, 0));
    MlirValue none = {NULL}, stage = mlirOperationGetOperand(t->op, 1),
              phase = mlirOperationGetOperand(t->op, 2);
    if (!p) return e->failed = true, none;
    MlirType i32 = mlirValueGetType(stage), types[] = {i32, i32};
    for (int64_t s = 0; s < p->stages && !e->failed; s++) {
        tile_sync(e, "cute_nvgpu.arch.mbarrier_wait", CUTE_OPERANDS(barrier_at(e, p, true, stage), phase),
                  CUTE_NO_NAMED);
        if (e->failed || s + 1 == p->stages) break;
        MlirOperation next = cute_build(
            &e->b, "cute_nvgpu.arch.pipeline_advance", CUTE_OPERANDS(stage, phase), (cute_types){types, 2},
            CUTE_NAMED(cute_attribute(e->context, "stages", mlirIntegerAttrGet(i32, p->stages))));
        stage = mlirOperationGetResult(next, 0);
        phase = mlirOperationGetResult(next, 1);
    }
    p->drained = true;
    return none;
}

MlirValue tile_lower_await(tile_emitter *e, const tile_op *t)
{
    tile_buffer *p = tile_buffer_of(e, mlirOperationGetOperand(t->op, 0));
    if (!p) return e->failed = true, (MlirValue){NULL};
    tile_sync(e, "cute_nvgpu.arch.mbarrier_wait",
              CUTE_OPERANDS(barrier_at(e, p, false, mlirOperationGetOperand(t->op, 1)),
                            mlirOperationGetOperand(t->op, 2)),
              CUTE_NO_NAMED);
    return (MlirValue){NULL};
}

/* This block's index in its cluster along dimension `i`. */
static MlirValue index_along(tile_emitter *e, int i)
{
    int64_t below = 1;
    MlirValue index = e->rank;
    for (int k = 0; k < i; k++) below *= e->cluster[k];
    if (below > 1) index = cute_binary(&e->b, "arith.divui", index, tile_i32(e, below));
    return below * e->cluster[i] < e->cluster_size
               ? cute_binary(&e->b, "arith.remui", index, tile_i32(e, e->cluster[i]))
               : index;
}

/* The part of this block's rank that dimensions other than those of `along` make. */
static MlirValue rank_across(tile_emitter *e, int along)
{
    MlirValue sum = {NULL};
    int64_t below = 1;
    for (int i = 0; i < CUTE_TILE_RANK; below *= e->cluster[i++]) {
        if (along >> i & 1 || e->cluster[i] == 1) continue;
        MlirValue part = index_along(e, i);
        if (below > 1) part = cute_binary(&e->b, "arith.muli", part, tile_i32(e, below));
        sum = mlirValueIsNull(sum) ? part : cute_binary(&e->b, "arith.addi", sum, part);
    }
    return mlirValueIsNull(sum) ? tile_i32(e, 0) : sum;
}

/* The rank that `index`, from 0 to the number of blocks along `along`, makes there. */
static MlirValue rank_along(tile_emitter *e, int along, MlirValue index)
{
    MlirValue sum = {NULL};
    int64_t below = 1, left = blocks_along(e, along);
    for (int i = 0; i < CUTE_TILE_RANK; below *= e->cluster[i++]) {
        if (!(along >> i & 1) || e->cluster[i] == 1) continue;
        MlirValue part = left > e->cluster[i]
                             ? cute_binary(&e->b, "arith.remui", index, tile_i32(e, e->cluster[i]))
                             : index;
        if (left > e->cluster[i])
            index = cute_binary(&e->b, "arith.divui", index, tile_i32(e, e->cluster[i]));
        left /= e->cluster[i];
        if (below > 1) part = cute_binary(&e->b, "arith.muli", part, tile_i32(e, below));
        sum = mlirValueIsNull(sum) ? part : cute_binary(&e->b, "arith.addi", sum, part);
    }
    return mlirValueIsNull(sum) ? tile_i32(e, 0) : sum;
}

/* The block that lane `lane` tells that a stage is empty: those of each group in turn. */
static MlirValue peer_of(tile_emitter *e, const tile_buffer *pipe, MlirValue lane)
{
    MlirValue peer = {NULL};
    int64_t from = 0;
    for (int i = 0; i < pipe->share_count; i++) {
        int along = pipe->shares[i];
        MlirValue index = from ? cute_binary(&e->b, "arith.subi", lane, tile_i32(e, from)) : lane;
        MlirValue rank = cute_binary(&e->b, "arith.addi", rank_across(e, along), rank_along(e, along, index));
        MlirValue later = cute_compare(&e->b, CUTE_IS_UGE, lane, tile_i32(e, from));
        peer = mlirValueIsNull(peer) ? rank : cute_select(&e->b, later, rank, peer);
        from += blocks_along(e, along);
    }
    return peer;
}

MlirValue tile_lower_release(tile_emitter *e, const tile_op *t)
{
    tile_buffer *p = tile_buffer_of(e, mlirOperationGetOperand(t->op, 0));
    MlirValue none = {NULL}, stage = mlirOperationGetOperand(t->op, 1);
    if (!p) return e->failed = true, none;
    int64_t every = p->by_warpgroup ? GROUP * WARP : WARP;
    if (!p->by_warpgroup) tile_sync(e, "cute_nvgpu.arch.warp_sync", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    int64_t releases = releases_of(e, p);
    if (releases > WARP) return e->failed = true, none;
    MlirValue lane = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, every));
    MlirValue tells = cute_compare(&e->b, CUTE_IS_ULT, lane, tile_i32(e, releases)), peer = none;
    if (tile_shares_stages(e)) peer = peer_of(e, p, lane);
    if (mlirOperationGetNumOperands(t->op) > 2)
        tells = cute_binary(&e->b, "arith.andi", tells, mlirOperationGetOperand(t->op, 2));
    tile_if one = tile_if_begin(e, tells);
    MlirValue empty = barrier_at(e, p, true, stage), operands[] = {empty, peer};
    if (!e->failed)
        cute_build(&e->b, "cute_nvgpu.arch.mbarrier_arrive",
                   (cute_operands){operands, mlirValueIsNull(peer) ? 1 : 2}, CUTE_NO_TYPES,
                   CUTE_NAMED(cute_attribute(e->context, "reads_only", mlirUnitAttrGet(e->context))));
    tile_if_end(e, &one);
    return none;
}

/* ---- fetches ---- */

MlirValue tile_set_field(tile_emitter *e, MlirValue atom, MlirValue value, const char *field)
{
    return tile_emit(
        e, "cute_nvgpu.atom.set_value", CUTE_OPERANDS(atom, value),
        CUTE_NAMED(cute_attribute(e->context, "field", mlirAttributeParseGet(e->context, cute_text(field)))));
}

/* The blocks to which this one's part goes: those along the dimensions of `multicast`. */
static void set_mask(tile_emitter *e, tile_buffer *b)
{
    int64_t mask = 0, below = 1;
    for (int64_t r = 0; r < e->cluster_size; r++) {
        bool shares = true;
        below = 1;
        for (int i = 0; i < CUTE_TILE_RANK; below *= e->cluster[i++])
            if (!(b->multicast >> i & 1) && r / below % e->cluster[i]) shares = false;
        if (shares) mask |= INT64_C(1) << r;
    }
    MlirType i16 = mlirIntegerTypeGet(e->context, 16);
    MlirValue by = cute_unary(&e->b, "arith.trunci", rank_across(e, b->multicast), i16);
    MlirValue to = cute_binary(&e->b, "arith.shli", cute_integer(&e->b, i16, mask), by);
    b->exec = tile_set_field(e, b->exec, to, "#cute_nvgpu.atom_copy_field_tmaload<mcast_mask>");
}

void tile_prefetch_map(tile_emitter *e, MlirValue tma)
{
    tile_if one = tile_if_begin(e, first_thread(e));
    tile_sync(e, "cute_nvgpu.prefetch_tma_desc", CUTE_OPERANDS(tma), CUTE_NO_NAMED);
    tile_if_end(e, &one);
}

/* The TMA atom that fills a ring from a tensor, at the kernel's start. */
static void make_tma(tile_emitter *e, tile_buffer *b, MlirValue tensor)
{
    if (!mlirValueIsNull(b->tma)) return;
    cute_builder here = e->b;
    e->b = e->start;
    e->b.location = here.location;
    const cute_value *ring = b->ring;
    const char *swizzle = swizzle_text(e->arena, ring->pointer);
    cute_tile_shape tile;
    int64_t stages;
    cute_tile_ring_shape(ring, &tile, &stages);
    cute_buffer layout = {0};
    cute_buffer_printf(&layout, *swizzle ? "!cute.composed_layout<\"%s o 0 o (" : "!cute.layout<\"%s(",
                       swizzle);
    for (int side = 0; side < 2; side++) {
        const cute_tree *tree = side ? ring->layout.stride : ring->layout.shape;
        cute_buffer_printf(&layout, side ? "):(" : "");
        for (int i = 0; i < tile.rank; i++)
            if (!side && !i && b->paged)
                cute_buffer_printf(&layout, "1");
            else
                cute_buffer_printf(&layout, "%s%s", i ? "," : "", cute_tree_text(e->arena, tree->items[i]));
    }
    cute_buffer_printf(&layout, ")\">");
    MlirValue of = tile_static(e, cute_buffer_text(&layout));
    cute_buffer_release(&layout);
    MlirType i32 = tile_i32_type(e);
    MlirNamedAttribute attributes[3] = {
        cute_attribute(e->context, "kind",
                       mlirAttributeParseGet(e->context, cute_text("#cute_nvgpu.tiled_tma_load<sm_90>"))),
        cute_attribute(e->context, "num_multicast", mlirIntegerAttrGet(i32, blocks_along(e, b->multicast))),
        cute_attribute(e->context, "tma_format",
                       mlirAttributeParseGet(e->context, cute_text("#cute_nvgpu.tma_data_format<TF32_RN>")))};
    MlirOperation made = tile_emit_op(e, "cute_nvgpu.atom.make_non_exec_tiled_tma_load",
                                      CUTE_OPERANDS(tensor, of), (cute_named){attributes, b->rounds ? 3 : 2});
    if (!e->failed) {
        b->tma = mlirOperationGetResult(made, 0);
        b->coords = mlirOperationGetResult(made, 1);
        b->exec = tile_emit(e, "cute_nvgpu.atom.make_exec_tma", CUTE_OPERANDS(b->tma), CUTE_NO_NAMED);
        if (b->multicast && !e->failed) set_mask(e, b);
        tile_prefetch_map(e, b->tma);
    }
    e->b = here;
}

static MlirValue grouped(tile_emitter *e, MlirValue value, int rank)
{
    MlirType i32 = tile_i32_type(e);
    return tile_emit(e, "cute.group_modes", CUTE_OPERANDS(value),
                     CUTE_NAMED(cute_attribute(e->context, "begin", mlirIntegerAttrGet(i32, 0)),
                                cute_attribute(e->context, "end", mlirIntegerAttrGet(i32, rank))));
}

/* This block's index among those along the dimensions of `along`: the reverse of rank_along. */
static MlirValue position_along(tile_emitter *e, int along)
{
    MlirValue sum = {NULL};
    int64_t below = 1;
    for (int i = 0; i < CUTE_TILE_RANK; i++) {
        if (!(along >> i & 1) || e->cluster[i] == 1) continue;
        MlirValue part = index_along(e, i);
        if (below > 1) part = cute_binary(&e->b, "arith.muli", part, tile_i32(e, below));
        sum = mlirValueIsNull(sum) ? part : cute_binary(&e->b, "arith.addi", sum, part);
        below *= e->cluster[i];
    }
    return sum;
}

/* The tile at `coord` to its stage of `ring`, all stages of a tile. */
static void fetch_tma(tile_emitter *e, const tile_op *t, const cute_tile_shape *tile, MlirValue tensor,
                      MlirValue coord, MlirValue ring, void *context)
{
    (void)tensor;
    tile_buffer *b = context;
    MlirValue stage = mlirOperationGetOperand(t->op, 3);
    tile_buffer *p = tile_buffer_of(e, tile_filled_pipe(t->op));
    make_tma(e, b, b->origin.root);
    if (!p || e->failed) {
        e->failed = true;
        return;
    }
    MlirValue bar = barrier_at(e, p, false, stage);
    MlirValue load = b->exec;
    if (cute_op_has(t->op, "streams")) {
        /* createpolicy.fractional.L2::evict_first of all lines */
        const int64_t policy = INT64_C(0x12F0000000000000);
        load = tile_set_field(e, load, cute_build_constant(&e->b, 64, policy),
                              "#cute_nvgpu.atom_copy_field_tmaload<cache_policy>");
    }
    load = tile_set_field(e, load, bar, "#cute_nvgpu.atom_copy_field_tmaload<tma_bar>");
    cute_buffer tiler = {0};
    cute_buffer_printf(&tiler, "!cute.tile<\"[");
    for (int i = 0; i < tile->rank; i++)
        cute_buffer_printf(&tiler, "%s%lld:1", i ? ";" : "", (long long)tile->extent[i]);
    cute_buffer_printf(&tiler, "]\">");
    MlirValue tiles = tile_static(e, cute_buffer_text(&tiler));
    cute_buffer_release(&tiler);
    MlirValue moved = tile_move_view(e, b->coords, &b->origin), open = tile_open_view(e, moved, tile, coord);
    MlirValue part = tile_emit(e, "cute.local_tile", CUTE_OPERANDS(open, tiles, coord), CUTE_NO_NAMED);
    MlirValue from = grouped(e, part, tile->rank), to = grouped(e, ring, tile->rank);
    int64_t sharers = blocks_along(e, b->multicast);
    char layout[48];
    snprintf(layout, sizeof layout, "!cute.layout<\"(%lld):(1)\">", (long long)sharers);
    MlirValue blocks = tile_static(e, sharers > 1 ? layout : "!cute.layout<\"1:0\">"),
              own = sharers > 1
                        ? cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"?\">"),
                                           CUTE_OPERANDS(position_along(e, b->multicast)), CUTE_NO_NAMED)
                        : tile_static(e, "!cute.coord<\"0\">");
    MlirOperation parts = tile_emit_op(e, "cute_nvgpu.atom.tma_partition",
                                       CUTE_OPERANDS(b->tma, own, blocks, to, from), CUTE_NO_NAMED);
    if (e->failed) return;
    MlirValue shared = tile_slice_last(e, mlirOperationGetResult(parts, 0), 2, stage);
    if (e->failed) return;
    /* The instruction elects a thread of its warp: without roles, the first warp executes it. */
    MlirValue only = {NULL};
    if (mlirValueIsNull(e->role->elected))
        only = cute_compare(&e->b, CUTE_IS_EQ, e->roles[0].warp, tile_i32(e, 0));
    tile_if first = tile_if_begin(e, only);
    cute_build(&e->b, "cute.copy", CUTE_OPERANDS(load, mlirOperationGetResult(parts, 1), shared),
               CUTE_NO_TYPES, CUTE_NO_NAMED);
    tile_if_end(e, &first);
}

static void fetch_copies(tile_emitter *e, const tile_op *t, const cute_tile_shape *tile, MlirValue tensor,
                         MlirValue coord, MlirValue stage, void *context)
{
    (void)t, (void)context;
    tile_copy_to_stage(e, tensor, coord, tile, stage);
}

MlirValue tile_lower_fetch(tile_emitter *e, const tile_op *t)
{
    MlirValue none = {NULL};
    tile_buffer *b = tile_buffer_of(e, mlirOperationGetOperand(t->op, 2));
    const cute_value *ring = b ? b->ring : NULL;
    cute_tile_shape tile;
    int64_t stages;
    if (!b || !cute_tile_ring_shape(ring, &tile, &stages)) return e->failed = true, none;
    MlirValue tensor = mlirOperationGetOperand(t->op, 0), coord = mlirOperationGetOperand(t->op, 1);
    bool tma = !mlirValueIsNull(tile_filled_pipe(t->op));
    MlirValue to =
        tma ? b->view : tile_slice_last(e, b->view, tile.rank + 1, mlirOperationGetOperand(t->op, 3));
    tile_fetch_page *fetch = tma ? fetch_tma : fetch_copies;
    if (e->failed) return none;
    if (mlirOperationIsNull(tile_pages_of(tensor)))
        fetch(e, t, &tile, tensor, coord, to, b);
    else
        tile_fetch_pages(e, t, &tile, to, fetch, b);
    return none;
}

/* ---- takes ---- */

static int64_t extent_of(const cute_tree *mode)
{
    int64_t size = 1;
    for (uint32_t i = 0; mode->kind == CUTE_TREE_TUPLE && i < mode->count; i++)
        size *= extent_of(mode->items[i]);
    return mode->kind == CUTE_TREE_TUPLE ? size : mode->value.value;
}

MlirValue tile_stage_view(tile_emitter *e, const tile_source *s, bool all)
{
    const cute_value *ring = cute_type_peek(mlirValueGetType(s->ring->view));
    int rank = (int)ring->layout.shape->count - 1, count = 0, begin[3];
    MlirValue view = s->ring->view;
    if (rank == 2 && s->dims[0] == 0 && s->dims[1] == 1)
        return all ? view : tile_slice_last(e, view, rank + 1, s->stage);
    /* The operand's modes: others have extent 1. A dimension that is several of the ring's has the last one first, as that is the fastest. */
    int32_t modes[CUTE_TILE_RANK + 1];
    for (int i = 0; i < 2; i++) {
        int64_t size = 1;
        begin[i] = count;
        for (int at = s->dims[i]; at >= 0 && (size < s->extent[i] || at == s->dims[i]); at--) {
            size *= extent_of(ring->layout.shape->items[at]);
            modes[count++] = at;
        }
    }
    begin[2] = count;
    if (all) modes[count++] = rank;
    /* The layout is that of addresses, or of offsets within a stage. */
    MlirValue base = view;
    if (!all) base = tile_slice_last(e, view, rank + 1, s->stage);
    MlirValue layout = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(base), CUTE_NO_NAMED),
              own = tile_emit(e, "cute.select", CUTE_OPERANDS(layout),
                              CUTE_NAMED(cute_attribute(e->context, "mode",
                                                        mlirDenseI32ArrayGet(e->context, count, modes)))),
              at = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(base), CUTE_NO_NAMED);
    MlirType i32 = tile_i32_type(e);
    for (int i = 1; i >= 0; i--)
        if (begin[i + 1] - begin[i] > 1)
            own = tile_emit(
                e, "cute.group_modes", CUTE_OPERANDS(own),
                CUTE_NAMED(cute_attribute(e->context, "begin", mlirIntegerAttrGet(i32, begin[i])),
                           cute_attribute(e->context, "end", mlirIntegerAttrGet(i32, begin[i + 1]))));
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, own), CUTE_NO_NAMED);
}

MlirValue tile_lower_take(tile_emitter *e, const tile_op *t)
{
    tile_buffer *b = tile_buffer_of(e, mlirOperationGetOperand(t->op, 0));
    if (!b) return e->failed = true, (MlirValue){NULL};
    const cute_value *ring = b->ring;
    MlirType element = cute_type_element(mlirValueGetType(mlirOperationGetResult(t->op, 0)));
    int rank = (int)ring->layout.shape->count - 1, fastest = rank - 1;
    for (int i = 0; i < rank; i++) {
        const cute_tree *stride = ring->layout.stride->items[i];
        while (stride->kind == CUTE_TREE_TUPLE) stride = stride->items[0];
        if (stride->value.value == 1) fastest = i;
    }
    MlirValue stage = tile_slice_last(e, b->view, rank + 1, mlirOperationGetOperand(t->op, 1));
    if (e->failed) return stage;
    /* Adjacent elements of a thread first, for wide accesses, then in the order of its registers. */
    tile_distribution d = t->out;
    tile_adjacent_first(&d, fastest);
    int64_t count = tile_values(&d);
    int32_t *map = cute_arena_array(e->arena, (size_t)count + 1, sizeof *map);
    if (!map || !tile_registers_map(e->arena, &d, &t->out, map)) return e->failed = true, stage;
    MlirValue out = tile_from_shared(e, &d, stage, tile_run(&d, fastest, ring->pointer->bits));
    return e->failed ? out : tile_as_held(e, tile_pick(e, out, map, count), element);
}

/* Each warp that has written its part of a stage arrives at the stage's mbarrier. */
static void arrive(tile_emitter *e, const tile_buffer *pipe, MlirValue stage)
{
    tile_sync(e, "cute_nvgpu.arch.warp_sync", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue lane = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, WARP));
    tile_if one = tile_if_begin(e, cute_compare(&e->b, CUTE_IS_EQ, lane, tile_i32(e, 0)));
    tile_sync(e, "cute_nvgpu.arch.mbarrier_arrive", CUTE_OPERANDS(barrier_at(e, pipe, false, stage)),
              CUTE_NO_NAMED);
    tile_if_end(e, &one);
}

/* What threads wrote is visible to the products of all warps of the role behind the barrier, with a pipe to those of roles that have waited for the
 * stage. */
MlirValue tile_lower_put(tile_emitter *e, const tile_op *t)
{
    const MlirValue none = {NULL};
    tile_buffer *b = tile_buffer_of(e, mlirOperationGetOperand(t->op, 1));
    cute_tile_shape tile;
    int64_t stages;
    if (!b || !cute_tile_ring_shape(b->ring, &tile, &stages)) return e->failed = true, none;
    MlirValue stage = tile_slice_last(e, b->view, tile.rank + 1, mlirOperationGetOperand(t->op, 2));
    if (e->failed) return none;
    const tile_buffer *pipe = tile_buffer_of(e, tile_filled_pipe(t->op));
    if (stages == 1 && !t->met && !pipe) tile_barrier(e);
    MlirValue value = mlirOperationGetOperand(t->op, 0);
    if (!tile_write_sum(e, &t->in[0], value, stage) && !e->failed)
        tile_to_shared(e, &t->in[0], value, stage,
                       tile_run(&t->in[0], tile.rank - 1, b->ring->pointer->bits));
    if (!pipe || !b->by_threads)
        tile_sync(e, "cute_nvgpu.arch.fence_view_async_shared", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    if (!pipe)
        tile_barrier(e);
    else if (!is_followed(t->op))
        arrive(e, pipe, mlirOperationGetOperand(t->op, 2));
    return none;
}
