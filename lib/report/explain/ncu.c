/* Reads the output of `ncu --csv` of all versions since 2020, as written or as saved again by a spreadsheet or a shell: with
 * other separators, decimal commas, UTF-16. */
#include "lib/report/explain/ncu.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/list.h"
#include "lib/base/text/demangle.h"

/* ---- cells ---- */

typedef struct cells {
    char **items;
    size_t count, capacity;
} cells;

/* Reads the next row, without quotes, and advances *at. `multiline`: quoted cells may contain newlines. False at the end; *failed
 * when memory is exhausted. */
static bool next_row(cute_arena *arena, const char **at, const char *end, char separator, bool multiline,
                     cells *out, bool *failed)
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
        } else if ((c == separator && !quoted) || (c == '\n' && (!quoted || !multiline || *at >= end))) {
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

static int find_column(const cells *row, const char *name)
{
    for (size_t n = 0; n < row->count; n++)
        if (!strcmp(row->items[n], name)) return (int)n;
    return -1;
}

/* The column of the first name that exists; -1: none. */
static int find_any_column(const cells *row, const char *const *names, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        int found = find_column(row, names[n]);
        if (found >= 0) return found;
    }
    return -1;
}
#define COLUMN(row, names) find_any_column(row, names, sizeof(names) / sizeof *(names))

static const char *cell_at(const cells *row, int n)
{
    return n >= 0 && (size_t)n < row->count ? row->items[n] : "";
}

/* "1,234.5", "1.234,5", "1'234.5". Of two different marks the last one is the decimal mark. A comma alone is the decimal mark if
 * three digits do not follow it, or if cells are separated by semicolons. */
static double parse_number(const char *text, char separator)
{
    char digits[64];
    size_t n = 0;
    const char *comma = strrchr(text, ','), *point = strrchr(text, '.'),
               *last = comma > point ? comma : point;
    char decimal = '.';
    if (comma && (!point || comma > point)) {
        bool grouped = strspn(comma + 1, "0123456789") == 3 && separator != ';';
        decimal = (point && comma > point) || !grouped ? ',' : '.';
    } else if (comma && point && strchr(text, '.') != point) {
        decimal = ',';
    }
    for (const char *at = text; *at && n + 1 < sizeof digits; at++) {
        if (*at == decimal && at == last)
            digits[n++] = '.';
        else if ((*at >= '0' && *at <= '9') || *at == '-' || *at == 'e' || *at == 'E' || *at == '+')
            digits[n++] = *at;
        else if (*at == '%')
            break;
    }
    digits[n] = '\0';
    double value = strtod(digits, NULL);
    return value >= 0 && value < 1e18 ? value : 0;
}

/* "(256, 1, 1)", "256x1x1", "256" */
static void parse_extent(const char *text, int64_t out[3])
{
    int64_t found[3] = {0};
    int count = 0;
    for (const char *at = text; *at && count < 3;) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *after;
        long long n = strtoll(at, &after, 10);
        found[count++] = n > 0 && n < INT64_C(1) << 31 ? n : 1;
        at = after;
    }
    if (!count) return;
    for (int d = 0; d < 3; d++) out[d] = d < count ? found[d] : 1;
}

/* ---- stalls ---- */

