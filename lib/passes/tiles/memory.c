/* Tiles in memory: loads and stores of tiles of tensors, elements at coordinates, shared memory. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/late_copies.h"
#include "lib/passes/tiles/staging.h"

/* ---- how wide accesses may be ---- */

static const cute_tree *mode_of(const cute_tree *tree, int i)
{
    return tree->kind == CUTE_TREE_TUPLE ? tree->items[i] : tree;
}

/* Whether a multiple of `n`, as far as is known. */
static bool divides(const cute_tree *tree, int64_t n)
{
    if (tree->kind != CUTE_TREE_INT) return false;
    return tree->value.known ? tree->value.value % n == 0
                             : tree->value.divisor > 0 && tree->value.divisor % n == 0;
}

static bool is_one(const cute_tree *tree)
{
    return tree->kind == CUTE_TREE_INT && tree->value.known && tree->value.value == 1;
}

/* `whole`: accesses do not cross the end of a row. */
static int64_t width_of(const cute_value *tensor, const cute_tile_shape *tile, bool whole, int *contiguous)
{
    *contiguous = -1;
    if (tensor->type != CUTE_MEMREF || !tensor->layout.shape || tensor->tree) return 1;
    for (int i = tile->rank - 1; i >= 0; i--)
        if (is_one(mode_of(tensor->layout.stride, i)) &&
            (*contiguous < 0 || tile->extent[i] > tile->extent[*contiguous]))
            *contiguous = i;
    int bits = tensor->pointer->bits;
    if (*contiguous < 0 || bits < 8) return 1;
    int64_t width = 128 / bits;
    for (; width > 1; width /= 2) {
        bool ok = tensor->pointer->align % (width * bits / 8) == 0 &&
                  tile->extent[*contiguous] % width == 0 &&
                  (!whole || divides(mode_of(tensor->layout.shape, *contiguous), width));
        for (int i = 0; ok && i < tile->rank; i++)
            ok = i == *contiguous || is_one(mode_of(tensor->layout.shape, i)) ||
                 divides(mode_of(tensor->layout.stride, i), width);
        if (ok) break;
    }
    return width;
}

int64_t tile_access_width(const cute_value *tensor, const cute_tile_shape *tile, int *contiguous)
{
    return width_of(tensor, tile, true, contiguous);
}

int64_t tile_row_alignment(const cute_value *tensor, const cute_tile_shape *tile, int *contiguous)
{
    return width_of(tensor, tile, false, contiguous);
}

int64_t tile_run(const tile_distribution *d, int dim, int bits)
{
    const tile_mode *first = d->values.count ? &d->values.at[0] : NULL;
    if (!first || first->dim != dim || first->step != 1) return 1;
    int64_t run = 1;
    while (first->extent % (2 * run) == 0 && 2 * run * bits <= 128) run *= 2;
    return run;
}

/* `least`: bits of an access that is not divided among more threads; `run`: bits that adjacent threads access. */
static bool access_distribution(const cute_value *tensor, const cute_tile_shape *shape, int64_t threads,
                                int64_t least, int64_t run, tile_distribution *out)
{
    int order[CUTE_TILE_RANK], at = 0, contiguous;
    int64_t width = tile_access_width(tensor, shape, &contiguous), size = cute_tile_size(shape);
    if (contiguous < 0) contiguous = shape->rank - 1;
    /* Better one narrow access of all threads than a wide one of a few. */
    while (width > 1 && size / width < threads && width / 2 * tensor->pointer->bits >= least) width /= 2;
    if (shape->rank) order[at++] = contiguous;
    for (int i = shape->rank - 1; i >= 0; i--)
        if (i != contiguous) order[at++] = i;
    return tile_in_runs(shape, order, width, run / tensor->pointer->bits, threads, out);
}

bool tile_access_distribution(const cute_value *tensor, const cute_tile_shape *shape, int64_t threads,
                              tile_distribution *out)
{
    return access_distribution(tensor, shape, threads, 0, INT64_MAX, out);
}

double tile_access_waste(const cute_value *tensor, const tile_distribution *d)
{
    enum { SECTOR = 32, FAR = 1 << 20, MOST = 32 * 16 };
    int contiguous, bytes = (tensor->pointer->bits + 7) / 8;
    int64_t width = tile_access_width(tensor, &d->shape, &contiguous),
            run = tile_run(d, contiguous, tensor->pointer->bits);
    int64_t sectors[MOST], count = 0, elements = 0, threads = tile_threads(d);
    if (contiguous < 0) return 1;
    if (run < width) width = run;
    for (int64_t t = 0; t < threads && t < 32; t++) {
        int64_t coord[CUTE_TILE_RANK] = {0}, far = 0;
        tile_modes_coord(&d->threads, t, coord);
        for (int i = 0; i < d->shape.rank; i++)
            if (i != contiguous) far = far * FAR + coord[i];
        int64_t from = far * FAR + coord[contiguous] * bytes, to = from + width * bytes - 1;
        bool fresh = false;
        for (int64_t s = from / SECTOR; s <= to / SECTOR; s++) {
            int64_t k = 0;
            while (k < count && sectors[k] != s) k++;
            if (k < count) continue;
            if (count < MOST) sectors[count++] = s;
            fresh = true;
        }
        if (fresh || elements < count * SECTOR / bytes) elements += width;
    }
    /* Lanes that hold copies read what others read. */
    int64_t fewest = (elements * bytes + SECTOR - 1) / SECTOR;
    return fewest > 0 ? (double)count / (double)fewest : 1;
}

