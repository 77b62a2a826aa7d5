/* From layouts to cells: the index, or thread and value, at each coordinate, and its colour. */
#include "lib/calculator/picture.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/layout/algebra.h"

enum { BANKS = 32, BANK_BITS = 32, WARP = 32, SHADES = 8, BATCH = 256 };

typedef struct painter {
    cute_arena *arena, *scratch; /* scratch: for a batch of cells, then released */
    int used;                    /* evaluations in scratch */
    const cute_value *value;
    const cute_picture_options *options;
    cute_picture *out;
    cute_diag *diag;
} painter;

/* ---- sizes ---- */

static cute_status mode_size(const cute_tree *shape, size_t i, int64_t *out, cute_diag *diag)
{
    cute_algebra a = {.arena = cute_arena_create(), .diag = diag};
    if (!a.arena) return cute_fail_memory(diag);
    const cute_tree *size = alg_product(&a, alg_mode(shape, i));
    if (size) *out = size->value.value;
    cute_arena_destroy(a.arena);
    return size ? CUTE_OK : a.status;
}

/* Computes rows, columns and sheets of a shape; rejects shapes with too many cells. */
static cute_status measure_shape(painter *p, const cute_tree *shape)
{
    const cute_picture_options *o = p->options;
    int64_t size[3] = {1, 1, 1}, cells;
    size_t rank = alg_rank(shape);
    for (size_t i = 0; i < rank; i++) {
        int64_t here = 1;
        CUTE_TRY(mode_size(shape, i, &here, p->diag));
        int64_t *into = &size[i < 2 ? i : 2];
        if (here < 0) here = 0;
        if (!cute_mul64(*into, here, into)) *into = INT64_MAX;
    }
    if (!cute_mul64(size[0], size[1], &cells) || !cute_mul64(cells, size[2], &cells)) cells = INT64_MAX;
    const char *text = cute_tree_text(p->arena, shape);
    if (!text) return cute_fail_memory(p->diag);
    if ((uint64_t)cells > o->most_cells)
        return cute_fail(p->diag, CUTE_INVALID, NULL,
                         "%.200s has %" PRId64 "%s cells; a picture shows at most %" PRIu64, text, cells,
                         cells == INT64_MAX ? " or more" : "", o->most_cells);
    if ((uint64_t)size[0] > o->most_side || (uint64_t)size[1] > o->most_side)
        return cute_fail(p->diag, CUTE_INVALID, NULL,
                         "%.200s has %" PRId64 " rows and %" PRId64
                         " columns; a picture of this kind shows at most %" PRIu64 " of each",
                         text, size[0], size[1], o->most_side);
    p->out->rows = (size_t)size[0];
    p->out->columns = (size_t)size[1];
    p->out->sheets = (size_t)size[2];
    p->out->cells = cute_arena_array(p->arena, (size_t)(cells ? cells : 1), sizeof *p->out->cells);
    return p->out->cells ? CUTE_OK : cute_fail_memory(p->diag);
}

/* (i,j,k...) of a cell; the index within a mode if the shape is a leaf. */
static const cute_tree *coordinate_at(painter *p, const cute_tree *shape, size_t row, size_t column,
                                      size_t sheet)
{
    cute_algebra a = {.arena = p->scratch};
    if (alg_is_leaf(shape)) return alg_number(&a, (int64_t)row);
    alg_list list = {0};
    for (uint32_t i = 0; i < shape->count; i++) {
        size_t at = i == 0 ? row : column;
        if (i >= 2) {
            const cute_tree *size = alg_product(&a, shape->items[i]);
            if (!size) return NULL;
            at = sheet % (size_t)size->value.value;
            sheet /= (size_t)size->value.value;
        }
        alg_push(&a, &list, alg_number(&a, (int64_t)at));
    }
    return alg_tuple(&a, &list);
}

