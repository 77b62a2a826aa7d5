/* What each byte of shared and global memory went through: whether it was written, and the last accesses, of
 * constant size: one write and two reads by different threads for each granule (HiRace, arXiv 2401.04701,
 * keeps as little). So a race may be missed where three threads read; none is reported that is not there. */
#include "lib/checks/state.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGE_REGION = 64 << 20, GLOBAL_GRANULE = 2 };
#define LARGEST_REGION (UINT64_C(1) << 30)

bool em_shadow_make(shadow *s, uint64_t base, uint64_t total, bool written, uint8_t granule)
{
    *s = (shadow){.base = base, .total = total, .size = total, .granule = granule};
    s->slots = total > LARGE_REGION ? 1 : 2;
    s->too_large = total > LARGEST_REGION;
    if (written) return true;
    s->written = calloc(total / 8 + 16, 1);
    return s->written != NULL;
}

void em_shadow_release(shadow *s)
{
    free(s->name);
    free(s->written);
    free(s->writes);
    free(s->reads);
    free(s->mbarriers);
    free(s->pieces);
    *s = (shadow){0};
}

void em_shadow_write(shadow *s, uint64_t at, uint64_t bytes, bool written)
{
    if (!s->written || at > s->total || bytes > s->total - at) return;
    if (written && (at & 7) + bytes <= 8) {
        s->written[at >> 3] |= (uint8_t)(((1u << bytes) - 1) << (at & 7));
        return;
    }
    for (; bytes && (at & 7); at++, bytes--) {
        uint8_t bit = (uint8_t)(1u << (at & 7));
        s->written[at >> 3] = written ? s->written[at >> 3] | bit : s->written[at >> 3] & (uint8_t)~bit;
    }
    memset(s->written + (at >> 3), written ? 0xff : 0, bytes >> 3);
    for (at += bytes & ~UINT64_C(7), bytes &= 7; bytes; at++, bytes--) {
        uint8_t bit = (uint8_t)(1u << (at & 7));
        s->written[at >> 3] = written ? s->written[at >> 3] | bit : s->written[at >> 3] & (uint8_t)~bit;
    }
}

void em_shadow_forget(shadow *s)
{
    em_shadow_write(s, 0, s->total, false);
    if (s->mbarriers) memset(s->mbarriers, 0, s->total / 64 + 1);
    if (s->pieces) memset(s->pieces, 0, (s->total / 16 + 1) * sizeof *s->pieces);
    s->shared_use = false;
}

/* The first byte that was not written, or `bytes`. */
static uint64_t first_unwritten(const shadow *s, uint64_t at, uint64_t bytes)
{
    if (!s->written) return bytes;
    if ((at & 7) + bytes <= 8) { /* the usual access */
        uint32_t mask = ((1u << bytes) - 1) << (at & 7);
        if ((s->written[at >> 3] & mask) == mask) return bytes;
    }
    for (uint64_t n = 0; n < bytes; n++) {
        uint64_t b = at + n;
        if (!(b & 7) && bytes - n >= 8 && s->written[b >> 3] == 0xff) {
            n += 7;
            continue;
        }
        if (!(s->written[b >> 3] >> (b & 7) & 1)) return n;
    }
    return bytes;
}

/* ---- which memory ---- */

static shadow *region_of(em_checks *c, uint64_t address)
{
    shadow *s = c->last_region;
    if (s && address - s->base < s->total) return s;
    size_t low = 0, high = c->region_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->regions[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && address - c->regions[low - 1].base < c->regions[low - 1].total)
        return c->last_region = &c->regions[low - 1];
    const em_allocation *a = em_memory_find(c->launch->memory, address);
    /* What the kernel allocates itself holds nothing; variables and what was there before it ran do. */
    if (!a || !em_checks_add_buffer(c, a->base, a->size, a->size, a->name, a->base < c->heap)) return NULL;
    return region_of(c, address);
}