/* ---- element types ---- */

const char *tile_element_text(tile_emitter *e, MlirType element, int *bits)
{
    if (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1) return *bits = 8, "i8";
    *bits = cute_tile_bits(element);
    cute_buffer text = {0};
    mlirTypePrint(element, cute_print_to_buffer, &text);
    const char *copy = cute_arena_copy(e->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    if (!copy) e->failed = true;
    return copy ? copy : "i8";
}

static bool is_i1(MlirType element)
{
    return mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1;
}

MlirValue tile_as_stored(tile_emitter *e, MlirValue vector)
{
    MlirType type = mlirValueGetType(vector);
    if (!is_i1(cute_type_element(type))) return vector;
    return cute_unary(&e->b, "arith.extui", vector,
                      cute_type_with_element(type, mlirIntegerTypeGet(e->context, 8)));
}

MlirValue tile_as_held(tile_emitter *e, MlirValue vector, MlirType element)
{
    if (!is_i1(element)) return vector;
    return cute_unary(&e->b, "arith.trunci", vector,
                      cute_type_with_element(mlirValueGetType(vector), element));
}

/* ---- tiled copies ---- */

static const char *tiler_text(tile_emitter *e, const cute_tile_shape *shape)
{
    cute_buffer text = {0};
    for (int i = 0; i < shape->rank; i++)
        cute_buffer_printf(&text, "%s%lld:1", i ? ";" : "", (long long)shape->extent[i]);
    const char *copy = cute_arena_copy(e->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    if (!copy) e->failed = true;
    return copy ? copy : "";
}

typedef struct tiled_copy {
    MlirValue copy, coord; /* of the thread */
    MlirValue tiler;       /* !cute.tile */
} tiled_copy;

static tiled_copy make_copy_of(tile_emitter *e, const tile_distribution *d, const char *atom)
{
    tiled_copy c = {{NULL}, {NULL}, {NULL}};
    tile_distribution distinct;
    MlirValue thread = tile_thread_of(e, d, &distinct);
    const char *tiler = tiler_text(e, &d->shape), *tv = tile_copy_text(e->arena, &distinct);
    if (!atom || !tv) return e->failed = true, c;
    char *type = cute_arena_printf(
        e->arena, "!cute.tiled_copy<%s, layout_copy_tv = <\"%s\">, tiler_mn = <\"[%s]\">>", atom, tv, tiler);
    char *tile = cute_arena_printf(e->arena, "!cute.tile<\"[%s]\">", tiler);
    if (!type || !tile) return e->failed = true, c;
    MlirType atom_type = tile_type(e, atom), copy_type = tile_type(e, type);
    if (e->failed) return c;
    MlirValue made = cute_build_value(&e->b, "cute.make_atom", atom_type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    c.copy = cute_build_value(&e->b, "cute.make_tiled_copy", copy_type, CUTE_OPERANDS(made), CUTE_NO_NAMED);
    c.coord = cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"?\">"),
                               CUTE_OPERANDS(thread), CUTE_NO_NAMED);
    c.tiler = tile_static(e, tile);
    return c;
}

static tiled_copy make_copy(tile_emitter *e, const tile_distribution *d, const char *element, int64_t bits)
{
    return make_copy_of(
        e, d,
        cute_arena_printf(e->arena, "!cute_nvgpu.atom.universal_copy<%s, %lld b>", element, (long long)bits));
}

static MlirValue partition(tile_emitter *e, const tiled_copy *c, MlirValue tensor, bool source)
{
    return tile_emit(e, source ? "cute.tiled.copy.partition_S" : "cute.tiled.copy.partition_D",
                     CUTE_OPERANDS(c->copy, tensor, c->coord), CUTE_NO_NAMED);
}

static void emit_copy(tile_emitter *e, const tiled_copy *c, MlirValue from, MlirValue to, MlirValue predicate)
{
    if (e->failed || mlirValueIsNull(from) || mlirValueIsNull(to)) {
        e->failed = true;
        return;
    }
    MlirValue operands[] = {c->copy, from, to, predicate};
    cute_build(&e->b, "cute.copy", (cute_operands){operands, mlirValueIsNull(predicate) ? 3 : 4},
               CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static void emit_store_vec(tile_emitter *e, MlirValue vector, MlirValue fragment)
{
    if (e->failed) return;
    cute_build(&e->b, "cute.memref.store_vec", CUTE_OPERANDS(vector, fragment), CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* ---- tiles of tensors ---- */

typedef struct access {
    const cute_value *tensor;
    MlirValue value, coord, mask; /* the mask of i1, or null */
    const bool *same_mask;        /* along which dimensions it repeats */
    bool async;                   /* by cp.async */
    bool ahead;                   /* to shared memory, by cp.async where it can */
    const cute_tile_shape *
        whole; /* of the tile whose columns from `band` times those of the distribution are accessed; NULL: all */
    int64_t band;
    int64_t most, width;       /* elements of an access: at most (0: 16 bytes), and found */
    MlirValue part, predicate; /* of this thread */
    tiled_copy copy;
} access;

/* The accessed tile of a tensor. */
static MlirValue tile_at(tile_emitter *e, const access *a, MlirValue tensor)
{
    if (!a->whole)
        return tile_emit(e, "cute.local_tile", CUTE_OPERANDS(tensor, a->copy.tiler, a->coord), CUTE_NO_NAMED);
    char *type = cute_arena_printf(e->arena, "!cute.tile<\"[%s]\">", tiler_text(e, a->whole)),
         coord[64] = "!cute.coord<\"(";
    if (!type) return e->failed = true, tensor;
    for (int i = 1; i < a->whole->rank; i++) strcat(coord, "0,");
    snprintf(coord + strlen(coord), sizeof coord - strlen(coord), "%lld)\">", (long long)a->band);
    MlirValue whole =
        tile_emit(e, "cute.local_tile", CUTE_OPERANDS(tensor, tile_static(e, type), a->coord), CUTE_NO_NAMED);
    return tile_emit(e, "cute.local_tile", CUTE_OPERANDS(whole, a->copy.tiler, tile_static(e, coord)),
                     CUTE_NO_NAMED);
}

/* The thread's part of the tile and its predicates. */
static void begin_access(tile_emitter *e, access *a, const tile_distribution *d, bool load)
{
    int contiguous, bits = a->tensor->pointer->bits;
    int64_t width = tile_access_width(a->tensor, &d->shape, &contiguous), run = tile_run(d, contiguous, bits);
    if (run < width) width = run;
    if (a->most && width > a->most) width = a->most;
    if (!mlirValueIsNull(a->mask) && (contiguous < 0 || !a->same_mask[contiguous])) width = 1;
    a->width = width;
    const char *element = a->tensor->pointer->element;
    /* cp.async copies 4, 8 or 16 bytes, the latter past L1. The rest of a line of L2 is for a later iteration: in one access memory is faster. */
    enum { LINE_BITS = 8 * 128 };
    a->async = a->ahead && width * bits >= 32 && e->arch && e->arch->number >= 80;
    if (a->async) {
        bool unit = width * bits == 128, part = unit && d->shape.extent[contiguous] * bits < LINE_BITS;
        a->copy = make_copy_of(
            e, d,
            cute_arena_printf(e->arena, "!cute_nvgpu.atom.simt_async_copy<%s, cache = %s, %lld b%s>", element,
                              unit ? "global" : "always", (long long)(width * bits),
                              part ? ", l2_prefetch = 128" : ""));
    } else
        a->copy = make_copy(e, d, element, width * bits);
    MlirValue open = tile_open_view(e, a->value, a->whole ? a->whole : &d->shape, a->coord);
    MlirValue tile = tile_at(e, a, open);
    a->part = partition(e, &a->copy, tile, load);
    MlirValue layout = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(open), CUTE_NO_NAMED);
    MlirValue shape = tile_emit(e, "cute.get_shape", CUTE_OPERANDS(layout), CUTE_NO_NAMED);
    MlirValue whole = tile_emit(e, "cute.make_identity_tensor", CUTE_OPERANDS(shape), CUTE_NO_NAMED);
    MlirValue places = tile_at(e, a, whole);
    MlirValue part = partition(e, &a->copy, places, true);
    a->predicate = tile_emit(e, "cute.predicate", CUTE_OPERANDS(part, shape), CUTE_NO_NAMED);
    if (e->failed || mlirValueIsNull(a->mask)) return;
    MlirValue inside = tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(a->predicate), CUTE_NO_NAMED);
    if (e->failed) return;
    /* One element of the mask for each access. */
    int64_t count = mlirShapedTypeGetDimSize(mlirValueGetType(inside), 0);
    int32_t *first = cute_arena_array(e->arena, (size_t)count, sizeof *first);
    if (!first) {
        e->failed = true;
        return;
    }
    for (int64_t i = 0; i < count; i++) first[i] = (int32_t)(i * width);
    MlirValue mask = tile_pick(e, a->mask, first, count);
    MlirValue both = cute_binary(&e->b, "arith.andi", inside, tile_as_stored(e, mask));
    emit_store_vec(e, both, a->predicate);
}

/* The thread's elements of what `load`, a cute.tile.load, reads in distribution `d`; null after an error. */
static MlirValue load_access(tile_emitter *e, access *a, MlirOperation load, const tile_distribution *d)
{
    MlirType element = cute_type_element(mlirValueGetType(mlirOperationGetResult(load, 0)));
    begin_access(e, a, d, true);
    MlirValue fragment = tile_emit(e, "cute.make_fragment_like", CUTE_OPERANDS(a->part), CUTE_NO_NAMED);
    if (e->failed) return (MlirValue){NULL};
    MlirValue fill = tile_fill_value(e, element, cute_tile_word(load, "fill"));
    cute_build(&e->b, "cute.fill", CUTE_OPERANDS(fragment, fill), CUTE_NO_TYPES, CUTE_NO_NAMED);
    emit_copy(e, &a->copy, a->part, fragment, a->predicate);
    return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(fragment), CUTE_NO_NAMED);
}

MlirValue tile_load_as(tile_emitter *e, MlirOperation load, MlirValue coord, const tile_distribution *d)
{
    access a = {.value = mlirOperationGetOperand(load, 0), .coord = coord, .mask = {NULL}};
    a.tensor = cute_type_peek(mlirValueGetType(a.value));
    return load_access(e, &a, load, d);
}

/* So many columns at a time: threads load adjacent elements, which pass through shared memory. */
static MlirValue load_bands(tile_emitter *e, const tile_op *t, int64_t columns)
{
    const MlirValue none = {NULL};
    access a = {
        .value = mlirOperationGetOperand(t->op, 0), .coord = mlirOperationGetOperand(t->op, 1), .mask = none};
    a.tensor = cute_type_peek(mlirValueGetType(a.value));
    a.whole = &t->out.shape;
    tile_distribution from, to;
    int64_t bands = a.whole->extent[a.whole->rank - 1] / columns, all = tile_values(&t->out),
            values = all / bands;
    if (!tile_band(&t->out, bands, &to) || !tile_access_distribution(a.tensor, &to.shape, e->threads, &from))
        return e->failed = true, none;
    int32_t *part = cute_arena_array(e->arena, (size_t)values, sizeof *part),
            *place = cute_arena_array(e->arena, (size_t)all, sizeof *place);
    if (!part || !place) return e->failed = true, none;
    MlirValue out = none;
    for (a.band = 0; a.band < bands && !e->failed; a.band++) {
        MlirValue loaded = load_access(e, &a, t->op, &from);
        if (e->failed) return none;
        MlirValue band = tile_stage(e, loaded, &from, &to, TILE_SAME);
        out = a.band ? tile_concat(e, out, band) : band;
        tile_band_map(&t->out, bands, a.band, part);
        for (int64_t v = 0; v < values; v++) place[part[v]] = (int32_t)(a.band * values + v);
    }
    return e->failed ? none : tile_pick(e, out, place, all);
}

/* ---- loads of parts, in front of a store ---- */

bool tile_note_late(tile_emitter *e, const tile_op *load)
{
    tile_late *late = cute_arena_alloc(e->arena, sizeof *late);
    if (!late) return false;
    *late = (tile_late){.load = load, .next = e->late};
    late->copies = tile_late_copies_of(e, load->op, &late->index);
    e->late = late;
    return true;
}

void tile_begin_late(tile_emitter *e, int64_t columns)
{
    for (tile_late *late = e->late; late; late = late->next) {
        if (late->copies) continue;
        const tile_distribution *d = &late->load->out;
        int64_t all = tile_values(d), values;
        late->bands = d->shape.extent[d->shape.rank - 1] / columns;
        values = all / late->bands;
        int32_t *part = cute_arena_array(e->arena, (size_t)values, sizeof *part);
        late->band_of = cute_arena_array(e->arena, (size_t)all, sizeof *late->band_of);
        late->place_of = cute_arena_array(e->arena, (size_t)all, sizeof *late->place_of);
        late->loaded = cute_arena_array(e->arena, (size_t)late->bands, sizeof *late->loaded);
        if (!part || !late->band_of || !late->place_of || !late->loaded) {
            e->failed = true;
            return;
        }
        for (int64_t b = 0; b < late->bands; b++) {
            late->loaded[b] = (MlirValue){NULL};
            tile_band_map(d, late->bands, b, part);
            for (int64_t v = 0; v < values; v++) {
                late->band_of[part[v]] = (int32_t)b;
                late->place_of[part[v]] = (int32_t)v;
            }
        }
    }
}

static MlirValue load_band(tile_emitter *e, const tile_late *late, int64_t band)
{
    const MlirValue none = {NULL};
    MlirOperation op = late->load->op;
    access a = {.value = mlirOperationGetOperand(op, 0),
                .coord = mlirOperationGetOperand(op, 1),
                .mask = none,
                .whole = &late->load->out.shape,
                .band = band};
    a.tensor = cute_type_peek(mlirValueGetType(a.value));
    tile_distribution d;
    if (!tile_band(&late->load->out, late->bands, &d)) return e->failed = true, none;
    cute_builder here = e->b;
    e->b.location = mlirOperationGetLocation(op);
    MlirValue loaded = load_access(e, &a, op, &d);
    e->b.location = here.location;
    return loaded;
}

MlirValue tile_late_part(tile_emitter *e, MlirOperation load, const int32_t *map, int64_t count)
{
    enum { AHEAD = 1 }; /* bands under way while one is stored */
    MlirValue none = {NULL};
    tile_late *late = e->late;
    while (late && !mlirOperationEqual(late->load->op, load)) late = late->next;
    if (late && late->copies && count) return tile_late_copies_part(e, late->copies, late->index, map, count);
    int32_t *places = cute_arena_array(e->arena, (size_t)count, sizeof *places);
    if (!late || !late->loaded || !places || !count) return e->failed = true, none;
    int32_t band = late->band_of[map[0]];
    for (int64_t b = band; b <= band + AHEAD && b < late->bands && !e->failed; b++)
        if (mlirValueIsNull(late->loaded[b])) late->loaded[b] = load_band(e, late, b);
    for (int64_t i = 0; i < count; i++) {
        places[i] = late->place_of[map[i]];
        if (late->band_of[map[i]] != band) e->failed = true;
    }
    return e->failed ? none : tile_pick(e, late->loaded[band], places, count);
}

MlirValue tile_lower_load(tile_emitter *e, const tile_op *t)
{
    MlirValue none = {NULL};
    int64_t columns = cute_tile_number(t->op, "width", 0);
    MlirOperation pages = tile_pages_of(mlirOperationGetOperand(t->op, 0));
    bool paged = !mlirOperationIsNull(pages);
    if (paged && t->out.shape.extent[0] > 1) return tile_load_pages(e, t);
    if (columns) return load_bands(e, t, columns);
    access a = {.value = mlirOperationGetOperand(t->op, 0),
                .coord = mlirOperationGetOperand(t->op, 1),
                .mask = mlirOperationGetNumOperands(t->op) > 2 ? mlirOperationGetOperand(t->op, 2) : none,
                .same_mask = t->same_mask};
    if (paged) {
        a.value = mlirOperationGetOperand(pages, 0);
        a.coord = tile_one_page(e, t->op);
        if (e->failed) return none;
    }
    a.tensor = cute_type_peek(mlirValueGetType(a.value));
    return load_access(e, &a, t->op, &t->out);
}

/* So many columns at a time: through shared memory to threads that store adjacent elements. */
static MlirValue store_bands(tile_emitter *e, const tile_op *t, int64_t columns)
{
    const MlirValue none = {NULL};
    MlirValue value = mlirOperationGetOperand(t->op, 0);
    access a = {
        .value = mlirOperationGetOperand(t->op, 1), .coord = mlirOperationGetOperand(t->op, 2), .mask = none};
    a.tensor = cute_type_peek(mlirValueGetType(a.value));
    a.whole = &t->in[0].shape;
    tile_distribution from, to;
    int64_t bands = a.whole->extent[a.whole->rank - 1] / columns, values = tile_values(&t->in[0]) / bands;
    if (!tile_band(&t->in[0], bands, &from)) return e->failed = true, none;
    if (!tile_access_distribution(a.tensor, &from.shape, e->threads, &to)) return e->failed = true, none;
    int32_t *part = cute_arena_array(e->arena, (size_t)values, sizeof *part);
    if (!part) return e->failed = true, none;
    for (a.band = 0; a.band < bands && !e->failed; a.band++) {
        tile_band_map(&t->in[0], bands, a.band, part);
        MlirValue staged = tile_stage(e, tile_part(e, value, part, values), &from, &to, TILE_SAME);
        tile_if once = tile_if_begin(e, tile_is_first(e, &to));
        begin_access(e, &a, &to, false);
        MlirValue fragment = tile_emit(e, "cute.make_fragment_like", CUTE_OPERANDS(a.part), CUTE_NO_NAMED);
        emit_store_vec(e, staged, fragment);
        emit_copy(e, &a.copy, fragment, a.part, a.predicate);
        tile_if_end(e, &once);
    }
    return none;
}

/* Updates the thread's elements of a tile atomically, as many at a time as the tensor's type and the hardware allow. */
static void update_elements(tile_emitter *e, const access *a, MlirStringRef kind, MlirValue vector,
                            int64_t width)
{
    char name[40];
    int64_t count = mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0);
    MlirValue inside = tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(a->predicate), CUTE_NO_NAMED);
    snprintf(name, sizeof name, "cute.atomic_%.*s", (int)kind.length, kind.data);
    for (int64_t v = 0; v < count && !e->failed; v += width) {
        int32_t map[4];
        char coord[48];
        MlirValue is = cute_vector_extract(&e->b, inside, v / width),
                  zero = cute_integer(&e->b, mlirValueGetType(is), 0);
        tile_if there = tile_if_begin(e, cute_compare(&e->b, CUTE_IS_NE, is, zero));
        for (int64_t i = 0; i < width; i++) map[i] = (int32_t)(v + i);
        snprintf(coord, sizeof coord, "!cute.coord<\"%lld\">", (long long)v);
        tile_emit(e, name,
                  CUTE_OPERANDS(width > 1 ? tile_pick(e, vector, map, width)
                                          : cute_vector_extract(&e->b, vector, v),
                                a->part, tile_static(e, coord)),
                  CUTE_NO_NAMED);
        tile_if_end(e, &there);
    }
}

