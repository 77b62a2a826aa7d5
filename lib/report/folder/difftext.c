/* Prints a difference of diff.h as text and HTML. */
#include <stdio.h>
#include <string.h>

#include "lib/report/folder/diff.h"

#include "lib/base/diagnostics/diag.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A value of a table, at most `room` bytes of it. */
static const char *value_text(const json_t *value, char *room, size_t size)
{
    cute_buffer text = {0};
    if (!value || json_is_null(value))
        snprintf(room, size, "-");
    else if (json_is_string(value))
        snprintf(room, size, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(room, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_boolean(value))
        snprintf(room, size, "%s", json_is_true(value) ? "true" : "false");
    else {
        char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        cute_buffer_puts(&text, dumped ? dumped : "");
        snprintf(room, size, "%s", cute_buffer_text(&text));
        json_free_t release;
        json_get_alloc_funcs(NULL, &release);
        if (dumped) release(dumped);
        cute_buffer_release(&text);
    }
    return room;
}

/* "+12" for two integers, else "". */
static const char *change_text(const json_t *row, char *room, size_t size)
{
    const json_t *a = json_object_get(row, "a"), *b = json_object_get(row, "b");
    bool missing = json_is_null(a) || json_is_null(b);
    room[0] = '\0';
    if ((json_is_integer(a) || json_is_integer(b)) && (json_is_integer(a) || json_is_null(a)) &&
        (json_is_integer(b) || json_is_null(b)) && !missing)
        snprintf(room, size, "%+lld", (long long)(json_integer_value(b) - json_integer_value(a)));
    return room;
}

/* The tables in order: key and heading. */
static const struct {
    const char *key, *heading;
} tables[] = {{"options", "Options"}, {"versions", "Versions"}, {"files", "Cubins in only one of them"}};
static const struct {
    const char *key, *heading;
} kernel_tables[] = {{"resources", "resources"}, {"opcodes", "instructions by opcode"}};
static const struct {
    const char *key, *name, *heading;
} diffs[] = {{"ir", "pass", "IR after"}, {"ptx", "module", "PTX of"}};

/* Lines shown per diff; JSON has all of them. */
enum { TEXT_LINES = 40, PAGE_LINES = 400 };

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text; text += *text == '\n') text += strcspn(text, "\n"), count++;
    return count;
}

/* ---- text ---- */

typedef struct paint {
    bool colour;
    cute_buffer *out;
} paint;

static void put_painted(const paint *p, const char *colour, const char *text, size_t length)
{
    if (p->colour) cute_buffer_printf(p->out, "\033[%sm", colour);
    cute_text_printable(text, length, p->out);
    if (p->colour) cute_buffer_puts(p->out, "\033[0m");
}

static void put_heading(const paint *p, const char *before, const char *text)
{
    cute_buffer line = {0};
    cute_buffer_printf(&line, "%s%s%s", before, *before ? " " : "", text);
    put_painted(p, "1", cute_buffer_text(&line), line.length);
    cute_buffer_putc(p->out, '\n');
    cute_buffer_release(&line);
}

static void put_table(const paint *p, const json_t *rows)
{
    size_t index;
    json_t *row;
    char a[64], b[64], change[32];
    json_array_foreach((json_t *)rows, index, row)
    {
        change_text(row, change, sizeof change);
        cute_buffer_printf(p->out, *change ? "  %-20s %20s -> %-20s %s\n" : "  %-20s %20s -> %s\n",
                           text_of(row, "name"), value_text(json_object_get(row, "a"), a, sizeof a),
                           value_text(json_object_get(row, "b"), b, sizeof b), change);
    }
}

/* The nearest UTF-8 character boundary. */
static size_t character_boundary(const char *text, size_t at)
{
    while (at && ((unsigned char)text[at] & 0xc0) == 0x80) at--;
    return at;
}

