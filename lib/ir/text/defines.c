/* See defines.h. */
#include "lib/ir/text/defines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/numbers/expr.h"
#include "lib/ir/text/nesting.h"
#include "lib/ir/text/spellings.h"

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
            return cute_fail(diag, CUTE_USAGE, NULL, "-D expects NAME=VALUE, got '%s'", texts[i]);
        defines[i].name = cute_arena_copy(arena, texts[i], length);
        defines[i].value = equals ? equals + 1 : "1";
        if (!defines[i].name) return cute_fail_memory(diag);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(defines[k].name, defines[i].name))
                return cute_fail(diag, CUTE_USAGE, NULL, "-D defines '%s' twice", defines[i].name);
    }
    *out = defines;
    return CUTE_OK;
}

/* ---- parameters ---- */

static const char marker[] = "//!param";

static size_t skip_blanks(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) at++;
    return at;
}

/* A name or value: up to a blank, ',' or '='. */
static size_t end_of_word(const char *text, size_t at, size_t end)
{
    while (at < end && !isspace((unsigned char)text[at]) && text[at] != ',' && text[at] != '=') at++;
    return at;
}

/* Behind a default: a word, or an expression in ${}. */
static size_t end_of_value(const char *text, size_t at, size_t end)
{
    const char *close =
        end - at > 2 && text[at] == '$' && text[at + 1] == '{' ? memchr(text + at, '}', end - at) : NULL;
    return close ? (size_t)(close + 1 - text) : end_of_word(text, at, end);
}

/* Reads the line from behind the marker; *at is where it stopped. */
static bool read_param(cute_arena *arena, const char *text, size_t *at, size_t end, cute_param *out)
{
    size_t from = *at = skip_blanks(text, *at, end), capacity = 0;
    *out = (cute_param){.at = from};
    *at = end_of_word(text, from, end);
    if (!is_name(text + from, *at - from)) return *at = from, false;
    out->name = cute_arena_copy(arena, text + from, *at - from);
    *at = skip_blanks(text, *at, end);
    if (*at == end || text[*at] != '=') return false;
    from = *at = skip_blanks(text, *at + 1, end);
    *at = end_of_value(text, from, end);
    if (*at == from) return false;
    out->value_at = from;
    out->value = cute_arena_copy(arena, text + from, *at - from);
    *at = skip_blanks(text, *at, end);
    if (*at == end) return out->name && out->value;
    if (end - *at < 3 || memcmp(text + *at, "in", 2) != 0 || !isspace((unsigned char)text[*at + 2]))
        return false;
    for (*at += 2;; (*at)++) {
        from = *at = skip_blanks(text, *at, end);
        *at = end_of_word(text, from, end);
        if (*at == from || !cute_arena_more(arena, &out->candidates, out->candidate_count, &capacity,
                                            sizeof *out->candidates, 8))
            return false;
        out->candidates[out->candidate_count++] = cute_arena_copy(arena, text + from, *at - from);
        *at = skip_blanks(text, *at, end);
        if (*at == end || text[*at] != ',') break;
    }
    return *at == end;
}

static cute_status read_params(cute_arena *arena, const cute_sources *sources, const char *text,
                               size_t length, cute_param **out, size_t *count, cute_diag *diag)
{
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    for (size_t line = 0, next; line < length; line = next) {
        const char *newline = memchr(text + line, '\n', length - line);
        size_t end = newline ? (size_t)(newline - text) : length, at = skip_blanks(text, line, end);
        next = end + 1;
        if (end - at < sizeof marker - 1 || memcmp(text + at, marker, sizeof marker - 1) != 0) continue;
        at += sizeof marker - 1;
        while (end > at && isspace((unsigned char)text[end - 1])) end--;
        cute_param param;
        if (!read_param(arena, text, &at, end, &param)) {
            cute_place place = cute_sources_place(sources, at);
            return cute_fail(diag, CUTE_INVALID, &place,
                             "expected '//!param NAME = VALUE' or '//!param NAME = VALUE in VALUE, VALUE'");
        }
        for (size_t i = 0; i < *count; i++)
            if (!strcmp((*out)[i].name, param.name)) {
                cute_place place = cute_sources_place(sources, param.at),
                           first = cute_sources_place(sources, (*out)[i].at);
                cute_fail(diag, CUTE_INVALID, &place, "the parameter '%s' is declared twice", param.name);
                cute_note(diag, &first, "the first declaration is here");
                return CUTE_INVALID;
            }
        if (!cute_arena_more(arena, out, *count, &capacity, sizeof **out, 8)) return cute_fail_memory(diag);
        (*out)[(*count)++] = param;
    }
    return CUTE_OK;
}

