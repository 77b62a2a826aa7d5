/* The copies of cp.async.bulk.tensor (PTX ISA 8.5, 5.5.3 to 5.5.6). The box is a sequence of rows of its
 * fastest dimension, stored consecutively in shared memory; the swizzle then permutes chunks of 16 bytes.
 *
 * In im2col mode a row is the channels of a pixel, and the next row is the next pixel of the pixel box: width
 * first, from the lower to the upper corner in steps of the element stride, then height, depth and batch. The
 * pixel read is displaced by the offsets; a column has a fixed number of pixels, inside the tensor or not.
 *
 * Interleaved tensors (NC/8DHWC8 and NC/16DHWC16) are stored as slices of 16 or 32 bytes of channels, the
 * fastest dimension; all other dimensions except the last run within a slice. A tensor map does not state the
 * distance between slices: they are assumed to be packed, also in shared memory. */
#include <string.h>

#include "lib/numeric/number.h"
#include "lib/numeric/swizzle.h"
#include "lib/numeric/tensormap.h"

enum { ROW = 256 * 8, CHUNK = 16 };

/* The number of elements of the box along a dimension; the stride of the fastest one is ignored. */
static uint32_t box_extent(const cute_tensor_map *m, int i)
{
    return i == 0 ? m->box[0] : (m->box[i] + m->element_strides[i] - 1) / m->element_strides[i];
}

static uint32_t slice_bytes(const cute_tensor_map *m)
{
    return m->interleave ? UINT32_C(8) << m->interleave : 0;
}

/* Bytes between rows in shared memory: rows narrower than the swizzle's span are padded. */
static uint32_t row_pitch(const cute_tensor_map *m)
{
    uint32_t bytes = m->box[0] * (uint32_t)num_tensor_map_element_size(m);
    if (m->interleave) return slice_bytes(m);
    return m->swizzle ? UINT32_C(16) << m->swizzle : bytes;
}

/* Slices of an interleaved box; 1 otherwise. */
static uint32_t count_slices(const cute_tensor_map *m)
{
    uint32_t bytes = m->box[0] * (uint32_t)num_tensor_map_element_size(m), slice = slice_bytes(m);
    return slice ? (bytes + slice - 1) / slice : 1;
}

static uint64_t count_rows(const cute_tensor_map *m)
{
    if (m->im2col) return m->box[1];
    uint64_t count = count_slices(m);
    for (int i = 1; i < m->rank; i++) count *= box_extent(m, i);
    return count;
}