/* "shared array 'tile' at offset 12" or "buffer C at byte 12". */
static void describe(const em_checks *c, const em_warp *w, em_space space, const shadow *s, uint64_t at,
                     char *out, size_t size)
{
    if (space == EM_GLOBAL) {
        if (s->name)
            snprintf(out, size, "byte %llu of %s", (unsigned long long)at, s->name);
        else
            snprintf(out, size, "byte %llu of an allocation", (unsigned long long)at);
        return;
    }
    const em_program *program = c->machine->program;
    int64_t common = (program->shared + 15) / 16 * 16;
    const em_variable *found = NULL;
    int64_t from = 0;
    for (size_t n = 0; n < program->reloc_count; n++) {
        const em_variable *v = program->relocs[n].variable;
        if (v->space != EM_SHARED || (v->owner && v->owner != c->launch->kernel)) continue;
        int64_t begin = v->offset + (v->owner ? common : 0), align = v->align < 16 ? 16 : v->align;
        if (v->dynamic)
            begin = (c->machine->shared_static + EM_SHARED_RESERVED + align - 1) / align * align -
                    EM_SHARED_RESERVED;
        if ((int64_t)at < begin || (!v->dynamic && (int64_t)at >= begin + v->size)) continue;
        found = v;
        from = begin;
    }
    const cluster_order *o = cluster_of(c, w);
    bool known = s >= o->shared && s < o->shared + w->block->cluster->count;
    unsigned rank = known ? (unsigned)(s - o->shared) : w->block->rank;
    unsigned address = (unsigned)at + EM_SHARED_RESERVED + (rank << EM_RANK_SHIFT);
    if (found)
        snprintf(out, size, "byte %lld of shared '%s' (address 0x%x)", (long long)((int64_t)at - from),
                 found->name, address);
    else
        snprintf(out, size, "shared address 0x%x", address);
}

void em_shadow_describe(em_checks *c, const em_warp *w, em_space space, uint64_t address, char *out,
                        size_t size)
{
    if (space == EM_LOCAL) {
        snprintf(out, size, "byte %llu of the thread's local memory", (unsigned long long)address);
        return;
    }
    uint64_t rank = address >> EM_RANK_SHIFT;
    shadow *s = space == EM_GLOBAL                ? region_of(c, address)
                : rank < w->block->cluster->count ? &cluster_of(c, w)->shared[rank]
                                                  : NULL;
    if (!s)
        snprintf(out, size, "memory at 0x%llx", (unsigned long long)address);
    else if (space == EM_GLOBAL)
        describe(c, w, space, s, address - s->base, out, size);
    else
        describe(c, w, space, s, (address & ((1u << EM_RANK_SHIFT) - 1)) - EM_SHARED_RESERVED, out, size);
}

/* ---- races ---- */

static const char *what_race(const access_record *then, const access_record *now, bool same_cluster)
{
    if (then->flags & ACCESS_PROXY) return "proxy";
    if (!same_cluster) return "blocks";
    if (then->flags & ACCESS_ASYNC) return "async";
    return now->flags & ACCESS_WRITE ? then->flags & ACCESS_WRITE ? "write after write" : "write after read"
                                     : "read after write";
}

static void report_race(em_checks *c, em_warp *w, const em_inst *i, int lane, const access_record *then,
                        const access_record *now, em_space space, const shadow *s, uint64_t at)
{
    char place[200], who[120];
    bool same_cluster = then->cluster == now->cluster;
    describe(c, w, space, s, at, place, sizeof place);
    uint32_t rank = then->id / c->stride, in_block = then->id % c->stride,
             threads = w->block->warp_count * EM_LANES;
    if (!same_cluster)
        snprintf(who, sizeof who, "another block (cluster %u of the grid)", then->cluster - 1);
    else if (in_block >= threads)
        snprintf(who, sizeof who, "asynchronous work of warp %u", (in_block - threads) / ASYNC_KINDS);
    else if (rank != w->block->rank)
        snprintf(who, sizeof who, "thread %u of block %u of the cluster", in_block, rank);
    else if (in_block / EM_LANES == w->index)
        snprintf(who, sizeof who, "lane %u of the same warp", in_block % EM_LANES);
    else
        snprintf(who, sizeof who, "thread %u of the block", in_block);
    const char *verb = now->flags & ACCESS_ATOMIC  ? "updates"
                       : now->flags & ACCESS_WRITE ? "writes"
                                                   : "reads";
    const char *did = then->flags & ACCESS_WRITE ? "wrote" : "read";
    bool narrow = then->flags & now->flags & ACCESS_STRONG;
    const char *lack = narrow          ? "its scope, .cta or .cluster, does not reach the other thread"
                       : !same_cluster ? "no fence and flag orders blocks"
                       : then->flags & ACCESS_ASYNC ? "nothing waited for that"
                       : in_block / EM_LANES == w->index && rank == w->block->rank
                           ? "no bar.warp.sync or barrier lies between"
                           : "no barrier, fence with flag, or mbarrier lies between";
    if (now->inst == then->inst && now->time == then->time && same_cluster && !(then->flags & ACCESS_ASYNC) &&
        in_block / EM_LANES == w->index)
        lack = "both do so in one instruction";
    em_check_find(c, CUTE_CHECK_RACE, what_race(then, now, same_cluster), w, i, lane, then->inst,
                  "race: %s %s %s, which %s %s; %s", em_instruction_name(i), verb, place, who, did, lack);
}

