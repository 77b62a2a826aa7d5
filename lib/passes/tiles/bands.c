/* See bands.h. */
#include "lib/passes/tiles/bands.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"

enum { ROWS = TILE_BAND_ROWS, PIECE = TILE_BAND_PIECE, VALUES = TILE_BAND_VALUES, ROW_BYTES = 128 };

/* ---- whether a tile has bands ---- */

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

int64_t tile_groups_across(const tile_distribution *d)
{
    /* The last mode of threads, behind those of a warpgroup, is along the columns. */
    int last = d->threads.count - 1;
    return last >= 3 && d->threads.at[last].dim == d->shape.rank - 1 ? d->threads.at[last].extent : 1;
}

/* Whether threads have the elements of a tile as wgmma has its sums, of which each has `adjacent` columns. */
static bool is_part_of_sum(const tile_distribution *d, int64_t adjacent)
{
    /* 4 along N, 8 along M, 4 warps, then warpgroups. */
    const tile_mode of_warp[] = {{4, 1, adjacent}, {8, 0, 1}, {4, 0, 16}};
    tile_modes want = {0};
    for (int i = 0; i < 3; i++) tile_modes_add(&want, of_warp[i].extent, of_warp[i].dim, of_warp[i].step);
    int64_t across = tile_groups_across(d), groups = tile_threads(d) / TILE_BAND_GROUP / across;
    if (groups < 1 || d->shape.extent[0] % (groups * ROWS)) return false;
    tile_modes_add(&want, groups, 0, d->shape.extent[0] / groups);
    tile_modes_add(&want, across, 1, d->shape.extent[1] / across);
    if (want.count != d->threads.count) return false;
    for (int i = 0; i < want.count; i++)
        if (want.at[i].extent != d->threads.at[i].extent || want.at[i].dim != d->threads.at[i].dim ||
            want.at[i].step != d->threads.at[i].step)
            return false;
    return true;
}

static bool is_sum(const tile_distribution *d)
{
    return is_part_of_sum(d, 2);
}

/* Every second column of sums. */
static bool is_half_of_sum(const tile_distribution *d)
{
    return is_part_of_sum(d, 1) && tile_groups_across(d) == 1;
}

bool tile_is_banded(const tile_distribution *given)
{
    tile_distribution d;
    return squeeze(given, &d) && (is_sum(&d) || is_half_of_sum(&d)) && tile_groups_across(&d) == 1;
}

bool tile_fits_bands(const cute_value *tensor, MlirValue value, const tile_distribution *given)
{
    tile_distribution d;
    return squeeze(given, &d) && is_sum(&d) && tile_fits_stored_bands(tensor, value, given);
}

bool tile_fits_stored_bands(const cute_value *tensor, MlirValue value, const tile_distribution *given)
{
    int contiguous;
    tile_distribution of, *d = &of;
    if (!squeeze(given, d) || given->shape.rank > 5) return false;
    MlirOperation function = mlirValueIsABlockArgument(value)
                                 ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value))
                                 : (MlirOperation){NULL};
    if (mlirOperationIsNull(function) || !cute_op_is(function, "gpu.func") || tensor->type != CUTE_MEMREF ||
        tensor->tree || tensor->pointer->bits < 16 || tensor->pointer->bits > 32)
        return false;
    int bits = tensor->pointer->bits;
    if (!is_sum(d) && !is_half_of_sum(d)) return false;
    int64_t across = tile_groups_across(d);
    int64_t width = tile_access_width(tensor, &given->shape, &contiguous);
    return contiguous == given->shape.rank - 1 && width * bits == 128 &&
           tile_tma_columns(d->shape.extent[1] / across, bits) > 0;
}

bool tile_bands_of(MlirValue tensor, MlirValue coord, const tile_distribution *d, int64_t groups,
                   int64_t columns, int64_t buffers, tile_bands *out)
{
    *out = (tile_bands){.tensor = tensor, .coord = coord, .columns = columns, .buffers = buffers};
    out->type = cute_type_peek(mlirValueGetType(tensor));
    if (!squeeze(d, &out->d) || !tile_fits_stored_bands(out->type, tensor, d)) return false;
    out->halved = is_half_of_sum(&out->d);
    out->shape = d->shape;
    out->lead = d->shape.rank - 2;
    out->element = out->type->pointer->element;
    out->bits = out->type->pointer->bits;
    out->across = tile_groups_across(&out->d);
    out->rows = out->d.shape.extent[0] * out->across / groups;
    out->box = columns * out->bits > ROW_BYTES * 8 ? ROW_BYTES * 8 / out->bits : columns;
    out->boxes = columns / out->box;
    return out->rows % ROWS == 0 && columns && columns % PIECE == 0 && columns % out->box == 0 &&
           out->d.shape.extent[1] / out->across % columns == 0;
}