/* A diff line cut to the terminal width: a long line starts shortly before its first difference, at `same` bytes. */
static void put_line(const paint *p, const char *colour, const char *text, size_t length, size_t same)
{
    enum { WIDTH = 100, BEFORE = 24 };
    static const char gap[] = "...";
    cute_buffer line = {0};
    size_t from = 0, most = WIDTH - 2 * (sizeof gap - 1) - 1;
    if (length <= WIDTH) {
        cute_buffer_append(&line, text, length);
    } else {
        if (same > WIDTH - BEFORE) from = character_boundary(text, same - BEFORE);
        if (from) cute_buffer_printf(&line, "%c%s", *text, gap);
        size_t to = length - from <= most ? length : character_boundary(text, from + most);
        cute_buffer_append(&line, text + from, to - from);
        if (to < length) cute_buffer_puts(&line, gap);
    }
    if (colour)
        put_painted(p, colour, cute_buffer_text(&line), line.length);
    else
        cute_buffer_append(p->out, cute_buffer_text(&line), line.length);
    cute_buffer_putc(p->out, '\n');
    cute_buffer_release(&line);
}

static const char *next_line(const char *text)
{
    text += strcspn(text, "\n");
    return text + (*text == '\n');
}

/* The length of the common prefix of a removed and an added line, without their signs; 0: no counterpart. */
static size_t common_prefix(const char *line, const char *other, char sign)
{
    size_t n = 1;
    if (!other || *other != sign) return 0;
    while (line[n] && line[n] != '\n' && line[n] == other[n]) n++;
    return n;
}

static void put_diff(const paint *p, const char *text)
{
    const char *removed = NULL, *added = NULL; /* the counterpart of the next line */
    for (int number = 0; *text; number++) {
        size_t length = strcspn(text, "\n");
        if (number == TEXT_LINES) {
            cute_buffer_printf(p->out, "(%zu more lines: --html shows more, --json all)\n",
                               count_lines(text));
            return;
        }
        const char *colour = number < 2     ? "1"
                             : *text == '+' ? "32"
                             : *text == '-' ? "31"
                             : *text == '@' ? "36"
                                            : NULL;
        size_t same = 0;
        if (number >= 2 && *text == '-') {
            if (!removed)
                for (removed = added = text; *added == '-';) added = next_line(added);
            same = common_prefix(text, added, '+');
            if (same) added = next_line(added);
        } else if (number >= 2 && *text == '+') {
            same = common_prefix(text, removed, '-');
            if (same) removed = next_line(removed);
        } else {
            removed = added = NULL;
        }
        put_line(p, colour, text, length, same);
        text += length + (text[length] == '\n');
    }
}

static void put_kernel(const paint *p, const json_t *kernel)
{
    const char *only = text_of(kernel, "only"), *name = text_of(kernel, "kernel");
    if (*only) {
        put_heading(p, strcmp(only, "a") == 0 ? "Kernel only in A:" : "Kernel only in B:", name);
        return;
    }
    for (size_t i = 0; i < sizeof kernel_tables / sizeof *kernel_tables; i++) {
        const json_t *rows = json_object_get(kernel, kernel_tables[i].key);
        cute_buffer line = {0};
        if (!json_array_size(rows)) continue;
        cute_buffer_printf(&line, "%s: %s", name, kernel_tables[i].heading);
        put_heading(p, "Kernel", cute_buffer_text(&line));
        put_table(p, rows);
        cute_buffer_release(&line);
    }
}

static void put_names(const paint *p, const char *what, const json_t *names)
{
    size_t index;
    json_t *name;
    if (!json_array_size(names)) return;
    put_heading(p, "", what);
    json_array_foreach((json_t *)names, index, name)
        cute_buffer_printf(p->out, "  %s\n", json_string_value(name));
}

