/* See late_copies.h: which late loads TMA copies, and how their bands share shared memory with those of the store. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/late_rows.h"

/* ---- stores and their loads ---- */

static bool keeps_elements(MlirOperation op)
{
    return tile_is_elementwise(op) || cute_op_is(op, "cute.tile.reshape") ||
           cute_op_is(op, "cute.tile.broadcast");
}

static bool find_store(MlirValue value, MlirBlock block, int depth, MlirOperation *store)
{
    enum { DEPTH = 32 };
    if (depth == DEPTH) return false;
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (!mlirBlockEqual(mlirOperationGetBlock(user), block)) return false;
        if (cute_op_is(user, "cute.tile.store") || cute_op_has(user, TILE_JOINED)) {
            MlirOperation own = tile_joined_store(user);
            bool other = !mlirOperationIsNull(*store) && !mlirOperationEqual(*store, own);
            if (other || mlirOperationIsNull(own) || mlirOpOperandGetOperandNumber(use) != 0) return false;
            *store = own;
        } else if (!keeps_elements(user) ||
                   !find_store(mlirOperationGetResult(user, 0), block, depth + 1, store)) {
            return false;
        }
    }
    return true;
}

MlirOperation tile_only_store(MlirValue tile)
{
    MlirOperation store = {NULL};
    MlirBlock block = mlirOperationGetBlock(mlirOpResultGetOwner(tile));
    return find_store(tile, block, 0, &store) ? store : (MlirOperation){NULL};
}

static bool is_row(MlirOperation load)
{
    return cute_text_is(cute_tile_word(load, TILE_LATE), TILE_LATE_ROW);
}

typedef struct late_loads {
    MlirOperation store, items[2 * TILE_LATE_LOADS];
    int count;
} late_loads;

static void note_load(MlirOperation op, void *context)
{
    enum { MOST = sizeof((late_loads *)0)->items / sizeof *((late_loads *)0)->items };
    late_loads *l = context;
    if (cute_op_has(op, TILE_LATE) && l->count < MOST && !is_row(op) &&
        mlirOperationEqual(tile_only_store(mlirOperationGetResult(op, 0)), l->store))
        l->items[l->count++] = op;
}

static late_loads loads_of(MlirOperation store)
{
    late_loads l = {.store = store};
    cute_op_walk(cute_op_parent(store, "gpu.func"), "cute.tile.load", CUTE_WALK_OUTER_FIRST, note_load, &l);
    return l;
}

/* Whether the store writes values of `tile`, by way of operations that keep elements in their places. */
static bool is_stored_by(MlirValue tile, MlirOperation store, int depth)
{
    enum { DEPTH = 32 };
    for (MlirOpOperand use = mlirValueGetFirstUse(tile); depth < DEPTH && !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (mlirOperationEqual(user, store) ||
            (keeps_elements(user) && is_stored_by(mlirOperationGetResult(user, 0), store, depth + 1)))
            return true;
    }
    return false;
}

/* ---- the plan ---- */

/* Buffers of `columns` for `loads`. False where a tile has no such bands. */
static bool make_plan(MlirOperation store, const MlirOperation *loads, int count, int64_t groups,
                      int64_t turns, int64_t columns, int64_t buffers, tile_late_plan *out)
{
    enum { LEAST = 32 }; /* bytes of a row, which a swizzle has */
    tile_distribution d;
    *out = (tile_late_plan){.store = store, .count = count, .warpgroups = groups * turns};
    if (!tile_distribution_of(mlirValueGetType(mlirOperationGetOperand(store, 0)), &d) ||
        !tile_bands_of(mlirOperationGetOperand(store, 1), mlirOperationGetOperand(store, 2), &d, groups,
                       columns, buffers, &out->stored) ||
        out->stored.boxes > 1)
        return false;
    out->bands = out->stored.d.shape.extent[1] / columns;
    if (buffers > out->bands) return false;
    bool shares = false;
    int64_t bytes = tile_bands_bytes(&out->stored) * out->warpgroups;
    int64_t least = columns * out->stored.bits / 8;
    for (int i = 0; i < count; i++) {
        tile_bands *b = &out->loaded[i];
        out->loads[i] = loads[i];
        tile_distribution own;
        if (!tile_distribution_of(mlirValueGetType(mlirOperationGetResult(loads[i], 0)), &own) ||
            !tile_bands_of(mlirOperationGetOperand(loads[i], 0), mlirOperationGetOperand(loads[i], 1), &own,
                           groups, columns, buffers, b) ||
            !tile_distribution_equal(&b->d, &out->stored.d) || b->halved)
            return false;
        if (b->box * b->bits / 8 < least) least = b->box * b->bits / 8;
        /* The elements of a load are read in front of the first store, if that needs them; else behind it. */
        if (b->bits == out->stored.bits && !shares &&
            is_stored_by(mlirOperationGetResult(loads[i], 0), store, 0)) {
            shares = true;
        } else {
            out->offset[i] = bytes;
            bytes += tile_bands_bytes(b) * out->warpgroups;
        }
        out->expected += tile_bands_bytes(b) / buffers;
    }
    tile_joined set;
    tile_joined_with(store, &set);
    for (int i = 0; i < set.count; i++) {
        MlirOperation op = set.ops[i];
        tile_bands *b = &out->also[out->also_count];
        if (mlirOperationEqual(op, store) || !cute_op_is(op, "cute.tile.store")) continue;
        if (!tile_bands_of(mlirOperationGetOperand(op, 1), mlirOperationGetOperand(op, 2), &d, groups,
                           columns, buffers, b))
            return false;
        if (b->box * b->bits / 8 < least) least = b->box * b->bits / 8;
        out->also_offset[out->also_count++] = bytes;
        bytes += tile_bands_bytes(b) * out->warpgroups;
    }
    out->bytes = bytes;
    return least >= LEAST;
}

