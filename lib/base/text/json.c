/* Parses and writes JSON with jansson, and converts its errors to places. */
#include "lib/base/text/json.h"

#include <string.h>

/* jansson reports the position after the token, which it quotes after "near '". */
static size_t error_offset(const json_error_t *error, const char *text, size_t length)
{
    size_t behind = error->position < 0 ? 0 : (size_t)error->position;
    if (behind > length) behind = length;
    const char *near = strstr(error->text, " near '");
    if (near) {
        const char *token = near + strlen(" near '");
        size_t width = strlen(token);
        if (width > 0 && token[width - 1] == '\'') width--;
        if (width <= behind && memcmp(text + behind - width, token, width) == 0) return behind - width;
    }
    return behind > 0 ? behind - 1 : 0;
}

cute_status cute_json_parse(const char *label, const char *text, size_t length, json_t **out, cute_diag *diag)
{
    json_error_t error = {.line = -1};
    const char *zero = length ? memchr(text, '\0', length) : NULL;
    *out = NULL;
    if (zero) { /* jansson accepts it as the end of a number */
        cute_place place = cute_place_at(label, text, length, (size_t)(zero - text));
        return cute_fail(diag, CUTE_INVALID, &place, "not valid JSON: a zero byte");
    }
    size_t blank = 0;
    while (blank < length && strchr(" \t\r\n", text[blank])) blank++;
    if (blank == length)
        return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label},
                         "expected JSON, got an empty file");
    *out = json_loadb(text ? text : "", length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (*out) return CUTE_OK;
    if (json_error_code(&error) == json_error_out_of_memory) return cute_fail_memory(diag);
    cute_place place =
        cute_place_at(label, text ? text : "", length, error_offset(&error, text ? text : "", length));
    return cute_fail(diag, CUTE_INVALID, &place, "not valid JSON: %s", error.text);
}

static int append_json(const char *bytes, size_t length, void *buffer)
{
    cute_buffer_append(buffer, bytes, length);
    return 0;
}

void cute_json_dump(const json_t *value, bool pretty, cute_buffer *out)
{
    /* 15 digits, so that 0.1 prints as 0.1. */
    size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) | (pretty ? JSON_INDENT(2) : 0);
    if (json_dump_callback(value, append_json, out, flags) != 0) out->failed = true;
}

char *cute_json_finish(json_t *value, bool json, cute_buffer *out)
{
    if (json) {
        cute_json_dump(value, true, out);
        cute_buffer_putc(out, '\n');
    }
    json_decref(value);
    if (cute_buffer_ok(out) && out->data) return out->data;
    cute_buffer_release(out);
    return NULL;
}

json_t *cute_json_text(const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    return value || !text ? value : json_string("(not UTF-8)");
}

json_t *cute_json_integers(const int64_t *values, size_t count, int64_t unknown)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, values[i] == unknown ? json_null() : json_integer(values[i]));
    return list;
}
