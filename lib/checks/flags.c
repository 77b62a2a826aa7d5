/* Release and acquire patterns of the PTX memory model: fences, and flags (locations accessed by strong
 * operations). A release is an access with .release or a strong write after a fence; an acquire is an access
 * with .acquire or a strong read before a fence. They synchronise if each thread is in the other's scope.
 * Between clusters less is tracked: one bit and one time per cluster (cross_clock), and its releases up to
 * that time (release_history). */
#include "lib/checks/parts.h"

#include <stdlib.h>

enum { RELEASES_KEPT = 4 };
static const size_t history_limit = (size_t)512 << 20;

typedef struct flag_state {
    uint64_t address;               /* 0: free */
    uint32_t cluster, rank, writer; /* of the last release */
    vclock *released[SCOPES];       /* by scope of the release; from SCOPE_GRID on: of other clusters only */
    cross_clock *kept;              /* between launches, instead of released[SCOPE_SYSTEM] */
    const em_inst *narrow; /* the fence before the last write, if its scope is too small for other devices */
} flag_state;

/* Releases of a cluster to the grid, oldest first. */
typedef struct release_history {
    uint32_t count;
    struct {
        uint32_t time;
        vclock *what; /* NULL: everything earlier */
    } list[RELEASES_KEPT];
} release_history;

/* Known clusters: all below `below`, and those from `first * 8` on whose bit is set; of each device up to one
 * time. */
struct cross_clock {
    uint32_t references, below, first, bytes;
    uint32_t times[EM_DEVICES];
    uint8_t bits[];
};

/* ---- knowledge of other clusters ---- */

void em_cross_drop(cross_clock *f)
{
    if (f && --f->references == 0) free(f);
}

cross_clock *em_cross_keep(cross_clock *f)
{
    if (f) f->references++;
    return f;
}

static bool cross_clock_covers(const cross_clock *f, uint32_t cluster)
{
    if (cluster < f->below) return true;
    uint32_t byte = cluster / 8 - f->first;
    return cluster / 8 >= f->first && byte < f->bytes && f->bits[byte] >> cluster % 8 & 1;
}

static void add_bits(uint8_t *bits, const cross_clock *f)
{
    if (!f) return;
    memset(bits, 0xff, f->below / 8);
    for (uint32_t n = f->below / 8 * 8; n < f->below; n++) bits[n / 8] |= (uint8_t)(1u << n % 8);
    for (uint32_t n = 0; n < f->bytes; n++) bits[f->first + n] |= f->bits[n];
}

static cross_clock *new_cross(em_checks *c, uint32_t below, uint32_t end)
{
    uint32_t bytes = end > below / 8 ? end - below / 8 : 0;
    cross_clock *f = malloc(sizeof *f + bytes);
    if (!f) {
        c->exhausted = true;
        return NULL;
    }
    *f = (cross_clock){.references = 1, .below = below, .first = below / 8, .bytes = bytes};
    return f;
}

/* Blocks mostly run in order: one number, below which all are known, is then enough. */
static cross_clock *make_simple(em_checks *c, const cross_clock *a, const cross_clock *b, uint32_t serial)
{
    uint32_t below = 1; /* cluster numbers start at 1 */
    if (a && a->below > below) below = a->below;
    if (b && b->below > below) below = b->below;
    if (serial == below) below++;
    cross_clock *f = new_cross(c, below, serial > below ? serial / 8 + 1 : 0);
    if (!f || serial < below) return f;
    memset(f->bits, 0, f->bytes);
    f->bits[f->bytes - 1] = (uint8_t)(1u << serial % 8);
    return f;
}

