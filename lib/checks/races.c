/* Races in shared and global memory: compares each access with the last ones to its granule by vector clocks.
 * A record keeps one write and two reads by different threads (constant size, as in HiRace, arXiv
 * 2401.04701): a race with a third reader may be missed, but no false race is reported. */
#include "lib/checks/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/order/barrier.h"
#include "lib/order/proxy.h"

/* Whether `previous` is a read of ldmatrix for the whole warp that another of its lanes has released since:
 * only that lane's part is ordered. */
static bool is_released_by_warp(const em_checks *c, const memory_access *a, const access_record *previous)
{
    const cluster_state *o = cluster_of(c, a->warp);
    const vclock *known = o->threads[thread_id(c, a->warp, a->lane)].known;
    uint32_t rank = previous->id / c->stride,
             first = rank * c->stride + previous->id % c->stride / EM_LANES * EM_LANES;
    if (previous->flags & (ACCESS_WRITE | ACCESS_ASYNC) || previous->cluster != o->serial || !known ||
        c->launch->program->code[previous->inst].opcode != EM_OP_ldmatrix)
        return false;
    for (uint32_t lane = 0; lane < EM_LANES; lane++)
        if (known->clock[first + lane] >= previous->time) return true;
    return false;
}

/* Whether treating the atomics by which the block took locks as acquires would order the accesses. */
static bool is_locked(const em_checks *c, const memory_access *a, const access_record *previous)
{
    const cluster_state *o = cluster_of(c, a->warp);
    uint32_t id = thread_id(c, a->warp, a->lane);
    const vclock *assumed = o->threads[id].assumed;
    return assumed && !(previous->flags & ACCESS_ASYNC) && em_is_ordered(c, o, id, previous, assumed);
}

/* Whether a thread has waited for a cp.async of its warp: other threads also need a barrier. */
static bool is_waited_for(const em_checks *c, const memory_access *a, const access_record *previous)
{
    const cluster_state *o = cluster_of(c, a->warp);
    uint32_t in_block = previous->id % c->stride, threads = a->warp->block->warp_count * EM_LANES;
    if (previous->cluster != o->serial || in_block < threads || (in_block - threads) % ASYNC_KINDS)
        return false;
    uint32_t first = previous->id - in_block + (in_block - threads) / ASYNC_KINDS * EM_LANES;
    for (uint32_t lane = 0; lane < EM_LANES; lane++)
        if (o->threads[first + lane].known->clock[previous->id] >= previous->time) return true;
    return false;
}

static finding_kind what_race(const access_record *previous, const access_record *current, bool same_cluster,
                              bool released, bool locked)
{
    if (released) return FOUND_RACE_OTHER_LANE;
    if (locked) return FOUND_RACE_RELAXED_LOCK;
    if (previous->flags & ACCESS_PROXY) return FOUND_RACE_PROXY;
    if (!same_cluster) return FOUND_RACE_BLOCKS;
    if (previous->flags & ACCESS_ASYNC) return FOUND_RACE_ASYNC;
    if (!(current->flags & ACCESS_WRITE)) return FOUND_RACE_READ_AFTER_WRITE;
    return previous->flags & ACCESS_WRITE ? FOUND_RACE_WRITE_AFTER_WRITE : FOUND_RACE_WRITE_AFTER_READ;
}

