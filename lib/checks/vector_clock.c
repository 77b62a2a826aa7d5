/* Vector clocks of threads: the happens-before order. Joined here at barriers, mbarriers and waits for
 * asynchronous work, in flags.c at fences and flags. */
#include "lib/checks/parts.h"

#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/order/group.h"
#include "lib/order/proxy.h"

/* ---- vector clocks ---- */

void em_vclock_drop(const vclock *s)
{
    vclock *own = (vclock *)(uintptr_t)s;
    if (!own || --own->references) return;
    em_cross_drop(own->cross);
    free(own);
}

vclock *em_vclock_keep(const vclock *s)
{
    vclock *own = (vclock *)(uintptr_t)s;
    if (own) own->references++;
    return own;
}

vclock *em_vclock_make(em_checks *c, const uint32_t *clock, cross_clock *others)
{
    vclock *s = malloc(sizeof *s + (size_t)c->entries * sizeof *clock);
    if (!s) {
        c->exhausted = true;
        return NULL;
    }
    s->references = 1;
    s->cross = em_cross_keep(others);
    if (clock)
        memcpy(s->clock, clock, (size_t)c->entries * sizeof *clock);
    else
        memset(s->clock, 0, (size_t)c->entries * sizeof *clock);
    return s;
}

static void join_clocks(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) to[n] = from[n] > to[n] ? from[n] : to[n];
}

void em_vclock_set(vclock **at, const vclock *value)
{
    if (*at == value) return;
    const vclock *old = *at;
    *at = value ? em_vclock_keep(value) : NULL;
    em_vclock_drop(old);
}

vclock *em_vclock_join(em_checks *c, const vclock *a, const vclock *b)
{
    cross_clock *others = em_cross_join(c, a->cross, b->cross);
    vclock *s = em_vclock_make(c, a->clock, others);
    em_cross_drop(others);
    if (s) join_clocks(s->clock, b->clock, c->entries);
    return s;
}

void em_vclock_add(em_checks *c, vclock **at, const vclock *more)
{
    if (!more || *at == more) return;
    vclock *both = *at ? em_vclock_join(c, *at, more) : em_vclock_keep(more);
    em_vclock_set(at, both);
    em_vclock_drop(both);
}

/* ---- sync variables ---- */

void em_sync_release(sync_var *m)
{
    free(m->accumulated);
    em_vclock_drop(m->last);
    em_vclock_drop(m->result);
    em_cross_drop(m->cross);
    em_vclock_drop(m->assumed);
    em_vclock_drop(m->assumed_result);
    for (int k = 0; k < SCOPES; k++) {
        em_vclock_drop(m->last_fenced[k]);
        em_vclock_drop(m->fenced[k]);
        em_vclock_drop(m->fenced_result[k]);
    }
    *m = (sync_var){0};
}

/* Publishes the thread's last fences: a flag raised after the barrier releases them, too. */
static void arrive_fenced(em_checks *c, sync_var *m, const thread_state *t, uint32_t id)
{
    for (int k = 0; k < SCOPES; k++) {
        const vclock *own = t->fenced[k];
        if (!own) continue;
        if (m->last_fenced[k] != own) {
            vclock *both = m->fenced[k] ? em_vclock_join(c, m->fenced[k], own)
                                        : em_vclock_make(c, own->clock, own->cross);
            if (!both) return;
            em_vclock_drop(m->fenced[k]);
            m->fenced[k] = both;
            em_vclock_drop(m->last_fenced[k]);
            m->last_fenced[k] = em_vclock_keep(own);
        }
        if (t->fence[k] > m->fenced[k]->clock[id]) m->fenced[k]->clock[id] = t->fence[k];
    }
}

/* A thread that knows `known` arrives at time `now`; `t` is NULL for a copy. */
static void arrive_at_sync(em_checks *c, sync_var *m, const vclock *known, uint32_t id, uint32_t now,
                           const thread_state *t)
{
    if (!m->accumulated) m->accumulated = calloc(c->entries, sizeof *m->accumulated);
    if (!m->accumulated) {
        c->exhausted = true;
        return;
    }
    if (m->last != known) {
        join_clocks(m->accumulated, known->clock, c->entries);
        em_vclock_drop(m->last);
        m->last = em_vclock_keep(known);
        cross_clock *others = em_cross_join(c, m->cross, known->cross);
        em_cross_drop(m->cross);
        m->cross = others;
    }
    if (now > m->accumulated[id]) m->accumulated[id] = now;
    if (t) arrive_fenced(c, m, t, id);
}

static void arrive_lanes_at_sync(em_checks *c, sync_var *m, em_warp *w, uint32_t mask)
{
    cluster_state *cluster = cluster_of(c, w);
    uint32_t now = em_tick(c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t id = thread_id(c, w, __builtin_ctz(rest));
        const thread_state *t = &cluster->threads[id];
        arrive_at_sync(c, m, t->known, id, now, t);
    }
}

