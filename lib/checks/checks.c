/* The checks' state, and what hears a launch's hooks. Misused barriers are found here: they need no memory of
 * what came before. */
#include "lib/checks/state.h"

#include <stdlib.h>

#include "lib/base/list.h"

em_checks *em_checks_create(unsigned which)
{
    em_checks *c = which ? calloc(1, sizeof *c) : NULL;
    if (!c) return NULL;
    c->which = which;
    c->time = 1;
    c->found = json_array();
    c->lines = json_array();
    c->line_index = json_object();
    if (c->found && c->lines && c->line_index) return c;
    em_checks_destroy(c);
    return NULL;
}

void em_checks_destroy(em_checks *c)
{
    if (!c) return;
    em_registers_end(c);
    em_step_end(c);
    em_order_end(c);
    for (size_t n = 0; n < c->region_count; n++) em_shadow_release(&c->regions[n]);
    free(c->regions);
    free(c->findings);
    free(c->shared);
    free(c->global);
    json_decref(c->found);
    json_decref(c->lines);
    json_decref(c->line_index);
    free(c);
}

/* ---- buffers ---- */

void em_checks_remove_buffer(em_checks *c, uint64_t base)
{
    c->last_region = NULL;
    for (size_t n = 0; n < c->region_count; n++) {
        if (c->regions[n].base != base) continue;
        em_shadow_release(&c->regions[n]);
        memmove(&c->regions[n], &c->regions[n + 1], (c->region_count - n - 1) * sizeof *c->regions);
        c->region_count--;
        return;
    }
}

bool em_checks_add_buffer(em_checks *c, uint64_t base, uint64_t total, uint64_t size, const char *name,
                          bool written)
{
    shadow made;
    em_checks_remove_buffer(c, base);
    if (!cute_heap_more(&c->regions, c->region_count, &c->region_capacity, sizeof *c->regions, 32))
        return false;
    if (!em_shadow_make(&made, base, total, written, 2)) return false;
    made.size = size < total ? size : total;
    if (name) {
        size_t length = strlen(name) + 1;
        made.name = malloc(length);
        if (made.name) memcpy(made.name, name, length);
    }
    size_t at = c->region_count++;
    for (; at > 0 && c->regions[at - 1].base > base; at--) c->regions[at] = c->regions[at - 1];
    c->regions[at] = made;
    return true;
}

void em_checks_host_wrote(em_checks *c, uint64_t base, uint64_t size)
{
    for (size_t n = 0; n < c->region_count; n++) {
        shadow *s = &c->regions[n];
        if (base - s->base < s->total) em_shadow_write(s, base - s->base, size, true);
    }
}

/* ---- hooks ---- */

static void on_access(void *context, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                      uint32_t bytes, em_access access)
{
    em_checks *c = context;
    if (c->clusters && space == EM_LOCAL) em_registers_local(c, w, i, lane, address, bytes, access);
    if (!c->clusters || (space != EM_SHARED && space != EM_GLOBAL && space != EM_CONST)) return;
    /* Copies that complete at a mbarrier update its 8 bytes, and cp.async.mbarrier.arrive does. */
    bool copies = c->machine->completing || i->opcode == EM_OP_cp;
    bool mbarrier = i->opcode == EM_OP_mbarrier || (copies && access == EM_ATOMIC && bytes == 8 &&
                                                    space == EM_SHARED && !em_has(i, EM_M_reduce));
    if (c->which & (CUTE_CHECK_BANK | CUTE_CHECK_COALESCING) && !mbarrier)
        em_traffic_access(c, w, i, lane, space, address, bytes);
    if (!(c->which & ~(unsigned)(CUTE_CHECK_BANK | CUTE_CHECK_COALESCING))) return;
    if (mbarrier && em_has(i, EM_M_inval)) em_shadow_mbarrier(c, w, i, lane, (uint32_t)address, false);
    /* A mbarrier is written by its initialisation; all else is ordered by itself. */
    if (mbarrier) access = em_has(i, EM_M_init) ? EM_WRITE : EM_READ;
    em_shadow_access(c, w, i, lane, space, address, bytes, access, mbarrier);
}

static warp_order *warp_of(em_checks *c, const em_warp *w)
{
    return &cluster_of(c, w)->warps[w->block->rank * w->block->warp_count + w->index];
}

static bool is_aligned(const em_inst *i)
{
    return i->opcode == EM_OP_bar || em_has(i, EM_M_aligned);
}

/* The lanes of a warp may come one after the other, as the emulator parts and joins them elsewhere than a
 * compiler would; but all to the same instruction. */