static void report_race(em_checks *c, const memory_access *a, uint64_t at, const access_record *previous,
                        const access_record *current)
{
    char place[200], who[120];
    em_warp *w = a->warp;
    bool same_cluster = previous->cluster == current->cluster;
    const char *verb = current->flags & ACCESS_ATOMIC  ? "updates"
                       : current->flags & ACCESS_WRITE ? "writes"
                                                       : "reads";
    const char *did = previous->flags & ACCESS_WRITE ? "wrote" : "read";
    em_shadow_place(c, w, a->space, a->shadow, at, place, sizeof place);
    if (em_device_of(c, previous->cluster) != em_device_of(c, current->cluster)) {
        rank_race r = em_ranks_explain(c, cluster_of(c, w), previous, current);
        em_check_find(c, r.kind, w, a->inst, a->lane, r.other, "race: %s %s %s, which rank %u %s%s; %s",
                      em_instruction_name(a->inst), verb, place, em_device_of(c, previous->cluster), did,
                      r.earlier ? " in an earlier launch" : "", r.lack);
        return;
    }
    uint32_t rank = previous->id / c->stride, in_block = previous->id % c->stride,
             threads = w->block->warp_count * EM_LANES;
    if (!same_cluster)
        snprintf(who, sizeof who, "another block (cluster %u of the grid)",
                 (previous->cluster - 1 - c->serial_base) / c->devices);
    else if (in_block >= threads)
        snprintf(who, sizeof who, "an asynchronous operation of warp %u", (in_block - threads) / ASYNC_KINDS);
    else if (rank != w->block->rank)
        snprintf(who, sizeof who, "thread %u of block %u of the cluster", in_block, rank);
    else if (in_block / EM_LANES == w->index)
        snprintf(who, sizeof who, "lane %u of the same warp", in_block % EM_LANES);
    else
        snprintf(who, sizeof who, "thread %u of the block", in_block);
    bool narrow = previous->flags & current->flags & ACCESS_STRONG;
    bool released = is_released_by_warp(c, a, previous), locked = is_locked(c, a, previous);
    const char *lack =
        released        ? "another lane of its warp arrived on its behalf without a preceding bar.warp.sync"
        : locked        ? "the atomic that observed its flag is followed by a barrier but no fence"
        : narrow        ? "its scope, .cta or .cluster, does not include the other thread"
        : !same_cluster ? "no fence and flag between the blocks"
        : is_waited_for(c, a, previous)  ? "cp.async.wait_group makes copies visible only to the waiting "
                                           "thread: expected a barrier after it"
        : previous->flags & ACCESS_ASYNC ? "no intervening wait for its completion"
        : in_block / EM_LANES == w->index && rank == w->block->rank
            ? "no intervening bar.warp.sync or barrier"
            : "no intervening barrier, mbarrier, or fence and flag";
    if (current->inst == previous->inst && current->time == previous->time && same_cluster &&
        !(previous->flags & ACCESS_ASYNC) && in_block / EM_LANES == w->index)
        lack = "both accesses are in one instruction";
    em_check_find(c, what_race(previous, current, same_cluster, released, locked), a->warp, a->inst, a->lane,
                  previous->inst, "race: %s %s %s, which %s %s; %s", em_instruction_name(a->inst), verb,
                  place, who, did, lack);
}

/* A shuffle orders no memory, but a lane's read before it has completed when another lane continues after
 * it. */
static bool read_before_exchange(const em_checks *c, const cluster_state *o, const em_warp *w, int lane,
                                 const access_record *previous)
{
    const warp_state *own = warp_of(c, w);
    uint32_t other = previous->id - thread_id(c, w, 0);
    if (previous->flags & (ACCESS_WRITE | ACCESS_ASYNC) || previous->cluster != o->serial ||
        other >= EM_LANES || lane < 0)
        return false;
    return previous->time <= own->exchanged && own->exchange_mask >> other & own->exchange_mask >> lane & 1;
}

/* Whether the accesses are morally strong: each thread is in the other access's scope. */
static bool in_scope(const em_checks *c, const access_record *previous, const access_record *current)
{
    int scopes[] = {previous->flags & ACCESS_SCOPE, current->flags & ACCESS_SCOPE};
    bool same_cluster = previous->cluster == current->cluster;
    for (int n = 0; n < 2; n++) {
        bool same = scopes[n] == ACCESS_SCOPE
                        ? em_device_of(c, previous->cluster) == em_device_of(c, current->cluster)
                    : scopes[n] == ACCESS_CLUSTER ? same_cluster
                    : scopes[n] == ACCESS_BLOCK
                        ? same_cluster && previous->id / c->stride == current->id / c->stride
                        : true;
        if (!same) return false;
    }
    return true;
}

static inline bool accesses_conflict(const em_checks *c, const cluster_state *o, uint32_t id, em_space space,
                                     const access_record *previous, const access_record *current,
                                     const vclock *known)
{
    if (!previous->time || !(previous->mask & current->mask)) return false;
    if (previous->flags & ACCESS_REDUNDANT) return false;
    if (previous->flags & current->flags & ACCESS_STRONG && in_scope(c, previous, current)) return false;
    if (space == EM_SHARED && previous->time <= o->began) return false; /* of an earlier block in this slot */
    /* Accesses of one thread are ordered. Copies of a warp are not, although they count as one thread. */
    if (previous->cluster == current->cluster && previous->id == current->id &&
        (!(current->flags & ACCESS_ASYNC) || previous->time == current->time))
        return false;
    return !em_is_ordered(c, o, id, previous, known);
}

