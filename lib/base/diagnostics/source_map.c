/* Writes and reads the text of source maps. Only its first word has letters, so that FileCheck patterns of
 * tests never match in it. */
#include "lib/base/diagnostics/source_map.h"

#include <limits.h>
#include <string.h>

#include "lib/base/list.h"

static const char header[] = "//!source 1 ";
static const char more[] = "//!";
enum { WIDTH = 100 };

/* Multiply and mix, eight bytes at a time, in four independent lanes. */
uint64_t cute_source_hash(const char *text, size_t length)
{
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t lanes[4] = {length * factor, 1, 2, 3};
    for (; length >= 32; length -= 32, text += 32)
        for (int i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, text + 8 * i, 8);
            lanes[i] = (lanes[i] ^ word) * factor;
            lanes[i] ^= lanes[i] >> 29;
        }
    uint64_t rest[4] = {0};
    memcpy(rest, text, length);
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ lanes[i] ^ rest[i] * factor) * factor;
        hash ^= hash >> 29;
    }
    return hash ? hash : 1;
}

/* ---- writing ---- */

uint32_t cute_source_map_file(cute_source_map_writer *map, const char *name, size_t length, uint64_t hash)
{
    for (size_t i = 0; i < map->file_count; i++)
        if (strlen(map->files[i].name) == length && !memcmp(map->files[i].name, name, length))
            return (uint32_t)i;
    const char *copy = memchr(name, 0, length) ? NULL : cute_arena_copy(map->arena, name, length);
    if (!copy || !cute_arena_more(map->arena, &map->files, map->file_count, &map->file_capacity,
                                  sizeof *map->files, 4)) {
        map->failed = true;
        return 0;
    }
    map->files[map->file_count] = (cute_map_file){copy, hash};
    return (uint32_t)map->file_count++;
}

uint32_t cute_source_map_form(cute_source_map_writer *map, const char *text, size_t length, bool name)
{
    if (!length || memchr(text, 0, length)) return 0;
    for (size_t i = map->form_count; i-- > 0;) {
        const cute_map_form *form = &map->forms[i];
        if (form->name == name && strlen(form->text) == length && !memcmp(form->text, text, length))
            return (uint32_t)i + 1;
    }
    const char *copy = cute_arena_copy(map->arena, text, length);
    if (!copy || !cute_arena_more(map->arena, &map->forms, map->form_count, &map->form_capacity,
                                  sizeof *map->forms, 16)) {
        map->failed = true;
        return 0;
    }
    map->forms[map->form_count++] = (cute_map_form){copy, name};
    return (uint32_t)map->form_count;
}

