/* What is ordered before what: clocks of threads, joined at barriers, mbarriers and waits for asynchronous
 * work; checkflag.c joins them at flags. */
#include "lib/checks/state.h"

#include <stdlib.h>

#include "lib/base/list.h"

/* ---- snapshots ---- */

void em_snapshot_drop(const snapshot *s)
{
    snapshot *own = (snapshot *)(uintptr_t)s;
    if (!own || --own->references) return;
    em_foreign_drop(own->foreign);
    free(own);
}

snapshot *em_snapshot_keep(const snapshot *s)
{
    snapshot *own = (snapshot *)(uintptr_t)s;
    if (own) own->references++;
    return own;
}

snapshot *em_snapshot_make(em_checks *c, const uint32_t *clock, foreign *others)
{
    snapshot *s = malloc(sizeof *s + (size_t)c->entries * sizeof *clock);
    if (!s) {
        c->exhausted = true;
        return NULL;
    }
    s->references = 1;
    s->foreign = em_foreign_keep(others);
    if (clock)
        memcpy(s->clock, clock, (size_t)c->entries * sizeof *clock);
    else
        memset(s->clock, 0, (size_t)c->entries * sizeof *clock);
    return s;
}

static void join(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) to[n] = from[n] > to[n] ? from[n] : to[n];
}

void em_snapshot_set(snapshot **at, const snapshot *value)
{
    if (*at == value) return;
    const snapshot *old = *at;
    *at = value ? em_snapshot_keep(value) : NULL;
    em_snapshot_drop(old);
}

snapshot *em_snapshot_join(em_checks *c, const snapshot *a, const snapshot *b)
{
    foreign *others = em_foreign_join(c, a->foreign, b->foreign);
    snapshot *s = em_snapshot_make(c, a->clock, others);
    em_foreign_drop(others);
    if (s) join(s->clock, b->clock, c->entries);
    return s;
}

uint32_t em_order_tick(em_checks *c)
{
    return c->machine->time++;
}

/* ---- meetings ---- */

static void meeting_release(meeting *m)
{
    free(m->gathering);
    em_snapshot_drop(m->last);
    em_snapshot_drop(m->result);
    em_foreign_drop(m->foreign);
    for (int k = 0; k < SCOPES; k++) {
        em_snapshot_drop(m->last_fenced[k]);
        em_snapshot_drop(m->fenced[k]);
        em_snapshot_drop(m->fenced_result[k]);
    }
    *m = (meeting){0};
}

/* What the thread said by fences before it came: whoever raises a flag behind the barrier passes it on. */
static void come_fenced(em_checks *c, meeting *m, const thread_order *t, uint32_t id)
{
    for (int k = 0; k < SCOPES; k++) {
        const snapshot *said = t->fenced[k];
        if (!said) continue;
        if (m->last_fenced[k] != said) {
            snapshot *both = m->fenced[k] ? em_snapshot_join(c, m->fenced[k], said)
                                          : em_snapshot_make(c, said->clock, said->foreign);
            if (!both) return;
            em_snapshot_drop(m->fenced[k]);
            m->fenced[k] = both;
            em_snapshot_drop(m->last_fenced[k]);
            m->last_fenced[k] = em_snapshot_keep(said);
        }
        if (t->fence[k] > m->fenced[k]->clock[id]) m->fenced[k]->clock[id] = t->fence[k];
    }
}

/* A thread, and with it all that it knows, comes at `now`; of a copy, `t` is NULL. */
static void come(em_checks *c, meeting *m, const snapshot *known, uint32_t id, uint32_t now,
                 const thread_order *t)
{
    if (!m->gathering) m->gathering = calloc(c->entries, sizeof *m->gathering);
    if (!m->gathering) {
        c->exhausted = true;
        return;
    }
    if (m->last != known) {
        join(m->gathering, known->clock, c->entries);
        em_snapshot_drop(m->last);
        m->last = em_snapshot_keep(known);
        foreign *others = em_foreign_join(c, m->foreign, known->foreign);
        em_foreign_drop(m->foreign);
        m->foreign = others;
    }
    if (now > m->gathering[id]) m->gathering[id] = now;
    if (t) come_fenced(c, m, t, id);
}

