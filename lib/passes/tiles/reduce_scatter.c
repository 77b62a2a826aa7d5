/* Sums of the blocks of a cluster that divide a tile's k: each block sums its part of the tile. A thread sends its elements to the
 * block whose part they are of by st.async, as soon as it has them, to slots in shared memory, one for each sender, in the layout that suits
 * the threads which read them; one mbarrier of the receiver counts their bytes. Elements of the block's own part are exchanged by
 * shuffles while the others' are under way, if the threads which sum them are of the same warp, and stored otherwise: st.async would
 * take a way as long as that to another block (64 rows by 4096 x 4096: 10 % slower).
 *
 * No block waits for the others' reads: slots belong to this exchange alone. peers.c has the barrier of the cluster. A block ends when all
 * parts have arrived, so none is sent to a block that has ended. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/lane_swaps.h"
#include "lib/passes/tiles/schedule.h"
#include "lib/passes/tiles/staging.h"

/* How the parts pass. Elements of fewer than 32 bits are sent as 32. */
typedef struct tile_scatter {
    int along; /* the cluster's dimension of the blocks that divide k */
    int mode;  /* of the tile, which is divided */
    int64_t blocks;
    int64_t barrier;     /* of the mbarrier, in shared memory */
    int64_t slots, slot; /* where the first is, and bytes of each */
    int64_t last_slot;   /* where that of the block itself is */
    bool borrows;        /* it is memory of the role's operations, for there is no room beside the stages */
    bool restaged;       /* the threads' registers are not those of one part each: a conversion is first */
    tile_distribution from; /* of the whole tile, in which dimension `mode` is the part */
    tile_distribution part; /* of one part: threads of other parts are copies */
    tile_distribution to;
    tile_staging staging;
    bool
        keeps; /* a block's own part stays in registers: shuffles make `part` `after`, which has the elements of `to` */
    tile_lane_swaps swaps;
    tile_distribution after;
    MlirType element;
    int bits;
    const char *text; /* of the elements that are sent, of so many bits */
    bool widened;
    MlirValue own; /* this block's part */
} tile_scatter;

enum { LEAST_BITS = 32 };

/* ---- the plan ---- */

static void look_for_scatter(MlirOperation op, void *context)
{
    *(MlirOperation *)context = op;
}

static MlirType sent_type(const tile_scatter *x)
{
    if (!x->widened) return x->element;
    MlirContext context = mlirTypeGetContext(x->element);
    return mlirTypeIsAFloat(x->element) ? mlirF32TypeGet(context) : mlirIntegerTypeGet(context, LEAST_BITS);
}

/* Bits of an element that is sent. */
static int sent_bits(MlirType element)
{
    int bits = cute_tile_bits(element);
    return bits < LEAST_BITS ? LEAST_BITS : bits;
}

/* `shape` with dimension `mode` as (blocks, the rest). */
static bool divide(const cute_tile_shape *shape, int mode, int64_t blocks, cute_tile_shape *out)
{
    if (shape->rank == CUTE_TILE_RANK) return false;
    *out = *shape;
    out->rank++;
    for (int i = out->rank - 1; i > mode; i--) out->extent[i] = shape->extent[i - 1];
    out->extent[mode] = blocks;
    out->extent[mode + 1] /= blocks;
    return true;
}

/* Without dimension `mode`: its values are left out, its threads hold copies. */
static void leave_out(const tile_distribution *d, int mode, const cute_tile_shape *shape,
                      tile_distribution *out)
{
    *out = (tile_distribution){.shape = *shape, .threads = d->threads};
    for (int i = 0; i < out->threads.count; i++) {
        tile_mode *m = &out->threads.at[i];
        if (m->dim == mode)
            *m = (tile_mode){m->extent, TILE_COPIES, 0};
        else if (m->dim > mode)
            m->dim--;
    }
    for (int i = 0; i < d->values.count; i++) {
        tile_mode m = d->values.at[i];
        if (m.dim != mode) tile_modes_add(&out->values, m.extent, m.dim - (m.dim > mode), m.step);
    }
}

