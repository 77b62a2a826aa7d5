/* What is ordered before what: clocks of threads, joined at barriers, fences with flags, and mbarriers.
 * Blocks of different clusters know of each other by flags in global memory only; there a bit for each
 * cluster and one time stand for a clock. */
#include "lib/emulator/checkstate.h"

#include <stdlib.h>

/* ---- snapshots ---- */

static void drop(const snapshot *s)
{
    snapshot *own = (snapshot *)(uintptr_t)s;
    if (own && --own->references == 0) free(own);
}

static snapshot *keep(const snapshot *s)
{
    snapshot *own = (snapshot *)(uintptr_t)s;
    own->references++;
    return own;
}

static snapshot *make(em_checks *c, const uint32_t *clock)
{
    snapshot *s = malloc(sizeof *s + (size_t)c->entries * sizeof *clock);
    if (!s) {
        c->exhausted = true;
        return NULL;
    }
    s->references = 1;
    memcpy(s->clock, clock, (size_t)c->entries * sizeof *clock);
    return s;
}

static void join(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) to[n] = from[n] > to[n] ? from[n] : to[n];
}

static void set(snapshot **at, const snapshot *value)
{
    if (*at == value) return;
    const snapshot *old = *at;
    *at = value ? keep(value) : NULL;
    drop(old);
}

/* Time goes on: what comes is not ordered with what was released. */
static uint32_t tick(em_checks *c)
{
    return c->machine->time++;
}

/* ---- meetings ---- */

static void meeting_release(meeting *m)
{
    free(m->gathering);
    drop(m->last);
    drop(m->result);
    *m = (meeting){0};
}

/* A thread, and with it all that it knows, comes at `now`. */
static void come(em_checks *c, meeting *m, const snapshot *known, uint32_t id, uint32_t now, uint32_t fence)
{
    if (!m->gathering) m->gathering = calloc(c->entries, sizeof *m->gathering);
    if (!m->gathering) {
        c->exhausted = true;
        return;
    }
    if (m->last != known) {
        join(m->gathering, known->clock, c->entries);
        drop(m->last);
        m->last = keep(known);
    }
    if (now > m->gathering[id]) m->gathering[id] = now;
    if (fence > m->fence) m->fence = fence;
}

static void come_lanes(em_checks *c, meeting *m, em_warp *w, uint32_t mask)
{
    cluster_order *cluster = cluster_of(c, w);
    uint32_t now = tick(c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t id = thread_id(c, w, __builtin_ctz(rest));
        const thread_order *t = &cluster->threads[id];
        come(c, m, t->known, id, now, t->fence);
    }
}

/* All that came is the result; the next gathering begins. */
static void settle(em_checks *c, meeting *m)
{
    drop(m->result);
    m->result = m->gathering ? make(c, m->gathering) : NULL;
    m->fence_result = m->fence;
    free(m->gathering);
    drop(m->last);
    m->gathering = NULL;
    m->last = NULL;
    m->fence = 0;
}

/* The lanes learn `clock`; those that knew the same go on to know the same. */
static void learn(em_checks *c, em_warp *w, uint32_t mask, const uint32_t *clock, uint32_t fence)
{
    cluster_order *cluster = cluster_of(c, w);
    snapshot *before = NULL, *after = NULL;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        thread_order *t = &cluster->threads[thread_id(c, w, __builtin_ctz(rest))];
        if (t->known != before || !before) {
            snapshot *joined = make(c, t->known->clock);
            if (!joined) break;
            join(joined->clock, clock, c->entries);
            drop(before);
            drop(after);
            before = keep(t->known);
            after = joined;
        }
        set(&t->known, after);
        if (fence > t->fence) {
            t->fence = fence;
            set(&t->fenced, after);
        }
    }
    drop(before);
    drop(after);
}

static void learn_result(em_checks *c, em_warp *w, uint32_t mask, const meeting *m)
{
    if (m->result) learn(c, w, mask, m->result->clock, m->fence_result);
}

/* ---- the state of a launch ---- */

static uint8_t *bits_of(em_checks *c)
{
    uint8_t *bits = calloc(c->grid_clusters / 8 + 2, 1);
    if (!bits) c->exhausted = true;
    return bits;
}