/* ---- replacement ---- */

typedef struct define_lookup {
    const cute_define *defines;
    size_t count;
    const char *unknown;        /* undefined name in an expression */
    const cute_define *not_int; /* define in an expression whose value is not an integer */
} define_lookup;

static const cute_define *find_define(const define_lookup *n, const char *name, size_t length)
{
    for (size_t i = 0; i < n->count; i++)
        if (strlen(n->defines[i].name) == length && !memcmp(n->defines[i].name, name, length))
            return &n->defines[i];
    return NULL;
}

static bool evaluate_define(void *context, const char *name, int64_t *value)
{
    define_lookup *n = context;
    const cute_define *d = find_define(n, name, strlen(name));
    if (!d) {
        n->unknown = name;
        return false;
    }
    char *end;
    errno = 0;
    long long v = strtoll(d->value, &end, 0);
    *value = v;
    if (*d->value && errno == 0 && *end == '\0') return true;
    n->not_int = d;
    return false;
}

static void note_define(const char *name, int length, cute_diag *diag)
{
    cute_note(diag, NULL, "define it on the command line: -D %.*s=VALUE", length, name);
}

/* LLVM's inline assembly: `${0:c}`, `${12}`. */
static bool is_operand(const char *inner, size_t length)
{
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)inner[digits])) digits++;
    return digits > 0 && (digits == length || inner[digits] == ':');
}

static cute_status replace_expression(cute_arena *arena, const char *inner, size_t length,
                                      const cute_place *place, define_lookup *n, cute_buffer *out,
                                      cute_diag *diag)
{
    size_t before = 0;
    while (before < length && isspace((unsigned char)inner[before])) before++;
    size_t after = length;
    while (after > before && isspace((unsigned char)inner[after - 1])) after--;
    if (is_name(inner + before, after - before)) {
        const cute_define *d = find_define(n, inner + before, after - before);
        if (d) {
            cute_buffer_puts(out, d->value);
            return CUTE_OK;
        }
        int name = (int)(after - before);
        cute_status status =
            cute_fail(diag, CUTE_INVALID, place, "unknown name '%.*s'", name, inner + before);
        note_define(inner + before, name, diag);
        return status;
    }
    cute_expr *expr;
    int64_t value;
    CUTE_TRY(cute_expr_parse(arena, inner, length, place, &expr, diag));
    n->unknown = NULL;
    n->not_int = NULL;
    cute_status status = cute_expr_int(expr, evaluate_define, n, &value, NULL);
    if (!status) {
        cute_buffer_printf(out, "%lld", (long long)value);
        return CUTE_OK;
    }
    if (n->not_int)
        return cute_fail(diag, CUTE_INVALID, place, "expected an integer for '%s', got '%s'",
                         n->not_int->name, n->not_int->value);
    status = cute_expr_int(expr, evaluate_define, n, &value, diag);
    if (n->unknown) note_define(n->unknown, (int)strlen(n->unknown), diag);
    return status;
}

/* Scan position for comments. MLIR strings do not span lines. */
typedef struct cursor {
    size_t at;
    bool string, comment;
} cursor;

/* Whether `offset` is in a comment; offsets must be ascending. */
static bool in_comment(cursor *c, const char *text, size_t offset)
{
    for (; c->at < offset; c->at++) {
        char now = text[c->at];
        if (now == '\n')
            c->string = c->comment = false;
        else if (c->string && now == '\\')
            c->at++;
        else if (now == '"')
            c->string = !c->string;
        else if (!c->string && now == '/' && text[c->at + 1] == '/')
            c->comment = true;
    }
    return c->comment;
}