/* A shuffle orders no memory, but what a lane read before it is read when another lane goes on behind it. */
static bool read_before_exchange(const em_checks *c, const cluster_order *o, const em_warp *w, int lane,
                                 const access_record *then)
{
    const warp_order *own = &o->warps[w->block->rank * w->block->warp_count + w->index];
    uint32_t other = then->id - thread_id(c, w, 0);
    if (then->flags & (ACCESS_WRITE | ACCESS_ASYNC) || then->cluster != o->serial || other >= EM_LANES ||
        lane < 0)
        return false;
    return then->time <= own->exchanged && own->exchange_mask >> other & own->exchange_mask >> lane & 1;
}

/* Whether strong accesses are strong for each other: each thread is in the scope of the other's. */
static bool in_scope(const em_checks *c, const access_record *then, const access_record *now)
{
    int narrow = (then->flags | now->flags) & (ACCESS_BLOCK | ACCESS_CLUSTER);
    if (!narrow) return true;
    if (then->cluster != now->cluster) return false;
    return !(narrow & ACCESS_BLOCK) || then->id / c->stride == now->id / c->stride;
}

static bool conflict(const em_checks *c, const cluster_order *o, uint32_t id, em_space space,
                     const access_record *then, const access_record *now)
{
    if (!then->time || !(then->mask & now->mask)) return false;
    if (then->flags & ACCESS_REDUNDANT) return false;
    if (then->flags & now->flags & ACCESS_STRONG && in_scope(c, then, now)) return false;
    if (space == EM_SHARED && then->time <= o->began) return false; /* of a block that was here before */
    if (then->cluster == now->cluster && then->id == now->id) return false;
    return !em_order_is_before(c, o, id, then);
}

/* A programmatic launch begins before the one ahead of it has ended. */
static bool depends(const em_checks *c, const cluster_order *o, const access_record *then,
                    const access_record *now)
{
    return c->launch->programmatic && !o->waited && then->time > c->previous_launch &&
           then->time <= c->launch_time && then->mask & now->mask &&
           (then->flags | now->flags) & ACCESS_WRITE;
}

static void report_dependence(em_checks *c, em_warp *w, const em_inst *i, int lane, const access_record *then,
                              const shadow *s, uint64_t at)
{
    char place[200];
    describe(c, w, EM_GLOBAL, s, at, place, sizeof place);
    em_check_find(c, CUTE_CHECK_RACE, "dependent launch", w, i, lane, UINT32_MAX,
                  "race: %s uses %s, which the launch before %s; no griddepcontrol.wait lies between",
                  em_instruction_name(i), place, then->flags & ACCESS_WRITE ? "wrote" : "read");
}

/* What the asynchronous proxy reads and the generic one wrote needs a fence.proxy.async of the writer behind
 * the write, or of the thread that issued the read. */
static bool lacks_proxy_fence(const cluster_order *o, uint32_t id, const access_record *then,
                              const access_record *now)
{
    if (!then->time || !(then->mask & now->mask) || !(now->flags & ACCESS_PROXY) ||
        then->flags & ACCESS_PROXY)
        return false;
    if (then->cluster != now->cluster || then->time <= o->began || then->flags & ACCESS_ASYNC) return false;
    return o->threads[then->id].proxy_fence < then->time && o->threads[id].proxy_fence < then->time;
}