/* Elements that one atomic update adds: vectors of f32, from sm_90 on. */
static int64_t atomic_width(const tile_emitter *e, MlirOperation store)
{
    MlirType element = cute_type_element(mlirValueGetType(mlirOperationGetOperand(store, 0)));
    bool vectors = mlirTypeIsAF32(element) && e->arch && e->arch->number >= 90 &&
                   cute_text_is(cute_tile_word(store, "kind"), "add");
    return vectors ? 4 : 1;
}

MlirValue tile_lower_store(tile_emitter *e, const tile_op *t)
{
    MlirValue none = {NULL};
    int64_t band = cute_tile_number(t->op, "width", 0);
    if (band && cute_op_has(t->op, "tma")) return tile_lower_tma_store(e, t);
    if (band) return store_bands(e, t, band);
    access a = {.value = mlirOperationGetOperand(t->op, 1),
                .coord = mlirOperationGetOperand(t->op, 2),
                .mask = mlirOperationGetNumOperands(t->op) > 3 ? mlirOperationGetOperand(t->op, 3) : none,
                .same_mask = t->same_mask};
    a.tensor = cute_type_peek(mlirValueGetType(a.value));
    if (t->follows_loads && !e->naive) tile_barrier(e);
    tile_if once = tile_if_begin(e, tile_is_first(e, &t->in[0]));
    if (cute_op_has(t->op, "kind")) {
        a.most = atomic_width(e, t->op);
        begin_access(e, &a, &t->in[0], false);
        update_elements(e, &a, cute_tile_word(t->op, "kind"), mlirOperationGetOperand(t->op, 0), a.width);
        tile_if_end(e, &once);
        return none;
    }
    begin_access(e, &a, &t->in[0], false);
    MlirValue fragment = tile_emit(e, "cute.make_fragment_like", CUTE_OPERANDS(a.part), CUTE_NO_NAMED);
    emit_store_vec(e, mlirOperationGetOperand(t->op, 0), fragment);
    emit_copy(e, &a.copy, fragment, a.part, a.predicate);
    tile_if_end(e, &once);
    return none;
}

