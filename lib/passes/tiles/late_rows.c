/* See late_rows.h. Each warpgroup has a copy of a row, so that it waits for no other. */
#include "lib/passes/tiles/late_rows.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"

enum { GROUP = TILE_BAND_GROUP, WARPS = 4, PIECE = TILE_BAND_PIECE, ALIGN = 16 };

/* ---- which loads ---- */

bool tile_is_row(MlirOperation load, const tile_distribution *d)
{
    enum { FEW = 8 }; /* values that each thread loads for itself */
    int last = d->shape.rank - 1;
    if (last < 0 || cute_tile_size(&d->shape) != d->shape.extent[last] || d->shape.extent[last] % PIECE ||
        tile_values(d) <= FEW)
        return false;
    /* The threads of an accumulator of wgmma: four along the columns, the others have the same. */
    const tile_mode *first = &d->threads.at[0];
    if (!d->threads.count || first->extent != 4 || first->dim != last || first->step != 2) return false;
    for (int i = 1; i < d->threads.count; i++)
        if (d->threads.at[i].dim != TILE_COPIES) return false;
    MlirStringRef fill = cute_tile_word(load, "fill");
    return mlirOperationGetNumOperands(load) < 3 && (!fill.length || cute_text_is(fill, "zero"));
}

/* Whether all elements of a tile are equal. */
static bool is_splat(MlirValue value)
{
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op)) return false;
    if (cute_op_is(op, "cute.tile.broadcast"))
        return !mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    return !mlirAttributeIsNull(cute_constant_splat(value));
}

/* Whether `op` computes a tile of elements of at most 32 bits from `from` and numbers. */
static bool continues(MlirOperation op, MlirValue from)
{
    if ((!cute_op_of(op, "arith.") && !cute_op_of(op, "math.")) || mlirOperationGetNumResults(op) != 1)
        return false;
    MlirType element = cute_tile_element(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element) > 32
                                  : !mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) > 32)
        return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue operand = mlirOperationGetOperand(op, i);
        if (!mlirValueEqual(operand, from) && !is_splat(operand)) return false;
    }
    return true;
}

/* The last value that is computed from a load and numbers alone, so that each of its elements is computed once. */
static MlirValue value_of(MlirOperation load)
{
    MlirValue at = mlirOperationGetResult(load, 0), value = at;
    for (;;) {
        MlirOperation user = cute_only_user(at);
        if (mlirOperationIsNull(user)) return value;
        bool reshapes = cute_op_is(user, "cute.tile.reshape");
        if (!reshapes && !continues(user, at)) return value;
        at = mlirOperationGetResult(user, 0);
        if (!reshapes) value = at;
    }
}

int64_t tile_row_bytes(MlirOperation load)
{
    cute_tile_shape shape;
    MlirType type = mlirValueGetType(value_of(load));
    cute_tile_shape_of(type, &shape);
    return (cute_tile_size(&shape) * cute_tile_memory_bits(cute_tile_element(type)) / 8 + ALIGN - 1) / ALIGN *
           ALIGN;
}

static void note_row(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    if (e->failed || !cute_text_is(cute_tile_word(op, TILE_LATE), TILE_LATE_ROW)) return;
    const tile_role *role = tile_role_of(e, op);
    const cute_builder none = {.block = {NULL}};
    tile_row *r = cute_arena_alloc(e->arena, sizeof *r);
    if (!r) {
        e->failed = true;
        return;
    }
    *r = (tile_row){.load = op, .value = value_of(op), .next = e->rows};
    r->role = tile_role_number(e, role);
    r->store = tile_only_store(mlirOperationGetResult(op, 0));
    MlirType type = mlirValueGetType(r->value);
    if (mlirOperationIsNull(r->store) || !tile_distribution_of(type, &r->d)) {
        e->failed = true;
        return;
    }
    r->element = tile_element_text(e, cute_tile_element(type), &r->bits);
    r->loop = tile_loop_before(r->store);
    if (!mlirOperationIsNull(r->loop) &&
        mlirValueIsNull(tile_hoist(&none, r->loop, mlirOperationGetOperand(op, 1))))
        r->loop = (MlirOperation){NULL};
    r->warpgroups = role->warps * role->turns / WARPS;
    r->bytes = tile_row_bytes(op);
    r->memory = (e->shared_bytes + ALIGN - 1) / ALIGN * ALIGN;
    e->shared_bytes = r->memory + r->warpgroups * r->bytes;
    e->rows = r;
}

void tile_find_rows(tile_emitter *e)
{
    cute_op_walk(e->function, "cute.tile.load", CUTE_WALK_OUTER_FIRST, note_row, e);
}

