/* Shadow memory: the state of each byte of shared and global memory, for the parts that observe accesses.
 * Owns the list of buffers and finds the one that contains an address. */
#include "lib/checks/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/list.h"

enum { LARGE_REGION = 64 << 20, GLOBAL_GRANULE = 2 };
#define LARGEST_REGION (UINT64_C(1) << 30)

static bool em_shadow_make(shadow *s, uint64_t base, uint64_t total, bool written, uint8_t granule)
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
    free(s->write_lines);
    free(s->read_lines);
    free(s->split);
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

/* For a block that starts. */
static void reset_shadow(shadow *s)
{
    em_shadow_write(s, 0, s->total, false);
    if (s->mbarriers) memset(s->mbarriers, 0, s->total / 64 + 1);
    if (s->pieces) memset(s->pieces, 0, (s->total / 16 + 1) * sizeof *s->pieces);
    s->shared_use = false;
}

/* ---- buffers ---- */

void em_checks_remove_buffer(em_checks *c, uint64_t base)
{
    c->last_region = NULL;
    for (size_t n = 0; n < c->region_count; n++) {
        if (c->regions[n].base != base) continue;
        em_shadow_release(&c->regions[n]);
        memmove(&c->regions[n], &c->regions[n + 1], (c->region_count - n - 1) * sizeof *c->regions);
        c->region_count--;
        return;
    }
}

bool em_checks_add_buffer(em_checks *c, uint64_t base, uint64_t total, uint64_t size, const char *name,
                          bool written)
{
    shadow made;
    em_checks_remove_buffer(c, base);
    if (!cute_heap_more(&c->regions, c->region_count, &c->region_capacity, sizeof *c->regions, 32))
        return false;
    if (!em_shadow_make(&made, base, total, written || !(c->which & CUTE_CHECK_UNINIT), 2)) return false;
    made.size = size < total ? size : total;
    if (name) {
        size_t length = strlen(name) + 1;
        made.name = malloc(length);
        if (made.name) memcpy(made.name, name, length);
    }
    size_t at = c->region_count++;
    for (; at > 0 && c->regions[at - 1].base > base; at--) c->regions[at] = c->regions[at - 1];
    c->regions[at] = made;
    return true;
}

void em_checks_host_wrote(em_checks *c, uint64_t base, uint64_t size)
{
    for (size_t n = 0; n < c->region_count; n++) {
        shadow *s = &c->regions[n];
        if (base - s->base < s->total) em_shadow_write(s, base - s->base, size, true);
    }
}

/* ---- lookup ---- */

static shadow *find_region(em_checks *c, uint64_t address)
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
    /* Memory allocated by the kernel starts uninitialised; variables and older allocations do not. */
    if (!a || !em_checks_add_buffer(c, a->base, a->size, a->size, a->name, a->base < c->heap)) return NULL;
    return find_region(c, address);
}

/* "shared array 'tile' at offset 12" or "buffer C at byte 12". */
void em_shadow_place(const em_checks *c, const em_warp *w, em_space space, const shadow *s, uint64_t at,
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
    const em_variable *found = NULL;
    int64_t from = 0;
    for (size_t n = 0; n < program->reloc_count; n++) {
        const em_variable *v = program->relocs[n].variable;
        int64_t begin;
        if (v->space != EM_SHARED || !em_shared_offset(c->launch->kernel, v, &begin)) continue;
        if ((int64_t)at < begin || (!v->dynamic && (int64_t)at >= begin + v->size)) continue;
        found = v;
        from = begin;
    }
    const cluster_state *o = cluster_of(c, w);
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
    shadow *s = space == EM_GLOBAL                ? find_region(c, address)
                : rank < w->block->cluster->count ? &cluster_of(c, w)->shared[rank]
                                                  : NULL;
    if (!s)
        snprintf(out, size, "memory at 0x%llx", (unsigned long long)address);
    else if (space == EM_GLOBAL)
        em_shadow_place(c, w, space, s, address - s->base, out, size);
    else
        em_shadow_place(c, w, space, s, (address & ((1u << EM_RANK_SHIFT) - 1)) - EM_SHARED_RESERVED, out,
                        size);
}

bool em_shadow_locate(em_checks *c, memory_access *a)
{
    if (!c->shadows || a->space == EM_LOCAL) return true;
    if (a->space == EM_GLOBAL) {
        a->shadow = find_region(c, a->address);
        if (!a->shadow) return false;
        a->at = a->address - a->shadow->base;
    } else {
        uint32_t rank = (uint32_t)(a->address >> EM_RANK_SHIFT & 0xff);
        uint64_t at = a->address & ((1u << EM_RANK_SHIFT) - 1);
        if (a->address >> 32 || rank >= a->warp->block->cluster->count) return false;
        if (at < EM_SHARED_RESERVED) return true; /* barriers of cooperative groups */
        a->shadow = &cluster_of(c, a->warp)->shared[rank];
        a->at = at - EM_SHARED_RESERVED;
    }
    return a->at <= a->shadow->total && a->bytes <= a->shadow->total - a->at;
}

/* ---- the part: shared memory of the blocks ---- */

static bool shadow_memory_grow(em_checks *c, uint32_t places)
{
    bool watch = c->which & CUTE_CHECK_UNINIT;
    for (uint32_t n = c->cluster_count; n < places; n++) {
        const em_cluster *cluster = &c->machine->clusters[n];
        for (uint32_t r = 0; r < cluster->count; r++)
            if (!em_shadow_make(&c->clusters[n].shared[r], 0, cluster->blocks[r].shared_size, !watch, 2))
                return false;
    }
    return true;
}

static void shadow_memory_end(em_checks *c)
{
    for (uint32_t n = 0; c->clusters && n < c->cluster_room; n++)
        for (uint32_t r = 0; c->clusters[n].shared && r < c->entries / c->stride; r++)
            em_shadow_release(&c->clusters[n].shared[r]);
    c->last_region = NULL;
}

static void shadow_memory_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                                uint64_t a, uint64_t b)
{
    (void)event, (void)i, (void)mask, (void)a, (void)b;
    for (uint32_t r = 0; r < w->block->cluster->count; r++) reset_shadow(&cluster_of(c, w)->shared[r]);
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_shadow_memory = {.needs = needs,
                                       .events = EVENT(BEGIN),
                                       .grow = shadow_memory_grow,
                                       .end = shadow_memory_end,
                                       .event = shadow_memory_event};