bool tile_scatter_part(const tile_distribution *whole, int mode, int64_t blocks, tile_distribution *part)
{
    cute_tile_shape divided, shape = whole->shape;
    tile_distribution from;
    if (shape.extent[mode] % blocks || !divide(&whole->shape, mode, blocks, &divided) ||
        !tile_reshaped(whole, &divided, &from))
        return false;
    for (int i = 0; i < from.threads.count; i++)
        if (from.threads.at[i].dim == mode) return false;
    shape.extent[mode] /= blocks;
    leave_out(&from, mode, &shape, part);
    return true;
}

static MlirOperation source_of(MlirValue value, int depth)
{
    enum { DEPTH = 24 };
    MlirOperation op = cute_defining_op(value), found = {NULL};
    if (mlirOperationIsNull(op) || !tile_is_tile(value) || depth == DEPTH) return found;
    if (cute_op_is(op, "cute.tile.reduce_scatter")) return op;
    if (!tile_is_elementwise(op) && !cute_op_is(op, "cute.tile.reshape")) return found;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && mlirOperationIsNull(found); i++)
        found = source_of(mlirOperationGetOperand(op, i), depth + 1);
    return found;
}

MlirOperation tile_scattered_source(MlirOperation store)
{
    return cute_op_is(store, "cute.tile.store") ? source_of(mlirOperationGetOperand(store, 0), 0)
                                                : (MlirOperation){NULL};
}

/* Whether a block's own part becomes `to` by shuffles. */
static bool find_own_swaps(const tile_distribution *whole, int mode, int64_t blocks,
                           const tile_distribution *to, tile_lane_swaps *swaps, tile_distribution *after)
{
    tile_distribution part;
    return tile_scatter_part(whole, mode, blocks, &part) && tile_find_swaps(&part, to, swaps, after);
}

int64_t tile_scatter_bytes(MlirOperation op, int64_t *slots)
{
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    tile_distribution whole, to, from;
    cute_tile_shape divided;
    int mode = (int)cute_tile_number(op, "mode", 0), bits = sent_bits(cute_tile_element(type));
    *slots = 0;
    if (!tile_distribution_of(type, &whole) ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &to))
        return 0;
    int64_t blocks = whole.shape.extent[mode] / to.shape.extent[mode],
            part = tile_staged_bytes(&to.shape, bits);
    *slots = (blocks - 1) * part;
    tile_lane_swaps swaps;
    if (find_own_swaps(&whole, mode, blocks, &to, &swaps, &from)) return 0;
    if (!divide(&whole.shape, mode, blocks, &divided) || tile_reshaped(&whole, &divided, &from)) return part;
    return tile_staged_bytes(&whole.shape, bits);
}

/* Whether as many blocks are resident as the schedule says, with so many bytes of shared memory in each slice of them. */
static bool has_room(const tile_emitter *e, int64_t bytes)
{
    enum { ALIGN = 1024 };
    const cute_multiprocessor *limits = e->arch ? cute_multiprocessor_of(e->arch->number) : NULL;
    tile_schedule schedule;
    tile_schedule_of(e->function, &schedule);
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return limits && bytes <= tile_slice_share(&schedule, limits->block_shared) &&
           schedule.blocks * (schedule.slices * bytes + limits->reserved) <= limits->shared;
}

