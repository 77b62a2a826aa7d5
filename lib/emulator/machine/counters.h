/* Counts by instruction: accumulated over launches, reported by kernel, class of instruction, space and
 * line. */
#ifndef CUTE_LIB_EMULATOR_MACHINE_COUNTERS_H
#define CUTE_LIB_EMULATOR_MACHINE_COUNTERS_H

#include "lib/emulator/machine/machine.h"

typedef struct em_counters em_counters;
enum { EM_SECTOR = 32 };
/* Memory traffic of an instruction, as the checks count it: wavefronts of shared memory, sectors of global
 * memory; the count and its minimum. */
enum { EM_WAVEFRONTS, EM_SECTORS, EM_TRAFFIC_KINDS };
typedef struct em_transactions {
    uint64_t count[EM_TRAFFIC_KINDS], ideal[EM_TRAFFIC_KINDS];
} em_transactions;

/* Bytes of 32-byte sectors of global memory, each sector once: read before written by the launch; written by
 * the launch; loaded by threads, per block (the L2 requests of an infinite L1). */
typedef struct em_footprint {
    uint64_t read, written, loaded;
} em_footprint;

em_counters *em_counters_create(void);
void em_counters_destroy(em_counters *counters);
/* Before a launch: sets launch->tally. The program has to outlive the counters. False if memory is
 * exhausted. */
bool em_counters_begin(em_counters *counters, em_launch *launch);
/* An element per instruction of the last launch started. */
em_transactions *em_counters_transactions(em_counters *counters);
/* The footprint of that launch's kernel; checks that count sectors add to it. */
em_footprint *em_counters_footprint(em_counters *counters);
/* An array with one object per kernel, as in cute-run(1); malloc'ed, NULL if memory is exhausted. */
char *em_counters_json(const em_counters *counters);

#endif
