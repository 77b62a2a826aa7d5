/* See late_copies.h: fetches of bands, waits for them, and their values.
 *
 * For each tile, buffers B, bands 0, 1, ...; band b is in buffer b % B:
 *     in the first iteration of the loop of products, else in front of the store:
 *         first warp: wait until the stores of the tile before have read the buffers ; fetch bands 0 to B - 1
 *     for each band b:
 *         wait for its mbarrier ; compute the band, in the buffer itself ; fence ; barrier of the warpgroup
 *         first warp: store the band ; wait until that has read the buffer ; fetch band b + B, which is in L2
 * With more than two buffers it waits for the store before, whose buffer it fills: B - 2 bands are under way meanwhile.
 * An mbarrier has one phase for each band in its buffer. Where these are odd in number, the first warp completes another one behind the last band,
 * for which no thread waits: each tile starts in phase 0. */
#include "lib/passes/tiles/late_copies.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"

enum { BARRIER_BYTES = 8, WARPS = 4, ALIGN = 1024, MOST_BRANCHES = 8 };

/* ---- the stores of a kernel, and their memory ---- */

static void note_store(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    const tile_role *role = tile_role_of(e, op);
    tile_late_plan plan;
    if (e->failed || !tile_late_plan_of(op, role->warps / WARPS, role->turns, &plan)) return;
    tile_late_copies *c = cute_arena_alloc(e->arena, sizeof *c);
    if (!c) {
        e->failed = true;
        return;
    }
    *c = (tile_late_copies){.plan = plan, .next = e->copies, .loop = {NULL}};
    c->role = tile_role_number(e, role);
    e->copies = c;
}

MlirOperation tile_loop_before(MlirOperation op)
{
    MlirOperation found = {NULL};
    for (MlirOperation at = op; mlirOperationIsNull(found) && !cute_op_is(at, "gpu.func");
         at = tile_parent(at)) {
        if (!mlirOperationEqual(at, op) && !cute_op_is(at, "scf.if")) break;
        for (MlirOperation own = mlirBlockGetFirstOperation(mlirOperationGetBlock(at));
             !mlirOperationEqual(own, at); own = mlirOperationGetNextInBlock(own)) {
            bool product = false;
            for (MlirOperation in = cute_op_is(own, "scf.for")
                                        ? mlirBlockGetFirstOperation(tile_loop_body(own))
                                        : (MlirOperation){NULL};
                 !mlirOperationIsNull(in); in = mlirOperationGetNextInBlock(in))
                product |= cute_op_is(in, "cute.tile.gemm") && cute_op_has(in, "wgmma");
            if (product) found = own;
        }
    }
    return found;
}

/* The branches around a store that are behind `loop`: conditions, and whether the store is where they hold. -1: something else is around it. */
static int branches_of(MlirOperation store, MlirOperation loop, MlirValue *condition, bool *holds)
{
    int count = 0;
    MlirBlock around = mlirOperationGetBlock(loop), own = mlirOperationGetBlock(store);
    while (!mlirBlockEqual(own, around)) {
        MlirOperation branch = mlirBlockGetParentOperation(own);
        if (!cute_op_is(branch, "scf.if") || count == MOST_BRANCHES) return -1;
        holds[count] = mlirBlockEqual(own, mlirRegionGetFirstBlock(mlirOperationGetRegion(branch, 0)));
        condition[count++] = mlirOperationGetOperand(branch, 0);
        own = mlirOperationGetBlock(branch);
    }
    return count;
}

/* Whether `loop` may fetch the first bands: where they are, and whether they are stored, is known in front of it. */
static bool known_in(MlirOperation loop, const tile_late_plan *plan)
{
    MlirValue conditions[MOST_BRANCHES];
    bool holds[MOST_BRANCHES];
    const cute_builder none = {.block = {NULL}};
    int count = mlirOperationIsNull(loop) ? -1 : branches_of(plan->store, loop, conditions, holds);
    for (int i = 0; i < count; i++)
        if (mlirValueIsNull(tile_hoist(&none, loop, conditions[i]))) return false;
    for (int i = 0; i < plan->count; i++)
        if (count >= 0 && mlirValueIsNull(tile_hoist(&none, loop, plan->loaded[i].coord))) return false;
    return count >= 0;
}