static void come_lanes(em_checks *c, meeting *m, em_warp *w, uint32_t mask)
{
    cluster_order *cluster = cluster_of(c, w);
    uint32_t now = em_order_tick(c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t id = thread_id(c, w, __builtin_ctz(rest));
        const thread_order *t = &cluster->threads[id];
        come(c, m, t->known, id, now, t);
    }
}

/* All that came is the result; the next gathering begins. */
static void settle(em_checks *c, meeting *m)
{
    em_snapshot_drop(m->result);
    m->result = m->gathering ? em_snapshot_make(c, m->gathering, m->foreign) : NULL;
    for (int k = 0; k < SCOPES; k++) {
        em_snapshot_drop(m->fenced_result[k]);
        em_snapshot_drop(m->last_fenced[k]);
        m->fenced_result[k] = m->fenced[k];
        m->fenced[k] = NULL;
        m->last_fenced[k] = NULL;
    }
    free(m->gathering);
    em_snapshot_drop(m->last);
    em_foreign_drop(m->foreign);
    m->foreign = NULL;
    m->gathering = NULL;
    m->last = NULL;
}

/* `what` is added to what the lanes know, or said in scope `fenced`; those that had the same go on to. */
static void learn(em_checks *c, em_warp *w, uint32_t mask, const snapshot *what, int fenced)
{
    cluster_order *cluster = cluster_of(c, w);
    snapshot *before = NULL, *after = NULL;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        thread_order *t = &cluster->threads[thread_id(c, w, __builtin_ctz(rest))];
        snapshot **own = fenced < 0 ? &t->known : &t->fenced[fenced];
        if (*own == what) continue;
        if (!*own) {
            em_snapshot_set(own, what);
            continue;
        }
        if (*own != before) {
            snapshot *joined = em_snapshot_join(c, *own, what);
            if (!joined) break;
            em_snapshot_drop(before);
            em_snapshot_drop(after);
            before = em_snapshot_keep(*own);
            after = joined;
        }
        em_snapshot_set(own, after);
    }
    em_snapshot_drop(before);
    em_snapshot_drop(after);
}

void em_order_learn(em_checks *c, em_warp *w, uint32_t mask, const snapshot *what)
{
    learn(c, w, mask, what, -1);
}

static void learn_result(em_checks *c, em_warp *w, uint32_t mask, const meeting *m)
{
    if (m->result) learn(c, w, mask, m->result, -1);
    for (int k = 0; k < SCOPES; k++)
        if (m->fenced_result[k]) learn(c, w, mask, m->fenced_result[k], k);
}

/* ---- the state of a launch ---- */

static bool make_cluster(const em_checks *c, const em_cluster *like, cluster_order *o)
{
    o->threads = calloc(c->entries, sizeof *o->threads);
    o->warps = calloc((size_t)like->count * like->blocks[0].warp_count, sizeof *o->warps);
    o->barriers = calloc((size_t)like->count * BLOCK_BARRIERS, sizeof *o->barriers);
    o->shared = calloc(like->count, sizeof *o->shared);
    if (!o->threads || !o->warps || !o->barriers || !o->shared) return false;
    for (uint32_t r = 0; r < like->count; r++)
        if (!em_shadow_make(&o->shared[r], 0, like->blocks[r].shared_size, false, 1)) return false;
    return true;
}

bool em_order_grow(em_checks *c, uint32_t places)
{
    cluster_order *list = realloc(c->clusters, places * sizeof *list);
    if (!list) return false;
    c->clusters = list;
    for (; c->cluster_count < places; c->cluster_count++) {
        list[c->cluster_count] = (cluster_order){0};
        if (make_cluster(c, &c->machine->clusters[c->cluster_count], &list[c->cluster_count])) continue;
        c->cluster_count++; /* what was made is released */
        return false;
    }
    return true;
}