/* A phase is complete: its result is the join of all arrivals. */
static void complete_sync_phase(em_checks *c, sync_var *m)
{
    em_vclock_drop(m->result);
    m->result = m->accumulated ? em_vclock_make(c, m->accumulated, m->cross) : NULL;
    for (int k = 0; k < SCOPES; k++) {
        em_vclock_drop(m->fenced_result[k]);
        em_vclock_drop(m->last_fenced[k]);
        m->fenced_result[k] = m->fenced[k];
        m->fenced[k] = NULL;
        m->last_fenced[k] = NULL;
    }
    em_vclock_drop(m->assumed_result);
    m->assumed_result = m->assumed;
    m->assumed = NULL;
    free(m->accumulated);
    em_vclock_drop(m->last);
    em_cross_drop(m->cross);
    m->cross = NULL;
    m->accumulated = NULL;
    m->last = NULL;
}

/* Whether all lanes of the warp share one clock. */
static void find_common(const em_checks *c, const em_warp *w)
{
    const thread_state *t = &cluster_of(c, w)->threads[thread_id(c, w, 0)];
    const vclock *common = t[__builtin_ctz(w->started | 1u << 31)].known;
    for (uint32_t rest = w->started; rest; rest &= rest - 1)
        if (t[__builtin_ctz(rest)].known != common) {
            common = NULL;
            break;
        }
    warp_of(c, w)->known = common;
}

/* Joins `what` into the lanes' clocks, or into those of their last fence of scope `fenced`. Lanes that share
 * a clock share the result. */
static void acquire_clock(em_checks *c, em_warp *w, uint32_t mask, const vclock *what, int fenced)
{
    cluster_state *cluster = cluster_of(c, w);
    vclock *before = NULL, *after = NULL;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        thread_state *t = &cluster->threads[thread_id(c, w, __builtin_ctz(rest))];
        vclock **own = fenced < 0 ? &t->known : &t->fenced[fenced];
        if (*own == what) continue;
        if (!*own) {
            em_vclock_set(own, what);
            continue;
        }
        if (*own != before) {
            vclock *joined = em_vclock_join(c, *own, what);
            if (!joined) break;
            em_vclock_drop(before);
            em_vclock_drop(after);
            before = em_vclock_keep(*own);
            after = joined;
        }
        em_vclock_set(own, after);
    }
    em_vclock_drop(before);
    em_vclock_drop(after);
    if (fenced < 0) find_common(c, w);
}

void em_vclock_acquire(em_checks *c, em_warp *w, uint32_t mask, const vclock *what)
{
    acquire_clock(c, w, mask, what, -1);
}

static void acquire_result(em_checks *c, em_warp *w, uint32_t mask, const sync_var *m)
{
    if (m->result) acquire_clock(c, w, mask, m->result, -1);
    for (int k = 0; k < SCOPES; k++)
        if (m->fenced_result[k]) acquire_clock(c, w, mask, m->fenced_result[k], k);
    for (uint32_t rest = m->assumed_result ? mask : 0; rest; rest &= rest - 1)
        em_vclock_add(c, &cluster_of(c, w)->threads[thread_id(c, w, __builtin_ctz(rest))].assumed,
                      m->assumed_result);
}

/* ---- the state of a launch ---- */

static void vector_clocks_end(em_checks *c)
{
    for (uint32_t n = 0; c->clusters && n < c->cluster_room; n++) {
        cluster_state *o = &c->clusters[n];
        uint32_t barriers = c->entries / c->stride * BLOCK_BARRIERS;
        for (uint32_t t = 0; o->threads && t < c->entries; t++) {
            em_vclock_drop(o->threads[t].known);
            em_vclock_drop(o->threads[t].locked);
            em_vclock_drop(o->threads[t].assumed);
            for (int k = 0; k < SCOPES; k++) {
                em_vclock_drop(o->threads[t].fenced[k]);
                em_vclock_drop(o->threads[t].observed[k]);
            }
        }
        for (uint32_t b = 0; o->barriers && b < barriers; b++) em_sync_release(&o->barriers[b].sync);
        em_sync_release(&o->cluster);
    }
    em_flags_end(c);
}

