/* The timeline of one block of each launch: waits, copies, products and stores of its warps, in modelled cycles. Only serves
 * reports; it observes the hooks of a launch, in front of those of the checks.
 *
 * Time is that of each warp: an instruction takes a cycle, and a wait ends when the last event that it waits for has happened, as
 * in a logical clock. So warps overlap in it as on hardware, although the emulator runs them in turn, and it does not depend on
 * the length of time slices. Copies and products take the cycles of timeline.c's table. It is a model, not a measurement: caches,
 * bank conflicts, latencies of loads and the sharing of issue slots do not exist in it. */
#ifndef CUTE_LIB_EMULATOR_MACHINE_TIMELINE_H
#define CUTE_LIB_EMULATOR_MACHINE_TIMELINE_H

#include "lib/emulator/machine/machine.h"

typedef struct em_timeline em_timeline;

/* `block`: its number in the grid, x fastest. NULL: memory is exhausted. */
em_timeline *em_timeline_create(int64_t block);
void em_timeline_destroy(em_timeline *timeline);
/* Before a launch, after em_checks_begin: wraps launch->hooks. */
void em_timeline_begin(em_timeline *timeline, em_launch *launch);
/* docs/emulator.md, "Timelines", has the keys; malloc'ed, NULL if memory is exhausted. */
char *em_timeline_json(const em_timeline *timeline);

#endif
