/* Memory: allocations, addresses in each space, loads and stores. Every access is checked for bounds and
 * alignment. */
#include "lib/emulator/program/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "lib/base/list.h"
#include "lib/emulator/instructions/lanes.h"

#define FIRST_ADDRESS UINT64_C(0x0000700000000000)
enum { GUARD = 4096, ALLOC_ALIGN = 512, HUGE_PAGE = 1 << 21, PATTERN = 0xa5 };

/* ---- allocations ---- */

bool em_memory_add(em_memory *m, const em_allocation *a)
{
    if (!cute_heap_more(&m->list, m->count, &m->capacity, sizeof *m->list, 32)) return false;
    size_t at = m->count++;
    for (; at > 0 && m->list[at - 1].base > a->base; at--) m->list[at] = m->list[at - 1];
    m->list[at] = *a;
    return true;
}

bool em_memory_alloc(em_memory *m, uint64_t size, uint64_t *out)
{
    uint64_t space = size ? size : 1;
    if (space > UINT64_C(1) << 40) return false;
    if (!m->next) m->next = FIRST_ADDRESS;
    em_allocation a = {.base = m->next, .size = space, .owned = true, .device = m->device};
    uint64_t align = space < HUGE_PAGE ? ALLOC_ALIGN : HUGE_PAGE;
    a.host = aligned_alloc(align, (space + align - 1) / align * align);
    if (!a.host) return false;
    /* tiles access rows that are pages apart */
    if (align == HUGE_PAGE) madvise(a.host, space, MADV_HUGEPAGE);
    memset(a.host, PATTERN, space);
    if (!em_memory_add(m, &a)) {
        free(a.host);
        return false;
    }
    m->next += (space + GUARD + ALLOC_ALIGN - 1) / ALLOC_ALIGN * ALLOC_ALIGN;
    *out = a.base;
    return true;
}

bool em_memory_free(em_memory *m, uint64_t base)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->list[i].base == base) {
            if (m->list[i].owned) free(m->list[i].host);
            size_t slot = m->freed_count++ % (sizeof m->freed / sizeof *m->freed);
            m->freed[slot].base = base;
            m->freed[slot].size = m->list[i].size;
            memmove(&m->list[i], &m->list[i + 1], (m->count - i - 1) * sizeof *m->list);
            m->count--;
            return true;
        }
    return false;
}

bool em_memory_was_freed(const em_memory *m, uint64_t address, uint64_t *base, uint64_t *size)
{
    for (size_t n = 0; n < m->freed_count && n < sizeof m->freed / sizeof *m->freed; n++) {
        if (address - m->freed[n].base >= m->freed[n].size) continue;
        *base = m->freed[n].base;
        *size = m->freed[n].size;
        return true;
    }
    return false;
}

void em_memory_release(em_memory *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->list[i].owned) free(m->list[i].host);
    free(m->list);
    *m = (em_memory){0};
}

const em_allocation *em_memory_find(const em_memory *m, uint64_t address)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->list[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const em_allocation *a = &m->list[low - 1];
    return address - a->base < a->size ? a : NULL;
}

bool em_memory_overlaps(const em_memory *m, uint64_t base, uint64_t size)
{
    static const uint64_t windows[] = {EM_SHARED_WINDOW, EM_LOCAL_WINDOW, EM_PARAM_WINDOW};
    if (size > UINT64_MAX - base) return true;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (base < windows[i] + EM_WINDOW_SIZE && windows[i] < base + size) return true;
    for (size_t i = 0; i < m->count; i++)
        if (base < m->list[i].base + m->list[i].size && m->list[i].base < base + size) return true;
    return false;
}

/* ---- addresses ---- */

static const char *access_name(em_access access)
{
    return access == EM_READ ? "reads" : access == EM_WRITE ? "writes" : "updates";
}

