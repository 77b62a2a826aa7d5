/* See origin.h. Positions are mapped back through splices, -D edits, includes and the source map, in this
 * order. */
#include "lib/ir/diagnostics/origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/system/file.h"
#include "lib/ir/text/modules.h"

/* ---- lines ---- */

/* False when memory is exhausted. */
static bool index_lines(cute_lines *lines, cute_arena *arena)
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

/* Lines count from 1; false if there is no such line. */
static bool find_line_bounds(cute_origin *origin, cute_lines *lines, size_t line, size_t *start, size_t *end)
{
    if (!lines->text || !index_lines(lines, origin->arena) || line < 1 || line > lines->count) return false;
    *start = lines->starts[line - 1];
    *end = line < lines->count ? lines->starts[line] - 1 : lines->length;
    return true;
}

static void position_of_offset(cute_origin *origin, cute_lines *lines, size_t offset, unsigned *line,
                               unsigned *column)
{
    if (!index_lines(lines, origin->arena)) return;
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

static cute_status read_includes(cute_origin *origin, const char *label, const char *bytes,
                                 const cute_origin_options *options, cute_diag *diag)
{
    cute_sources *s = &origin->sources;
    *s = (cute_sources){
        .arena = origin->arena, .folders = options->folders, .folder_count = options->folder_count};
    CUTE_TRY(cute_include(s, label, bytes, origin->raw.length, &origin->joined, diag));
    origin->included = cute_arena_array(origin->arena, s->file_count, sizeof *origin->included);
    if (!origin->included) return cute_fail_memory(diag);
    for (size_t i = 0; i < s->file_count; i++)
        origin->included[i] = (cute_lines){.text = s->files[i].text, .length = s->files[i].length};
    return CUTE_OK;
}

/* Recognizes other file formats by their first bytes: MLIR's parser would only report a character. */
static cute_status reject_other_formats(const char *label, const char *bytes, size_t length, cute_diag *diag)
{
    static const struct {
        const char *begin;
        size_t length;
        const char *what, *advice;
    } others[] = {
        {"\177ELF", 4, "an ELF file, such as a cubin", "use cute-dump to inspect it"},
        {"\x50\xed\x55\xba", 4, "a fatbin", "use cute-dump to inspect it"},
        {"!<arch>\n", 8, "an archive", "use cute-link for libraries of device objects"},
        {"BC\xc0\xde", 4, "LLVM bitcode", "convert it to MLIR with mlir-translate --import-llvm"},
        {".version", 8, "PTX", "link it to a cubin with cute-link"},
    };
    const char *at = bytes, *stop = bytes + length;
    if (!length) return CUTE_OK;
    while (at < stop) { /* blank lines and comments before .version */
        const char *line = at;
        while (line < stop && strchr(" \t\r", *line) && *line) line++;
        bool skips = line < stop && (*line == '\n' || (stop - line > 1 && line[0] == '/' && line[1] == '/'));
        const char *end = skips ? memchr(line, '\n', (size_t)(stop - line)) : NULL;
        if (!skips) break;
        at = end ? end + 1 : stop;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *from = *others[i].begin == '.' ? at : bytes;
        if ((size_t)(stop - from) < others[i].length || memcmp(from, others[i].begin, others[i].length))
            continue;
        cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label}, "expected MLIR, got %s", others[i].what);
        cute_note(diag, NULL, "%s", others[i].advice);
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

cute_status cute_origin_open(cute_origin *origin, const char *label, const char *bytes, size_t length,
                             const cute_origin_options *options, cute_diag *diag)
{
    *origin = (cute_origin){.arena = cute_arena_create(), .buffer = label, .name = label};
    if (!origin->arena) return cute_fail_memory(diag);
    origin->raw = origin->parsed = (cute_lines){.text = bytes, .length = length};
    origin->bytecode = length >= 4 && !memcmp(bytes, "ML\xEFR", 4);
    if (origin->bytecode) return CUTE_OK;
    CUTE_TRY(reject_other_formats(label, bytes, length, diag));
    if (!options->no_map) {
        origin->mapped =
            cute_source_map_read(bytes, length, origin->arena, &origin->map, &origin->raw.length);
        if (origin->mapped) {
            origin->files = cute_arena_array(origin->arena, origin->map.file_count, sizeof *origin->files);
            if (!origin->files && origin->map.file_count) return cute_fail_memory(diag);
            if (origin->map.file_count) origin->name = origin->map.files[0].name;
        }
    }
    CUTE_TRY(read_includes(origin, label, bytes, options, diag));
    bool joined = origin->sources.part_count;
    if (joined) bytes = cute_buffer_text(&origin->joined);
    origin->edits = (cute_edits){.arena = origin->arena};
    CUTE_TRY(cute_defines_apply(&origin->sources, bytes, joined ? origin->joined.length : origin->raw.length,
                                options->defines, options->define_count, &origin->text, &origin->edits,
                                diag));
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
    origin->moves = origin->mapped || joined || origin->edits.count || origin->splices.count;
    return CUTE_OK;
}

void cute_origin_release(cute_origin *origin)
{
    cute_buffer_release(&origin->text);
    cute_buffer_release(&origin->joined);
    cute_arena_destroy(origin->arena);
    *origin = (cute_origin){0};
}

/* ---- places ---- */

/* Maps an offset back through edits; an offset within a replacement maps to its `${`. */
static size_t offset_before_edits(const cute_edits *edits, size_t offset)
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

/* The inverse for splices. */
static size_t offset_after_splices(const cute_edits *edits, size_t offset)
{
    size_t moved = offset;
    for (size_t i = 0; i < edits->count && edits->items[i].from <= offset; i++)
        moved = offset - edits->items[i].from - edits->items[i].from_length + edits->items[i].to +
                edits->items[i].to_length;
    return moved;
}

/* The file and line of a byte of the text before -D. */
static cute_origin_point source_point_of(cute_origin *origin, size_t offset)
{
    size_t from;
    const cute_source_file *file = cute_sources_find(&origin->sources, offset, &from);
    cute_origin_point point = {.file = file->name};
    position_of_offset(origin, &origin->included[file - origin->sources.files], from, &point.line,
                       &point.column);
    return point;
}

cute_origin_point cute_origin_find(cute_origin *origin, unsigned line, unsigned column)
{
    size_t start, end;
    cute_origin_point point = {.file = origin->buffer, .line = line, .column = column};
    if ((origin->edits.count || origin->splices.count || origin->sources.part_count) &&
        find_line_bounds(origin, &origin->parsed, line, &start, &end)) {
        size_t offset = start + (column ? column - 1 : 0);
        offset = offset_before_edits(&origin->splices, offset < end ? offset : end);
        point = source_point_of(origin, offset_before_edits(&origin->edits, offset));
        line = point.line;
    }
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

/* ---- source lines and notes ---- */

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
    for (size_t i = 0; i < origin->sources.file_count; i++)
        if (!strcmp(origin->sources.files[i].name, name)) return &origin->included[i];
    return strcmp(origin->buffer, name) ? NULL : &origin->raw;
}

uint64_t cute_origin_hash(const cute_origin *origin, const char *file, size_t length)
{
    for (size_t i = 0; i < origin->map.file_count; i++) {
        const cute_map_file *known = &origin->map.files[i];
        if (strlen(known->name) == length && !memcmp(known->name, file, length)) return known->hash;
    }
    for (size_t i = 0; i < origin->sources.file_count && !origin->mapped; i++) {
        const cute_source_file *known = &origin->sources.files[i];
        if (strlen(known->name) == length && !memcmp(known->name, file, length) &&
            strcmp(known->name, "<stdin>"))
            return cute_source_hash(known->text, known->length);
    }
    return 0;
}

void cute_origin_line(cute_origin *origin, cute_place *place)
{
    if (!place->file || place->line < 1 || origin->bytecode) return;
    cute_lines *lines = file_lines(origin, place->file);
    size_t start, end;
    if (!lines || !find_line_bounds(origin, lines, (size_t)place->line, &start, &end)) return;
    place->text = lines->text + start;
    place->text_length = end - start;
}

/* Uses the last line from one place: constants for the literals of an operation are printed before it. */
static void note_printed(cute_origin *origin, const cute_place *place, cute_diag *diag)
{
    for (size_t i = origin->map.line_count; i-- > 0;) {
        const cute_map_line *line = &origin->map.lines[i];
        size_t start, end;
        if (!line->placed || line->line != (unsigned)place->line || line->column != (unsigned)place->column ||
            strcmp(origin->map.files[line->file].name, place->file) ||
            !find_line_bounds(origin, &origin->raw, line->printed, &start, &end))
            continue;
        cute_place printed = {.file = origin->buffer, .line = (int)line->printed};
        printed.text = origin->raw.text + start;
        printed.text_length = end - start;
        bool known = origin->map.files[line->file].hash;
        cute_note(diag, &printed, "printed by cute-opt as%s%s%s", known ? "; '" : "",
                  known ? place->file : "", known ? "' has changed since, or cannot be read" : "");
        return;
    }
}

static void note_defines(cute_origin *origin, const cute_place *place, cute_diag *diag)
{
    size_t start, end;
    for (size_t i = 0; i < origin->edits.count; i++) {
        const cute_edit *edit = &origin->edits.items[i];
        cute_origin_point from = source_point_of(origin, edit->from);
        if (from.line != (unsigned)place->line || strcmp(from.file, place->file)) continue;
        cute_place after = *place;
        unsigned line = 0, column = 0;
        position_of_offset(origin, &origin->parsed, offset_after_splices(&origin->splices, edit->to), &line,
                           &column);
        if (!find_line_bounds(origin, &origin->parsed, line, &start, &end)) return;
        after.text = origin->parsed.text + start;
        after.text_length = end - start;
        after.column = 0;
        cute_note(diag, &after, "after -D substitution the line is");
        return;
    }
}

/* Notes the chain of including lines. */
static void note_includes(cute_origin *origin, const cute_place *place, cute_diag *diag)
{
    const cute_sources *s = &origin->sources;
    size_t i = 0;
    while (i < s->file_count && strcmp(s->files[i].name, place->file) != 0) i++;
    for (; i && i < s->file_count; i = s->files[i].by) {
        const cute_source_file *by = &s->files[s->files[i].by];
        cute_place line = cute_place_at(by->name, by->text, by->length, s->files[i].at);
        line.column = 0;
        cute_note(diag, &line, "included here");
    }
}

void cute_origin_notes(cute_origin *origin, const cute_place *place, cute_diag *diag)
{
    if (!place->file || place->line < 1 || origin->bytecode) return;
    if (origin->mapped && !place->text)
        note_printed(origin, place, diag);
    else if (!origin->mapped && place->text && file_lines(origin, place->file)) {
        note_defines(origin, place, diag);
        note_includes(origin, place, diag);
    }
}

/* ---- names ---- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '-';
}

const char *cute_origin_value_name(cute_origin *origin, unsigned line, unsigned column, size_t *length)
{
    size_t start, end;
    if (origin->bytecode || !column || !find_line_bounds(origin, &origin->parsed, line, &start, &end))
        return NULL;
    if (start + column - 1 >= end || origin->parsed.text[start + column - 1] != '%') return NULL;
    const char *name = origin->parsed.text + start + column;
    size_t most = end - start - column, n = 0;
    while (n < most && is_name_byte(name[n])) n++;
    size_t prefix = n > 3 && !memcmp(name, "arg", 3) ? 3 : 0, digits = prefix;
    while (digits < n && isdigit((unsigned char)name[digits])) digits++;
    *length = n;
    return n && digits < n ? name : NULL;
}