/* The next wait for copies behind the builder's place; null: there is none in its block. */
static MlirOperation next_wait(const tile_emitter *e)
{
    MlirOperation at = e->b.before;
    while (!mlirOperationIsNull(at) && !cute_op_is(at, "cute_nvgpu.arch.cp_async_wait_group"))
        at = mlirOperationGetNextInBlock(at);
    return at;
}

/* Loads to registers here, and stores in front of `wait`, so that the operations between them do not wait for the loads. */
static void copy_around(tile_emitter *e, const access *a, MlirValue to, MlirOperation wait)
{
    MlirValue fragment = tile_emit(e, "cute.make_fragment_like", CUTE_OPERANDS(a->part), CUTE_NO_NAMED);
    MlirType element = cute_tile_loaded(e->context, a->tensor->pointer);
    if (e->failed) return;
    MlirValue zero = tile_fill_value(e, element, cute_text("zero"));
    cute_build(&e->b, "cute.fill", CUTE_OPERANDS(fragment, zero), CUTE_NO_TYPES, CUTE_NO_NAMED);
    emit_copy(e, &a->copy, a->part, fragment, a->predicate);
    cute_builder here = e->b;
    e->b.before = wait;
    emit_copy(e, &a->copy, fragment, to, (MlirValue){NULL});
    e->b = here;
}

