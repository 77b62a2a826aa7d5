/* Uninitialised memory: one bit per byte of shared and global memory. Loads make registers undefined
 * (undefined_registers.c); other reads are reported at once. */
#include "lib/checks/parts.h"

/* The first uninitialised byte, or `bytes`. */
static uint64_t first_unwritten(const shadow *s, uint64_t at, uint64_t bytes)
{
    if (!s->written) return bytes;
    if ((at & 7) + bytes <= 8) { /* common case */
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

static bool undefined_memory_access(em_checks *c, const memory_access *a)
{
    char place[200];
    shadow *s = a->shadow;
    const char *name = em_instruction_name(a->inst);
    uint64_t at = a->at, bytes = a->bytes;
    if (!s) return true;
    if (a->kind != EM_WRITE) {
        uint64_t n = first_unwritten(s, at, bytes), undefined = 0;
        for (uint64_t k = n; k < bytes && bytes <= 64; k++)
            undefined |= (uint64_t)!(s->written[(at + k) >> 3] >> ((at + k) & 7) & 1) << k;
        bool taken = n < bytes && (a->kind == EM_READ || em_has(a->inst, EM_M_exch)) &&
                     em_registers_load(c, a->warp, a->inst, a->lane, a->space, a->address, undefined);
        if (taken && a->kind == EM_READ) return true;
        if (n < bytes && !taken) {
            em_shadow_place(c, a->warp, a->space, s, at + n, place, sizeof place);
            em_check_find(c, a->kind == EM_READ ? FOUND_UNINIT_READ : FOUND_UNINIT_UPDATE, a->warp, a->inst,
                          a->lane, UINT32_MAX, "uninitialised: %s %s %s, which was never written", name,
                          a->kind == EM_READ ? "reads" : "updates", place);
            /* reported once */
            if (a->kind == EM_READ) return true;
        }
    }
    if (a->kind == EM_READ) return true;
    uint64_t undefined = em_registers_store(c, a->warp, a->inst, a->lane, a->space == EM_GLOBAL);
    em_shadow_write(s, at, bytes, true);
    for (uint64_t n = 0; undefined >> n && n < 64; n++)
        if (undefined >> n & 1) em_shadow_write(s, at + n, 1, false);
    return true;
}

/* False if a byte read or a register stored is undefined. */
static bool undefined_memory_row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    bool write = r->kind == EM_WRITE;
    if (write && em_registers_undefined(c, r->warp, r->inst, r->mask)) return false;
    for (uint32_t rest = s->written ? r->mask : 0; rest; rest &= rest - 1) {
        uint64_t n = at + r->offsets[__builtin_ctz(rest)];
        if (write)
            em_shadow_write(s, n, r->bytes, true);
        else if (first_unwritten(s, n, r->bytes) < r->bytes)
            return false;
    }
    return true;
}

static const em_part *const needs[] = {&em_part_shadow_memory, NULL};
const em_part em_part_undefined_memory = {
    .needs = needs, .access = undefined_memory_access, .row = undefined_memory_row};
