/* Schedules as tables and as JSON. */
#include <string.h>

#include "lib/report/schedule/schedule.h"
#include "lib/report/table.h"

enum { WARP = 32 };
#define LL(n) ((long long)(n))

/* ---- cells ---- */

static const char *extents_text(cute_arena *arena, const schedule_extents *e)
{
    const char *text = "";
    for (size_t n = 0; text && n < e->rank; n++)
        text = cute_arena_printf(arena, "%s%s%lld", text, n ? "x" : "", LL(e->extent[n]));
    return text && *text ? text : "-";
}

static const char *number_text(cute_arena *arena, int64_t value)
{
    return cute_arena_printf(arena, "%lld", LL(value));
}

static const char *place_text(cute_arena *arena, const char *file, int64_t line)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    return file ? cute_arena_printf(arena, "%s:%lld", slash ? slash + 1 : file, LL(line)) : "-";
}

static const char *warps_text(cute_arena *arena, const schedule_role *r)
{
    int64_t last = r->first_warp + r->warps - 1;
    return r->warps > 1 ? cute_arena_printf(arena, "%lld to %lld", LL(r->first_warp), LL(last))
                        : number_text(arena, r->first_warp);
}

static const char *copy_text(cute_arena *arena, const schedule_kernel *k, const schedule_ring *r)
{
    const char *role = k->roles[r->role].name, *copy = r->copy ? r->copy : "-";
    if (!strcmp(copy, "tma")) copy = "TMA";
    if (!strcmp(copy, "threads")) return role;
    if (r->sharers > 1)
        return cute_arena_printf(arena, "%s of %s, 1/%lld of the tile multicast to %lld blocks", copy, role,
                                 LL(r->sharers), LL(r->sharers));
    return cute_arena_printf(arena, "%s of %s", copy, role);
}

/* ---- tables ---- */

static void print_roles(cute_arena *arena, const schedule_kernel *k, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 5};
    static const char *const head[] = {"role", "warps", "threads", "registers", "named barrier"};
    cute_table_row(&table, head);
    for (size_t n = 0; n < k->role_count; n++) {
        const schedule_role *r = &k->roles[n];
        const char *barrier = "-";
        for (size_t b = 0; b < k->barrier_count; b++)
            if (k->barriers[b].role == (int64_t)n)
                barrier = cute_arena_printf(arena, "%lld, of %lld threads at %lld places",
                                            LL(k->barriers[b].number), LL(k->barriers[b].threads),
                                            LL(k->barriers[b].uses));
        const char *const cells[] = {r->name, warps_text(arena, r), number_text(arena, r->warps * WARP),
                                     r->registers ? number_text(arena, r->registers) : "-", barrier};
        cute_table_row(&table, cells);
    }
    cute_buffer_putc(out, '\n');
    cute_table_print(&table, 1 | 2 | 16, "    ", out);
}

static void print_buffers(cute_arena *arena, const schedule_kernel *k, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 8};
    static const char *const head[] = {"shared memory", "tile",  "type",    "stages",
                                       "offset",        "bytes", "swizzle", "written by"};
    cute_table_row(&table, head);
    for (size_t n = 0; n < k->ring_count; n++) {
        const schedule_ring *r = &k->rings[n];
        const char *other = r->copy && !strcmp(r->copy, "threads") ? "a factor" : "a load";
        const char *const cells[] = {cute_arena_printf(arena, "ring of %s", r->name ? r->name : other),
                                     extents_text(arena, &r->tile),
                                     r->dtype,
                                     number_text(arena, r->stages),
                                     number_text(arena, r->offset),
                                     number_text(arena, r->bytes),
                                     r->swizzle ? r->swizzle : "-",
                                     copy_text(arena, k, r)};
        cute_table_row(&table, cells);
    }
    for (size_t n = 0; n < k->pipe_count; n++) {
        const schedule_pipe *p = &k->pipes[n];
        const char *const cells[] = {"mbarriers",
                                     "full, empty",
                                     "b64",
                                     number_text(arena, p->stages),
                                     number_text(arena, p->offset),
                                     number_text(arena, p->bytes),
                                     "-",
                                     "-"};
        cute_table_row(&table, cells);
    }
    for (size_t n = 0; n < k->scratch_count; n++) {
        const schedule_scratch *s = &k->scratch[n];
        const char *const cells[] = {"staging",
                                     "-",
                                     "-",
                                     "-",
                                     number_text(arena, s->offset),
                                     number_text(arena, s->bytes),
                                     "-",
                                     k->roles[s->role].name};
        cute_table_row(&table, cells);
    }
    if (k->ring_count + k->pipe_count + k->scratch_count) {
        cute_buffer_putc(out, '\n');
        cute_table_print(&table, 1 | 2 | 4 | 64 | 128, "    ", out);
    }
    cute_buffer_printf(out, "    %lld bytes of shared memory", LL(k->shared));
    if (k->shared_limit >= 0)
        cute_buffer_printf(out, " of %lld: %lld are left", LL(k->shared_limit),
                           LL(k->shared_limit - k->shared));
    cute_buffer_putc(out, '\n');
}

