/* Values of the layout algebra and tiles as Markdown, with the results and pictures of `cute-dump layout`. */
#include "lib/lsp/hover.h"

#include <jansson.h>
#include <string.h>

#include "lib/calculator/atoms.h"
#include "lib/calculator/calculator.h"

/* Limits for a hover window. */
enum { MAX_CELLS = 65536, MAX_LINES = 20, MAX_COLUMNS = 110, MAX_THREADS = 4, MAX_VALUES = 8 };

/* Appends the first lines, truncated to the limits. */
static void put_cut(const char *text, cute_buffer *out)
{
    size_t lines = 0;
    for (; *text && lines < MAX_LINES; lines++) {
        size_t length = strcspn(text, "\n"), most = length < MAX_COLUMNS ? length : MAX_COLUMNS;
        cute_buffer_append(out, text, most);
        cute_buffer_puts(out, most < length ? " ...\n" : "\n");
        text += length + (text[length] == '\n');
    }
    if (*text) cute_buffer_puts(out, "...\n");
}

static void put_picture(const cute_picture *picture, bool title, cute_buffer *out)
{
    cute_buffer text = {0};
    if (title) cute_buffer_printf(&text, "%s\n", picture->title);
    cute_picture_table(picture, &text);
    cute_buffer_puts(out, "\n```text\n");
    put_cut(cute_buffer_text(&text), out);
    cute_buffer_puts(out, "```\n");
    cute_buffer_release(&text);
}

/* Appends size, cosize and so on, if known. */
static void put_facts(cute_arena *arena, const cute_value *layout, cute_buffer *out)
{
    cute_answer answer = {.kind = CUTE_ANSWER_VALUE, .value = *layout, .input = ""};
    cute_buffer text = {0};
    cute_answer_json(arena, &answer, &text);
    json_t *facts = json_loads(cute_buffer_text(&text), 0, NULL);
    static const char *const names[] = {"size", "cosize", "injective", "contiguous"};
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *fact = json_object_get(facts, names[i]);
        const char *between = any ? ", " : "\n";
        if (json_is_integer(fact))
            cute_buffer_printf(out, "%s%s %lld", between, names[i], (long long)json_integer_value(fact));
        else if (json_is_boolean(fact))
            cute_buffer_printf(out, "%s%s%s", between, json_is_true(fact) ? "" : "not ", names[i]);
        else
            continue;
        any = true;
    }
    if (any) cute_buffer_putc(out, '\n');
    json_decref(facts);
    cute_buffer_release(&text);
}

/* A single column is shown as a row, which is smaller. */
static void transpose_column(cute_picture *picture)
{
    if (picture->columns != 1 || picture->sheets != 1) return;
    const char **names = picture->row_names;
    picture->columns = picture->rows;
    picture->rows = 1;
    picture->row_names = picture->column_names;
    picture->column_names = names;
}

static void describe_layout(cute_arena *arena, const cute_value *value, cute_buffer *out)
{
    cute_picture_options options = {.most_cells = MAX_CELLS, .most_side = MAX_CELLS};
    cute_value layout = *value;
    cute_picture picture;
    if (value->type == CUTE_MEMREF || value->type == CUTE_COORD_TENSOR)
        if (cute_apply(arena, NULL, CUTE_OP_GET_LAYOUT, value, 1, NULL, &layout, NULL) != CUTE_OK) return;
    if (layout.type != CUTE_LAYOUT && layout.type != CUTE_COMPOSED_LAYOUT) return;
    put_facts(arena, &layout, out);
    if (cute_picture_create(arena, &layout, &options, &picture, NULL) != CUTE_OK) {
        cute_buffer_puts(out, "\nno table: the layout is dynamic or too large\n");
        return;
    }
    transpose_column(&picture);
    put_picture(&picture, false, out);
}