static const struct {
    const char *word, *text;
} reasons[] = {
    {"long_scoreboard", "waiting for global or local memory"},
    {"long_sb", "waiting for global or local memory"},
    {"short_scoreboard", "waiting for shared memory or special functions"},
    {"short_sb", "waiting for shared memory or special functions"},
    {"barrier", "waiting at a block barrier"},
    {"membar", "waiting for a memory fence"},
    {"mio_throttle", "MIO queue full"},
    {"mio", "MIO queue full"},
    {"lg_throttle", "global memory queue full"},
    {"lg", "global memory queue full"},
    {"math_pipe_throttle", "math pipe busy"},
    {"math", "math pipe busy"},
    {"wait", "fixed latency of the previous instruction"},
    {"imc_miss", "constant cache miss"},
    {"imc", "constant cache miss"},
    {"no_instruction", "instruction cache miss"},
    {"no_instructions", "instruction cache miss"},
    {"no_inst", "instruction cache miss"},
    {"branch_resolve", "resolving a branch"},
    {"branch_resolving", "resolving a branch"},
    {"drain", "draining stores at exit"},
    {"sleeping", "sleeping"},
    {"tex_throttle", "texture queue full"},
    {"tex", "texture queue full"},
    {"gmma", "waiting for wgmma"},
    {"dispatch_stall", "dispatch stall"},
    {"dispatch", "dispatch stall"},
};

typedef struct reason {
    const char *text;   /* NULL: not a stall metric */
    const char *suffix; /* after the reason's name */
    size_t prefix;      /* length of the text before it */
} reason;

/* "..._issue_stalled_long_scoreboard_per_warp_active.pct", "stall_long_sb", "Stall Long Scoreboard". */
static reason reason_of(cute_arena *arena, const char *metric)
{
    const char *at = strstr(metric, "issue_stalled_");
    char *label = NULL;
    if (at) {
        at += strlen("issue_stalled_");
    } else if (!strncmp(metric, "stall_", 6)) {
        at = metric + 6;
    } else if (!strncmp(metric, "Stall ", 6)) {
        at = label = cute_arena_copy(arena, metric + 6, strlen(metric + 6));
        for (char *c = label; c && *c; c++)
            *c = *c == ' ' ? '_' : *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    }
    if (!at || strstr(metric, "not_issued") || strstr(metric, "ot Issued") || strstr(metric, "ot-issued"))
        return (reason){0};
    size_t best = 0;
    reason out = {0};
    for (size_t n = 0; n < sizeof reasons / sizeof *reasons; n++) {
        size_t length = strlen(reasons[n].word);
        if (length <= best || strncmp(at, reasons[n].word, length) ||
            (at[length] && at[length] != '_' && at[length] != '.' && at[length] != ' '))
            continue;
        best = length;
        out = (reason){reasons[n].text, label ? "" : at + length, label ? 0 : (size_t)(at - metric)};
    }
    return out;
}

static void add_stall(cute_arena *arena, ncu_kernel *k, const char *metric, double value)
{
    reason r = reason_of(arena, metric);
    ncu_family *f = NULL;
    if (!r.text || !(value > 0)) return;
    for (size_t n = 0; n < k->family_count && !f; n++) {
        ncu_family *o = &k->families[n];
        if (o->prefix_length == r.prefix && !strncmp(o->prefix, metric, r.prefix) &&
            !strcmp(o->suffix, r.suffix))
            f = o;
    }
    if (!f) {
        if (k->family_count == NCU_FAMILIES) return;
        f = &k->families[k->family_count++];
        *f = (ncu_family){.prefix = metric, .suffix = r.suffix, .prefix_length = r.prefix};
    }
    for (size_t n = 0; n < f->count; n++)
        if (f->items[n].text == r.text) {
            f->items[n].value += value;
            return;
        }
    if (f->count < NCU_REASONS) f->items[f->count++] = (ncu_stall){r.text, value};
}

size_t ncu_stalls(const ncu_kernel *kernel, ncu_stall out[NCU_REASONS])
{
    const ncu_family *most = NULL;
    for (size_t n = 0; n < kernel->family_count; n++)
        if (!most || kernel->families[n].count > most->count) most = &kernel->families[n];
    if (!most) return 0;
    memcpy(out, most->items, most->count * sizeof *out);
    return most->count;
}

/* ---- pages ---- */

typedef enum page { NO_PAGE, DETAILS_PAGE, RAW_PAGE, SOURCE_PAGE } page;