void tile_copy_to_stage(tile_emitter *e, MlirValue tensor, MlirValue coord, const cute_tile_shape *tile,
                        MlirValue stage)
{
    access a = {.value = tensor, .coord = coord, .mask = {NULL}, .ahead = true};
    tile_distribution d;
    a.tensor = cute_type_peek(mlirValueGetType(tensor));
    enum { ASYNC = 32 /* bits that cp.async copies, at least */, LINE = 1024 /* bits of a line of L2 */ };
    if (!access_distribution(a.tensor, tile, e->threads, ASYNC, LINE, &d)) {
        e->failed = true;
        return;
    }
    MlirValue mine = tile_is_first(e, &d);
    if (tile_threads(&d) < e->threads) { /* not a power of two */
        MlirValue in = cute_compare(&e->b, CUTE_IS_ULT, e->thread, tile_i32(e, tile_threads(&d)));
        mine = mlirValueIsNull(mine) ? in : cute_binary(&e->b, "arith.andi", mine, in);
    }
    MlirOperation wait = next_wait(e);
    tile_if once = tile_if_begin(e, mine);
    begin_access(e, &a, &d, true);
    MlirValue to = partition(e, &a.copy, stage, false);
    if (!e->failed && !a.async && !once.wrapped && !mlirOperationIsNull(wait))
        copy_around(e, &a, to, wait);
    else if (!e->failed)
        cute_build(&e->b, "cute.copy", CUTE_OPERANDS(a.copy.copy, a.part, to, a.predicate), CUTE_NO_TYPES,
                   CUTE_NAMED(cute_attribute(e->context, "zero_fill", mlirUnitAttrGet(e->context))));
    tile_if_end(e, &once);
}