static cute_status title_sheets(painter *p, const cute_tree *shape)
{
    cute_picture *out = p->out;
    if (out->sheets < 2) return CUTE_OK;
    out->sheet_titles = cute_arena_array(p->arena, out->sheets, sizeof *out->sheet_titles);
    if (!out->sheet_titles) return cute_fail_memory(p->diag);
    for (size_t i = 0; i < out->sheets; i++) {
        const cute_tree *at = coordinate_at(p, shape, 0, 0, i);
        cute_buffer text = {0};
        cute_buffer_puts(&text, "(_,_");
        for (uint32_t j = 2; at && j < at->count; j++)
            cute_buffer_printf(&text, ",%" PRId64, at->items[j]->value.value);
        cute_buffer_putc(&text, ')');
        out->sheet_titles[i] = cute_arena_copy(p->arena, cute_buffer_text(&text), text.length);
        bool ok = cute_buffer_ok(&text) && at && out->sheet_titles[i];
        cute_buffer_release(&text);
        if (!ok) return cute_fail_memory(p->diag);
    }
    return CUTE_OK;
}

/* ---- evaluation ---- */

static cute_status refresh_scratch(painter *p)
{
    if (p->scratch && p->used++ < BATCH) return CUTE_OK;
    cute_arena_destroy(p->scratch);
    p->scratch = cute_arena_create();
    p->used = 0;
    return p->scratch ? CUTE_OK : cute_fail_memory(p->diag);
}

static cute_status eval_layout(painter *p, const cute_tree *coord, const cute_tree **out)
{
    cute_value in[2] = {cute_value_of_tree(CUTE_COORD, coord), *p->value}, index;
    if (!coord) return cute_fail_memory(p->diag);
    CUTE_TRY(cute_apply(p->scratch, NULL, CUTE_OP_LAYOUT_EVAL, in, 2, NULL, &index, p->diag));
    *out = index.tree;
    return CUTE_OK;
}

/* The number that selects the colour: the sum of the leaves, so that coordinates are coloured along
 * diagonals. */
static int64_t number_of(const cute_tree *index)
{
    if (alg_is_leaf(index)) return index->value.value;
    int64_t sum = 0;
    for (uint32_t i = 0; i < index->count; i++)
        sum = (int64_t)((uint64_t)sum + (uint64_t)number_of(index->items[i]));
    return sum;
}

static int modulo(int64_t x, int64_t n)
{
    return (int)((x % n + n) % n);
}

/* The bank of the first bit of element `index`, which may be negative. */
static int bank_of(int64_t index, int64_t bits)
{
    __int128 at = (__int128)index * bits;
    __int128 word = at >= 0 ? at / BANK_BITS : -((-at + BANK_BITS - 1) / BANK_BITS);
    return (int)((word % BANKS + BANKS) % BANKS);
}

static int colour_of(const painter *p, int64_t index, int64_t thread)
{
    switch (p->out->palette) {
    case CUTE_COLOUR_INDEX: return modulo(index, SHADES);
    case CUTE_COLOUR_THREAD: return modulo(thread, SHADES);
    case CUTE_COLOUR_WARP: return modulo(thread / WARP, SHADES);
    case CUTE_COLOUR_BANK:
        return bank_of(index, p->options->element_bits ? p->options->element_bits : BANK_BITS);
    default: return -1;
    }
}

static cute_status paint_layout(painter *p)
{
    const cute_tree *shape = p->value->layout.shape;
    cute_picture *out = p->out;
    CUTE_TRY(measure_shape(p, shape));
    CUTE_TRY(refresh_scratch(p));
    CUTE_TRY(title_sheets(p, shape));
    cute_cell *cell = out->cells;
    for (size_t sheet = 0; sheet < out->sheets; sheet++)
        for (size_t row = 0; row < out->rows; row++)
            for (size_t column = 0; column < out->columns; column++, cell++) {
                const cute_tree *index;
                CUTE_TRY(refresh_scratch(p));
                CUTE_TRY(eval_layout(p, coordinate_at(p, shape, row, column, sheet), &index));
                cell->first = cute_tree_text(p->arena, index);
                if (!cell->first) return cute_fail_memory(p->diag);
                cell->colour = colour_of(p, number_of(index), number_of(index));
            }
    return CUTE_OK;
}

/* ---- threads and values ---- */

static cute_status fail_outside_tile(painter *p, int64_t thread, int64_t value, const cute_tree *index)
{
    const char *at = cute_tree_text(p->scratch, index), *tile = cute_tree_text(p->scratch, p->options->tile);
    return cute_fail(p->diag, CUTE_INVALID, NULL,
                     "T%" PRId64 " V%" PRId64 " is at %.100s, outside the tile %.100s", thread, value,
                     at ? at : "?", tile ? tile : "?");
}