/* Blocks whose readers release the stages of this block. */
static int64_t releasing_blocks(const schedule_kernel *k, int64_t pipe)
{
    int64_t most = 1;
    for (size_t n = 0; n < k->ring_count; n++)
        if (k->rings[n].pipe == pipe && k->rings[n].sharers > most) most = k->rings[n].sharers;
    return most;
}

static void print_waits(cute_arena *arena, const schedule_kernel *k, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 4};
    static const char *const head[] = {"wait", "by", "for", "complete after"};
    cute_table_row(&table, head);
    for (size_t n = 0; n < k->pipe_count; n++) {
        const schedule_pipe *p = &k->pipes[n];
        const char *from = k->roles[p->producer].name, *to = k->roles[p->consumer].name;
        if (p->other >= 0) to = cute_arena_printf(arena, "%s, %s", k->roles[p->other].name, to);
        int64_t blocks = releasing_blocks(k, (int64_t)n);
        const char *const full[] = {
            "await", to,
            cute_arena_printf(
                arena, p->expected ? "TMA of %s: the stage is full" : "stores of %s: the stage is full",
                from),
            p->expected
                ? cute_arena_printf(arena, "%lld bytes, 1 arrival", LL(p->expected))
                : cute_arena_printf(arena, "%lld arrivals, of %lld warps", LL(p->writers), LL(p->writers))};
        const char *const empty[] = {
            "acquire", from, cute_arena_printf(arena, "release by %s: the stage is empty", to),
            cute_arena_printf(
                arena, "%lld arrival%s, of %lld %s%s%s", LL(p->arrivals), p->arrivals == 1 ? "" : "s",
                LL(p->readers), p->reader, p->readers == 1 ? "" : "s",
                blocks > 1 ? cute_arena_printf(arena, " in each of %lld blocks", LL(blocks)) : "")};
        cute_table_row(&table, full);
        cute_table_row(&table, empty);
    }
    for (size_t n = 0; n < k->role_count; n++) {
        const schedule_role *r = &k->roles[n];
        if (r->turns < 2) continue;
        const char *const turn[] = {
            "begin_turn", r->name, "end_turn by the group before: its products are issued",
            cute_arena_printf(arena, "%lld threads at a named barrier", LL(2 * r->warps / r->turns * WARP))};
        cute_table_row(&table, turn);
    }
    if (k->copies_pending >= 0 && !k->pipe_count) {
        const char *const groups[] = {
            "wait_group", k->roles[0].name, "cp.async of this iteration's tiles, then a barrier",
            k->copies_pending
                ? cute_arena_printf(arena, "all groups but the last %lld", LL(k->copies_pending))
                : "all groups"};
        cute_table_row(&table, groups);
    }
    if (table.rows < 2) return;
    cute_buffer_putc(out, '\n');
    cute_table_print(&table, 15, "    ", out);
}

static void add_accesses(cute_table *table, const schedule_kernel *k, const schedule_store *all, size_t count,
                         const char *what)
{
    cute_arena *arena = table->arena;
    for (size_t n = 0; n < count; n++) {
        const schedule_store *s = &all[n];
        const char *how = s->copy ? " by TMA" : "",
                   *band = s->band ? cute_arena_printf(arena, ", %lld columns at a time", LL(s->band)) : "";
        const char *const cells[] = {
            cute_arena_printf(arena, "%s %s%s%s", what, s->name ? s->name : "a tensor", how, band),
            extents_text(arena, &s->tile), k->roles[s->role].name, "-", place_text(arena, s->file, s->line)};
        cute_table_row(table, cells);
    }
}