/* ---- elements at coordinates ---- */

/* The extent of mode `i` as an integer of the width of `like`. */
static MlirValue extent_of(tile_emitter *e, MlirValue tensor, int i, MlirType like)
{
    int32_t mode = i;
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    MlirValue of = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(tensor), CUTE_NO_NAMED);
    MlirValue size = type->layout.shape->kind == CUTE_TREE_TUPLE
                         ? tile_emit(e, "cute.size", CUTE_OPERANDS(of),
                                     CUTE_NAMED(cute_attribute(e->context, "mode",
                                                               mlirDenseI32ArrayGet(e->context, 1, &mode))))
                         : tile_emit(e, "cute.size", CUTE_OPERANDS(of), CUTE_NO_NAMED);
    MlirValue n = tile_emit(e, "cute.get_scalars", CUTE_OPERANDS(size), CUTE_NO_NAMED);
    if (e->failed) return n;
    unsigned from = mlirIntegerTypeGetWidth(mlirValueGetType(n)), to = mlirIntegerTypeGetWidth(like);
    return from == to ? n : cute_unary(&e->b, from < to ? "arith.extui" : "arith.trunci", n, like);
}

typedef struct places {
    MlirValue tensor;
    int rank;
    MlirValue coords[CUTE_TILE_RANK], extents[CUTE_TILE_RANK], mask;
} places;