bool tile_find_scatter(tile_emitter *e)
{
    enum { ALIGN = 16, BARRIER_BYTES = 8 };
    MlirOperation op = {NULL};
    cute_op_walk(e->function, "cute.tile.reduce_scatter", CUTE_WALK_OUTER_FIRST, look_for_scatter, &op);
    if (mlirOperationIsNull(op)) return true;
    tile_scatter *x = cute_arena_alloc(e->arena, sizeof *x);
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    tile_distribution whole;
    cute_tile_shape divided;
    if (!x) return false;
    *x = (tile_scatter){.along = (int)mlirOpResultGetResultNumber(mlirOperationGetOperand(op, 1)),
                        .mode = (int)cute_tile_number(op, "mode", 0),
                        .element = cute_tile_element(type)};
    x->blocks = e->cluster[x->along];
    x->text = tile_element_text(e, x->element, &x->bits);
    if (!tile_distribution_of(type, &whole) ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &x->to) ||
        !divide(&whole.shape, x->mode, x->blocks, &divided))
        return false;
    x->restaged = !tile_reshaped(&whole, &divided, &x->from);
    if (x->restaged && !tile_stacked(&x->to, x->mode, x->blocks, &x->from)) return false;
    x->widened = x->bits < LEAST_BITS;
    if (x->widened) x->text = tile_element_text(e, sent_type(x), &x->bits);
    leave_out(&x->from, x->mode, &x->to.shape, &x->part);
    tile_choose_staging(e, &x->part, &x->to, TILE_UNSWIZZLED, x->bits, &x->staging);
    if (e->failed) return false;
    x->barrier = e->shared_bytes;
    x->slots = (x->barrier + BARRIER_BYTES + ALIGN - 1) / ALIGN * ALIGN;
    x->slot = (x->staging.elements * x->bits / 8 + ALIGN - 1) / ALIGN * ALIGN;
    x->last_slot = x->slots + (x->blocks - 1) * x->slot;
    x->keeps = find_own_swaps(&whole, x->mode, x->blocks, &x->to, &x->swaps, &x->after);
    x->borrows = !x->keeps && !has_room(e, x->last_slot + x->slot);
    e->shared_bytes = x->last_slot + (x->borrows || x->keeps ? 0 : x->slot);
    e->scatter = x;
    tile_note_peers(e, op);
    return true;
}

/* ---- the kernel's start ---- */

static MlirValue barrier_of(tile_emitter *e)
{
    return tile_shared_at(e, "!cute.ptr<i64, smem, align<1024>>", 64, e->scatter->barrier);
}

void tile_init_scatter(tile_emitter *e)
{
    const tile_scatter *x = e->scatter;
    if (x) tile_init_bytes(e, x->barrier, (x->blocks - 1) * cute_tile_size(&x->to.shape) * x->bits / 8);
}

/* ---- the exchange ---- */

/* Where an access of this thread is in a part at `pointer`. */
static MlirValue place_of(tile_emitter *e, MlirValue pointer, const tile_side *side, int64_t value)
{
    int64_t coord[CUTE_TILE_RANK] = {0}, at = 0;
    char text[64];
    tile_modes_coord(&side->d.values, value, coord);
    for (int i = 0; i < side->d.shape.rank; i++) at += coord[i] * side->stride[i];
    if (!at) return pointer;
    snprintf(text, sizeof text, "!cute.int_tuple<\"%lld\">", (long long)at);
    return tile_emit(e, "cute.add_offset", CUTE_OPERANDS(pointer, tile_static(e, text)), CUTE_NO_NAMED);
}

/* `pointer`, moved by `by` elements, a multiple of `div`. */
static MlirValue moved(tile_emitter *e, MlirValue pointer, MlirValue by, int64_t div)
{
    char text[64];
    snprintf(text, sizeof text, "!cute.int_tuple<\"?{div=%lld}\">", (long long)div);
    MlirValue tuple =
        cute_build_value(&e->b, "cute.make_int_tuple", tile_type(e, text), CUTE_OPERANDS(by), CUTE_NO_NAMED);
    return tile_emit(e, "cute.add_offset", CUTE_OPERANDS(pointer, tuple), CUTE_NO_NAMED);
}

