/* See distribution.h. */
#include "lib/passes/tiles/distribution.h"

#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"

/* ---- modes ---- */

int64_t tile_modes_size(const tile_modes *modes)
{
    int64_t size = 1;
    for (int i = 0; i < modes->count; i++) size *= modes->at[i].extent;
    return size;
}

int64_t tile_threads(const tile_distribution *d)
{
    return tile_modes_size(&d->threads);
}

int64_t tile_values(const tile_distribution *d)
{
    return tile_modes_size(&d->values);
}

void tile_modes_coord(const tile_modes *modes, int64_t i, int64_t coord[CUTE_TILE_RANK])
{
    for (int m = 0; m < modes->count; m++) {
        const tile_mode *mode = &modes->at[m];
        if (mode->dim != TILE_COPIES) coord[mode->dim] += i % mode->extent * mode->step;
        i /= mode->extent;
    }
}

static int64_t row_major(const cute_tile_shape *shape, const int64_t *coord)
{
    int64_t index = 0;
    for (int i = 0; i < shape->rank; i++) index = index * shape->extent[i] + coord[i];
    return index;
}

int64_t tile_element_index(const tile_distribution *d, int64_t thread, int64_t value)
{
    int64_t coord[CUTE_TILE_RANK] = {0};
    tile_modes_coord(&d->threads, thread, coord);
    tile_modes_coord(&d->values, value, coord);
    return row_major(&d->shape, coord);
}

bool tile_modes_add(tile_modes *modes, int64_t extent, int dim, int64_t step)
{
    if (extent == 1) return true;
    tile_mode *last = modes->count ? &modes->at[modes->count - 1] : NULL;
    if (last && last->dim == dim && (dim == TILE_COPIES || last->step * last->extent == step)) {
        last->extent *= extent;
        return true;
    }
    if (modes->count == TILE_MODES) return false;
    modes->at[modes->count++] = (tile_mode){extent, dim, dim == TILE_COPIES ? 0 : step};
    return true;
}

static void normalize(tile_modes *modes)
{
    tile_modes out = {0};
    for (int i = 0; i < modes->count; i++)
        tile_modes_add(&out, modes->at[i].extent, modes->at[i].dim, modes->at[i].step);
    *modes = out;
}

void tile_normalize(tile_distribution *d)
{
    normalize(&d->threads);
    normalize(&d->values);
}

static bool same_modes(const tile_modes *a, const tile_modes *b)
{
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++)
        if (a->at[i].extent != b->at[i].extent || a->at[i].dim != b->at[i].dim ||
            a->at[i].step != b->at[i].step)
            return false;
    return true;
}

bool tile_along_lanes(const tile_distribution *d, int dim)
{
    enum { WARP = 32 };
    int64_t below = 1;
    for (int i = 0; i < d->threads.count; below *= d->threads.at[i++].extent)
        if (d->threads.at[i].dim == dim && below * d->threads.at[i].extent > WARP) return false;
    return true;
}

void tile_adjacent_first(tile_distribution *d, int dim)
{
    for (int i = 1; i < d->values.count; i++)
        for (int k = i; k > 0; k--) {
            tile_mode *a = &d->values.at[k - 1], *b = &d->values.at[k];
            if (b->dim != dim || (a->dim == dim && a->step <= b->step)) break;
            tile_mode kept = *a;
            *a = *b;
            *b = kept;
        }
    tile_normalize(d);
}

bool tile_distribution_equal(const tile_distribution *a, const tile_distribution *b)
{
    tile_distribution x = *a, y = *b;
    tile_normalize(&x);
    tile_normalize(&y);
    return cute_tile_shape_equal(&x.shape, &y.shape) && same_modes(&x.threads, &y.threads) &&
           same_modes(&x.values, &y.values);
}

/* ---- making one ---- */

/* The largest power of two that divides `a` and is at most `b`. */
static int64_t power_within(int64_t a, int64_t b)
{
    int64_t p = 1;
    while (a % (2 * p) == 0 && 2 * p <= b) p *= 2;
    return p;
}