/* A programmatic launch starts before the preceding one has ended. */
static bool depends_on_launch(const em_checks *c, const cluster_state *o, const access_record *previous,
                              const access_record *current)
{
    return c->launch->programmatic && !o->waited && previous->time > c->previous_launch &&
           previous->time <= c->launch_time && em_is_earlier(c, o, previous) &&
           previous->mask & current->mask && (previous->flags | current->flags) & ACCESS_WRITE;
}

static void report_dependence(em_checks *c, const memory_access *a, uint64_t at,
                              const access_record *previous)
{
    char place[200];
    em_shadow_place(c, a->warp, EM_GLOBAL, a->shadow, at, place, sizeof place);
    const char *name = em_instruction_name(a->inst), *did = previous->flags & ACCESS_WRITE ? "wrote" : "read";
    if (c->previous_triggered)
        em_check_find(c, FOUND_RACE_DEPENDENT_LAUNCH, a->warp, a->inst, a->lane, UINT32_MAX,
                      "race: %s uses %s, which the preceding launch %s; no intervening griddepcontrol.wait",
                      name, place, did);
    else
        em_check_find(c, FOUND_RACE_NO_TRIGGER, a->warp, a->inst, a->lane, UINT32_MAX,
                      "race: %s uses %s, which the preceding launch %s; no intervening griddepcontrol.wait, "
                      "and no griddepcontrol.launch_dependents in that launch",
                      name, place, did);
}

/* By the writer after the write, or by the thread that issued the read. */
static bool lacks_proxy_fence(const cluster_state *o, uint32_t id, bool global, const access_record *previous,
                              const access_record *current)
{
    if (!previous->time || !(previous->mask & current->mask)) return false;
    if (!order_needs_proxy_fence(
            previous->flags & ACCESS_PROXY ? ORDER_ASYNC : ORDER_GENERIC, previous->flags & ACCESS_WRITE,
            current->flags & ACCESS_PROXY ? ORDER_ASYNC : ORDER_GENERIC, current->flags & ACCESS_WRITE))
        return false;
    if (previous->cluster != current->cluster || previous->time <= o->began || previous->flags & ACCESS_ASYNC)
        return false;
    return !order_is_fenced(previous->time, o->threads[previous->id].proxy_fence[global],
                            o->threads[id].proxy_fence[global]);
}

/* Accesses that need more than order: those of a dependent launch, the non-coherent path or different
 * proxies. */
static void check_path(em_checks *c, const memory_access *a, uint64_t at, const access_record *before,
                       const access_record *reads, const access_record *current)
{
    const cluster_state *o = cluster_of(c, a->warp);
    const em_inst *i = a->inst;
    bool write = current->flags & ACCESS_WRITE, written = before && before->mask & current->mask;
    const char *name = em_instruction_name(i);
    bool global = a->space == EM_GLOBAL;
    if (before && global && depends_on_launch(c, o, before, current)) report_dependence(c, a, at, before);
    for (int n = 0; global && reads && write && n < a->shadow->slots; n++)
        if (depends_on_launch(c, o, &reads[n], current)) report_dependence(c, a, at, &reads[n]);
    if (write || !written) return;
    bool here = global && before->time > c->launch_time;
    if (here && (em_has(i, EM_M_nc) || em_is_fetch(i)))
        em_check_find(c, FOUND_RACE_READ_ONLY_PATH, a->warp, i, a->lane, before->inst,
                      "race: %s%s reads through the non-coherent path data that the same kernel writes", name,
                      em_is_fetch(i) ? "" : ".nc");
    if (lacks_proxy_fence(o, thread_id(c, a->warp, a->lane), global, before, current))
        em_check_find(c, FOUND_PROXY_FENCE, a->warp, i, a->lane, before->inst,
                      "race: %s reads through the async proxy data written through the generic proxy; no "
                      "intervening fence.proxy.async",
                      name);
    /* When issued, a copy reads only its tensor map. */
    if (here && !c->machine->completing && em_has(i, EM_M_tensor) && i->opcode == EM_OP_cp &&
        o->map_fence < before->time)
        em_check_find(c, FOUND_TENSOR_MAP_FENCE, a->warp, i, a->lane, before->inst,
                      "race: %s uses a tensor map that the kernel wrote; no intervening "
                      "fence.proxy.tensormap::generic.acquire",
                      name);
}