/* The elements of one group of registers, all of the same part, to a slot of its block. `thread`: where this thread's are in it. */
static void send_group(tile_emitter *e, MlirValue value, const int32_t *map, int64_t count, MlirValue part,
                       MlirValue slots, MlirValue thread)
{
    const tile_scatter *x = e->scatter;
    const tile_side *side = &x->staging.write;
    /* The receiver has slots for the blocks behind it, in their order, and for itself. */
    MlirValue at = cute_binary(&e->b, "arith.subi", x->own, part);
    at = cute_binary(&e->b, "arith.addi", at, tile_i32(e, x->blocks - 1));
    at = cute_binary(&e->b, "arith.remui", at, tile_i32(e, x->blocks));
    at = cute_binary(&e->b, "arith.muli", at, tile_i32(e, x->slot * 8 / x->bits));
    if (x->borrows) {
        int64_t away = (x->last_slot - x->slots) * 8 / x->bits;
        at = cute_select(&e->b, cute_compare(&e->b, CUTE_IS_EQ, part, x->own), tile_i32(e, away), at);
    }
    at = cute_binary(&e->b, "arith.addi", at, thread);
    MlirValue to = moved(e, slots, at, side->width), is_other = cute_compare(&e->b, CUTE_IS_NE, part, x->own);
    char row[48];
    snprintf(row, sizeof row, "!cute.layout<\"(%lld):(1)\">", (long long)side->width);
    if (!x->keeps) {
        tile_if here = tile_if_begin(e, cute_compare(&e->b, CUTE_IS_EQ, part, x->own));
        for (int64_t v = 0; v < count && !e->failed; v += side->width) {
            MlirValue place = place_of(e, to, side, v), line = tile_static(e, row),
                      view = tile_emit(e, "cute.make_view", CUTE_OPERANDS(place, line), CUTE_NO_NAMED);
            if (!e->failed)
                tile_sync(e, "cute.memref.store_vec",
                          CUTE_OPERANDS(tile_pick(e, value, map + v, side->width), view), CUTE_NO_NAMED);
        }
        tile_if_end(e, &here);
    }
    tile_if there = tile_if_begin(e, is_other);
    MlirValue rank = tile_peer_rank(e, x->along, x->own, part), barrier = barrier_of(e);
    for (int64_t v = 0; v < count && !e->failed; v += side->width) {
        MlirValue elements = tile_pick(e, value, map + v, side->width);
        tile_sync(e, "cute_nvgpu.arch.st_async",
                  CUTE_OPERANDS(elements, place_of(e, to, side, v), barrier, rank), CUTE_NO_NAMED);
    }
    tile_if_end(e, &there);
}

/* The registers of part `part`, in the order of x->part, as numbers of those of x->from; how many there are. */
static int64_t registers_of(const tile_scatter *x, int64_t part, int32_t *map)
{
    int64_t all = tile_values(&x->from), count = 0;
    for (int64_t v = 0; v < all; v++) {
        int64_t coord[CUTE_TILE_RANK] = {0};
        tile_modes_coord(&x->from.values, v, coord);
        if (coord[x->mode] == part) map[count++] = (int32_t)v;
    }
    return count;
}

/* Sends all of the thread's elements, one group of registers for each index of a part in them. */
static void send_parts(tile_emitter *e, MlirValue value, MlirValue slots)
{
    const tile_scatter *x = e->scatter;
    int64_t each = tile_values(&x->part);
    int32_t *order = cute_arena_array(e->arena, (size_t)each + 1, sizeof *order),
            *map = cute_arena_array(e->arena, (size_t)each + 1, sizeof *map);
    if (!order || !map || !tile_registers_map(e->arena, &x->part, &x->staging.write.d, order)) {
        e->failed = true;
        return;
    }
    MlirValue first = tile_thread_coord(e, &x->from, x->mode),
              thread = tile_thread_offset(e, &x->part, x->staging.write.stride);
    tile_if once = tile_if_begin(e, tile_is_first(e, &x->from));
    for (int64_t part = 0; part < x->blocks && !e->failed; part++) {
        if (!registers_of(x, part, map)) continue;
        int32_t *sent = cute_arena_array(e->arena, (size_t)each + 1, sizeof *sent);
        for (int64_t v = 0; sent && v < each; v++) sent[v] = map[order[v]];
        if (sent)
            send_group(e, value, sent, each, cute_binary(&e->b, "arith.addi", first, tile_i32(e, part)),
                       slots, thread);
        else
            e->failed = true;
    }
    tile_if_end(e, &once);
}

