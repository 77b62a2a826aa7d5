/* Accesses past the end of a buffer whose allocation is larger. The machine itself checks the bounds of
 * allocations. */
#include "lib/checks/parts.h"

static bool bounds_access(em_checks *c, const memory_access *a)
{
    const shadow *s = a->shadow;
    bool reads = a->kind == EM_READ;
    if (!s || a->space != EM_GLOBAL || a->at + a->bytes <= s->size) return true;
    em_check_find(c, reads ? FOUND_BOUNDS_READ : FOUND_BOUNDS_WRITE, a->warp, a->inst, a->lane, UINT32_MAX,
                  "out of bounds: %s %s %u bytes at byte %llu of %s, whose size is %llu bytes",
                  em_instruction_name(a->inst), reads ? "reads" : "writes", a->bytes,
                  (unsigned long long)a->at, s->name ? s->name : "a buffer", (unsigned long long)s->size);
    return false;
}

static bool bounds_row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    bool inside = true;
    (void)c;
    if (r->space != EM_GLOBAL || s->size == s->total) return true;
    for (uint32_t rest = r->mask; rest; rest &= rest - 1)
        inside &= at + r->offsets[__builtin_ctz(rest)] + r->bytes <= s->size;
    return inside;
}

static const em_part *const needs[] = {&em_part_shadow_memory, NULL};
const em_part em_part_bounds = {.needs = needs, .access = bounds_access, .row = bounds_row};
