/* Finds the place of a path in JSON text. The text has been parsed before, so the scanner does not validate
 * it; it never reads beyond the end. */
#include "lib/launch/config/document.h"

#include <string.h>

typedef struct scanner {
    const char *text;
    size_t length, at;
} scanner;

static char peek_char(const scanner *s)
{
    return s->at < s->length ? s->text[s->at] : '\0';
}

static void skip_space(scanner *s)
{
    while (s->at < s->length && strchr(" \t\r\n", s->text[s->at]) && s->text[s->at]) s->at++;
}

static void skip_string(scanner *s)
{
    if (s->at < s->length) s->at++;
    while (s->at < s->length && s->text[s->at] != '"') s->at += s->text[s->at] == '\\' ? 2 : 1;
    if (s->at < s->length)
        s->at++;
    else
        s->at = s->length;
}

static void skip_value(scanner *s)
{
    int depth = 0;
    do {
        skip_space(s);
        char c = peek_char(s);
        if (c == '"') {
            skip_string(s);
        } else if (c == '{' || c == '[') {
            depth++;
            s->at++;
        } else if (c == '}' || c == ']') {
            depth--;
            s->at++;
        } else if (c == ',' || c == ':') {
            s->at++;
        } else {
            do s->at++;
            while (s->at < s->length && !strchr(",:]} \t\r\n", s->text[s->at]));
        }
        if (depth > 0) skip_space(s);
    } while (depth > 0 && s->at < s->length);
}

/* Compares decoded keys, so that "\u0041" equals A. */
static bool key_equals(const char *text, size_t length, const char *key)
{
    if (length >= 2 && !memchr(text, '\\', length))
        return strlen(key) == length - 2 && memcmp(text + 1, key, length - 2) == 0;
    json_t *decoded = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    bool same = decoded && json_is_string(decoded) && strcmp(json_string_value(decoded), key) == 0;
    json_decref(decoded);
    return same;
}

/* Descends from the value at s->at to a member or element; *key_at is the offset of the member's key. */
static bool descend(scanner *s, const cute_path *path, size_t *key_at)
{
    skip_space(s);
    if (peek_char(s) != (path->key ? '{' : '[')) return false;
    s->at++;
    for (size_t i = 0;; i++) {
        skip_space(s);
        if (s->at >= s->length || peek_char(s) == '}' || peek_char(s) == ']') return false;
        *key_at = s->at;
        bool found = !path->key && i == path->index;
        if (path->key) {
            skip_string(s);
            found = key_equals(s->text + *key_at, s->at - *key_at, path->key);
            skip_space(s);
            if (peek_char(s) == ':') s->at++;
            skip_space(s);
        }
        if (found) return true;
        skip_value(s);
        skip_space(s);
        if (peek_char(s) == ',') s->at++;
    }
}

static bool find_path(scanner *s, const cute_path *path, size_t *key_at)
{
    if (!path) {
        skip_space(s);
        *key_at = s->at;
        return true;
    }
    return find_path(s, path->up, key_at) && descend(s, path, key_at);
}

cute_place cute_document_place(const cute_document *document, const cute_path *path, bool key)
{
    scanner s = {document->text, document->length, 0};
    size_t key_at = 0;
    if (!find_path(&s, path, &key_at)) return (cute_place){.file = document->label};
    size_t begin = key ? key_at : s.at;
    s.at = begin;
    if (peek_char(&s) == '"' || !strchr("{[", peek_char(&s))) skip_value(&s);
    cute_place place = cute_place_at(document->label, document->text, document->length, begin);
    place.length = s.at > begin ? (int)(s.at - begin) : 1;
    return place;
}

static bool is_plain(const char *key)
{
    for (const char *c = key; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_' ||
              *c == '$'))
            return false;
    return *key != '\0';
}

void cute_path_text(const cute_path *path, cute_buffer *out)
{
    if (!path) {
        cute_buffer_putc(out, '$');
        return;
    }
    cute_path_text(path->up, out);
    if (!path->key)
        cute_buffer_printf(out, "[%zu]", path->index);
    else
        cute_buffer_printf(out, is_plain(path->key) ? ".%s" : "[\"%s\"]", path->key);
}

CUTE_PRINTF(6, 0)
static void report_at_path(const cute_document *document, const cute_path *path, bool key,
                           cute_severity severity, cute_diag *diag, const char *format, va_list args)
{
    cute_buffer text = {0};
    cute_path_text(path, &text);
    cute_buffer_puts(&text, ": ");
    cute_buffer_vprintf(&text, format, args);
    cute_place place = cute_document_place(document, path, key);
    cute_report(diag, severity, &place, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

cute_status cute_document_fail(const cute_document *document, const cute_path *path, bool key,
                               cute_diag *diag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_at_path(document, path, key, CUTE_ERROR, diag, format, args);
    va_end(args);
    return CUTE_INVALID;
}

void cute_document_report(const cute_document *document, const cute_path *path, bool key,
                          cute_severity severity, cute_diag *diag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_at_path(document, path, key, severity, diag, format, args);
    va_end(args);
}
