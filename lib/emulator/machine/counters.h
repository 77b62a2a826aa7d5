/* What kernels did, instruction by instruction: gathered over launches, told by kernel, class of instruction,
 * space and line. */
#ifndef CUTE_LIB_EMULATOR_MACHINE_COUNTERS_H
#define CUTE_LIB_EMULATOR_MACHINE_COUNTERS_H

#include "lib/emulator/machine/machine.h"

typedef struct em_counters em_counters;
enum { EM_SECTOR = 32 };
/* What memory did for one instruction, as checks count it: wavefronts of shared memory, sectors of global memory; how
 * many, and the fewest possible. */
enum { EM_WAVEFRONTS, EM_SECTORS, EM_TRAFFIC_KINDS };
typedef struct em_transactions {
    uint64_t count[EM_TRAFFIC_KINDS], ideal[EM_TRAFFIC_KINDS];
} em_transactions;

/* Bytes of global memory in sectors of 32, each once: of the launch those that it reads before it writes them, those that
 * it writes, and for each block those that its threads load (what an endless L1 would ask L2 for). */
typedef struct em_footprint {
    uint64_t read, written, loaded;
} em_footprint;

em_counters *em_counters_create(void);
void em_counters_destroy(em_counters *counters);
/* Before a launch: sets launch->tally. The program outlives the counters. False when memory is exhausted. */
bool em_counters_begin(em_counters *counters, em_launch *launch);
/* An element for each instruction of the launch that was begun last. */
em_transactions *em_counters_transactions(em_counters *counters);
/* Of that launch's kernel; checks that look at sectors add to it. */
em_footprint *em_counters_footprint(em_counters *counters);
/* An array with an object for each kernel, as cute-run(1) describes it; malloc'ed, NULL when memory is
 * exhausted. */
char *em_counters_json(const em_counters *counters);

#endif