/* Reports the access relative to the nearest allocation. */
static void fail_global_access(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t bytes,
                               em_access access)
{
    const em_memory *m = w->machine->launch->memory;
    const em_allocation *below = NULL, *above = NULL;
    uint64_t base, size;
    if (em_memory_was_freed(m, address, &base, &size)) {
        em_fault(w, i, lane, "%s %s %u bytes at byte %llu of a freed allocation of %llu bytes",
                 em_instruction_name(i), access_name(access), bytes, (unsigned long long)(address - base),
                 (unsigned long long)size);
        return;
    }
    for (size_t n = 0; n < m->count; n++) {
        if (m->list[n].base <= address)
            below = &m->list[n];
        else if (!above)
            above = &m->list[n];
    }
    uint64_t past = below ? address - (below->base + below->size) : UINT64_MAX;
    if (below && address - below->base < below->size) past = 0;
    uint64_t before = above ? above->base - address : UINT64_MAX;
    const em_allocation *near = past <= before ? below : above;
    char what[128] = "";
    if (near && near->name)
        snprintf(what, sizeof what, "variable '%s'", near->name);
    else if (near)
        snprintf(what, sizeof what, "the allocation");
    uint64_t distance = past <= before ? past : before;
    if (!near || distance > UINT64_C(1) << 30)
        em_fault(w, i, lane, "%s %s %u bytes at address 0x%llx, outside all allocations",
                 em_instruction_name(i), access_name(access), bytes, (unsigned long long)address);
    else if (past == 0 && address - near->base < near->size)
        em_fault(w, i, lane,
                 "%s %s %u bytes at address 0x%llx, %llu of them past the end of %s of %llu bytes",
                 em_instruction_name(i), access_name(access), bytes, (unsigned long long)address,
                 (unsigned long long)(address + bytes - near->base - near->size), what,
                 (unsigned long long)near->size);
    else
        em_fault(w, i, lane, "%s %s %u bytes at address 0x%llx, %llu bytes %s %s of %llu bytes",
                 em_instruction_name(i), access_name(access), bytes, (unsigned long long)address,
                 (unsigned long long)distance, past <= before ? "past the end of" : "before", what,
                 (unsigned long long)near->size);
}

static uint8_t *locate_global(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t bytes,
                              em_access access)
{
    em_allocation *last = &w->last;
    if (address - last->base >= last->size || bytes > last->size - (address - last->base)) {
        const em_allocation *found = em_memory_find(w->machine->launch->memory, address);
        if (!found || bytes > found->size - (address - found->base)) {
            fail_global_access(w, i, lane, address, bytes, access);
            return NULL;
        }
        *last = *found;
    }
    if (last->read_only && access != EM_READ) {
        em_fault(w, i, lane, "%s writes to the constant '%s'", em_instruction_name(i),
                 last->name ? last->name : "?");
        return NULL;
    }
    return last->host + (address - last->base);
}

bool em_shared_ended(const em_warp *w, uint64_t address)
{
    uint64_t rank = address >> EM_RANK_SHIFT;
    const em_cluster *cluster = w->block->cluster;
    return rank < cluster->count && !cluster->blocks[rank].alive;
}

static uint8_t *locate_shared(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t bytes,
                              em_access access)
{
    uint32_t rank = (uint32_t)(address >> EM_RANK_SHIFT & 0xff),
             at = (uint32_t)(address & ((1u << EM_RANK_SHIFT) - 1));
    em_cluster *cluster = w->block->cluster;
    if (address >> 32 == 0 && rank < cluster->count && at >= EM_SHARED_RESERVED) {
        em_block *b = &cluster->blocks[rank];
        at -= EM_SHARED_RESERVED;
        if (at <= b->shared_size && bytes <= b->shared_size - at) {
            if (!b->alive && !em_is_dropped(i)) {
                em_fault(w, i, lane, "%s %s shared memory of block %u of the cluster, which has exited",
                         em_instruction_name(i), access_name(access), rank);
                return NULL;
            }
            return b->shared + at;
        }
    }
    if (address >= EM_SCRATCH && address + bytes <= EM_SHARED_RESERVED && w->machine->program->scratch)
        return w->block->scratch + (address - EM_SCRATCH);
    em_fault(w, i, lane, "%s %s %u bytes of shared memory at 0x%llx, outside the block's range 0x%x to 0x%x",
             em_instruction_name(i), access_name(access), bytes, (unsigned long long)address,
             EM_SHARED_RESERVED + (w->block->rank << EM_RANK_SHIFT),
             EM_SHARED_RESERVED + (w->block->rank << EM_RANK_SHIFT) + w->block->shared_size);
    return NULL;
}

