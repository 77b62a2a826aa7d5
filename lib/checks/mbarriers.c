/* Misuse of mbarriers: initialised twice, overwritten, byte counts that do not match in a phase. */
#include "lib/checks/parts.h"

#include <stdlib.h>

/* Marks 8 bytes as a valid mbarrier, or no longer one. */
static void mark_mbarrier(em_checks *c, em_warp *w, const em_inst *i, int lane, uint32_t address, bool valid)
{
    cluster_state *o = cluster_of(c, w);
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
    const mbarrier_state *known = valid && *bits & bit ? em_mbarrier_find(c, o, address, false) : NULL;
    /* Initialisation by several threads at the same instruction is harmless. */
    if (known && known->init_inst && (known->init_inst != i || known->init_id == thread_id(c, w, lane)))
        em_check_find(c, FOUND_MBARRIER_INIT_TWICE, w, i, lane, inst_index(c, known->init_inst),
                      "barrier: the mbarrier at shared address 0x%x is initialised again without an "
                      "intervening mbarrier.inval",
                      address);
    *bits = (uint8_t)(valid ? *bits | bit : *bits & ~bit);
}

static bool is_mbarrier(const em_checks *c, const em_warp *w, uint32_t address)
{
    const shadow *s = &cluster_of(c, w)->shared[address >> EM_RANK_SHIFT];
    uint32_t at = (address & ((1u << EM_RANK_SHIFT) - 1)) - EM_SHARED_RESERVED;
    return s->mbarriers && at < s->total && s->mbarriers[at / 64] >> at / 8 % 8 & 1;
}

/* The bytes are no longer an mbarrier. */
static void check_overwritten(em_checks *c, const memory_access *a)
{
    shadow *s = a->shadow;
    for (uint64_t n = a->at / 8; n <= (a->at + a->bytes - 1) / 8; n++) {
        if (!(s->mbarriers[n / 8] >> n % 8 & 1)) continue;
        s->mbarriers[n / 8] &= (uint8_t)~(1u << n % 8);
        uint32_t place = (uint32_t)a->address - (uint32_t)a->at + (uint32_t)n * 8;
        const mbarrier_state *known = em_mbarrier_find(c, cluster_of(c, a->warp), place, false);
        em_check_find(
            c, FOUND_MBARRIER_OVERWRITTEN, a->warp, a->inst, a->lane,
            known && known->init_inst ? inst_index(c, known->init_inst) : UINT32_MAX,
            "barrier: %s overwrites the mbarrier at shared address 0x%x without a preceding mbarrier.inval",
            em_instruction_name(a->inst), place);
    }
}

/* Explains a phase that cannot complete: expected and arrived bytes differ. */
static void explain_phase(em_checks *c, em_warp *w, uint32_t address)
{
    cluster_state *o = cluster_of(c, w);
    for (size_t n = 0; n < o->mbarrier_count; n++) {
        const mbarrier_state *b = &o->mbarriers[n];
        if (b->address != address || b->expected == b->arrived || !b->expect_inst) continue;
        em_check_find(
            c, FOUND_MBARRIER_BYTES, w, b->expect_inst, 0,
            b->arrive_inst ? inst_index(c, b->arrive_inst) : UINT32_MAX,
            "barrier: the current phase of the mbarrier at shared address 0x%x expects %lld bytes, got %lld",
            address, (long long)b->expected, (long long)b->arrived);
    }
}

/* Explains a phase that cannot complete: the number of arrivals differs from the initial count. */
static void explain_arrivals(em_checks *c, em_warp *w, uint32_t address)
{
    const mbarrier_state *b = em_mbarrier_find(c, cluster_of(c, w), address, false);
    uint32_t expected, missing;
    if (!b || !b->init_inst || !em_mbarrier_counts(w, address, &expected, &missing)) return;
    if (b->twice_inst)
        em_check_find(c, FOUND_MBARRIER_TWICE, w, b->twice_inst, (int)(b->twice_id % EM_LANES),
                      inst_index(c, b->init_inst),
                      "barrier: thread %u arrives twice in one phase of the mbarrier at shared address 0x%x, "
                      "so later phases get one arrival too few or too many",
                      b->twice_id % c->stride, address);
    if (!missing) return;
    em_check_find(c, FOUND_MBARRIER_ARRIVALS, w, b->init_inst, 0, UINT32_MAX,
                  "barrier: the mbarrier at shared address 0x%x expects %u arrivals per phase, got %u in the "
                  "last one (%u missing); fix: add arrivals or lower the count",
                  address, expected, expected > missing ? expected - missing : 0, missing);
}

/* When a block exits, bytes that arrived must match the expected ones. If none arrived, nobody can have
 * waited for them: producers that acquire a stage before they exit leave such a phase. */
static void check_last_phases(em_checks *c, em_warp *w)
{
    cluster_state *o = cluster_of(c, w);
    for (size_t n = 0; n < o->mbarrier_count; n++) {
        const mbarrier_state *b = &o->mbarriers[n];
        const em_inst *i = b->arrived > b->expected ? b->arrive_inst : b->expect_inst;
        if (b->address >> EM_RANK_SHIFT != w->block->rank || b->expected == b->arrived || !i) continue;
        if (!is_mbarrier(c, w, b->address)) continue;
        em_check_find(c, b->arrived ? FOUND_MBARRIER_LAST_BYTES : FOUND_MBARRIER_NO_BYTES, w, i, 0,
                      UINT32_MAX,
                      "barrier: the block exits in a phase of the mbarrier at shared address 0x%x that "
                      "expects %lld bytes, got %lld",
                      b->address, (long long)b->expected, (long long)b->arrived);
    }
}

static bool mbarriers_access(em_checks *c, const memory_access *a)
{
    shadow *s = a->shadow;
    if (!s || a->space != EM_SHARED) return true;
    if (!a->mbarrier && a->kind != EM_READ && s->mbarriers) check_overwritten(c, a);
    if (a->mbarrier && em_has(a->inst, EM_M_inval))
        mark_mbarrier(c, a->warp, a->inst, a->lane, (uint32_t)a->address, false);
    return true;
}

static bool mbarriers_row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    (void)c, (void)at;
    return r->space != EM_SHARED || r->kind == EM_READ || !s->mbarriers;
}

static void mbarriers_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                            uint64_t a, uint64_t b)
{
    (void)b;
    if (event == EM_E_DEADLOCK && a != UINT64_MAX) {
        explain_phase(c, w, (uint32_t)a);
        explain_arrivals(c, w, (uint32_t)a);
    }
    if (event == EM_E_EXIT && w->block->alive == (uint32_t)__builtin_popcount(mask)) check_last_phases(c, w);
    if (event == EM_E_MBARRIER_INIT && mask) mark_mbarrier(c, w, i, __builtin_ctz(mask), (uint32_t)a, true);
}

static const em_part *const needs[] = {&em_part_shadow_memory, &em_part_mbarrier_states, NULL};
const em_part em_part_mbarriers = {
    .needs = needs,
    .events = EVENT(DEADLOCK) | EVENT(EXIT) | EVENT(MBARRIER_INIT),
    .event = mbarriers_event,
    .access = mbarriers_access,
    .row = mbarriers_row,
};
