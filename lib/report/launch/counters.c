/* Counters of the emulator in tables: classes, spaces, lines; and beside the PTX. */
#include "lib/report/launch/counters.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/sort.h"
#include "lib/base/system/file.h"
#include "lib/report/table.h"

enum { LINES_SHOWN = 40, TALLIES = 9, LAST_LINE = 1 << 30 };

/* What a line did, out of one or more of its instructions. */
typedef struct counted {
    const char *file, *instruction;
    long long line;
    long long numbers[TALLIES]; /* by `columns` */
} counted;

static const struct {
    const char *name, *group, *sub, *key;
} columns[TALLIES] = {
    {"instructions", NULL, NULL, "instructions"}, {"lanes", NULL, NULL, "lanes"},
    {"parted", NULL, NULL, "divergences"},        {"global read", "bytes", "global", "read"},
    {"written", "bytes", "global", "written"},    {"shared read", "bytes", "shared", "read"},
    {"written", "bytes", "shared", "written"},    {"wavefronts", "wavefronts", NULL, "count"},
    {"sectors", "sectors", NULL, "count"}};

/* No launch counts that far; a report may say so. */
static long long sum_of(long long a, long long b)
{
    int64_t sum;
    return cute_add64(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

static void take(const json_t *value, counted *out)
{
    for (int n = 0; n < TALLIES; n++) {
        const json_t *at = value;
        if (columns[n].group) at = json_object_get(at, columns[n].group);
        if (columns[n].sub) at = json_object_get(at, columns[n].sub);
        out->numbers[n] = sum_of(out->numbers[n], json_integer_value(json_object_get(at, columns[n].key)));
    }
}

/* ---- tables ---- */

static const char *number(cute_arena *arena, long long value)
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
        (const char *[]){key, number(arena, json_integer_value(json_object_get(item, "instructions"))),
                         number(arena, json_integer_value(json_object_get(item, "lanes")))});
    cute_table_print(&table, 1, "  ", out);
    table = (cute_table){.arena = arena, .columns = 3};
    cute_table_row(&table, (const char *[]){"bytes", "read", "written"});
    json_object_foreach((json_t *)(uintptr_t)json_object_get(kernel, "bytes"), key, item) cute_table_row(
        &table, (const char *[]){key, number(arena, json_integer_value(json_object_get(item, "read"))),
                                 number(arena, json_integer_value(json_object_get(item, "written")))});
    if (table.rows > 1) cute_table_print(&table, 1, "  ", out);
}

static int by_place(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int by_work(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return x->numbers[0] > y->numbers[0] ? -1 : x->numbers[0] < y->numbers[0] ? 1 : by_place(a, b);
}

/* The instructions of `lines` summed up by line; of the source where it is known. *count: how many ran. */
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
        take(item, c);
        kept++;
    }
    cute_sort(list, kept, sizeof *list, by_place);
    for (size_t n = 0; n < kept; n++) {
        counted *last = *count ? &list[*count - 1] : NULL;
        if (!last || by_place(last, &list[n])) {
            list[(*count)++] = list[n];
            continue;
        }
        for (int k = 0; k < TALLIES; k++) last->numbers[k] = sum_of(last->numbers[k], list[n].numbers[k]);
    }
    return list;
}

/* Only the columns that have numbers. */
static void put_lines(cute_arena *arena, const json_t *kernel, cute_buffer *out)
{
    size_t count;
    counted *list = sum_lines(arena, json_object_get(kernel, "lines"), &count);
    bool used[TALLIES] = {0};
    if (!list || !count) return;
    cute_sort(list, count, sizeof *list, by_work);
    size_t shown = count < LINES_SHOWN ? count : LINES_SHOWN;
    cute_sort(list, shown, sizeof *list, by_place);
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
            if (used[k]) cells[at++] = c ? number(arena, c->numbers[k]) : columns[k].name;
        cute_table_row(&table, cells);
    }
    cute_table_print(&table, 1, "  ", out);
    if (count > shown) cute_buffer_printf(out, "  and %zu lines with less; --json has all\n", count - shown);
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

/* ---- beside the PTX ---- */

static cute_status bad_report(const char *label, const char *why, cute_diag *diag)
{
    const cute_place place = {.file = label};
    cute_fail(diag, CUTE_INVALID, &place, "%s", why);
    cute_note(diag, NULL, "cute-run k.ptx --config launch.json --counters --json writes such a report");
    return CUTE_INVALID;
}

/* Where the table has no numbers: a line without an instruction, or code that did not run. */
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
    cute_buffer_printf(out, "%12s %12s %7s %11s %11s %11s %11s\n", "instructions", "lanes", "parted",
                       "global read", "written", "shared read", "written");
}

cute_status cute_report_counted_ptx(const char *label, const json_t *report, const char *kernel,
                                    const char *ptx, size_t length, cute_buffer *out, cute_diag *diag)
{
    const json_t *list = json_is_array(report) ? report : json_object_get(report, "counters");
    size_t lines = 1, index, inner;
    json_t *item, *line;
    bool found = false;
    if (!json_is_array(list)) return bad_report(label, "this report has no \"counters\"", diag);
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
                status =
                    bad_report(label, "these counters are of other PTX: their lines go beyond its end", diag);
                break;
            }
            code[at] = true;
            take(line, &counts[at]);
        }
    }
    if (status == CUTE_OK && !found)
        status = bad_report(
            label, kernel ? "these counters know no such kernel" : "there are no counters of kernels", diag);
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

/* ---- the source ---- */

/* Line `number` of a text; *length: without its end. NULL: there is none. */
static const char *line_of(const cute_buffer *text, long long number, size_t *length)
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
    const char *line = line_of(text, number, &length);
    if (!line && !c) return;
    put_cells(c ? c : &nothing, c != NULL, out);
    cute_buffer_printf(out, "%5lld  %.*s", number, (int)length, line ? line : "");
    while (out->length > before && out->data[out->length - 1] == ' ') out->length--;
    cute_buffer_putc(out, '\n');
}

/* The lines of one file, each with the one before and behind it. */
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
        if (!shown) continue; /* what belongs to no line */
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
        return bad_report(label, "this report has no \"counters\"", diag);
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
        status = bad_report(label, "these counters know no lines of a source: compile with line information",
                            diag);
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