tile_row *tile_row_of(tile_emitter *e, MlirValue value)
{
    tile_row *r = e->rows;
    while (r && !mlirValueEqual(r->value, value)) r = r->next;
    return r;
}

/* ---- loads, by the threads of a warpgroup ---- */

static bool spread(const tile_row *r, tile_distribution *out)
{
    return tile_row_major(&r->d.shape, 1, GROUP, out);
}

static void load_row(tile_emitter *e, tile_row *r, MlirValue coord)
{
    tile_distribution d;
    MlirLocation here = e->b.location;
    if (!spread(r, &d)) {
        e->failed = true;
        return;
    }
    e->b.location = mlirOperationGetLocation(r->load);
    tile_group_threads outer = tile_enter_group(e);
    r->loaded = tile_load_as(e, r->load, coord, &d);
    tile_leave_group(e, outer);
    e->b.location = here;
    r->is_loaded = true;
}

void tile_load_rows(tile_emitter *e, MlirOperation loop)
{
    for (tile_row *r = e->rows; r && !e->failed; r = r->next)
        if (!r->is_loaded && !mlirOperationIsNull(r->loop) && mlirOperationEqual(r->loop, loop))
            load_row(e, r, tile_hoist(&e->b, r->loop, mlirOperationGetOperand(r->load, 1)));
}

/* ---- shared memory ---- */

/* The copy of this warpgroup from column `from` on: a tile of `shape`. */
static MlirValue view_at(tile_emitter *e, const tile_row *r, const cute_tile_shape *shape, int64_t from)
{
    cute_tile_shape all = *shape;
    int64_t strides[CUTE_TILE_RANK];
    if (all.rank == CUTE_TILE_RANK) return e->failed = true, (MlirValue){NULL};
    for (int i = 0; i < all.rank; i++) strides[i] = i + 1 < all.rank ? shape->extent[all.rank - 1] : 1;
    strides[all.rank] = r->bytes * 8 / r->bits;
    all.extent[all.rank++] = r->warpgroups;
    char *type = cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<%d>>", r->element, ALIGN),
         *layout = cute_arena_printf(e->arena, "!cute.layout<\"%s\">", tile_layout_text(e, &all, strides));
    if (!type || !layout || e->failed) return e->failed = true, (MlirValue){NULL};
    MlirValue at = tile_shared_at(e, type, r->bits, r->memory + from * r->bits / 8),
              view = tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, tile_static(e, layout)), CUTE_NO_NAMED);
    return tile_slice_last(e, view, all.rank, tile_group_number(e));
}

bool tile_write_rows(tile_emitter *e, MlirOperation store)
{
    bool any = false;
    for (tile_row *r = e->rows; r && !e->failed; r = r->next) {
        tile_distribution d;
        if (!mlirOperationEqual(r->store, store)) continue;
        any = true;
        if (!r->is_loaded) load_row(e, r, mlirOperationGetOperand(r->load, 1));
        if (e->failed || !spread(r, &d)) return e->failed = true, any;
        MlirValue view = view_at(e, r, &d.shape, 0),
                  values = tile_part_from(e, r->value, mlirOperationGetResult(r->load, 0), r->loaded);
        tile_group_threads outer = tile_enter_group(e);
        if (!e->failed) tile_to_shared(e, &d, values, view, 1);
        tile_leave_group(e, outer);
    }
    return any;
}

MlirValue tile_row_part(tile_emitter *e, const tile_row *r, const int32_t *map, int64_t count)
{
    const MlirValue none = {NULL};
    int last = r->d.shape.rank - 1;
    int64_t from = -1;
    int32_t *places = cute_arena_array(e->arena, (size_t)count, sizeof *places);
    if (!places) return e->failed = true, none;
    for (int64_t i = 0; i < count; i++) {
        int64_t coord[CUTE_TILE_RANK] = {0};
        tile_modes_coord(&r->d.values, map[i], coord);
        int64_t piece = coord[last] / PIECE * PIECE, within = coord[last] % PIECE;
        if (from >= 0 && piece != from) return e->failed = true, none;
        from = piece;
        places[i] = (int32_t)(within % 8 + within / 8 * 2);
    }
    tile_distribution d = r->d;
    d.shape.extent[last] = PIECE;
    d.values = (tile_modes){0};
    tile_modes_add(&d.values, 2, last, 1);
    tile_modes_add(&d.values, 2, last, 8);
    MlirValue read = tile_from_shared(e, &d, view_at(e, r, &d.shape, from), 2);
    return e->failed ? none : tile_pick(e, read, places, count);
}
