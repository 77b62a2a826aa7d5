/* Memory accesses as text and JSON. */
#include <string.h>

#include "lib/code/access.h"
#include "lib/report/table.h"

bool cute_access_is_poor(const cute_access *a)
{
    return !a->unknown && a->count > a->ideal;
}

/* ---- text ---- */

static const char *format_place(cute_arena *arena, const cute_access *a)
{
    const char *slash = a->file ? strrchr(a->file, '/') : NULL;
    return a->file ? cute_arena_printf(arena, "%s:%u", slash ? slash + 1 : a->file, a->line)
                   : cute_arena_printf(arena, "PTX %u", a->ptx_line);
}

static const char *format_range(cute_arena *arena, unsigned least, unsigned most)
{
    return least == most ? cute_arena_printf(arena, "%u", least)
                         : cute_arena_printf(arena, "%u-%u", least, most);
}

/* Why the cost depends on the launch; NULL: it does not. */
static const char *cost_dependence(const cute_access *a)
{
    return a->unknown ? a->unknown : a->estimated;
}

static const char *format_remark(cute_arena *arena, const cute_access *a)
{
    cute_buffer text = {0};
    const char *parts[5];
    int count = 0;
    if (cost_dependence(a) && a->counted.requests)
        return cute_arena_printf(arena, "counted in %llu requests: %s",
                                 (unsigned long long)a->counted.requests, cost_dependence(a));
    if (a->unknown) return a->unknown;
    if (a->pattern) parts[count++] = a->pattern;
    if (a->estimated) parts[count++] = cute_arena_printf(arena, "estimated: %s", a->estimated);
    if (a->lanes_assumed) parts[count++] = "assuming that all lanes are active";
    if (a->one_side)
        parts[count++] = a->space == CUTE_CODE_SPACE_SHARED ? "lower bound: unknown source address"
                                                            : "lower bound: unknown destination address";
    if (a->alignment_assumed)
        parts[count++] =
            cute_arena_printf(arena, "fewer if the base is 32-byte aligned (known alignment: %u)",
                              a->alignment ? a->alignment : 1);
    for (int n = 0; n < count; n++)
        cute_buffer_printf(&text, "%s%s", n ? "; " : "", parts[n] ? parts[n] : "");
    const char *copy = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return copy;
}

/* The average per request. */
static const char *format_average(cute_arena *arena, uint64_t sum, uint64_t requests)
{
    return cute_arena_printf(arena, sum % requests ? "%.1f" : "%.0f", (double)sum / (double)requests);
}

typedef struct totals {
    size_t poor, unknown, estimated, counted;
} totals;

enum { COLUMNS = 9, COUNT = 1, UNREAD_MOST = 8 };

/* The cells of a row except the number of accesses; false: memory is exhausted. */
static bool make_cells(cute_arena *arena, const cute_access *a, const char *cells[COLUMNS])
{
    cells[0] = format_place(arena, a);
    cells[COUNT] = "";
    cells[2] = a->operation;
    cells[3] = cute_code_access_name[a->kind];
    cells[4] = cute_code_space_name[a->space];
    cells[5] = cute_arena_printf(arena, "%u", a->bytes);
    cells[6] = a->unknown ? "?" : format_range(arena, a->least.count, a->most.count);
    cells[7] = a->unknown ? "" : format_range(arena, a->least.ideal, a->most.ideal);
    if (cost_dependence(a) && a->counted.requests) {
        cells[6] = format_average(arena, a->counted.count, a->counted.requests);
        cells[7] = format_average(arena, a->counted.ideal, a->counted.requests);
    }
    cells[8] = format_remark(arena, a);
    for (int c = 0; c < COLUMNS; c++)
        if (!cells[c]) return false;
    return true;
}

static bool same_cells(const char *const *a, const char *const *b)
{
    for (int c = 0; c < COLUMNS; c++)
        if (c != COUNT && strcmp(a[c], b[c]) != 0) return false;
    return true;
}

/* The hash table slot of an equal row, or a free one. */
static size_t find_slot(const size_t *slots, size_t size, const char *const (*rows)[COLUMNS], size_t row)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int c = 0; c < COLUMNS; c++)
        for (const char *at = rows[row][c]; c != COUNT && *at; at++)
            hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    size_t at = (size_t)(hash >> 16) & (size - 1);
    while (slots[at] && !same_cells(rows[slots[at] - 1], rows[row])) at = (at + 1) & (size - 1);
    return at;
}