static uint8_t *locate_local(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t bytes,
                             em_access access)
{
    if (address < (uint64_t)w->local_size && bytes <= (uint64_t)w->local_size - address)
        return w->local + (size_t)lane * (size_t)w->local_size + address;
    em_fault(w, i, lane, "%s %s %u bytes of local memory at 0x%llx, outside the thread's %lld bytes",
             em_instruction_name(i), access_name(access), bytes, (unsigned long long)address,
             (long long)w->local_size);
    return NULL;
}

static uint8_t *locate_param(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t bytes,
                             em_access access)
{
    uint64_t size = (uint64_t)w->machine->launch->kernel->param_bytes;
    if (access == EM_READ && address < size && bytes <= size - address)
        return (uint8_t *)(uintptr_t)em_params_of(w) + address;
    const em_function *kernel = w->machine->launch->kernel;
    for (size_t n = 0; access != EM_READ && n < kernel->param_count; n++) {
        const em_variable *v = kernel->params[n];
        if (address - (uint64_t)v->offset >= (uint64_t)v->size) continue;
        em_fault(w, i, lane, "%s writes to the kernel's parameter '%s', which is read-only",
                 em_instruction_name(i), v->name);
        return NULL;
    }
    em_fault(w, i, lane, "%s %s %u bytes at offset %llu of the parameters, which have %llu bytes",
             em_instruction_name(i), access_name(access), bytes, (unsigned long long)address,
             (unsigned long long)size);
    return NULL;
}

uint8_t *em_locate(em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address, uint32_t bytes,
                   em_access access)
{
    if (space == EM_GENERIC) {
        uint64_t window = address & ~(EM_WINDOW_SIZE - 1);
        if (window == EM_SHARED_WINDOW) {
            space = EM_SHARED;
            address -= window;
        } else if (window == EM_LOCAL_WINDOW) {
            space = EM_LOCAL;
            address -= window;
        } else if (window == EM_PARAM_WINDOW) {
            space = EM_PARAM;
            address -= window;
        } else {
            space = EM_GLOBAL;
        }
    }
    const em_hooks *hooks = &w->machine->launch->hooks;
    if (hooks->access) hooks->access(hooks->context, w, i, lane, space, address, bytes, access);
    switch (space) {
    case EM_SHARED: return locate_shared(w, i, lane, address, bytes, access);
    case EM_LOCAL: return locate_local(w, i, lane, address, bytes, access);
    case EM_PARAM: return locate_param(w, i, lane, address, bytes, access);
    default: return locate_global(w, i, lane, address, bytes, access);
    }
}

bool em_shared_address(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t *out)
{
    if ((address & ~(EM_WINDOW_SIZE - 1)) == EM_SHARED_WINDOW) address -= EM_SHARED_WINDOW;
    if (address >> 32) {
        em_fault(w, i, lane, "%s expects a shared-memory address, got 0x%llx", em_instruction_name(i),
                 (unsigned long long)address);
        return false;
    }
    *out = (uint32_t)address;
    return true;
}

/* ---- ld, st ---- */

static cute_status fail_misaligned(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t bytes)
{
    em_fault(w, i, lane, "misaligned %s of %u bytes: address 0x%llx, alignment %u", em_instruction_name(i),
             bytes, (unsigned long long)address, bytes);
    return CUTE_INVALID;
}

/* Counts generic accesses in the space of each lane's address. */
static void count_generic(em_warp *w, const em_inst *i, const em_operand *o, bool store, uint32_t bytes,
                          uint32_t mask)
{
    static const struct {
        uint64_t window;
        em_space space;
    } windows[] = {{EM_SHARED_WINDOW, EM_SHARED}, {EM_LOCAL_WINDOW, EM_LOCAL}, {EM_PARAM_WINDOW, EM_PARAM}};
    uint32_t rest = em_lanes_in(mask);
    const uint64_t *a = em_r64(w, &o->list[0]);
    for (int n = 0; n < 3 && o->list[0].bytes == 8; n++) {
        uint32_t lanes = 0;
        EM_EACH(mask, lanes += ((a[l] + (uint64_t)o->offset) & ~(EM_WINDOW_SIZE - 1)) == windows[n].window);
        if (!lanes) continue;
        em_count_bytes(w->machine, i, windows[n].space, store, (uint64_t)bytes * lanes);
        rest -= lanes;
    }
    em_count_bytes(w->machine, i, EM_GLOBAL, store, (uint64_t)bytes * rest);
}