static uint32_t clamp_to_32_bits(uint64_t bytes)
{
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

uint32_t num_tensor_map_bytes(const cute_tensor_map *m)
{
    uint64_t row = m->interleave ? slice_bytes(m) : m->box[0] * (uint32_t)num_tensor_map_element_size(m);
    return clamp_to_32_bits(row * count_rows(m)); /* at most 2^11 * 2^32 */
}

uint32_t num_tensor_map_extent(const cute_tensor_map *m)
{
    return clamp_to_32_bits(row_pitch(m) * count_rows(m));
}

/* The position of a copy: a row, and the part of it that is inside the tensor. */
typedef struct copy_walk {
    const cute_tensor_map *map;
    const int32_t *origin;
    const uint16_t *offsets;       /* im2col: of width, height and depth; NULL: none */
    int64_t pixel[CUTE_MAP_RANK];  /* im2col: the current pixel, without offsets */
    uint32_t index[CUTE_MAP_RANK]; /* of dimensions 1 and up; [0] counts slices; im2col: pixels */
    uint32_t count[CUTE_MAP_RANK]; /* extent of each index */
    uint32_t size, elements;       /* bytes per element; elements per row */
    uint32_t pitch;
    uint32_t shared;      /* offset of the row, before the swizzle */
    uint64_t address;     /* of the row's first element in the tensor */
    uint32_t first, last; /* range of the row's elements inside the tensor; first >= last: none */
} copy_walk;

static copy_walk walk_begin(const cute_tensor_map *map, const int32_t *origin, const uint16_t *offsets,
                            uint32_t shared)
{
    uint32_t size = (uint32_t)num_tensor_map_element_size(map);
    copy_walk w = {.map = map,
                   .origin = origin,
                   .offsets = offsets,
                   .size = size,
                   .elements = map->box[0],
                   .shared = shared};
    for (int i = 0; i < map->rank; i++) w.pixel[i] = origin[i];
    if (map->interleave) w.elements = slice_bytes(map) / size;
    w.pitch = row_pitch(map);
    w.count[0] = count_slices(map);
    for (int i = 1; i < map->rank; i++) w.count[i] = box_extent(map, i);
    return w;
}

/* Sets address, first and last of the current row. */
static void walk_locate(copy_walk *w)
{
    const cute_tensor_map *m = w->map;
    int64_t start = (int64_t)w->origin[0] + (m->im2col ? 0 : (int64_t)w->index[0] * w->elements);
    bool inside = true;
    uint64_t address = m->address;
    for (int i = 1; i < m->rank; i++) {
        int64_t at = (int64_t)w->origin[i] + (int64_t)w->index[i] * m->element_strides[i];
        if (m->im2col) at = w->pixel[i] + (w->offsets && i < m->rank - 1 ? w->offsets[i - 1] : 0);
        inside &= at >= 0 && (uint64_t)at < m->dims[i];
        address += (uint64_t)at * m->strides[i - 1];
    }
    int64_t first = start < 0 ? -start : 0, last = (int64_t)m->dims[0] - start;
    if (last > w->elements) last = w->elements;
    w->first = 0;
    w->last = 0;
    if (!inside || first >= last) return;
    w->first = (uint32_t)first;
    w->last = (uint32_t)last;
    if (!m->interleave) {
        w->address = address + (uint64_t)start * w->size;
        return;
    }
    /* Channels that start within a slice would span two; the hardware copies whole slices. */
    uint64_t slice = m->dims[m->rank - 2] * m->strides[m->rank - 3];
    int64_t number =
        start >= 0 ? start / (int64_t)w->elements : -((-start + (int64_t)w->elements - 1) / w->elements);
    w->address = address + (uint64_t)number * slice;
}

/* Advances to the next pixel of the box; false after the last of the column. */
static bool next_pixel(copy_walk *w)
{
    const cute_tensor_map *m = w->map;
    if (++w->index[0] == m->box[1]) return false;
    for (int i = 1; i < m->rank - 1; i++) {
        w->pixel[i] += m->element_strides[i];
        if (w->pixel[i] <= (int64_t)m->dims[i] - 1 + m->upper[i - 1]) return true;
        w->pixel[i] = m->lower[i - 1];
    }
    w->pixel[m->rank - 1]++;
    return true;
}

/* Advances to the next row; false after the last. Slices vary faster than the last dimension only. */
static bool walk_next(copy_walk *w)
{
    const cute_tensor_map *m = w->map;
    w->shared += w->pitch;
    if (m->im2col) return next_pixel(w);
    int last = m->rank - 1;
    for (int step = 1; step <= m->rank; step++) {
        int i = m->interleave ? (step < last ? step : step == last ? 0 : last) : step;
        if (i == m->rank) return false;
        if (++w->index[i] < w->count[i]) return true;
        w->index[i] = 0;
    }
    return false;
}

static uint64_t fill_value(const cute_tensor_map *m)
{
    static const uint64_t nans[] = {[1] = 0x7f, [2] = 0x7fff, [4] = 0x7fffffff, [8] = 0x7fffffffffffffff};
    return m->fill ? nans[num_tensor_map_element_size(m)] : 0;
}

/* True for types whose values are converted on the way to shared memory. */
static bool converts(const cute_tensor_map *m)
{
    return m->type == CUTE_MAP_F32_FTZ || m->type == CUTE_MAP_TF32 || m->type == CUTE_MAP_TF32_FTZ;
}

static void convert_elements(const cute_tensor_map *m, uint8_t *bytes, uint32_t count)
{
    bool flush = m->type == CUTE_MAP_F32_FTZ || m->type == CUTE_MAP_TF32_FTZ;
    bool round = m->type == CUTE_MAP_TF32 || m->type == CUTE_MAP_TF32_FTZ;
    if (!converts(m)) return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, 4);
        word = (uint32_t)num_convert(round ? NUM_TF32 : NUM_F32, NUM_F32, word, NUM_RNA, flush ? NUM_FTZ : 0);
        if (flush && (word & 0x7f800000) == 0) word &= 0x80000000;
        memcpy(bytes + 4 * i, &word, 4);
    }
}

static uint32_t span_of(const cute_tensor_map *m)
{
    return m->swizzle ? UINT32_C(16) << m->swizzle : 0;
}

/* Copies a row that spans the whole swizzle, so that all its chunks are permuted alike, or a row without a
 * swizzle (span 0). */
static inline void copy_row(uint8_t *to, const uint8_t *from, uint32_t length, uint32_t exchange)
{
    if (!exchange) {
        memcpy(to, from, length);
        return;
    }
    for (uint32_t at = 0; at < length; at += CHUNK) memcpy(to + (at ^ exchange), from + at, CHUNK);
}