/* Numbers make up most of a map, and printf is slow. */
static char *put_number(char *at, int64_t value)
{
    char digits[24];
    int count = 0;
    uint64_t rest = value < 0 ? (uint64_t)-value : (uint64_t)value;
    do digits[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *at++ = '-';
    while (count) *at++ = digits[--count];
    return at;
}

/* Bytes as numbers: "k.c" is 107.46.99. */
static void put_name(cute_buffer *out, const char *name, size_t length)
{
    char text[8];
    for (size_t i = 0; i < length; i++) {
        char *at = text;
        if (i) *at++ = '.';
        at = put_number(at, (unsigned char)name[i]);
        cute_buffer_append(out, text, (size_t)(at - text));
    }
}

bool cute_source_map_line(cute_source_map_writer *map, const cute_map_line *line)
{
    char text[96], *at = text;
    cute_map_line *last = &map->last;
    if (line->printed == last->printed) return false;
    map->failed |= line->printed < last->printed;
    *at++ = ' ';
    if (line->printed != last->printed + 1) {
        at = put_number(at, (int64_t)line->printed - last->printed);
        *at++ = '+';
    }
    if (!line->placed) {
        *at++ = '.';
        last->printed = line->printed;
        last->placed = false;
    } else {
        if (line->file != last->file) {
            at = put_number(at, line->file);
            *at++ = ';';
        }
        at = put_number(at, (int64_t)line->line - last->line);
        if (line->column != last->column) {
            *at++ = ':';
            at = put_number(at, line->column);
        }
        *last = *line;
    }
    if (line->form) {
        *at++ = '=';
        at = put_number(at, line->form - 1);
    }
    size_t length = (size_t)(at - text);
    if (map->column + length > WIDTH) {
        cute_buffer_puts(&map->lines, "\n//!");
        map->column = strlen(more);
    }
    cute_buffer_append(&map->lines, text, length);
    map->column += length;
    return true;
}

void cute_source_map_argument(cute_source_map_writer *map, const cute_map_argument *argument, size_t length)
{
    char text[64], *at = text;
    size_t before = map->lines.length;
    *at++ = ',';
    if (argument->placed && map->last.placed) {
        at = put_number(at, (int64_t)argument->line - map->last.line);
        *at++ = ':';
        at = put_number(at, argument->column);
    }
    if (argument->form) {
        *at++ = '&';
        at = put_number(at, argument->form - 1);
    }
    bool named = argument->name && length;
    if (named) *at++ = '=';
    cute_buffer_append(&map->lines, text, (size_t)(at - text));
    if (named) put_name(&map->lines, argument->name, length);
    map->column += map->lines.length - before;
}

void cute_source_map_finish(cute_source_map_writer *map, cute_buffer *text)
{
    bool whole = text->length && text->data[text->length - 1] == '\n' && cute_buffer_ok(text);
    if (whole && !map->failed && map->lines.length && cute_buffer_ok(&map->lines)) {
        cute_buffer_printf(text, "%s%llu", header,
                           (unsigned long long)cute_source_hash(text->data, text->length));
        for (size_t i = 0; i < map->file_count; i++) {
            cute_buffer_puts(text, " *");
            put_name(text, map->files[i].name, strlen(map->files[i].name));
            cute_buffer_printf(text, ";%llu", (unsigned long long)map->files[i].hash);
        }
        for (size_t i = 0; i < map->form_count; i++) {
            cute_buffer_puts(text, map->forms[i].name ? "\n//! =" : "\n//! &");
            put_name(text, map->forms[i].text, strlen(map->forms[i].text));
        }
        cute_buffer_puts(text, "\n//!");
        cute_buffer_append(text, map->lines.data, map->lines.length);
        cute_buffer_putc(text, '\n');
    }
    cute_buffer_release(&map->lines);
}

/* ---- reading ---- */

typedef struct reader {
    const char *at, *end;
    bool ok;
} reader;

static char peek_char(const reader *r)
{
    return r->at < r->end ? *r->at : 0;
}

static bool take_char(reader *r, char c)
{
    if (peek_char(r) != c) return false;
    r->at++;
    return true;
}

static uint64_t take_u64(reader *r)
{
    uint64_t value = 0;
    const char *start = r->at;
    for (; peek_char(r) >= '0' && peek_char(r) <= '9'; r->at++)
        r->ok &= !__builtin_mul_overflow(value, 10u, &value) &&
                 !__builtin_add_overflow(value, (uint64_t)(*r->at - '0'), &value);
    r->ok &= r->at > start;
    return value;
}

/* A line or column: at most INT_MAX. */
static uint32_t take_u31(reader *r)
{
    uint64_t value = take_u64(r);
    r->ok &= value <= INT_MAX;
    return (uint32_t)value;
}

static uint32_t take_relative(reader *r, uint32_t base)
{
    bool negative = take_char(r, '-');
    int64_t delta = take_u31(r), value = negative ? base - delta : base + delta;
    r->ok &= value >= 0 && value <= INT_MAX;
    return (uint32_t)value;
}

static bool grow_list(reader *r, cute_source_map *map, void *list, size_t count, size_t *capacity,
                      size_t size)
{
    r->ok = r->ok && cute_arena_more(map->arena, list, count, capacity, size, 64);
    return r->ok;
}

static const char *take_name(reader *r, cute_arena *arena)
{
    cute_buffer text = {0};
    do {
        uint64_t byte = take_u64(r);
        r->ok &= byte > 0 && byte < 256;
        cute_buffer_putc(&text, (char)byte);
    } while (r->ok && take_char(r, '.'));
    const char *name = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    r->ok &= name && cute_buffer_ok(&text);
    cute_buffer_release(&text);
    return name;
}

static uint32_t take_form(reader *r, const cute_source_map *map)
{
    uint32_t index = take_u31(r);
    r->ok &= index < map->form_count;
    return index + 1;
}

static void take_arguments(reader *r, cute_source_map *map, cute_map_line *line)
{
    line->first_argument = map->argument_count;
    while (r->ok && take_char(r, ',')) {
        cute_map_argument argument = {0};
        if (peek_char(r) == '-' || (peek_char(r) >= '0' && peek_char(r) <= '9')) {
            argument.placed = true;
            argument.line = take_relative(r, line->line);
            r->ok &= take_char(r, ':') && line->placed;
            argument.column = take_u31(r);
        }
        if (take_char(r, '&')) argument.form = take_form(r, map);
        if (take_char(r, '=')) argument.name = take_name(r, map->arena);
        if (grow_list(r, map, &map->arguments, map->argument_count, &map->argument_capacity, sizeof argument))
            map->arguments[map->argument_count++] = argument;
    }
    line->argument_count = map->argument_count - line->first_argument;
}

/* [skip +] ( . | [file ;] line [: column] ) [= form] */
static void take_line(reader *r, cute_source_map *map, cute_map_line *last)
{
    cute_map_line line = *last;
    uint32_t skip = 1, base = line.line;
    line.placed = true;
    const char *start = r->at;
    if (peek_char(r) >= '0' && peek_char(r) <= '9') {
        skip = take_u31(r);
        if (!take_char(r, '+')) {
            r->at = start;
            skip = 1;
        }
    }
    r->ok &= skip > 0 && line.printed <= INT_MAX - skip;
    line.printed += skip;
    if (take_char(r, '.')) {
        line.placed = false;
    } else {
        start = r->at;
        if (peek_char(r) >= '0' && peek_char(r) <= '9') {
            uint32_t file = take_u31(r);
            if (take_char(r, ';'))
                line.file = file;
            else
                r->at = start;
        }
        line.line = take_relative(r, base);
        if (take_char(r, ':')) line.column = take_u31(r);
        r->ok &= line.file < map->file_count;
    }
    *last = line;
    if (take_char(r, '=')) line.form = take_form(r, map);
    take_arguments(r, map, &line);
    if (grow_list(r, map, &map->lines, map->line_count, &map->line_capacity, sizeof line))
        map->lines[map->line_count++] = line;
}

static void take_map(reader *r, cute_source_map *map)
{
    cute_map_line last = {0};
    while (r->ok && r->at < r->end) {
        if (take_char(r, '\n')) {
            if (r->at == r->end) break;
            r->ok &= (size_t)(r->end - r->at) > strlen(more) && !memcmp(r->at, more, strlen(more));
            r->at += r->ok ? strlen(more) : 0;
        }
        if (!r->ok || !take_char(r, ' ')) {
            r->ok = false;
        } else if (take_char(r, '*')) {
            cute_map_file file = {.name = take_name(r, map->arena)};
            r->ok &= take_char(r, ';');
            file.hash = take_u64(r);
            if (grow_list(r, map, &map->files, map->file_count, &map->file_capacity, sizeof file))
                map->files[map->file_count++] = file;
        } else if (peek_char(r) == '=' || peek_char(r) == '&') {
            cute_map_form form = {.name = *r->at++ == '='};
            form.text = take_name(r, map->arena);
            if (grow_list(r, map, &map->forms, map->form_count, &map->form_capacity, sizeof form))
                map->forms[map->form_count++] = form;
        } else {
            take_line(r, map, &last);
        }
    }
}

/* The header line of the comment lines at the end of the text; NULL: none. */
static const char *find_header(const char *text, const char *end)
{
    while (end > text) {
        const char *newline = end - 1 > text ? memrchr(text, '\n', (size_t)(end - 1 - text)) : NULL;
        const char *line = newline ? newline + 1 : text;
        size_t length = (size_t)(end - line);
        if (length > strlen(header) && !memcmp(line, header, strlen(header))) return line;
        if (length < strlen(more) || memcmp(line, more, strlen(more))) return NULL;
        end = line;
    }
    return NULL;
}

bool cute_source_map_read(const char *text, size_t length, cute_arena *arena, cute_source_map *out,
                          size_t *own)
{
    *own = length;
    *out = (cute_source_map){.arena = arena};
    const char *end = text + length;
    while (end > text + 1 && end[-1] == '\n' && end[-2] == '\n') end--; /* blank lines after it are allowed */
    const char *start = find_header(text, end);
    if (!start) return false;
    reader r = {start + strlen(header), end, true};
    uint64_t hash = take_u64(&r);
    size_t before = (size_t)(start - text);
    if (!r.ok || hash != cute_source_hash(text, before)) return false;
    take_map(&r, out);
    if (!r.ok || !out->line_count) {
        *out = (cute_source_map){.arena = arena};
        return false;
    }
    *own = before;
    return true;
}

const cute_map_line *cute_source_map_find(const cute_source_map *map, uint32_t printed)
{
    size_t low = 0,
           high = map->line_count; /* the index of the first line after `printed` is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->lines[middle].printed <= printed)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &map->lines[low - 1] : NULL;
}
