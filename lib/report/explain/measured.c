/* What was measured: counters of a launch on the emulator, and ncu's tables as CSV: the raw and the details page (stall reasons
 * of a kernel), the source page (samples by instruction or line). */
#include "lib/report/explain/measured.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/demangle.h"
#include "lib/base/list.h"

/* ---- a launch ---- */

static void read_extent(const json_t *list, int64_t out[3])
{
    for (size_t d = 0; d < 3; d++) {
        int64_t n = json_integer_value(json_array_get(list, d));
        out[d] = n > 0 ? n : 1;
    }
}

bool explain_read_launch(const json_t *report, const char *kernel, x_launch *out)
{
    const json_t *launch;
    size_t n;
    *out = (x_launch){0};
    json_array_foreach(json_object_get(report, "launches"), n, launch)
    {
        const char *name = json_string_value(json_object_get(launch, "kernel"));
        if (!name || strcmp(name, kernel)) continue;
        read_extent(json_object_get(launch, "grid"), out->grid);
        read_extent(json_object_get(launch, "block"), out->block);
        return true;
    }
    return false;
}

static void read_pair(const json_t *line, const char *key, double executed, x_seen *out)
{
    const json_t *pair = json_object_get(line, key);
    if (!pair) return;
    out->count = json_number_value(json_object_get(pair, "count")) / executed;
    out->ideal = json_number_value(json_object_get(pair, "ideal")) / executed;
}

bool explain_read_counters(cute_arena *arena, const json_t *report, const char *kernel, x_function *f)
{
    const json_t *item, *line;
    size_t n, k;
    json_array_foreach(json_object_get(report, "counters"), n, item)
    {
        const char *name = json_string_value(json_object_get(item, "kernel"));
        double threads = json_number_value(json_object_get(item, "threads")), warps = threads / X_LANES;
        if (!name || strcmp(name, kernel)) continue;
        if (warps < 1) warps = 1;
        size_t at = 0;
        json_array_foreach(json_object_get(item, "lines"), k, line)
        {
            int64_t ptx_line = json_integer_value(json_object_get(line, "ptx_line"));
            double executed = json_number_value(json_object_get(line, "instructions"));
            /* Both are in the order of the code; what is between counts as not run. */
            size_t i = at;
            while (i < f->count && f->insts[i].ptx_line != ptx_line) i++;
            if (i == f->count) continue;
            at = i + 1;
            x_seen *seen = cute_arena_alloc(arena, sizeof *seen);
            if (!seen) return false;
            seen->executed = executed / warps;
            if (executed > 0) {
                read_pair(line, "wavefronts", executed, seen);
                read_pair(line, "sectors", executed, seen);
            }
            f->insts[i].seen = seen;
        }
    }
    return true;
}

/* ---- CSV ---- */

typedef struct cells {
    char **items;
    size_t count, capacity;
} cells;

/* The next line, its cells without quotes; *at moves on. False at the end; *failed when memory is exhausted. */
static bool next_row(cute_arena *arena, const char **at, const char *end, cells *out, bool *failed)
{
    out->count = 0;
    if (*at >= end) return false;
    cute_buffer cell = {0};
    bool quoted = false, done = false;
    while (!done) {
        char c = *at < end ? *(*at)++ : '\n';
        if (quoted && c == '"' && *at < end && **at == '"') {
            cute_buffer_putc(&cell, *(*at)++);
        } else if (c == '"') {
            quoted = !quoted;
        } else if ((c == ',' && !quoted) || (c == '\n' && (!quoted || *at >= end))) {
            done = c == '\n';
            if (!cute_arena_more(arena, &out->items, out->count, &out->capacity, sizeof *out->items, 32) ||
                !(out->items[out->count++] = cute_arena_copy(arena, cute_buffer_text(&cell), cell.length)))
                *failed = done = true;
            cell.length = 0;
        } else if (c != '\r') {
            cute_buffer_putc(&cell, c);
        }
    }
    *failed |= !cute_buffer_ok(&cell);
    cute_buffer_release(&cell);
    return !*failed;
}

static int column(const cells *row, const char *name)
{
    for (size_t n = 0; n < row->count; n++)
        if (!strcmp(row->items[n], name)) return (int)n;
    return -1;
}

static const char *cell_at(const cells *row, int n)
{
    return n >= 0 && (size_t)n < row->count ? row->items[n] : "";
}

/* "1,234.5": commas between thousands. */
static double number(const char *text)
{
    char digits[64];
    size_t n = 0;
    for (; *text && n + 1 < sizeof digits; text++)
        if (*text != ',') digits[n++] = *text;
    digits[n] = '\0';
    return strtod(digits, NULL);
}

