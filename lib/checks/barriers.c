/* Misuse of block, warp and cluster barriers: divergent arrivals, exited lanes or warps, wrong counts. */
#include "lib/checks/parts.h"

#include "lib/order/barrier.h"

static bool is_aligned_barrier(const em_inst *i)
{
    return i->opcode == EM_OP_bar || em_has(i, EM_M_aligned);
}

/* The emulator may diverge and reconverge at other points than compiled code: the lanes of a warp may arrive
 * at different times, but all at the same instruction. */
static void check_arrival(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask, uint32_t number,
                          uint32_t wanted)
{
    warp_arrival *a = &warp_of(c, w)->arrivals[number];
    barrier_state *m = &cluster_of(c, w)->barriers[w->block->rank * BLOCK_BARRIERS + number];
    if (a->lanes && a->inst != i && is_aligned_barrier(i)) {
        const em_inst *first = a->inst < i ? a->inst : i, *second = a->inst < i ? i : a->inst;
        em_check_find(c, FOUND_BARRIER_DIVERGED, w, first, -1, inst_index(c, second),
                      "barrier: divergent arrival at barrier %u: lanes 0x%08x here, lanes 0x%08x at another "
                      "instruction",
                      number, first == i ? mask : a->lanes, first == i ? a->lanes : mask);
    }
    if (wanted && order_barrier_check(number, wanted, 0, order_barrier_all(w->block->threads)) ==
                      ORDER_BARRIER_TOO_MANY)
        em_check_find(c, FOUND_BARRIER_COUNT, w, i, -1, UINT32_MAX,
                      "barrier: thread count %u exceeds the %u threads of the block", wanted,
                      w->block->threads);
    a->inst = i;
    a->lanes |= mask;
    m->inst = wanted ? NULL : i;
}

/* A phase is complete: all lanes of the participating warps have arrived; without a count, all warps
 * participate. */
static void check_complete(em_checks *c, em_warp *any, uint32_t number)
{
    em_block *b = any->block;
    barrier_state *m = &cluster_of(c, any)->barriers[b->rank * BLOCK_BARRIERS + number];
    uint32_t ended = 0;
    em_warp *arrived = NULL;
    for (uint32_t n = 0; n < b->warp_count; n++) {
        em_warp *w = &b->warps[n];
        warp_arrival *a = &warp_of(c, w)->arrivals[number];
        uint32_t missing = a->lanes ? w->started & ~a->lanes : 0;
        if (a->lanes)
            arrived = w;
        else
            ended += !w->alive;
        if (missing & w->alive && is_aligned_barrier(a->inst))
            em_check_find(c, FOUND_BARRIER_DIVERGED, w, a->inst, -1, UINT32_MAX,
                          "barrier: lanes 0x%08x of the warp do not reach this barrier", missing & w->alive);
        else if (missing && (m->inst || is_aligned_barrier(a->inst)))
            em_check_find(c, FOUND_BARRIER_ENDED, w, a->inst, -1, UINT32_MAX,
                          "barrier: lanes 0x%08x of the warp exited without reaching this barrier", missing);
        a->lanes = 0;
    }
    if (ended && m->inst && arrived)
        em_check_find(c, FOUND_BARRIER_ENDED, arrived, m->inst, -1, UINT32_MAX,
                      "barrier: %u of the block's %u warps exited without reaching this barrier", ended,
                      b->warp_count);
}

/* barrier.cluster.arrive and .wait alternate in each thread. */
static void check_cluster_phase(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask, bool arrives)
{
    warp_state *own = warp_of(c, w);
    uint32_t wrong = order_cluster_out_of_turn(own->cluster_lanes, mask, arrives);
    if (wrong)
        em_check_find(
            c, arrives ? FOUND_CLUSTER_ARRIVES_TWICE : FOUND_CLUSTER_NOT_ARRIVED, w, i, __builtin_ctz(wrong),
            UINT32_MAX,
            arrives
                ? "barrier: lanes 0x%08x arrive at barrier.cluster twice without an intervening "
                  "barrier.cluster.wait"
                : "barrier: lanes 0x%08x wait at barrier.cluster without a preceding barrier.cluster.arrive",
            wrong);
    own->cluster_lanes = arrives ? own->cluster_lanes | mask : own->cluster_lanes & ~mask;
}

/* The lanes that execute bar.warp.sync, shfl, vote, match, redux or elect have to be in its member mask. */
static void check_members(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask, uint32_t members)
{
    uint32_t others = mask & ~members;
    if (!others) return;
    if (i->opcode == EM_OP_bar)
        em_check_find(c, FOUND_BARRIER_MEMBERS, w, i, __builtin_ctz(others), UINT32_MAX,
                      "barrier: lanes 0x%08x execute bar.warp.sync with member mask 0x%08x", mask, members);
    else
        em_check_find(c, FOUND_BARRIER_MEMBERS, w, i, __builtin_ctz(others), UINT32_MAX,
                      "barrier: lanes 0x%08x execute %s with member mask 0x%08x", mask,
                      em_instruction_name(i), members);
}

static void barriers_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                           uint64_t a, uint64_t b)
{
    switch ((int)event) {
    case EM_E_BEGIN:
        for (uint32_t n = 0; n < w->block->cluster->count * BLOCK_BARRIERS; n++)
            cluster_of(c, w)->barriers[n].inst = NULL;
        break;
    case EM_E_BARRIER_ARRIVE: check_arrival(c, w, i, mask, (uint32_t)a, (uint32_t)b); break;
    case EM_E_BARRIER_COMPLETE: check_complete(c, w, (uint32_t)a); break;
    case EM_E_WARP_SYNC:
    case EM_E_WARP_EXCHANGE: check_members(c, w, i, mask, (uint32_t)a); break;
    case EM_E_CLUSTER_ARRIVE:
    case EM_E_CLUSTER_EXIT:
        if (mask && i) check_cluster_phase(c, w, i, mask, event == EM_E_CLUSTER_ARRIVE);
        break;
    default: break;
    }
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_barriers = {
    .needs = needs,
    .events = EVENT(BEGIN) | EVENT(BARRIER_ARRIVE) | EVENT(BARRIER_COMPLETE) | EVENT(WARP_SYNC) |
              EVENT(WARP_EXCHANGE) | EVENT(CLUSTER_ARRIVE) | EVENT(CLUSTER_EXIT),
    .event = barriers_event,
};