static void begin_places(tile_emitter *e, MlirOperation op, intptr_t tensor, places *p)
{
    *p = (places){.tensor = mlirOperationGetOperand(op, tensor)};
    const cute_value *type = cute_type_peek(mlirValueGetType(p->tensor));
    p->rank = cute_tile_tensor_rank(type);
    for (int i = 0; i < p->rank; i++) {
        p->coords[i] = mlirOperationGetOperand(op, tensor + 1 + i);
        p->extents[i] = extent_of(e, p->tensor, i, cute_type_element(mlirValueGetType(p->coords[i])));
    }
    if (mlirOperationGetNumOperands(op) > tensor + 1 + p->rank)
        p->mask = mlirOperationGetOperand(op, tensor + 1 + p->rank);
}

/* Whether element `v` is there, and its coordinate. */
static MlirValue place_at(tile_emitter *e, const places *p, int64_t v, MlirValue *inside)
{
    MlirValue parts[CUTE_TILE_RANK];
    *inside = mlirValueIsNull(p->mask) ? p->mask : cute_vector_extract(&e->b, p->mask, v);
    char text[8 * CUTE_TILE_RANK + 24] = "!cute.coord<\"";
    if (p->rank > 1) strcat(text, "(");
    for (int i = 0; i < p->rank; i++) {
        parts[i] = cute_vector_extract(&e->b, p->coords[i], v);
        MlirValue is = cute_compare(&e->b, CUTE_IS_ULT, parts[i], p->extents[i]);
        *inside = mlirValueIsNull(*inside) ? is : cute_binary(&e->b, "arith.andi", *inside, is);
        bool wide = mlirIntegerTypeGetWidth(mlirValueGetType(parts[i])) == 64;
        strcat(text, i ? "," : "");
        strcat(text, wide ? "?{i64}" : "?");
    }
    strcat(text, p->rank > 1 ? ")\">" : "\">");
    return cute_build_value(&e->b, "cute.make_coord", tile_type(e, text), (cute_operands){parts, p->rank},
                            CUTE_NO_NAMED);
}