static cross_clock *make_by_bits(em_checks *c, const cross_clock *a, const cross_clock *b, uint32_t serial)
{
    uint32_t bytes = (uint32_t)((c->serial_base + c->grid_clusters) / 8 + 2), below = 0, end = bytes;
    if (c->scratch_room < bytes) {
        free(c->scratch);
        c->scratch = malloc(bytes);
        c->scratch_room = c->scratch ? bytes : 0;
    }
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
    if (end == below / 8 + 1 && !(c->scratch[below / 8] >> below % 8)) end--; /* all bits below are set */
    cross_clock *f = new_cross(c, below, end);
    if (f) memcpy(f->bits, c->scratch + f->first, f->bytes);
    return f;
}

/* The union of `a`, `b` and, unless `serial` is 0, that cluster up to `time`. */
static cross_clock *make_cross(em_checks *c, const cross_clock *a, const cross_clock *b, uint32_t serial,
                               uint32_t time)
{
    bool simple = (!a || !a->bytes) && (!b || !b->bytes);
    cross_clock *f = simple ? make_simple(c, a, b, serial) : make_by_bits(c, a, b, serial);
    if (!f) return NULL;
    for (uint32_t d = 0; d < c->devices; d++) {
        uint32_t latest = a ? a->times[d] : 0;
        if (b && b->times[d] > latest) latest = b->times[d];
        f->times[d] = latest;
    }
    if (serial && f->times[em_device_of(c, serial)] < time) f->times[em_device_of(c, serial)] = time;
    return f;
}

/* Whether `a` includes everything in `b`; false: perhaps. */
static bool cross_includes(const em_checks *c, const cross_clock *a, const cross_clock *b)
{
    if (b->below > a->below || b->bytes) return false;
    for (uint32_t d = 0; d < c->devices; d++)
        if (b->times[d] > a->times[d]) return false;
    return true;
}

cross_clock *em_cross_join(em_checks *c, cross_clock *a, cross_clock *b)
{
    if (!a || !b || a == b) return em_cross_keep(a ? a : b);
    if (cross_includes(c, a, b)) return em_cross_keep(a);
    if (cross_includes(c, b, a)) return em_cross_keep(b);
    return make_cross(c, a, b, 0, 0);
}

cross_clock *em_cross_launches(em_checks *c, cross_clock *a, cross_clock *b, uint32_t device, uint32_t time)
{
    cross_clock *f = make_cross(c, a, b, 0, 0);
    if (f && f->times[device] < time) f->times[device] = time;
    return f;
}

/* A thread of the cluster releases all it knows to the grid. */
static void record_release(em_checks *c, uint32_t serial, uint32_t time, vclock *what)
{
    size_t room = (size_t)(c->serial_base + c->grid_clusters) + 2;
    if (c->history_room < room) {
        struct release_history **more = realloc(c->history, room * sizeof *more);
        if (more) {
            memset(more + c->history_room, 0, (room - c->history_room) * sizeof *more);
            c->history = more;
            c->history_room = room;
        }
    }
    bool known = serial < c->history_room;
    release_history *p = known ? c->history[serial] : NULL;
    if (known && !p) p = c->history[serial] = calloc(1, sizeof *p);
    if (!p) {
        c->exhausted = true;
        return;
    }
    for (uint32_t n = 0; n < p->count; n++)
        if (p->list[n].what == what && what) return;
    c->history_bytes += c->entries * sizeof *what->clock;
    bool coarse = c->history_bytes > history_limit;
    if (p->count == RELEASES_KEPT) { /* merges the two oldest */
        vclock *first = p->list[0].what, *second = p->list[1].what;
        p->list[0].what = first && second ? em_vclock_join(c, first, second) : NULL;
        em_vclock_drop(first);
        em_vclock_drop(second);
        memmove(&p->list[1], &p->list[2], (RELEASES_KEPT - 2) * sizeof p->list[0]);
        p->count--;
    }
    p->list[p->count].time = time;
    p->list[p->count++].what = coarse ? NULL : em_vclock_keep(what);
}

