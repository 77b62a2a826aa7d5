/* Sums of warpgroups stored by TMA: each warpgroup writes bands of its rows to buffers in shared memory, swizzled so that stmatrix has
 * no conflicts, and one of its warps copies them to the tensor while the next bands are written, or the next tile is computed. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

enum {
    ROWS = 64,
    PIECE = 16,
    PIECE_VALUES = 8,
    GROUP = 128,
    WARPS = 4,
    MOST_BUFFERS = 2,
    ROW_BYTES = 128,
    ROOM = 32 << 10
};

/* ---- whether a tile can be stored so ---- */

/* Without leading dimensions of extent 1, which a batch has; false where two are not left. */
static bool squeeze(const tile_distribution *d, tile_distribution *out)
{
    int lead = d->shape.rank - 2;
    if (lead < 0) return false;
    *out = *d;
    out->shape.rank = 2;
    for (int i = 0; i < lead; i++)
        if (d->shape.extent[i] != 1) return false;
    for (int i = 0; i < 2; i++) out->shape.extent[i] = d->shape.extent[lead + i];
    for (int i = 0; i < d->threads.count; i++)
        out->threads.at[i].dim -= d->threads.at[i].dim == TILE_COPIES ? 0 : lead;
    for (int i = 0; i < d->values.count; i++) out->values.at[i].dim -= lead;
    return true;
}

int64_t tile_tma_columns(int64_t all, int bits)
{
    int64_t columns = ROW_BYTES * 8 / bits;
    while (columns > PIECE && all % columns) columns /= 2;
    return columns >= PIECE && all % columns == 0 ? columns : 0;
}

bool tile_fits_tma_store(const cute_value *tensor, MlirValue value, const tile_distribution *given)
{
    int contiguous;
    tile_distribution of, *d = &of;
    if (!squeeze(given, d) || given->shape.rank > 5) return false;
    MlirOperation function = mlirValueIsABlockArgument(value)
                                 ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value))
                                 : (MlirOperation){NULL};
    int bits = tensor->pointer->bits;
    if (mlirOperationIsNull(function) || !cute_op_is(function, "gpu.func") || bits < 16 || bits > 32)
        return false;
    /* Threads of an accumulator of wgmma: 4 along N, 8 along M, 4 warps, then warpgroups. */
    static const tile_mode of_warp[] = {{4, 1, 2}, {8, 0, 1}, {4, 0, 16}};
    tile_modes want = {0};
    for (int i = 0; i < 3; i++) tile_modes_add(&want, of_warp[i].extent, of_warp[i].dim, of_warp[i].step);
    int64_t groups = tile_threads(d) / GROUP;
    if (groups < 1 || d->shape.extent[0] % (groups * ROWS)) return false;
    tile_modes_add(&want, groups, 0, d->shape.extent[0] / groups);
    if (want.count != d->threads.count) return false;
    for (int i = 0; i < want.count; i++)
        if (want.at[i].extent != d->threads.at[i].extent || want.at[i].dim != d->threads.at[i].dim ||
            want.at[i].step != d->threads.at[i].step)
            return false;
    int64_t width = tile_access_width(tensor, &given->shape, &contiguous);
    return contiguous == given->shape.rank - 1 && width * bits == 128 &&
           tile_tma_columns(d->shape.extent[1], bits) > 0;
}

/* ---- the store ---- */

typedef struct banded {
    const tile_op *t;
    tile_distribution d; /* of the tile, of rank 2 */
    int lead;            /* leading dimensions of extent 1 */
    const cute_value *tensor;
    const char *element;
    int bits;
    int64_t rows, columns, groups; /* of a warpgroup's band; warpgroups */
    MlirValue tma, coords, exec;   /* of the tensor */
    MlirValue group, leads;        /* this warpgroup, from 0; i1: its first warp */
    MlirValue barrier;             /* named barrier of the warpgroup */
    int64_t count;                 /* of bands in buffers */
    MlirValue buffers;             /* of this warpgroup: (rows, columns, count) */
} banded;

static void sync_op(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes)
{
    if (!e->failed) cute_build(&e->b, name, operands, CUTE_NO_TYPES, attributes);
}

static void group_barrier(tile_emitter *e, const banded *s)
{
    sync_op(e, "cute_nvgpu.arch.named_barrier_sync", CUTE_OPERANDS(s->barrier, tile_i32(e, GROUP)),
            CUTE_NO_NAMED);
}

static const char *swizzle_of(const banded *s)
{
    int64_t bytes = s->columns * s->bits / 8;
    return bytes == 128 ? "S<3,4,3>" : bytes == 64 ? "S<2,4,3>" : "S<1,4,3>";
}