/* `first`: threads along order[0], at most, where the others fit along the other dimensions. */
static bool lay_threads(const cute_tile_shape *shape, const int *order, int64_t vector, int64_t second,
                        int64_t first, int64_t threads, tile_distribution *out)
{
    *out = (tile_distribution){.shape = *shape};
    int64_t done[CUTE_TILE_RANK], run[2] = {vector, second}, others = 1;
    bool ok = true;
    for (int i = 0; i < shape->rank; i++) {
        int dim = order[i];
        done[dim] = i < 2 ? power_within(shape->extent[dim], run[i]) : 1;
        ok &= tile_modes_add(&out->values, done[dim], dim, 1);
        if (i) others *= power_within(shape->extent[dim] / done[dim], threads / others);
    }
    if (first < threads / others) first = threads / others;
    for (int i = 0; i < shape->rank; i++) {
        int dim = order[i];
        int64_t along = power_within(shape->extent[dim] / done[dim], i || threads < first ? threads : first);
        ok &= tile_modes_add(&out->threads, along, dim, done[dim]);
        done[dim] *= along;
        threads /= along;
    }
    ok &= tile_modes_add(&out->threads, threads, TILE_COPIES, 0);
    for (int i = 0; i < shape->rank; i++)
        ok &=
            tile_modes_add(&out->values, shape->extent[order[i]] / done[order[i]], order[i], done[order[i]]);
    return ok;
}

bool tile_blocked(const cute_tile_shape *shape, const int *order, int64_t vector, int64_t second,
                  int64_t threads, tile_distribution *out)
{
    return lay_threads(shape, order, vector, second, threads, threads, out);
}

bool tile_in_runs(const cute_tile_shape *shape, const int *order, int64_t vector, int64_t run,
                  int64_t threads, tile_distribution *out)
{
    return lay_threads(shape, order, vector, 1, run > vector ? run / vector : 1, threads, out);
}

bool tile_row_major(const cute_tile_shape *shape, int64_t vector, int64_t threads, tile_distribution *out)
{
    int order[CUTE_TILE_RANK];
    for (int i = 0; i < shape->rank; i++) order[i] = shape->rank - 1 - i;
    return tile_blocked(shape, order, vector, 1, threads, out);
}

bool tile_for_scan(const cute_tile_shape *shape, int axis, int64_t threads, tile_distribution *out)
{
    *out = (tile_distribution){.shape = *shape};
    int64_t lanes = power_within(shape->extent[axis], threads < 32 ? threads : 32),
            own = shape->extent[axis] / lanes;
    bool ok = tile_modes_add(&out->values, own, axis, 1) && tile_modes_add(&out->threads, lanes, axis, own);
    threads /= lanes;
    for (int i = shape->rank - 1; i >= 0; i--) {
        if (i == axis) continue;
        int64_t along = power_within(shape->extent[i], threads);
        ok &= tile_modes_add(&out->threads, along, i, 1) &&
              tile_modes_add(&out->values, shape->extent[i] / along, i, along);
        threads /= along;
    }
    return ok && tile_modes_add(&out->threads, threads, TILE_COPIES, 0);
}

bool tile_replicated(const cute_tile_shape *shape, int64_t threads, tile_distribution *out)
{
    *out = (tile_distribution){.shape = *shape};
    bool ok = tile_modes_add(&out->threads, threads, TILE_COPIES, 0);
    for (int i = shape->rank - 1; i >= 0; i--) ok &= tile_modes_add(&out->values, shape->extent[i], i, 1);
    return ok;
}

bool tile_projected(const tile_distribution *d, const cute_tile_shape *shape, tile_distribution *out)
{
    int missing = d->shape.rank - shape->rank;
    *out = (tile_distribution){.shape = *shape};
    bool ok = missing >= 0;
    for (int i = 0; ok && i < d->threads.count; i++) {
        const tile_mode *m = &d->threads.at[i];
        int dim = m->dim == TILE_COPIES ? TILE_COPIES : m->dim - missing;
        if (dim < 0 || shape->extent[dim] == 1) dim = TILE_COPIES;
        ok = tile_modes_add(&out->threads, m->extent, dim, m->step);
    }
    for (int i = 0; ok && i < d->values.count; i++) {
        const tile_mode *m = &d->values.at[i];
        int dim = m->dim - missing;
        if (dim >= 0 && shape->extent[dim] != 1) ok = tile_modes_add(&out->values, m->extent, dim, m->step);
    }
    return ok;
}

