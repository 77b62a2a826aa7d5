/* Fences and flags: how threads tell each other through a location that data is there, as the memory model of
 * PTX has it. A release is an access with .release, or a strong access behind a fence; an acquire one with
 * .acquire, or a strong access before a fence. They meet only where each thread is in the scope of the other.
 * Of clusters that are not one's own a bit each and a time are known, and what they released up to it. */
#include "lib/checks/state.h"

#include <stdlib.h>

enum { RELEASES_KEPT = 4 };
static const size_t published_limit = (size_t)512 << 20;

/* What a cluster released to the grid, the oldest first. */
struct published {
    uint32_t count;
    struct {
        uint32_t time;
        snapshot *what; /* NULL: all that was before */
    } list[RELEASES_KEPT];
};

/* Clusters below `below` are known, and of those from `first * 8` on the ones whose bit is set. */
struct foreign {
    uint32_t references, time, below, first, bytes;
    uint8_t bits[];
};

/* ---- what is known of other clusters ---- */

void em_foreign_drop(foreign *f)
{
    if (f && --f->references == 0) free(f);
}

foreign *em_foreign_keep(foreign *f)
{
    if (f) f->references++;
    return f;
}

static bool knows(const foreign *f, uint32_t cluster)
{
    if (cluster < f->below) return true;
    uint32_t byte = cluster / 8 - f->first;
    return cluster / 8 >= f->first && byte < f->bytes && f->bits[byte] >> cluster % 8 & 1;
}

static void add_bits(uint8_t *bits, const foreign *f)
{
    if (!f) return;
    memset(bits, 0xff, f->below / 8);
    for (uint32_t n = f->below / 8 * 8; n < f->below; n++) bits[n / 8] |= (uint8_t)(1u << n % 8);
    for (uint32_t n = 0; n < f->bytes; n++) bits[f->first + n] |= f->bits[n];
}

static foreign *new_foreign(em_checks *c, uint32_t below, uint32_t end)
{
    uint32_t bytes = end > below / 8 ? end - below / 8 : 0;
    foreign *f = malloc(sizeof *f + bytes);
    if (!f) {
        c->exhausted = true;
        return NULL;
    }
    *f = (foreign){.references = 1, .below = below, .first = below / 8, .bytes = bytes};
    return f;
}

/* Blocks run in order, mostly: then all that is known is a number below which all are. */
static foreign *make_simple(em_checks *c, const foreign *a, const foreign *b, uint32_t serial)
{
    uint32_t below = 1; /* no cluster has number 0 */
    if (a && a->below > below) below = a->below;
    if (b && b->below > below) below = b->below;
    if (serial == below) below++;
    foreign *f = new_foreign(c, below, serial > below ? serial / 8 + 1 : 0);
    if (!f || serial < below) return f;
    memset(f->bits, 0, f->bytes);
    f->bits[f->bytes - 1] = (uint8_t)(1u << serial % 8);
    return f;
}

static foreign *make_by_bits(em_checks *c, const foreign *a, const foreign *b, uint32_t serial)
{
    uint32_t bytes = (uint32_t)(c->grid_clusters / 8 + 2), below = 0, end = bytes;
    if (!c->scratch) c->scratch = malloc(bytes);
    if (!c->scratch) {
        c->exhausted = true;
        return NULL;
    }
    memset(c->scratch, 0, bytes);
    c->scratch[0] = 1;
    add_bits(c->scratch, a);
    add_bits(c->scratch, b);
    c->scratch[serial / 8] |= (uint8_t)(1u << serial % 8);
    while (below / 8 < bytes && c->scratch[below / 8] == 0xff) below += 8;
    while (below / 8 < bytes && c->scratch[below / 8] >> below % 8 & 1) below++;
    while (end > below / 8 && !c->scratch[end - 1]) end--;
    if (end == below / 8 + 1 && !(c->scratch[below / 8] >> below % 8)) end--; /* the bits below are known */
    foreign *f = new_foreign(c, below, end);
    if (f) memcpy(f->bits, c->scratch + f->first, f->bytes);
    return f;
}

/* `a` and `b`, and where `serial` is not 0 that cluster up to `time`. */
static foreign *make_foreign(em_checks *c, const foreign *a, const foreign *b, uint32_t serial, uint32_t time)
{
    bool simple = (!a || !a->bytes) && (!b || !b->bytes);
    foreign *f = simple ? make_simple(c, a, b, serial) : make_by_bits(c, a, b, serial);
    if (!f) return NULL;
    f->time = time;
    if (a && a->time > f->time) f->time = a->time;
    if (b && b->time > f->time) f->time = b->time;
    return f;
}

foreign *em_foreign_join(em_checks *c, foreign *a, foreign *b)
{
    if (!a || !b || a == b) return em_foreign_keep(a ? a : b);
    if (b->time <= a->time && b->below <= a->below && !b->bytes) return em_foreign_keep(a);
    if (a->time <= b->time && a->below <= b->below && !a->bytes) return em_foreign_keep(b);
    return make_foreign(c, a, b, 0, 0);
}