static inline void count_memory_access(em_warp *w, const em_inst *i, const em_operand *o, bool store,
                                       uint32_t bytes, uint32_t mask)
{
    if (i->space == EM_GENERIC)
        count_generic(w, i, o, store, bytes, mask);
    else
        em_count_bytes(w->machine, i, (em_space)i->space, store, (uint64_t)bytes * em_lanes_in(mask));
}

void em_count_access(em_warp *w, const em_inst *i, const em_operand *o, bool store, uint32_t bytes,
                     uint32_t mask)
{
    count_memory_access(w, i, o, store, bytes, mask);
}

/* Writes a value to a register that may be wider. */
static inline void put_lane(const em_warp *w, const em_operand *o, int lane, const uint8_t *from,
                            uint32_t bytes, bool sign)
{
    uint64_t value = 0;
    if (bytes == 16) {
        if (o->kind == EM_O_VALUE) memcpy(w->base[0] + o->at + lane * 16, from, 16);
        return;
    }
    switch (bytes) {
    case 1: value = sign ? (uint64_t)(int8_t)*from : *from; break;
    case 2: {
        uint16_t v;
        memcpy(&v, from, 2);
        value = sign ? (uint64_t)(int16_t)v : v;
        break;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, from, 4);
        value = sign ? (uint64_t)(int32_t)v : v;
        break;
    }
    default: memcpy(&value, from, 8); break;
    }
    em_set(w, o, lane, value);
}

static inline void take_lane(const em_warp *w, const em_operand *o, int lane, uint8_t *to, uint32_t bytes)
{
    if (bytes == 16) {
        memcpy(to, w->base[o->base] + o->at + lane * 16, 16);
        return;
    }
    uint64_t value = em_get(w, o, lane);
    memcpy(to, &value, bytes);
}

typedef struct memory_area {
    uint64_t base, size;
    uint8_t *host;
} memory_area;

/* in_area for 32 lanes in 32 bits, as exact as 64 bits if `first` + `most` does not overflow. Vectorised only
 * if the compiler sees that the arrays do not overlap. */
static __attribute__((noinline)) bool all_in_area(const uint32_t *restrict addresses,
                                                  uint32_t *restrict offsets, uint32_t first, uint32_t base,
                                                  uint32_t most, uint32_t low)
{
    uint32_t wrong = 0;
    for (int l = 0; l < EM_LANES; l++) {
        uint32_t at = addresses[l] - first;
        wrong |= (at > most) | ((at + base) & low);
        offsets[l] = at;
    }
    return !wrong;
}

/* Whether all lanes are within the area and aligned. `offsets` are relative to it. */
static inline __attribute__((always_inline)) bool lanes_in_area(const em_warp *w, const em_operand *memory,
                                                                uint32_t mask, uint32_t total,
                                                                const memory_area *in,
                                                                uint32_t offsets[EM_LANES])
{
    uint64_t base = in->base, offset = (uint64_t)memory->offset, bad = 0;
    const em_operand *o = &memory->list[0];
    if (in->size < total || in->size > UINT32_MAX) return false;
    uint64_t most = in->size - total;
    base -= offset;
    if (o->bytes == 8) {
        const uint64_t *a = em_r64(w, o);
        EM_EACH(mask, {
            uint64_t at = a[l] - base;
            bad |= (uint64_t)(at > most) | ((a[l] + offset) & (total - 1));
            offsets[l] = (uint32_t)at;
        });
    } else if (mask == UINT32_MAX && base <= UINT32_MAX - most) {
        return all_in_area(em_r32(w, o), offsets, (uint32_t)base, (uint32_t)in->base, (uint32_t)most,
                           total - 1);
    } else {
        const uint32_t *a = em_r32(w, o);
        if (base >> 32 && base >> 32 != UINT32_MAX) return false;
        EM_EACH(mask, {
            uint64_t at = a[l] - base;
            bad |= (uint64_t)(at > most) | ((a[l] + offset) & (total - 1));
            offsets[l] = (uint32_t)at;
        });
    }
    return !bad;
}

/* Makes the first lane's allocation the most recent one; false: it already is, none exists, or not all lanes
 * are in it. */
