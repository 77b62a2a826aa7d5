/* Checks of plugins: one part that passes the events of a launch on to them, as the stable structs of cute/plugin.h. */
#include "lib/checks/parts.h"

#include <stdlib.h>

#include "cute/checks.h"
#include "lib/base/list.h"
#include "lib/plugin/plugins.h"

/* One check during a launch; the plugin's functions get it as cute_check_run. */
struct cute_check_run {
    em_checks *checks;
    const plugin_check *check;
    cute_check_launch launch;
    cute_arena *arena;
    void *state;
    em_warp *warp; /* of the current callback */
    const em_inst *inst;
};

struct plugin_checks {
    cute_check_run *runs;
    size_t count;
};

static const cute_check_event_kind kinds[] = {
    [EM_E_BEGIN] = CUTE_EVENT_BEGIN,
    [EM_E_FENCE] = CUTE_EVENT_FENCE,
    [EM_E_PROXY_FENCE] = CUTE_EVENT_PROXY_FENCE,
    [EM_E_WARP_SYNC] = CUTE_EVENT_WARP_SYNC,
    [EM_E_WARP_EXCHANGE] = CUTE_EVENT_WARP_EXCHANGE,
    [EM_E_BARRIER_ARRIVE] = CUTE_EVENT_BARRIER_ARRIVE,
    [EM_E_BARRIER_COMPLETE] = CUTE_EVENT_BARRIER_COMPLETE,
    [EM_E_BARRIER_EXIT] = CUTE_EVENT_BARRIER_EXIT,
    [EM_E_CLUSTER_ARRIVE] = CUTE_EVENT_CLUSTER_ARRIVE,
    [EM_E_CLUSTER_COMPLETE] = CUTE_EVENT_CLUSTER_COMPLETE,
    [EM_E_CLUSTER_EXIT] = CUTE_EVENT_CLUSTER_EXIT,
    [EM_E_MBARRIER_INIT] = CUTE_EVENT_MBARRIER_INIT,
    [EM_E_MBARRIER_ARRIVE] = CUTE_EVENT_MBARRIER_ARRIVE,
    [EM_E_MBARRIER_PHASE] = CUTE_EVENT_MBARRIER_PHASE,
    [EM_E_MBARRIER_PASS] = CUTE_EVENT_MBARRIER_PASS,
    [EM_E_COMMIT_GROUP] = CUTE_EVENT_COMMIT_GROUP,
    [EM_E_WAIT_GROUP] = CUTE_EVENT_WAIT_GROUP,
    [EM_E_EXIT] = CUTE_EVENT_EXIT,
    [EM_E_END] = CUTE_EVENT_END,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- functions for plugins ---- */

static void *host_alloc(cute_check_run *run, size_t size)
{
    return cute_arena_alloc(run->arena, size);
}

CUTE_PRINTF(4, 5)
static void host_find(cute_check_run *run, size_t row, int lane, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    if (row >= run->check->row.finding_count || !run->warp) return;
    /* An event without an instruction, such as the end of the grid: the kernel's first. */
    const em_inst *i = run->inst;
    if (!i) i = &run->checks->launch->program->code[run->checks->launch->kernel->start];
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    em_check_find_added(run->checks, run->check, &run->check->row.findings[row], run->warp, i, lane, "%s: %s",
                        run->check->row.name, cute_buffer_text(&text));
    cute_buffer_release(&text);
}

static cute_check_at site_of(cute_check_run *run, em_warp *w, const em_inst *i, uint32_t lanes)
{
    const em_program *program = run->checks->launch->program;
    cute_check_at at = {.size = sizeof at, .inst = UINT32_MAX, .warp = w->index, .lanes = lanes};
    memcpy(at.block, w->block->ctaid, sizeof at.block);
    if (!i) return at;
    const em_loc *loc = em_loc_of(program, i);
    at.inst = inst_index(run->checks, i);
    at.instruction = em_instruction_name(i);
    at.ptx_line = (uint32_t)em_place(program, i).line;
    if (!loc) return at;
    at.file = loc->file;
    at.line = loc->line;
    at.column = loc->column;
    return at;
}

/* ---- the part ---- */

/* Calls one function of each check that has it. */
#define EACH(c, w, i, function, ...)                                                                         \
    for (cute_check_run *run = (c)->added->runs; run < (c)->added->runs + (c)->added->count; run++) {        \
        if (!run->check->row.function) continue;                                                             \
        const cute_check_at at = site_of(run, w, i, lanes);                                                  \
        plugin_mark mark;                                                                                    \
        run->warp = w;                                                                                       \
        run->inst = i;                                                                                       \
        plugin_enter(&mark, run->check->library, "check", run->check->row.name);                             \
        run->check->row.function(run->state, &run->launch, run, &at __VA_ARGS__);                            \
        plugin_leave(&mark);                                                                                 \
    }

static bool plugins_access(em_checks *c, const memory_access *a)
{
    const uint32_t lanes = a->lane < 0 ? UINT32_MAX : UINT32_C(1) << a->lane;
    const cute_check_access access = {.size = sizeof access,
                                      .lane = a->lane,
                                      .space = a->space == EM_SHARED  ? CUTE_SPACE_SHARED
                                               : a->space == EM_LOCAL ? CUTE_SPACE_LOCAL
                                                                      : CUTE_SPACE_GLOBAL,
                                      .kind = a->kind == EM_READ    ? CUTE_KIND_READ
                                              : a->kind == EM_WRITE ? CUTE_KIND_WRITE
                                                                    : CUTE_KIND_ATOMIC,
                                      .bytes = a->bytes,
                                      .address = a->address};
    EACH(c, a->warp, a->inst, access, , &access)
    return true;
}

static void plugins_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t lanes,
                          uint64_t a, uint64_t b)
{
    if ((size_t)event >= KINDS) return;
    const cute_check_event told = {.size = sizeof told, .kind = kinds[event], .a = a, .b = b};
    EACH(c, w, i, event, , &told)
}