bool em_cross_covers(const em_checks *c, const cross_clock *f, const access_record *previous)
{
    if (!f) return false;
    uint32_t until = f->times[em_device_of(c, previous->cluster)];
    /* A release of a device covers all of its earlier launches. */
    if (c->devices > 1 && previous->time <= em_ranks_launch_before(c, until)) return true;
    const release_history *p = previous->cluster < c->history_room ? c->history[previous->cluster] : NULL;
    if (!p || previous->time > until || !cross_clock_covers(f, previous->cluster)) return false;
    for (uint32_t n = 0; n < p->count; n++)
        if (p->list[n].time <= until &&
            (!p->list[n].what || p->list[n].what->clock[previous->id] >= previous->time))
            return true;
    return false;
}

/* ---- fences ---- */

uint32_t em_scope_of(const em_checks *c, const em_inst *i)
{
    if (em_has(i, EM_M_cta)) return SCOPE_BLOCK;
    if (em_has(i, EM_M_cluster)) return SCOPE_CLUSTER;
    bool system = em_has(i, EM_M_sys) || em_has(i, EM_M_volatile) || em_has(i, EM_M_mmio);
    return system && c->devices > 1 ? SCOPE_SYSTEM : SCOPE_GRID;
}

static bool is_acquire(const em_inst *i)
{
    return em_has(i, EM_M_acquire) || em_has(i, EM_M_acq_rel) || em_has(i, EM_M_sc);
}

static bool is_release(const em_inst *i)
{
    return em_has(i, EM_M_release) || em_has(i, EM_M_acq_rel) || em_has(i, EM_M_sc);
}

/* A fence that cannot order accesses of other devices. */
static void note_narrow_fence(const em_checks *c, cluster_state *o, thread_state *t, const em_inst *i,
                              uint32_t scope)
{
    const vclock *observed = t->observed[SCOPE_SYSTEM];
    t->device_fence = scope < SCOPE_SYSTEM ? i : NULL;
    for (uint32_t d = 0; observed && observed->cross && d < c->devices; d++)
        if (d != o->device && observed->cross->times[d]) o->narrow[d] = scope < SCOPE_SYSTEM ? i : NULL;
}

void em_flags_fence(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    cluster_state *o = cluster_of(c, w);
    uint32_t now = em_tick(c), scope = em_scope_of(c, i);
    bool only_acquires = em_has(i, EM_M_acquire), only_releases = em_has(i, EM_M_release);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        thread_state *t = &o->threads[thread_id(c, w, lane)];
        if (c->devices > 1) note_narrow_fence(c, o, t, i, scope);
        for (uint32_t k = 0; k <= scope && !only_releases; k++) {
            if (!t->observed[k]) continue;
            em_vclock_acquire(c, w, 1u << lane, t->observed[k]);
            em_vclock_set(&t->observed[k], NULL);
        }
        if (!only_releases) {
            t->counted = false;
            em_vclock_set(&t->locked, NULL);
        }
        for (uint32_t k = 0; k <= scope && !only_acquires; k++) {
            em_vclock_set(&t->fenced[k], t->known);
            em_vclock_add(c, &t->fenced[k], t->assumed);
            t->fence[k] = now;
        }
    }
}

/* The last-block pattern of the CUDA programming guide: one thread counts with an atomic, bar.sync publishes
 * the result to its block. The memory model requires a fence in between, hardware does not. Locks taken with
 * another atomic in the same way are tracked separately (`assumed`). */
void em_flags_arrive(em_checks *c, em_warp *w, uint32_t mask, sync_var *barrier)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        thread_state *t = &cluster_of(c, w)->threads[thread_id(c, w, lane)];
        for (uint32_t k = 0; k < SCOPES && t->counted; k++)
            if (t->observed[k]) em_vclock_acquire(c, w, 1u << lane, t->observed[k]);
        em_vclock_add(c, &barrier->assumed, t->locked);
        em_vclock_add(c, &barrier->assumed, t->assumed);
    }
}

/* ---- flags ---- */

static size_t flag_slot(const flag_state *list, size_t capacity, uint64_t address)
{
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
    while (list[at].address && list[at].address != address) at = (at + 1) & (capacity - 1);
    return at;
}