/* ---- stalls ---- */

static const struct {
    const char *word, *text;
} reasons[] = {
    {"long_scoreboard", "waiting for global or local memory"},
    {"long_sb", "waiting for global or local memory"},
    {"short_scoreboard", "waiting for shared memory or special functions"},
    {"short_sb", "waiting for shared memory or special functions"},
    {"barrier", "waiting at barriers of the block"},
    {"membar", "waiting at fences"},
    {"mio_throttle", "the queue of shared memory is full"},
    {"mio", "the queue of shared memory is full"},
    {"lg_throttle", "the queue of global memory is full"},
    {"lg", "the queue of global memory is full"},
    {"math_pipe_throttle", "an arithmetic pipe is full"},
    {"math", "an arithmetic pipe is full"},
    {"wait", "fixed latency of the instruction before"},
    {"imc_miss", "constants that are not cached"},
    {"no_instruction", "code that is not cached"},
    {"branch_resolve", "branches"},
    {"drain", "stores at the end of the warp"},
    {"sleeping", "asleep"},
    {"tex_throttle", "the queue of textures is full"},
    {"gmma", "waiting for wgmma"},
    {"dispatch_stall", "the dispatcher"},
};

/* The reason in the name of a metric: "..._issue_stalled_long_scoreboard_per_warp_active.pct"; NULL: none. */
static const char *reason_of(const char *metric)
{
    const char *at = strstr(metric, "issue_stalled_");
    if (at)
        at += strlen("issue_stalled_");
    else if (!strncmp(metric, "stall_", 6))
        at = metric + 6;
    else
        return NULL;
    if (strstr(metric, "not_issued")) return NULL;
    for (size_t n = 0; n < sizeof reasons / sizeof *reasons; n++) {
        size_t length = strlen(reasons[n].word);
        if (!strncmp(at, reasons[n].word, length) && (!at[length] || at[length] == '_' || at[length] == '.'))
            return reasons[n].text;
    }
    return NULL;
}

typedef struct stall {
    const char *text;
    double value;
} stall;
typedef struct stalls {
    stall items[sizeof reasons / sizeof *reasons];
    size_t count;
} stalls;

static void add_stall(stalls *s, const char *metric, double value)
{
    const char *text = reason_of(metric);
    if (!text || !(value > 0)) return;
    for (size_t n = 0; n < s->count; n++)
        if (s->items[n].text == text) {
            if (value > s->items[n].value) s->items[n].value = value;
            return;
        }
    if (s->count < sizeof s->items / sizeof *s->items) s->items[s->count++] = (stall){text, value};
}

static int by_value(const void *a, const void *b)
{
    const stall *x = a, *y = b;
    return (x->value < y->value) - (x->value > y->value);
}

static explain_kernel *kernel_named(cute_arena *arena, explain_report *r, const char *name)
{
    (void)arena;
    for (size_t n = 0; n < r->count; n++) {
        size_t length = strlen(r->kernels[n].name);
        const char *plain = strchr(r->kernels[n].name, '(');
        if (plain) length = (size_t)(plain - r->kernels[n].name);
        if (!strncmp(r->kernels[n].name, name, length) &&
            (!name[length] || name[length] == '(' || name[length] == '<'))
            return &r->kernels[n];
    }
    return NULL;
}

static void put_note(cute_arena *arena, explain_kernel *k, stalls *s)
{
    double sum = 0;
    cute_buffer text = {0};
    if (!k || !s->count) return;
    qsort(s->items, s->count, sizeof *s->items, by_value);
    for (size_t n = 0; n < s->count; n++) sum += s->items[n].value;
    for (size_t n = 0; n < s->count && n < 3; n++)
        cute_buffer_printf(&text, "%s%.0f %% %s", n ? ", " : "stalls: ", 100 * s->items[n].value / sum,
                           s->items[n].text);
    k->note = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
}

/* ---- pages ---- */

/* A row for each metric of a kernel. */
static explain_kernel *read_details(cute_arena *arena, const cells *head, const char *at, const char *end,
                                    explain_report *r, bool *failed)
{
    int name = column(head, "Kernel Name"), metric = column(head, "Metric Name"),
        value = column(head, "Metric Value");
    stalls s = {0};
    explain_kernel *found = NULL;
    cells row = {0};
    while (next_row(arena, &at, end, &row, failed)) {
        explain_kernel *k = kernel_named(arena, r, cell_at(&row, name));
        if (!k) continue;
        if (found && k != found) put_note(arena, found, &s), s.count = 0;
        found = k;
        add_stall(&s, cell_at(&row, metric), number(cell_at(&row, value)));
    }
    put_note(arena, found, &s);
    return found;
}