static const char *const source_names[] = {"Source", "SASS", "CUDA", "PTX"};
static const char *const sample_names[] = {"Warp Stall Sampling (All Samples)",
                                           "Warp Stall Sampling (All Cycles)",
                                           "Sampling Data (All)",
                                           "# Samples",
                                           "Samples",
                                           "smsp__pcsamp_sample_buffer_full",
                                           "group:smsp__pcsamp_warp_stall_reasons"};
static const char *const line_names[] = {"#", "Line", "Line No", "Line Number"};
static const char *const file_names[] = {"File", "File Name", "File Path"};

static page page_of(const cells *row)
{
    if (row->count < 2) return NO_PAGE;
    if (find_column(row, "Metric Name") >= 0 && find_column(row, "Metric Value") >= 0) return DETAILS_PAGE;
    if (COLUMN(row, source_names) >= 0 &&
        (COLUMN(row, sample_names) >= 0 || find_column(row, "Address") >= 0 || COLUMN(row, line_names) >= 0))
        return SOURCE_PAGE;
    return find_column(row, "Kernel Name") > 0 && row->count > 4 ? RAW_PAGE : NO_PAGE;
}

typedef struct reader {
    cute_arena *arena;
    ncu_table *table;
    cells head;
    page page;
    char separator;
    size_t kernel; /* of a source page */
    bool named;    /* `kernel` comes from a "Kernel Name" row */
    const char *file;
    int64_t base, rows; /* of SASS: the first address, -1: none yet; rows so far */
    bool without_samples, failed;
} reader;

/* The index of a kernel in the table, added if missing; SIZE_MAX when memory is exhausted. */
static size_t find_or_add_kernel(reader *r, const char *name)
{
    for (size_t n = 0; n < r->table->count; n++)
        if (!strcmp(r->table->kernels[n].name, name)) return n;
    if (!cute_arena_more(r->arena, &r->table->kernels, r->table->count, &r->table->capacity,
                         sizeof *r->table->kernels, 4)) {
        r->failed = true;
        return SIZE_MAX;
    }
    r->table->kernels[r->table->count] = (ncu_kernel){.name = name};
    return r->table->count++;
}

static void read_launch(ncu_kernel *k, const cells *head, const cells *row)
{
    static const char *const blocks[] = {"Block Size", "launch__block_size"};
    static const char *const grids[] = {"Grid Size", "launch__grid_size"};
    static const char *const block_dims[] = {"launch__block_dim_x", "launch__block_dim_y",
                                             "launch__block_dim_z"};
    static const char *const grid_dims[] = {"launch__grid_dim_x", "launch__grid_dim_y", "launch__grid_dim_z"};
    if (k->block[0]) return;
    parse_extent(cell_at(row, COLUMN(head, blocks)), k->block);
    parse_extent(cell_at(row, COLUMN(head, grids)), k->grid);
    for (int d = 0; d < 3; d++) {
        int64_t one[3] = {0};
        parse_extent(cell_at(row, find_column(head, block_dims[d])), one);
        if (one[0]) k->block[d] = one[0];
        one[0] = 0;
        parse_extent(cell_at(row, find_column(head, grid_dims[d])), one);
        if (one[0]) k->grid[d] = one[0];
    }
}