/* A read replaces one that is ordered before it (order is transitive), else the oldest. */
static inline void keep_granule_read(const em_checks *c, const cluster_state *o, uint32_t id,
                                     access_record *reads, int slots, const access_record *current,
                                     const vclock *known)
{
    int oldest = 0;
    for (int n = 0; n < slots; n++) {
        const access_record *r = &reads[n];
        if (r->mask & ~current->mask || !em_is_ordered(c, o, id, r, known)) continue;
        reads[n] = *current;
        return;
    }
    for (int n = 0; n < slots; n++) {
        access_record *r = &reads[n];
        if (r->cluster == current->cluster && r->id == current->id && r->time == current->time &&
            r->flags == current->flags && r->inst == current->inst) {
            r->mask |= current->mask;
            return;
        }
        if (r->time < reads[oldest].time) oldest = n;
    }
    reads[oldest] = *current;
}

static size_t granule_count(const shadow *s)
{
    return (size_t)(s->total >> s->granule) + 2;
}

/* Splits records of words into equal records of half words. */
static access_record *halve_granules(const access_record *words, size_t count, int slots)
{
    access_record *halves = calloc(2 * count * (size_t)slots, sizeof *halves);
    for (size_t g = 0; halves && g < count; g++)
        for (int n = 0; n < slots; n++)
            for (size_t h = 0; h < 2; h++) {
                access_record r = words[g * (size_t)slots + (size_t)n];
                r.mask = (uint8_t)(r.mask >> 2 * h & 3);
                if (r.mask) halves[(2 * g + h) * (size_t)slots + (size_t)n] = r;
            }
    return halves;
}

static bool stop_region_races(em_checks *c, shadow *s)
{
    s->too_large = true;
    c->exhausted = true;
    return false;
}

/* Shared memory starts with 4-byte granules; the first 2-byte access switches to 2-byte granules. */
static bool refine_granules(em_checks *c, shadow *s)
{
    size_t count = granule_count(s);
    access_record *writes = s->writes ? halve_granules(s->writes, count, 1) : NULL,
                  *reads = s->reads ? halve_granules(s->reads, count, s->slots) : NULL;
    bool ok = (writes || !s->writes) && (reads || !s->reads);
    free(s->writes);
    free(s->reads);
    s->writes = writes;
    s->reads = reads;
    s->granule = 1;
    return ok || stop_region_races(c, s);
}

/* Allocates the records that an access to [at, at + bytes) needs. */
static inline bool allocate_records(em_checks *c, shadow *s, bool write, bool shared, uint64_t at,
                                    uint32_t bytes)
{
    if (s->too_large) return false;
    if (shared && s->granule > 1 && (at | bytes) & 3 && !refine_granules(c, s)) return false;
    if (write ? s->writes != NULL : s->reads != NULL) return true;
    if (write)
        s->writes = calloc(granule_count(s), sizeof *s->writes);
    else
        s->reads = calloc(granule_count(s) * s->slots, sizeof *s->reads);
    return (write ? s->writes != NULL : s->reads != NULL) || stop_region_races(c, s);
}

/* Whether a st writes the value that is already stored. */
static bool writes_the_same(const em_checks *c, const memory_access *a)
{
    const em_warp *w = a->warp;
    const em_inst *i = a->inst;
    const shadow *s = a->shadow;
    uint32_t size = ptx_types[i->type].bytes;
    if (c->machine->completing || a->lane < 0 || i->opcode != EM_OP_st || em_has(i, EM_M_async)) return false;
    if (!size || size > 8 || a->bytes != size * i->memory.vector) return false;
    const uint8_t *there = NULL;
    if (a->space == EM_SHARED) {
        there = w->block->cluster->blocks[s - cluster_of(c, w)->shared].shared + a->at;
    } else {
        const em_allocation *found = em_memory_find(c->launch->memory, s->base + a->at);
        there = found ? found->host + (s->base + a->at - found->base) : NULL;
    }
    const em_operand *from = i->o[1].kind == EM_O_VECTOR ? i->o[1].list : &i->o[1];
    for (uint32_t n = 0; there && n < i->memory.vector; n++) {
        uint64_t value = em_get(w, &from[n], a->lane);
        if (memcmp(there + n * size, &value, size)) return false;
    }
    return there != NULL;
}