bool em_order_begin(em_checks *c)
{
    const em_cluster *first = &c->machine->clusters[0];
    c->stride = first->blocks[0].warp_count * (EM_LANES + ASYNC_KINDS);
    c->entries = first->count * c->stride;
    return em_order_grow(c, 1);
}

static void forget_mbarriers(cluster_order *o)
{
    for (size_t n = 0; n < o->mbarrier_count; n++) meeting_release(&o->mbarriers[n].meeting);
    o->mbarrier_count = 0;
}

void em_order_end(em_checks *c)
{
    for (uint32_t n = 0; c->clusters && n < c->cluster_count; n++) {
        cluster_order *o = &c->clusters[n];
        uint32_t blocks = c->entries / c->stride;
        for (uint32_t t = 0; o->threads && t < c->entries; t++) {
            em_snapshot_drop(o->threads[t].known);
            for (int k = 0; k < SCOPES; k++) {
                em_snapshot_drop(o->threads[t].fenced[k]);
                em_snapshot_drop(o->threads[t].heard[k]);
            }
        }
        for (uint32_t b = 0; o->barriers && b < blocks * BLOCK_BARRIERS; b++)
            meeting_release(&o->barriers[b]);
        for (uint32_t b = 0; o->shared && b < blocks; b++) em_shadow_release(&o->shared[b]);
        meeting_release(&o->cluster);
        forget_mbarriers(o);
        free(o->mbarriers);
        free(o->threads);
        free(o->warps);
        free(o->barriers);
        free(o->shared);
    }
    em_flags_end(c);
    free(c->clusters);
    c->clusters = NULL;
    c->cluster_count = 0;
}

/* A cluster begins: nothing that ran in its place before concerns it. */
static void begin_cluster(em_checks *c, em_warp *w, uint64_t index)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t now = em_order_tick(c), blocks = w->block->cluster->count;
    uint32_t *clock = malloc((size_t)c->entries * sizeof *clock);
    for (uint32_t n = 0; clock && n < c->entries; n++) clock[n] = now;
    snapshot *first = clock ? em_snapshot_make(c, clock, NULL) : NULL;
    free(clock);
    if (!first) {
        c->exhausted = true;
        return;
    }
    o->serial = (uint32_t)index + 1;
    o->began = now;
    o->waited = false;
    o->map_fence = 0;
    for (uint32_t n = 0; n < c->entries; n++) {
        thread_order *t = &o->threads[n];
        em_snapshot_set(&t->known, first);
        for (int k = 0; k < SCOPES; k++) {
            em_snapshot_set(&t->fenced[k], NULL);
            em_snapshot_set(&t->heard[k], NULL);
            t->fence[k] = 0;
        }
        t->counted = false;
        t->proxy_fence = t->init_fence = 0;
    }
    em_snapshot_drop(first);
    for (uint32_t n = 0; n < blocks * w->block->warp_count; n++) o->warps[n] = (warp_order){0};
    for (uint32_t n = 0; n < blocks * BLOCK_BARRIERS; n++) meeting_release(&o->barriers[n]);
    meeting_release(&o->cluster);
    forget_mbarriers(o);
    for (uint32_t n = 0; n < blocks; n++) em_shadow_forget(&o->shared[n]);
}

/* ---- mbarriers ---- */

/* Copies that complete at it are of the asynchronous proxy: they need not see an initialisation that no fence
 * made known to them. */
static void check_initialised(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask,
                              const mbarrier_order *b)
{
    const thread_order *threads = cluster_of(c, w)->threads;
    if (!b->init_inst || !(c->which & CUTE_CHECK_RACE)) return;
    if (threads[b->init_id].init_fence >= b->init_time) return;
    if (mask && threads[thread_id(c, w, __builtin_ctz(mask))].proxy_fence >= b->init_time) return;
    em_check_find(c, CUTE_CHECK_RACE, "init fence", w, i, mask ? __builtin_ctz(mask) : -1,
                  inst_index(c, b->init_inst),
                  "race: %s completes at the mbarrier at shared address 0x%x, which was initialised through "
                  "the generic "
                  "proxy; no fence.mbarrier_init or fence.proxy.async lies between",
                  em_instruction_name(i), b->address);
}