/* The linear index in the tile; coordinates are linearized mode by mode. */
static cute_status place_in_tile(painter *p, int64_t thread, int64_t value, const cute_tree *index,
                                 int64_t *out)
{
    const cute_tree *tile = p->options->tile;
    if (alg_is_leaf(index)) {
        int64_t cells = (int64_t)(p->out->rows * p->out->columns * p->out->sheets);
        *out = index->value.value;
        return *out >= 0 && *out < cells ? CUTE_OK : fail_outside_tile(p, thread, value, index);
    }
    int64_t step = 1;
    *out = 0;
    for (uint32_t i = 0; i < index->count; i++) {
        cute_value in[2] = {cute_value_of_tree(CUTE_COORD, index->items[i]), {.type = CUTE_SHAPE}}, at;
        int64_t size = 0;
        bool inside = i < alg_rank(tile);
        if (inside) {
            in[1].tree = alg_mode(tile, i);
            CUTE_TRY(cute_apply(p->scratch, NULL, CUTE_OP_CRD2IDX, in, 2, NULL, &at, p->diag));
            CUTE_TRY(mode_size(tile, i, &size, p->diag));
            inside = at.tree->value.value >= 0 && at.tree->value.value < size;
            if (inside) *out += at.tree->value.value * step;
            step *= size;
        }
        if (!inside && !(i >= alg_rank(tile) && number_of(index->items[i]) == 0))
            return fail_outside_tile(p, thread, value, index);
    }
    return CUTE_OK;
}

/* True if all threads have the same values, as for operands in shared memory. */
static bool shared_by_threads(const cute_value *value)
{
    return value->type == CUTE_LAYOUT && value->layout.stride && value->layout.stride->count == 2 &&
           alg_only_zeros(value->layout.stride->items[0]);
}

static cute_status paint_threads(painter *p)
{
    const cute_tree *shape = p->value->layout.shape, *tile = p->options->tile;
    cute_picture *out = p->out;
    int64_t threads, values, all;
    bool shared = false;
    if (alg_is_leaf(shape) || shape->count != 2)
        return cute_fail(p->diag, CUTE_INVALID, NULL,
                         "a thread-value layout has two modes, but %.200s has %zu; group_modes makes two of "
                         "more",
                         out->title, alg_rank(shape));
    if (!alg_only_ints(tile) || !cute_tree_is_static(tile))
        return cute_fail(p->diag, CUTE_INVALID, NULL, "expected a tile with known extents");
    CUTE_TRY(measure_shape(p, tile));
    if (!out->rows || !out->columns || !out->sheets)
        return cute_fail(p->diag, CUTE_INVALID, NULL, "expected a tile with positive extents");
    CUTE_TRY(mode_size(shape, 0, &threads, p->diag));
    CUTE_TRY(mode_size(shape, 1, &values, p->diag));
    if (threads > 1 && shared_by_threads(p->value)) {
        if (!cute_mul64(threads - 1, values, &all)) return cute_fail_memory(p->diag);
        out->hidden = (size_t)all;
        threads = 1;
        shared = true;
    }
    if (!cute_mul64(threads, values, &all) || (uint64_t)all > p->options->most_cells)
        return cute_fail(p->diag, CUTE_INVALID, NULL,
                         "%" PRId64 " threads of %" PRId64
                         " values are too many; a picture shows at most %" PRIu64,
                         threads, values, p->options->most_cells);
    CUTE_TRY(refresh_scratch(p));
    CUTE_TRY(title_sheets(p, tile));
    for (int64_t t = 0; t < threads; t++)
        for (int64_t v = 0; v < values; v++) {
            const cute_tree *index;
            int64_t at;
            CUTE_TRY(refresh_scratch(p));
            CUTE_TRY(eval_layout(p, coordinate_at(p, shape, (size_t)t, (size_t)v, 0), &index));
            CUTE_TRY(place_in_tile(p, t, v, index, &at));
            int64_t row = at % (int64_t)out->rows, rest = at / (int64_t)out->rows;
            int64_t column = rest % (int64_t)out->columns, sheet = rest / (int64_t)out->columns;
            cute_cell *cell =
                &out->cells[(sheet * (int64_t)out->rows + row) * (int64_t)out->columns + column];
            if (cell->first) {
                out->hidden++;
                continue;
            }
            cell->first = shared ? "all" : cute_arena_printf(p->arena, "T%" PRId64, t);
            cell->second = cute_arena_printf(p->arena, "V%" PRId64, v);
            if (!cell->first || !cell->second) return cute_fail_memory(p->diag);
            cell->colour = shared ? -1 : colour_of(p, at, t);
        }
    return CUTE_OK;
}

