/* `-D NAME=VALUE`: replaces ${NAME} and ${expression} in the text before it is parsed. */
#include "lib/ir/defines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/expr.h"
#include "lib/ir/nesting.h"
#include "lib/ir/spellings.h"

static bool is_name(const char *text, size_t length)
{
    if (length == 0 || isdigit((unsigned char)text[0])) return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
    return true;
}

cute_status cute_defines_parse(cute_arena *arena, const char *const *texts, size_t count, cute_define **out,
                               cute_diag *diag)
{
    cute_define *defines = cute_arena_array(arena, count, sizeof *defines);
    if (!defines && count) return cute_fail_memory(diag);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(texts[i], '=');
        size_t length = equals ? (size_t)(equals - texts[i]) : strlen(texts[i]);
        if (!is_name(texts[i], length))
            return cute_fail(diag, CUTE_USAGE, NULL, "-D wants NAME=VALUE, not '%s'", texts[i]);
        defines[i].name = cute_arena_copy(arena, texts[i], length);
        defines[i].value = equals ? equals + 1 : "1";
        if (!defines[i].name) return cute_fail_memory(diag);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(defines[k].name, defines[i].name))
                return cute_fail(diag, CUTE_USAGE, NULL, "-D gives '%s' twice", defines[i].name);
    }
    *out = defines;
    return CUTE_OK;
}

typedef struct names {
    const cute_define *defines;
    size_t count;
} names;

static const cute_define *find(const names *n, const char *name, size_t length)
{
    for (size_t i = 0; i < n->count; i++)
        if (strlen(n->defines[i].name) == length && !memcmp(n->defines[i].name, name, length))
            return &n->defines[i];
    return NULL;
}

static bool integer(void *context, const char *name, int64_t *value)
{
    const cute_define *d = find(context, name, strlen(name));
    if (!d || !*d->value) return false;
    char *end;
    errno = 0;
    long long v = strtoll(d->value, &end, 0);
    *value = v;
    return errno == 0 && *end == '\0';
}

/* LLVM's inline assembly: `${0:c}`, `${12}`. */
static bool is_operand(const char *inner, size_t length)
{
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)inner[digits])) digits++;
    return digits > 0 && (digits == length || inner[digits] == ':');
}

static cute_status replace(cute_arena *arena, const char *inner, size_t length, const cute_place *place,
                           names *n, cute_buffer *out, cute_diag *diag)
{
    size_t before = 0;
    while (before < length && isspace((unsigned char)inner[before])) before++;
    size_t after = length;
    while (after > before && isspace((unsigned char)inner[after - 1])) after--;
    if (is_name(inner + before, after - before)) {
        const cute_define *d = find(n, inner + before, after - before);
        if (!d) {
            cute_status status = cute_fail(diag, CUTE_INVALID, place, "'%.*s' is not defined",
                                           (int)(after - before), inner + before);
            cute_note(diag, NULL, "give it on the command line: -D %.*s=VALUE", (int)(after - before),
                      inner + before);
            return status;
        }
        cute_buffer_puts(out, d->value);
        return CUTE_OK;
    }
    cute_expr *expr;
    int64_t value;
    CUTE_TRY(cute_expr_parse(arena, inner, length, place, &expr, diag));
    CUTE_TRY(cute_expr_int(expr, integer, n, &value, diag));
    cute_buffer_printf(out, "%lld", (long long)value);
    return CUTE_OK;
}

cute_status cute_defines_apply(const char *label, const char *text, size_t length, const cute_define *defines,
                               size_t count, cute_buffer *out, cute_diag *diag)
{
    names n = {defines, count};
    CUTE_TRY(cute_nesting_check(label, text, length, diag));
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_fail_memory(diag);
    cute_status status = CUTE_OK;
    size_t done = 0;
    for (size_t i = 0; i + 1 < length && status == CUTE_OK; i++) {
        const char *dollar = memchr(text + i, '$', length - 1 - i);
        if (!dollar) break;
        i = (size_t)(dollar - text);
        if (text[i + 1] != '{') continue;
        if (i > 0 && text[i - 1] == '$') continue;
        const char *inner = text + i + 2;
        size_t rest = length - i - 2;
        const char *close = memchr(inner, '}', rest);
        const char *newline = memchr(inner, '\n', rest);
        if (close && is_operand(inner, (size_t)(close - inner))) continue;
        if (!close || (newline && newline < close)) {
            cute_place place = cute_place_at(label, text, length, i);
            place.length = 2;
            status = cute_fail(diag, CUTE_INVALID, &place, "'${' without '}' on its line");
            break;
        }
        cute_buffer_append(out, text + done, i - done);
        cute_place place = cute_place_at(label, text, length, i + 2);
        place.length = (int)(close - inner);
        status = replace(arena, inner, (size_t)(close - inner), &place, &n, out, diag);
        i = (size_t)(close - text);
        done = i + 1;
    }
    cute_buffer_append(out, text + done, length - done);
    if (status == CUTE_OK && !cute_buffer_ok(out)) status = cute_fail_memory(diag);
    if (status == CUTE_OK && out->data) cute_spellings_read(out->data, out->length);
    cute_arena_destroy(arena);
    return status;
}