static void permute(tile_modes *modes, const int *where)
{
    for (int i = 0; i < modes->count; i++)
        if (modes->at[i].dim != TILE_COPIES) modes->at[i].dim = where[modes->at[i].dim];
}

void tile_permuted(const tile_distribution *d, const int64_t *order, tile_distribution *out)
{
    int where[CUTE_TILE_RANK];
    *out = *d;
    for (int i = 0; i < d->shape.rank; i++) {
        where[order[i]] = i;
        out->shape.extent[i] = d->shape.extent[order[i]];
    }
    permute(&out->threads, where);
    permute(&out->values, where);
}

/* A mode that advances the row-major index by `stride`, in the dimensions of `shape`. */
static bool add_linear(tile_modes *modes, const cute_tile_shape *shape, int64_t extent, int64_t stride)
{
    int64_t below = 1;
    for (int dim = shape->rank - 1; dim >= 0 && extent > 1; dim--) {
        int64_t size = shape->extent[dim];
        if (stride < below * size) {
            if (stride % below) return false;
            int64_t step = stride / below, room = size / step;
            if (size % step) return false;
            int64_t here = extent <= room ? extent : room;
            if (extent % here || !tile_modes_add(modes, here, dim, step)) return false;
            extent /= here;
            stride *= here;
        }
        below *= size;
    }
    return extent == 1;
}

bool tile_reshaped(const tile_distribution *d, const cute_tile_shape *shape, tile_distribution *out)
{
    *out = (tile_distribution){.shape = *shape};
    int64_t stride[CUTE_TILE_RANK], size = 1;
    for (int i = d->shape.rank - 1; i >= 0; i--) {
        stride[i] = size;
        size *= d->shape.extent[i];
    }
    const tile_modes *from[] = {&d->threads, &d->values};
    tile_modes *to[] = {&out->threads, &out->values};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < from[side]->count; i++) {
            const tile_mode *m = &from[side]->at[i];
            bool ok = m->dim == TILE_COPIES
                          ? tile_modes_add(to[side], m->extent, TILE_COPIES, 0)
                          : add_linear(to[side], shape, m->extent, m->step * stride[m->dim]);
            if (!ok) return false;
        }
    return true;
}

static void drop_mode(tile_modes *modes, int mode)
{
    int kept = 0;
    for (int i = 0; i < modes->count; i++) {
        tile_mode m = modes->at[i];
        if (m.dim == mode) continue;
        if (m.dim > mode) m.dim--;
        modes->at[kept++] = m;
    }
    modes->count = kept;
}

bool tile_picked(const tile_distribution *d, int mode, tile_distribution *out)
{
    for (int i = 0; i < d->threads.count; i++)
        if (d->threads.at[i].dim == mode) return false;
    *out = *d;
    drop_mode(&out->threads, mode);
    drop_mode(&out->values, mode);
    out->shape.rank--;
    for (int i = mode; i < out->shape.rank; i++) out->shape.extent[i] = d->shape.extent[i + 1];
    tile_normalize(out);
    return true;
}

bool tile_stacked(const tile_distribution *d, int mode, int64_t extent, tile_distribution *out)
{
    if (d->shape.rank == CUTE_TILE_RANK || d->values.count == TILE_MODES) return false;
    *out = *d;
    out->shape.rank++;
    for (int i = out->shape.rank - 1; i > mode; i--) out->shape.extent[i] = d->shape.extent[i - 1];
    out->shape.extent[mode] = extent;
    tile_modes *both[] = {&out->threads, &out->values};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < both[side]->count; i++)
            if (both[side]->at[i].dim >= mode) both[side]->at[i].dim++;
    /* A new last dimension is adjacent in memory: the fastest. */
    bool last = mode == out->shape.rank - 1;
    if (extent > 1) {
        tile_modes *v = &out->values;
        if (last) memmove(&v->at[1], &v->at[0], (size_t)v->count * sizeof *v->at);
        v->at[last ? 0 : v->count] = (tile_mode){extent, mode, 1};
        v->count++;
    }
    return true;
}

