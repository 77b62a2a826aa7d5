/* Diagnostics as text, in clang's format, and as JSON lines. */
#include <stdio.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"

/* A source line is shown in a window of this many columns around its caret. */
enum { WINDOW = 120, TAB = 8 };

static const struct severity {
    const char *name, *colour;
} severities[] = {
    [CUTE_ERROR] = {"error", "\033[1;31m"},
    [CUTE_WARNING] = {"warning", "\033[1;35m"},
    [CUTE_REMARK] = {"remark", "\033[1;34m"},
    [CUTE_NOTE] = {"note", "\033[1;36m"},
};
const char *cute_severity_name(cute_severity severity)
{
    return severities[severity].name;
}

#define BOLD  "\033[1m"
#define CARET "\033[1;32m"
#define PLAIN "\033[0m"

static void put_colour(cute_buffer *out, bool colour, const char *code)
{
    if (colour) cute_buffer_puts(out, code);
}

static int glyph_columns(const cute_glyph *glyph, long column)
{
    return glyph->code == '\t' ? (int)(TAB - column % TAB) : glyph->columns;
}

/* The terminal columns [first, last) of the bytes [from, to) of the line, and of the line's end. */
typedef struct extent {
    long first, last, end;
} extent;

static extent measure_extent(const char *text, size_t length, size_t from, size_t to)
{
    extent e = {-1, -1, 0};
    for (size_t i = 0; i < length;) {
        cute_glyph glyph = cute_glyph_at(text + i, length - i);
        size_t next = i + (size_t)glyph.bytes;
        if (e.first < 0 && next > from) e.first = e.end; /* a place inside a character refers to its start */
        e.end += glyph_columns(&glyph, e.end);
        if (e.last < 0 && next >= to) e.last = e.end;
        i = next;
    }
    if (e.first < 0) e.first = e.end;
    if (e.last <= e.first) e.last = e.first + 1;
    return e;
}

long cute_line_window(const char *text, size_t length, long left, long right, cute_buffer *out)
{
    long column = 0, printed = 0;
    for (size_t i = 0; i < length && column < right;) {
        cute_glyph glyph = cute_glyph_at(text + i, length - i);
        int columns = glyph_columns(&glyph, column);
        if (column >= left && column + columns <= right) {
            if (glyph.code == '\t')
                cute_buffer_printf(out, "%*s", columns, "");
            else
                cute_text_printable(text + i, (size_t)glyph.bytes, out);
            printed += columns;
        } else if (column + columns > left && column < right) {
            /* A wide glyph that straddles the edge of the window. */
            long visible =
                (column + columns < right ? column + columns : right) - (column > left ? column : left);
            cute_buffer_printf(out, "%*s", (int)visible, "");
            printed += visible;
        }
        column += columns;
        i += (size_t)glyph.bytes;
    }
    return printed;
}

static void print_source(const cute_place *place, bool colour, cute_buffer *out)
{
    const char *text = place->text;
    size_t length = place->text_length;
    while (length && (text[length - 1] == '\r' || text[length - 1] == '\n')) length--;
    size_t from = place->column > 0 ? (size_t)place->column - 1 : 0;
    if (from > length) from = length;
    size_t to = from + (place->length > 1 ? (size_t)place->length : 1);
    if (to > length) to = length > from ? length : from + 1;

    extent e = measure_extent(text, length, from, to);
    long left = 0, right = e.end;
    if (e.end > WINDOW) {
        left = e.first > WINDOW / 2 ? e.first - WINDOW / 2 : 0;
        if (left + WINDOW > e.end && e.first < e.end) left = e.end - WINDOW;
        right = left + WINDOW < e.end ? left + WINDOW : e.end;
    }
    const char *before = left > 0 ? "..." : "", *after = right < e.end ? "..." : "";
    cute_buffer_puts(out, before);
    cute_line_window(text, length, left, right, out);
    cute_buffer_puts(out, after);
    cute_buffer_putc(out, '\n');
    if (place->column <= 0) return;

    cute_buffer_printf(out, "%*s", (int)(e.first - left + (long)strlen(before)), "");
    put_colour(out, colour, CARET);
    cute_buffer_putc(out, '^');
    long last = e.last < right ? e.last : right;
    for (long i = e.first + 1; place->length > 1 && i < last; i++) cute_buffer_putc(out, '~');
    put_colour(out, colour, PLAIN);
    cute_buffer_putc(out, '\n');
}

static void print_text_message(const char *tool, const cute_message *message, bool colour, cute_buffer *out)
{
    const struct severity *severity = &severities[message->severity];
    const cute_place *place = &message->place;
    put_colour(out, colour, BOLD);
    if (place->file) {
        cute_text_printable(place->file, strlen(place->file), out);
        if (place->line > 0) cute_buffer_printf(out, ":%d", place->line);
        if (place->line > 0 && place->column > 0) cute_buffer_printf(out, ":%d", place->column);
        cute_buffer_puts(out, ": ");
    } else if (tool)
        cute_buffer_printf(out, "%s: ", tool);
    put_colour(out, colour, PLAIN);
    put_colour(out, colour, severity->colour);
    cute_buffer_printf(out, "%s: ", severity->name);
    put_colour(out, colour, PLAIN);
    if (message->severity != CUTE_NOTE) put_colour(out, colour, BOLD);
    size_t length = strlen(message->text);
    while (length && message->text[length - 1] == '\n') length--;
    cute_text_printable(message->text, length, out);
    if (message->severity != CUTE_NOTE) put_colour(out, colour, PLAIN);
    cute_buffer_putc(out, '\n');
    if (place->file && place->line > 0 && place->text) print_source(place, colour, out);
}