bool tile_late_plan_of(MlirOperation store, int64_t groups, int64_t turns, tile_late_plan *out)
{
    MlirAttribute buffers = mlirOperationGetAttributeByName(store, cute_text(TILE_BAND_BUFFERS));
    MlirOperation chosen[TILE_LATE_LOADS];
    int count = 0;
    if (mlirAttributeIsNull(buffers)) return false;
    late_loads all = loads_of(store);
    for (int i = 0; i < all.count && count < TILE_LATE_LOADS; i++)
        if (cute_text_is(cute_tile_word(all.items[i], TILE_LATE), TILE_LATE_TMA))
            chosen[count++] = all.items[i];
    return count && make_plan(store, chosen, count, groups, turns, cute_tile_number(store, "width", 0),
                              mlirIntegerAttrGetValueInt(buffers), out);
}

/* ---- the choice ---- */

static bool same_coord(MlirValue a, MlirValue b)
{
    if (mlirValueEqual(a, b)) return true;
    MlirOperation x = cute_defining_op(a), y = cute_defining_op(b);
    if (mlirOperationIsNull(x) || mlirOperationIsNull(y) || !cute_op_is(x, "cute.make_coord") ||
        !cute_op_is(y, "cute.make_coord") || !mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)))
        return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(x); i++)
        if (!mlirValueEqual(mlirOperationGetOperand(x, i), mlirOperationGetOperand(y, i))) return false;
    return true;
}

typedef struct writes {
    MlirOperation load, store;
    bool others;
} writes;

static void look_for_write(MlirOperation op, void *context)
{
    writes *w = context;
    bool may = cute_op_is(op, "cute.tile.store") || cute_op_is(op, "cute.tile.scatter") ||
               cute_op_is(op, "cute.tile.atomic");
    MlirValue stored = may ? mlirOperationGetOperand(op, 1) : (MlirValue){NULL},
              loaded = mlirOperationGetOperand(w->load, 0);
    if (!may || !mlirValueEqual(tile_tensor_root(stored), tile_tensor_root(loaded))) return;
    bool same = mlirOperationEqual(op, w->store) && mlirValueEqual(stored, loaded) &&
                same_coord(mlirOperationGetOperand(op, 2), mlirOperationGetOperand(w->load, 1));
    /* A loop other than that over the tiles of a resident block may load what an earlier iteration stored. */
    for (MlirOperation at = tile_parent(op); same && !cute_op_is(at, "gpu.func"); at = tile_parent(at)) {
        bool tiles = cute_op_is(at, "scf.if");
        for (MlirOperation own = cute_op_is(at, "scf.for") ? mlirBlockGetFirstOperation(tile_loop_body(at))
                                                           : (MlirOperation){NULL};
             !mlirOperationIsNull(own); own = mlirOperationGetNextInBlock(own))
            tiles |= cute_op_is(own, "cute.tile.place");
        same = tiles;
    }
    if (!same) w->others = true;
}

/* NULL, or why threads load a tile. */
static const char *why_not(MlirOperation load, MlirOperation store)
{
    tile_distribution d;
    MlirValue tensor = mlirOperationGetOperand(load, 0);
    MlirStringRef fill = cute_tile_word(load, "fill");
    if (fill.length && !cute_text_is(fill, "zero")) return "its fill is not zero";
    if (!tile_distribution_of(mlirValueGetType(mlirOperationGetResult(load, 0)), &d) ||
        !tile_fits_bands(cute_type_peek(mlirValueGetType(tensor)), tensor, &d))
        return "TMA copies tiles of arguments of the kernel with elements of 16 or 32 bits, whose rows begin "
               "at "
               "multiples of 16 bytes";
    writes w = {load, store, false};
    cute_op_walk(cute_op_parent(load, "gpu.func"), "cute.tile.", CUTE_WALK_OUTER_FIRST, look_for_write, &w);
    return w.others ? "the kernel also writes the tensor" : NULL;
}

