/* The queue of asynchronous operations: copies, arrivals and wgmmas. With seed 0 they complete when issued;
 * otherwise when the schedule chooses, or when they are waited for. */
#include <stdlib.h>

#include "lib/emulator/machine/machine.h"

enum { LATEST = 24 };

em_pending *em_pending_add(em_warp *w, const em_inst *i, uint32_t lanes, int kind, size_t data_size)
{
    em_machine *m = w->machine;
    em_pending *p = calloc(1, sizeof *p + data_size);
    if (!p) {
        em_fault(w, i, -1, "out of memory");
        return NULL;
    }
    p->warp = w;
    p->inst = i;
    p->lanes = lanes;
    p->kind = kind;
    p->data = p + 1;
    p->size = (uint32_t)data_size;
    p->issued = m->time++;
    p->due = m->round + (m->launch->options.seed ? em_random(m) % LATEST : 0);
    *m->pending_end = p;
    m->pending_end = &p->next;
    em_tell(EM_E_ISSUE, w, i, lanes, p->issued, (uint64_t)kind);
    return p;
}

/* wgmmas of a warp complete in order, and only after the other warps of the warpgroup have issued theirs. */
static bool is_blocked_by_order(const em_machine *m, const em_pending *p)
{
    if (p->kind != EM_P_WGMMA && p->kind != EM_P_MBARRIER) return false;
    if (p->kind == EM_P_WGMMA && !em_warpgroup_issued(p->warp, p->sequence)) return true;
    int first = p->kind == EM_P_MBARRIER ? EM_P_CP_ASYNC : EM_P_WGMMA;
    for (const em_pending *q = m->pending; q != p; q = q->next)
        if (q->warp == p->warp && q->kind == first && !q->done &&
            (first == EM_P_WGMMA || q->lanes & p->lanes))
            return true;
    return false;
}

static void drop_done(em_machine *m)
{
    em_pending **at = &m->pending;
    while (*at) {
        em_pending *p = *at;
        if (p->done) {
            *at = p->next;
            free(p);
        } else {
            at = &p->next;
        }
    }
    m->pending_end = at;
}

static bool complete_pending(em_machine *m, em_pending *p)
{
    m->completing = p;
    bool done = p->complete(m, p) && !m->failed;
    m->completing = NULL;
    return done;
}

bool em_pending_run(em_machine *m, bool all)
{
    bool any = false;
    for (em_pending *p = m->pending; p; p = p->next) {
        if (p->done || (!all && p->due > m->round) || is_blocked_by_order(m, p)) continue;
        any = p->done = true;
        if (!complete_pending(m, p)) return false;
        m->changes++;
    }
    if (any) drop_done(m);
    return true;
}

bool em_pending_run_wgmma(const em_warp *w, uint32_t sequence)
{
    em_machine *m = w->machine;
    for (em_pending *p = m->pending; p; p = p->next) {
        if (p->done || p->kind != EM_P_WGMMA || p->sequence != sequence) continue;
        if (p->warp->block != w->block || p->warp->index / 4 != w->index / 4) continue;
        p->done = true;
        if (!complete_pending(m, p)) return false;
        m->changes++;
    }
    drop_done(m);
    return true;
}

bool em_pending_split(em_machine *m, em_pending *p, uint32_t lanes)
{
    if (!(p->lanes & ~lanes)) return true;
    em_pending *rest = malloc(sizeof *rest + p->size);
    if (!rest) {
        em_fault(p->warp, p->inst, -1, "out of memory");
        return false;
    }
    memcpy(rest, p, sizeof *rest + p->size);
    rest->data = rest + 1;
    rest->lanes &= ~lanes;
    p->lanes &= lanes;
    p->next = rest;
    if (m->pending_end == &p->next) m->pending_end = &rest->next;
    return true;
}

bool em_pending_finish(em_warp *w, int kind, uint32_t lanes, uint32_t upto)
{
    em_machine *m = w->machine;
    bool any = false;
    for (em_pending *p = m->pending; p; p = p->next) {
        if (p->done || p->warp != w || p->kind != kind || !(p->lanes & lanes)) continue;
        if (!p->group || p->group > upto) continue;
        if (!em_pending_split(m, p, lanes)) return false;
        any = p->done = true;
        if (!complete_pending(m, p)) return false;
        m->changes++;
    }
    if (any) drop_done(m);
    return true;
}

bool em_pending_finish_wgmma(em_warp *w, uint32_t sequence)
{
    em_machine *m = w->machine;
    for (em_pending *p = m->pending; p; p = p->next) {
        if (p->done || p->warp != w || p->kind != EM_P_WGMMA || p->sequence > sequence) continue;
        p->done = true;
        if (!complete_pending(m, p)) return false;
        m->changes++;
    }
    drop_done(m);
    return true;
}

bool em_pending_end_block(const em_block *block)
{
    em_machine *m = block->machine;
    bool any = false;
    for (em_pending *p = m->pending; p; p = p->next) {
        bool own = p->warp->block == block;
        if (p->done || (!own && !em_bulk_reaches(p, block))) continue;
        any = p->done = true;
        /* A wgmma that some warp of its warpgroup has not issued never completes. */
        if (!is_blocked_by_order(m, p) && !complete_pending(m, p)) return false;
    }
    if (any) drop_done(m);
    return true;
}
