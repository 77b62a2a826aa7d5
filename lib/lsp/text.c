/* Lines, UTF-16 columns, and edits of a text. */
#include "lib/lsp/text.h"

#include <stdlib.h>
#include <string.h>

const char *lsp_line_of(const char *text, size_t text_length, size_t line, size_t *length)
{
    const char *end = text + text_length;
    for (; line && text; line--) {
        text = memchr(text, '\n', (size_t)(end - text));
        if (text) text++;
    }
    if (!text) return NULL;
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    *length = (size_t)((stop ? stop : end) - text);
    return text;
}

/* The length of a UTF-8 sequence in bytes, and in UTF-16 units. */
static size_t step_of(const char *text, size_t left, size_t *units)
{
    unsigned char c = (unsigned char)*text;
    size_t bytes = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    *units = bytes == 4 ? 2 : 1;
    return bytes < left ? bytes : left;
}

size_t lsp_units_of(const char *line, size_t bytes)
{
    size_t all = 0, units;
    for (size_t i = 0; i < bytes; i += step_of(line + i, bytes - i, &units), all += units) {
    }
    return all;
}

size_t lsp_bytes_of(const char *line, size_t length, size_t wanted)
{
    size_t at = 0, all = 0, units;
    while (at < length && all < wanted) {
        size_t step = step_of(line + at, length - at, &units);
        at += step;
        all += units;
    }
    return at;
}

json_t *lsp_position(size_t line, size_t character)
{
    json_t *p = json_object();
    json_object_set_new(p, "line", json_integer((json_int_t)line));
    json_object_set_new(p, "character", json_integer((json_int_t)character));
    return p;
}

static json_t *make_range(json_t *start, json_t *end)
{
    json_t *r = json_object();
    json_object_set_new(r, "start", start);
    json_object_set_new(r, "end", end);
    return r;
}

json_t *lsp_range_of(const char *text, size_t text_length, size_t line, size_t from, size_t to)
{
    size_t length = 0;
    const char *at = lsp_line_of(text, text_length, line, &length);
    if (!at) at = "";
    if (from > length) from = length;
    if (to > length) to = length;
    return make_range(lsp_position(line, lsp_units_of(at, from)), lsp_position(line, lsp_units_of(at, to)));
}

static json_t *position_at(const char *text, size_t offset)
{
    size_t line = 0, start = 0;
    for (const char *at; (at = memchr(text + start, '\n', offset - start)) != NULL; line++)
        start = (size_t)(at - text) + 1;
    return lsp_position(line, lsp_units_of(text + start, offset - start));
}

json_t *lsp_range_between(const char *text, size_t text_length, size_t from, size_t to)
{
    if (to > text_length) to = text_length;
    if (from > to) from = to;
    return make_range(position_at(text, from), position_at(text, to));
}

bool lsp_offset_of(const char *text, size_t text_length, const json_t *position, size_t *offset)
{
    const json_t *line = json_object_get(position, "line"),
                 *character = json_object_get(position, "character");
    if (!json_is_integer(line) || !json_is_integer(character) || json_integer_value(line) < 0 ||
        json_integer_value(character) < 0)
        return false;
    size_t length = 0;
    const char *at = lsp_line_of(text, text_length, (size_t)json_integer_value(line), &length);
    *offset = at ? (size_t)(at - text) + lsp_bytes_of(at, length, (size_t)json_integer_value(character))
                 : text_length;
    return true;
}

char *lsp_text_changed(const char *text, size_t length, const json_t *change, size_t *new_length)
{
    const json_t *part = json_object_get(change, "text"), *where = json_object_get(change, "range");
    size_t from = 0, to = length, put = json_string_length(part);
    if (!json_is_string(part)) return NULL;
    if (where && (!lsp_offset_of(text, length, json_object_get(where, "start"), &from) ||
                  !lsp_offset_of(text, length, json_object_get(where, "end"), &to) || to < from))
        return NULL;
    *new_length = from + put + (length - to);
    char *changed = malloc(*new_length + 1);
    if (!changed) return NULL;
    if (from) memcpy(changed, text, from);
    memcpy(changed + from, json_string_value(part), put);
    if (length > to) memcpy(changed + from + put, text + to, length - to);
    changed[*new_length] = '\0';
    return changed;
}