void tile_find_copies(tile_emitter *e)
{
    bool pipe = false;
    for (int i = 0; i < e->buffer_count; i++) pipe |= e->buffers[i].is_pipe;
    if (!pipe) return; /* where others initialise theirs */
    cute_op_walk(e->function, "cute.tile.store", CUTE_WALK_OUTER_FIRST, note_store, e);
    for (tile_late_copies *c = e->copies; c && !e->failed; c = c->next) {
        MlirOperation loop = tile_loop_before(c->plan.store);
        if (known_in(loop, &c->plan)) c->loop = loop;
        c->barriers = e->shared_bytes;
        e->shared_bytes += c->plan.warpgroups * c->plan.stored.buffers * BARRIER_BYTES;
    }
}

void tile_place_copies(tile_emitter *e)
{
    for (tile_late_copies *c = e->copies; c; c = c->next) {
        c->memory = e->shared_bytes;
        e->shared_bytes += (c->plan.bytes + ALIGN - 1) / ALIGN * ALIGN;
    }
}

tile_late_copies *tile_late_copies_of(tile_emitter *e, MlirOperation op, int *index)
{
    for (tile_late_copies *c = e->copies; c; c = c->next) {
        if (mlirOperationEqual(c->plan.store, op)) return c;
        for (int i = 0; i < c->plan.count; i++) {
            if (!mlirOperationEqual(c->plan.loads[i], op)) continue;
            if (index) *index = i;
            return c;
        }
    }
    return NULL;
}

/* ---- synchronisation ---- */

static void sync_op(tile_emitter *e, const char *name, cute_operands operands)
{
    if (!e->failed) cute_build(&e->b, name, operands, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static tile_band_index number(int64_t at)
{
    return (tile_band_index){at, {NULL}};
}

static MlirValue value_of(tile_emitter *e, tile_band_index at)
{
    return mlirValueIsNull(at.value) ? tile_i32(e, at.number) : at.value;
}

/* That of buffer `buffer` of warpgroup `owner`. */
static MlirValue barrier_at(tile_emitter *e, const tile_late_copies *c, MlirValue owner,
                            tile_band_index buffer)
{
    MlirValue first = tile_shared_at(e, "!cute.ptr<i64, smem, align<8>>", BARRIER_BYTES * 8, c->barriers),
              at = cute_binary(&e->b, "arith.muli", owner, tile_i32(e, c->plan.stored.buffers));
    return tile_offset_by(e, first, cute_binary(&e->b, "arith.addi", at, value_of(e, buffer)));
}

void tile_init_copies(tile_emitter *e)
{
    for (tile_late_copies *c = e->copies; c; c = c->next) {
        for (int64_t i = 0; i < c->plan.warpgroups && !c->initialised; i++)
            for (int64_t k = 0; k < c->plan.stored.buffers && !e->failed; k++)
                sync_op(e, "cute_nvgpu.arch.mbarrier_init",
                        CUTE_OPERANDS(barrier_at(e, c, tile_i32(e, i), number(k)), tile_i32(e, 1)));
        c->initialised = true;
    }
}

/* ---- buffers and atoms ---- */

static void slice_buffers(tile_emitter *e, const tile_late_copies *c, tile_bands *bands, int64_t offset)
{
    cute_pointer type = tile_bands_pointer(bands);
    const char *layout = tile_bands_layout(e, bands, c->plan.warpgroups);
    char *pointer =
             cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<1024>, S<%d,%d,%d>>", bands->element,
                               type.swizzle.bits, type.swizzle.base, type.swizzle.shift),
         *text = cute_arena_printf(e->arena, "!cute.layout<\"%s\">", layout);
    if (!pointer || !text || e->failed) {
        e->failed = true;
        return;
    }
    MlirValue at = tile_shared_at(e, pointer, bands->bits, c->memory + offset),
              all = tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, tile_static(e, text)), CUTE_NO_NAMED);
    tile_bands_slice(e, bands, all, c->owner);
}

/* Values for the operations from here on: those of one block do not dominate another. */
static void enter(tile_emitter *e, tile_late_copies *c)
{
    c->owner = tile_group_number(e);
    for (int i = 0; i < c->plan.count; i++) {
        tile_bands *b = &c->plan.loaded[i];
        b->group = tile_group_index(e);
        if (mlirValueIsNull(b->tma)) tile_bands_make_atom(e, b, TILE_BANDS_LOAD);
        slice_buffers(e, c, b, c->plan.offset[i]);
    }
}

/* ---- fetches ---- */