/* What the thread of a cluster releases to the grid, with all that it knows. */
static void publish(em_checks *c, uint32_t serial, uint32_t time, snapshot *what)
{
    if (!c->published) c->published = calloc((size_t)c->grid_clusters + 2, sizeof *c->published);
    published *p = c->published ? c->published[serial] : NULL;
    if (c->published && !p) p = c->published[serial] = calloc(1, sizeof *p);
    if (!p) {
        c->exhausted = true;
        return;
    }
    for (uint32_t n = 0; n < p->count; n++)
        if (p->list[n].what == what && what) return;
    c->published_bytes += c->entries * sizeof *what->clock;
    bool coarse = c->published_bytes > published_limit;
    if (p->count == RELEASES_KEPT) { /* the two oldest become one */
        snapshot *first = p->list[0].what, *second = p->list[1].what;
        p->list[0].what = first && second ? em_snapshot_join(c, first, second) : NULL;
        em_snapshot_drop(first);
        em_snapshot_drop(second);
        memmove(&p->list[1], &p->list[2], (RELEASES_KEPT - 2) * sizeof p->list[0]);
        p->count--;
    }
    p->list[p->count].time = time;
    p->list[p->count++].what = coarse ? NULL : em_snapshot_keep(what);
}

bool em_foreign_covers(const em_checks *c, const foreign *f, const access_record *then)
{
    const published *p = f && c->published ? c->published[then->cluster] : NULL;
    if (!p || then->time > f->time || !knows(f, then->cluster)) return false;
    for (uint32_t n = 0; n < p->count; n++)
        if (p->list[n].time <= f->time &&
            (!p->list[n].what || p->list[n].what->clock[then->id] >= then->time))
            return true;
    return false;
}

/* ---- fences ---- */

uint32_t em_scope_of(const em_inst *i)
{
    return em_has(i, EM_M_cta) ? SCOPE_BLOCK : em_has(i, EM_M_cluster) ? SCOPE_CLUSTER : SCOPE_GRID;
}

static bool acquires(const em_inst *i)
{
    return em_has(i, EM_M_acquire) || em_has(i, EM_M_acq_rel) || em_has(i, EM_M_sc);
}

static bool releases(const em_inst *i)
{
    return em_has(i, EM_M_release) || em_has(i, EM_M_acq_rel) || em_has(i, EM_M_sc);
}

void em_order_fence(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t now = em_order_tick(c), scope = em_scope_of(i);
    bool only_acquires = em_has(i, EM_M_acquire), only_releases = em_has(i, EM_M_release);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        thread_order *t = &o->threads[thread_id(c, w, lane)];
        for (uint32_t k = 0; k <= scope && !only_releases; k++) {
            if (!t->heard[k]) continue;
            em_order_learn(c, w, 1u << lane, t->heard[k]);
            em_snapshot_set(&t->heard[k], NULL);
        }
        if (!only_releases) t->counted = false;
        for (uint32_t k = 0; k <= scope && !only_acquires; k++) {
            em_snapshot_set(&t->fenced[k], t->known);
            t->fence[k] = now;
        }
    }
}

/* The last block of a grid, as the CUDA programming guide finds it: a thread counts by an atomic, bar.sync
 * tells its block. By the letter a fence is missing in between; no hardware needs it. */
void em_order_counted(em_checks *c, em_warp *w, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        thread_order *t = &cluster_of(c, w)->threads[thread_id(c, w, lane)];
        for (uint32_t k = 0; k < SCOPES && t->counted; k++)
            if (t->heard[k]) em_order_learn(c, w, 1u << lane, t->heard[k]);
    }
}

/* ---- flags ---- */

static size_t slot_of(const flag_order *list, size_t capacity, uint64_t address)
{
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
    while (list[at].address && list[at].address != address) at = (at + 1) & (capacity - 1);
    return at;
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
        for (size_t n = 0; n < c->flag_capacity; n++)
            if (c->flags[n].address) list[slot_of(list, capacity, c->flags[n].address)] = c->flags[n];
        free(c->flags);
        c->flags = list;
        c->flag_capacity = capacity;
    }
    if (!c->flag_capacity) return NULL;
    flag_order *f = &c->flags[slot_of(c->flags, c->flag_capacity, address)];
    if (f->address) return f;
    if (!add) return NULL;
    f->address = address;
    c->flag_count++;
    return f;
}

