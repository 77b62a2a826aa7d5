/* Dispatches hooks of a launch to the parts that the selected checks need, and owns their state. Knows no
 * particular check. */
#include "lib/checks/parts.h"

#include <stdlib.h>

/* Properties of an instruction's accesses, in em_checks.access_classes. */
enum { CLASS_MBARRIER = 1, CLASS_COPY = 2, CLASS_STRONG = 4, CLASS_INIT = 8, CLASS_REDUCE = 16 };

/* ---- selection of parts ---- */

typedef struct check_row {
    unsigned check;
    const em_part *const *parts;
} check_row;

#define PART(name)                        &em_part_##name,
#define CHECK(id, bit, name, parts, text) static const em_part *const parts_of_##name[] = {parts NULL};
#include "cute/checks.def"
static const check_row rows[] = {
#define CHECK(id, bit, name, parts, text) {CUTE_CHECK_##id, parts_of_##name},
#include "cute/checks.def"
};

static void add_part_with_needs(em_checks *c, const em_part *part)
{
    for (size_t n = 0; n < c->part_count; n++)
        if (c->parts[n] == part) return;
    for (const em_part *const *need = part->needs; need && *need; need++) add_part_with_needs(c, *need);
    if (c->part_count < PARTS) c->parts[c->part_count++] = part;
}

/* Orders parts after those that they need and lists them by hook and event. Events are delivered to
 * dependants first, so that they see the state before the event; only the start of a cluster is delivered to
 * them last. */
static void choose_parts(em_checks *c)
{
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (const em_part *const *part = rows[r].parts; c->which & rows[r].check && *part; part++)
            add_part_with_needs(c, *part);
    if (c->which & cute_plugins_check_bits(c->plugins)) add_part_with_needs(c, &em_part_plugins);
    for (size_t n = 0; n < c->part_count; n++) {
        c->shadows |= c->parts[n] == &em_part_shadow_memory;
        if (c->parts[n]->step) c->stepping[c->stepping_count++] = c->parts[n];
    }
    for (int event = 0; event < 32; event++) {
        const em_part **out = c->listeners[event];
        for (size_t n = 0; n < c->part_count; n++) {
            const em_part *part = c->parts[event == EM_E_BEGIN ? n : c->part_count - 1 - n];
            if (part->events >> event & 1) *out++ = part;
        }
    }
}

static void choose_accessing(em_checks *c)
{
    size_t count = 0;
    for (size_t n = 0; n < c->part_count; n++)
        if (c->parts[n]->access && (!c->parts[n]->wanted || c->parts[n]->wanted(c)))
            c->accessing[count++] = c->parts[n];
    c->accessing[count] = NULL;
}

em_checks *em_checks_create(unsigned which, const char *const *allow, size_t allow_count,
                            const cute_plugins *plugins)
{
    em_checks *c = which & (CUTE_CHECK_ALL | cute_plugins_check_bits(plugins)) ? calloc(1, sizeof *c) : NULL;
    if (!c) return NULL;
    c->plugins = plugins;
    c->which = which;
    c->allow = allow;
    c->allow_count = allow_count;
    c->time = 1;
    choose_parts(c);
    c->arena = cute_arena_create();
    c->lines = json_array();
    c->line_index = json_object();
    if (c->arena && c->lines && c->line_index) return c;
    em_checks_destroy(c);
    return NULL;
}

static void end_parts(em_checks *c)
{
    for (size_t n = c->part_count; n-- > 0;)
        if (c->parts[n]->end) c->parts[n]->end(c);
    c->active = false;
}

void em_checks_destroy(em_checks *c)
{
    if (!c) return;
    end_parts(c);
    em_flags_release(c);
    em_ranks_release(c);
    for (size_t n = 0; n < c->region_count; n++) em_shadow_release(&c->regions[n]);
    free(c->regions);
    free(c->findings);
    free(c->steps);
    free(c->access_classes);
    free(c->found);
    cute_arena_destroy(c->arena);
    json_decref(c->lines);
    json_decref(c->line_index);
    free(c);
}

/* ---- accesses ---- */

static uint8_t access_class(const em_inst *i)
{
    bool strong = em_has(i, EM_M_volatile) || em_has(i, EM_M_relaxed) || em_has(i, EM_M_acquire) ||
                  em_has(i, EM_M_release) || em_has(i, EM_M_mmio);
    bool copy =
        i->opcode == EM_OP_cp || ((i->opcode == EM_OP_st || i->opcode == EM_OP_red) && em_has(i, EM_M_async));
    return (uint8_t)((i->opcode == EM_OP_mbarrier ? CLASS_MBARRIER : 0) | (copy ? CLASS_COPY : 0) |
                     (strong ? CLASS_STRONG : 0) | (em_has(i, EM_M_init) ? CLASS_INIT : 0) |
                     (em_has(i, EM_M_reduce) ? CLASS_REDUCE : 0));
}