int64_t tile_bands_count(const tile_bands *bands)
{
    return bands->d.shape.extent[1] / bands->across / bands->columns;
}

void tile_bands_find_own(tile_emitter *e, tile_bands *bands, MlirValue group)
{
    int64_t along = bands->d.shape.extent[0] / bands->rows;
    bands->group = group;
    bands->column = (MlirValue){NULL};
    if (bands->across == 1) return;
    bands->column = along > 1 ? cute_binary(&e->b, "arith.divui", group, tile_i32(e, along)) : group;
    bands->group = along > 1 ? cute_binary(&e->b, "arith.remui", group, tile_i32(e, along)) : tile_i32(e, 0);
}

int64_t tile_bands_bytes(const tile_bands *bands)
{
    return bands->rows * bands->columns * bands->bits / 8 * bands->buffers;
}

/* ---- buffers ---- */

cute_pointer tile_bands_pointer(const tile_bands *bands)
{
    cute_pointer pointer = *bands->type->pointer;
    int64_t bytes = bands->box * bands->bits / 8;
    pointer.swizzle = (cute_swizzle){bytes == ROW_BYTES ? 3 : bytes == ROW_BYTES / 2 ? 2 : 1, 4, 3};
    return pointer;
}

const char *tile_bands_layout(tile_emitter *e, const tile_bands *bands, int64_t owners)
{
    long long size = bands->rows * bands->box, units = bands->boxes * bands->buffers;
    char *text = cute_arena_printf(e->arena, "(%lld,%lld,%lld,%lld):(%lld,1,%lld,%lld)",
                                   (long long)bands->rows, (long long)bands->box, units, (long long)owners,
                                   (long long)bands->box, size, size * units);
    if (!text) e->failed = true;
    return text ? text : "1:0";
}

void tile_bands_slice(tile_emitter *e, tile_bands *bands, MlirValue all, MlirValue owner)
{
    if (e->failed) return;
    MlirValue at = cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"(_,_,_,?)\">"),
                                    CUTE_OPERANDS(owner), CUTE_NO_NAMED);
    bands->view = tile_emit(e, "cute.slice", CUTE_OPERANDS(all, at), CUTE_NO_NAMED);
}

/* `text` for each leading dimension: at most three. */
static const char *leading(const tile_bands *bands, const char *text)
{
    static const char *const times[][4] = {
        {"", "1,", "1,1,", "1,1,1,"}, {"", "0,", "0,0,", "0,0,0,"}, {"", "1:1;", "1:1;1:1;", "1:1;1:1;1:1;"}};
    return times[text[0] == '0' ? 1 : text[1] == ':' ? 2 : 0][bands->lead];
}

/* ---- copies by TMA ---- */

void tile_bands_make_atom(tile_emitter *e, tile_bands *bands, tile_bands_atom kind)
{
    static const char *const makes[] = {"cute_nvgpu.atom.make_non_exec_tiled_tma_load",
                                        "cute_nvgpu.atom.make_non_exec_tiled_tma_store",
                                        "cute_nvgpu.atom.make_non_exec_tiled_tma_reduce"};
    static const char *const kinds[] = {"#cute_nvgpu.tiled_tma_load<sm_90>", NULL,
                                        "#cute_nvgpu.tma_reduce_kind<ADD>"};
    char layout[256];
    cute_builder here = e->b;
    cute_swizzle s = tile_bands_pointer(bands).swizzle;
    e->b = e->start;
    e->b.location = here.location;
    snprintf(layout, sizeof layout, "!cute.composed_layout<\"S<%d,%d,%d> o 0 o (%s%lld,%lld):(%s%lld,1)\">",
             s.bits, s.base, s.shift, leading(bands, "1,"), (long long)bands->rows, (long long)bands->box,
             leading(bands, "0,"), (long long)bands->box);
    MlirNamedAttribute attributes[2];
    int count = 0;
    if (kinds[kind])
        attributes[count++] =
            cute_attribute(e->context, "kind", mlirAttributeParseGet(e->context, cute_text(kinds[kind])));
    if (kind == TILE_BANDS_LOAD)
        attributes[count++] =
            cute_attribute(e->context, "num_multicast", mlirIntegerAttrGet(tile_i32_type(e), 1));
    MlirOperation made = tile_emit_op(e, makes[kind], CUTE_OPERANDS(bands->tensor, tile_static(e, layout)),
                                      (cute_named){attributes, count});
    if (!e->failed) {
        bands->tma = mlirOperationGetResult(made, 0);
        bands->coords = mlirOperationGetResult(made, 1);
        bands->exec = tile_emit(e, "cute_nvgpu.atom.make_exec_tma", CUTE_OPERANDS(bands->tma), CUTE_NO_NAMED);
        tile_prefetch_map(e, bands->tma);
    }
    e->b = here;
}