bool em_order_begin(em_checks *c)
{
    em_machine *m = c->machine;
    c->stride = m->clusters[0].blocks[0].warp_count * (EM_LANES + ASYNC_KINDS);
    c->entries = m->clusters[0].count * c->stride;
    c->cluster_count = m->cluster_count;
    c->clusters = calloc(c->cluster_count, sizeof *c->clusters);
    if (!c->clusters) return false;
    for (uint32_t n = 0; n < c->cluster_count; n++) {
        cluster_order *o = &c->clusters[n];
        uint32_t blocks = m->clusters[n].count;
        o->threads = calloc(c->entries, sizeof *o->threads);
        o->warps = calloc((size_t)blocks * m->clusters[n].blocks[0].warp_count, sizeof *o->warps);
        o->barriers = calloc((size_t)blocks * BLOCK_BARRIERS, sizeof *o->barriers);
        o->shared = calloc(blocks, sizeof *o->shared);
        if (!o->threads || !o->warps || !o->barriers || !o->shared) return false;
        for (uint32_t r = 0; r < blocks; r++)
            if (!em_shadow_make(&o->shared[r], 0, m->clusters[n].blocks[r].shared_size, false, 1))
                return false;
    }
    return true;
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
            drop(o->threads[t].known);
            drop(o->threads[t].fenced);
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
        free(o->known);
    }
    for (size_t n = 0; n < c->flag_capacity; n++) {
        meeting_release(&c->flags[n].meeting);
        free(c->flags[n].blocks);
    }
    free(c->flags);
    free(c->clusters);
    c->flags = NULL;
    c->clusters = NULL;
    c->flag_count = c->flag_capacity = c->cluster_count = 0;
}

/* A cluster begins: nothing that ran in its place before concerns it. */
static void begin_cluster(em_checks *c, em_warp *w, uint64_t index)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t now = tick(c), blocks = w->block->cluster->count;
    uint32_t *clock = malloc((size_t)c->entries * sizeof *clock);
    for (uint32_t n = 0; clock && n < c->entries; n++) clock[n] = now;
    snapshot *first = clock ? make(c, clock) : NULL;
    free(clock);
    if (!first) {
        c->exhausted = true;
        return;
    }
    o->serial = (uint32_t)index + 1;
    o->began = now;
    for (uint32_t n = 0; n < c->entries; n++) {
        thread_order *t = &o->threads[n];
        set(&t->known, first);
        set(&t->fenced, NULL);
        t->fence = t->proxy_fence = 0;
    }
    drop(first);
    for (uint32_t n = 0; n < blocks * w->block->warp_count; n++) o->warps[n] = (warp_order){0};
    for (uint32_t n = 0; n < blocks * BLOCK_BARRIERS; n++) meeting_release(&o->barriers[n]);
    meeting_release(&o->cluster);
    forget_mbarriers(o);
    for (uint32_t n = 0; n < blocks; n++) em_shadow_forget(&o->shared[n]);
    if (o->known_time) memset(o->known, 0, c->grid_clusters / 8 + 2);
    o->known_time = 0;
}

/* ---- mbarriers ---- */

mbarrier_order *em_order_mbarrier(em_checks *c, cluster_order *o, uint32_t address, bool add)
{
    for (size_t n = 0; n < o->mbarrier_count; n++)
        if (o->mbarriers[n].address == address) return &o->mbarriers[n];
    if (!add) return NULL;
    if (o->mbarrier_count == o->mbarrier_capacity) {
        size_t capacity = o->mbarrier_capacity ? o->mbarrier_capacity * 2 : 16;
        mbarrier_order *list = realloc(o->mbarriers, capacity * sizeof *list);
        if (!list) {
            c->exhausted = true;
            return NULL;
        }
        o->mbarriers = list;
        o->mbarrier_capacity = capacity;
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
    /* What comes late tells of the copies themselves; of cp.async also of the thread that issued them. */
    if (p)
        come(c, &b->meeting, o->threads[thread_id(c, w, 0)].known, async_id(c, w, async_kind(p->kind)),
             p->issued, 0);
    if (!p || p->kind == EM_P_MBARRIER) come_lanes(c, &b->meeting, w, mask);
}

/* ---- asynchronous work ---- */

static void commit(em_checks *c, em_warp *w, uint32_t kind, uint32_t group)
{
    cluster_order *o = cluster_of(c, w);
    o->warps[w->block->rank * w->block->warp_count + w->index].committed[kind][group % GROUPS_KEPT] = tick(c);
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
            at = tick(c);
        if (at > time) time = at;
    }
    if (!group || !time) return;
    uint32_t *clock = calloc(c->entries, sizeof *clock);
    if (!clock) {
        c->exhausted = true;
        return;
    }
    clock[async_id(c, w, kind)] = time;
    if (kind == async_kind(EM_P_BULK) && !read_only) clock[async_id(c, w, BULK_WRITE_KIND)] = time;
    learn(c, w, mask, clock, 0);
    free(clock);
}

/* ---- fences and flags ---- */

static void fence(em_checks *c, em_warp *w, uint32_t mask)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t now = tick(c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        thread_order *t = &o->threads[thread_id(c, w, __builtin_ctz(rest))];
        set(&t->fenced, t->known);
        t->fence = now;
    }
}

