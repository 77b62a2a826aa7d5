/* Sums of warpgroups stored by TMA: each warpgroup writes bands of its rows to buffers in shared memory, swizzled so that stmatrix has
 * no conflicts, and one of its warps copies them to the tensor, or adds them to it, while the next bands are written, or the next tile is computed. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/bands.h"
#include "lib/passes/tiles/late_rows.h"

enum { WARPS = 4, MOST_BUFFERS = 2 };

/* A tile that is stored in bands. */
typedef struct banded_store {
    MlirValue value;
    tile_bands bands;
    tile_pieces pieces;
} banded_store;

/* Stores and reductions of the same bands. */
typedef struct banded {
    banded_store stores[TILE_JOINED_OPS];
    tile_reduction reductions[TILE_JOINED_OPS];
    MlirValue reduced[TILE_JOINED_OPS]; /* their operands */
    int store_count, reduction_count;
    MlirValue number;  /* of the warpgroup */
    MlirValue leads;   /* i1: the warpgroup's first warp */
    MlirValue barrier; /* named barrier of the warpgroup */
} banded;

static void sync_op(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes)
{
    if (!e->failed) cute_build(&e->b, name, operands, CUTE_NO_TYPES, attributes);
}

/* That of the warpgroup, whose index in its role is `group`. */
static MlirValue barrier_of(tile_emitter *e, MlirValue group)
{
    /* Roles with barriers of their own follow that of the warp that fetches. */
    int64_t before = e->role->first_warp > WARPS ? e->role->first_warp / WARPS - 1 : 0;
    return cute_binary(&e->b, "arith.addi", mlirValueIsNull(e->role->turn) ? group : e->role->turn,
                       tile_i32(e, TILE_GROUP_BARRIERS + before));
}

void tile_group_barrier(tile_emitter *e)
{
    sync_op(e, "cute_nvgpu.arch.named_barrier_sync",
            CUTE_OPERANDS(barrier_of(e, tile_group_index(e)), tile_i32(e, TILE_BAND_GROUP)), CUTE_NO_NAMED);
}

static void group_barrier(tile_emitter *e, const banded *s)
{
    sync_op(e, "cute_nvgpu.arch.named_barrier_sync", CUTE_OPERANDS(s->barrier, tile_i32(e, TILE_BAND_GROUP)),
            CUTE_NO_NAMED);
}

/* Buffers that other operations of the role may use too: those of each store one behind the other. */
static void make_buffers(tile_emitter *e, banded *s)
{
    enum { DIFFERENT = 1000003 };
    int64_t layout = 0, at = 0;
    for (int i = 0; i < s->store_count; i++)
        layout = layout * DIFFERENT + tile_bands_bytes(&s->stores[i].bands);
    bool shares = e->role->shares;
    e->role->mixed |= e->role->stored && e->role->stored != layout;
    e->role->stored = layout;
    for (int i = 0; i < s->store_count && !e->failed; i++) {
        tile_bands *b = &s->stores[i].bands;
        int64_t groups = b->d.shape.extent[0] / b->rows * b->across, bytes = tile_bands_bytes(b) * groups;
        cute_pointer pointer = tile_bands_pointer(b);
        MlirValue all =
            tile_shared_swizzled(e, &pointer, tile_bands_layout(e, b, groups), bytes * 8 / b->bits, at);
        tile_bands_slice(e, b, all, s->number);
        at += bytes;
    }
    e->role->shares = shares;
}

static void make_pieces(tile_emitter *e, banded *s)
{
    for (int i = 0; i < s->store_count && !e->failed; i++)
        s->stores[i].pieces = tile_bands_pieces(e, &s->stores[i].bands, false);
}