/* fence.proxy.async, and fence.mbarrier_init where `all` is false. */
static void asynchronous_fence(em_checks *c, em_warp *w, uint32_t mask, bool all)
{
    uint32_t now = em_order_tick(c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        thread_order *t = &cluster_of(c, w)->threads[thread_id(c, w, __builtin_ctz(rest))];
        t->init_fence = now;
        if (all) t->proxy_fence = now;
    }
}

mbarrier_order *em_order_mbarrier(em_checks *c, cluster_order *o, uint32_t address, bool add)
{
    for (size_t n = 0; n < o->mbarrier_count; n++)
        if (o->mbarriers[n].address == address) return &o->mbarriers[n];
    if (!add) return NULL;
    if (!cute_heap_more(&o->mbarriers, o->mbarrier_count, &o->mbarrier_capacity, sizeof *o->mbarriers, 16)) {
        c->exhausted = true;
        return NULL;
    }
    o->mbarriers[o->mbarrier_count] = (mbarrier_order){.address = address};
    return &o->mbarriers[o->mbarrier_count++];
}

static void mbarrier_arrive(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask, uint32_t address,
                            int64_t bytes)
{
    cluster_order *o = cluster_of(c, w);
    mbarrier_order *b = em_order_mbarrier(c, o, address, true);
    const em_pending *p = c->machine->completing;
    if (!b) return;
    if (bytes > 0) {
        b->expected += bytes;
        b->expect_inst = i;
    } else if (bytes < 0) {
        b->came -= bytes;
        b->come_inst = i;
    }
    if (p && p->kind == EM_P_LOAD) check_initialised(c, w, i, p->lanes, b);
    /* What comes late tells of the copies themselves; of cp.async also of the thread that issued them. */
    if (p)
        come(c, &b->meeting, o->threads[thread_id(c, w, 0)].known, async_id(c, w, async_kind(p->kind)),
             p->issued, NULL);
    if (!p || p->kind == EM_P_MBARRIER) come_lanes(c, &b->meeting, w, mask);
}

/* ---- asynchronous work ---- */

static void commit(em_checks *c, em_warp *w, uint32_t kind, uint32_t group)
{
    cluster_order *o = cluster_of(c, w);
    o->warps[w->block->rank * w->block->warp_count + w->index].committed[kind][group % GROUPS_KEPT] =
        em_order_tick(c);
}

/* `read_only`: until the sources of bulk stores were read. */
static void waited(em_checks *c, em_warp *w, uint32_t mask, uint32_t kind, uint32_t group, bool read_only)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t first = w->index, last = w->index, time = 0;
    if (kind == WGMMA_KIND) {
        first = w->index / 4 * 4;
        last = first + 3 < w->block->warp_count ? first + 3 : w->block->warp_count - 1;
    }
    for (uint32_t n = first; n <= last; n++) {
        uint32_t at =
            o->warps[w->block->rank * w->block->warp_count + n].committed[kind][group % GROUPS_KEPT];
        /* Warps whose lanes came to the commit in parts count more groups: who waits for all waits for what
         * was issued. So does who waits for a warp that has not committed its part yet. */
        if (kind == WGMMA_KIND && (w->block->warps[n].wgmma_groups < group || group >= w->wgmma_groups))
            at = em_order_tick(c);
        if (at > time) time = at;
    }
    if (!group || !time) return;
    snapshot *over = em_snapshot_make(c, NULL, NULL);
    if (!over) return;
    over->clock[async_id(c, w, kind)] = time;
    if (kind == async_kind(EM_P_BULK) && !read_only) over->clock[async_id(c, w, BULK_WRITE_KIND)] = time;
    em_order_learn(c, w, mask, over);
    em_snapshot_drop(over);
}

