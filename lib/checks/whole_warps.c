/* Instructions that all lanes of a warp have to execute together. */
#include "lib/checks/parts.h"

/* Lanes that exit, or continue, without having executed the instruction of the warp's other lanes. */
static void check_missing(em_checks *c, em_warp *w, uint32_t lanes)
{
    warp_state *own = warp_of(c, w);
    uint32_t missing = lanes & ~own->whole.lanes;
    if (!own->whole.lanes || !missing) return;
    em_check_find(c, FOUND_WARP_INCOMPLETE, w, own->whole.inst, __builtin_ctz(missing), UINT32_MAX,
                  "barrier: %s must be executed by all lanes of the warp, but lanes 0x%08x do not execute it",
                  em_instruction_name(own->whole.inst), missing);
    own->whole.lanes = 0;
}

/* The emulator may diverge and reconverge at other points than compiled code: lanes may execute it at
 * different times, but all before any of them exits or executes another such instruction. */
static void whole_warps_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
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

static bool whole_warps_concerns(const em_checks *c, const em_inst *i)
{
    (void)c;
    return i->opcode == EM_OP_setmaxnreg;
}

static void whole_warps_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                              uint64_t a, uint64_t b)
{
    (void)event, (void)i, (void)a, (void)b;
    check_missing(c, w, mask);
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_whole_warps = {.needs = needs,
                                     .events = EVENT(EXIT),
                                     .event = whole_warps_event,
                                     .concerns = whole_warps_concerns,
                                     .step = whole_warps_step};