/* Computes a band, writes it to a buffer, and adds it to reductions. */
static void write_band(tile_emitter *e, banded *s, int64_t band, int64_t buffer)
{
    const tile_bands *b = &s->stores[0].bands;
    int64_t count = tile_piece_values(b);
    for (int64_t column = 0; column < b->columns && !e->failed; column += TILE_BAND_PIECE) {
        int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map);
        tile_parts *parts = map ? tile_begin_parts(e, map, count) : NULL;
        if (!parts || !tile_piece_map(b, band * b->columns + column, map)) {
            e->failed = true;
            return;
        }
        for (int i = 0; i < s->store_count && !e->failed; i++) {
            banded_store *own = &s->stores[i];
            MlirValue values = tile_part_of(e, parts, own->value);
            if (!e->failed) tile_write_piece(e, &own->bands, &own->pieces, buffer, column, values);
        }
        for (int i = 0; i < s->reduction_count && !e->failed; i++)
            tile_add_to_reduction(e, &s->reductions[i], tile_part_of(e, parts, s->reduced[i]), map, count);
    }
    for (int i = 0; i < s->reduction_count && !e->failed; i++) tile_finish_band(e, &s->reductions[i]);
}

/* By the first warp. */
static void copy_band(tile_emitter *e, const banded *s, int64_t band, int64_t buffer)
{
    const MlirValue none = {NULL};
    for (int i = 0; i < s->store_count && !e->failed; i++) {
        const tile_bands *b = &s->stores[i].bands;
        tile_band_index at = {band, none};
        if (b->across > 1) {
            at.value = cute_binary(&e->b, "arith.muli", b->column, tile_i32(e, tile_bands_count(b)));
            at.value = cute_binary(&e->b, "arith.addi", at.value, tile_i32(e, band));
        }
        tile_bands_copy(e, b, at, (tile_band_index){buffer, none}, none);
    }
}