/* An scf.if that gives `other` where the condition is false; *then_end is a builder inside, whose value is passed to yield_value. */
static MlirValue load_if(tile_emitter *e, MlirValue condition, MlirValue tensor, MlirValue coord,
                         MlirValue other)
{
    MlirRegion regions[2];
    MlirType type = mlirValueGetType(other);
    for (int r = 0; r < 2; r++) {
        regions[r] = mlirRegionCreate();
        MlirBlock block = mlirBlockCreate(0, NULL, NULL);
        mlirRegionAppendOwnedBlock(regions[r], block);
        cute_builder inside = cute_builder_at_end(block, e->b.location);
        MlirValue value = r ? other
                            : cute_build_value(&inside, "cute.memref.load", type,
                                               CUTE_OPERANDS(tensor, coord), CUTE_NO_NAMED);
        cute_build(&inside, "scf.yield", CUTE_OPERANDS(value), CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    MlirOperation op = cute_build_regions(&e->b, "scf.if", CUTE_OPERANDS(condition), CUTE_TYPES(type),
                                          CUTE_NO_NAMED, regions, 2);
    return mlirOperationGetResult(op, 0);
}

MlirValue tile_load_element(tile_emitter *e, MlirValue tensor, int rank, const MlirValue *coord,
                            MlirValue mask, MlirValue fill)
{
    MlirValue inside = mask;
    char text[8 * CUTE_TILE_RANK + 24] = "!cute.coord<\"";
    if (rank > 1) strcat(text, "(");
    for (int i = 0; i < rank && !e->failed; i++) {
        MlirValue is =
            cute_compare(&e->b, CUTE_IS_ULT, coord[i], extent_of(e, tensor, i, mlirValueGetType(coord[i])));
        inside = mlirValueIsNull(inside) ? is : cute_binary(&e->b, "arith.andi", inside, is);
        strcat(text, i ? ",?" : "?");
    }
    strcat(text, rank > 1 ? ")\">" : "\">");
    MlirType type = tile_type(e, text);
    if (e->failed) return fill;
    MlirValue at = cute_build_value(&e->b, "cute.make_coord", type, (cute_operands){(MlirValue *)coord, rank},
                                    CUTE_NO_NAMED);
    return load_if(e, inside, tensor, at, fill);
}

MlirValue tile_lower_gather(tile_emitter *e, const tile_op *t)
{
    MlirType type = mlirValueGetType(mlirOperationGetResult(t->op, 0)), element = cute_type_element(type);
    places p;
    begin_places(e, t->op, 0, &p);
    if (e->failed) return (MlirValue){NULL};
    MlirValue fill = tile_fill_value(e, element, cute_tile_word(t->op, "fill")),
              out = tile_splat(e, fill, tile_values(&t->out));
    for (int64_t v = 0; v < tile_values(&t->out) && !e->failed; v++) {
        MlirValue inside, coord = place_at(e, &p, v, &inside);
        out = cute_vector_insert(&e->b, out, load_if(e, inside, p.tensor, coord, fill), v);
    }
    return out;
}

MlirValue tile_lower_scatter(tile_emitter *e, const tile_op *t)
{
    MlirValue value = mlirOperationGetOperand(t->op, 0);
    bool atomic = cute_op_is(t->op, "cute.tile.atomic");
    tile_if once = tile_if_begin(e, tile_is_first(e, &t->in[0]));
    places p;
    begin_places(e, t->op, 1, &p);
    for (int64_t v = 0; v < tile_values(&t->in[0]) && !e->failed; v++) {
        MlirValue inside, coord = place_at(e, &p, v, &inside), one = cute_vector_extract(&e->b, value, v);
        tile_if there = tile_if_begin(e, inside);
        if (atomic) {
            MlirStringRef kind = cute_tile_word(t->op, "kind");
            char name[40];
            snprintf(name, sizeof name, "cute.atomic_%.*s", (int)kind.length, kind.data);
            tile_emit(e, name, CUTE_OPERANDS(one, p.tensor, coord), CUTE_NO_NAMED);
        } else {
            cute_build(&e->b, "cute.memref.store", CUTE_OPERANDS(p.tensor, coord, one), CUTE_NO_TYPES,
                       CUTE_NO_NAMED);
        }
        tile_if_end(e, &there);
    }
    tile_if_end(e, &once);
    return (MlirValue){NULL};
}

/* ---- shared memory ---- */

static MlirValue shared_view(tile_emitter *e, const char *element, const char *swizzle, int bits,
                             const char *layout, int64_t elements, int64_t offset)
{
    offset += e->role->scratch;
    e->role->shares = true;
    int64_t end = offset + (elements * bits + 7) / 8;
    if (end > e->shared_bytes) e->shared_bytes = end;
    char *pointer = cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<1024>%s>", element, swizzle),
         *static_layout = cute_arena_printf(e->arena, "!cute.layout<\"%s\">", layout);
    if (!pointer || !static_layout) return e->failed = true, (MlirValue){NULL};
    MlirType type = tile_type(e, pointer);
    MlirValue shape = tile_static(e, static_layout);
    if (e->failed) return shape;
    MlirValue base =
        cute_build_value(&e->b, "cute_nvgpu.arch.get_dyn_smem", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    if (offset) {
        char *by = cute_arena_printf(e->arena, "!cute.int_tuple<\"%lld\">", (long long)(offset * 8 / bits));
        base =
            tile_emit(e, "cute.add_offset", CUTE_OPERANDS(base, tile_static(e, by ? by : "")), CUTE_NO_NAMED);
    }
    if (!mlirValueIsNull(e->role->memory)) base = tile_own_memory(e, base, bits);
    MlirValue view = tile_emit(e, "cute.make_view", CUTE_OPERANDS(base, shape), CUTE_NO_NAMED);
    return view;
}

MlirValue tile_shared_view(tile_emitter *e, const char *element, int bits, const char *layout,
                           int64_t elements, int64_t offset)
{
    return shared_view(e, element, "", bits, layout, elements, offset);
}

MlirValue tile_shared_swizzled(tile_emitter *e, const cute_pointer *pointer, const char *layout,
                               int64_t elements, int64_t offset)
{
    const cute_swizzle *s = &pointer->swizzle;
    char text[40] = "";
    if (s->bits) snprintf(text, sizeof text, ", S<%d,%d,%d>", s->bits, s->base, s->shift);
    return shared_view(e, pointer->element, text, pointer->bits, layout, elements, offset);
}

const char *tile_layout_text(tile_emitter *e, const cute_tile_shape *shape, const int64_t *strides)
{
    cute_buffer text = {0};
    for (int part = 0; part < 2; part++) {
        cute_buffer_printf(&text, part ? ":(" : "(");
        for (int i = 0; i < shape->rank; i++)
            cute_buffer_printf(&text, "%s%lld", i ? "," : "",
                               (long long)(part ? strides[i] : shape->extent[i]));
        cute_buffer_printf(&text, ")");
    }
    const char *copy = cute_arena_copy(e->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    if (!copy) e->failed = true;
    return copy ? copy : "(1):(1)";
}

const char *tile_compact_layout(tile_emitter *e, const cute_tile_shape *shape, int fastest)
{
    int64_t strides[CUTE_TILE_RANK], size = 1;
    for (int pass = 0; pass < 2; pass++)
        for (int i = shape->rank - 1; i >= 0; i--) {
            if ((i == fastest) != (pass == 0)) continue;
            strides[i] = size;
            size *= shape->extent[i];
        }
    return tile_layout_text(e, shape, strides);
}

void tile_to_shared(tile_emitter *e, const tile_distribution *d, MlirValue vector, MlirValue tensor,
                    int64_t width)
{
    int bits;
    const char *element = tile_element_text(e, cute_type_element(mlirValueGetType(vector)), &bits);
    tile_if once = tile_if_begin(e, tile_is_first(e, d));
    tiled_copy c = make_copy(e, d, element, width * bits);
    MlirValue part = partition(e, &c, tensor, false);
    MlirValue fragment = tile_emit(e, "cute.make_fragment_like", CUTE_OPERANDS(part), CUTE_NO_NAMED);
    if (!e->failed) emit_store_vec(e, tile_as_stored(e, vector), fragment);
    emit_copy(e, &c, fragment, part, (MlirValue){NULL});
    tile_if_end(e, &once);
}

MlirValue tile_from_shared(tile_emitter *e, const tile_distribution *d, MlirValue tensor, int64_t width)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    tiled_copy c = make_copy(e, d, type->pointer->element, width * type->pointer->bits);
    MlirValue part = partition(e, &c, tensor, true);
    MlirValue fragment = tile_emit(e, "cute.make_fragment_like", CUTE_OPERANDS(part), CUTE_NO_NAMED);
    emit_copy(e, &c, part, fragment, (MlirValue){NULL});
    return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(fragment), CUTE_NO_NAMED);
}