static flag_state *flag_at(em_checks *c, uint64_t address, bool add)
{
    if (add && (c->flag_count + 1) * 2 > c->flag_capacity) {
        size_t capacity = c->flag_capacity ? c->flag_capacity * 2 : 64;
        flag_state *list = calloc(capacity, sizeof *list);
        if (!list) {
            c->exhausted = true;
            return NULL;
        }
        for (size_t n = 0; n < c->flag_capacity; n++)
            if (c->flags[n].address) list[flag_slot(list, capacity, c->flags[n].address)] = c->flags[n];
        free(c->flags);
        c->flags = list;
        c->flag_capacity = capacity;
    }
    if (!c->flag_capacity) return NULL;
    flag_state *f = &c->flags[flag_slot(c->flags, c->flag_capacity, address)];
    if (f->address) return f;
    if (!add) return NULL;
    f->address = address;
    c->flag_count++;
    return f;
}

static void observe_flag(em_checks *c, em_warp *w, const em_inst *i, int lane, const flag_state *f)
{
    bool counts = em_has(i, EM_M_add) || em_has(i, EM_M_inc);
    cluster_state *o = cluster_of(c, w);
    thread_state *t = &o->threads[thread_id(c, w, lane)];
    uint32_t scope = em_scope_of(c, i), from = f->cluster ? em_device_of(c, f->cluster) : o->device;
    if (from != o->device) o->narrow[from] = f->narrow;
    for (uint32_t k = 0; k <= scope; k++) {
        vclock *what = f->released[k];
        bool own = k == SCOPE_SYSTEM || (k == SCOPE_GRID && em_device_of(c, f->cluster) == o->device) ||
                   (f->cluster == o->serial && (k || f->rank == w->block->rank));
        if (!what || !own) continue;
        if (is_acquire(i)) em_vclock_acquire(c, w, 1u << lane, what);
        t->counted |= counts;
        if (i->opcode == EM_OP_atom && !counts) em_vclock_add(c, &t->locked, what);
        em_vclock_add(c, &t->observed[k], what);
    }
}

static void forget_releases(flag_state *f)
{
    for (uint32_t k = 0; k < SCOPES; k++) em_vclock_set(&f->released[k], NULL);
}

/* The clock published by a release: all that the thread knew, and its own accesses up to then. */
static vclock *release_clock(em_checks *c, thread_state *t, uint32_t id, uint32_t k, bool now)
{
    uint32_t time = now ? em_tick(c) : t->fence[k];
    vclock *from = now ? t->known : t->fenced[k];
    if (!from || from->clock[id] >= time) return em_vclock_keep(from);
    vclock *own = em_vclock_make(c, from->clock, from->cross);
    if (!own) return NULL;
    own->clock[id] = time;
    if (!now) em_vclock_set(&t->fenced[k], own);
    return own;
}

static void add_release(em_checks *c, flag_state *f, uint32_t k, vclock *what)
{
    em_vclock_add(c, &f->released[k], what);
}