static MlirValue elect_one(tile_emitter *e)
{
    return cute_build_value(&e->b, "cute_nvgpu.arch.elect_one", mlirIntegerTypeGet(e->context, 1),
                            CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

/* By the warpgroup's first warp. */
static void fetch_band(tile_emitter *e, const tile_late_copies *c, tile_band_index band,
                       tile_band_index buffer)
{
    MlirValue bar = barrier_at(e, c, c->owner, buffer);
    tile_if elected = tile_if_begin(e, elect_one(e));
    sync_op(e, "cute_nvgpu.arch.mbarrier_arrive_and_expect_tx",
            CUTE_OPERANDS(bar, tile_i32(e, c->plan.expected)));
    tile_if_end(e, &elected);
    for (int i = 0; i < c->plan.count && !e->failed; i++) {
        const tile_bands *b = &c->plan.loaded[i];
        MlirValue load = tile_set_field(e, b->exec, bar, "#cute_nvgpu.atom_copy_field_tmaload<tma_bar>");
        if (!e->failed) tile_bands_copy(e, b, band, buffer, load);
    }
}

/* Bands `from` to `to` to the buffers of these numbers, or else to L2. More than two are a loop, so that few values are computed in front of
 * the products. */
static void fetch_range(tile_emitter *e, const tile_late_copies *c, int64_t from, int64_t to, bool buffers)
{
    enum { FEW = 2 };
    cute_builder outside = e->b;
    tile_band_index band = number(from);
    bool loop = to - from > FEW;
    if (loop) {
        MlirOperation made = tile_emit_loop(e, from, to);
        band.value = mlirBlockGetArgument(tile_loop_body(made), 0);
        e->b = cute_builder_before(mlirBlockGetTerminator(tile_loop_body(made)));
        e->b.location = outside.location;
    }
    for (; band.number < (loop ? from + 1 : to) && !e->failed; band.number++) {
        if (buffers) fetch_band(e, c, band, band);
        for (int i = 0; !buffers && i < c->plan.count && !e->failed; i++)
            tile_bands_prefetch(e, &c->plan.loaded[i], band);
    }
    e->b = outside;
}

/* The first bands, where `leads`: once stores of the tile before have read the buffers. Later ones have to wait for a buffer, but not for device
 * memory. */
static void fetch_bands(tile_emitter *e, tile_late_copies *c, MlirValue leads)
{
    int64_t buffers = c->plan.stored.buffers;
    tile_if first = tile_if_begin(e, leads);
    tile_wait_reads(e, 0);
    enter(e, c);
    fetch_range(e, c, 0, buffers, true);
    fetch_range(e, c, buffers, c->plan.bands, false);
    tile_if_end(e, &first);
}

/* In `loop` or behind it, under `condition`: with the coordinates and conditions as they are known in front of the loop. */
static void fetch_at(tile_emitter *e, tile_late_copies *c, MlirValue condition)
{
    MlirValue conditions[MOST_BRANCHES], coords[TILE_LATE_LOADS];
    bool holds[MOST_BRANCHES];
    int count = branches_of(c->plan.store, c->loop, conditions, holds);
    cute_builder here = e->b;
    condition = cute_binary(&e->b, "arith.andi", condition, tile_leads_group(e));
    for (int i = 0; i < count; i++) {
        MlirValue known = tile_hoist(&e->b, c->loop, conditions[i]);
        if (!holds[i]) known = cute_binary(&e->b, "arith.xori", known, cute_build_constant(&e->b, 1, 1));
        condition = cute_binary(&e->b, "arith.andi", condition, known);
    }
    for (int i = 0; i < c->plan.count; i++) {
        e->b.location = mlirOperationGetLocation(c->plan.loads[i]);
        coords[i] = c->plan.loaded[i].coord;
        c->plan.loaded[i].coord = tile_hoist(&e->b, c->loop, coords[i]);
    }
    fetch_bands(e, c, condition);
    for (int i = 0; i < c->plan.count; i++) c->plan.loaded[i].coord = coords[i];
    e->b.location = here.location;
}

/* Warps that no product keeps together: none waits for a band before the first warp has completed the mbarrier's last phase of the tile before. */
static void gather_warps(tile_emitter *e, MlirValue condition)
{
    tile_if only = tile_if_begin(e, condition);
    tile_group_barrier(e);
    tile_if_end(e, &only);
}

void tile_fetch_first(tile_emitter *e, MlirOperation loop)
{
    for (tile_late_copies *c = e->copies; c && !e->failed; c = c->next) {
        if (c->issued || mlirOperationIsNull(c->loop) || !mlirOperationEqual(c->loop, loop)) continue;
        c->issued = true;
        MlirValue low = mlirOperationGetOperand(loop, 0), stop = mlirOperationGetOperand(loop, 1);
        fetch_at(e, c, cute_compare(&e->b, CUTE_IS_EQ, mlirBlockGetArgument(tile_loop_body(loop), 0), low));
        cute_builder here = e->b;
        e->b = cute_builder_before(mlirOperationGetNextInBlock(loop));
        e->b.location = here.location;
        MlirValue none = cute_compare(&e->b, CUTE_IS_SGE, low, stop); /* there is no iteration */
        gather_warps(e, none);
        fetch_at(e, c, none);
        e->b = here;
    }
}

void tile_late_copies_next(tile_emitter *e, tile_late_copies *c, int64_t band)
{
    int64_t buffers = c->plan.stored.buffers, fills = band / buffers + 1;
    int64_t behind = buffers > 2, next = band - behind + buffers; /* a wait for an earlier store is short */
    if (band >= behind && next < c->plan.bands) {
        tile_wait_reads(e, behind);
        fetch_band(e, c, number(next), number(next % buffers));
    }
    if (band + buffers < c->plan.bands || fills % 2 == 0) return;
    tile_if one = tile_if_begin(e, elect_one(e));
    sync_op(e, "cute_nvgpu.arch.mbarrier_arrive",
            CUTE_OPERANDS(barrier_at(e, c, c->owner, number(band % buffers))));
    tile_if_end(e, &one);
}

/* ---- a store ---- */

void tile_late_copies_begin(tile_emitter *e, tile_late_copies *c, MlirValue leads)
{
    if (!c->issued) {
        gather_warps(e, (MlirValue){NULL});
        fetch_bands(e, c, leads);
    }
    enter(e, c);
    slice_buffers(e, c, &c->plan.stored, 0);
    for (int i = 0; i < c->plan.also_count; i++)
        slice_buffers(e, c, &c->plan.also[i], c->plan.also_offset[i]);
    for (int i = 0; i < c->plan.count && !e->failed; i++) {
        c->pieces[i] = tile_bands_pieces(e, &c->plan.loaded[i], true);
        c->read[i] = cute_arena_array(e->arena, (size_t)(c->plan.stored.columns / TILE_BAND_PIECE),
                                      sizeof *c->read[i]);
        if (!c->read[i]) e->failed = true;
    }
}

void tile_late_copies_await(tile_emitter *e, tile_late_copies *c, int64_t band)
{
    const MlirValue none = {NULL};
    int64_t buffers = c->plan.stored.buffers;
    sync_op(
        e, "cute_nvgpu.arch.mbarrier_wait",
        CUTE_OPERANDS(barrier_at(e, c, c->owner, number(band % buffers)), tile_i32(e, band / buffers % 2)));
    c->band = band;
    for (int i = 0; i < c->plan.count; i++)
        for (int64_t p = 0; p < c->plan.stored.columns / TILE_BAND_PIECE; p++) c->read[i][p] = none;
}

/* Where `map` is the piece's, in the order of the instruction, at the column. */
static bool is_piece(tile_emitter *e, const tile_bands *bands, int64_t column, const int32_t *map,
                     int64_t count)
{
    int32_t *own = cute_arena_array(e->arena, (size_t)tile_piece_values(bands), sizeof *own);
    if (!own || count != tile_piece_values(bands) || !tile_piece_map(bands, column, own)) return false;
    for (int64_t i = 0; i < count; i++)
        if (map[i] != own[i]) return false;
    return true;
}

MlirValue tile_late_copies_part(tile_emitter *e, tile_late_copies *c, int index, const int32_t *map,
                                int64_t count)
{
    enum { AHEAD_VALUES = 32 }; /* of 16 bits: pieces are read so far ahead of their use */
    const tile_bands *b = &c->plan.loaded[index];
    int64_t coord[CUTE_TILE_RANK] = {0}, pieces = b->columns / TILE_BAND_PIECE, last;
    tile_modes_coord(&b->d.values, map[0], coord);
    int64_t piece = coord[1] % b->columns / TILE_BAND_PIECE;
    if (coord[1] / b->columns != c->band ||
        !is_piece(e, b, coord[1] / TILE_BAND_PIECE * TILE_BAND_PIECE, map, count)) {
        e->failed = true;
        return (MlirValue){NULL};
    }
    last = piece + AHEAD_VALUES * 16 / b->bits / tile_piece_values(b);
    if (last == piece) last++;
    for (int64_t p = piece; p < last && p < pieces && !e->failed; p++)
        if (mlirValueIsNull(c->read[index][p]))
            c->read[index][p] = tile_read_piece(e, b, &c->pieces[index], c->band % c->plan.stored.buffers,
                                                p * TILE_BAND_PIECE);
    return c->read[index][piece];
}