static __attribute__((noinline)) bool in_other_area(em_warp *w, const em_operand *memory, uint32_t mask,
                                                    uint32_t total, memory_area *in,
                                                    uint32_t offsets[EM_LANES])
{
    uint64_t address = em_address(w, memory, __builtin_ctz(mask)), window = address & ~(EM_WINDOW_SIZE - 1);
    if (window == EM_SHARED_WINDOW || window == EM_LOCAL_WINDOW || address - w->last.base < w->last.size)
        return false;
    const em_allocation *found = em_memory_find(w->machine->launch->memory, address);
    if (!found) return false;
    w->last = *found;
    *in = (memory_area){w->last.base, w->last.size, w->last.host};
    return lanes_in_area(w, memory, mask, total, in, offsets);
}

static __attribute__((noinline)) bool tell_row(em_warp *w, const em_inst *i, uint32_t mask, uint32_t total,
                                               bool store, uint64_t base, const uint32_t offsets[EM_LANES])
{
    const em_hooks *hooks = &w->machine->launch->hooks;
    em_space space = i->space == EM_SHARED ? EM_SHARED : EM_GLOBAL;
    em_warp_access row = {w, i, mask, total, space, store ? EM_WRITE : EM_READ, base, offsets};
    return hooks->row && hooks->row(hooks->context, &row);
}

/* The common case: all lanes aligned within one area. `offsets` are relative to *host; false: check each
 * lane. */
static inline __attribute__((always_inline)) bool
lanes_in_one_area(em_warp *w, const em_inst *i, const em_operand *memory, uint32_t mask, uint32_t total,
                  bool store, uint8_t **host, uint32_t offsets[EM_LANES])
{
    const em_hooks *hooks = &w->machine->launch->hooks;
    bool shared = i->space == EM_SHARED;
    memory_area in = {w->last.base, w->last.size, w->last.host};
    if (hooks->access && !hooks->row) return false;
    if (shared)
        in = (memory_area){((uint64_t)w->block->rank << EM_RANK_SHIFT) + EM_SHARED_RESERVED,
                           w->block->shared_size, w->block->shared};
    else if (i->space != EM_GLOBAL && i->space != EM_GENERIC)
        return false;
    if (!lanes_in_area(w, memory, mask, total, &in, offsets) &&
        (shared || !in_other_area(w, memory, mask, total, &in, offsets)))
        return false;
    if (!shared && store && w->last.read_only) return false;
    *host = in.host;
    return !hooks->access || tell_row(w, i, mask, total, store, in.base, offsets);
}

/* Strong accesses order host threads: later accesses follow an acquiring load, earlier ones precede a
 * releasing store. 16 bytes are one access, as on hardware; decoupled look-back relies on it. */
static void before_store(const em_warp *w, const em_inst *i)
{
    if (i->memory.strong && w->machine->parallel) atomic_thread_fence(memory_order_seq_cst);
}
static void after_load(const em_warp *w, const em_inst *i)
{
    if (i->memory.strong && w->machine->parallel) atomic_thread_fence(memory_order_seq_cst);
}
static bool is_single_access(const em_warp *w, const em_inst *i, uint32_t total)
{
    return i->memory.strong && total == 16 && w->machine->parallel && i->space != EM_SHARED;
}
static void move_whole(void *to, const void *from)
{
#ifdef __SSE2__
    __m128i v = _mm_load_si128(from); /* a single access with AVX */
    _mm_store_si128(to, v);
#else
    memcpy(to, from, 16);
#endif
}