static void check_arrival(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask, uint32_t number,
                          uint32_t wanted)
{
    warp_arrival *a = &warp_of(c, w)->arrivals[number];
    meeting *m = &cluster_of(c, w)->barriers[w->block->rank * BLOCK_BARRIERS + number];
    if (a->lanes && a->inst != i && is_aligned(i)) {
        const em_inst *first = a->inst < i ? a->inst : i, *second = a->inst < i ? i : a->inst;
        em_check_find(
            c, CUTE_CHECK_BARRIER, "divergent", w, first, -1, inst_index(c, second),
            "barrier: the warp comes to barrier %u in parts: lanes 0x%08x here and 0x%08x elsewhere", number,
            first == i ? mask : a->lanes, first == i ? a->lanes : mask);
    }
    if (wanted > w->block->warp_count * EM_LANES)
        em_check_find(c, CUTE_CHECK_BARRIER, "count", w, i, -1, UINT32_MAX,
                      "barrier: it waits for %u threads, and the block has %u", wanted, w->block->threads);
    a->inst = i;
    a->lanes |= mask;
    m->inst = wanted ? NULL : i;
}

/* When the barrier opens: whole warps of whose lanes all are there; without a count, all warps. */
static void check_opening(em_checks *c, em_warp *any, uint32_t number)
{
    em_block *b = any->block;
    meeting *m = &cluster_of(c, any)->barriers[b->rank * BLOCK_BARRIERS + number];
    uint32_t ended = 0;
    em_warp *there = NULL;
    for (uint32_t n = 0; n < b->warp_count; n++) {
        em_warp *w = &b->warps[n];
        warp_arrival *a = &warp_of(c, w)->arrivals[number];
        uint32_t missing = a->lanes ? w->started & ~a->lanes : 0;
        if (a->lanes)
            there = w;
        else
            ended += !w->alive;
        if (missing & w->alive && is_aligned(a->inst))
            em_check_find(c, CUTE_CHECK_BARRIER, "divergent", w, a->inst, -1, UINT32_MAX,
                          "barrier: lanes 0x%08x of the warp do not come to this barrier",
                          missing & w->alive);
        else if (missing && (m->inst || is_aligned(a->inst)))
            em_check_find(c, CUTE_CHECK_BARRIER, "ended", w, a->inst, -1, UINT32_MAX,
                          "barrier: lanes 0x%08x of the warp have ended and do not come to this barrier",
                          missing);
        a->lanes = 0;
    }
    if (ended && m->inst && there)
        em_check_find(c, CUTE_CHECK_BARRIER, "ended", there, m->inst, -1, UINT32_MAX,
                      "barrier: %u of the block's %u warps have ended and do not come to this barrier", ended,
                      b->warp_count);
}

/* Why a phase never ends: the bytes that are announced are not those that come. */
static void explain_phase(em_checks *c, em_warp *w, uint32_t address)
{
    cluster_order *o = cluster_of(c, w);
    for (size_t n = 0; n < o->mbarrier_count; n++) {
        const mbarrier_order *b = &o->mbarriers[n];
        if (b->address != address || b->expected == b->came || !b->expect_inst) continue;
        em_check_find(c, CUTE_CHECK_BARRIER, "bytes", w, b->expect_inst, 0,
                      b->come_inst ? inst_index(c, b->come_inst) : UINT32_MAX,
                      "barrier: %lld bytes are expected in this phase of the mbarrier at shared address "
                      "0x%x, and %lld came",
                      (long long)b->expected, address, (long long)b->came);
    }
}

/* A block ends: bytes that came and were not expected, or the other way round, were nobody's. */
static void check_last_phases(em_checks *c, em_warp *w)
{
    cluster_order *o = cluster_of(c, w);
    for (size_t n = 0; n < o->mbarrier_count; n++) {
        const mbarrier_order *b = &o->mbarriers[n];
        const em_inst *i = b->came > b->expected ? b->come_inst : b->expect_inst;
        if (b->address >> EM_RANK_SHIFT != w->block->rank || b->expected == b->came || !i) continue;
        if (!em_shadow_is_mbarrier(c, w, b->address)) continue;
        em_check_find(
            c, CUTE_CHECK_BARRIER, "last bytes", w, i, 0, UINT32_MAX,
            "barrier: when the block ends %lld bytes are expected in this phase of the mbarrier at shared "
            "address 0x%x, and %lld came",
            (long long)b->expected, b->address, (long long)b->came);
    }
}

static void end(em_checks *c)
{
    if (c->clusters) em_traffic_flush(c);
    em_traffic_tally(c);
    em_report_launch(c, c->machine->diag);
    em_registers_end(c);
    em_step_end(c);
    em_order_end(c);
    free(c->shared);
    free(c->global);
    c->shared = c->global = NULL;
    c->machine = NULL;
    c->launch = NULL;
}