static void on_access(void *context, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                      uint32_t bytes, em_access kind)
{
    em_checks *c = context;
    if (!c->active || space == EM_PARAM || !bytes) return;
    uint8_t class = c->access_classes[inst_index(c, i)];
    /* Copies that complete at an mbarrier and cp.async.mbarrier.arrive update its 8 bytes. */
    bool updates = kind == EM_ATOMIC && bytes == 8 && space == EM_SHARED && !(class & CLASS_REDUCE) &&
                   (c->machine->completing || class & CLASS_COPY);
    bool mbarrier = class & CLASS_MBARRIER || updates;
    /* The initialisation writes an mbarrier; its other uses synchronise and count as reads. */
    if (mbarrier) kind = class & CLASS_INIT ? EM_WRITE : EM_READ;
    memory_access a = {.warp = w,
                       .inst = i,
                       .lane = lane,
                       .space = space == EM_CONST ? EM_GLOBAL : space,
                       .kind = kind,
                       .mbarrier = mbarrier,
                       .strong = kind == EM_ATOMIC || class & CLASS_STRONG,
                       .bytes = bytes,
                       .address = address};
    if (!em_shadow_locate(c, &a)) return;
    for (const em_part **part = c->accessing; *part && (*part)->access(c, &a); part++) {
    }
}

static bool on_row(void *context, const em_warp_access *r)
{
    em_checks *c = context;
    if (!c->active) return true;
    if (c->access_classes[inst_index(c, r->inst)] || c->machine->completing) return false;
    memory_access a = {.warp = r->warp, .space = r->space, .address = r->base};
    if (!em_shadow_locate(c, &a)) return false;
    for (const em_part **part = c->accessing; *part; part++)
        if (!(*part)->row || !(*part)->row(c, r, a.shadow, a.at)) return false;
    return true;
}

/* ---- events ---- */

static bool grow_parts(em_checks *c, uint32_t places)
{
    for (size_t n = 0; n < c->part_count; n++)
        if (c->parts[n]->grow && !c->parts[n]->grow(c, places)) return false;
    return true;
}

static void stop_checks(em_checks *c)
{
    end_parts(c);
    c->exhausted = true;
}

static void begin_launch(em_checks *c, em_machine *m)
{
    const em_launch *l = c->launch;
    const em_cluster *first = &m->clusters[0];
    c->machine = m;
    c->previous_launch = c->launch_time;
    c->launch_time = c->time++;
    c->previous_triggered = c->triggered;
    c->triggered = false;
    c->heap = l->memory->next ? l->memory->next : UINT64_MAX;
    m->time = c->time;
    em_ranks_begin(c);
    c->devices = em_devices(l);
    c->grid_clusters = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] / first->count * c->devices;
    c->stride = first->blocks[0].warp_count * (EM_LANES + ASYNC_KINDS);
    c->entries = first->count * c->stride;
}

static void end_checked_launch(em_checks *c)
{
    em_report_launch(c, c->machine->diag);
    em_ranks_end(c);
    c->time = c->machine->time;
    end_parts(c);
    c->machine = NULL;
    c->launch = NULL;
}

static void on_event(void *context, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                     uint64_t b)
{
    em_checks *c = context;
    if (!c->machine) begin_launch(c, w->machine);
    uint32_t place = (uint32_t)(w->block->cluster - c->machine->clusters);
    if (c->active && place >= c->cluster_count) {
        if (grow_parts(c, place + 1))
            c->cluster_count = place + 1;
        else
            stop_checks(c);
    }
    if (c->active)
        for (const em_part **part = c->listeners[event]; *part; part++)
            (*part)->event(c, event, w, i, mask, a, b);
    if (event == EM_E_END) end_checked_launch(c);
}

/* ---- instructions ---- */

static void on_step(void *context, em_warp *w, const em_inst *i, uint32_t lanes)
{
    em_checks *c = context;
    uint32_t which = c->active ? c->steps[inst_index(c, i)] : 0, mask = lanes;
    if (!which) return;
    if (i->guard) {
        uint32_t guard;
        memcpy(&guard, w->base[EM_BASE_REGISTERS] + i->guard_at, sizeof guard);
        mask &= i->guard == 2 ? ~guard : guard;
    }
    for (; which; which &= which - 1) c->stepping[__builtin_ctz(which)]->step(c, w, i, lanes, mask);
}

/* Finds the parts that each instruction concerns. */
static bool classify_instructions(em_checks *c, const em_program *program, bool *steps)
{
    free(c->steps);
    free(c->access_classes);
    c->steps = calloc((size_t)program->count + 1, sizeof *c->steps);
    c->access_classes = calloc((size_t)program->count + 1, sizeof *c->access_classes);
    if (!c->steps || !c->access_classes) return false;
    for (uint32_t n = 0; n < program->count; n++) {
        const em_inst *i = &program->code[n];
        c->access_classes[n] = access_class(i);
        for (size_t s = 0; s < c->stepping_count; s++)
            if (!c->stepping[s]->concerns || c->stepping[s]->concerns(c, i))
                c->steps[n] |= (uint16_t)(1u << s);
        *steps |= c->steps[n] != 0;
    }
    return true;
}

bool em_checks_begin(em_checks *c, em_launch *launch, em_transactions *transactions, em_footprint *footprint)
{
    bool ok = true, steps = false;
    end_parts(c); /* a launch that failed to start */
    c->launch = launch;
    c->machine = NULL;
    c->transactions = transactions;
    c->footprint = footprint;
    choose_accessing(c);
    for (size_t n = 0; ok && n < c->part_count; n++) ok = !c->parts[n]->begin || c->parts[n]->begin(c);
    if (!ok || !classify_instructions(c, launch->program, &steps)) return false;
    c->active = true;
    launch->hooks = (em_hooks){.context = c, .event = on_event};
    if (c->accessing[0]) launch->hooks.access = on_access;
    if (c->accessing[0]) launch->hooks.row = on_row;
    if (steps) launch->hooks.step = on_step;
    for (size_t n = 0; n < c->part_count; n++) launch->hooks.shadows |= c->parts[n]->shadows_registers;
    return true;
}