static void run_load(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t bytes = ptx_types[i->type].bytes, total = bytes * i->memory.vector;
    bool sign = ptx_types[i->type].kind == PTX_SIGNED;
    const em_operand *d = i->o[0].kind == EM_O_VECTOR ? i->o[0].list : &i->o[0];
    count_memory_access(w, i, &i->o[1], false, total, mask);
    bool plain = bytes == 4 && i->memory.vector == 1 && d->bytes == 4;
    uint32_t *lanes = em_r32(w, d), offsets[EM_LANES];
    uint8_t *area;
    bool whole = is_single_access(w, i, total);
    if (!whole && !i->memory.used && lanes_in_one_area(w, i, &i->o[1], mask, total, false, &area, offsets)) {
        if (plain) {
            EM_EACH(mask, memcpy(&lanes[l], area + offsets[l], 4));
            after_load(w, i);
            return;
        }
        for (uint32_t v = 0; v < i->memory.vector; v++) {
            const uint8_t *from = area + v * bytes;
            if (d[v].kind == EM_O_NONE) continue;
            if (bytes == 4 && d[v].bytes == 4) {
                uint32_t *r = em_r32(w, &d[v]);
                EM_EACH(mask, memcpy(&r[l], from + offsets[l], 4));
            } else {
                EM_EACH(mask, put_lane(w, &d[v], l, from + offsets[l], bytes, sign));
            }
        }
        after_load(w, i);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t address = em_address(w, &i->o[1], l);
        if (address & (total - 1)) {
            fail_misaligned(w, i, l, address, total);
            return;
        }
        uint32_t used = i->memory.used ? i->memory.used : total;
        const uint8_t *from = em_locate(w, i, l, (em_space)i->space, address, used, EM_READ);
        if (!from) return;
        if (plain && used == total) {
            memcpy(&lanes[l], from, 4);
            continue;
        }
        _Alignas(16) uint8_t copy[64] = {0};
        if (used < total) {
            memcpy(copy, from, used);
            from = copy;
        } else if (whole) {
            move_whole(copy, from);
            from = copy;
        }
        for (uint32_t v = 0; v < i->memory.vector; v++)
            if (d[v].kind != EM_O_NONE) put_lane(w, &d[v], l, from + v * bytes, bytes, sign);
    }
    after_load(w, i);
}

static void run_store(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t bytes = ptx_types[i->type].bytes, total = bytes * i->memory.vector;
    const em_operand *s = i->o[1].kind == EM_O_VECTOR ? i->o[1].list : &i->o[1];
    count_memory_access(w, i, &i->o[0], true, total, mask);
    if (i->space == EM_LOCAL)
        w->local_stores++; /* no other warp waits for local memory */
    else
        w->machine->changes++;
    uint32_t offsets[EM_LANES];
    uint8_t *area;
    bool whole = is_single_access(w, i, total);
    before_store(w, i);
    if (!whole && lanes_in_one_area(w, i, &i->o[0], mask, total, true, &area, offsets)) {
        for (uint32_t v = 0; v < i->memory.vector; v++) {
            uint8_t *to = area + v * bytes;
            if (bytes == 4 && s[v].bytes == 4) {
                const uint32_t *r = em_r32(w, &s[v]);
                EM_EACH(mask, memcpy(to + offsets[l], &r[l], 4));
            } else {
                EM_EACH(mask, take_lane(w, &s[v], l, to + offsets[l], bytes));
            }
        }
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t address = em_address(w, &i->o[0], l);
        if (address & (total - 1)) {
            fail_misaligned(w, i, l, address, total);
            return;
        }
        uint8_t *to = em_locate(w, i, l, (em_space)i->space, address, total, EM_WRITE);
        if (!to) return;
        _Alignas(16) uint8_t copy[16];
        for (uint32_t v = 0; v < i->memory.vector; v++)
            take_lane(w, &s[v], l, (whole ? copy : to) + v * bytes, bytes);
        if (whole) move_whole(to, copy);
    }
}

static cute_status decode_space(em_parser *p, const em_raw *raw, em_inst *i, int memory)
{
    bool shared = em_has(i, EM_M_shared) || em_has(i, EM_M_shared_cta) || em_has(i, EM_M_shared_cluster);
    bool param = em_has(i, EM_M_param) || em_has(i, EM_M_param_entry) || em_has(i, EM_M_param_func);
    i->space = em_has(i, EM_M_global)  ? EM_GLOBAL
               : em_has(i, EM_M_local) ? EM_LOCAL
               : em_has(i, EM_M_const) ? EM_CONST
               : shared                ? EM_SHARED
               : param                 ? EM_PARAM
                                       : EM_GENERIC;
    if (memory < 0) return CUTE_OK;
    const em_operand *o = &i->o[memory], *base = &o->list[0];
    const em_variable *v = base->kind == EM_O_IMMEDIATE ? base->symbol : o->symbol;
    if (param && v && !v->owner) i->space = EM_LOCAL; /* an argument of a call: in the frame */
    if (param && !v && p->function && !p->function->entry) i->space = EM_LOCAL;
    if (i->space == EM_GENERIC && v && v->space == EM_SHARED) i->space = EM_SHARED; /* ld of a name */
    if (i->space == EM_GENERIC && v && v->space == EM_LOCAL) i->space = EM_LOCAL;
    return em_memory_operand(p, raw, i, memory);
}