static void commit(tile_emitter *e)
{
    sync_op(e, "cute_nvgpu.arch.cp_async_bulk_commit_group", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

/* What threads wrote is visible to TMA behind it. */
static void finish_writes(tile_emitter *e, const banded *s)
{
    sync_op(e, "cute_nvgpu.arch.fence_view_async_shared", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    group_barrier(e, s);
}

MlirValue tile_leads_group(tile_emitter *e)
{
    MlirValue in_group = cute_binary(&e->b, "arith.remui", e->role->warp, tile_i32(e, WARPS));
    return cute_compare(&e->b, CUTE_IS_EQ, in_group, tile_i32(e, 0));
}

void tile_wait_reads(tile_emitter *e, int64_t stores)
{
    sync_op(e, "cute_nvgpu.arch.cp_async_bulk_wait_group", CUTE_NO_OPERANDS,
            CUTE_NAMED(cute_attribute(e->context, "groups", mlirIntegerAttrGet(tile_i32_type(e), stores)),
                       cute_attribute(e->context, "read", mlirUnitAttrGet(e->context))));
}

MlirOperation tile_wait_stores(tile_emitter *e, MlirValue leads)
{
    tile_if once = tile_if_begin(e, leads);
    MlirOperation made = mlirBlockGetParentOperation(e->b.block);
    tile_wait_reads(e, 0);
    tile_if_end(e, &once);
    return made;
}

void tile_wait_written(tile_emitter *e, bool tma)
{
    if (tma) {
        tile_if once = tile_if_begin(e, tile_leads_group(e));
        sync_op(e, "cute_nvgpu.arch.cp_async_bulk_wait_group", CUTE_NO_OPERANDS,
                CUTE_NAMED(cute_attribute(e->context, "groups", mlirIntegerAttrGet(tile_i32_type(e), 0))));
        tile_if_end(e, &once);
    }
    tile_barrier(e);
}

/* A barrier in front of a store or a wait behind it, which order other uses of its memory; see tile_finish_stores. */
static void add_order(tile_emitter *e, MlirOperation op)
{
    enum { MOST = sizeof e->role->orders / sizeof *e->role->orders };
    if (e->role->order_count < MOST)
        e->role->orders[e->role->order_count++] = (tile_order){op, e->role->stored};
    else
        e->role->shares = true; /* all stay */
}

static bool is_inside(MlirOperation op, MlirOperation loop)
{
    for (; !cute_op_is(op, "gpu.func"); op = tile_parent(op))
        if (mlirOperationEqual(op, loop)) return true;
    return false;
}

/* The outermost loop around a store in which all others have buffers of the same bytes; null: none. */
static MlirOperation uniform_loop(const tile_role *role, const tile_order *order)
{
    MlirOperation found = {NULL};
    for (MlirOperation at = tile_parent(order->op); !cute_op_is(at, "gpu.func"); at = tile_parent(at)) {
        if (!cute_op_is(at, "scf.for")) continue;
        for (int i = 0; i < role->order_count; i++)
            if (role->orders[i].stored != order->stored && is_inside(role->orders[i].op, at)) return found;
        found = at;
    }
    return found;
}

/* Orders of stores that a loop has alone are around it. */
static void move_orders(tile_emitter *e, const tile_role *role)
{
    MlirOperation loops[sizeof role->orders / sizeof *role->orders];
    for (int i = 0; i < role->order_count; i++) loops[i] = uniform_loop(role, &role->orders[i]);
    for (int i = 0; i < role->order_count; i++) {
        if (mlirOperationIsNull(loops[i])) continue;
        bool waits = cute_op_is(role->orders[i].op, "scf.if");
        e->b = cute_builder_before(waits ? mlirOperationGetNextInBlock(loops[i]) : loops[i]);
        if (waits)
            tile_wait_reads(e, 0);
        else
            tile_barrier(e);
        mlirOperationDestroy(role->orders[i].op);
    }
}

void tile_finish_stores(tile_emitter *e, const tile_role *role)
{
    if (role->shares) return;
    if (role->mixed) {
        move_orders(e, role);
        return;
    }
    for (int i = 0; i < role->order_count; i++) mlirOperationDestroy(role->orders[i].op);
}

/* Bands in turn, as many at once as there are buffers. */
static void store_bands(tile_emitter *e, banded *s)
{
    const tile_bands *b = &s->stores[0].bands;
    int64_t bands = tile_bands_count(b);
    make_buffers(e, s);
    make_pieces(e, s);
    add_order(e, tile_barrier(e));
    for (int64_t first = 0; first < bands && !e->failed; first += b->buffers) {
        int64_t count = bands - first < b->buffers ? bands - first : b->buffers;
        tile_wait_stores(e, s->leads);
        group_barrier(e, s);
        for (int64_t i = 0; i < count; i++) write_band(e, s, first + i, i);
        finish_writes(e, s);
        tile_if once = tile_if_begin(e, s->leads);
        for (int64_t i = 0; i < count; i++) copy_band(e, s, first + i, i);
        commit(e);
        tile_if_end(e, &once);
    }
    add_order(e, tile_wait_stores(e, s->leads));
}

/* Bands in turn, each once the bands of other tiles that it is computed from have arrived. */
static void store_copied_bands(tile_emitter *e, banded *s, tile_late_copies *c)
{
    tile_late_copies_begin(e, c, s->leads);
    for (int i = 0; i < s->store_count; i++) {
        const tile_bands *planned = i ? &c->plan.also[i - 1] : &c->plan.stored;
        s->stores[i].bands.buffers = planned->buffers;
        s->stores[i].bands.view = planned->view;
    }
    if (e->failed) return;
    make_pieces(e, s);
    for (int64_t i = 0; i < c->plan.bands && !e->failed; i++) {
        int64_t buffer = i % c->plan.stored.buffers;
        tile_late_copies_await(e, c, i);
        write_band(e, s, i, buffer);
        finish_writes(e, s);
        tile_if once = tile_if_begin(e, s->leads);
        copy_band(e, s, i, buffer);
        commit(e);
        tile_late_copies_next(e, c, i);
        tile_if_end(e, &once);
    }
}

/* Buffers of a warpgroup for bands of each store. */
static int64_t buffers_for(const tile_emitter *e, const banded *s)
{
    int64_t bands = tile_bands_count(&s->stores[0].bands), bits = 0;
    for (int i = 0; i < s->store_count; i++) {
        const tile_bands *b = &s->stores[i].bands;
        bits += b->d.shape.extent[0] * b->across * b->columns * b->bits * e->role->turns;
    }
    int64_t count = TILE_STORE_ROOM * 8 / bits;
    count = count < 1 ? 1 : count > MOST_BUFFERS ? MOST_BUFFERS : count;
    return count > bands ? bands : count;
}

static bool add_store(tile_emitter *e, banded *s, const tile_op *t)
{
    banded_store *own = &s->stores[s->store_count++];
    own->value = mlirOperationGetOperand(t->op, 0);
    if (!tile_bands_of(mlirOperationGetOperand(t->op, 1), mlirOperationGetOperand(t->op, 2), &t->in[0],
                       e->threads / TILE_BAND_GROUP, cute_tile_number(t->op, "width", 0), 1, &own->bands))
        return false;
    tile_bands_make_atom(e, &own->bands, cute_op_has(t->op, "kind") ? TILE_BANDS_ADD : TILE_BANDS_STORE);
    return own->bands.columns == s->stores[0].bands.columns;
}

/* `first`: the first store. */
static void lower_banded(tile_emitter *e, banded *s, MlirOperation first)
{
    if (e->failed) return;
    int64_t buffers = buffers_for(e, s);
    s->number = tile_group_index(e);
    s->leads = tile_leads_group(e);
    s->barrier = barrier_of(e, s->number);
    for (int i = 0; i < s->store_count; i++) {
        s->stores[i].bands.buffers = buffers;
        tile_bands_find_own(e, &s->stores[i].bands, s->number);
    }
    tile_begin_late(e, s->stores[0].bands.columns);
    if (e->failed) return;
    e->role->stores = true;
    bool rows = tile_write_rows(e, first);
    tile_late_copies *copies = tile_late_copies_of(e, first, NULL);
    if (copies && rows) group_barrier(e, s); /* else it is in front of the first band */
    if (copies)
        store_copied_bands(e, s, copies);
    else
        store_bands(e, s);
}

MlirValue tile_lower_tma_store(tile_emitter *e, const tile_op *t)
{
    banded *s = cute_arena_alloc(e->arena, sizeof *s);
    if (s) *s = (banded){.store_count = 0};
    if (!s || !add_store(e, s, t)) e->failed = true;
    lower_banded(e, s, t->op);
    return (MlirValue){NULL};
}

void tile_lower_joined(tile_emitter *e, const tile_op *const *ops, int count, MlirValue *results)
{
    banded *s = cute_arena_alloc(e->arena, sizeof *s);
    MlirOperation first = tile_joined_store(ops[0]->op);
    if (s) *s = (banded){.store_count = 0};
    if (!s || count > TILE_JOINED_OPS) e->failed = true;
    for (int i = 0; i < count && !e->failed; i++) {
        if (cute_op_is(ops[i]->op, "cute.tile.store")) {
            if (!add_store(e, s, ops[i])) e->failed = true;
            continue;
        }
        s->reduced[s->reduction_count] = mlirOperationGetOperand(ops[i]->op, 0);
        tile_begin_reduction(e, ops[i], &s->reductions[s->reduction_count++]);
    }
    lower_banded(e, s, first);
    for (int i = 0, r = 0; i < count && !e->failed; i++)
        if (r < s->reduction_count && s->reductions[r].t == ops[i]) {
            e->b.location = mlirOperationGetLocation(ops[i]->op);
            results[i] = tile_end_reduction(e, &s->reductions[r++]);
        }
}

MlirValue tile_lower_signal(tile_emitter *e, const tile_op *t)
{
    const MlirValue none = {NULL};
    bool everywhere = cute_text_is(cute_tile_word(t->op, "scope"), "sys");
    tile_wait_written(e, e->role->stores);
    tile_if once = tile_if_begin(e, cute_compare(&e->b, CUTE_IS_EQ, e->thread, tile_i32(e, 0)));
    MlirValue at = cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"?\">"),
                                    CUTE_OPERANDS(mlirOperationGetOperand(t->op, 1)), CUTE_NO_NAMED);
    tile_emit(e, "cute.atomic_add", CUTE_OPERANDS(tile_i32(e, 1), mlirOperationGetOperand(t->op, 0), at),
              CUTE_NAMED(cute_attribute(e->context, "order", cute_string_attribute(e->context, "release")),
                         cute_attribute(e->context, "scope",
                                        cute_string_attribute(e->context, everywhere ? "sys" : "gpu"))));
    tile_if_end(e, &once);
    return none;
}