/* ---- entry points ---- */

static cute_status check_drawable(const cute_value *value, cute_arena *arena, cute_diag *diag)
{
    const char *text = cute_value_text(arena, value);
    if (!text) return cute_fail_memory(diag);
    if (value->type != CUTE_LAYOUT && value->type != CUTE_COMPOSED_LAYOUT) {
        cute_fail(diag, CUTE_INVALID, NULL, "expected a layout to draw, got %.200s", text);
        if (value->type == CUTE_SWIZZLE)
            cute_note(diag, NULL, "compose it with a layout: %s o 0 o (8,64):(64,1)", text);
        return CUTE_INVALID;
    }
    if (!cute_value_is_static(value))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "a picture needs known numbers, but %.200s has unknown ones", text);
    return CUTE_OK;
}

cute_status cute_picture_create(cute_arena *arena, const cute_value *value,
                                const cute_picture_options *options, cute_picture *out, cute_diag *diag)
{
    *out = (cute_picture){0};
    CUTE_TRY(check_drawable(value, arena, diag));
    painter p = {.arena = arena, .value = value, .options = options, .out = out, .diag = diag};
    out->title = cute_value_text(arena, value);
    if (!out->title) return cute_fail_memory(diag);
    out->palette = options->colour;
    if (out->palette == CUTE_COLOUR_DEFAULT)
        out->palette = options->tile ? CUTE_COLOUR_THREAD : CUTE_COLOUR_INDEX;
    cute_status status = options->tile ? paint_threads(&p) : paint_layout(&p);
    cute_arena_destroy(p.scratch);
    return status;
}

void cute_picture_rgb(cute_picture_colour palette, int colour, int rgb[3])
{
    /* CuTe's shades, as in its documentation. */
    static const unsigned char greys[SHADES] = {255, 153, 204, 102, 230, 128, 179, 77};
    static const unsigned char threads[SHADES][3] = {{175, 175, 255}, {175, 255, 175}, {255, 255, 175},
                                                     {255, 175, 175}, {210, 210, 255}, {210, 255, 210},
                                                     {255, 255, 210}, {255, 210, 210}};
    if (colour < 0) {
        rgb[0] = rgb[1] = rgb[2] = 255;
    } else if (palette == CUTE_COLOUR_BANK) {
        /* One turn of the colour circle, with every other bank lighter. */
        int low = colour % 2 ? 215 : 160, range = 255 - low;
        int sixth = colour * 6 / BANKS, part = colour * 6 % BANKS * range / BANKS;
        static const unsigned char rising[6] = {1, 0, 2, 1, 0, 2}, full[6] = {0, 1, 1, 2, 2, 0};
        rgb[0] = rgb[1] = rgb[2] = low;
        rgb[full[sixth]] = 255;
        rgb[rising[sixth]] = sixth % 2 ? 255 - part : low + part;
    } else if (palette == CUTE_COLOUR_THREAD || palette == CUTE_COLOUR_WARP) {
        for (int i = 0; i < 3; i++) rgb[i] = threads[colour % SHADES][i];
    } else {
        rgb[0] = rgb[1] = rgb[2] = greys[colour % SHADES];
    }
}

size_t cute_picture_cell_width(const cute_picture *picture, bool one_line)
{
    size_t widest = 1, count = picture->rows * picture->columns * picture->sheets;
    for (size_t i = 0; i < count; i++) {
        const cute_cell *cell = &picture->cells[i];
        size_t first = cell->first ? strlen(cell->first) : 0,
               second = cell->second ? strlen(cell->second) : 0;
        size_t width = one_line ? first + second : first > second ? first : second;
        if (width > widest) widest = width;
    }
    return widest;
}