static cute_status decode_vector(em_parser *p, const em_raw *raw, em_inst *i, int data, bool target)
{
    em_operand *o = &i->o[data];
    i->memory.vector = em_has(i, EM_M_v2) ? 2 : em_has(i, EM_M_v4) ? 4 : em_has(i, EM_M_v8) ? 8 : 1;
    if (i->memory.vector > 1 && (o->kind != EM_O_VECTOR || o->count != i->memory.vector))
        return em_wrong(p, raw, ".v%d expects a list of %d registers", i->memory.vector, i->memory.vector);
    uint32_t bytes = ptx_types[i->type].bytes;
    if (!i->type_count || !bytes) return em_wrong(p, raw, "expected a type");
    if (bytes * i->memory.vector > 32)
        return em_wrong(p, raw, "expected an access of at most 32 bytes, got %u", bytes * i->memory.vector);
    if (o->kind == EM_O_VECTOR && o->count != i->memory.vector)
        return em_wrong(p, raw, "expected one register");
    em_operand *list = o->kind == EM_O_VECTOR ? o->list : o;
    for (int v = 0; v < i->memory.vector; v++) {
        if (list[v].kind == EM_O_NONE && target) continue;
        if (list[v].kind == EM_O_VALUE && list[v].base == EM_BASE_REGISTERS && list[v].bytes >= bytes &&
            list[v].bytes <= 16 && (list[v].bytes == 16) == (bytes == 16))
            continue; /* a wider register is valid */
        CUTE_TRY(target ? em_target_at(p, raw, &list[v], (ptx_type)i->type, true)
                        : em_source_at(p, raw, &list[v], (ptx_type)i->type));
    }
    return CUTE_OK;
}

static bool is_strong(const em_inst *i)
{
    return em_has(i, EM_M_volatile) || em_has(i, EM_M_relaxed) || em_has(i, EM_M_acquire) ||
           em_has(i, EM_M_release) || em_has(i, EM_M_mmio);
}

cute_status em_decode_load(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 4));
    CUTE_TRY(em_element_memory(p, raw, &i->o[1]));
    if (i->o[1].kind != EM_O_MEMORY) return em_memory_operand(p, raw, i, 1);
    CUTE_TRY(decode_space(p, raw, i, 1));
    i->run = run_load;
    i->memory.strong = is_strong(i);
    CUTE_TRY(decode_vector(p, raw, i, 0, true));
    uint32_t used = 0, total = ptx_types[i->type].bytes * i->memory.vector;
    while (used < 64 && p->used_bytes >> used) used++;
    if (used < total) i->memory.used = (uint8_t)used;
    return CUTE_OK;
}

cute_status em_decode_store(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (em_has(i, EM_M_async)) return em_decode_store_async(p, raw, i);
    CUTE_TRY(em_operands(p, raw, 2, 3));
    CUTE_TRY(em_element_memory(p, raw, &i->o[0]));
    if (i->o[0].kind != EM_O_MEMORY) return em_memory_operand(p, raw, i, 0);
    CUTE_TRY(decode_space(p, raw, i, 0));
    i->run = run_store;
    i->memory.strong = is_strong(i);
    if (i->space == EM_CONST) return em_wrong(p, raw, "constant memory is read-only");
    return decode_vector(p, raw, i, 1, false);
}

/* ---- address conversions ---- */

static uint64_t window_of(em_space space)
{
    return space == EM_SHARED  ? EM_SHARED_WINDOW
           : space == EM_LOCAL ? EM_LOCAL_WINDOW
           : space == EM_PARAM ? EM_PARAM_WINDOW
                               : 0;
}

static void run_cvta(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint64_t window = window_of((em_space)i->space);
    for (int l = 0; l < EM_LANES; l++) {
        if (!(mask >> l & 1)) continue;
        uint64_t a = em_get(w, &i->o[1], l);
        em_set(w, &i->o[0], l, i->address.to_space ? a - window : a + window);
    }
}

