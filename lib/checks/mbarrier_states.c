/* State of initialised mbarriers: who initialised them; bytes expected and arrived in the current phase. */
#include "lib/checks/parts.h"

#include <stdlib.h>

#include "lib/base/list.h"

mbarrier_state *em_mbarrier_find(em_checks *c, cluster_state *o, uint32_t address, bool add)
{
    for (size_t n = 0; n < o->mbarrier_count; n++)
        if (o->mbarriers[n].address == address) return &o->mbarriers[n];
    if (!add) return NULL;
    if (!cute_heap_more(&o->mbarriers, o->mbarrier_count, &o->mbarrier_capacity, sizeof *o->mbarriers, 16)) {
        c->exhausted = true;
        return NULL;
    }
    o->mbarriers[o->mbarrier_count] = (mbarrier_state){.address = address};
    return &o->mbarriers[o->mbarrier_count++];
}

static void forget_mbarriers(cluster_state *o)
{
    for (size_t n = 0; n < o->mbarrier_count; n++) {
        em_sync_release(&o->mbarriers[n].sync);
        free(o->mbarriers[n].arrivals);
    }
    o->mbarrier_count = 0;
}

static void mbarrier_states_end(em_checks *c)
{
    for (uint32_t n = 0; c->clusters && n < c->cluster_room; n++) {
        forget_mbarriers(&c->clusters[n]);
        free(c->clusters[n].mbarriers);
        c->clusters[n].mbarriers = NULL;
        c->clusters[n].mbarrier_capacity = 0;
    }
}

static void count_arrived_bytes(mbarrier_state *b, const em_inst *i, int64_t bytes)
{
    if (bytes > 0) {
        b->expected += bytes;
        b->expect_inst = i;
    } else if (bytes < 0) {
        b->arrived -= bytes;
        b->arrive_inst = i;
    }
}

/* Records an arrival. A second arrival of a thread in one phase explains a later deadlock. */
static void note_arrival(em_checks *c, mbarrier_state *b, em_warp *w, const em_inst *i, uint32_t mask)
{
    if (!b->arrivals) b->arrivals = calloc(c->entries / 8 + 1, 1);
    if (!b->arrivals) {
        c->exhausted = true;
        return;
    }
    uint32_t id = thread_id(c, w, __builtin_ctz(mask));
    if (b->arrivals[id / 8] >> id % 8 & 1) {
        b->twice_inst = i;
        b->twice_id = id;
    }
    b->arrivals[id / 8] |= (uint8_t)(1u << id % 8);
}

static void mbarrier_states_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                                  uint64_t a, uint64_t b)
{
    cluster_state *o = cluster_of(c, w);
    if (event == EM_E_BEGIN) {
        forget_mbarriers(o);
        return;
    }
    mbarrier_state *at = em_mbarrier_find(c, o, (uint32_t)a, event != EM_E_MBARRIER_PHASE);
    if (!at) return;
    if (event == EM_E_MBARRIER_ARRIVE) count_arrived_bytes(at, i, (int64_t)b);
    if (event == EM_E_MBARRIER_ARRIVE && !c->machine->completing && mask && i->opcode == EM_OP_mbarrier &&
        (em_has(i, EM_M_arrive) || em_has(i, EM_M_arrive_drop)))
        note_arrival(c, at, w, i, mask);
    if (event == EM_E_MBARRIER_PHASE) {
        at->expected = at->arrived = 0;
        if (at->arrivals) memset(at->arrivals, 0, c->entries / 8 + 1);
    }
    if (event != EM_E_MBARRIER_INIT) return;
    em_sync_release(&at->sync);
    free(at->arrivals);
    *at = (mbarrier_state){.address = (uint32_t)a, .init_inst = i, .init_time = c->machine->time};
    if (mask) at->init_id = thread_id(c, w, __builtin_ctz(mask));
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_mbarrier_states = {
    .needs = needs,
    .events = EVENT(BEGIN) | EVENT(MBARRIER_INIT) | EVENT(MBARRIER_ARRIVE) | EVENT(MBARRIER_PHASE),
    .end = mbarrier_states_end,
    .event = mbarrier_states_event,
};
