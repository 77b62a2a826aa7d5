/* Scans PTX line by line for .loc, .file and declarations, without parsing instructions. */
#include "lib/toolkit/ptxplace.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/base/text/chars.h"

typedef struct span {
    const char *at;
    size_t length;
} span;

static span first_line(const cute_ptx_text *ptx)
{
    if (ptx->length == 0) return (span){NULL, 0};
    const char *end = memchr(ptx->text, '\n', ptx->length);
    return (span){ptx->text, end ? (size_t)(end - ptx->text) : ptx->length};
}

/* {NULL} after the last line. */
static span next_line(const cute_ptx_text *ptx, span line)
{
    const char *stop = ptx->text + ptx->length, *at = line.at + line.length + 1;
    if (at >= stop) return (span){NULL, 0};
    const char *end = memchr(at, '\n', (size_t)(stop - at));
    return (span){at, (size_t)((end ? end : stop) - at)};
}

static span nth_line(const cute_ptx_text *ptx, int64_t number)
{
    span line = first_line(ptx);
    for (int64_t i = 1; line.at && i < number; i++) line = next_line(ptx, line);
    return number < 1 ? (span){NULL, 0} : line;
}

/* Finds `word` as a whole token of the line. */
static const char *find_word(span line, const char *word, size_t length)
{
    for (const char *at = line.at, *stop = line.at + line.length; length && (size_t)(stop - at) >= length;
         at++) {
        at = memmem(at, (size_t)(stop - at), word, length);
        if (!at) return NULL;
        bool starts = at == line.at || !cute_is_word(at[-1], "$%") || !cute_is_word(*word, "$%");
        bool ends =
            at + length == stop || !cute_is_word(at[length], "$%") || !cute_is_word(word[length - 1], "$%");
        if (starts && ends) return at;
    }
    return NULL;
}

static span skip_blank(span line)
{
    while (line.length && isspace((unsigned char)*line.at)) line.at++, line.length--;
    return line;
}

cute_place cute_ptx_line(const cute_ptx_text *ptx, int64_t number, const char *message, size_t message_length)
{
    span line = nth_line(ptx, number);
    cute_place place = {
        .file = ptx->label, .line = number > INT_MAX ? INT_MAX : (int)number, .column = 1, .length = 1};
    if (!line.at || line.length > INT_MAX) return place;
    place.text = line.at;
    place.text_length = line.length;
    for (const char *at = message, *stop = message + message_length; at && at < stop;) {
        const char *open = memchr(at, '\'', (size_t)(stop - at));
        const char *close = open ? memchr(open + 1, '\'', (size_t)(stop - open - 1)) : NULL;
        if (!close) break;
        size_t length = (size_t)(close - open - 1);
        const char *found = find_word(line, open + 1, length);
        if (found) {
            place.column = (int)(found - line.at) + 1;
            place.length = (int)length;
            return place;
        }
        at = close + 1;
    }
    span token = skip_blank(line);
    place.column = (int)(token.at - line.at) + 1;
    return place;
}

static bool starts_with(span line, const char *prefix)
{
    size_t length = strlen(prefix);
    return line.length >= length && memcmp(line.at, prefix, length) == 0;
}

/* Whether the line declares a function or kernel; directives may precede .entry. */
static bool declares_function(span line)
{
    span body = skip_blank(line);
    if (!body.length || *body.at != '.') return false;
    return find_word(body, ".entry", 6) || find_word(body, ".func", 5);
}

int64_t cute_ptx_function_line(const cute_ptx_text *ptx, const char *name, size_t length)
{
    int64_t number = 1, declared = 0;
    bool pending = false; /* the name may be on the next line */
    for (span line = first_line(ptx); line.at; line = next_line(ptx, line), number++) {
        if (declares_function(line)) {
            pending = true;
            declared = number;
        }
        if (!pending || !skip_blank(line).length) continue;
        if (find_word(line, name, length)) return declared;
        if (number > declared || memchr(line.at, '{', line.length)) pending = false;
    }
    return 0;
}

static bool read_number(span *text, int64_t *value)
{
    *text = skip_blank(*text);
    size_t digits = 0;
    for (*value = 0; digits < text->length && isdigit((unsigned char)text->at[digits]); digits++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, text->at[digits] - '0', value))
            return false;
    text->at += digits;
    text->length -= digits;
    return digits > 0;
}

typedef struct loc {
    int64_t file, line, column;
} loc;

/* `.loc FILE LINE COLUMN`; line 0 means "none". */
static bool parse_loc(span line, loc *out)
{
    span text = skip_blank(line);
    if (!starts_with(text, ".loc")) return false;
    text.at += 4;
    text.length -= 4;
    return read_number(&text, &out->file) && read_number(&text, &out->line) &&
           read_number(&text, &out->column) && out->line > 0 && out->line < INT_MAX && out->column < INT_MAX;
}

/* The name in `.file INDEX "name"`, which may be anywhere in the text. */
static span file_name(const cute_ptx_text *ptx, int64_t index)
{
    for (span line = first_line(ptx); line.at; line = next_line(ptx, line)) {
        span text = skip_blank(line);
        int64_t number;
        if (!starts_with(text, ".file")) continue;
        text.at += 5;
        text.length -= 5;
        if (!read_number(&text, &number) || number != index) continue;
        const char *open = memchr(text.at, '"', text.length), *stop = text.at + text.length;
        const char *close = open ? memchr(open + 1, '"', (size_t)(stop - open - 1)) : NULL;
        if (close) return (span){open + 1, (size_t)(close - open - 1)};
    }
    return (span){NULL, 0};
}

static void read_source_line(cute_arena *arena, cute_place *place)
{
    cute_buffer source = {0};
    /* "<stdin>" and the like are not files. */
    if (place->file[0] != '<' && cute_file_exists(place->file) &&
        cute_file_read(place->file, &source, NULL) == CUTE_OK) {
        cute_ptx_text text = {place->file, cute_buffer_text(&source), source.length};
        span line = nth_line(&text, place->line);
        if (line.at) {
            place->text = cute_arena_copy(arena, line.at, line.length);
            place->text_length = place->text ? line.length : 0;
        }
    }
    cute_buffer_release(&source);
}

bool cute_ptx_source(cute_arena *arena, const cute_ptx_text *ptx, int64_t number, cute_place *out)
{
    loc found = {0}, candidate;
    int64_t at = 1;
    for (span line = first_line(ptx); line.at; line = next_line(ptx, line), at++) {
        bool declaration = declares_function(line);
        if (declaration && at > number) break;
        if (declaration) found = (loc){0};
        if (!parse_loc(line, &candidate)) continue;
        if (at > number && found.line) break;
        found = candidate;
        if (at > number) break;
    }
    span name = found.line ? file_name(ptx, found.file) : (span){NULL, 0};
    if (!name.at) return false;
    *out = (cute_place){.file = cute_arena_copy(arena, name.at, name.length),
                        .line = (int)found.line,
                        .column = found.column > 0 ? (int)found.column : 1,
                        .length = 1};
    if (!out->file) return false;
    read_source_line(arena, out);
    return true;
}