cute_status em_decode_cvta(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 2));
    CUTE_TRY(decode_space(p, raw, i, -1));
    if (i->type != PTX_u64 && i->type != PTX_u32) return em_unknown(p, raw);
    bool named = i->o[1].kind == EM_O_IMMEDIATE || i->o[1].kind == EM_O_ELEMENT;
    const em_variable *v = named ? i->o[1].symbol : NULL;
    CUTE_TRY(em_element(p, raw, &i->o[1], i->type == PTX_u32 ? 4 : 8));
    if (i->space == EM_PARAM && v && !v->owner) i->space = EM_LOCAL;
    i->address.to_space = em_has(i, EM_M_to);
    i->run = run_cvta;
    CUTE_TRY(em_target(p, raw, i, 0, (ptx_type)i->type, false));
    return em_source(p, raw, i, 1, (ptx_type)i->type);
}

static void run_isspacep(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint64_t window = window_of((em_space)i->space);
    for (int l = 0; l < EM_LANES; l++) {
        if (!(mask >> l & 1)) continue;
        uint64_t a = em_get(w, &i->o[1], l), in = a & ~(EM_WINDOW_SIZE - 1);
        bool is = window ? in == window : in != EM_SHARED_WINDOW && in != EM_LOCAL_WINDOW;
        if (i->space == EM_GLOBAL) is = is && in != EM_PARAM_WINDOW;
        if (i->space == EM_CONST) {
            const em_allocation *found = em_memory_find(w->machine->launch->memory, a);
            is = found && found->read_only;
        }
        if (i->space == EM_SHARED && !em_has(i, EM_M_shared_cluster))
            is = is && ((uint32_t)a >> EM_RANK_SHIFT) == w->block->rank;
        em_set(w, &i->o[0], l, is);
    }
}

cute_status em_decode_isspacep(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 2));
    CUTE_TRY(decode_space(p, raw, i, -1));
    i->run = run_isspacep;
    CUTE_TRY(em_target(p, raw, i, 0, PTX_pred, false));
    return em_source(p, raw, i, 1, PTX_u64);
}

static void run_mapa(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (int l = 0; l < EM_LANES; l++) {
        if (!(mask >> l & 1)) continue;
        uint64_t a = em_get(w, &i->o[1], l), rank = em_get(w, &i->o[2], l);
        uint32_t shared;
        if (!em_shared_address(w, i, l, a, &shared)) return;
        if (rank >= w->block->cluster->count) {
            em_fault(w, i, l, "mapa of block %llu in a cluster of %u blocks", (unsigned long long)rank,
                     w->block->cluster->count);
            return;
        }
        uint64_t window = i->address.in_cluster ? 0 : EM_SHARED_WINDOW;
        em_set(w, &i->o[0], l, window + (shared & ((1u << EM_RANK_SHIFT) - 1)) + (rank << EM_RANK_SHIFT));
    }
}

cute_status em_decode_mapa(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 3, 3));
    i->address.in_cluster = em_has(i, EM_M_shared_cluster);
    i->run = run_mapa;
    CUTE_TRY(em_target(p, raw, i, 0, (ptx_type)i->type, false));
    CUTE_TRY(em_source(p, raw, i, 1, (ptx_type)i->type));
    return em_source(p, raw, i, 2, PTX_u32);
}

static void run_getctarank(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (int l = 0; l < EM_LANES; l++) {
        uint32_t shared;
        if (!(mask >> l & 1)) continue;
        if (!em_shared_address(w, i, l, em_get(w, &i->o[1], l), &shared)) return;
        em_set(w, &i->o[0], l, shared >> EM_RANK_SHIFT);
    }
}

cute_status em_decode_getctarank(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 2));
    i->run = run_getctarank;
    CUTE_TRY(em_target(p, raw, i, 0, PTX_u32, false));
    return em_source(p, raw, i, 1, (ptx_type)i->type);
}

cute_status em_space_operand(em_parser *p, const em_raw *raw, em_inst *i, int memory)
{
    if (i->o[memory].kind != EM_O_MEMORY) return em_memory_operand(p, raw, i, memory);
    return decode_space(p, raw, i, memory);
}

/* createpolicy: cache policies have no effect here. */
static void run_policy(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (int l = 0; l < EM_LANES; l++)
        if (mask >> l & 1) em_set(w, &i->o[0], l, 0);
}

cute_status em_decode_policy(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 1, 4));
    i->run = run_policy;
    return em_target(p, raw, i, 0, PTX_b64, false);
}