/* A read that is ordered before this one may go: who is behind this one is behind that one as well. */
/* Ordered or not: accesses that go by different ways need more than order. */
static void check_path(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, const shadow *s,
                       uint64_t at, const access_record *before, const access_record *reads,
                       const access_record *now)
{
    const cluster_order *o = cluster_of(c, w);
    bool write = now->flags & ACCESS_WRITE, written = before && before->mask & now->mask;
    const char *name = em_instruction_name(i);
    if (before && space == EM_GLOBAL && depends(c, o, before, now))
        report_dependence(c, w, i, lane, before, s, at);
    for (int n = 0; space == EM_GLOBAL && reads && write && n < s->slots; n++)
        if (depends(c, o, &reads[n], now)) report_dependence(c, w, i, lane, &reads[n], s, at);
    if (write || !written) return;
    bool here = space == EM_GLOBAL && before->time > c->launch_time;
    if (here && em_has(i, EM_M_nc))
        em_check_find(c, CUTE_CHECK_RACE, "read-only", w, i, lane, before->inst,
                      "race: %s.nc reads through the read-only path what the same kernel writes", name);
    if (lacks_proxy_fence(o, thread_id(c, w, lane), before, now))
        em_check_find(
            c, CUTE_CHECK_RACE, "proxy fence", w, i, lane, before->inst,
            "race: %s reads through the asynchronous proxy what was written through the generic one; no "
            "fence.proxy.async lies between",
            name);
    /* Before it is issued a copy reads its tensor map, and nothing else. */
    if (here && !c->machine->completing && em_has(i, EM_M_tensor) && i->opcode == EM_OP_cp &&
        o->map_fence < before->time)
        em_check_find(c, CUTE_CHECK_RACE, "tensor map", w, i, lane, before->inst,
                      "race: %s takes a tensor map that the kernel wrote; no "
                      "fence.proxy.tensormap::generic.acquire lies "
                      "between",
                      name);
}

static void keep_read(const em_checks *c, const cluster_order *o, uint32_t id, access_record *reads,
                      int slots, const access_record *now)
{
    int place = 0, best = 0;
    for (int n = 0; n < slots && best < 4; n++) {
        access_record *r = &reads[n];
        bool own = r->time && r->cluster == now->cluster && r->id == now->id,
             covered = !(r->mask & ~now->mask);
        if (own && r->time == now->time && r->flags == now->flags && r->inst == now->inst) {
            r->mask |= now->mask;
            return;
        }
        int worth = !r->time ? 3 : own && covered ? 4 : 1;
        if (worth > best || (worth == 1 && best == 1 && r->time < reads[place].time)) {
            best = worth;
            place = n;
        }
    }
    for (int n = 0; n < slots && best == 1; n++)
        if (!(reads[n].mask & ~now->mask) && em_order_is_before(c, o, id, &reads[n])) {
            best = 2;
            place = n;
        }
    reads[place] = *now;
}

static bool tables(em_checks *c, shadow *s, bool write)
{
    if (s->too_large) return false;
    size_t count = (size_t)(s->total >> s->granule) + 2;
    if (!s->writes && write) s->writes = calloc(count, sizeof *s->writes);
    if (!s->reads && !write) s->reads = calloc(count * s->slots, sizeof *s->reads);
    if (write ? s->writes != NULL : s->reads != NULL) return true;
    s->too_large = true;
    c->exhausted = true;
    return false;
}

static bool is_strong(const em_inst *i, em_access access)
{
    return access == EM_ATOMIC || em_has(i, EM_M_volatile) || em_has(i, EM_M_relaxed) ||
           em_has(i, EM_M_acquire) || em_has(i, EM_M_release) || em_has(i, EM_M_mmio);
}

/* Whether a st writes what is there already. */
static bool writes_the_same(const em_checks *c, const em_warp *w, const em_inst *i, int lane, em_space space,
                            const shadow *s, uint64_t at, uint64_t bytes)
{
    uint32_t size = em_types[i->type].bytes;
    if (c->machine->completing || lane < 0 || i->opcode != EM_OP_st || em_has(i, EM_M_async)) return false;
    if (!size || size > 8 || bytes != (uint64_t)size * i->memory.vector) return false;
    const uint8_t *there = NULL;
    if (space == EM_SHARED) {
        const em_cluster *cluster = w->block->cluster;
        there = cluster->blocks[s - c->clusters[cluster - c->machine->clusters].shared].shared + at;
    } else {
        const em_allocation *a = em_memory_find(c->launch->memory, s->base + at);
        there = a ? a->host + (s->base + at - a->base) : NULL;
    }
    const em_operand *from = i->o[1].kind == EM_O_VECTOR ? i->o[1].list : &i->o[1];
    for (uint32_t n = 0; there && n < i->memory.vector; n++) {
        uint64_t value = em_get(w, &from[n], lane);
        if (memcmp(there + n * size, &value, size)) return false;
    }
    return there != NULL;
}