static access_record record_of(const em_checks *c, const memory_access *a)
{
    static const uint8_t scopes[SCOPES] = {ACCESS_BLOCK, ACCESS_CLUSTER, ACCESS_SCOPE, 0};
    const uint8_t device = c->devices > 1 ? ACCESS_SCOPE : 0;
    const em_pending *p = c->machine->completing;
    bool write = a->kind != EM_READ;
    access_record r = {.time = c->machine->time,
                       .inst = inst_index(c, a->inst),
                       .cluster = cluster_of(c, a->warp)->serial,
                       .id = (uint16_t)thread_id(c, a->warp, a->lane)};
    r.flags = (uint8_t)((write ? ACCESS_WRITE : 0) | (a->kind == EM_ATOMIC ? ACCESS_ATOMIC : 0));
    if (p && p->kind != EM_P_MBARRIER) {
        bool proxy = p->kind == EM_P_BULK || p->kind == EM_P_LOAD || p->kind == EM_P_WGMMA,
             stored = p->kind == EM_P_BULK && write;
        r.time = p->issued;
        r.id = (uint16_t)async_id(c, a->warp, stored ? BULK_WRITE_KIND : async_kind(p->kind));
        r.flags |= (uint8_t)(ACCESS_ASYNC | (proxy ? ACCESS_PROXY : 0));
        if (a->kind == EM_ATOMIC && p->kind != EM_P_WGMMA)
            r.flags |= (uint8_t)(ACCESS_STRONG |
                                 (p->kind == EM_P_MBARRIER ? 0 : device)); /* bulk reductions; mbarriers */
    } else if (a->strong) {
        uint32_t scope = em_scope_of(c, a->inst);
        r.flags |= (uint8_t)(ACCESS_STRONG | (a->mbarrier           ? 0
                                              : scope == SCOPE_GRID ? device
                                                                    : scopes[scope]));
    }
    if (a->mbarrier) {
        r.flags &= (uint8_t)~ACCESS_PROXY;
        r.flags |= write ? 0 : ACCESS_STRONG;
    }
    return r;
}

static void check_granule(em_checks *c, const memory_access *a, uint64_t at, access_record *before,
                          access_record *reads, const access_record *current)
{
    cluster_state *o = cluster_of(c, a->warp);
    uint32_t id = thread_id(c, a->warp, a->lane);
    const vclock *known = o->threads[id].known;
    bool write = current->flags & ACCESS_WRITE,
         raced = before && accesses_conflict(c, o, id, a->space, before, current, known);
    int slots = a->shadow->slots;
    /* Threads that write the same value, or initialise the same mbarrier at one instruction, are harmless. */
    if (raced && a->mbarrier && write && before->inst == current->inst) {
        before->flags |= ACCESS_REDUNDANT;
        return;
    }
    if (raced && write && before->flags & ACCESS_WRITE && writes_the_same(c, a)) raced = false;
    if (raced)
        report_race(c, a, at, before, current);
    else
        check_path(c, a, at, before, reads, current);
    if (!write) {
        keep_granule_read(c, o, id, reads, slots, current, known);
        return;
    }
    for (int n = 0; reads && n < slots; n++)
        if (accesses_conflict(c, o, id, a->space, &reads[n], current, known) &&
            !read_before_exchange(c, o, a->warp, a->lane, &reads[n])) {
            report_race(c, a, at, &reads[n], current);
            break;
        }
    for (int n = 0; reads && n < slots; n++)
        if ((reads[n].mask &= (uint8_t)~current->mask) == 0) reads[n].time = 0;
    *before = *current;
}

static const char *remote_verb(const em_inst *i, bool write)
{
    return i->opcode == EM_OP_mbarrier ? "arrives in" : write ? "writes" : "reads";
}

/* Stores and arrivals at an exited block are dropped. */
static void report_ended(em_checks *c, const memory_access *a)
{
    if (!em_shared_ended(a->warp, a->address) || !em_is_dropped(a->inst)) return;
    em_check_find(c, FOUND_RACE_BLOCK_END_ARRIVAL, a->warp, a->inst, a->lane, UINT32_MAX,
                  "race: %s %s shared memory of block %u of the cluster, which has exited",
                  em_instruction_name(a->inst), remote_verb(a->inst, a->kind != EM_READ),
                  (unsigned)(a->address >> EM_RANK_SHIFT));
}

