/* The resource report as text. */
#include <string.h>

#include "lib/base/text/demangle.h"
#include "lib/code/sass/code.h"
#include "lib/report/module/module.h"
#include "lib/report/resources/resources.h"
#include "lib/report/table.h"

static const struct {
    unsigned bit;
    const char *name;
} limit_names[] = {{CUTE_LIMIT_WARPS, "warps"},
                   {CUTE_LIMIT_REGISTERS, "registers"},
                   {CUTE_LIMIT_SHARED, "shared memory"},
                   {CUTE_LIMIT_BARRIERS, "barriers"},
                   {CUTE_LIMIT_BLOCKS, "blocks"}};
enum { LIMITS = sizeof limit_names / sizeof *limit_names };

static const char *format_count(cute_arena *arena, int64_t value)
{
    return value == INT64_MAX || value < 0 ? "-" : cute_arena_printf(arena, "%lld", (long long)value);
}

static const char *limits_text(cute_arena *arena, unsigned limits)
{
    const char *text = "";
    for (size_t i = 0; i < LIMITS && text; i++)
        if (limits & limit_names[i].bit)
            text = cute_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", limit_names[i].name);
    return text;
}

/* ---- one more block, or the same number ---- */

typedef struct change {
    int64_t now, most;
    const char *what;
} change;

static size_t list_changes(const occupancy_report *r, const cute_occupancy_most *most, change out[4])
{
    const cute_occupancy_input *in = &r->in;
    out[0] = (change){in->threads, most->threads, "threads"};
    out[1] = (change){in->registers, most->registers, "registers"};
    out[2] = (change){in->static_smem + in->dynamic_smem, most->smem, "bytes of shared memory"};
    out[3] = (change){in->barriers, most->barriers, "barriers"};
    return 4;
}

/* Fewer threads per block also reduce registers: the alternative if both limit. */
static void put_more(const occupancy_report *r, const char *indent, cute_buffer *out)
{
    change list[4];
    size_t said = 0, count = list_changes(r, &r->more, list);
    bool warps = r->now.by_warps <= r->now.blocks;
    cute_buffer_printf(out, "%sfor %lld block%s: ", indent, (long long)r->now.blocks + 1,
                       r->now.blocks ? "s" : "");
    for (size_t i = 0; i < count; i++) {
        if (list[i].now <= list[i].most || (i == 0 && !warps)) continue;
        /* If warps limit, smaller blocks already free enough registers. */
        if (i == 1 && warps) continue;
        cute_buffer_puts(out, said++ ? " and " : "");
        if (list[i].most < 0)
            cute_buffer_printf(out, "impossible with any number of %s", list[i].what);
        else
            cute_buffer_printf(out, "at most %lld %s, %lld fewer", (long long)list[i].most, list[i].what,
                               (long long)(list[i].now - list[i].most));
    }
    cute_buffer_putc(out, '\n');
    if (!warps && list[0].now > list[0].most && list[0].most > 0)
        cute_buffer_printf(out, "%s    or blocks of at most %lld threads with as many registers\n", indent,
                           (long long)list[0].most);
}

static void put_same(const occupancy_report *r, const char *indent, cute_buffer *out)
{
    change list[4];
    size_t said = 0, count = list_changes(r, &r->same, list);
    for (size_t i = 0; i + 1 < count; i++) {
        if (list[i].most <= list[i].now) continue;
        cute_buffer_printf(out, "%s%s%lld %s", said ? ", " : indent,
                           said ? "" : "the same number of blocks with up to ", (long long)list[i].most,
                           list[i].what);
        said++;
    }
    if (said) cute_buffer_puts(out, said > 1 ? " (each alone)\n" : "\n");
}

/* ---- tables ---- */

static void put_limits(cute_arena *arena, const occupancy_report *r, const char *indent, cute_buffer *out)
{
    const cute_occupancy *o = &r->now;
    int64_t warps = (r->in.threads + 31) / 32;
    const struct {
        const char *name;
        int64_t takes, has, blocks;
    } rows[] = {{"warps", warps, o->max_warps, o->by_warps},
                {"registers", o->block_registers, o->registers, o->by_registers},
                {"shared memory", o->block_smem, o->smem, o->by_smem},
                {"barriers", r->in.barriers, -1, o->by_barriers},
                {"blocks", 1, o->by_blocks, o->by_blocks}};
    cute_table table = {.arena = arena, .columns = 4};
    cute_table_row(&table, (const char *[]){"limit", "per block", "of", "blocks"});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cute_table_row(&table, (const char *[]){rows[i].name, format_count(arena, rows[i].takes),
                                                format_count(arena, rows[i].has),
                                                format_count(arena, rows[i].blocks)});
    cute_table_print(&table, 1, indent, out);
}