void cute_diff_print(const json_t *difference, bool colour, cute_buffer *out)
{
    const paint p = {colour, out};
    size_t index;
    json_t *entry;
    cute_buffer_printf(out, "A: %s\nB: %s\n", text_of(difference, "a"), text_of(difference, "b"));
    if (json_is_true(json_object_get(difference, "same"))) {
        cute_buffer_puts(out, "no differences\n");
        return;
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const json_t *rows = json_object_get(difference, tables[i].key);
        if (!json_array_size(rows)) continue;
        put_heading(&p, "", tables[i].heading);
        put_table(&p, rows);
    }
    put_names(&p, "Passes only in A", json_object_get(difference, "passes_only_a"));
    put_names(&p, "Passes only in B", json_object_get(difference, "passes_only_b"));
    json_array_foreach(json_object_get(difference, "kernels"), index, entry) put_kernel(&p, entry);
    for (size_t i = 0; i < sizeof diffs / sizeof *diffs; i++) {
        json_array_foreach(json_object_get(difference, diffs[i].key), index, entry)
        {
            cute_buffer name = {0};
            bool whole = !strcmp(text_of(entry, diffs[i].name), "text"); /* of two MLIR files */
            cute_buffer_printf(&name, "%s%s%lld lines added, %lld removed",
                               whole ? "" : text_of(entry, diffs[i].name), whole ? "" : ", ",
                               (long long)json_integer_value(json_object_get(entry, "added")),
                               (long long)json_integer_value(json_object_get(entry, "removed")));
            put_heading(&p, whole ? "IR:" : diffs[i].heading, cute_buffer_text(&name));
            cute_buffer_release(&name);
            put_diff(&p, text_of(entry, "diff"));
        }
    }
}

/* ---- HTML ---- */

static void put_element(cute_buffer *out, const char *tag, const char *text)
{
    cute_buffer_printf(out, "<%s>", tag);
    cute_text_xml(text, strlen(text), out);
    cute_buffer_printf(out, "</%s>", tag);
}

static void put_page_table(cute_buffer *out, const char *title, const json_t *rows)
{
    size_t index;
    json_t *row;
    char room[400];
    if (!json_array_size(rows)) return;
    put_element(out, "h2", title);
    cute_buffer_puts(out, "\n<table><tr><th></th><th>A</th><th>B</th><th></th></tr>\n");
    json_array_foreach((json_t *)rows, index, row)
    {
        cute_buffer_puts(out, "<tr>");
        put_element(out, "td", text_of(row, "name"));
        put_element(out, "td", value_text(json_object_get(row, "a"), room, sizeof room));
        put_element(out, "td", value_text(json_object_get(row, "b"), room, sizeof room));
        put_element(out, "td", change_text(row, room, sizeof room));
        cute_buffer_puts(out, "</tr>\n");
    }
    cute_buffer_puts(out, "</table>\n");
}

static void put_page_diff(cute_buffer *out, const char *title, const json_t *entry, const char *name)
{
    const char *text = text_of(entry, "diff");
    cute_buffer_puts(out, "<details><summary>");
    cute_text_xml(title, strlen(title), out);
    cute_buffer_puts(out, " <b>");
    cute_text_xml(name, strlen(name), out);
    cute_buffer_printf(out, "</b> <ins>+%lld</ins> <del>-%lld</del></summary><pre>",
                       (long long)json_integer_value(json_object_get(entry, "added")),
                       (long long)json_integer_value(json_object_get(entry, "removed")));
    for (int number = 0; *text; number++) {
        size_t length = strcspn(text, "\n");
        if (number == PAGE_LINES) {
            cute_buffer_printf(out, "<i>(%zu more lines: --json has all)</i>\n", count_lines(text));
            break;
        }
        const char *tag = number < 2     ? "b"
                          : *text == '+' ? "ins"
                          : *text == '-' ? "del"
                          : *text == '@' ? "i"
                                         : NULL;
        if (tag) cute_buffer_printf(out, "<%s>", tag);
        cute_text_xml(text, length, out);
        if (tag) cute_buffer_printf(out, "</%s>", tag);
        cute_buffer_putc(out, '\n');
        text += length + (text[length] == '\n');
    }
    cute_buffer_puts(out, "</pre></details>\n");
}