static void print_json_number(const char *key, int value, cute_buffer *out)
{
    if (value > 0)
        cute_buffer_printf(out, ",\"%s\":%d", key, value);
    else
        cute_buffer_printf(out, ",\"%s\":null", key);
}

static void print_json_message(const cute_diag *diag, size_t index, const cute_message *message,
                               cute_buffer *out)
{
    const cute_place *place = &message->place;
    cute_buffer_printf(out, "{\"severity\":\"%s\",\"file\":", severities[message->severity].name);
    if (place->file)
        cute_text_json(place->file, strlen(place->file), out);
    else
        cute_buffer_puts(out, "null");
    print_json_number("line", place->file ? place->line : 0, out);
    print_json_number("column", place->file && place->line > 0 ? place->column : 0, out);
    cute_buffer_puts(out, ",\"message\":");
    cute_text_json(message->text, strlen(message->text), out);
    cute_explanation e = {.cause = cute_diag_cause(diag, index)};
    for (int i = 0; i < CUTE_FACT_COUNT; i++) e.facts[i] = cute_diag_fact(diag, i);
    if (e.cause) cute_explanation_json(diag, &e, index, out);
    cute_buffer_puts(out, "}\n");
}

/* Whether an error before message `index` has the same cause. */
static bool is_cause_reported(const cute_diag *diag, size_t index, const cute_cause *cause)
{
    for (size_t i = 0; i < index; i++) {
        const cute_message *before = cute_diag_get(diag, i);
        if (before->severity == CUTE_ERROR && cute_diag_cause(diag, i) == cause) return true;
    }
    return false;
}

/* Prints the first remedy after an error and its notes [index + 1, end), unless a note without a place
 * already says what to do. */
static void print_remedy(const char *tool, const cute_diag *diag, size_t index, size_t end, bool colour,
                         cute_buffer *out)
{
    cute_explanation e;
    if (!cute_diag_explain(diag, index, &e) || !e.cause || e.cause->reported || e.cause->silent) return;
    if (is_cause_reported(diag, index, e.cause)) return;
    for (size_t i = index + 1; i < end; i++)
        if (!cute_diag_get(diag, i)->place.file) return;
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(e.cause->remedies, "\n"), e.cause->remedies);
    print_text_message(tool, &(cute_message){.severity = CUTE_NOTE, .text = text}, colour, out);
}

static size_t end_of_notes(const cute_diag *diag, size_t index)
{
    const cute_message *next;
    while ((next = cute_diag_get(diag, ++index)) != NULL && next->severity == CUTE_NOTE) {
    }
    return index;
}

/* After all messages, one report per cause: for the first error with it. */
static void print_reports(const cute_diag *diag, bool colour, cute_buffer *out)
{
    cute_explanation e;
    for (size_t i = 0; i < cute_diag_count(diag); i++)
        if (cute_diag_explain(diag, i, &e) && e.cause && e.cause->reported &&
            !is_cause_reported(diag, i, e.cause))
            cute_explanation_text(diag, &e, i, end_of_notes(diag, i), colour, out);
}

void cute_diag_render_for(const char *tool, const cute_diag *diag, cute_diag_format format, bool colour,
                          cute_buffer *out)
{
    static const cute_message lost = {.severity = CUTE_ERROR, .text = "out of memory: messages were lost"};
    size_t count = cute_diag_count(diag);
    cute_explanation e;
    if (format == CUTE_DIAG_SARIF) {
        cute_diag_sarif(tool, diag, out);
        return;
    }
    for (size_t i = 0; format == CUTE_DIAG_JSON && i < count; i++)
        print_json_message(diag, i, cute_diag_get(diag, i), out);
    for (size_t i = 0, end; format != CUTE_DIAG_JSON && i < count; i = end) {
        end = end_of_notes(diag, i);
        for (size_t k = i; k < end; k++) print_text_message(tool, cute_diag_get(diag, k), colour, out);
        if (format != CUTE_DIAG_FULL)
            print_remedy(tool, diag, i, end, colour, out);
        else if (cute_diag_explain(diag, i, &e))
            cute_explanation_text(diag, &e, i, end, colour, out);
    }
    if (format == CUTE_DIAG_TEXT) print_reports(diag, colour, out);
    if (!cute_diag_lost(diag)) return;
    if (format == CUTE_DIAG_JSON)
        print_json_message(diag, count, &lost, out);
    else
        print_text_message(tool, &lost, colour, out);
}

char *cute_diag_render(const cute_diag *diag, cute_diag_format format, bool colour)
{
    cute_buffer out = {0};
    cute_buffer_append(&out, "", 0);
    cute_diag_render_for(NULL, diag, format, colour, &out);
    if (cute_buffer_ok(&out)) return out.data;
    cute_buffer_release(&out);
    return NULL;
}