static MlirValue grouped(tile_emitter *e, const tile_bands *bands, MlirValue value)
{
    MlirType i32 = tile_i32_type(e);
    return tile_emit(e, "cute.group_modes", CUTE_OPERANDS(value),
                     CUTE_NAMED(cute_attribute(e->context, "begin", mlirIntegerAttrGet(i32, 0)),
                                cute_attribute(e->context, "end", mlirIntegerAttrGet(i32, bands->lead + 2))));
}

/* The buffers with the tensor's modes. */
static MlirValue buffers_of_rank(tile_emitter *e, const tile_bands *bands)
{
    char layout[256];
    if (!bands->lead) return bands->view;
    snprintf(layout, sizeof layout, "!cute.layout<\"(%s%lld,%lld,%lld):(%s%lld,1,%lld)\">",
             leading(bands, "1,"), (long long)bands->rows, (long long)bands->box,
             (long long)(bands->boxes * bands->buffers), leading(bands, "0,"), (long long)bands->box,
             (long long)(bands->rows * bands->box));
    MlirValue at = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(bands->view), CUTE_NO_NAMED);
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, tile_static(e, layout)), CUTE_NO_NAMED);
}

/* The coordinates of the tile in the tensor. */
static MlirValue tile_of(tile_emitter *e, const tile_bands *bands)
{
    char whole[128];
    snprintf(whole, sizeof whole, "!cute.tile<\"[%s%lld:1;%lld:1]\">", leading(bands, "1:1;"),
             (long long)bands->d.shape.extent[0], (long long)bands->d.shape.extent[1]);
    MlirValue open = tile_open_view(e, bands->coords, &bands->shape, bands->coord);
    return tile_emit(e, "cute.local_tile", CUTE_OPERANDS(open, tile_static(e, whole), bands->coord),
                     CUTE_NO_NAMED);
}

/* The two sides of copy `i` of a band: the buffer's, and the tensor's. */
typedef struct sides {
    MlirValue shared, global;
} sides;

/* Copy `i` of a band or buffer. */
static tile_band_index copy_at(tile_emitter *e, const tile_bands *bands, tile_band_index at, int64_t i)
{
    tile_band_index out = {at.number * bands->boxes + i, at.value};
    if (mlirValueIsNull(at.value) || bands->boxes == 1) return out;
    out.value = cute_binary(&e->b, "arith.muli", at.value, tile_i32(e, bands->boxes));
    out.value = cute_binary(&e->b, "arith.addi", out.value, tile_i32(e, i));
    return out;
}

/* "?", or the number. */
static const char *index_text(char text[24], tile_band_index at)
{
    if (!mlirValueIsNull(at.value)) return "?";
    snprintf(text, 24, "%lld", (long long)at.number);
    return text;
}