static void put_page_names(cute_buffer *out, const char *title, const json_t *names)
{
    size_t index;
    json_t *name;
    if (!json_array_size(names)) return;
    put_element(out, "h2", title);
    cute_buffer_puts(out, "<ul>");
    json_array_foreach((json_t *)names, index, name) put_element(out, "li", json_string_value(name));
    cute_buffer_puts(out, "</ul>\n");
}

void cute_diff_html(const json_t *difference, cute_buffer *out)
{
    static const char head[] =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>cute-dump "
        "diff</title>\n<style>\n"
        "body{font:14px/1.45 sans-serif;margin:2em;max-width:80em;color:#222;background:#fff}\n"
        "h1{font-size:20px}h2{font-size:16px;margin:1.6em 0 .4em}\n"
        "table{border-collapse:collapse}td,th{padding:2px 14px 2px 0;text-align:right;border-bottom:1px "
        "solid #ddd;"
        "font-variant-numeric:tabular-nums}td:first-child{text-align:left}\n"
        "pre{overflow-x:auto;background:#f6f8fa;padding:8px;font-size:12px}\n"
        "details{margin:4px 0}summary{cursor:pointer}i{color:#06c;font-style:normal}\n"
        "ins{color:#116329;background:#dafbe1;text-decoration:none}"
        "del{color:#82071e;background:#ffebe9;text-decoration:none}\n"
        "</style></head><body>\n";
    size_t index;
    json_t *entry;
    cute_buffer_puts(out, head);
    cute_buffer_puts(out, "<h1>Differences</h1>\n<p>A: ");
    put_element(out, "code", text_of(difference, "a"));
    cute_buffer_puts(out, "<br/>B: ");
    put_element(out, "code", text_of(difference, "b"));
    cute_buffer_puts(out, "</p>\n");
    if (json_is_true(json_object_get(difference, "same"))) cute_buffer_puts(out, "<p>No difference.</p>\n");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        put_page_table(out, tables[i].heading, json_object_get(difference, tables[i].key));
    put_page_names(out, "Passes only in A", json_object_get(difference, "passes_only_a"));
    put_page_names(out, "Passes only in B", json_object_get(difference, "passes_only_b"));
    json_array_foreach(json_object_get(difference, "kernels"), index, entry)
    {
        const char *only = text_of(entry, "only");
        cute_buffer title = {0};
        if (*only) {
            cute_buffer_printf(&title, "Kernel %s, only in %c", text_of(entry, "kernel"), *only - 'a' + 'A');
            put_element(out, "h2", cute_buffer_text(&title));
        }
        for (size_t i = 0; i < sizeof kernel_tables / sizeof *kernel_tables; i++) {
            title.length = 0;
            cute_buffer_printf(&title, "Kernel %s: %s", text_of(entry, "kernel"), kernel_tables[i].heading);
            put_page_table(out, cute_buffer_text(&title), json_object_get(entry, kernel_tables[i].key));
        }
        cute_buffer_release(&title);
    }
    for (size_t i = 0; i < sizeof diffs / sizeof *diffs; i++) {
        const json_t *list = json_object_get(difference, diffs[i].key);
        if (json_array_size(list))
            put_element(out, "h2", i ? "PTX" : "IR, after each pass that changes the difference");
        json_array_foreach((json_t *)list, index, entry)
        {
            bool whole = !strcmp(text_of(entry, diffs[i].name), "text");
            put_page_diff(out, whole ? "IR" : diffs[i].heading, entry,
                          whole ? "" : text_of(entry, diffs[i].name));
        }
    }
    cute_buffer_puts(out, "</body></html>\n");
}
