/* Barriers of the warp, the block and the cluster, fences, and hints without effect. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"
#include "lib/emulator/machine/control.h"
#include "lib/order/barrier.h"

/* ---- block barriers ---- */

/* Operands of barrier.red: results, barrier number, count, predicate. */
typedef enum em_barrier_kind { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED } em_barrier_kind;

static void run_barrier(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_split *s = w->split;
    em_barrier_kind kind = (em_barrier_kind)i->barrier.kind;
    uint32_t number = (uint32_t)em_uniform(w, &i->o[i->barrier.number], mask);
    uint32_t wanted = i->barrier.threads ? (uint32_t)em_uniform(w, &i->o[i->barrier.threads], mask) : 0;
    em_machine *m = w->machine;
    if (number >= ORDER_BARRIERS) {
        em_fault(w, i, -1, "expected a barrier number from 0 to 15, got %u", number);
        return;
    }
    em_barrier *b = &w->block->barriers[number];
    if (s->woken) {
        s->woken = false;
        em_tell(EM_E_BARRIER_EXIT, w, i, mask, number, 0);
        if (kind != BARRIER_RED) return;
        if (em_has(i, EM_M_popc))
            EM_EACH(mask, em_set(w, &i->o[0], l, b->result_count));
        else
            em_set_mask(w, &i->o[0], mask,
                        em_has(i, EM_M_and) ? (b->result_and ? UINT32_MAX : 0)
                                            : (b->result_or ? UINT32_MAX : 0));
        return;
    }
    uint32_t all = (uint32_t)order_barrier_all(w->block->threads), waiting = b->expected ? b->expected : all,
             count = i->barrier.threads ? wanted : all;
    switch (order_barrier_check(number, count, b->arrived ? waiting : 0, all)) {
    case ORDER_BARRIER_THREADS:
        em_fault(w, i, -1, "expected a thread count that is a positive multiple of %d, got %u", EM_LANES,
                 wanted);
        return;
    case ORDER_BARRIER_OTHER_COUNT:
        em_fault(w, i, -1, "inconsistent thread counts for barrier %u: %u here, %u elsewhere", number, count,
                 waiting);
        return;
    default: break; /* counts above the block's threads: lib/checks/barriers.c */
    }
    em_tell(EM_E_BARRIER_ARRIVE, w, i, mask, number, wanted);
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    if (wanted && mask == w->alive) lanes = EM_LANES; /* counts are in whole warps */
    if (kind == BARRIER_RED) {
        uint32_t a = em_mask_of(w, &i->o[i->count - 1]) & mask;
        if (a != mask) b->red_and = 0;
        b->red_or |= a;
        b->red_count += (uint32_t)__builtin_popcount(a);
    }
    uint32_t generation = b->generation;
    b->arrived += lanes;
    b->expected = wanted;
    m->changes++;
    if (kind != BARRIER_ARRIVE) {
        s->barrier = number;
        s->generation = generation;
        em_block_split(w, EM_WAIT_BARRIER);
    }
    em_barrier_complete(w->block);
    if (kind != BARRIER_ARRIVE && b->generation != generation) { /* last arrival: continue at once */
        s->wait = EM_RUNS;
        s->woken = true;
        w->stop = EM_GO_ON;
        em_uncount(w, i, mask, true);
    }
}

cute_status em_decode_barrier(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (em_has(i, EM_M_cluster)) return em_decode_barrier_cluster(p, raw, i);
    if (em_has(i, EM_M_warp)) {
        CUTE_TRY(em_operands(p, raw, 1, 1));
        i->run = em_run_warp_barrier;
        return em_source(p, raw, i, 0, PTX_b32);
    }
    bool red = em_has(i, EM_M_red), arrive = em_has(i, EM_M_arrive);
    i->barrier.kind = red ? BARRIER_RED : arrive ? BARRIER_ARRIVE : BARRIER_SYNC;
    i->run = run_barrier;
    if (red) {
        CUTE_TRY(em_operands(p, raw, 3, 4));
        CUTE_TRY(em_target(p, raw, i, 0, em_has(i, EM_M_popc) ? PTX_u32 : PTX_pred, false));
        CUTE_TRY(em_source(p, raw, i, raw->count - 1, PTX_pred));
        i->results = 1;
        i->barrier.number = 1;
        i->barrier.threads = raw->count == 4 ? 2 : 0;
    } else {
        CUTE_TRY(em_operands(p, raw, arrive ? 2 : 1, 2));
        i->barrier.threads = raw->count == 2 ? 1 : 0;
    }
    CUTE_TRY(em_source(p, raw, i, i->barrier.number, PTX_u32));
    return i->barrier.threads ? em_source(p, raw, i, i->barrier.threads, PTX_u32) : CUTE_OK;
}

/* ---- barrier.cluster ---- */

static void run_cluster_arrive(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_cluster *c = w->block->cluster;
    (void)i;
    EM_EACH(mask, w->cluster_generation[l] = c->generation);
    w->cluster_arrived |= mask;
    c->arrived += (uint32_t)__builtin_popcount(mask);
    em_tell(EM_E_CLUSTER_ARRIVE, w, i, mask, 0, 0);
    w->machine->changes++;
    em_cluster_complete(c);
}

static void run_cluster_wait(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (em_cluster_waits(w, mask))
        em_block_split(w, EM_WAIT_CLUSTER);
    else
        em_tell(EM_E_CLUSTER_EXIT, w, i, mask, 0, 0);
}

cute_status em_decode_barrier_cluster(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 0, 0));
    if (em_has(i, EM_M_arrive))
        i->run = run_cluster_arrive;
    else if (em_has(i, EM_M_wait))
        i->run = run_cluster_wait;
    else
        return em_wrong(p, raw, "barrier.cluster requires .arrive or .wait");
    return CUTE_OK;
}

/* ---- instructions without effect ---- */

static void run_nothing(em_warp *w, const em_inst *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

/* The emulator's memory is in order, except as seen by other host threads; checks need the event. */
static void run_fence(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (w->machine->parallel) atomic_thread_fence(memory_order_seq_cst);
    em_tell(em_has(i, EM_M_proxy) ? EM_E_PROXY_FENCE : EM_E_FENCE, w, i, mask, 0, 0);
}

cute_status em_decode_hint(em_parser *p, const em_raw *raw, em_inst *i)
{
    (void)p, (void)raw;
    i->run = run_nothing;
    return CUTE_OK;
}

cute_status em_decode_fence(em_parser *p, const em_raw *raw, em_inst *i)
{
    (void)p, (void)raw;
    i->run = run_fence;
    return CUTE_OK;
}

static void run_nanosleep(em_warp *w, const em_inst *i, uint32_t mask)
{
    (void)i, (void)mask;
    /* A pause between two attempts at an mbarrier is part of the wait. */
    w->stop = w->split->polled == w->machine->changes + 1 ? EM_POLL : EM_YIELD;
}

cute_status em_decode_nanosleep(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 1, 1));
    i->run = run_nanosleep;
    return em_source(p, raw, i, 0, PTX_u32);
}