static void describe_tiling(cute_arena *arena, const cute_value *value, cute_buffer *out)
{
    cute_picture_options options = {.most_cells = MAX_CELLS, .most_side = MAX_CELLS};
    cute_picture pictures[3];
    size_t count = 0;
    if (value->type == CUTE_ATOM && value->atom && value->atom->known) {
        cute_buffer text = {0};
        cute_atom_describe(arena, value->atom, &text);
        cute_buffer_puts(out, "\n```text\n");
        put_cut(cute_buffer_text(&text), out);
        cute_buffer_puts(out, "```\n");
        cute_buffer_release(&text);
    }
    if (cute_atom_all_pictures(arena, value, &options, pictures, &count, NULL) != CUTE_OK) return;
    for (size_t i = 0; i < count; i++) put_picture(&pictures[i], true, out);
}

void lsp_describe(cute_arena *arena, const cute_value *value, cute_buffer *out)
{
    if (value->type == CUTE_ATOM || value->type == CUTE_TILED_COPY || value->type == CUTE_TILED_MMA)
        describe_tiling(arena, value, out);
    else
        describe_layout(arena, value, out);
}

/* ---- tiles ---- */

/* "(0,4)" */
static const char *coordinate_text(cute_arena *arena, const tile_distribution *d, int64_t thread,
                                   int64_t value)
{
    int64_t coord[CUTE_TILE_RANK] = {0};
    cute_buffer text = {0};
    tile_modes_coord(&d->threads, thread, coord);
    tile_modes_coord(&d->values, value, coord);
    for (int i = 0; i < d->shape.rank; i++)
        cute_buffer_printf(&text, "%s%lld", i ? "," : "(", (long long)coord[i]);
    cute_buffer_puts(&text, d->shape.rank ? ")" : "()");
    const char *copy = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return copy ? copy : "";
}

/* A line for each of the first threads: the coordinates of its first values, in columns. */
static void put_coordinates(cute_arena *arena, const tile_distribution *d, cute_buffer *out)
{
    int64_t all_threads = tile_threads(d), all_values = tile_values(d);
    int threads = all_threads < MAX_THREADS ? (int)all_threads : MAX_THREADS,
        values = all_values < MAX_VALUES ? (int)all_values : MAX_VALUES;
    const char *cells[MAX_THREADS][MAX_VALUES];
    size_t width[MAX_VALUES] = {0};
    for (int t = 0; t < threads; t++)
        for (int v = 0; v < values; v++) {
            cells[t][v] = coordinate_text(arena, d, t, v);
            if (strlen(cells[t][v]) > width[v]) width[v] = strlen(cells[t][v]);
        }
    for (int t = 0; t < threads; t++) {
        cute_buffer_printf(out, "thread %d:", t);
        for (int v = 0; v < values; v++)
            cute_buffer_printf(out, " %-*s", v + 1 < values || values < all_values ? (int)width[v] : 0,
                               cells[t][v]);
        cute_buffer_puts(out, values < all_values ? " ...\n" : "\n");
    }
    if (threads < all_threads) cute_buffer_puts(out, "...\n");
}

void lsp_describe_tile(cute_arena *arena, const lsp_tile *tile, cute_buffer *out)
{
    const tile_distribution *d = &tile->distribution;
    long long threads = tile_threads(d), values = tile_values(d), copies = 1;
    long long registers = (values * tile->bits + 31) / 32;
    const char *layout = tile_distribution_text(arena, d);
    cute_buffer table = {0};
    for (int i = 0; i < d->threads.count; i++)
        if (d->threads.at[i].dim == TILE_COPIES) copies *= d->threads.at[i].extent;
    cute_buffer_printf(out, "\n```text\n%lld thread%s, %lld value%s each: %s\n", threads,
                       threads == 1 ? "" : "s", values, values == 1 ? "" : "s", layout ? layout : "");
    cute_buffer_printf(out, "%lld register%s per thread", registers, registers == 1 ? "" : "s");
    if (copies > 1) cute_buffer_printf(out, "; each element is held by %lld threads", copies);
    cute_buffer_putc(out, '\n');
    put_coordinates(arena, d, &table);
    put_cut(cute_buffer_text(&table), out);
    cute_buffer_puts(out, "```\n");
    cute_buffer_release(&table);
}