static sides sides_of(tile_emitter *e, const tile_bands *bands, MlirValue tile, tile_band_index band,
                      tile_band_index buffer, int64_t i)
{
    char box[128], coord[96], number[24];
    sides s = {{NULL}, {NULL}};
    snprintf(box, sizeof box, "!cute.tile<\"[%s%lld:1;%lld:1]\">", leading(bands, "1:1;"),
             (long long)bands->rows, (long long)bands->box);
    band = copy_at(e, bands, band, i);
    buffer = copy_at(e, bands, buffer, i);
    snprintf(coord, sizeof coord, "!cute.coord<\"(%s?,%s)\">", leading(bands, "0,"),
             index_text(number, band));
    MlirType at_type = tile_type(e, coord);
    if (e->failed) return s;
    MlirValue places[2] = {bands->group, band.value};
    MlirValue at =
        cute_build_value(&e->b, "cute.make_coord", at_type,
                         (cute_operands){places, mlirValueIsNull(band.value) ? 1 : 2}, CUTE_NO_NAMED);
    MlirValue there = grouped(e, bands,
                              tile_emit(e, "cute.local_tile", CUTE_OPERANDS(tile, tile_static(e, box), at),
                                        CUTE_NO_NAMED)),
              here = grouped(e, bands, buffers_of_rank(e, bands));
    MlirOperation parts = tile_emit_op(e, "cute_nvgpu.atom.tma_partition",
                                       CUTE_OPERANDS(bands->tma, tile_static(e, "!cute.coord<\"0\">"),
                                                     tile_static(e, "!cute.layout<\"1:0\">"), here, there),
                                       CUTE_NO_NAMED);
    if (e->failed) return s;
    s.global = mlirOperationGetResult(parts, 1);
    MlirValue buffers = mlirOperationGetResult(parts, 0);
    if (!mlirValueIsNull(buffer.value)) {
        s.shared = tile_slice_last(e, buffers, 2, buffer.value);
        return s;
    }
    snprintf(coord, sizeof coord, "!cute.coord<\"(_,%lld)\">", (long long)buffer.number);
    s.shared = tile_emit(e, "cute.slice", CUTE_OPERANDS(buffers, tile_static(e, coord)), CUTE_NO_NAMED);
    return s;
}

void tile_bands_copy(tile_emitter *e, const tile_bands *bands, tile_band_index band, tile_band_index buffer,
                     MlirValue load)
{
    bool loads = !mlirValueIsNull(load);
    MlirValue tile = tile_of(e, bands);
    for (int64_t i = 0; i < bands->boxes && !e->failed; i++) {
        sides s = sides_of(e, bands, tile, band, buffer, i);
        if (e->failed) return;
        cute_build(&e->b, "cute.copy",
                   CUTE_OPERANDS(loads ? load : bands->exec, loads ? s.global : s.shared,
                                 loads ? s.shared : s.global),
                   CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
}

void tile_bands_prefetch(tile_emitter *e, const tile_bands *bands, tile_band_index band)
{
    const tile_band_index any = {0, {NULL}};
    MlirValue tile = tile_of(e, bands);
    for (int64_t i = 0; i < bands->boxes && !e->failed; i++) {
        sides s = sides_of(e, bands, tile, band, any, i);
        if (!e->failed)
            cute_build(&e->b, "cute.prefetch", CUTE_OPERANDS(bands->exec, s.global), CUTE_NO_TYPES,
                       CUTE_NO_NAMED);
    }
}

/* ---- pieces ---- */

tile_pieces tile_bands_pieces(tile_emitter *e, const tile_bands *bands, bool load)
{
    tile_pieces out = {{NULL}, {NULL}};
    bool half = bands->bits == 16;
    if (bands->halved) return out;
    char *atom =
        cute_arena_printf(e->arena,
                          !half  ? "!cute_nvgpu.atom.universal_copy<%s, 64 b>"
                          : load ? "!cute_nvgpu.atom.ldsm<val_type = %s, mode = <\"(8,8)\">, sz_pattern = "
                                   "u16, num_matrices = 4, n>"
                                 : "!cute_nvgpu.atom.stsm<%s, mode = <\"(8,8)\">, num_matrices = 4, n>",
                          bands->element);
    if (!atom) return e->failed = true, out;
    MlirType mma = tile_type(e, "!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, "
                                "f32), frag_kind = ss>"),
             access = tile_type(e, atom), of_thread = tile_type(e, "!cute.coord<\"?\">");
    if (e->failed) return out;
    MlirValue lane = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, TILE_BAND_GROUP)),
              thread =
                  cute_build_value(&e->b, "cute.make_coord", of_thread, CUTE_OPERANDS(lane), CUTE_NO_NAMED),
              shape = cute_build_value(&e->b, "cute.make_atom", mma, CUTE_NO_OPERANDS, CUTE_NO_NAMED),
              tiled = tile_emit(e, "cute.make_tiled_mma",
                                CUTE_OPERANDS(shape, tile_static(e, "!cute.layout<\"(1,1,1):(0,0,0)\">")),
                                CUTE_NO_NAMED),
              own = cute_build_value(&e->b, "cute.make_atom", access, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    out.copy = tile_emit(e, "cute.make_tiled_copy_C", CUTE_OPERANDS(own, tiled), CUTE_NO_NAMED);
    out.part = tile_emit(e, load ? "cute.tiled.copy.partition_S" : "cute.tiled.copy.partition_D",
                         CUTE_OPERANDS(out.copy, bands->view, thread), CUTE_NO_NAMED);
    return out;
}

tile_group_threads tile_enter_group(tile_emitter *e)
{
    tile_group_threads outer = {e->thread, e->threads};
    if (e->threads > TILE_BAND_GROUP)
        e->thread = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, TILE_BAND_GROUP));
    e->threads = TILE_BAND_GROUP;
    return outer;
}