static void put_kernel(cute_arena *arena, const cute_access_kernel *k, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = COLUMNS};
    totals t = {0};
    const char *(*rows)[COLUMNS] = cute_arena_array(arena, k->count + 1, sizeof *rows);
    size_t *counts = cute_arena_array(arena, k->count + 1, sizeof *counts), count = 0, size = 16;
    while (size < k->count * 2) size *= 2;
    size_t *slots = cute_arena_array(arena, size, sizeof *slots);
    if (!rows || !counts || !slots) return;
    for (size_t n = 0; n < k->count; n++) {
        const cute_access *a = &k->accesses[n];
        t.unknown += a->unknown != NULL;
        t.counted += cost_dependence(a) && a->counted.requests;
        t.estimated += a->estimated != NULL;
        t.poor += cute_access_is_poor(a);
        if (!make_cells(arena, a, rows[count])) return;
        size_t slot = find_slot(slots, size, (const char *const(*)[COLUMNS])rows, count);
        if (!slots[slot]) slots[slot] = ++count;
        counts[slots[slot] - 1]++;
    }
    cute_buffer_printf(out, "%s", k->kernel);
    const char *block = code_block_text(arena, &k->assume);
    cute_buffer_printf(out, ", %s: %zu accesses, %zu cost more than necessary, %zu estimated, %zu unknown",
                       block ? block : "", k->count, t.poor, t.estimated, t.unknown);
    if (t.counted) cute_buffer_printf(out, "; %zu counted on the emulator", t.counted);
    cute_buffer_puts(out, "\n");
    cute_table_row(
        &table, (const char *[]){"line", "times", "operation", "", "memory", "bytes", "cost", "ideal", ""});
    for (size_t n = 0; n < count; n++) {
        rows[n][COUNT] = cute_arena_printf(arena, "%zu", counts[n]);
        if (rows[n][COUNT]) cute_table_row(&table, rows[n]);
    }
    if (table.rows > 1) cute_table_print(&table, 1 | 4 | 8 | 16 | 256, "  ", out);
    if (k->not_counted) cute_buffer_printf(out, "  not counted: %s\n", k->not_counted);
    if (k->unread.count) {
        const char *names = cute_unread_text(arena, &k->unread, UNREAD_MOST);
        cute_buffer_printf(out, "  unsupported instructions: %s\n", names ? names : "");
    }
}

void cute_access_print(cute_arena *arena, const cute_access_report *report, cute_buffer *out)
{
    for (size_t n = 0; n < report->count; n++) put_kernel(arena, &report->kernels[n], out);
}

/* ---- JSON ---- */

static json_t *cost_json(const cute_access_cost *c, const char *unit)
{
    return json_pack("{s:i,s:i,s:i,s:i}", "warp", (int)c->warp, unit, (int)c->count, "ideal", (int)c->ideal,
                     "lanes", (int)c->lanes);
}

static json_t *access_json(const cute_access *a)
{
    const char *unit = a->space == CUTE_CODE_SPACE_SHARED ? "wavefronts" : "sectors";
    json_t *value = json_pack("{s:s,s:s,s:s,s:i,s:i}", "operation", a->operation, "access",
                              cute_code_access_name[a->kind], "space", cute_code_space_name[a->space],
                              "width", (int)a->bytes, "ptx_line", (int)a->ptx_line);
    if (a->file) {
        json_object_set_new(value, "file", cute_json_text(a->file));
        json_object_set_new(value, "line", json_integer(a->line));
        json_object_set_new(value, "column", json_integer(a->column));
    }
    json_object_set_new(value, "in_loop", json_boolean(a->in_loop));
    if (a->counted.requests)
        json_object_set_new(value, "counted",
                            json_pack("{s:I,s:I,s:I}", "requests", (json_int_t)a->counted.requests, unit,
                                      (json_int_t)a->counted.count, "ideal", (json_int_t)a->counted.ideal));
    if (a->unknown) {
        json_object_set_new(value, "unknown", cute_json_text(a->unknown));
        return value;
    }
    json_object_set_new(value, unit, json_integer((json_int_t)a->count));
    json_object_set_new(value, "ideal", json_integer((json_int_t)a->ideal));
    json_object_set_new(value, "least", json_integer(a->least.count));
    json_object_set_new(value, "most", json_integer(a->most.count));
    json_t *warps = json_array(), *lanes = json_array();
    for (uint32_t w = 0; w < a->warps; w++) json_array_append_new(warps, cost_json(&a->costs[w], unit));
    json_object_set_new(value, "warps", warps);
    if (a->estimated) json_object_set_new(value, "estimated", cute_json_text(a->estimated));
    if (a->lanes_assumed) json_object_set_new(value, "lanes_assumed", json_true());
    if (a->one_side) json_object_set_new(value, "one_side", json_true());
    if (a->block_assumed) json_object_set_new(value, "block_assumed", json_true());
    if (a->warps_assumed) json_object_set_new(value, "warps_assumed", json_true());
    if (a->alignment) json_object_set_new(value, "alignment", json_integer(a->alignment));
    if (a->alignment_assumed) json_object_set_new(value, "alignment_assumed", json_true());
    for (uint32_t n = 0; n < a->request.count; n++)
        json_array_append_new(lanes,
                              json_pack("[iI]", (int)a->request.lane[n], (json_int_t)a->request.address[n]));
    json_object_set_new(value, "addresses", lanes);
    if (a->layout) json_object_set_new(value, "layout", json_string(a->layout));
    if (a->pattern) json_object_set_new(value, "pattern", json_string(a->pattern));
    return value;
}

json_t *cute_access_json(const cute_access_report *report)
{
    json_t *value = json_object(), *kernels = json_array();
    for (size_t n = 0; n < report->count; n++) {
        const cute_access_kernel *k = &report->kernels[n];
        json_t *one = json_object(), *list = json_array();
        json_object_set_new(one, "kernel", cute_json_text(k->kernel));
        const int64_t *block = k->assume.block;
        if (block[0]) {
            json_object_set_new(one, "block",
                                json_pack("[iii]", (int)block[0], (int)block[1], (int)block[2]));
            json_object_set_new(one, "block_from", json_string(k->assume.block_from));
        }
        for (size_t a = 0; a < k->count; a++) json_array_append_new(list, access_json(&k->accesses[a]));
        json_object_set_new(one, "accesses", list);
        if (k->not_counted) json_object_set_new(one, "not_counted", cute_json_text(k->not_counted));
        if (k->unread.count) json_object_set_new(one, "not_looked_at", cute_unread_json(&k->unread));
        json_array_append_new(kernels, one);
    }
    json_object_set_new(value, "file", cute_json_text(report->label));
    json_object_set_new(value, "kernels", kernels);
    return value;
}