static flag_order *flag_at(em_checks *c, uint64_t address, bool add)
{
    if (add && (c->flag_count + 1) * 2 > c->flag_capacity) {
        size_t capacity = c->flag_capacity ? c->flag_capacity * 2 : 64;
        flag_order *list = calloc(capacity, sizeof *list);
        if (!list) {
            c->exhausted = true;
            return NULL;
        }
        for (size_t n = 0; n < c->flag_capacity; n++) {
            if (!c->flags[n].address) continue;
            size_t at = (size_t)(c->flags[n].address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
            while (list[at].address) at = (at + 1) & (capacity - 1);
            list[at] = c->flags[n];
        }
        free(c->flags);
        c->flags = list;
        c->flag_capacity = capacity;
    }
    if (!c->flag_capacity) return NULL;
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (c->flag_capacity - 1);
    for (; c->flags[at].address; at = (at + 1) & (c->flag_capacity - 1))
        if (c->flags[at].address == address) return &c->flags[at];
    if (!add) return NULL;
    c->flags[at].address = address;
    c->flag_count++;
    return &c->flags[at];
}

static void flag_learn(em_checks *c, em_warp *w, int lane, const flag_order *f)
{
    cluster_order *o = cluster_of(c, w);
    if (f->cluster == o->serial && f->meeting.gathering)
        learn(c, w, 1u << lane, f->meeting.gathering, f->meeting.fence);
    if (!f->blocks) return;
    if (!o->known) o->known = bits_of(c);
    if (!o->known) return;
    for (size_t n = 0; n < c->grid_clusters / 8 + 1; n++) o->known[n] |= f->blocks[n];
    if (f->time > o->known_time) o->known_time = f->time;
}

static void flag_raise(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address, bool global)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t id = thread_id(c, w, lane);
    const thread_order *t = &o->threads[id];
    bool releases = em_has(i, EM_M_release) || em_has(i, EM_M_acq_rel);
    if (!releases && !t->fenced) return;
    flag_order *f = flag_at(c, address, true);
    if (!f) return;
    if (f->cluster != o->serial) {
        meeting_release(&f->meeting);
        f->cluster = o->serial;
    }
    uint32_t now = releases ? tick(c) : t->fence;
    come(c, &f->meeting, releases ? t->known : t->fenced, id, now, t->fence);
    if (!global || c->grid_clusters == 1) return;
    if (!f->blocks) f->blocks = bits_of(c);
    if (!f->blocks) return;
    f->blocks[o->serial / 8] |= (uint8_t)(1u << o->serial % 8);
    for (size_t n = 0; o->known && n < c->grid_clusters / 8 + 1; n++) f->blocks[n] |= o->known[n];
    if (now > f->time) f->time = now;
}

void em_order_flag(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address, em_access access)
{
    if (lane < 0) return;
    if (access != EM_WRITE) {
        const flag_order *f = flag_at(c, address, false);
        if (f) flag_learn(c, w, lane, f);
    }
    if (access != EM_READ) flag_raise(c, w, i, lane, address, address >= EM_WINDOW_SIZE);
}

/* ---- questions and events ---- */

bool em_order_is_before(const em_checks *c, const cluster_order *o, uint32_t id, const access_record *then)
{
    if (then->time <= c->launch_time) return true;
    if (then->cluster == o->serial)
        return then->id == id || then->time <= o->threads[id].known->clock[then->id];
    return o->known && then->time <= o->known_time && (o->known[then->cluster / 8] >> then->cluster % 8 & 1);
}

void em_order_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                    uint64_t b)
{
    cluster_order *o = cluster_of(c, w);
    meeting *barriers = &o->barriers[w->block->rank * BLOCK_BARRIERS];
    mbarrier_order *at;
    switch (event) {
    case EM_E_BEGIN: begin_cluster(c, w, a); break;
    case EM_E_FENCE: fence(c, w, mask); break;
    case EM_E_PROXY_FENCE: {
        uint32_t now = tick(c);
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            o->threads[thread_id(c, w, __builtin_ctz(rest))].proxy_fence = now;
        break;
    }
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
        own->exchanged = tick(c);
        own->exchange_mask = mask;
        break;
    }
    case EM_E_BLOCK_ARRIVE: come_lanes(c, &barriers[a], w, mask); break;
    case EM_E_BLOCK_SETTLE: settle(c, &barriers[a]); break;
    case EM_E_BLOCK_LEAVE: learn_result(c, w, mask, &barriers[a]); break;
    case EM_E_CLUSTER_ARRIVE: come_lanes(c, &o->cluster, w, mask); break;
    case EM_E_CLUSTER_SETTLE: settle(c, &o->cluster); break;
    case EM_E_CLUSTER_LEAVE: learn_result(c, w, mask, &o->cluster); break;
    case EM_E_MBARRIER_INIT:
        at = em_order_mbarrier(c, o, (uint32_t)a, true);
        if (!at) break;
        meeting_release(&at->meeting);
        *at = (mbarrier_order){.address = (uint32_t)a, .init_inst = i};
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
    case EM_E_COMMIT: commit(c, w, async_kind((int)a), (uint32_t)b); break;
    case EM_E_WAITED: waited(c, w, mask, async_kind((int)a), (uint32_t)b, i && em_has(i, EM_M_read)); break;
    case EM_E_EXIT:
    case EM_E_END:
    case EM_E_FRAME:
    case EM_E_GIVEN:
    case EM_E_DEADLOCK: break;
    }
}