/* Bands in at most `room` bytes: the widest of which there are two buffers or more, so that one band arrives while another is stored. */
static bool fit_plan(MlirOperation store, const MlirOperation *loads, int count, int64_t groups,
                     int64_t turns, int64_t room, tile_late_plan *out)
{
    int64_t widest = cute_tile_number(store, "width", 0);
    for (int64_t least = 2; least; least--)
        for (int64_t columns = widest; columns >= TILE_BAND_PIECE; columns /= 2)
            for (int64_t buffers = TILE_MOST_BUFFERS; buffers >= least; buffers--) {
                if (!make_plan(store, loads, count, groups, turns, columns, buffers, out)) continue;
                int64_t stored = tile_bands_bytes(&out->stored) * out->warpgroups;
                bool few = buffers == least || stored <= TILE_STORE_ROOM;
                if (few && out->bytes <= room) return true;
            }
    return false;
}

static void mark(const tile_late_plan *plan)
{
    MlirContext context = mlirOperationGetContext(plan->store);
    MlirType i32 = mlirIntegerTypeGet(context, 32);
    for (int i = 0; i < plan->count; i++)
        mlirOperationSetDiscardableAttributeByName(plan->loads[i], cute_text(TILE_LATE),
                                                   cute_string_attribute(context, TILE_LATE_TMA));
    tile_joined set;
    tile_joined_with(plan->store, &set);
    for (int i = 0; i < set.count; i++)
        if (cute_op_is(set.ops[i], "cute.tile.store"))
            mlirOperationSetAttributeByName(set.ops[i], cute_text("width"),
                                            mlirIntegerAttrGet(i32, plan->stored.columns));
    mlirOperationSetDiscardableAttributeByName(plan->store, cute_text(TILE_BAND_BUFFERS),
                                               mlirIntegerAttrGet(i32, plan->stored.buffers));
}

typedef struct search {
    cute_pass_run *pass;
    int64_t groups, turns;
    int64_t room;  /* bytes beside stages and other operations */
    int64_t small; /* of mbarriers and rows, which are in front of the buffers */
    int64_t rows;  /* of these */
} search;

static int64_t aligned(int64_t bytes)
{
    enum { ALIGN = 1024 };
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void choose_store(MlirOperation store, void *context)
{
    enum { BARRIER = 8 };
    static const char text[] = "threads load this tile with its store: %s";
    search *s = context;
    if (!cute_op_has(store, "tma")) return;
    late_loads all = loads_of(store);
    MlirOperation chosen[TILE_LATE_LOADS];
    tile_late_plan plan;
    int count = 0;
    for (int i = 0; i < all.count; i++) {
        const char *why =
            count == TILE_LATE_LOADS ? "TMA copies at most four with a store" : why_not(all.items[i], store);
        if (why)
            tile_refuse(s->pass, all.items[i], text, why);
        else
            chosen[count++] = all.items[i];
    }
    for (; count; count--) {
        int64_t barriers = s->groups * s->turns * TILE_MOST_BUFFERS * BARRIER;
        if (fit_plan(store, chosen, count, s->groups, s->turns, s->room - aligned(s->small + barriers),
                     &plan)) {
            mark(&plan);
            s->small += barriers;
            s->room -= aligned(plan.bytes);
            return;
        }
        tile_refuse(s->pass, chosen[count - 1], text,
                    "its bands do not fit in shared memory beside the stages");
    }
}

static void add_row(MlirOperation load, void *context)
{
    search *s = context;
    if (is_row(load)) s->rows += tile_row_bytes(load) * s->groups * s->turns;
}

static void remove_row(MlirOperation load, void *context)
{
    (void)context;
    if (is_row(load)) mlirOperationRemoveDiscardableAttributeByName(load, cute_text(TILE_LATE));
}

void tile_choose_late(cute_pass_run *pass, MlirOperation function, const tile_schedule *schedule,
                      int64_t room, int64_t barriers)
{
    search s = {.pass = pass,
                .groups = tile_schedule_groups(schedule),
                .turns = schedule->turns ? schedule->consumers : 1,
                .room = room,
                .small = barriers};
    if (!s.groups) return;
    cute_op_walk(function, "cute.tile.load", CUTE_WALK_OUTER_FIRST, add_row, &s);
    if (s.room < aligned(s.small + s.rows)) /* each thread loads its own elements */
        cute_op_walk(function, "cute.tile.load", CUTE_WALK_OUTER_FIRST, remove_row, NULL);
    else
        s.small += s.rows;
    cute_op_walk(function, "cute.tile.store", CUTE_WALK_OUTER_FIRST, choose_store, &s);
}