/* `text` for each leading dimension: at most three. */
static const char *leading(const banded *s, const char *text)
{
    static const char *const times[][4] = {
        {"", "1,", "1,1,", "1,1,1,"}, {"", "0,", "0,0,", "0,0,0,"}, {"", "1:1;", "1:1;1:1;", "1:1;1:1;1:1;"}};
    return times[text[0] == '0' ? 1 : text[1] == ':' ? 2 : 0][s->lead];
}

/* The atom, at the kernel's start. */
static void make_tma(tile_emitter *e, banded *s, MlirValue tensor)
{
    char layout[256];
    cute_builder here = e->b;
    e->b = e->start;
    e->b.location = here.location;
    snprintf(layout, sizeof layout, "!cute.composed_layout<\"%s o 0 o (%s%lld,%lld):(%s%lld,1)\">",
             swizzle_of(s), leading(s, "1,"), (long long)s->rows, (long long)s->columns, leading(s, "0,"),
             (long long)s->columns);
    MlirOperation made = tile_emit_op(e, "cute_nvgpu.atom.make_non_exec_tiled_tma_store",
                                      CUTE_OPERANDS(tensor, tile_static(e, layout)), CUTE_NO_NAMED);
    if (!e->failed) {
        s->tma = mlirOperationGetResult(made, 0);
        s->coords = mlirOperationGetResult(made, 1);
        s->exec = tile_emit(e, "cute_nvgpu.atom.make_exec_tma", CUTE_OPERANDS(s->tma), CUTE_NO_NAMED);
        tile_prefetch_map(e, s->tma);
    }
    e->b = here;
}

static void make_buffers(tile_emitter *e, banded *s)
{
    char layout[256], coord[48] = "!cute.coord<\"(_,_,_,?)\">";
    int64_t size = s->rows * s->columns;
    snprintf(layout, sizeof layout, "(%lld,%lld,%lld,%lld):(%lld,1,%lld,%lld)", (long long)s->rows,
             (long long)s->columns, (long long)s->count, (long long)s->groups, (long long)s->columns,
             (long long)size, (long long)(size * s->count));
    cute_pointer pointer = *s->tensor->pointer;
    int swizzle = s->columns * s->bits / 8 == 128 ? 3 : s->columns * s->bits / 8 == 64 ? 2 : 1;
    pointer.swizzle = (cute_swizzle){swizzle, 4, 3};
    bool shares = e->role->shares;
    MlirValue all = tile_shared_swizzled(e, &pointer, layout, size * s->count * s->groups, 0);
    e->role->shares = shares;
    if (e->failed) return;
    MlirValue at = cute_build_value(&e->b, "cute.make_coord", tile_type(e, coord), CUTE_OPERANDS(s->group),
                                    CUTE_NO_NAMED);
    s->buffers = tile_emit(e, "cute.slice", CUTE_OPERANDS(all, at), CUTE_NO_NAMED);
}

/* The value of each thread at (row, column) from its first one; -1: another thread's. */
static int32_t value_at(const tile_distribution *d, int64_t row, int64_t column)
{
    for (int64_t v = 0; v < tile_values(d); v++) {
        int64_t coord[CUTE_TILE_RANK] = {0};
        tile_modes_coord(&d->values, v, coord);
        if (coord[0] == row && coord[1] == column) return (int32_t)v;
    }
    return -1;
}

/* 16 columns from `from`: the registers in the order of an accumulator of 64 x 16. */
static MlirValue piece_at(tile_emitter *e, const banded *s, int64_t from)
{
    int64_t count = s->rows / ROWS * PIECE_VALUES;
    int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map);
    MlirValue value = mlirOperationGetOperand(s->t->op, 0);
    if (!map) return e->failed = true, value;
    for (int64_t i = 0; i < count; i++) {
        int64_t column = (i & 1) + (i >> 2 & 1) * 8, row = (i >> 1 & 1) * 8 + i / PIECE_VALUES * ROWS;
        map[i] = value_at(&s->d, row, from + column);
        if (map[i] < 0) e->failed = true;
    }
    return e->failed ? value : tile_part(e, value, map, count);
}

static void copy_piece(tile_emitter *e, MlirValue copy, MlirValue from, MlirValue to)
{
    sync_op(e, "cute.copy", CUTE_OPERANDS(copy, from, to), CUTE_NO_NAMED);
}