/* A column for each metric, a row of units, then a row for each launch. */
static explain_kernel *read_raw(cute_arena *arena, const cells *head, const char *at, const char *end,
                                explain_report *r, bool *failed)
{
    int name = column(head, "Kernel Name");
    explain_kernel *found = NULL;
    cells row = {0};
    while (next_row(arena, &at, end, &row, failed)) {
        explain_kernel *k = kernel_named(arena, r, cell_at(&row, name));
        stalls s = {0};
        if (!k) continue;
        found = k;
        for (size_t n = 0; n < row.count && n < head->count; n++)
            add_stall(&s, head->items[n], number(row.items[n]));
        put_note(arena, k, &s);
    }
    return found;
}

typedef struct sample {
    int64_t address, line;
    double count;
    const char *stall;
} sample;

/* Samples by instruction (a column Address) or line. */
static bool read_source(cute_arena *arena, const cells *head, const char *at, const char *end,
                        explain_kernel *k, bool *failed)
{
    int samples = column(head, "Warp Stall Sampling (All Samples)"), number_at = column(head, "#"),
        row_count = 0;
    bool machine = column(head, "Address") >= 0;
    sample *list = NULL;
    size_t count = 0, capacity = 0;
    double all = 0;
    cells row = {0};
    if (samples < 0) samples = column(head, "# Samples");
    if (samples < 0) samples = column(head, "Samples");
    if (samples < 0 || !k) return false;
    while (next_row(arena, &at, end, &row, failed)) {
        sample s = {.address = machine ? 16 * (int64_t)row_count : -1,
                    .count = number(cell_at(&row, samples))};
        double most = 0;
        row_count++;
        if (!machine && number_at >= 0) s.line = (int64_t)number(cell_at(&row, number_at));
        for (size_t n = 0; n < row.count && n < head->count; n++) {
            const char *text = reason_of(head->items[n]);
            double value = text ? number(row.items[n]) : 0;
            if (value > most) most = value, s.stall = text;
        }
        all += s.count;
        if (!cute_arena_more(arena, &list, count, &capacity, sizeof *list, 64)) {
            *failed = true;
            return false;
        }
        list[count++] = s;
    }
    for (size_t n = 0; n < k->count && all > 0; n++) {
        explain_finding *f = &k->findings[n];
        double sum = 0, most = 0;
        for (size_t m = 0; m < count; m++) {
            bool here = machine ? f->place.address >= 0 && list[m].address >= f->place.address &&
                                      list[m].address <= f->place.address + 32
                                : f->place.line && list[m].line == f->place.line;
            if (!here) continue;
            sum += list[m].count;
            if (list[m].count > most) most = list[m].count, f->stall = list[m].stall;
        }
        if (f->place.address < 0 && machine) continue;
        if (!f->place.line && !machine) continue;
        f->share = sum / all;
        f->measured = true;
    }
    return true;
}

cute_status explain_read_ncu(cute_arena *arena, const explain_input *input, explain_report *report,
                             cute_diag *diag)
{
    const char *at = input->ncu, *end = input->ncu + input->ncu_length;
    const cute_place file = {.file = input->ncu_label};
    cells row = {0};
    explain_kernel *found = NULL;
    bool failed = false, table = false;
    while (!table && next_row(arena, &at, end, &row, &failed)) {
        if (column(&row, "Metric Name") >= 0 && column(&row, "Metric Value") >= 0) {
            table = true;
            found = read_details(arena, &row, at, end, report, &failed);
        } else if (column(&row, "Source") >= 0) {
            table = true;
            if (!found && report->count == 1) found = report->kernels;
            if (found && !read_source(arena, &row, at, end, found, &failed) && !failed)
                return cute_fail(diag, CUTE_INVALID, &file, "the source page has no column with samples");
        } else if (column(&row, "Kernel Name") >= 0 && row.count > 4) {
            table = true;
            found = read_raw(arena, &row, at, end, report, &failed);
        } else if (row.count >= 2 && !strcmp(row.items[0], "Kernel Name")) {
            found = kernel_named(arena, report, row.items[1]);
        }
    }
    if (failed) return cute_fail_memory(diag);
    if (!table)
        return cute_fail(diag, CUTE_INVALID, &file,
                         "expected a table of ncu --csv (--page raw, details or source), found no header");
    if (!found) return cute_fail(diag, CUTE_INVALID, &file, "the table names no kernel of %s", input->label);
    return CUTE_OK;
}