void tile_leave_group(tile_emitter *e, tile_group_threads outer)
{
    e->thread = outer.thread;
    e->threads = outer.threads;
}

/* A piece of which a thread has single columns, in the order of tile_piece_map: no stmatrix has them. */
static void write_halves(tile_emitter *e, const tile_bands *bands, int64_t buffer, int64_t column,
                         MlirValue values)
{
    char text[96];
    tile_distribution d = {.shape = {.rank = 2, .extent = {bands->rows, PIECE}}};
    tile_modes_add(&d.threads, 4, 1, 1);
    tile_modes_add(&d.threads, 8, 0, 1);
    tile_modes_add(&d.threads, 4, 0, 16);
    tile_modes_add(&d.values, 2, 0, 8);
    tile_modes_add(&d.values, 4, 1, 4);
    tile_modes_add(&d.values, bands->rows / ROWS, 0, ROWS);
    snprintf(text, sizeof text, "!cute.coord<\"(_,_,%lld)\">",
             (long long)(buffer * bands->boxes + column / bands->box));
    MlirValue unit =
        tile_emit(e, "cute.slice", CUTE_OPERANDS(bands->view, tile_static(e, text)), CUTE_NO_NAMED);
    snprintf(text, sizeof text, "!cute.tile<\"[%lld:1;%d:1]\">", (long long)bands->rows, PIECE);
    MlirValue tile = tile_static(e, text);
    snprintf(text, sizeof text, "!cute.coord<\"(0,%lld)\">", (long long)(column % bands->box / PIECE));
    MlirValue piece =
        tile_emit(e, "cute.local_tile", CUTE_OPERANDS(unit, tile, tile_static(e, text)), CUTE_NO_NAMED);
    tile_group_threads outer = tile_enter_group(e);
    if (!e->failed) tile_to_shared(e, &d, values, piece, 1);
    tile_leave_group(e, outer);
}

/* A thread's elements of the piece at `column` of a buffer. */
static MlirValue piece_of(tile_emitter *e, const tile_bands *bands, const tile_pieces *p, int64_t buffer,
                          int64_t column)
{
    char coord[96];
    snprintf(coord, sizeof coord, "!cute.coord<\"(_,_,%lld,%lld)\">",
             (long long)(column % bands->box / PIECE),
             (long long)(buffer * bands->boxes + column / bands->box));
    return tile_emit(e, "cute.slice", CUTE_OPERANDS(p->part, tile_static(e, coord)), CUTE_NO_NAMED);
}

/* Registers as the copy has them. */
static MlirValue retiled(tile_emitter *e, const tile_pieces *p, MlirValue fragment)
{
    MlirValue all = tile_emit(e, "cute.tiled.copy.retile", CUTE_OPERANDS(p->copy, fragment), CUTE_NO_NAMED);
    return tile_emit(e, "cute.slice", CUTE_OPERANDS(all, tile_static(e, "!cute.coord<\"(_,_,0)\">")),
                     CUTE_NO_NAMED);
}

static void copy_piece(tile_emitter *e, const tile_pieces *p, MlirValue from, MlirValue to)
{
    if (!e->failed)
        cute_build(&e->b, "cute.copy", CUTE_OPERANDS(p->copy, from, to), CUTE_NO_TYPES, CUTE_NO_NAMED);
}

