/* Instructions that all lanes of a warp have to execute together. */
#include "lib/checks/parts.h"

/* Lanes that end, or go on, without having executed what others of the warp did. */
static void check_missing(em_checks *c, em_warp *w, uint32_t lanes)
{
    warp_state *own = warp_of(c, w);
    uint32_t missing = lanes & ~own->whole.lanes;
    if (!own->whole.lanes || !missing) return;
    em_check_find(c, FOUND_WARP_INCOMPLETE, w, own->whole.inst, __builtin_ctz(missing), UINT32_MAX,
                  "barrier: %s is for whole warps, and lanes 0x%08x of the warp do not execute it",
                  em_instruction_name(own->whole.inst), missing);
    own->whole.lanes = 0;
}

/* The emulator may diverge and reconverge elsewhere than a compiler would: lanes may execute it one after the other, but all
 * before any of them ends or executes another such instruction. */
static void step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
{
    warp_state *own = warp_of(c, w);
    (void)lanes;
    if (!mask) return;
    if (own->whole.inst != i) {
        check_missing(c, w, w->alive);
        own->whole.lanes = 0;
    }
    own->whole.inst = i;
    own->whole.lanes |= mask;
    if (!(w->alive & ~own->whole.lanes)) own->whole.lanes = 0;
}

static bool concerns(const em_checks *c, const em_inst *i)
{
    (void)c;
    return i->opcode == EM_OP_setmaxnreg;
}

static void event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                  uint64_t b)
{
    (void)event, (void)i, (void)a, (void)b;
    check_missing(c, w, mask);
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_whole_warps = {
    .needs = needs, .events = EVENT(EXIT), .event = event, .concerns = concerns, .step = step};