/* barrier.cluster.arrive and .wait take turns in each thread. */
static void check_cluster_turn(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask, bool arrives)
{
    warp_order *own = warp_of(c, w);
    uint32_t wrong = arrives ? mask & own->cluster_lanes : mask & ~own->cluster_lanes;
    if (wrong)
        em_check_find(c, CUTE_CHECK_BARRIER, arrives ? "arrives twice" : "waits only", w, i,
                      __builtin_ctz(wrong), UINT32_MAX,
                      arrives ? "barrier: lanes 0x%08x arrive at barrier.cluster again, without a "
                                "barrier.cluster.wait between"
                              : "barrier: lanes 0x%08x wait at barrier.cluster without having arrived",
                      wrong);
    own->cluster_lanes = arrives ? own->cluster_lanes | mask : own->cluster_lanes & ~mask;
}

static void on_event(void *context, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                     uint64_t b)
{
    em_checks *c = context;
    if (!c->machine) {
        c->machine = w->machine;
        c->machine->time = c->time;
        c->previous_launch = c->launch_time;
        c->launch_time = c->time++;
        c->heap = c->launch->memory->next ? c->launch->memory->next : UINT64_MAX;
        c->machine->time = c->time;
        const em_launch *l = c->launch;
        c->grid_clusters = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] / w->block->cluster->count;
        c->shared = calloc(c->machine->program->count + 1, sizeof *c->shared);
        c->global = calloc(c->machine->program->count + 1, sizeof *c->global);
        if (!c->shared || !c->global || !em_order_begin(c) || !em_registers_begin(c) || !em_step_begin(c)) {
            em_registers_end(c);
            em_step_end(c);
            em_order_end(c);
            c->exhausted = true;
        }
    }
    if (event == EM_E_END) {
        end(c);
        return;
    }
    if (!c->clusters) return;
    uint32_t place = (uint32_t)(w->block->cluster - c->machine->clusters);
    if (place >= c->cluster_count &&
        (!em_order_grow(c, place + 1) || !em_registers_grow(c, place + 1) || !em_mma_grow(c, place + 1))) {
        em_registers_end(c);
        em_step_end(c);
        em_order_end(c);
        c->exhausted = true;
        return;
    }
    if (c->which & CUTE_CHECK_BARRIER) {
        if (event == EM_E_BARRIER_ARRIVE) check_arrival(c, w, i, mask, (uint32_t)a, (uint32_t)b);
        if (event == EM_E_BARRIER_COMPLETE) check_opening(c, w, (uint32_t)a);
        if (event == EM_E_WARP_SYNC && mask & ~(uint32_t)a)
            em_check_find(c, CUTE_CHECK_BARRIER, "member", w, i, __builtin_ctz(mask & ~(uint32_t)a),
                          UINT32_MAX, "barrier: lanes 0x%08x come to a barrier of lanes 0x%08x", mask,
                          (uint32_t)a);
        if ((event == EM_E_CLUSTER_ARRIVE || event == EM_E_CLUSTER_EXIT) && mask && i)
            check_cluster_turn(c, w, i, mask, event == EM_E_CLUSTER_ARRIVE);
        if (event == EM_E_DEADLOCK && a != UINT64_MAX) explain_phase(c, w, (uint32_t)a);
    }
    if (event == EM_E_BEGIN) em_registers_begin_cluster(c, w->block->cluster);
    if (event == EM_E_WARP_EXCHANGE) em_registers_exchange(c, w, i, mask);
    if (event == EM_E_FRAME_ENTER || event == EM_E_FRAME_WRITE)
        em_registers_frame(c, w, mask, a, b, event == EM_E_FRAME_WRITE);
    if (event == EM_E_BEGIN) em_mma_cluster(c, w);
    if (event == EM_E_COMMIT_GROUP && a == EM_P_WGMMA) em_mma_commit(c, w, (uint32_t)b);
    if (event == EM_E_WAIT_GROUP && a == EM_P_WGMMA) em_mma_waited(c, w, (uint32_t)b);
    if (event == EM_E_EXIT) em_step_lacks(c, w, mask);
    if (event == EM_E_EXIT && w->block->alive == (uint32_t)__builtin_popcount(mask)) {
        em_shadow_end_block(c, w);
        if (c->which & CUTE_CHECK_BARRIER) check_last_phases(c, w);
    }
    if (event == EM_E_MBARRIER_INIT && mask)
        em_shadow_mbarrier(c, w, i, __builtin_ctz(mask), (uint32_t)a, true);
    em_order_event(c, event, w, i, mask, a, b);
}

static void on_step(void *context, em_warp *w, const em_inst *i, uint32_t lanes)
{
    em_checks *c = context;
    em_registers_step(c, w, i, lanes);
    if (c->concerns) em_step(c, w, i, lanes);
}

void em_checks_begin(em_checks *c, em_launch *launch)
{
    c->launch = launch;
    c->machine = NULL;
    launch->hooks = (em_hooks){.context = c, .access = on_access, .event = on_event};
    if (c->which & (CUTE_CHECK_UNINIT | CUTE_CHECK_RACE | CUTE_CHECK_BARRIER | CUTE_CHECK_SWIZZLE))
        launch->hooks.step = on_step;
}