MlirValue tile_read_piece(tile_emitter *e, const tile_bands *bands, const tile_pieces *p, int64_t buffer,
                          int64_t column)
{
    const MlirValue none = {NULL};
    MlirValue fragment = tile_fragment(e, bands->element, VALUES, bands->rows / ROWS, 1, none);
    MlirValue to = retiled(e, p, fragment);
    copy_piece(e, p, piece_of(e, bands, p, buffer, column), to);
    return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(fragment), CUTE_NO_NAMED);
}

void tile_write_piece(tile_emitter *e, const tile_bands *bands, const tile_pieces *p, int64_t buffer,
                      int64_t column, MlirValue values)
{
    if (bands->halved) {
        write_halves(e, bands, buffer, column, values);
        return;
    }
    MlirValue fragment = tile_fragment(e, bands->element, VALUES, bands->rows / ROWS, 1, values);
    copy_piece(e, p, retiled(e, p, fragment), piece_of(e, bands, p, buffer, column));
}

int64_t tile_piece_values(const tile_bands *bands)
{
    return bands->rows / ROWS * VALUES;
}

bool tile_piece_map(const tile_bands *bands, int64_t column, int32_t *map)
{
    int64_t count = tile_piece_values(bands), all = tile_values(&bands->d);
    for (int64_t i = 0; i < count; i++) map[i] = -1;
    for (int64_t v = 0; v < all; v++) {
        int64_t coord[CUTE_TILE_RANK] = {0}, within, row;
        tile_modes_coord(&bands->d.values, v, coord);
        within = coord[1] - column;
        row = coord[0] % ROWS;
        bool own = bands->halved ? within % 4 == 0 : within % 8 <= 1;
        if (within < 0 || within >= PIECE || !own || (row != 0 && row != 8)) continue;
        int64_t at =
            bands->halved ? (row ? 1 : 0) + within / 4 * 2 : within % 8 + (row ? 2 : 0) + within / 8 * 4;
        at += coord[0] / ROWS * VALUES;
        if (at < count) map[at] = (int32_t)v;
    }
    for (int64_t i = 0; i < count; i++)
        if (map[i] < 0) return false;
    return true;
}

/* ---- stages ---- */

bool tile_write_sum(tile_emitter *e, const tile_distribution *d, MlirValue values, MlirValue stage)
{
    const cute_value *ring = cute_type_peek(mlirValueGetType(stage));
    const cute_tree *row = ring->layout.shape->items[1];
    tile_bands b = {.element = ring->pointer->element, .bits = ring->pointer->bits, .d = *d, .buffers = 1};
    if (d->shape.rank != 2 || b.bits != 16 || !is_sum(d) || tile_groups_across(d) > 1) return false;
    b.rows = d->shape.extent[0] / (tile_threads(d) / TILE_BAND_GROUP);
    b.box = row->kind == CUTE_TREE_TUPLE ? row->items[0]->value.value : row->value.value;
    b.columns = d->shape.extent[1];
    b.boxes = b.columns / b.box;
    if (b.columns % PIECE || b.box % PIECE) return false;
    /* This warpgroup's rows: (rows, box, boxes). */
    char layout[128];
    snprintf(layout, sizeof layout, "!cute.layout<\"(%lld,%lld,%lld):(%lld,1,%lld)\">", (long long)b.rows,
             (long long)b.box, (long long)b.boxes, (long long)b.box, (long long)(d->shape.extent[0] * b.box));
    MlirValue at = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(stage), CUTE_NO_NAMED),
              by = cute_binary(&e->b, "arith.muli", tile_group_index(e), tile_i32(e, b.rows * b.box));
    MlirValue tuple =
        cute_build_value(&e->b, "cute.make_int_tuple", tile_type(e, "!cute.int_tuple<\"?{div=512}\">"),
                         CUTE_OPERANDS(by), CUTE_NO_NAMED);
    MlirValue own = tile_emit(e, "cute.add_offset", CUTE_OPERANDS(at, tuple), CUTE_NO_NAMED);
    b.view = tile_emit(e, "cute.make_view", CUTE_OPERANDS(own, tile_static(e, layout)), CUTE_NO_NAMED);
    tile_pieces pieces = tile_bands_pieces(e, &b, false);
    int64_t count = tile_piece_values(&b);
    int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map);
    for (int64_t column = 0; column < b.columns && !e->failed; column += PIECE) {
        if (!map || !tile_piece_map(&b, column, map)) return e->failed = true, false;
        tile_write_piece(e, &b, &pieces, 0, column, tile_pick(e, values, map, count));
    }
    return true;
}
