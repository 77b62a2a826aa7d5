/* A session of the calculator: lines, variables, and answers as text and JSON. */
#include "lib/calculator/calculator.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/list.h"
#include "lib/base/text/chars.h"
#include "lib/calculator/parse.h"
#include "lib/layout/facts.h"

/* Each variable owns its value, so that redefinition frees it. */
typedef struct variable {
    cute_arena *arena;
    char *name; /* in the arena */
    size_t length;
    uint32_t hash; /* of the name, for fast rejection */
    cute_value value;
} variable;

struct cute_calculator {
    cute_diag *trial;
    variable *variables;
    size_t count, capacity;
};

cute_calculator *cute_calculator_create(void)
{
    cute_calculator *calculator = calloc(1, sizeof *calculator);
    if (!calculator) return NULL;
    calculator->trial = cute_diag_create();
    if (calculator->trial) return calculator;
    free(calculator);
    return NULL;
}

void cute_calculator_destroy(cute_calculator *calculator)
{
    if (!calculator) return;
    for (size_t i = 0; i < calculator->count; i++) cute_arena_destroy(calculator->variables[i].arena);
    free(calculator->variables);
    cute_diag_destroy(calculator->trial);
    free(calculator);
}

/* ---- messages ---- */

static cute_place place_of(const calculation *c, size_t start, size_t end)
{
    cute_place place = c->line;
    place.column = start < INT_MAX ? (int)start + 1 : INT_MAX;
    place.length = end > start + 1 && end - start < INT_MAX ? (int)(end - start) : 1;
    return place;
}

CUTE_PRINTF(5, 0)
static const char *report_at(calculation *c, cute_severity severity, size_t start, size_t end,
                             const char *format, va_list args)
{
    cute_buffer text = {0};
    cute_buffer_vprintf(&text, format, args);
    const char *copy =
        cute_buffer_ok(&text) ? cute_arena_copy(c->arena, cute_buffer_text(&text), text.length) : NULL;
    cute_buffer_release(&text);
    cute_place place = place_of(c, start, end);
    cute_report(c->diag, severity, &place, "%s", copy ? copy : "out of memory");
    return copy;
}

bool calc_fail(calculation *c, size_t start, size_t end, const char *format, ...)
{
    va_list args;
    if (c->status != CUTE_OK) return false;
    va_start(args, format);
    c->error = report_at(c, CUTE_ERROR, start, end, format, args);
    va_end(args);
    c->status = c->error ? CUTE_INVALID : CUTE_SYSTEM;
    return false;
}

bool calc_exhausted(calculation *c)
{
    if (c->status != CUTE_OK) return false;
    c->status = cute_fail_memory(c->diag);
    c->error = "out of memory";
    return false;
}

void calc_warn(calculation *c, size_t start, size_t end, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->warning = report_at(c, CUTE_WARNING, start, end, format, args);
    va_end(args);
}

bool calc_pass_on(calculation *c, cute_status status, size_t start, size_t end, const char *prefix)
{
    const cute_message *message = cute_diag_get(c->trial, 0);
    const char *text = message ? message->text : NULL;
    if (status == CUTE_SYSTEM || !text)
        calc_exhausted(c);
    else
        calc_fail(c, start, end, "%s%s%s", prefix ? prefix : "", prefix ? ": " : "", text);
    cute_diag_clear(c->trial);
    return false;
}

const char *calc_kind(const cute_value *value)
{
    static const char *const names[CUTE_TYPES] = {
        [CUTE_SHAPE] = "tuple",
        [CUTE_COORD] = "coordinate",
        [CUTE_INT_TUPLE] = "tuple",
        [CUTE_COMPOSED_LAYOUT] = "composed layout",
        [CUTE_PTR] = "pointer",
        [CUTE_MEMREF] = "tensor",
        [CUTE_ARITH_TUPLE_ITER] = "iterator",
        [CUTE_COORD_TENSOR] = "tensor",
        [CUTE_DIVISOR] = "divisor",
        [CUTE_TILED_COPY] = "tiled copy",
        [CUTE_TILED_MMA] = "tiled MMA",
    };
    if (value->type == CUTE_INT_TUPLE && value->tree->kind == CUTE_TREE_INT) return "number";
    return names[value->type] ? names[value->type] : cute_type_name(value->type);
}