static void race_access(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, shadow *s,
                        uint64_t at, uint64_t bytes, em_access access, bool mbarrier)
{
    cluster_order *o = cluster_of(c, w);
    const em_pending *p = c->machine->completing;
    uint32_t id = thread_id(c, w, lane);
    bool write = access != EM_READ,
         proxy = p && (p->kind == EM_P_BULK || p->kind == EM_P_LOAD || p->kind == EM_P_WGMMA);
    access_record now = {
        .time = c->machine->time, .inst = inst_index(c, i), .cluster = o->serial, .id = (uint16_t)id};
    now.flags = (uint8_t)((write ? ACCESS_WRITE : 0) | (access == EM_ATOMIC ? ACCESS_ATOMIC : 0));
    if (p && p->kind != EM_P_MBARRIER) {
        now.time = p->issued;
        bool stored = p->kind == EM_P_BULK && write;
        now.id = (uint16_t)async_id(c, w, stored ? BULK_WRITE_KIND : async_kind(p->kind));
        now.flags |= (uint8_t)(ACCESS_ASYNC | (proxy ? ACCESS_PROXY : 0));
        if (access == EM_ATOMIC && p->kind != EM_P_WGMMA)
            now.flags |= ACCESS_STRONG; /* bulk reductions; mbarriers */
    } else if (is_strong(i, access)) {
        static const uint8_t scopes[SCOPES] = {ACCESS_BLOCK, ACCESS_CLUSTER, 0};
        now.flags |= (uint8_t)(ACCESS_STRONG | (mbarrier ? 0 : scopes[em_scope_of(i)]));
    }
    if (mbarrier) {
        now.flags &= (uint8_t)~ACCESS_PROXY;
        now.flags |= write ? 0 : ACCESS_STRONG;
    }
    if (!tables(c, s, write)) return;
    uint32_t grain = 1u << s->granule;
    for (uint64_t g = at >> s->granule, end = (at + bytes - 1) >> s->granule; g <= end; g++) {
        uint64_t begin = g << s->granule, from = at > begin ? at - begin : 0, to = at + bytes - begin;
        if (to > grain) to = grain;
        now.mask = (uint8_t)(((1u << to) - 1) & ~((1u << from) - 1));
        access_record *before = s->writes ? &s->writes[g] : NULL,
                      *reads = s->reads ? &s->reads[g * s->slots] : NULL;
        uint64_t where = begin + from;
        bool raced = before && conflict(c, o, id, space, before, &now);
        /* Threads that write the same value, or all initialise the same mbarrier, do no harm. */
        if (raced && mbarrier && write && before->inst == now.inst) {
            before->flags |= ACCESS_REDUNDANT;
            continue;
        }
        if (raced && write && before->flags & ACCESS_WRITE &&
            writes_the_same(c, w, i, lane, space, s, at, bytes))
            raced = false;
        if (raced)
            report_race(c, w, i, lane, before, &now, space, s, where);
        else
            check_path(c, w, i, lane, space, s, where, before, reads, &now);
        if (!write) {
            keep_read(c, o, id, reads, s->slots, &now);
            continue;
        }
        for (int n = 0; reads && n < s->slots; n++)
            if (conflict(c, o, id, space, &reads[n], &now) &&
                !read_before_exchange(c, o, w, lane, &reads[n])) {
                report_race(c, w, i, lane, &reads[n], &now, space, s, where);
                break;
            }
        for (int n = 0; reads && n < s->slots; n++)
            if ((reads[n].mask &= (uint8_t)~now.mask) == 0) reads[n].time = 0;
        *before = now;
    }
}

/* ---- mbarriers ---- */

