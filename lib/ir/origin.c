/* Owns the way back from parsed places to written ones: edits of -D first, then the map of the program before. */
#include "lib/ir/origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/ir/modules.h"

/* ---- lines ---- */

/* False when memory is exhausted. */
static bool find_lines(cute_lines *lines, cute_arena *arena)
{
    if (lines->starts) return true;
    size_t count = 1;
    const char *end = lines->text + lines->length;
    for (const char *at = lines->text; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) count++;
    lines->starts = cute_arena_array(arena, count, sizeof *lines->starts);
    if (!lines->starts) return false;
    for (const char *at = lines->text; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines->starts[++lines->count] = (size_t)(at - lines->text) + 1;
    lines->count++;
    return true;
}

/* From 1; false: there is no such line. */
static bool line_at(cute_origin *origin, cute_lines *lines, size_t line, size_t *start, size_t *end)
{
    if (!lines->text || !find_lines(lines, origin->arena) || line < 1 || line > lines->count) return false;
    *start = lines->starts[line - 1];
    *end = line < lines->count ? lines->starts[line] - 1 : lines->length;
    return true;
}

static void place_of(cute_origin *origin, cute_lines *lines, size_t offset, unsigned *line, unsigned *column)
{
    if (!find_lines(lines, origin->arena)) return;
    size_t low = 1, high = lines->count; /* the last line that begins at or before `offset` */
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (lines->starts[middle - 1] <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    *line = (unsigned)low;
    *column = (unsigned)(offset - lines->starts[low - 1]) + 1;
}

/* ---- reading ---- */

cute_status cute_origin_open(cute_origin *origin, const char *label, const char *bytes, size_t length,
                             const cute_origin_options *options, cute_diag *diag)
{
    *origin = (cute_origin){.arena = cute_arena_create(), .buffer = label, .name = label};
    if (!origin->arena) return cute_fail_memory(diag);
    origin->raw = origin->parsed = (cute_lines){.text = bytes, .length = length};
    origin->bytecode = length >= 4 && !memcmp(bytes, "ML\xEFR", 4);
    if (origin->bytecode) return CUTE_OK;
    if (!options->no_map) {
        origin->mapped =
            cute_source_map_read(bytes, length, origin->arena, &origin->map, &origin->raw.length);
        if (origin->mapped) {
            origin->files = cute_arena_array(origin->arena, origin->map.file_count, sizeof *origin->files);
            if (!origin->files && origin->map.file_count) return cute_fail_memory(diag);
            if (origin->map.file_count) origin->name = origin->map.files[0].name;
        }
    }
    origin->edits = (cute_edits){.arena = origin->arena};
    CUTE_TRY(cute_defines_apply(label, bytes, origin->raw.length, options->defines, options->define_count,
                                &origin->text, &origin->edits, diag));
    origin->splices = (cute_edits){.arena = origin->arena};
    cute_buffer spliced = {0};
    cute_status status = cute_modules_splice(cute_buffer_text(&origin->text), origin->text.length, &spliced,
                                             &origin->splices, diag);
    if (!status && spliced.length) {
        cute_buffer replaced = origin->text;
        origin->text = spliced;
        spliced = replaced;
    }
    cute_buffer_release(&spliced);
    CUTE_TRY(status);
    origin->parsed = (cute_lines){.text = cute_buffer_text(&origin->text), .length = origin->text.length};
    origin->moves = origin->mapped || origin->edits.count || origin->splices.count;
    return CUTE_OK;
}

void cute_origin_release(cute_origin *origin)
{
    cute_buffer_release(&origin->text);
    cute_arena_destroy(origin->arena);
    *origin = (cute_origin){0};
}

/* ---- places ---- */

/* What a byte of the parsed text was in the raw one; inside of what -D put there, its `${`. */
static size_t before_edits(const cute_edits *edits, size_t offset)
{
    size_t low = 0, high = edits->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (edits->items[middle].to <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return offset;
    const cute_edit *edit = &edits->items[low - 1];
    if (offset < edit->to + edit->to_length) return edit->from;
    return offset - (edit->to + edit->to_length) + edit->from + edit->from_length;
}

/* The way back from there. */
static size_t after_splices(const cute_edits *edits, size_t offset)
{
    size_t moved = offset;
    for (size_t i = 0; i < edits->count && edits->items[i].from <= offset; i++)
        moved = offset - edits->items[i].from - edits->items[i].from_length + edits->items[i].to +
                edits->items[i].to_length;
    return moved;
}

cute_origin_point cute_origin_find(cute_origin *origin, unsigned line, unsigned column)
{
    size_t start, end;
    if ((origin->edits.count || origin->splices.count) &&
        line_at(origin, &origin->parsed, line, &start, &end)) {
        size_t offset = start + (column ? column - 1 : 0);
        offset = before_edits(&origin->splices, offset < end ? offset : end);
        place_of(origin, &origin->raw, before_edits(&origin->edits, offset), &line, &column);
    }
    cute_origin_point point = {.file = origin->buffer, .line = line, .column = column};
    if (!origin->mapped) return point;
    const cute_map_line *found = cute_source_map_find(&origin->map, line);
    if (!found) return point;
    point.mapped = found;
    point.exact = found->printed == line;
    point.file = found->placed ? origin->map.files[found->file].name : NULL;
    point.line = found->line;
    point.column = found->column;
    return point;
}

/* ---- what a reader is shown ---- */

static cute_lines *file_lines(cute_origin *origin, const char *name)
{
    for (size_t i = 0; i < origin->map.file_count; i++) {
        const cute_map_file *file = &origin->map.files[i];
        if (strcmp(file->name, name)) continue;
        if (origin->files[i].read) return &origin->files[i].lines;
        origin->files[i].read = true;
        struct stat info;
        cute_buffer bytes = {0};
        /* A FIFO or a terminal would wait. */
        if (file->hash && stat(name, &info) == 0 && S_ISREG(info.st_mode) &&
            cute_file_read(name, &bytes, NULL) == CUTE_OK &&
            cute_source_hash(cute_buffer_text(&bytes), bytes.length) == file->hash) {
            const char *copy = cute_arena_copy(origin->arena, cute_buffer_text(&bytes), bytes.length);
            origin->files[i].lines = (cute_lines){.text = copy, .length = copy ? bytes.length : 0};
        }
        cute_buffer_release(&bytes);
        return &origin->files[i].lines;
    }
    return strcmp(origin->buffer, name) ? NULL : &origin->raw;
}

void cute_origin_line(cute_origin *origin, cute_place *place)
{
    if (!place->file || place->line < 1 || origin->bytecode) return;
    cute_lines *lines = file_lines(origin, place->file);
    size_t start, end;
    if (!lines || !line_at(origin, lines, (size_t)place->line, &start, &end)) return;
    place->text = lines->text + start;
    place->text_length = end - start;
}

/* Of several lines from one place the last: in front of an operation stand the constants of its literals. */
static void note_printed(cute_origin *origin, const cute_place *place, cute_diag *diag)
{
    for (size_t i = origin->map.line_count; i-- > 0;) {
        const cute_map_line *line = &origin->map.lines[i];
        size_t start, end;
        if (!line->placed || line->line != (unsigned)place->line || line->column != (unsigned)place->column ||
            strcmp(origin->map.files[line->file].name, place->file) ||
            !line_at(origin, &origin->raw, line->printed, &start, &end))
            continue;
        cute_place printed = {.file = origin->buffer, .line = (int)line->printed};
        printed.text = origin->raw.text + start;
        printed.text_length = end - start;
        bool known = origin->map.files[line->file].hash;
        cute_note(diag, &printed, "printed by cute-opt as%s%s%s", known ? "; '" : "",
                  known ? place->file : "", known ? "' was changed since or cannot be read" : "");
        return;
    }
}

static void note_defines(cute_origin *origin, const cute_place *place, cute_diag *diag)
{
    size_t start, end;
    if (!line_at(origin, &origin->raw, (size_t)place->line, &start, &end)) return;
    for (size_t i = 0; i < origin->edits.count; i++) {
        const cute_edit *edit = &origin->edits.items[i];
        if (edit->from < start || edit->from > end) continue;
        cute_place after = *place;
        unsigned line = 0, column = 0;
        place_of(origin, &origin->parsed, after_splices(&origin->splices, edit->to), &line, &column);
        if (!line_at(origin, &origin->parsed, line, &start, &end)) return;
        after.text = origin->parsed.text + start;
        after.text_length = end - start;
        after.column = 0;
        cute_note(diag, &after, "with -D the line is");
        return;
    }
}

void cute_origin_notes(cute_origin *origin, const cute_place *place, cute_diag *diag)
{
    if (!place->file || place->line < 1 || origin->bytecode) return;
    if (origin->mapped && !place->text)
        note_printed(origin, place, diag);
    else if (!origin->mapped && place->text && !strcmp(place->file, origin->buffer))
        note_defines(origin, place, diag);
}

/* ---- names ---- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '-';
}

const char *cute_origin_value_name(cute_origin *origin, unsigned line, unsigned column, size_t *length)
{
    size_t start, end;
    if (origin->bytecode || !column || !line_at(origin, &origin->parsed, line, &start, &end)) return NULL;
    if (start + column - 1 >= end || origin->parsed.text[start + column - 1] != '%') return NULL;
    const char *name = origin->parsed.text + start + column;
    size_t most = end - start - column, n = 0;
    while (n < most && is_name_byte(name[n])) n++;
    size_t prefix = n > 3 && !memcmp(name, "arg", 3) ? 3 : 0, digits = prefix;
    while (digits < n && isdigit((unsigned char)name[digits])) digits++;
    *length = n;
    return n && digits < n ? name : NULL;
}
