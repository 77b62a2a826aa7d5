/* The report of an error as text and as JSON: settings, source lines, likely causes, remedies; and the rows
 * of the table of causes. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"

enum { WIDTH = 120 /* columns of a source line that are shown */ };

static const char *const fact_keys[] = {
    [CUTE_FACT_COMMAND] = "command",           [CUTE_FACT_RUN] = "run",
    [CUTE_FACT_TOOLKIT] = "toolkit",           [CUTE_FACT_TOOLKIT_VERSION] = "toolkit_version",
    [CUTE_FACT_ARCHITECTURE] = "architecture",
};
static const char *const fact_titles[] = {
    [CUTE_FACT_COMMAND] = "command",           [CUTE_FACT_RUN] = "tool command",
    [CUTE_FACT_TOOLKIT] = "toolkit",           [CUTE_FACT_TOOLKIT_VERSION] = "version",
    [CUTE_FACT_ARCHITECTURE] = "architecture",
};

static void print_heading(const char *text, bool colour, cute_buffer *out)
{
    cute_buffer_printf(out, "%s%s:%s\n", colour ? "\033[1m" : "", text, colour ? "\033[0m" : "");
}

/* The lines around the place of a message, its own marked with '>'. */
static void print_around(const cute_diag *diag, size_t index, bool colour, cute_buffer *out)
{
    const cute_place *place = &cute_diag_get(diag, index)->place;
    int line = 0;
    char *around = cute_diag_around(diag, index, &line);
    if (!around) return;
    cute_buffer name = {0};
    cute_text_printable(place->file, strlen(place->file), &name);
    print_heading(cute_buffer_text(&name), colour, out);
    cute_buffer_release(&name);
    for (const char *at = around;; at++, line++) {
        size_t length = strcspn(at, "\n"), shown = length;
        while (shown && at[shown - 1] == '\r') shown--;
        cute_buffer_printf(out, "%c %5d |%s", line == place->line ? '>' : ' ', line, shown ? " " : "");
        cute_line_window(at, shown, 0, WIDTH, out);
        cute_buffer rest = {0};
        bool whole = cute_line_window(at, shown, WIDTH, WIDTH + 1, &rest) == 0;
        cute_buffer_release(&rest);
        cute_buffer_puts(out, whole ? "\n" : "...\n");
        at += length;
        if (!*at) break;
    }
    free(around);
}

static void print_items(const char *list, const char *bullet, cute_buffer *out)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, "\n");
        cute_buffer_printf(out, "  %s%.*s\n", bullet, (int)length, at);
        at += length + (at[length] == '\n');
    }
}

void cute_explanation_text(const cute_diag *diag, const cute_explanation *e, size_t index, size_t end,
                           bool colour, cute_buffer *out)
{
    cute_buffer_putc(out, '\n');
    print_heading("settings", colour, out);
    if (e->cause)
        cute_buffer_printf(out, "  %-13s %s\n  %-13s %s\n", "code", e->cause->code, "stage", e->cause->stage);
    for (int i = 0; i < CUTE_FACT_COUNT; i++) {
        if (!e->facts[i]) continue;
        bool driver = i == CUTE_FACT_TOOLKIT && e->cause && !strcmp(e->cause->stage, "driver");
        cute_buffer_printf(out, "  %-13s ", driver ? "driver" : fact_titles[i]);
        cute_text_printable(e->facts[i], strlen(e->facts[i]), out);
        cute_buffer_putc(out, '\n');
    }
    for (size_t i = index; i < end; i++) print_around(diag, i, colour, out);
    if (e->cause) {
        print_heading("likely causes", colour, out);
        print_items(e->cause->likely, "- ", out);
        print_heading("what to try", colour, out);
        print_items(e->cause->remedies, "- ", out);
    }
    cute_buffer_putc(out, '\n');
}

/* ---- JSON ---- */

static void print_string(const char *text, cute_buffer *out)
{
    if (text)
        cute_text_json(text, strlen(text), out);
    else
        cute_buffer_puts(out, "null");
}

/* The lines of a text as an array. */
static void print_lines(const char *list, cute_buffer *out)
{
    cute_buffer_putc(out, '[');
    for (const char *at = list;;) {
        size_t length = strcspn(at, "\n");
        cute_text_json(at, length, out);
        at += length;
        if (!*at) break;
        cute_buffer_putc(out, ',');
        at++;
    }
    cute_buffer_putc(out, ']');
}

/* One object for the error, and one for each of its notes that has a place. */
static void print_places(const cute_diag *diag, size_t index, cute_buffer *out)
{
    bool first = true;
    for (size_t i = index; i < cute_diag_count(diag); i++) {
        const cute_message *message = cute_diag_get(diag, i);
        int line = 0;
        if (i > index && message->severity != CUTE_NOTE) break;
        char *around = cute_diag_around(diag, i, &line);
        if (!around) continue;
        cute_buffer_puts(out, first ? "{\"file\":" : ",{\"file\":");
        print_string(message->place.file, out);
        cute_buffer_printf(out, ",\"line\":%d,\"first\":%d,\"text\":", message->place.line, line);
        print_lines(around, out);
        cute_buffer_putc(out, '}');
        first = false;
        free(around);
    }
}

/* "code": ... of a message; for a row of the table the caller has written "pattern" before it. */
static void print_cause(const cute_cause *cause, cute_buffer *out)
{
    cute_buffer_puts(out, "\"code\":");
    print_string(cause->code, out);
    cute_buffer_puts(out, ",\"cause\":");
    print_string(cause->id, out);
    cute_buffer_puts(out, ",\"stage\":");
    print_string(cause->stage, out);
    cute_buffer_puts(out, ",\"likely\":");
    print_lines(cause->likely, out);
    cute_buffer_puts(out, ",\"try\":");
    print_lines(cause->remedies, out);
}

void cute_explanation_json(const cute_diag *diag, const cute_explanation *e, size_t index, cute_buffer *out)
{
    cute_buffer_putc(out, ',');
    print_cause(e->cause, out);
    cute_buffer_puts(out, ",\"settings\":{");
    for (int i = 0; i < CUTE_FACT_COUNT; i++) {
        cute_buffer_printf(out, "%s\"%s\":", i ? "," : "", fact_keys[i]);
        print_string(e->facts[i], out);
    }
    cute_buffer_puts(out, "},\"around\":[");
    print_places(diag, index, out);
    cute_buffer_putc(out, ']');
}

/* ---- the table ---- */

void cute_cause_text(const cute_cause *cause, cute_buffer *out)
{
    cute_buffer_printf(out, "%s %s (%s)", cause->code, cause->id, cause->stage);
    for (const char *at = cause->pattern; *at;) {
        size_t length = strcspn(at, "\n");
        cute_buffer_printf(out, "%s '%.*s'", at == cause->pattern ? ":" : ",", (int)length, at);
        at += length + (at[length] == '\n');
    }
    cute_buffer_putc(out, '\n');
    print_items(cause->likely, "because ", out);
    print_items(cause->example, "example ", out);
    print_items(cause->remedies, "try     ", out);
}

void cute_cause_json(const cute_cause *cause, cute_buffer *out)
{
    cute_buffer_puts(out, "{\"pattern\":");
    print_string(cause->pattern, out);
    cute_buffer_putc(out, ',');
    print_cause(cause, out);
    cute_buffer_puts(out, ",\"example\":");
    print_string(cause->example, out);
    cute_buffer_printf(out, ",\"reported\":%s,\"silent\":%s}", cause->reported ? "true" : "false",
                       cause->silent ? "true" : "false");
}
