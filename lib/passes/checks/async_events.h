/* Synchronisation operations of the machine of async.h (async_events.c, async_copies.c,
 * async_mbarriers.c). */
#ifndef CUTE_LIB_PASSES_CHECKS_ASYNC_EVENTS_H
#define CUTE_LIB_PASSES_CHECKS_ASYNC_EVENTS_H

#include "lib/passes/checks/async.h"

typedef enum async_step {
    ASYNC_GOES_ON,
    ASYNC_PAUSES, /* done; the warp waits, or yields to the others */
    ASYNC_AGAIN,  /* repeat it when the warp resumes */
} async_step;

async_step async_event_do(async_machine *m, async_warp *w, const async_instr *i);

/* Reports a finding that ends the run. */
static inline void async_stop(async_machine *m, const async_finding *f)
{
    async_tell(m->report, f);
    m->stopped = m->found = true;
}
/* An integer attribute, or `other` if `op` does not have it. */
int64_t async_attribute(MlirOperation op, const char *name, int64_t other);

/* ---- copies ---- */

async_step async_copy_do(async_machine *m, async_warp *w, const async_instr *i);
/* Begins an asynchronous operation and returns its index; -1: too many, and the machine has stopped. */
int async_copy_new(async_machine *m, async_copy copy);

/* ---- mbarriers ---- */

async_step async_mbarrier_do(async_machine *m, async_warp *w, const async_instr *i);
/* Ends a wait of `w`. */
void async_passed(async_machine *m, async_warp *w);
/* Index of the mbarrier at an address used by `op` of `w`; -1 after reporting that it is not initialised. */
int async_barrier_at(async_machine *m, async_warp *w, const lane_place *at, MlirOperation op);
/* Completes a copy at its mbarrier. */
void async_arrived(async_machine *m, const struct async_flight *f);
/* Ends the phase if no arrivals or bytes are pending. `settled`: all copies so far have completed. */
void async_complete(async_machine *m, async_mbarrier *b, bool settled);
/* Reports a deadlock. */
void async_deadlock(async_machine *m);

/* ---- others ---- */

/* Whether all warps of the warpgroup have issued as many products as `w`. */
bool async_products_together(const async_machine *m, const async_warp *w);
/* Whether the cluster barrier that `w` waits at has completed. */
bool async_cluster_over(async_machine *m, const async_warp *w);
/* Checks the registers of warpgroups, up to the end of the run. */
void async_registers(async_machine *m);
/* Records an access of `w` to shared memory of block `cta`; `copy` as in async_remote. */
void async_reach(async_machine *m, const async_warp *w, int cta, int copy, MlirOperation op);
/* Runs the checks at the end, after all warps have ended. */
void async_end(async_machine *m);
async_known *async_known_new(async_machine *m);
/* Adds the actions of `w` so far to `into`. */
void async_release(async_machine *m, async_warp *w, async_known *into);
/* Requires all threads of the warp; false after reporting that some are missing. */
bool async_whole_warp(async_machine *m, async_warp *w, MlirOperation op);

#endif