/* The values' outermost mode along the columns; -1: threads have columns beyond it. */
static int outer_columns(const tile_distribution *d)
{
    int last = d->shape.rank - 1;
    for (int i = 0; i < d->values.count; i++)
        if (d->values.at[i].dim == last &&
            d->values.at[i].step * d->values.at[i].extent == d->shape.extent[last])
            return i;
    return -1;
}

bool tile_band(const tile_distribution *d, int64_t bands, tile_distribution *out)
{
    int mode = d->shape.rank > 1 ? outer_columns(d) : -1;
    if (mode < 0 || d->values.at[mode].extent % bands) return false;
    *out = *d;
    out->values.at[mode].extent /= bands;
    out->shape.extent[out->shape.rank - 1] /= bands;
    return true;
}

void tile_band_map(const tile_distribution *d, int64_t bands, int64_t band, int32_t *map)
{
    int mode = outer_columns(d);
    int64_t count = tile_values(d) / bands;
    for (int64_t v = 0; v < count; v++) {
        int64_t rest = v, at = 0, below = 1;
        for (int i = 0; i < d->values.count; i++) {
            int64_t extent = d->values.at[i].extent / (i == mode ? bands : 1);
            at += (rest % extent + (i == mode ? band * extent : 0)) * below;
            rest /= extent;
            below *= d->values.at[i].extent;
        }
        map[v] = (int32_t)at;
    }
}

/* ---- relations ---- */

bool tile_registers_map(cute_arena *arena, const tile_distribution *from, const tile_distribution *to,
                        int32_t *map)
{
    int64_t threads = tile_threads(from), values = tile_values(from), wanted = tile_values(to);
    int64_t size = cute_tile_size(&from->shape);
    int missing = to->shape.rank - from->shape.rank;
    if (threads != tile_threads(to) || missing < 0) return false;
    int32_t *holder = cute_arena_array(arena, (size_t)size, sizeof *holder);
    int64_t *mine = cute_arena_array(arena, (size_t)values, sizeof *mine);
    if (!holder || !mine) return false;
    for (int64_t t = 0; t < threads; t++) {
        /* holder[element] is 1 + the value that has it in this thread; elements of the thread before are taken back */
        for (int64_t v = 0; t && v < values; v++) holder[mine[v]] = 0;
        for (int64_t v = values - 1; v >= 0; v--)
            holder[mine[v] = tile_element_index(from, t, v)] = (int32_t)v + 1;
        for (int64_t v = 0; v < wanted; v++) {
            int64_t coord[CUTE_TILE_RANK] = {0};
            tile_modes_coord(&to->threads, t, coord);
            tile_modes_coord(&to->values, v, coord);
            for (int i = 0; i < from->shape.rank; i++)
                coord[i] = from->shape.extent[i] == 1 ? 0 : coord[i + missing];
            int32_t found = holder[row_major(&from->shape, coord)] - 1;
            if (found < 0 || (t && map[v] != found)) return false;
            map[v] = found;
        }
    }
    return true;
}

bool tile_picked_map(const tile_distribution *with, const tile_distribution *without, int mode, int64_t index,
                     int32_t *map)
{
    int64_t values = tile_values(with), wanted = tile_values(without);
    for (int64_t v = 0; v < wanted; v++) {
        int64_t coord[CUTE_TILE_RANK] = {0}, found = 0;
        tile_modes_coord(&without->values, v, coord);
        for (; found < values; found++) {
            int64_t own[CUTE_TILE_RANK] = {0};
            tile_modes_coord(&with->values, found, own);
            bool same = own[mode] == index;
            for (int i = 0; i < without->shape.rank; i++) same &= own[i < mode ? i : i + 1] == coord[i];
            if (same) break;
        }
        if (found == values) return false;
        map[v] = (int32_t)found;
    }
    return true;
}

/* ---- text ---- */