void em_shadow_mbarrier(em_checks *c, em_warp *w, const em_inst *i, int lane, uint32_t address, bool valid)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t rank = address >> EM_RANK_SHIFT,
             at = (address & ((1u << EM_RANK_SHIFT) - 1)) - EM_SHARED_RESERVED;
    shadow *s = &o->shared[rank < w->block->cluster->count ? rank : 0];
    if (at >= s->total) return;
    if (!s->mbarriers) s->mbarriers = calloc((size_t)s->total / 64 + 1, 1);
    if (!s->mbarriers) {
        c->exhausted = true;
        return;
    }
    uint8_t *bits = &s->mbarriers[at / 64], bit = (uint8_t)(1u << at / 8 % 8);
    const mbarrier_order *known = valid && *bits & bit ? em_order_mbarrier(c, o, address, false) : NULL;
    /* Several threads that initialise it at the same place do no harm. */
    if (known && known->init_inst && (known->init_inst != i || known->init_id == thread_id(c, w, lane)) &&
        c->which & CUTE_CHECK_BARRIER)
        em_check_find(
            c, CUTE_CHECK_BARRIER, "init", w, i, lane, inst_index(c, known->init_inst),
            "barrier: the mbarrier at shared address 0x%x is initialised again; no mbarrier.inval lies "
            "between",
            address);
    *bits = (uint8_t)(valid ? *bits | bit : *bits & ~bit);
}

bool em_shadow_is_mbarrier(const em_checks *c, const em_warp *w, uint32_t address)
{
    const shadow *s = &cluster_of(c, w)->shared[address >> EM_RANK_SHIFT];
    uint32_t at = (address & ((1u << EM_RANK_SHIFT) - 1)) - EM_SHARED_RESERVED;
    return s->mbarriers && at < s->total && s->mbarriers[at / 64] >> at / 8 % 8 & 1;
}

/* What is written there is no mbarrier any more. */
static void overwrites_mbarrier(em_checks *c, em_warp *w, const em_inst *i, int lane, shadow *s,
                                uint32_t address, uint64_t at, uint64_t bytes)
{
    for (uint64_t n = at / 8; n <= (at + bytes - 1) / 8; n++) {
        if (!(s->mbarriers[n / 8] >> n % 8 & 1)) continue;
        s->mbarriers[n / 8] &= (uint8_t)~(1u << n % 8);
        uint32_t place = address - (uint32_t)at + (uint32_t)n * 8;
        const mbarrier_order *known = em_order_mbarrier(c, cluster_of(c, w), place, false);
        if (c->which & CUTE_CHECK_BARRIER)
            em_check_find(
                c, CUTE_CHECK_BARRIER, "overwritten", w, i, lane,
                known && known->init_inst ? inst_index(c, known->init_inst) : UINT32_MAX,
                "barrier: %s overwrites the mbarrier at shared address 0x%x; no mbarrier.inval lies between",
                em_instruction_name(i), place);
    }
}

/* ---- accesses ---- */

static void uninit_access(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, shadow *s,
                          uint64_t at, uint64_t bytes, em_access access)
{
    char place[200];
    if (access != EM_WRITE) {
        uint64_t n = first_unwritten(s, at, bytes), undefined = 0;
        for (uint64_t k = n; k < bytes && bytes <= 64; k++)
            undefined |= (uint64_t)!(s->written[(at + k) >> 3] >> ((at + k) & 7) & 1) << k;
        uint64_t rank = space == EM_GLOBAL ? 0 : (uint64_t)(s - cluster_of(c, w)->shared);
        uint64_t address =
            space == EM_GLOBAL ? s->base + at : at + EM_SHARED_RESERVED + (rank << EM_RANK_SHIFT);
        bool taken = n < bytes && (access == EM_READ || em_has(i, EM_M_exch)) &&
                     em_registers_load(c, w, i, lane, space, address, undefined);
        if (taken && access == EM_READ) return;
        if (n < bytes && !taken) {
            describe(c, w, space, s, at + n, place, sizeof place);
            em_check_find(c, CUTE_CHECK_UNINIT, access == EM_READ ? "read" : "update", w, i, lane, UINT32_MAX,
                          "uninitialised: %s %s %s, which nothing wrote before", em_instruction_name(i),
                          access == EM_READ ? "reads" : "updates", place);
            /* Once is enough. */
            if (access == EM_READ) return;
        }
    }
    if (access == EM_READ) return;
    uint64_t undefined = em_registers_store(c, w, i, lane, space == EM_GLOBAL);
    em_shadow_write(s, at, bytes, true);
    for (uint64_t n = 0; undefined >> n && n < 64; n++)
        if (undefined >> n & 1) em_shadow_write(s, at + n, 1, false);
}