/* Writes `count` bands from band `first` to the buffers. */
static void write_bands(tile_emitter *e, const banded *s, int64_t first, int64_t count)
{
    char mma[160], atom[128], coord[96];
    bool half = s->bits == 16;
    snprintf(
        mma, sizeof mma,
        "!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>");
    if (half)
        snprintf(atom, sizeof atom, "!cute_nvgpu.atom.stsm<%s, mode = <\"(8,8)\">, num_matrices = 4, n>",
                 s->element);
    else
        snprintf(atom, sizeof atom, "!cute_nvgpu.atom.universal_copy<%s, 64 b>", s->element);
    MlirValue lane = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, GROUP));
    MlirValue thread = cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"?\">"),
                                        CUTE_OPERANDS(lane), CUTE_NO_NAMED);
    MlirValue shape =
        cute_build_value(&e->b, "cute.make_atom", tile_type(e, mma), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue tiled =
        tile_emit(e, "cute.make_tiled_mma",
                  CUTE_OPERANDS(shape, tile_static(e, "!cute.layout<\"(1,1,1):(0,0,0)\">")), CUTE_NO_NAMED);
    MlirValue store =
        cute_build_value(&e->b, "cute.make_atom", tile_type(e, atom), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue copy = tile_emit(e, "cute.make_tiled_copy_C", CUTE_OPERANDS(store, tiled), CUTE_NO_NAMED);
    MlirValue to =
        tile_emit(e, "cute.tiled.copy.partition_D", CUTE_OPERANDS(copy, s->buffers, thread), CUTE_NO_NAMED);
    for (int64_t b = 0; b < count && !e->failed; b++)
        for (int64_t j = 0; j < s->columns / PIECE && !e->failed; j++) {
            MlirValue values = piece_at(e, s, (first + b) * s->columns + j * PIECE);
            MlirValue fragment = tile_fragment(e, s->element, PIECE_VALUES, s->rows / ROWS, 1, values);
            MlirValue from =
                tile_emit(e, "cute.tiled.copy.retile", CUTE_OPERANDS(copy, fragment), CUTE_NO_NAMED);
            MlirValue part =
                tile_emit(e, "cute.slice", CUTE_OPERANDS(from, tile_static(e, "!cute.coord<\"(_,_,0)\">")),
                          CUTE_NO_NAMED);
            snprintf(coord, sizeof coord, "!cute.coord<\"(_,_,%lld,%lld)\">", (long long)j, (long long)b);
            copy_piece(e, copy, part,
                       tile_emit(e, "cute.slice", CUTE_OPERANDS(to, tile_static(e, coord)), CUTE_NO_NAMED));
        }
}

static MlirValue grouped(tile_emitter *e, const banded *s, MlirValue value)
{
    MlirType i32 = tile_i32_type(e);
    return tile_emit(e, "cute.group_modes", CUTE_OPERANDS(value),
                     CUTE_NAMED(cute_attribute(e->context, "begin", mlirIntegerAttrGet(i32, 0)),
                                cute_attribute(e->context, "end", mlirIntegerAttrGet(i32, s->lead + 2))));
}

/* The buffers with the tensor's modes. */
static MlirValue buffers_of_rank(tile_emitter *e, const banded *s)
{
    char layout[256];
    if (!s->lead) return s->buffers;
    snprintf(layout, sizeof layout, "!cute.layout<\"(%s%lld,%lld,%lld):(%s%lld,1,%lld)\">", leading(s, "1,"),
             (long long)s->rows, (long long)s->columns, (long long)s->count, leading(s, "0,"),
             (long long)s->columns, (long long)(s->rows * s->columns));
    MlirValue at = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(s->buffers), CUTE_NO_NAMED);
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, tile_static(e, layout)), CUTE_NO_NAMED);
}

