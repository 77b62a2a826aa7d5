/* Checks that look at instructions themselves, before they run: which of them concern which check is found
 * once a launch, so that all others cost a look into a table. */
#include "lib/checks/state.h"

#include <stdlib.h>

enum { CONCERNS_WGMMA = 1, CONCERNS_FENCE = 2, CONCERNS_LDMATRIX = 4, CONCERNS_WARP = 8, CONCERNS_WAIT = 16 };

static uint8_t concerns(const em_inst *i)
{
    switch (i->opcode) {
    case EM_OP_wgmma:
        return em_has(i, EM_M_mma_async) ? CONCERNS_WGMMA : em_has(i, EM_M_fence) ? CONCERNS_FENCE : 0;
    case EM_OP_griddepcontrol: return em_has(i, EM_M_wait) ? CONCERNS_WAIT : 0;
    case EM_OP_ldmatrix: return CONCERNS_LDMATRIX;
    case EM_OP_setmaxnreg: return CONCERNS_WARP;
    default: return 0;
    }
}

bool em_step_begin(em_checks *c)
{
    const em_program *program = c->machine->program;
    c->concerns = calloc((size_t)program->count + 1, 1);
    if (!c->concerns) return false;
    for (uint32_t n = 0; n < program->count; n++) c->concerns[n] = concerns(&program->code[n]);
    return !(c->which & CUTE_CHECK_RACE) || em_mma_begin(c);
}

void em_step_end(em_checks *c)
{
    em_mma_end(c);
    free(c->concerns);
    c->concerns = NULL;
}

/* Lanes may come to an instruction for whole warps one after the other, as the emulator parts and joins them
 * elsewhere than a compiler would; but all have to come before they end or go on to another one. */
static void whole_warp(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    warp_order *own = &cluster_of(c, w)->warps[w->block->rank * w->block->warp_count + w->index];
    if (own->whole.inst != i) {
        em_step_lacks(c, w, w->alive);
        own->whole.lanes = 0;
    }
    own->whole.inst = i;
    own->whole.lanes |= mask;
    if (!(w->alive & ~own->whole.lanes)) own->whole.lanes = 0;
}

void em_step_lacks(em_checks *c, em_warp *w, uint32_t ending)
{
    warp_order *own = &cluster_of(c, w)->warps[w->block->rank * w->block->warp_count + w->index];
    uint32_t came = own->whole.lanes, missing = ending & ~came;
    if (!came || !missing) return;
    if (c->which & CUTE_CHECK_BARRIER)
        em_check_find(c, CUTE_CHECK_BARRIER, "aligned", w, own->whole.inst, __builtin_ctz(missing),
                      UINT32_MAX,
                      "barrier: %s is for whole warps, and lanes 0x%08x of the warp do not come to it",
                      em_instruction_name(own->whole.inst), missing);
    own->whole.lanes = 0;
}

void em_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes)
{
    uint8_t which = c->concerns[inst_index(c, i)];
    if (!which && !c->products) return;
    if (i->guard) {
        uint32_t guard;
        memcpy(&guard, w->base[0] + i->guard_at, sizeof guard);
        lanes &= i->guard == 2 ? ~guard : guard;
        if (!lanes) return;
    }
    if (which & CONCERNS_WARP) whole_warp(c, w, i, lanes);
    if (which & CONCERNS_WAIT) cluster_of(c, w)->waited = true;
    if (which & CONCERNS_FENCE) em_mma_fence(c, w);
    if (which & CONCERNS_WGMMA && c->which & CUTE_CHECK_SWIZZLE) em_tiles_product(c, w, i, lanes);
    if (which & CONCERNS_LDMATRIX && c->which & CUTE_CHECK_SWIZZLE) em_tiles_ldmatrix(c, w, i, lanes);
    if (c->products) em_mma_step(c, w, i);
}