/* ---- questions and events ---- */

bool em_order_is_before(const em_checks *c, const cluster_order *o, uint32_t id, const access_record *then)
{
    if (then->time <= c->launch_time) return true;
    const snapshot *known = o->threads[id].known;
    if (then->cluster == o->serial && (then->id == id || then->time <= known->clock[then->id])) return true;
    return em_foreign_covers(c, known->foreign, then);
}

void em_order_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                    uint64_t b)
{
    cluster_order *o = cluster_of(c, w);
    meeting *barriers = &o->barriers[w->block->rank * BLOCK_BARRIERS];
    mbarrier_order *at;
    switch (event) {
    case EM_E_BEGIN: begin_cluster(c, w, a); break;
    case EM_E_FENCE:
        em_order_fence(c, w, i, mask);
        if (em_has(i, EM_M_mbarrier_init)) asynchronous_fence(c, w, mask, false);
        break;
    case EM_E_PROXY_FENCE:
        if (!em_has(i, EM_M_tensormap_generic))
            asynchronous_fence(c, w, mask, true);
        else if (em_has(i, EM_M_acquire))
            o->map_fence = em_order_tick(c);
        break;
    case EM_E_WARP_SYNC: {
        meeting all = {0};
        come_lanes(c, &all, w, mask);
        settle(c, &all);
        learn_result(c, w, mask, &all);
        meeting_release(&all);
        break;
    }
    case EM_E_WARP_EXCHANGE: {
        warp_order *own = &o->warps[w->block->rank * w->block->warp_count + w->index];
        own->exchanged = em_order_tick(c);
        own->exchange_mask = mask;
        break;
    }
    case EM_E_BARRIER_ARRIVE:
        em_order_counted(c, w, mask);
        come_lanes(c, &barriers[a], w, mask);
        break;
    case EM_E_BARRIER_COMPLETE: settle(c, &barriers[a]); break;
    case EM_E_BARRIER_EXIT: learn_result(c, w, mask, &barriers[a]); break;
    case EM_E_CLUSTER_ARRIVE: come_lanes(c, &o->cluster, w, mask); break;
    case EM_E_CLUSTER_COMPLETE: settle(c, &o->cluster); break;
    case EM_E_CLUSTER_EXIT: learn_result(c, w, mask, &o->cluster); break;
    case EM_E_MBARRIER_INIT:
        at = em_order_mbarrier(c, o, (uint32_t)a, true);
        if (!at) break;
        meeting_release(&at->meeting);
        *at = (mbarrier_order){.address = (uint32_t)a, .init_inst = i};
        at->init_time = c->machine->time;
        if (mask) at->init_id = thread_id(c, w, __builtin_ctz(mask));
        break;
    case EM_E_MBARRIER_ARRIVE: mbarrier_arrive(c, w, i, mask, (uint32_t)a, (int64_t)b); break;
    case EM_E_MBARRIER_PHASE:
        at = em_order_mbarrier(c, o, (uint32_t)a, false);
        if (!at) break;
        settle(c, &at->meeting);
        at->expected = at->came = 0;
        break;
    case EM_E_MBARRIER_PASS:
        at = em_order_mbarrier(c, o, (uint32_t)a, false);
        if (at) learn_result(c, w, mask, &at->meeting);
        break;
    case EM_E_COMMIT_GROUP: commit(c, w, async_kind((int)a), (uint32_t)b); break;
    case EM_E_WAIT_GROUP:
        waited(c, w, mask, async_kind((int)a), (uint32_t)b, i && em_has(i, EM_M_read));
        break;
    case EM_E_EXIT:
    case EM_E_END:
    case EM_E_FRAME_ENTER:
    case EM_E_FRAME_WRITE:
    case EM_E_DEADLOCK: break;
    }
}