static bool races_access(em_checks *c, const memory_access *a)
{
    shadow *s = a->shadow;
    bool shared = a->space == EM_SHARED;
    if (a->space == EM_LOCAL) return true;
    if (shared) report_ended(c, a);
    if (a->strong && (!s || (!c->machine->completing && !a->mbarrier))) {
        if (c->devices > 1 && s && !shared && a->kind != EM_WRITE) em_ranks_poll(c, a);
        em_flags_access(c, a->warp, a->inst, a->lane, shared ? a->address | UINT64_C(1) << 31 : a->address,
                        a->kind);
    }
    if (!s || s->too_large || (!shared && !em_lines_split(c, s, a->at, a->bytes))) return true;
    if (!allocate_records(c, s, a->kind != EM_READ, shared, a->at, a->bytes)) return true;
    const em_pending *p = c->machine->completing;
    if (shared)
        s->shared_use |=
            s - cluster_of(c, a->warp)->shared != a->warp->block->rank || (p && async_kind(p->kind));
    access_record current = record_of(c, a);
    uint32_t grain = 1u << s->granule;
    for (uint64_t g = a->at >> s->granule, last = (a->at + a->bytes - 1) >> s->granule; g <= last; g++) {
        uint64_t begin = g << s->granule, from = a->at > begin ? a->at - begin : 0,
                 to = a->at + a->bytes - begin;
        if (to > grain) to = grain;
        current.mask = (uint8_t)(((1u << to) - 1) & ~((1u << from) - 1));
        check_granule(c, a, begin + from, s->writes ? &s->writes[g] : NULL,
                      s->reads ? &s->reads[g * s->slots] : NULL, &current);
    }
    return true;
}

/* ---- accesses of whole warps ---- */

/* The result of one lane's access to a granule. */
typedef enum verdict {
    CHECK_LANES,  /* may race, or needs more than order: check per lane */
    LANE_ORDERED, /* ordered for this lane */
    WARP_ORDERED  /* ordered for each lane with the same access */
} verdict;

static inline verdict read_granule(const em_checks *c, const cluster_state *o, const em_warp_access *r,
                                   const vclock *known, const access_record *before, access_record *reads,
                                   int slots, const access_record *current)
{
    bool free = !before || em_is_earlier(c, o, before) ||
                (before->cluster == o->serial && before->time <= known->clock[before->id]);
    if (!free && accesses_conflict(c, o, current->id, r->space, before, current, known)) return CHECK_LANES;
    keep_granule_read(c, o, current->id, reads, slots, current, known);
    return free ? WARP_ORDERED : LANE_ORDERED;
}

static inline verdict write_granule(const em_checks *c, const cluster_state *o, const em_warp_access *r,
                                    const vclock *known, access_record *before, access_record *reads,
                                    int slots, const access_record *current)
{
    if (accesses_conflict(c, o, current->id, r->space, before, current, known)) return CHECK_LANES;
    for (int n = 0; reads && n < slots; n++)
        if (accesses_conflict(c, o, current->id, r->space, &reads[n], current, known)) return CHECK_LANES;
    for (int n = 0; reads && n < slots; n++)
        if ((reads[n].mask &= (uint8_t)~current->mask) == 0) reads[n].time = 0;
    *before = *current;
    return LANE_ORDERED;
}

static verdict row_lane(const em_checks *c, const cluster_state *o, const em_warp_access *r, shadow *s,
                        uint64_t from, const vclock *known, access_record *current)
{
    verdict least = WARP_ORDERED, now = WARP_ORDERED;
    uint64_t end = from + r->bytes, grain = UINT64_C(1) << s->granule;
    for (uint64_t g = from >> s->granule; g << s->granule < end && now != CHECK_LANES; g++) {
        uint64_t begin = g << s->granule, low = from > begin ? from - begin : 0, high = end - begin;
        if (high > grain) high = grain;
        current->mask = (uint8_t)(((1u << high) - 1) & ~((1u << low) - 1));
        access_record *reads = s->reads ? &s->reads[g * s->slots] : NULL,
                      *before = s->writes ? &s->writes[g] : NULL;
        now = r->kind == EM_WRITE ? write_granule(c, o, r, known, before, reads, s->slots, current)
                                  : read_granule(c, o, r, known, before, reads, s->slots, current);
        if (now < least) least = now;
    }
    return least;
}