/* As calculator input: types other than tuples and layouts start with their name. */
static const char *text_of(cute_arena *arena, const cute_value *value)
{
    const char *text = cute_atom_value_text(arena, value);
    if (value->type <= CUTE_TILE || value->type == CUTE_ATOM || !text) return text;
    return cute_arena_printf(arena, "%s<%s>", cute_type_name(value->type), text);
}

const char *calc_describe(calculation *c, const cute_value *value)
{
    const char *text = text_of(c->arena, value), *name = calc_kind(value);
    const char *whole =
        text ? cute_arena_printf(c->arena, "%s %.200s%s", name, text, strlen(text) > 200 ? "..." : "") : NULL;
    return whole ? whole : name;
}

/* ---- names ---- */

static uint32_t hash_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

static variable *find_variable(cute_calculator *calculator, const char *name, size_t length)
{
    uint32_t hash = hash_of(name, length);
    for (size_t i = 0; i < calculator->count; i++) {
        variable *v = &calculator->variables[i];
        if (v->hash == hash && v->length == length && !memcmp(v->name, name, length)) return v;
    }
    return NULL;
}

static const cute_value *lookup_value(void *context, const char *name, size_t length)
{
    const variable *v = find_variable(context, name, length);
    return v ? &v->value : NULL;
}

/* Copies the value through its text, which parses to an equal value. */
static bool define_variable(cute_calculator *calculator, calculation *c, const char *name, size_t length,
                            const cute_value *value)
{
    variable fresh = {.arena = cute_arena_create(), .length = length, .hash = hash_of(name, length)};
    const char *text = cute_atom_value_text(c->arena, value);
    fresh.name = fresh.arena ? cute_arena_copy(fresh.arena, name, length) : NULL;
    if (!fresh.name || !text ||
        cute_value_parse(fresh.arena, value->type, text, strlen(text), &fresh.value, NULL, NULL) != CUTE_OK)
        goto exhausted;
    variable *old = find_variable(calculator, name, length);
    if (old) {
        cute_arena_destroy(old->arena);
        *old = fresh;
        return true;
    }
    if (!cute_heap_more(&calculator->variables, calculator->count, &calculator->capacity,
                        sizeof *calculator->variables, 16))
        goto exhausted;
    calculator->variables[calculator->count++] = fresh;
    return true;
exhausted:
    cute_arena_destroy(fresh.arena);
    return calc_exhausted(c);
}

/* ---- lines ---- */

/* Tests for `let NAME =` at the start of bytes [start, end); *start advances past it. */
static bool take_let(calculation *c, size_t *start, size_t end, size_t *name, size_t *length)
{
    const char *text = c->line.text;
    size_t at = *start;
    *length = 0;
    if (end - at < 3 || memcmp(text + at, "let", 3) != 0 || (end - at > 3 && calc_is_name_char(text[at + 3])))
        return true;
    for (at += 3; at < end && cute_is_blank(text[at]);) at++;
    *name = at;
    while (at < end && calc_is_name_char(text[at])) at++;
    size_t stop = at;
    if (stop == *name || !calc_is_name_start(text[*name]))
        return calc_fail(c, *name, stop,
                         "expected a name after 'let': letters, digits and '_', starting with a letter");
    if (calc_is_reserved(text + *name, stop - *name))
        return calc_fail(c, *name, stop, "'%.*s' is a reserved word; choose another name",
                         (int)(stop - *name), text + *name);
    while (at < end && cute_is_blank(text[at])) at++;
    if (at >= end || text[at] != '=') return calc_fail(c, at, at + 1, "expected '=' after the name");
    *start = at + 1;
    *length = stop - *name;
    return true;
}

