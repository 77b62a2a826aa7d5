/* What the operations of synchronisation do in the machine of async.h (async_events.c, async_copies.c,
 * async_mbarriers.c). */
#ifndef CUTE_LIB_PASSES_CHECKS_ASYNC_EVENTS_H
#define CUTE_LIB_PASSES_CHECKS_ASYNC_EVENTS_H

#include "lib/passes/checks/async.h"

typedef enum async_step {
    ASYNC_GOES_ON,
    ASYNC_PAUSES, /* done; the warp waits, or lets the others run */
    ASYNC_AGAIN,  /* to be done again when the warp goes on */
} async_step;

async_step async_event_do(async_machine *m, async_warp *w, const async_instr *i);

/* Tells a finding behind which the kernel does not run on. */
static inline void async_stop(async_machine *m, const async_finding *f)
{
    async_tell(m->report, f);
    m->stopped = m->found = true;
}
/* An integer attribute; `other`: `op` has none of that name. */
int64_t async_attribute(MlirOperation op, const char *name, int64_t other);

/* ---- copies ---- */

async_step async_copy_do(async_machine *m, async_warp *w, const async_instr *i);
/* Something asynchronous begins: its index; -1: there are too many, and the machine has stopped. */
int async_copy_new(async_machine *m, async_copy copy);

/* ---- mbarriers ---- */

async_step async_mbarrier_do(async_machine *m, async_warp *w, const async_instr *i);
/* The wait of `w` is over. */
void async_passed(async_machine *m, async_warp *w);
/* The index of the mbarrier at a place, which `op` of `w` uses; -1 after telling that there is none. */
int async_barrier_at(async_machine *m, async_warp *w, const async_place *at, MlirOperation op);
/* A copy completes at its mbarrier. */
void async_arrived(async_machine *m, const struct async_flight *f);
/* The phase ends if all is there. `settled`: all copies so far have completed. */
void async_complete(async_machine *m, async_mbarrier *b, bool settled);
/* Nobody goes on. */
void async_deadlock(async_machine *m);

/* ---- the rest ---- */

/* All warps of the warpgroup have made as many products as `w`. */
bool async_products_together(const async_machine *m, const async_warp *w);
/* The barrier of the cluster at which `w` waits is over. */
bool async_cluster_over(async_machine *m, const async_warp *w);
/* Registers of warpgroups, as far as they ran. */
void async_registers(async_machine *m);
/* `w` accesses shared memory of block `cta`; `copy` as in async_remote. */
void async_reach(async_machine *m, const async_warp *w, int cta, int copy, MlirOperation op);
/* All warps have ended. */
void async_end(async_machine *m);
async_known *async_known_new(async_machine *m);
/* What `w` did so far becomes known to `into`. */
void async_release(async_machine *m, async_warp *w, async_known *into);
/* All threads of the warp have to be here; false after telling that they are not. */
bool async_whole_warp(async_machine *m, async_warp *w, MlirOperation op);

#endif