/* Values of fewer bits are widened, and narrowed again: exact. */
static MlirValue with_elements(tile_emitter *e, MlirValue value, MlirType element, bool widen)
{
    MlirType from = cute_type_element(mlirValueGetType(value));
    if (mlirTypeEqual(from, element)) return value;
    bool is_float = mlirTypeIsAFloat(from);
    return cute_unary(&e->b,
                      widen      ? is_float ? "arith.extf" : "arith.extsi"
                      : is_float ? "arith.truncf"
                                 : "arith.trunci",
                      value, tile_vector_type(element, cute_vector_count(mlirValueGetType(value))));
}

/* This block's own part in the order in which the others' are read, by shuffles. */
static MlirValue own_part(tile_emitter *e, MlirValue value, const tile_distribution *order)
{
    const tile_scatter *x = e->scatter;
    int64_t each = tile_values(&x->part);
    int32_t *map = cute_arena_array(e->arena, (size_t)each + 1, sizeof *map);
    MlirValue own = value;
    for (int64_t part = 0; map && part < x->blocks && !e->failed; part++) {
        registers_of(x, part, map);
        MlirValue registers = tile_pick(e, value, map, each);
        MlirValue is_own = cute_compare(&e->b, CUTE_IS_EQ, x->own, tile_i32(e, part));
        own = part ? cute_select(&e->b, is_own, registers, own) : registers;
    }
    if (!map || e->failed) return e->failed = true, value;
    own = tile_swap_lanes(e, own, &x->swaps);
    return tile_reorder(e, own, &x->after, order);
}

MlirValue tile_lower_reduce_scatter(tile_emitter *e, const tile_op *t)
{
    tile_scatter *x = e->scatter;
    const tile_side *side = &x->staging.read;
    MlirValue value = mlirOperationGetOperand(t->op, 0), sum = {NULL};
    x->own = mlirOperationGetOperand(t->op, 1);
    if (x->restaged) value = tile_stage(e, value, &t->in[0], &x->from, TILE_RESHAPED);
    if (!e->failed) value = with_elements(e, value, sent_type(x), true);
    tile_meet_peers(e);
    if (x->borrows) {
        tile_barrier(e); /* other warps of the role have read their stages */
        x->last_slot = e->role->scratch;
        if (x->last_slot + x->slot > e->shared_bytes) e->shared_bytes = x->last_slot + x->slot;
    }
    char *type = cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<16>>", x->text),
         *shape = cute_arena_printf(e->arena, "!cute.layout<\"%s\">",
                                    tile_layout_text(e, &x->to.shape, side->stride));
    if (e->failed || !type || !shape) return e->failed = true, value;
    send_parts(e, value, tile_shared_at(e, type, x->bits, x->slots));
    MlirValue own = {NULL};
    if (x->keeps)
        own = own_part(e, value, &side->d);
    else
        tile_barrier(e); /* the block's own part is there */
    tile_sync(e, "cute_nvgpu.arch.mbarrier_wait", CUTE_OPERANDS(barrier_of(e), tile_i32(e, 0)),
              CUTE_NAMED(cute_attribute(e->context, "scope", cute_string_attribute(e->context, "cluster"))));
    for (int64_t i = 0; i < x->blocks && !e->failed; i++) {
        if (x->keeps && i == x->blocks - 1) {
            own = with_elements(e, own, x->element, false);
            sum = tile_combine(e, cute_text("add"), sum, own);
            break;
        }
        int64_t at = i == x->blocks - 1 ? x->last_slot : x->slots + i * x->slot;
        MlirValue slot = tile_shared_at(e, type, x->bits, at),
                  view = tile_emit(e, "cute.make_view", CUTE_OPERANDS(slot, tile_static(e, shape)),
                                   CUTE_NO_NAMED);
        if (e->failed) return value;
        MlirValue part = tile_from_shared(e, &side->d, view, side->width);
        if (!e->failed) part = with_elements(e, part, x->element, false);
        if (!e->failed) sum = i ? tile_combine(e, cute_text("add"), sum, part) : part;
    }
    if (e->failed) return value;
    return tile_as_held(e, tile_reorder(e, sum, &side->d, &x->to), x->element);
}