/* Of lanes with the same read only the first two and the last change the records. */
static bool races_row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    const cluster_state *o = cluster_of(c, r->warp);
    const vclock *known = warp_of(c, r->warp)->known;
    bool write = r->kind == EM_WRITE, shared = r->space == EM_SHARED;
    uint32_t first = thread_id(c, r->warp, 0), bits = 0;
    if (!known || (c->launch->programmatic && !o->waited)) return false;
    if (em_has(r->inst, EM_M_nc) && (s->writes || s->write_lines)) return false; /* see check_path */
    if (s->too_large) return true;
    access_record current = {.time = c->machine->time,
                             .inst = inst_index(c, r->inst),
                             .cluster = o->serial,
                             .id = (uint16_t)first,
                             .flags = write ? ACCESS_WRITE : 0};
    if (!shared && em_lines_access(c, r, s, at, &current, known)) return true;
    for (uint32_t rest = r->mask; rest; rest &= rest - 1) bits |= r->offsets[__builtin_ctz(rest)];
    if (!allocate_records(c, s, write, shared, at | bits, r->bytes)) return true;
    verdict last = CHECK_LANES;
    uint32_t alike = 0, offset = UINT32_MAX;
    for (uint32_t rest = r->mask; rest;) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        rest &= rest - 1;
        alike = r->offsets[lane] == offset ? alike + 1 : 0;
        offset = r->offsets[lane];
        if (alike > 1 && last == WARP_ORDERED && rest && r->offsets[__builtin_ctz(rest)] == offset) continue;
        current.id = (uint16_t)(first + lane);
        if (!shared && !em_lines_split(c, s, at + offset, r->bytes)) return true;
        last = row_lane(c, o, r, s, at + offset, known, &current);
        if (last == CHECK_LANES) return false;
    }
    return true;
}

/* ---- exit of blocks ---- */

static void used_until_the_end(em_checks *c, em_warp *w, const uint32_t *known, const access_record *previous)
{
    cluster_state *o = cluster_of(c, w);
    uint32_t rank = previous->id / c->stride, in_block = previous->id % c->stride,
             threads = w->block->warp_count * EM_LANES;
    bool own = rank == w->block->rank, late = in_block >= threads && (in_block - threads) % ASYNC_KINDS;
    if (previous->time <= o->began || previous->cluster != o->serial || previous->time <= known[previous->id])
        return;
    if (own && !late) return;
    const em_inst *i = &c->machine->code[previous->inst];
    bool write = previous->flags & ACCESS_WRITE; /* a strong read by a copy is of its mbarrier */
    bool is_source = i->opcode == EM_OP_cp && !(previous->flags & (ACCESS_WRITE | ACCESS_STRONG));
    order_late_use use = own                ? is_source ? ORDER_LATE_SOURCE : ORDER_LATE_COPY
                         : em_is_dropped(i) ? ORDER_LATE_STORE
                                            : ORDER_LATE_COPY;
    finding_kind kind = !order_late_use_is_dropped(use) ? FOUND_RACE_BLOCK_END
                        : own                           ? FOUND_RACE_BLOCK_END_SOURCE
                                                        : FOUND_RACE_BLOCK_END_ARRIVAL;
    em_warp *owner =
        &w->block->cluster->blocks[rank]
             .warps[in_block < threads ? in_block / EM_LANES : (in_block - threads) / ASYNC_KINDS];
    int lane = in_block < threads ? (int)(in_block % EM_LANES) : -1;
    const char *name = em_instruction_name(i), *verb = remote_verb(i, write);
    if (own)
        em_check_find(c, kind, owner, i, lane, UINT32_MAX,
                      "race: %s %s shared memory of its block, which may already have exited; no wait for "
                      "the operation's completion",
                      name, write ? "writes" : "reads");
    else
        em_check_find(c, kind, owner, i, lane, UINT32_MAX,
                      "race: %s %s shared memory of block %u of the cluster, which may already have exited; "
                      "nothing orders the exit after the access",
                      name, verb, w->block->rank);
}

/* The last threads of the warp's block exit: from now on other blocks of the cluster may not use its shared
 * memory. */