/* A cluster starts: earlier clusters in its slot are irrelevant. */
static void reset_cluster_clocks(em_checks *c, em_warp *w)
{
    cluster_state *o = cluster_of(c, w);
    uint32_t *clock = malloc((size_t)c->entries * sizeof *clock);
    for (uint32_t n = 0; clock && n < c->entries; n++) clock[n] = o->began;
    vclock *first = clock ? em_vclock_make(c, clock, c->begun[o->device]) : NULL;
    free(clock);
    if (!first) {
        c->exhausted = true;
        return;
    }
    for (uint32_t n = 0; n < c->entries; n++) {
        thread_state *t = &o->threads[n];
        em_vclock_set(&t->known, first);
        em_vclock_set(&t->locked, NULL);
        em_vclock_set(&t->assumed, NULL);
        for (int k = 0; k < SCOPES; k++) {
            em_vclock_set(&t->fenced[k], NULL);
            em_vclock_set(&t->observed[k], NULL);
            t->fence[k] = 0;
        }
        t->counted = false;
        t->device_fence = NULL;
        t->proxy_fence[0] = t->proxy_fence[1] = t->init_fence = t->cluster_released = t->cluster_relaxed = 0;
    }
    for (uint32_t n = 0; n < w->block->cluster->count * w->block->warp_count; n++) o->warps[n].known = first;
    em_vclock_drop(first);
    uint32_t barriers = w->block->cluster->count * BLOCK_BARRIERS;
    for (uint32_t n = 0; n < barriers; n++) em_sync_release(&o->barriers[n].sync);
    em_sync_release(&o->cluster);
}

/* ---- mbarriers ---- */

/* fence.proxy.async of some spaces, or fence.mbarrier_init (no space). */
static void asynchronous_fence(em_checks *c, em_warp *w, uint32_t mask, unsigned spaces)
{
    uint32_t now = em_tick(c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        thread_state *t = &cluster_of(c, w)->threads[thread_id(c, w, __builtin_ctz(rest))];
        if (!spaces) t->init_fence = now;
        if (spaces & ORDER_SHARED) t->proxy_fence[0] = now;
        if (spaces & ORDER_GLOBAL) t->proxy_fence[1] = now;
    }
}

static void proxy_fence(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    bool shared = em_has(i, EM_M_shared) || em_has(i, EM_M_shared_cta) || em_has(i, EM_M_shared_cluster);
    unsigned spaces = order_proxy_fence(!em_has(i, EM_M_alias) && !em_has(i, EM_M_tensormap_generic), shared,
                                        em_has(i, EM_M_global));
    if (spaces) asynchronous_fence(c, w, mask, spaces);
    if (em_has(i, EM_M_tensormap_generic) && em_has(i, EM_M_acquire))
        cluster_of(c, w)->map_fence = em_tick(c);
}

static void mbarrier_arrive(em_checks *c, em_warp *w, uint32_t mask, uint32_t address)
{
    mbarrier_state *b = em_mbarrier_find(c, cluster_of(c, w), address, true);
    const em_pending *p = c->machine->completing;
    if (!b) return;
    /* A completing copy releases its own accesses; cp.async also those of the issuing thread. */
    if (p)
        arrive_at_sync(c, &b->sync, cluster_of(c, w)->threads[thread_id(c, w, 0)].known,
                       async_id(c, w, async_kind(p->kind)), p->issued, NULL);
    if (!p || p->kind == EM_P_MBARRIER) arrive_lanes_at_sync(c, &b->sync, w, mask);
}

/* ---- asynchronous work ---- */

static void commit_async_group(em_checks *c, em_warp *w, uint32_t kind, uint32_t group)
{
    warp_of(c, w)->committed[kind][group % GROUPS_KEPT] = em_tick(c);
}

/* `read_only`: only until the sources of bulk stores were read. */
static void acquire_async_groups(em_checks *c, em_warp *w, uint32_t mask, uint32_t kind, uint32_t group,
                                 bool read_only)
{
    cluster_state *o = cluster_of(c, w);
    uint32_t first = w->index, last = w->index, time = 0;
    if (kind == WGMMA_KIND) {
        first = w->index / 4 * 4;
        last = first + 3 < w->block->warp_count ? first + 3 : w->block->warp_count - 1;
    }
    for (uint32_t n = first; n <= last; n++) {
        uint32_t at =
            o->warps[w->block->rank * w->block->warp_count + n].committed[kind][group % GROUPS_KEPT];
        /* A diverged warp may count more groups at the commit: a wait for all groups waits for all issued
         * ones. The same holds for a warp that has not committed its part yet. */
        if (kind == WGMMA_KIND && (w->block->warps[n].wgmma_groups < group || group >= w->wgmma_groups))
            at = em_tick(c);
        if (at > time) time = at;
    }
    if (!group || !time) return;
    vclock *over = em_vclock_make(c, NULL, NULL);
    if (!over) return;
    over->clock[async_id(c, w, kind)] = time;
    if (kind == async_kind(EM_P_BULK) && order_wait_covers(read_only, true))
        over->clock[async_id(c, w, BULK_WRITE_KIND)] = time;
    em_vclock_acquire(c, w, mask, over);
    em_vclock_drop(over);
}

