/* The emulator's counters as tables by class, space and line, and as annotated PTX or source. */
#include "lib/report/launch/counters.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/sort.h"
#include "lib/base/system/file.h"
#include "lib/report/table.h"

enum { LINES_SHOWN = 40, TALLIES = 9, LAST_LINE = 1 << 30 };

/* The counters of a line, summed over its instructions. */
typedef struct counted {
    const char *file, *instruction;
    long long line;
    long long numbers[TALLIES]; /* by `columns` */
} counted;

static const struct {
    const char *name, *group, *sub, *key;
} columns[TALLIES] = {
    {"instructions", NULL, NULL, "instructions"}, {"lanes", NULL, NULL, "lanes"},
    {"diverged", NULL, NULL, "divergences"},      {"global read", "bytes", "global", "read"},
    {"written", "bytes", "global", "written"},    {"shared read", "bytes", "shared", "read"},
    {"written", "bytes", "shared", "written"},    {"wavefronts", "wavefronts", NULL, "count"},
    {"sectors", "sectors", NULL, "count"}};

/* Saturates: a hand-written report may overflow. */
static long long saturating_add(long long a, long long b)
{
    int64_t sum;
    return cute_add64(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

static void add_counters(const json_t *value, counted *out)
{
    for (int n = 0; n < TALLIES; n++) {
        const json_t *at = value;
        if (columns[n].group) at = json_object_get(at, columns[n].group);
        if (columns[n].sub) at = json_object_get(at, columns[n].sub);
        out->numbers[n] =
            saturating_add(out->numbers[n], json_integer_value(json_object_get(at, columns[n].key)));
    }
}

/* ---- tables ---- */

static const char *format_count(cute_arena *arena, long long value)
{
    const char *text = value ? cute_arena_printf(arena, "%lld", value) : "";
    return text ? text : "";
}

static void put_classes(cute_arena *arena, const json_t *kernel, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 3};
    const char *key;
    json_t *item;
    cute_table_row(&table, (const char *[]){"", "instructions", "lanes"});
    json_object_foreach((json_t *)(uintptr_t)json_object_get(kernel, "classes"), key, item) cute_table_row(
        &table,
        (const char *[]){key, format_count(arena, json_integer_value(json_object_get(item, "instructions"))),
                         format_count(arena, json_integer_value(json_object_get(item, "lanes")))});
    cute_table_print(&table, 1, "  ", out);
    table = (cute_table){.arena = arena, .columns = 3};
    cute_table_row(&table, (const char *[]){"bytes", "read", "written"});
    json_object_foreach((json_t *)(uintptr_t)json_object_get(kernel, "bytes"), key, item) cute_table_row(
        &table, (const char *[]){key, format_count(arena, json_integer_value(json_object_get(item, "read"))),
                                 format_count(arena, json_integer_value(json_object_get(item, "written")))});
    if (table.rows > 1) cute_table_print(&table, 1, "  ", out);
}

static int compare_places(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int compare_work(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return x->numbers[0] > y->numbers[0] ? -1 : x->numbers[0] < y->numbers[0] ? 1 : compare_places(a, b);
}

/* Sums counters by source line, or by PTX line if unknown. *count: executed lines. */
static counted *sum_lines(cute_arena *arena, const json_t *lines, size_t *count)
{
    size_t index, kept = 0;
    json_t *item;
    counted *list = cute_arena_array(arena, json_array_size(lines) + 1, sizeof *list);
    *count = 0;
    if (!list) return NULL;
    json_array_foreach((json_t *)(uintptr_t)lines, index, item)
    {
        counted *c = &list[kept];
        const char *file = json_string_value(json_object_get(item, "file"));
        if (!json_integer_value(json_object_get(item, "instructions"))) continue;
        c->file = file ? file : "";
        c->line = json_integer_value(json_object_get(item, file ? "line" : "ptx_line"));
        c->instruction = json_string_value(json_object_get(item, "instruction"));
        if (c->line < 0 || c->line > LAST_LINE || !c->instruction) continue;
        add_counters(item, c);
        kept++;
    }
    cute_sort(list, kept, sizeof *list, compare_places);
    for (size_t n = 0; n < kept; n++) {
        counted *last = *count ? &list[*count - 1] : NULL;
        if (!last || compare_places(last, &list[n])) {
            list[(*count)++] = list[n];
            continue;
        }
        for (int k = 0; k < TALLIES; k++)
            last->numbers[k] = saturating_add(last->numbers[k], list[n].numbers[k]);
    }
    return list;
}

/* Omits empty columns. */
static void put_lines(cute_arena *arena, const json_t *kernel, cute_buffer *out)
{
    size_t count;
    counted *list = sum_lines(arena, json_object_get(kernel, "lines"), &count);
    bool used[TALLIES] = {0};
    if (!list || !count) return;
    cute_sort(list, count, sizeof *list, compare_work);
    size_t shown = count < LINES_SHOWN ? count : LINES_SHOWN;
    cute_sort(list, shown, sizeof *list, compare_places);
    for (size_t n = 0; n < shown; n++)
        for (int k = 0; k < TALLIES; k++) used[k] |= list[n].numbers[k] != 0;
    cute_table table = {.arena = arena, .columns = 1};
    for (int k = 0; k < TALLIES; k++) table.columns += used[k];
    for (size_t n = 0; n <= shown; n++) {
        const char *cells[TALLIES + 1];
        size_t at = 1;
        const counted *c = n ? &list[n - 1] : NULL;
        const char *slash = c ? strrchr(c->file, '/') : NULL;
        cells[0] = !c         ? "line"
                   : *c->file ? cute_arena_printf(arena, "%s:%lld", slash ? slash + 1 : c->file, c->line)
                              : cute_arena_printf(arena, "PTX %lld, %s", c->line, c->instruction);
        if (!cells[0]) cells[0] = "";
        for (int k = 0; k < TALLIES; k++)
            if (used[k]) cells[at++] = c ? format_count(arena, c->numbers[k]) : columns[k].name;
        cute_table_row(&table, cells);
    }
    cute_table_print(&table, 1, "  ", out);
    if (count > shown)
        cute_buffer_printf(out, "  and %zu more lines with less work; --json has all\n", count - shown);
}

void cute_report_counters(const json_t *counters, cute_buffer *out)
{
    size_t index;
    json_t *kernel;
    cute_arena *arena = cute_arena_create();
    json_array_foreach((json_t *)(uintptr_t)counters, index, kernel)
    {
        if (!arena) break;
        cute_buffer_printf(out, "counters of %s: %lld blocks, %lld threads\n",
                           json_string_value(json_object_get(kernel, "kernel")),
                           (long long)json_integer_value(json_object_get(kernel, "blocks")),
                           (long long)json_integer_value(json_object_get(kernel, "threads")));
        put_classes(arena, kernel, out);
        put_lines(arena, kernel, out);
    }
    cute_arena_destroy(arena);
}

/* ---- annotated PTX ---- */

static cute_status bad_report(const char *label, const char *why, cute_diag *diag)
{
    const cute_place place = {.file = label};
    cute_fail(diag, CUTE_INVALID, &place, "%s", why);
    cute_note(diag, NULL, "create a report with cute-run k.ptx --config launch.json --counters --json");
    return CUTE_INVALID;
}

/* Cells are empty for lines without instructions and for code that did not run. */
static void put_cells(const counted *c, bool code, cute_buffer *out)
{
    static const int shown[] = {0, 1, 2, 3, 4, 5, 6};
    for (size_t n = 0; n < sizeof shown / sizeof *shown; n++) {
        int width = n < 2 ? 12 : n == 2 ? 7 : 11;
        if (code && (n < 2 || c->numbers[shown[n]]))
            cute_buffer_printf(out, "%*lld ", width, c->numbers[shown[n]]);
        else
            cute_buffer_printf(out, "%*s ", width, "");
    }
}

static void put_heading(cute_buffer *out)
{
    cute_buffer_printf(out, "%12s %12s %7s %11s %11s %11s %11s\n", "instructions", "lanes", "diverged",
                       "global read", "written", "shared read", "written");
}

cute_status cute_report_counted_ptx(const char *label, const json_t *report, const char *kernel,
                                    const char *ptx, size_t length, cute_buffer *out, cute_diag *diag)
{
    const json_t *list = json_is_array(report) ? report : json_object_get(report, "counters");
    size_t lines = 1, index, inner;
    json_t *item, *line;
    bool found = false;
    if (!json_is_array(list)) return bad_report(label, "the report has no \"counters\"", diag);
    for (size_t n = 0; n < length; n++) lines += ptx[n] == '\n';
    counted *counts = calloc(lines + 1, sizeof *counts);
    bool *code = calloc(lines + 1, sizeof *code);
    cute_status status = counts && code ? CUTE_OK : cute_fail_memory(diag);
    json_array_foreach((json_t *)(uintptr_t)list, index, item)
    {
        const char *name = json_string_value(json_object_get(item, "kernel"));
        if (status != CUTE_OK || !name || (kernel && strcmp(name, kernel) != 0)) continue;
        found = true;
        json_array_foreach(json_object_get(item, "lines"), inner, line)
        {
            json_int_t at = json_integer_value(json_object_get(line, "ptx_line"));
            if (at < 1 || (size_t)at > lines) {
                status = bad_report(
                    label, "the counters belong to other PTX: a line number exceeds its length", diag);
                break;
            }
            code[at] = true;
            add_counters(line, &counts[at]);
        }
    }
    if (status == CUTE_OK && !found)
        status = bad_report(label,
                            kernel ? "the report has no counters of this kernel"
                                   : "the report has no counters of kernels",
                            diag);
    if (status == CUTE_OK) put_heading(out);
    for (size_t n = 1, at = 0; status == CUTE_OK && at < length; n++) {
        const char *end = memchr(ptx + at, '\n', length - at);
        size_t size = end ? (size_t)(end - ptx) - at : length - at;
        size_t before = out->length;
        put_cells(&counts[n], code[n], out);
        if (size)
            cute_buffer_append(out, ptx + at, size);
        else
            while (out->length > before && out->data[out->length - 1] == ' ') out->length--;
        cute_buffer_putc(out, '\n');
        at += size + 1;
    }
    free(counts);
    free(code);
    return status;
}

/* ---- annotated source ---- */

/* Line `number` of a text, with its length; NULL: no such line. */
static const char *find_line(const cute_buffer *text, long long number, size_t *length)
{
    const char *at = cute_buffer_text(text), *end = at + text->length;
    for (long long n = 1; at < end; n++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        *length = (size_t)((next ? next : end) - at);
        if (n == number) return at;
        if (!next) return NULL;
        at = next + 1;
    }
    return NULL;
}

static void put_source_line(const counted *c, const cute_buffer *text, long long number, cute_buffer *out)
{
    static const counted nothing = {0};
    size_t length = 0, before = out->length;
    const char *line = find_line(text, number, &length);
    if (!line && !c) return;
    put_cells(c ? c : &nothing, c != NULL, out);
    cute_buffer_printf(out, "%5lld  %.*s", number, (int)length, line ? line : "");
    while (out->length > before && out->data[out->length - 1] == ' ') out->length--;
    cute_buffer_putc(out, '\n');
}

/* The executed lines of one file, with one line of context on each side. */
static void put_file(const counted *list, size_t count, cute_buffer *out)
{
    cute_buffer text = {0};
    long long shown = 0;
    cute_diag *quiet = cute_diag_create();
    bool there = cute_file_exists(list->file) && cute_file_read(list->file, &text, quiet) == CUTE_OK;
    cute_buffer_printf(out, "%s%s\n", list->file, there ? "" : " (not found)");
    for (size_t n = 0; n < count; n++) {
        long long first = list[n].line > 1 ? list[n].line - 1 : list[n].line;
        if (shown && first > shown + 1) cute_buffer_puts(out, "...\n");
        for (long long k = first > shown ? first : shown + 1; k < list[n].line; k++)
            put_source_line(NULL, &text, k, out);
        put_source_line(&list[n], &text, list[n].line, out);
        shown = list[n].line;
        if (!shown) continue; /* counters without a line */
        if (n + 1 < count && list[n + 1].line == shown + 1) continue;
        put_source_line(NULL, &text, ++shown, out);
    }
    cute_buffer_release(&text);
    cute_diag_destroy(quiet);
}

cute_status cute_report_counted_source(const char *label, const json_t *report, const char *kernel,
                                       cute_buffer *out, cute_diag *diag)
{
    const json_t *list = json_is_array(report) ? report : json_object_get(report, "counters");
    size_t index, inner, count = 0;
    json_t *item, *line, *lines = json_array();
    if (!json_is_array(list)) {
        json_decref(lines);
        return bad_report(label, "the report has no \"counters\"", diag);
    }
    json_array_foreach((json_t *)(uintptr_t)list, index, item)
    {
        const char *name = json_string_value(json_object_get(item, "kernel"));
        if (!name || (kernel && strcmp(name, kernel) != 0)) continue;
        json_array_foreach(json_object_get(item, "lines"), inner,
                           line) if (json_string_value(json_object_get(line, "file")))
            json_array_append(lines, line);
    }
    cute_arena *arena = cute_arena_create();
    counted *sums = arena && lines ? sum_lines(arena, lines, &count) : NULL;
    cute_status status = sums ? CUTE_OK : cute_fail_memory(diag);
    if (status == CUTE_OK && !count)
        status = bad_report(label, "the counters have no source lines: compile with -lineinfo", diag);
    if (count) put_heading(out);
    for (size_t n = 0, next; status == CUTE_OK && n < count; n = next) {
        for (next = n + 1; next < count && !strcmp(sums[next].file, sums[n].file); next++) {
        }
        put_file(&sums[n], next - n, out);
    }
    cute_arena_destroy(arena);
    json_decref(lines);
    return status;
}