static void end_block(em_checks *c, em_warp *w)
{
    cluster_state *o = cluster_of(c, w);
    shadow *s = &o->shared[w->block->rank];
    if (!s->shared_use) return;
    /* The memory lives until the last of its threads exits. */
    uint32_t *known = calloc(c->entries, sizeof *known), threads = w->block->warp_count * EM_LANES;
    if (!known) {
        c->exhausted = true;
        return;
    }
    for (uint32_t t = 0; t < threads; t++) {
        const uint32_t *clock = o->threads[w->block->rank * c->stride + t].known->clock;
        for (uint32_t n = 0; n < c->entries; n++) known[n] = clock[n] > known[n] ? clock[n] : known[n];
    }
    for (size_t g = 0; g <= s->total >> s->granule; g++) {
        if (s->writes) used_until_the_end(c, w, known, &s->writes[g]);
        for (int n = 0; s->reads && n < s->slots; n++)
            used_until_the_end(c, w, known, &s->reads[g * s->slots + n]);
    }
    free(known);
}

/* ---- mbarriers ---- */

/* The fences that followed the initialisation of `b`, used by `mask`; false: it was not initialised. */
static bool init_of(const em_checks *c, const em_warp *w, uint32_t mask, const mbarrier_state *b,
                    order_init *out)
{
    if (!b || !b->init_inst) return false;
    const thread_state *threads = cluster_of(c, w)->threads, *t = &threads[b->init_id];
    *out =
        (order_init){.init = b->init_time,
                     .init_fence = t->init_fence,
                     .proxy_fence = t->proxy_fence[0],
                     .cluster_fence = t->fence[SCOPE_CLUSTER],
                     .relaxed = t->cluster_relaxed,
                     .released = t->cluster_released,
                     .user_fence = mask ? threads[thread_id(c, w, __builtin_ctz(mask))].proxy_fence[0] : 0};
    return true;
}

/* Copies complete at an mbarrier through the async proxy: without a fence they need not see its
 * initialisation. */
static void check_initialised(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask,
                              const mbarrier_state *b)
{
    order_init init;
    if (!init_of(c, w, mask, b, &init) || order_init_reaches_copies(&init)) return;
    em_check_find(c, FOUND_MBARRIER_INIT_FENCE, w, i, mask ? __builtin_ctz(mask) : -1,
                  inst_index(c, b->init_inst),
                  "race: %s completes at the mbarrier at shared address 0x%x, which was initialised through "
                  "the generic proxy; no intervening fence.mbarrier_init or fence.proxy.async",
                  em_instruction_name(i), b->address);
}

/* A thread of another block uses it through the generic proxy. */
static void check_released(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask, const mbarrier_state *b)
{
    order_init init;
    if (!init_of(c, w, mask, b, &init) || b->address >> EM_RANK_SHIFT == w->block->rank ||
        order_init_reaches_blocks(&init))
        return;
    em_check_find(c, FOUND_MBARRIER_INIT_RELAXED, w, i, mask ? __builtin_ctz(mask) : -1,
                  inst_index(c, b->init_inst),
                  "race: %s uses the mbarrier at shared address 0x%x of another block after a "
                  "barrier.cluster.arrive.relaxed; no fence.mbarrier_init after its initialisation",
                  em_instruction_name(i), b->address);
}

/* ---- the part ---- */

static void races_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                        uint64_t b)
{
    const em_pending *p = c->machine->completing;
    (void)b;
    if (event == EM_E_EXIT && w->block->alive == (uint32_t)__builtin_popcount(mask)) end_block(c, w);
    if (event == EM_E_MBARRIER_ARRIVE && p && p->kind == EM_P_LOAD)
        check_initialised(c, w, i, p->lanes, em_mbarrier_find(c, cluster_of(c, w), (uint32_t)a, false));
    if (event == EM_E_MBARRIER_ARRIVE && !p)
        check_released(c, w, i, mask, em_mbarrier_find(c, cluster_of(c, w), (uint32_t)a, false));
}

static bool races_concerns(const em_checks *c, const em_inst *i)
{
    (void)c;
    return i->opcode == EM_OP_griddepcontrol;
}

static void races_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
{
    (void)lanes;
    if (!mask) return;
    if (em_has(i, EM_M_wait))
        cluster_of(c, w)->waited = true;
    else
        c->triggered = true;
}

static const em_part *const needs[] = {&em_part_shadow_memory, &em_part_vector_clocks, NULL};
const em_part em_part_races = {
    .needs = needs,
    .events = EVENT(EXIT) | EVENT(MBARRIER_ARRIVE),
    .event = races_event,
    .access = races_access,
    .row = races_row,
    .concerns = races_concerns,
    .step = races_step,
};