static void modes_text(cute_buffer *out, const tile_modes *modes, int what, const int64_t *strides)
{
    cute_buffer_printf(out, "(");
    for (int i = 0; i < modes->count; i++) {
        const tile_mode *m = &modes->at[i];
        if (i) cute_buffer_printf(out, ",");
        if (what == 0)
            cute_buffer_printf(out, "%lld", (long long)m->extent);
        else if (m->dim == TILE_COPIES)
            cute_buffer_printf(out, "0");
        else if (strides)
            cute_buffer_printf(out, "%lld", (long long)(m->step * strides[m->dim]));
        else
            cute_buffer_printf(out, "%lld@%d", (long long)m->step, m->dim);
    }
    if (!modes->count) cute_buffer_printf(out, what ? "0" : "1");
    cute_buffer_printf(out, ")");
}

static const char *text_of(cute_arena *arena, const tile_distribution *d, const int64_t *strides)
{
    cute_buffer text = {0};
    for (int what = 0; what < 2; what++) {
        cute_buffer_printf(&text, what ? ":(" : "(");
        modes_text(&text, &d->threads, what, strides);
        cute_buffer_printf(&text, ",");
        modes_text(&text, &d->values, what, strides);
        cute_buffer_printf(&text, ")");
    }
    const char *copy = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return copy;
}

const char *tile_distribution_text(cute_arena *arena, const tile_distribution *d)
{
    return text_of(arena, d, NULL);
}

const char *tile_copy_text(cute_arena *arena, const tile_distribution *d)
{
    int64_t strides[CUTE_TILE_RANK], size = 1;
    for (int i = 0; i < d->shape.rank; i++) {
        strides[i] = size;
        size *= d->shape.extent[i];
    }
    return text_of(arena, d, strides);
}

MlirAttribute tile_encoding(MlirContext context, cute_arena *arena, const tile_distribution *d)
{
    const char *text = tile_distribution_text(arena, d);
    if (!text) return mlirAttributeGetNull();
    char *whole = cute_arena_printf(arena, "#cute.layout<\"%s\">", text);
    return whole ? mlirAttributeParseGet(context, cute_text(whole)) : mlirAttributeGetNull();
}

static bool read_modes(const cute_tree *shape, const cute_tree *stride, int rank, tile_modes *out)
{
    if (shape->kind != CUTE_TREE_TUPLE || stride->kind != CUTE_TREE_TUPLE || shape->count != stride->count)
        return false;
    for (uint32_t i = 0; i < shape->count; i++) {
        const cute_tree *extent = shape->items[i], *step = stride->items[i];
        if (extent->kind != CUTE_TREE_INT || !extent->value.known || extent->value.value < 1 ||
            !step->value.known)
            return false;
        int dim = TILE_COPIES;
        if (step->kind == CUTE_TREE_BASIS) {
            if (step->count != 1 || step->path[0] >= rank) return false;
            dim = step->path[0];
        } else if (step->kind != CUTE_TREE_INT || step->value.value) {
            return false;
        }
        if (!tile_modes_add(out, extent->value.value, dim, step->value.value)) return false;
    }
    return true;
}

bool tile_distribution_of(MlirType type, tile_distribution *out)
{
    *out = (tile_distribution){0};
    if (!cute_tile_shape_of(type, &out->shape)) return false;
    MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
    if (mlirAttributeIsNull(encoding)) return false;
    cute_buffer text = {0};
    mlirAttributePrint(encoding, cute_print_to_buffer, &text);
    const char *whole = cute_buffer_text(&text), *from = strchr(whole, '"'), *to = strrchr(whole, '"');
    bool ok = !strncmp(whole, "#cute.layout<", 13) && from && to > from;
    cute_arena *arena = ok ? cute_arena_create() : NULL;
    cute_value value;
    size_t offset;
    ok = arena && cute_value_parse(arena, CUTE_LAYOUT, from + 1, (size_t)(to - from - 1), &value, &offset,
                                   NULL) == CUTE_OK;
    const cute_tree *shape = ok ? value.layout.shape : NULL, *stride = ok ? value.layout.stride : NULL;
    ok = ok && shape->kind == CUTE_TREE_TUPLE && shape->count == 2 && stride->kind == CUTE_TREE_TUPLE &&
         stride->count == 2 &&
         read_modes(shape->items[0], stride->items[0], out->shape.rank, &out->threads) &&
         read_modes(shape->items[1], stride->items[1], out->shape.rank, &out->values);
    cute_arena_destroy(arena);
    cute_buffer_release(&text);
    return ok;
}