static void read_sample(reader *r, const cells *row)
{
    int samples = COLUMN(&r->head, sample_names), address = find_column(&r->head, "Address"),
        line = COLUMN(&r->head, line_names);
    ncu_kernel *k = &r->table->kernels[r->kernel];
    ncu_sample s = {.address = -1, .file = r->file};
    double most = 0;
    /* "File Path","/src/k.cu" between the lines of several files */
    for (size_t n = 0; n < sizeof file_names / sizeof *file_names && row->count >= 2; n++)
        if (!strcmp(row->items[0], file_names[n])) {
            r->file = row->items[1];
            return;
        }
    if (row->count + 2 < r->head.count || row->count < 2) return;
    if (address >= 0) {
        const char *text = cell_at(row, address);
        char *after;
        int64_t at = (int64_t)strtoull(text, &after, 0);
        bool known = after != text && at >= 0;
        /* A page with both views interleaves source lines with SASS. */
        if (!*text && line >= 0) return;
        if (r->base < 0) r->base = known ? at : 0;
        /* Instructions take 16 bytes; some versions of ncu number them instead. */
        s.address = known && at >= r->base && (at - r->base) % 16 == 0 ? at - r->base : 16 * r->rows;
        r->rows++;
    } else {
        s.line = line >= 0 ? (int64_t)parse_number(cell_at(row, line), r->separator) : ++r->rows;
        k->by_line = true;
    }
    s.count = parse_number(cell_at(row, samples), r->separator);
    for (size_t n = 0; n < row->count && n < r->head.count; n++) {
        reason why = reason_of(r->arena, r->head.items[n]);
        double value = why.text ? parse_number(row->items[n], r->separator) : 0;
        if (value > most) most = value, s.stall = why.text;
        if (why.text) add_stall(r->arena, k, r->head.items[n], value);
    }
    if (!cute_arena_more(r->arena, &k->samples, k->count, &k->capacity, sizeof *k->samples, 64))
        r->failed = true;
    else
        k->samples[k->count++] = s;
}

static void read_row(reader *r, const cells *row)
{
    const char *name = cell_at(row, find_column(&r->head, "Kernel Name"));
    if (r->page == SOURCE_PAGE) {
        if (r->kernel != SIZE_MAX && !r->without_samples) read_sample(r, row);
        return;
    }
    if (!*name) return; /* a row of units, or not a launch */
    size_t n = find_or_add_kernel(r, name);
    if (n == SIZE_MAX) return;
    ncu_kernel *k = &r->table->kernels[n];
    read_launch(k, &r->head, row);
    if (r->page == DETAILS_PAGE)
        add_stall(r->arena, k, cell_at(row, find_column(&r->head, "Metric Name")),
                  parse_number(cell_at(row, find_column(&r->head, "Metric Value")), r->separator));
    for (size_t c = 0; r->page == RAW_PAGE && c < row->count && c < r->head.count; c++)
        add_stall(r->arena, k, r->head.items[c], parse_number(row->items[c], r->separator));
}

/* Takes a row that begins a table or names the kernel of the next one; false: it is neither. */
static bool begin_table(reader *r, cells *row)
{
    page kind = page_of(row);
    if (kind == NO_PAGE) {
        if (row->count < 2 || strcmp(row->items[0], "Kernel Name") || !*row->items[1]) return false;
        r->kernel = find_or_add_kernel(r, row->items[1]);
        r->named = true;
        r->page = NO_PAGE;
        r->file = NULL;
        return true;
    }
    cells old = r->head;
    r->head = *row;
    *row = old;
    row->count = 0;
    r->page = kind;
    r->base = -1;
    r->rows = 0;
    if (kind == SOURCE_PAGE) {
        r->without_samples = COLUMN(&r->head, sample_names) < 0;
        if (!r->named) r->kernel = find_or_add_kernel(r, "");
        r->named = false;
    }
    return true;
}

/* Removes a byte-order mark and converts UTF-16 to ASCII; other characters become '?'. */
static bool convert_to_ascii(cute_arena *arena, const char **text, size_t *length)
{
    const unsigned char *from = (const unsigned char *)*text;
    bool little = *length >= 2 && from[0] == 0xff && from[1] == 0xfe,
         big = *length >= 2 && from[0] == 0xfe && from[1] == 0xff;
    if (*length >= 3 && !memcmp(from, "\xef\xbb\xbf", 3)) {
        *text += 3;
        *length -= 3;
    }
    if (!little && !big) return true;
    char *to = cute_arena_array(arena, *length / 2 + 1, 1);
    if (!to) return false;
    for (size_t n = 1; n < *length / 2; n++) {
        unsigned char low = from[2 * n + (little ? 0 : 1)], high = from[2 * n + (little ? 1 : 0)];
        to[n - 1] = high || low > 126 ? '?' : (char)low;
    }
    *text = to;
    *length = *length / 2 - 1;
    return true;
}