static void plugins_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t all, uint32_t lanes)
{
    (void)all;
    EACH(c, w, i, step, )
}

static bool plugins_wanted(const em_checks *c)
{
    /* Asked before the launch begins. */
    for (size_t n = 0; n < c->plugins->check_count; n++)
        if (c->which & (unsigned)CUTE_CHECK_PLUGIN << n && c->plugins->checks[n].row.access) return true;
    return false;
}

static bool plugins_concern(const em_checks *c, const em_inst *i)
{
    (void)i;
    for (size_t n = 0; n < c->added->count; n++)
        if (c->added->runs[n].check->row.step) return true;
    return false;
}

static bool begin_check(em_checks *c, const plugin_check *check, cute_check_run *run)
{
    plugin_mark mark;
    *run = (cute_check_run){.checks = c, .check = check, .arena = cute_arena_create()};
    if (!run->arena) return false;
    cute_check_launch *l = &run->launch;
    *l = (cute_check_launch){
        .size = sizeof *l, .kernel = c->launch->kernel->name, .alloc = host_alloc, .find = host_find};
    memcpy(l->grid, c->launch->grid, sizeof l->grid);
    memcpy(l->block, c->launch->block, sizeof l->block);
    memcpy(l->cluster, c->launch->cluster, sizeof l->cluster);
    plugin_enter(&mark, check->library, "check", check->row.name);
    run->state = check->row.begin(l, run);
    plugin_leave(&mark);
    return run->state != NULL;
}

static bool plugins_begin(em_checks *c)
{
    c->added = calloc(1, sizeof *c->added);
    if (!c->added || !(c->added->runs = calloc(CUTE_CHECK_PLUGINS, sizeof *c->added->runs))) return false;
    for (size_t n = 0; n < c->plugins->check_count; n++)
        if (c->which & (unsigned)CUTE_CHECK_PLUGIN << n &&
            !begin_check(c, &c->plugins->checks[n], &c->added->runs[c->added->count++]))
            return false;
    return true;
}

static void plugins_end(em_checks *c)
{
    for (size_t n = 0; c->added && n < c->added->count; n++) {
        cute_check_run *run = &c->added->runs[n];
        plugin_mark mark;
        run->warp = NULL;
        plugin_enter(&mark, run->check->library, "check", run->check->row.name);
        if (run->state && run->check->row.end) run->check->row.end(run->state, &run->launch, run);
        plugin_leave(&mark);
        cute_arena_destroy(run->arena);
    }
    if (c->added) free(c->added->runs);
    free(c->added);
    c->added = NULL;
}

const em_part em_part_plugins = {.events = (UINT32_C(1) << KINDS) - 1,
                                 .wanted = plugins_wanted,
                                 .begin = plugins_begin,
                                 .end = plugins_end,
                                 .event = plugins_event,
                                 .access = plugins_access,
                                 .concerns = plugins_concern,
                                 .step = plugins_step};

cute_status em_plugins_check(const cute_plugins *plugins, cute_diag *diag)
{
    static const char *const own[] = {
#define CHECK(id, bit, name, parts, text) #name,
#include "cute/checks.def"
        "all"};
    for (size_t n = 0; plugins && n < plugins->check_count; n++)
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (strcmp(plugins->checks[n].row.name, own[k]) == 0)
                return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = plugins->checks[n].library->path},
                                 "check '%s': the emulator has a check of this name", own[k]);
    return CUTE_OK;
}