/* True if copy_row applies to the rows. */
static bool is_even(const copy_walk *w, uint32_t span)
{
    return !span || w->elements * w->size == span;
}

static uint32_t exchange_of(uint32_t shared, uint32_t span)
{
    return num_swizzle(shared, span, 0) ^ shared;
}

/* Moves elements `first` to `last` of a row between `bytes` and shared memory, in chunks of 16 bytes if there
 * is a swizzle. A row that spans the whole swizzle stays within its span. */
static bool move_shared(const copy_walk *w, uint8_t *bytes, uint32_t first, uint32_t last, bool load,
                        const num_copy_memory *memory)
{
    uint32_t begin = first * w->size, end = last * w->size, span = span_of(w->map);
    bool whole = first == 0 && last == w->elements;
    if (!span || (whole && is_even(w, span))) {
        uint8_t *row = memory->shared(memory->context, w->shared + begin, end - begin, load);
        if (!row) return false;
        copy_row(load ? row : bytes + begin, load ? bytes + begin : row, end - begin,
                 exchange_of(w->shared, span));
        return true;
    }
    for (uint32_t at = begin, next; at < end; at = next) {
        next = (at / CHUNK + 1) * CHUNK;
        if (next > end) next = end;
        uint8_t *chunk =
            memory->shared(memory->context, num_swizzle(w->shared + at, span, 0), next - at, load);
        if (!chunk) return false;
        memcpy(load ? chunk : bytes + at, load ? bytes + at : chunk, next - at);
    }
    return true;
}

/* The number of positions of the box along a dimension that are inside the tensor. */
static uint64_t count_inside(const cute_tensor_map *m, int i, int64_t origin, uint64_t count, uint64_t step)
{
    int64_t dim = (int64_t)m->dims[i], stride = (int64_t)step;
    int64_t first = origin < 0 ? (-origin + stride - 1) / stride : 0,
            last = origin < dim ? (dim - origin + stride - 1) / stride : 0;
    if (last > (int64_t)count) last = (int64_t)count;
    return first < last ? (uint64_t)(last - first) : 0;
}

uint64_t num_box_inside(const cute_tensor_map *m, const int32_t *coordinates, const uint16_t *offsets)
{
    copy_walk w = walk_begin(m, coordinates, offsets, 0);
    uint64_t bytes = 0;
    if (m->im2col) {
        do {
            walk_locate(&w);
            bytes += (uint64_t)(w.last - w.first) * w.size;
        } while (walk_next(&w));
        return bytes;
    }
    bytes = count_inside(m, 0, coordinates[0], (uint64_t)w.count[0] * w.elements, 1) * w.size;
    for (int i = 1; i < m->rank; i++)
        bytes *= count_inside(m, i, coordinates[i], w.count[i], m->element_strides[i]);
    return bytes;
}

static uint8_t *find_area(const num_area *a, uint64_t address, uint64_t size)
{
    uint64_t at = address - a->first;
    return a->bytes && at <= a->size && size <= a->size - at ? a->bytes + at : NULL;
}

/* Loads the current row and the following ones along dimension 1 if all are inside the tensor and in directly
 * accessible memory. Returns their number; 0: none. */
static uint32_t load_rows(const copy_walk *w, const num_copy_memory *memory)
{
    enum { AHEAD = 8, LINE = 64 };
    const cute_tensor_map *m = w->map;
    uint32_t length = w->elements * w->size, span = span_of(m), shared = w->shared;
    if (m->rank < 2 || m->im2col || m->interleave || converts(m) || !is_even(w, span)) return 0;
    if (w->first > 0 || w->last < w->elements) return 0;
    uint64_t first = (uint64_t)((int64_t)w->origin[1] + (int64_t)w->index[1] * m->element_strides[1]);
    uint64_t inside = (m->dims[1] - first + m->element_strides[1] - 1) / m->element_strides[1];
    uint32_t count = w->count[1] - w->index[1];
    if (count > inside) count = (uint32_t)inside;
    uint64_t step = m->element_strides[1] * m->strides[0];
    const uint8_t *from = find_area(&memory->global_area, w->address, (count - 1) * step + length);
    uint8_t *to = find_area(&memory->shared_area, shared, (uint64_t)count * w->pitch);
    if (!from || !to) return 0;
    for (uint32_t n = 0; n < count; n++) {
        /* Rows are rarely contiguous in memory, so the processor does not prefetch the next ones. */
        for (uint32_t at = 0; at < length && n + AHEAD < count; at += LINE)
            __builtin_prefetch(from + AHEAD * step + at);
        copy_row(to, from, length, exchange_of(shared, span));
        from += step;
        to += w->pitch;
        shared += w->pitch;
    }
    return count;
}