static void print_products(cute_arena *arena, const schedule_kernel *k, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 5};
    static const char *const head[] = {"operation", "tile", "by", "under way", "source"};
    cute_table_row(&table, head);
    for (size_t n = 0; n < k->product_count; n++) {
        const schedule_product *p = &k->products[n];
        const char *const cells[] = {
            p->atom.rank ? cute_arena_printf(arena, "%s %s", p->instruction, extents_text(arena, &p->atom))
                         : p->instruction,
            extents_text(arena, &p->tile), k->roles[p->role].name,
            p->pending > 0
                ? cute_arena_printf(arena, "%lld later product%s", LL(p->pending), p->pending == 1 ? "" : "s")
            : p->pending < 0 ? "until a later product waits"
                             : "-",
            place_text(arena, p->file, p->line)};
        cute_table_row(&table, cells);
    }
    add_accesses(&table, k, k->loads, k->load_count, "load of");
    add_accesses(&table, k, k->stores, k->store_count, "store to");
    if (table.rows < 2) return;
    cute_buffer_putc(out, '\n');
    cute_table_print(&table, 31, "    ", out);
}

/* Groups of a role that compute alternate tiles. */
static void print_turns(const schedule_kernel *k, cute_buffer *out)
{
    for (size_t n = 0; n < k->role_count; n++) {
        const schedule_role *r = &k->roles[n];
        if (r->turns > 1)
            cute_buffer_printf(out, "    turns: %lld groups of %lld warps of %s compute alternate tiles\n",
                               LL(r->turns), LL(r->warps / r->turns), r->name);
    }
}

static void print_grid(cute_arena *arena, const schedule_kernel *k, cute_buffer *out)
{
    const char *cluster = k->cluster.rank ? extents_text(arena, &k->cluster) : NULL;
    if (k->resident)
        cute_buffer_printf(out,
                           k->tile.rank ? "    grid: resident blocks take tiles of %s in turn"
                                        : "    grid: resident blocks take tiles in turn",
                           extents_text(arena, &k->tile));
    else if (k->tile.rank)
        cute_buffer_printf(out, "    grid: a block for each tile of %s", extents_text(arena, &k->tile));
    else
        cute_buffer_puts(out, "    grid: as cute.tile.program states");
    if (cluster) cute_buffer_printf(out, ", clusters of %s blocks", cluster);
    if (k->slices > 1)
        cute_buffer_printf(out,
                           "; %lld slices of a block, each with the warps and stages below, divide its k",
                           LL(k->slices));
    if (k->order > 1)
        cute_buffer_printf(out, ", %lld tiles along the rows before the next column", LL(k->order));
    if (k->tail)
        cute_buffer_puts(out, strcmp(k->tail, "split") == 0
                                  ? "; the k of each tile of the last wave is split among clusters"
                                  : "; the k of the tiles of the last two waves is divided among clusters");
    cute_buffer_putc(out, '\n');
}

static void print_kernel(cute_arena *arena, const schedule_kernel *k, cute_buffer *out)
{
    if (k->why_none) {
        cute_buffer_printf(out, "%s: no schedule: %s\n", k->kernel, k->why_none);
    } else {
        cute_buffer_printf(out, "%s: %s\n", k->kernel, k->text ? k->text : "written by hand");
        print_grid(arena, k, out);
        print_turns(k, out);
        print_roles(arena, k, out);
        print_buffers(arena, k, out);
        print_waits(arena, k, out);
        print_products(arena, k, out);
    }
    if (!k->refused_count) return;
    cute_buffer_puts(out, k->why_none ? "    left as it was:\n" : "\n    left as it was:\n");
    for (size_t n = 0; n < k->refused_count; n++)
        cute_buffer_printf(out, "    %s: %s\n", place_text(arena, k->refused[n].file, k->refused[n].line),
                           k->refused[n].text);
}

void cute_schedule_print(cute_arena *arena, const schedule_report *report, cute_buffer *out)
{
    for (size_t n = 0; n < report->count; n++) {
        if (n && !(report->kernels[n].why_none && report->kernels[n - 1].why_none))
            cute_buffer_putc(out, '\n');
        print_kernel(arena, &report->kernels[n], out);
    }
    if (!report->count) cute_buffer_printf(out, "%s: no kernels\n", report->label);
}