static void hear(em_checks *c, em_warp *w, const em_inst *i, int lane, const flag_order *f, bool counts)
{
    cluster_order *o = cluster_of(c, w);
    thread_order *t = &o->threads[thread_id(c, w, lane)];
    uint32_t scope = em_scope_of(i);
    for (uint32_t k = 0; k <= scope; k++) {
        snapshot *what = f->released[k];
        bool own = k == SCOPE_GRID || (f->cluster == o->serial && (k || f->rank == w->block->rank));
        if (!what || !own) continue;
        if (acquires(i)) em_order_learn(c, w, 1u << lane, what);
        t->counted |= counts;
        if (!t->heard[k]) {
            em_snapshot_set(&t->heard[k], what);
        } else if (t->heard[k] != what) {
            snapshot *both = em_snapshot_join(c, t->heard[k], what);
            em_snapshot_set(&t->heard[k], both);
            em_snapshot_drop(both);
        }
    }
}

static void forget(flag_order *f)
{
    for (uint32_t k = 0; k < SCOPES; k++) em_snapshot_set(&f->released[k], NULL);
}

/* What the thread's release in a scope tells: all that it knew then, and its own accesses up to then. */
static snapshot *content(em_checks *c, thread_order *t, uint32_t id, uint32_t k, bool now)
{
    uint32_t time = now ? em_order_tick(c) : t->fence[k];
    snapshot *from = now ? t->known : t->fenced[k];
    if (!from || from->clock[id] >= time) return em_snapshot_keep(from);
    snapshot *own = em_snapshot_make(c, from->clock, from->foreign);
    if (!own) return NULL;
    own->clock[id] = time;
    if (!now) em_snapshot_set(&t->fenced[k], own);
    return own;
}

static void add_release(em_checks *c, flag_order *f, uint32_t k, snapshot *what)
{
    snapshot *both =
        f->released[k] && f->released[k] != what ? em_snapshot_join(c, f->released[k], what) : NULL;
    em_snapshot_set(&f->released[k], both ? both : what);
    em_snapshot_drop(both);
}

static void raise_flag(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address,
                       em_access access, bool global)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t id = thread_id(c, w, lane), scope = em_scope_of(i), rank = w->block->rank;
    thread_order *t = &o->threads[id];
    bool now = releases(i), speaks = now || t->fenced[SCOPE_BLOCK];
    flag_order *f = flag_at(c, address, speaks);
    if (!f) return;
    /* A store that does not release ends what others released there; atomics go on with it. */
    if (access == EM_WRITE && (f->cluster != o->serial || f->writer != id)) forget(f);
    if (!speaks) return;
    if (f->cluster != o->serial || f->rank != rank) em_snapshot_set(&f->released[SCOPE_BLOCK], NULL);
    if (f->cluster != o->serial) em_snapshot_set(&f->released[SCOPE_CLUSTER], NULL);
    f->cluster = o->serial;
    f->rank = rank;
    f->writer = id;
    snapshot *what = now ? content(c, t, id, 0, true) : NULL;
    for (uint32_t k = 0; k <= scope; k++) {
        bool lone = w->block->cluster->count == 1; /* its block and its cluster are the same */
        if ((k == SCOPE_CLUSTER && lone) || (k == SCOPE_GRID && (!global || c->grid_clusters == 1))) continue;
        snapshot *told = now ? em_snapshot_keep(what) : content(c, t, id, k, false);
        if (!told) continue;
        if (k < SCOPE_GRID) {
            add_release(c, f, k, told);
        } else {
            /* Other clusters have other threads: they hear that this one released what was published. */
            uint32_t time = em_order_tick(c);
            publish(c, o->serial, time, told);
            foreign *all = make_foreign(c, told->foreign, f->released[k] ? f->released[k]->foreign : NULL,
                                        o->serial, time);
            snapshot *only = all ? em_snapshot_make(c, NULL, all) : NULL;
            em_foreign_drop(all);
            if (only) em_snapshot_set(&f->released[k], only);
            em_snapshot_drop(only);
        }
        em_snapshot_drop(told);
    }
    em_snapshot_drop(what);
}

void em_order_flag(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address, em_access access)
{
    if (lane < 0) return;
    if (access != EM_WRITE) {
        const flag_order *f = flag_at(c, address, false);
        if (f) hear(c, w, i, lane, f, em_has(i, EM_M_add) || em_has(i, EM_M_inc));
    }
    if (access != EM_READ) raise_flag(c, w, i, lane, address, access, address >= EM_WINDOW_SIZE);
}

void em_flags_end(em_checks *c)
{
    for (size_t n = 0; n < c->flag_capacity; n++) forget(&c->flags[n]);
    for (uint64_t n = 0; c->published && n < c->grid_clusters + 2; n++) {
        published *p = c->published[n];
        for (uint32_t k = 0; p && k < p->count; k++) em_snapshot_drop(p->list[k].what);
        free(p);
    }
    free(c->flags);
    free(c->published);
    free(c->scratch);
    c->flags = NULL;
    c->published = NULL;
    c->scratch = NULL;
    c->flag_count = c->flag_capacity = c->published_bytes = 0;
}