/* The first warp copies them to the tensor. */
static void copy_bands(tile_emitter *e, const banded *s, int64_t first, int64_t count)
{
    char whole[128], band[128], coord[96];
    snprintf(whole, sizeof whole, "!cute.tile<\"[%s%lld:1;%lld:1]\">", leading(s, "1:1;"),
             (long long)s->d.shape.extent[0], (long long)s->d.shape.extent[1]);
    snprintf(band, sizeof band, "!cute.tile<\"[%s%lld:1;%lld:1]\">", leading(s, "1:1;"), (long long)s->rows,
             (long long)s->columns);
    tile_if once = tile_if_begin(e, s->leads);
    MlirValue coordinate = mlirOperationGetOperand(s->t->op, 2),
              open = tile_open_view(e, s->coords, &s->t->in[0].shape, coordinate),
              tile = tile_emit(e, "cute.local_tile", CUTE_OPERANDS(open, tile_static(e, whole), coordinate),
                               CUTE_NO_NAMED);
    for (int64_t b = 0; b < count && !e->failed; b++) {
        snprintf(coord, sizeof coord, "!cute.coord<\"(%s?,%lld)\">", leading(s, "0,"),
                 (long long)(first + b));
        MlirValue at = cute_build_value(&e->b, "cute.make_coord", tile_type(e, coord),
                                        CUTE_OPERANDS(s->group), CUTE_NO_NAMED);
        MlirValue to = grouped(e, s,
                               tile_emit(e, "cute.local_tile", CUTE_OPERANDS(tile, tile_static(e, band), at),
                                         CUTE_NO_NAMED)),
                  from = grouped(e, s, buffers_of_rank(e, s));
        MlirOperation parts = tile_emit_op(e, "cute_nvgpu.atom.tma_partition",
                                           CUTE_OPERANDS(s->tma, tile_static(e, "!cute.coord<\"0\">"),
                                                         tile_static(e, "!cute.layout<\"1:0\">"), from, to),
                                           CUTE_NO_NAMED);
        if (e->failed) break;
        snprintf(coord, sizeof coord, "!cute.coord<\"(_,%lld)\">", (long long)b);
        MlirValue buffer =
            tile_emit(e, "cute.slice", CUTE_OPERANDS(mlirOperationGetResult(parts, 0), tile_static(e, coord)),
                      CUTE_NO_NAMED);
        sync_op(e, "cute.copy", CUTE_OPERANDS(s->exec, buffer, mlirOperationGetResult(parts, 1)),
                CUTE_NO_NAMED);
    }
    sync_op(e, "cute_nvgpu.arch.cp_async_bulk_commit_group", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    tile_if_end(e, &once);
}

MlirValue tile_leads_group(tile_emitter *e)
{
    MlirValue in_group = cute_binary(&e->b, "arith.remui", e->role->warp, tile_i32(e, WARPS));
    return cute_compare(&e->b, CUTE_IS_EQ, in_group, tile_i32(e, 0));
}

MlirOperation tile_wait_stores(tile_emitter *e, MlirValue leads)
{
    tile_if once = tile_if_begin(e, leads);
    MlirOperation made = mlirBlockGetParentOperation(e->b.block);
    sync_op(e, "cute_nvgpu.arch.cp_async_bulk_wait_group", CUTE_NO_OPERANDS,
            CUTE_NAMED(cute_attribute(e->context, "groups", mlirIntegerAttrGet(tile_i32_type(e), 0)),
                       cute_attribute(e->context, "read", mlirUnitAttrGet(e->context))));
    tile_if_end(e, &once);
    return made;
}

/* What orders a store and other uses of its memory; removed by tile_finish_stores where there are none. */
static void add_order(tile_emitter *e, MlirOperation op)
{
    enum { MOST = sizeof e->role->orders / sizeof *e->role->orders };
    if (e->role->order_count < MOST) e->role->orders[e->role->order_count++] = op;
}

void tile_finish_stores(const tile_role *role)
{
    for (int i = 0; i < role->order_count && !role->shares; i++) mlirOperationDestroy(role->orders[i]);
}

MlirValue tile_lower_tma_store(tile_emitter *e, const tile_op *t)
{
    const MlirValue none = {NULL};
    MlirValue tensor = mlirOperationGetOperand(t->op, 1);
    banded s = {.t = t, .tensor = cute_type_peek(mlirValueGetType(tensor)), .groups = e->threads / GROUP};
    s.element = s.tensor->pointer->element;
    s.bits = s.tensor->pointer->bits;
    if (!squeeze(&t->in[0], &s.d)) return e->failed = true, none;
    s.lead = t->in[0].shape.rank - 2;
    s.rows = s.d.shape.extent[0] / s.groups;
    s.columns = cute_tile_number(t->op, "width", 0);
    if (!tile_fits_tma_store(s.tensor, tensor, &t->in[0]) || s.columns % PIECE) return e->failed = true, none;
    make_tma(e, &s, tensor);
    s.group = tile_group_index(e);
    s.leads = tile_leads_group(e);
    s.barrier = cute_binary(&e->b, "arith.addi", mlirValueIsNull(e->role->turn) ? s.group : e->role->turn,
                            tile_i32(e, TILE_GROUP_BARRIERS));
    int64_t bands = s.d.shape.extent[1] / s.columns;
    s.count = ROOM * 8 / (s.d.shape.extent[0] * s.columns * s.bits * e->role->turns);
    s.count = s.count < 1 ? 1 : s.count > MOST_BUFFERS ? MOST_BUFFERS : s.count;
    if (s.count > bands) s.count = bands;
    make_buffers(e, &s);
    tile_begin_late(e, s.columns);
    if (e->failed) return none;
    e->role->stores = true;
    add_order(e, tile_barrier(e));
    for (int64_t first = 0; first < bands && !e->failed; first += s.count) {
        int64_t count = bands - first < s.count ? bands - first : s.count;
        tile_wait_stores(e, s.leads);
        group_barrier(e, &s);
        write_bands(e, &s, first, count);
        sync_op(e, "cute_nvgpu.arch.fence_view_async_shared", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        group_barrier(e, &s);
        copy_bands(e, &s, first, count);
    }
    add_order(e, tile_wait_stores(e, s.leads));
    return none;
}