/* A relaxed arrival releases only the accesses before the thread's last fence of cluster scope. On sm_90 the first one, behind the initialisation of
 * mbarriers, needs no fence; races.c warns where those mbarriers are used. */
static void arrive_at_cluster_barrier(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    cluster_state *o = cluster_of(c, w);
    bool relaxed = i && em_has(i, EM_M_relaxed);
    uint32_t releases = relaxed ? 0 : mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t id = thread_id(c, w, __builtin_ctz(rest));
        thread_state *t = &o->threads[id];
        if (!t->cluster_relaxed && !t->cluster_released)
            releases |= rest & -rest;
        else if (relaxed && t->fenced[SCOPE_CLUSTER])
            arrive_at_sync(c, &o->cluster, t->fenced[SCOPE_CLUSTER], id, t->fence[SCOPE_CLUSTER], NULL);
        *(relaxed ? &t->cluster_relaxed : &t->cluster_released) = c->machine->time;
    }
    if (releases) arrive_lanes_at_sync(c, &o->cluster, w, releases);
}

/* ---- events ---- */

static void vector_clocks_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                                uint64_t a, uint64_t b)
{
    cluster_state *o = cluster_of(c, w);
    barrier_state *barriers = &o->barriers[w->block->rank * BLOCK_BARRIERS];
    mbarrier_state *at;
    switch ((int)event) {
    case EM_E_BEGIN: reset_cluster_clocks(c, w); break;
    case EM_E_FENCE:
        em_flags_fence(c, w, i, mask);
        if (em_has(i, EM_M_mbarrier_init)) asynchronous_fence(c, w, mask, 0);
        break;
    case EM_E_PROXY_FENCE: proxy_fence(c, w, i, mask); break;
    case EM_E_WARP_SYNC: {
        sync_var all = {0};
        arrive_lanes_at_sync(c, &all, w, mask);
        complete_sync_phase(c, &all);
        acquire_result(c, w, mask, &all);
        em_sync_release(&all);
        break;
    }
    case EM_E_WARP_EXCHANGE:
        warp_of(c, w)->exchanged = em_tick(c);
        warp_of(c, w)->exchange_mask = mask;
        break;
    case EM_E_BARRIER_ARRIVE:
        em_flags_arrive(c, w, mask, &barriers[a].sync);
        arrive_lanes_at_sync(c, &barriers[a].sync, w, mask);
        break;
    case EM_E_BARRIER_COMPLETE: complete_sync_phase(c, &barriers[a].sync); break;
    case EM_E_BARRIER_EXIT: acquire_result(c, w, mask, &barriers[a].sync); break;
    case EM_E_CLUSTER_ARRIVE: arrive_at_cluster_barrier(c, w, i, mask); break;
    case EM_E_CLUSTER_COMPLETE: complete_sync_phase(c, &o->cluster); break;
    case EM_E_CLUSTER_EXIT: acquire_result(c, w, mask, &o->cluster); break;
    case EM_E_MBARRIER_ARRIVE: mbarrier_arrive(c, w, mask, (uint32_t)a); break;
    case EM_E_MBARRIER_PHASE:
        at = em_mbarrier_find(c, o, (uint32_t)a, false);
        if (at) complete_sync_phase(c, &at->sync);
        break;
    case EM_E_MBARRIER_PASS:
        at = em_mbarrier_find(c, o, (uint32_t)a, false);
        if (at) acquire_result(c, w, mask, &at->sync);
        break;
    case EM_E_COMMIT_GROUP: commit_async_group(c, w, async_kind((int)a), (uint32_t)b); break;
    case EM_E_WAIT_GROUP:
        acquire_async_groups(c, w, mask, async_kind((int)a), (uint32_t)b, i && em_has(i, EM_M_read));
        break;
    default: break;
    }
}

static const em_part *const needs[] = {&em_part_clusters, &em_part_mbarrier_states, NULL};
const em_part em_part_vector_clocks = {
    .needs = needs,
    .events = EVENT(BEGIN) | EVENT(FENCE) | EVENT(PROXY_FENCE) | EVENT(WARP_SYNC) | EVENT(WARP_EXCHANGE) |
              EVENT(BARRIER_ARRIVE) | EVENT(BARRIER_COMPLETE) | EVENT(BARRIER_EXIT) | EVENT(CLUSTER_ARRIVE) |
              EVENT(CLUSTER_COMPLETE) | EVENT(CLUSTER_EXIT) | EVENT(MBARRIER_ARRIVE) | EVENT(MBARRIER_PHASE) |
              EVENT(MBARRIER_PASS) | EVENT(COMMIT_GROUP) | EVENT(WAIT_GROUP),
    .end = vector_clocks_end,
    .event = vector_clocks_event,
};