void em_shadow_access(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                      uint32_t bytes, em_access access, bool mbarrier)
{
    shadow *s;
    uint64_t at;
    if (space == EM_SHARED) {
        uint32_t rank = (uint32_t)(address >> EM_RANK_SHIFT & 0xff);
        at = address & ((1u << EM_RANK_SHIFT) - 1);
        if (address >> 32 || rank >= w->block->cluster->count) return;
        if (at < EM_SHARED_RESERVED) { /* barriers of cooperative groups lie there */
            if (c->which & CUTE_CHECK_RACE && is_strong(i, access))
                em_order_flag(c, w, i, lane, address | UINT64_C(1) << 31, access);
            return;
        }
        s = &cluster_of(c, w)->shared[rank];
        const em_pending *p = c->machine->completing;
        s->shared_use |= rank != w->block->rank || (p && async_kind(p->kind));
        at -= EM_SHARED_RESERVED;
    } else {
        space = EM_GLOBAL;
        s = region_of(c, address);
        if (!s) return;
        at = address - s->base;
    }
    if (!bytes || at > s->total || bytes > s->total - at) return; /* a fault comes */
    if (space == EM_GLOBAL && at + bytes > s->size && c->which & CUTE_CHECK_MEMORY) {
        em_check_find(c, CUTE_CHECK_MEMORY, access == EM_READ ? "read" : "write", w, i, lane, UINT32_MAX,
                      "out of bounds: %s %s %u bytes at byte %llu of %s, which has %llu",
                      em_instruction_name(i), access == EM_READ ? "reads" : "writes", bytes,
                      (unsigned long long)at, s->name ? s->name : "a buffer", (unsigned long long)s->size);
        return;
    }
    if (space == EM_SHARED && access != EM_READ && !mbarrier) {
        if (s->mbarriers) overwrites_mbarrier(c, w, i, lane, s, (uint32_t)address, at, bytes);
        if (c->which & CUTE_CHECK_SWIZZLE) em_tiles_write(c, i, s, at, bytes);
    }
    if (c->which & CUTE_CHECK_UNINIT) uninit_access(c, w, i, lane, space, s, at, bytes, access);
    if (!(c->which & CUTE_CHECK_RACE)) return;
    if (is_strong(i, access) && !c->machine->completing && !mbarrier)
        em_order_flag(c, w, i, lane, space == EM_SHARED ? address | UINT64_C(1) << 31 : address, access);
    race_access(c, w, i, lane, space, s, at, bytes, access, mbarrier);
}

/* ---- the ends of blocks ---- */

static void used_until_the_end(em_checks *c, em_warp *w, const uint32_t *known, const access_record *then)
{
    cluster_order *o = cluster_of(c, w);
    uint32_t rank = then->id / c->stride, in_block = then->id % c->stride,
             threads = w->block->warp_count * EM_LANES;
    bool own = rank == w->block->rank, late = in_block >= threads && (in_block - threads) % ASYNC_KINDS;
    if (then->time <= o->began || then->cluster != o->serial || then->time <= known[then->id]) return;
    if (own && !late) return;
    const em_inst *i = &c->machine->code[then->inst];
    const char *verb = then->flags & ACCESS_WRITE ? "writes" : "reads";
    em_warp *who = &w->block->cluster->blocks[rank]
                        .warps[in_block < threads ? in_block / EM_LANES : (in_block - threads) / ASYNC_KINDS];
    int lane = in_block < threads ? (int)(in_block % EM_LANES) : -1;
    if (own)
        em_check_find(c, CUTE_CHECK_RACE, "end", who, i, lane, UINT32_MAX,
                      "race: %s %s shared memory of its block, which may have ended; nothing waits for that",
                      em_instruction_name(i), verb);
    else
        em_check_find(
            c, CUTE_CHECK_RACE, "end", who, i, lane, UINT32_MAX,
            "race: %s %s shared memory of block %u of the cluster, which may have ended; nothing orders "
            "the block's end behind that",
            em_instruction_name(i), verb, w->block->rank);
}

void em_shadow_end_block(em_checks *c, em_warp *w)
{
    cluster_order *o = cluster_of(c, w);
    shadow *s = &o->shared[w->block->rank];
    if (!s->shared_use || !(c->which & CUTE_CHECK_RACE)) return;
    /* Its memory lives as long as any of its threads. */
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