static cute_status fail_not_a_table(const char *label, const char *text, size_t length, cute_diag *diag)
{
    const cute_place file = {.file = label};
    if (length >= 4 && !memcmp(text, "NVR", 4))
        return cute_fail(diag, CUTE_INVALID, &file,
                         "expected a CSV table, got a binary report of ncu: convert it with ncu --import "
                         "FILE --page source --csv");
    if (memmem(text, length, "Total Time (ns)", 15))
        return cute_fail(diag, CUTE_INVALID, &file, "expected a table of ncu --csv, got one of nsys");
    if (memmem(text, length, "Section: ", 9))
        return cute_fail(diag, CUTE_INVALID, &file,
                         "expected a CSV table, got text output of ncu: run ncu with --csv and --page raw, "
                         "details or source");
    return cute_fail(
        diag, CUTE_INVALID, &file,
        "expected a table of ncu --csv (--page raw, details or source), got a file without its header");
}

cute_status ncu_read(cute_arena *arena, const char *label, const char *text, size_t length, ncu_table *out,
                     cute_diag *diag)
{
    static const char separators[] = {',', ';', '\t'};
    reader r = {.arena = arena, .table = out, .separator = ',', .kernel = SIZE_MAX};
    cells row = {0};
    *out = (ncu_table){0};
    if (!convert_to_ascii(arena, &text, &length)) return cute_fail_memory(diag);
    const char *at = text, *end = text + length;
    bool any = false;
    while (at < end && !r.failed) {
        const char *start = at;
        /* Before the first table, skip the program's own output and try every separator. */
        if (!any) {
            bool begun = false;
            for (size_t s = 0; s < sizeof separators && !begun && !r.failed; s++) {
                at = start;
                r.separator = separators[s];
                begun =
                    next_row(arena, &at, end, r.separator, false, &row, &r.failed) && begin_table(&r, &row);
            }
            any = begun && r.page != NO_PAGE;
            continue;
        }
        if (!next_row(arena, &at, end, r.separator, true, &row, &r.failed)) break;
        if (!begin_table(&r, &row) && r.page != NO_PAGE) read_row(&r, &row);
    }
    if (r.failed) return cute_fail_memory(diag);
    if (!any) return fail_not_a_table(label, text, length, diag);
    if (r.without_samples) {
        const cute_place file = {.file = label};
        return cute_fail(diag, CUTE_INVALID, &file,
                         "the source page has no samples: collect them with ncu --section SourceCounters");
    }
    return CUTE_OK;
}

/* "void scale<(int)3>(float *)": "scale" */
static const char *kernel_base_name(cute_arena *arena, const char *name)
{
    if (!strncmp(name, "void ", 5)) name += 5;
    size_t length = strcspn(name, "<(");
    while (length && name[length - 1] == ' ') length--;
    return cute_arena_copy(arena, name, length);
}

const ncu_kernel *ncu_find(cute_arena *arena, const ncu_table *table, const char *symbol, bool only)
{
    const ncu_kernel *found = NULL;
    for (size_t n = 0; n < table->count; n++)
        if (*table->kernels[n].name && cute_symbol_matches(arena, symbol, table->kernels[n].name))
            return &table->kernels[n];
    for (size_t n = 0; n < table->count; n++) {
        const ncu_kernel *k = &table->kernels[n];
        const char *base = kernel_base_name(arena, k->name);
        if (*k->name ? !(base && cute_symbol_matches(arena, symbol, base)) : !only) continue;
        if (found) return NULL; /* several instances of a template */
        found = k;
    }
    return found;
}
