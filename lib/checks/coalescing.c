/* Coalescing of global memory: sectors of 32 bytes that a request touches against those that its bytes would fill. */
#include "lib/checks/parts.h"

static bool begin(em_checks *c)
{
    return em_transactions_begin(c, &c->sectors);
}

static void end(em_checks *c)
{
    em_transactions_end(&c->sectors);
}

static bool access(em_checks *c, const memory_access *a)
{
    if (a->space == EM_GLOBAL && !a->mbarrier)
        em_transactions_access(c, &c->sectors, a, cute_traffic_add_sectors);
    return true;
}

static bool row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    (void)s, (void)at;
    if (r->space == EM_GLOBAL) em_transactions_row(c, &c->sectors, r, cute_traffic_add_sectors);
    return true;
}

/* Diverged lanes may come to one instruction one behind the other. */
static void step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
{
    (void)w, (void)i, (void)lanes, (void)mask;
    em_transactions_flush(c, &c->sectors, cute_traffic_add_sectors);
}

/* The launch ends. */
static void event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                  uint64_t b)
{
    (void)event, (void)w, (void)i, (void)mask, (void)a, (void)b;
    em_transactions_flush(c, &c->sectors, cute_traffic_add_sectors);
    for (uint32_t n = 0; c->transactions && n < c->launch->program->count; n++) {
        c->transactions[n].sectors[0] += c->sectors.by_inst[n].count;
        c->transactions[n].sectors[1] += c->sectors.by_inst[n].ideal;
    }
}

const em_part em_part_coalescing = {
    .events = EVENT(END),
    .begin = begin,
    .end = end,
    .event = event,
    .access = access,
    .row = row,
    .concerns = em_transactions_concerns,
    .step = step,
};