static void put_points(cute_arena *arena, const occupancy_report *r, const char *indent, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 6};
    cute_table_row(&table, (const char *[]){"", "threads", "blocks", "warps", "occupancy", "limited by"});
    for (size_t i = 0; i < r->counts[BY_THREADS]; i++) {
        const occupancy_point *p = &r->points[BY_THREADS][i];
        bool here = r->in.threads > p->at - 32 && r->in.threads <= p->at;
        cute_table_row(&table,
                       (const char *[]){here ? "*" : "", format_count(arena, p->at),
                                        format_count(arena, p->o.blocks), format_count(arena, p->o.warps),
                                        cute_arena_printf(arena, "%.0f%%", p->o.fraction * 100),
                                        limits_text(arena, p->o.limits)});
    }
    cute_table_print(&table, 1 | 32, indent, out);
}

void cute_occupancy_print(cute_arena *arena, const occupancy_report *r, bool tables, const char *indent,
                          cute_buffer *out)
{
    const cute_occupancy_input *in = &r->in;
    cute_buffer_puts(out, indent);
    if (in->threads) cute_buffer_printf(out, "%lld threads, ", (long long)in->threads);
    cute_buffer_printf(out, "%lld registers, %lld bytes of shared memory on %s\n", (long long)in->registers,
                       (long long)(in->static_smem + in->dynamic_smem), in->arch);
    if (r->compiled_for && strcmp(r->compiled_for, in->arch))
        cute_buffer_printf(out, "%sregisters and shared memory are those of the code for %s\n", indent,
                           r->compiled_for);
    if (r->dynamic_unknown)
        cute_buffer_printf(
            out, "%sdynamic shared memory is not counted: its size is set at launch (--dynamic)\n", indent);
    if (in->threads) {
        const cute_occupancy *o = &r->now;
        cute_buffer_printf(out, "%soccupancy: %s%lld block%s, %lld of %lld warps (%.0f%%), limited by %s\n\n",
                           indent, r->dynamic_unknown ? "at most " : "", (long long)o->blocks,
                           o->blocks == 1 ? "" : "s", (long long)o->warps, (long long)o->max_warps,
                           o->fraction * 100, limits_text(arena, o->limits));
        put_limits(arena, r, indent, out);
        cute_buffer_putc(out, '\n');
        if (o->blocks) put_same(r, indent, out);
        if (r->can_more && o->warps < o->max_warps) put_more(r, indent, out);
    } else {
        cute_buffer_printf(out, "%sthe block size is unknown: set it with --block\n", indent);
    }
    if (!tables && in->threads) return;
    cute_buffer_putc(out, '\n');
    put_points(arena, r, indent, out);
}

/* Live registers by class, and lines that use local memory. */
static void put_code(cute_arena *arena, const resource_kernel *r, const char *indent, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 5};
    if (!r->has_code) return;
    cute_buffer_printf(out, "%speak live registers:", indent);
    for (int c = 0; c < CUTE_REGISTER_CLASSES; c++)
        cute_buffer_printf(out, "%s %u %s", c ? "," : "", (unsigned)r->live[c], cute_register_class_name[c]);
    cute_buffer_putc(out, '\n');
    if (!r->local_count) return;
    cute_table_row(&table, (const char *[]){"local memory", "stores", "bytes", "loads", "bytes"});
    for (size_t i = 0; i < r->local_count; i++) {
        const resource_line *l = &r->local[i];
        const char *where = l->file ? cute_arena_printf(arena, "%s:%lld", l->file, (long long)l->line)
                                    : "no line (-lineinfo)";
        cute_table_row(&table,
                       (const char *[]){where, format_count(arena, l->stores),
                                        format_count(arena, l->bytes_stored), format_count(arena, l->loads),
                                        format_count(arena, l->bytes_loaded)});
    }
    cute_table_print(&table, 1, indent, out);
}

void cute_resources_print(cute_arena *arena, const resource_report *report, bool tables, cute_buffer *out)
{
    cute_buffer_printf(out, "%s: %s%s%s, %zu kernel%s\n", report->label, report->format,
                       *report->arch ? " for " : "", report->arch, report->count,
                       report->count == 1 ? "" : "s");
    for (size_t i = 0; i < report->count; i++) {
        const resource_kernel *r = &report->kernels[i];
        const cute_kernel *k = r->kernel;
        cute_buffer_printf(out, "\n%s\n", cute_symbol_name(arena, k->name));
        cute_report_kernel_resources(arena, k, "    ", out);
        put_code(arena, r, "    ", out);
        if (r->has_occupancy)
            cute_occupancy_print(arena, &r->occupancy, tables, "    ", out);
        else
            cute_buffer_printf(out, "    no occupancy: %s\n", r->why_not);
    }
}