static void release_flag(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address,
                         em_access access, bool global)
{
    cluster_state *o = cluster_of(c, w);
    uint32_t id = thread_id(c, w, lane), scope = em_scope_of(c, i), rank = w->block->rank;
    thread_state *t = &o->threads[id];
    bool now = is_release(i), releasing = now || t->fenced[SCOPE_BLOCK];
    bool narrow = c->devices > 1 && !now && scope == SCOPE_SYSTEM && !t->fenced[SCOPE_SYSTEM];
    flag_state *f = flag_at(c, address, releasing);
    if (!f) return;
    /* A store without release ends earlier releases to the location; atomics continue them. */
    if (access == EM_WRITE && (f->cluster != o->serial || f->writer != id)) forget_releases(f);
    if (!releasing) return;
    if (f->cluster != o->serial || f->rank != rank) em_vclock_set(&f->released[SCOPE_BLOCK], NULL);
    if (f->cluster != o->serial) em_vclock_set(&f->released[SCOPE_CLUSTER], NULL);
    if (f->cluster && em_device_of(c, f->cluster) != o->device) em_vclock_set(&f->released[SCOPE_GRID], NULL);
    f->cluster = o->serial;
    f->rank = rank;
    f->writer = id;
    f->narrow = narrow ? t->device_fence : NULL;
    vclock *what = now ? release_clock(c, t, id, 0, true) : NULL;
    for (uint32_t k = 0; k <= scope; k++) {
        bool lone = w->block->cluster->count == 1; /* block and cluster scope are the same */
        if ((k == SCOPE_CLUSTER && lone) ||
            (k == SCOPE_GRID && (!global || c->grid_clusters == c->devices)) ||
            (k == SCOPE_SYSTEM && !global))
            continue;
        vclock *content_of = now ? em_vclock_keep(what) : release_clock(c, t, id, k, false);
        if (!content_of) continue;
        if (k < SCOPE_GRID) {
            add_release(c, f, k, content_of);
        } else {
            /* Threads of other clusters only learn that this cluster released its history up to `time`. */
            uint32_t time = em_tick(c);
            record_release(c, o->serial, time, content_of);
            cross_clock *all = make_cross(c, content_of->cross, f->released[k] ? f->released[k]->cross : NULL,
                                          o->serial, time);
            vclock *only = all ? em_vclock_make(c, NULL, all) : NULL;
            em_cross_drop(all);
            if (only) em_vclock_set(&f->released[k], only);
            em_vclock_drop(only);
        }
        em_vclock_drop(content_of);
    }
    em_vclock_drop(what);
}

void em_flags_access(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address, em_access access)
{
    if (lane < 0) return;
    if (access != EM_WRITE) {
        const flag_state *f = flag_at(c, address, false);
        if (f) observe_flag(c, w, i, lane, f);
    }
    if (access != EM_READ) release_flag(c, w, i, lane, address, access, address >= EM_WINDOW_SIZE);
}

cross_clock *em_flags_published(em_checks *c, uint64_t address)
{
    const flag_state *f = flag_at(c, address, false);
    return f ? f->kept : NULL;
}

void em_flags_end(em_checks *c)
{
    for (size_t n = 0; n < c->flag_capacity; n++) {
        flag_state *f = &c->flags[n];
        const vclock *system = f->released[SCOPE_SYSTEM];
        if (system) {
            em_cross_drop(f->kept);
            f->kept = em_cross_keep(system->cross);
        }
        forget_releases(f);
    }
    if (c->devices <= 1) em_flags_release(c);
}

/* The size of clocks depends on the launch, so flags of earlier ones get clocks of its size. */
void em_flags_begin(em_checks *c)
{
    for (size_t n = 0; n < c->flag_capacity; n++) {
        flag_state *f = &c->flags[n];
        if (!f->kept) continue;
        vclock *system = em_vclock_make(c, NULL, f->kept);
        em_vclock_set(&f->released[SCOPE_SYSTEM], system);
        em_vclock_drop(system);
        em_cross_drop(f->kept);
        f->kept = NULL;
    }
}

void em_flags_release(em_checks *c)
{
    for (size_t n = 0; n < c->flag_capacity; n++) {
        forget_releases(&c->flags[n]);
        em_cross_drop(c->flags[n].kept);
    }
    for (size_t n = 0; n < c->history_room; n++) {
        release_history *p = c->history[n];
        for (uint32_t k = 0; p && k < p->count; k++) em_vclock_drop(p->list[k].what);
        free(p);
    }
    free(c->flags);
    free(c->history);
    free(c->scratch);
    c->flags = NULL;
    c->history = NULL;
    c->scratch = NULL;
    c->flag_count = c->flag_capacity = c->history_bytes = c->history_room = c->scratch_room = 0;
}