cute_status cute_calculator_eval(cute_calculator *calculator, cute_arena *arena,
                                 const cute_calculator_line *line, cute_answer *out, cute_diag *diag)
{
    calculation c = {.arena = arena,
                     .diag = diag,
                     .trial = calculator->trial,
                     .lookup = lookup_value,
                     .context = calculator};
    c.line = (cute_place){
        .file = line->file, .line = line->number, .text = line->text, .text_length = line->length};
    *out = (cute_answer){0};
    const char *hash = line->length ? memchr(line->text, '#', line->length) : NULL;
    size_t start = 0, end = hash ? (size_t)(hash - line->text) : line->length, name = 0, length = 0;
    while (start < end && cute_is_blank(line->text[start])) start++;
    while (end > start && cute_is_blank(line->text[end - 1])) end--;
    if (start == end) return CUTE_OK;
    cute_diag_clear(c.trial);
    out->input = cute_arena_copy(arena, line->text + start, end - start);
    bool ok = out->input ? take_let(&c, &start, end, &name, &length) : calc_exhausted(&c);
    ok = ok && calc_expression(&c, start, end, &out->value);
    ok = ok && (!length || define_variable(calculator, &c, line->text + name, length, &out->value));
    out->kind = !ok ? CUTE_ANSWER_ERROR : length ? CUTE_ANSWER_DEFINITION : CUTE_ANSWER_VALUE;
    out->error = c.error;
    out->warning = c.warning;
    return c.status;
}

/* ---- answers ---- */

void cute_answer_print(cute_arena *arena, const cute_answer *answer, cute_buffer *out)
{
    if (answer->kind == CUTE_ANSWER_ERROR) {
        cute_buffer_puts(out, "error: ");
        const char *text = answer->error ? answer->error : "out of memory";
        /* newlines in messages become spaces */
        for (; *text; text++) {
            if (*text == '\n')
                cute_buffer_putc(out, ' ');
            else {
                size_t run = strcspn(text, "\n");
                cute_text_printable(text, run, out);
                text += run - 1;
            }
        }
        cute_buffer_putc(out, '\n');
    } else if (answer->kind == CUTE_ANSWER_VALUE) {
        const char *text = text_of(arena, &answer->value);
        if (!text)
            out->failed = true;
        else
            cute_buffer_printf(out, "%s\n", text);
    }
}

static void print_json_text(const char *key, const char *text, cute_buffer *out)
{
    cute_buffer_printf(out, "\"%s\": ", key);
    if (text)
        cute_text_json(text, strlen(text), out);
    else
        cute_buffer_puts(out, "null");
}

static void print_json_number(const char *key, bool known, int64_t number, cute_buffer *out)
{
    if (known)
        cute_buffer_printf(out, ", \"%s\": %" PRId64, key, number);
    else
        cute_buffer_printf(out, ", \"%s\": null", key);
}

static void print_json_truth(const char *key, cute_truth truth, cute_buffer *out)
{
    static const char *const words[] = {[CUTE_UNDECIDED] = "null", [CUTE_NO] = "false", [CUTE_YES] = "true"};
    cute_buffer_printf(out, ", \"%s\": %s", key, words[truth]);
}

void cute_answer_json(cute_arena *arena, const cute_answer *answer, cute_buffer *out)
{
    if (answer->kind != CUTE_ANSWER_ERROR && answer->kind != CUTE_ANSWER_VALUE) return;
    bool failed = answer->kind == CUTE_ANSWER_ERROR;
    cute_layout_facts facts = {0};
    const char *result = NULL;
    if (!failed) {
        cute_layout_facts_of(arena, &answer->value, &facts);
        result = text_of(arena, &answer->value);
        if (!result) out->failed = true;
    }
    cute_buffer_putc(out, '{');
    print_json_text("input", answer->input, out);
    cute_buffer_puts(out, ", ");
    print_json_text("result", result, out);
    cute_buffer_puts(out, ", ");
    print_json_text("error", failed ? answer->error : NULL, out);
    print_json_number("size", facts.has_size, facts.size, out);
    print_json_number("cosize", facts.has_cosize, facts.cosize, out);
    print_json_truth("injective", facts.injective, out);
    print_json_truth("contiguous", facts.contiguous, out);
    if (answer->warning) {
        cute_buffer_puts(out, ", ");
        print_json_text("warning", answer->warning, out);
    }
    cute_buffer_puts(out, "}\n");
}