/* The names of -D, then the parameters of the text, which they precede. Defaults that are expressions are of the names in front of them. */
static cute_status collect_names(cute_arena *arena, const cute_sources *sources, cute_param *params,
                                 size_t param_count, const cute_define *defines, size_t count,
                                 define_lookup *out, cute_diag *diag)
{
    *out = (define_lookup){.defines = defines, .count = count};
    if (!param_count) return CUTE_OK;
    cute_define *all = cute_arena_array(arena, count + param_count, sizeof *all);
    if (!all) return cute_fail_memory(diag);
    if (count) memcpy(all, defines, count * sizeof *all);
    out->defines = all;
    for (size_t i = 0; i < param_count; i++) {
        cute_param *p = &params[i];
        size_t length = strlen(p->value);
        bool expression = !strncmp(p->value, "${", 2) && p->value[length - 1] == '}';
        if (expression &&
            !find_define(&(define_lookup){.defines = defines, .count = count}, p->name, strlen(p->name))) {
            cute_buffer value = {0};
            cute_place place = cute_sources_place(sources, p->value_at + 2);
            place.length = (int)length - 3;
            cute_status status =
                replace_expression(arena, p->value + 2, length - 3, &place, out, &value, diag);
            if (!status) p->value = cute_arena_copy(arena, cute_buffer_text(&value), value.length);
            if (!status && (!p->value || !cute_buffer_ok(&value))) status = cute_fail_memory(diag);
            cute_buffer_release(&value);
            CUTE_TRY(status);
        }
        all[out->count++] = (cute_define){p->name, p->value};
    }
    return CUTE_OK;
}

cute_status cute_params_read(cute_arena *arena, const cute_sources *sources, const char *text, size_t length,
                             const cute_define *defines, size_t define_count, cute_param **out, size_t *count,
                             cute_diag *diag)
{
    define_lookup names;
    CUTE_TRY(read_params(arena, sources, text, length, out, count, diag));
    return collect_names(arena, sources, *out, *count, defines, define_count, &names, diag);
}

cute_status cute_defines_apply(const cute_sources *sources, const char *text, size_t length,
                               const cute_define *defines, size_t count, cute_buffer *out, cute_edits *edits,
                               cute_diag *diag)
{
    CUTE_TRY(cute_nesting_check(sources, text, length, diag));
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_fail_memory(diag);
    define_lookup n;
    cute_param *params;
    size_t param_count;
    cute_status status = read_params(arena, sources, text, length, &params, &param_count, diag);
    if (!status) status = collect_names(arena, sources, params, param_count, defines, count, &n, diag);
    cursor looked = {0};
    size_t done = 0;
    for (size_t i = 0; i + 1 < length && status == CUTE_OK; i++) {
        const char *dollar = memchr(text + i, '$', length - 1 - i);
        if (!dollar) break;
        i = (size_t)(dollar - text);
        if (text[i + 1] != '{') continue;
        if ((i > 0 && text[i - 1] == '$') || in_comment(&looked, text, i)) continue;
        const char *inner = text + i + 2;
        size_t rest = length - i - 2;
        const char *close = memchr(inner, '}', rest);
        const char *newline = memchr(inner, '\n', rest);
        if (close && is_operand(inner, (size_t)(close - inner))) continue;
        if (!close || (newline && newline < close)) {
            cute_place place = cute_sources_place(sources, i);
            place.length = 2;
            status = cute_fail(diag, CUTE_INVALID, &place, "expected '}' on the line of '${'");
            break;
        }
        cute_buffer_append(out, text + done, i - done);
        cute_place place = cute_sources_place(sources, i + 2);
        place.length = (int)(close - inner);
        size_t from = i, to = out->length;
        status = replace_expression(arena, inner, (size_t)(close - inner), &place, &n, out, diag);
        i = (size_t)(close - text);
        done = i + 1;
        if (!status && !cute_arena_more(edits->arena, &edits->items, edits->count, &edits->capacity,
                                        sizeof *edits->items, 16))
            status = cute_fail_memory(diag);
        if (!status) edits->items[edits->count++] = (cute_edit){from, done - from, to, out->length - to};
    }
    cute_buffer_append(out, text + done, length - done);
    if (status == CUTE_OK && !cute_buffer_ok(out)) status = cute_fail_memory(diag);
    if (status == CUTE_OK && out->data) cute_spellings_read(out->data, out->length);
    cute_arena_destroy(arena);
    return status;
}