static bool can_begin(const cute_tensor_map *m, const int32_t *coordinates, uint32_t shared, const char **why)
{
    if (why) *why = NULL;
    for (int i = 1; m->im2col && i < m->rank - 1; i++) {
        if (coordinates[i] >= m->lower[i - 1] && coordinates[i] <= (int64_t)m->dims[i] - 1 + m->upper[i - 1])
            continue;
        if (why) *why = "an im2col copy begins at a pixel that is not in the box of pixels";
        return false;
    }
    if (shared % 128 == 0) return true;
    if (why) *why = "misaligned tensor copy: shared addresses must be multiples of 128";
    return false;
}

bool num_box_load(const cute_tensor_map *m, const int32_t *coordinates, const uint16_t *offsets,
                  uint32_t shared, const num_copy_memory *memory, const char **why)
{
    if (!can_begin(m, coordinates, shared, why)) return false;
    uint8_t bytes[ROW];
    uint64_t fill = fill_value(m);
    bool as_it_is = !converts(m);
    copy_walk w = walk_begin(m, coordinates, offsets, shared);
    do {
        walk_locate(&w);
        uint32_t inside = w.last - w.first, done = inside ? load_rows(&w, memory) : 0;
        uint8_t *row = bytes, *from = NULL;
        if (done) {
            w.index[1] += done - 1;
            w.shared += (done - 1) * w.pitch;
            continue;
        }
        if (inside) {
            from = memory->global(memory->context, w.address + w.first * w.size, inside * w.size, false);
            if (!from) return false;
        }
        if (inside == w.elements && as_it_is) {
            row = from; /* only read */
        } else {
            for (uint32_t i = 0; i < w.elements; i++)
                if (i < w.first || i >= w.last) memcpy(bytes + i * w.size, &fill, w.size);
            if (inside) memcpy(bytes + w.first * w.size, from, inside * w.size);
            convert_elements(m, bytes + w.first * w.size, inside);
        }
        if (!move_shared(&w, row, 0, w.elements, true, memory)) return false;
    } while (walk_next(&w));
    return true;
}

static bool reduce_row(const cute_tensor_map *m, num_reduction reduction, uint64_t address, uint32_t count,
                       const uint8_t *values, const num_copy_memory *memory)
{
    if (memory->reduce_global)
        return memory->reduce_global(memory->context, reduction, m->type, address, count, values);
    uint32_t size = (uint32_t)num_tensor_map_element_size(m);
    uint8_t *to = memory->global(memory->context, address, count * size, true);
    for (uint32_t i = 0; to && i < count; i++)
        num_reduce(reduction, m->type, to + i * size, values + i * size);
    return to != NULL;
}

/* Elements of the row from `last` on that a store writes too: it writes whole units of 16 bytes, as far as the box has elements. An H200 does so. */
static uint32_t elements_behind(const copy_walk *w)
{
    enum { UNIT = 16 };
    uint64_t end = w->address + (uint64_t)w->last * w->size;
    uint32_t more = (uint32_t)(-end & (UNIT - 1)) / w->size, left = w->elements - w->last;
    return more < left ? more : left;
}

bool num_box_store(const cute_tensor_map *m, const int32_t *coordinates, uint32_t shared,
                   num_reduction reduction, const num_copy_memory *memory, const char **why)
{
    if (!can_begin(m, coordinates, shared, why)) return false;
    if (!num_reduction_exists(reduction, m->type)) {
        if (why) *why = "this reduction does not support the tensor map's element type";
        return false;
    }
    uint8_t bytes[ROW];
    copy_walk w = walk_begin(m, coordinates, NULL, shared);
    do {
        walk_locate(&w);
        if (w.last == w.first) continue;
        if (!reduction) w.last += elements_behind(&w);
        uint32_t inside = w.last - w.first;
        if (!move_shared(&w, bytes, w.first, w.last, false, memory)) return false;
        uint64_t address = w.address + w.first * w.size;
        const uint8_t *at = bytes + w.first * w.size;
        if (reduction) {
            if (!reduce_row(m, reduction, address, inside, at, memory)) return false;
            continue;
        }
        uint8_t *to = memory->global(memory->context, address, inside * w.size, true);
        if (!to) return false;
        memcpy(to, at, inside * w.size);
    } while (walk_next(&w));
    return true;
}
