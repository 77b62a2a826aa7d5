/* Interface between the parts that run a grid: cluster slots (machine.c), time slices of warps (schedule.c),
 * hangs (hang.c), state shared by machines (grid.c). */
#ifndef CUTE_LIB_EMULATOR_MACHINE_SCHEDULE_H
#define CUTE_LIB_EMULATOR_MACHINE_SCHEDULE_H

#include "lib/emulator/machine/machine.h"

/* ---- machine.c ---- */
bool em_make_cluster(em_machine *m, em_cluster *c);
void em_release_cluster(em_cluster *c);
/* Starts the index-th cluster of the grid in slot `c`. */
void em_begin_cluster(em_machine *m, em_cluster *c, uint64_t index);
void em_end_cluster(em_machine *m, em_cluster *c);

/* ---- schedule.c ---- */
/* Runs clusters of the grid until none are left or one failed. */
void em_run_clusters(em_machine *m);

/* ---- hang.c ---- */
void em_spin_begin(em_warp *w);
/* After a time slice: notices when the warp returns to an earlier state. */
void em_spin_probe(em_warp *w);
/* Adds a note per waiting warp, over all machines of the grid: its place and the awaited condition.
 * `waiting`: clusters not yet started. */
void em_explain_waits(em_machine *machines, uint32_t count, uint64_t waiting, cute_diag *diag);
/* Adds notes with the places of the first warps that have not exited. */
void em_show_places(em_machine *machines, uint32_t count, cute_diag *diag);

/* ---- hang_ranks.c ---- */
/* An address that a device polls, and the devices that would write it, one bit each. */
typedef struct em_rank_wait {
    uint32_t device, writers;
    uint64_t address;
} em_rank_wait;
enum { EM_RANK_WAITS = 256 };
typedef struct em_rank_waits {
    em_rank_wait list[EM_RANK_WAITS];
    uint32_t count;
} em_rank_waits;
/* Adds an address, once for each device. */
void em_ranks_wait(em_rank_waits *waits, uint32_t device, uint64_t address);
/* Adds notes: which device waits for which. The state of the warps is lost. */
void em_explain_ranks(em_machine *m, em_rank_waits *waits, cute_diag *diag);

/* ---- grid.c ---- */
/* The next cluster for a machine; false: none left, or the device is full. */
bool em_grid_take(em_machine *m, uint64_t *index);
/* A cluster of the machine has ended; output is printed in the order of clusters. */
void em_grid_ended(em_machine *m, em_cluster *c);
void em_grid_print(em_warp *w, const char *text, size_t length);
void em_grid_heartbeat(em_machine *m);
/* Guards operations that other threads must not interleave; a no-op with one thread. */
void em_grid_lock(em_machine *m);
void em_grid_unlock(em_machine *m);
/* The time limit is reached (`late`), or memory has not changed for too long: sets m->failed. */
void em_grid_give_up(em_machine *m, bool late);
/* Reports a deadlock as an error, without notes. */
void em_grid_deadlock(const em_machine *m, cute_diag *diag);
/* Whether a cluster before all of the machine's has failed. */
bool em_grid_is_over(const em_machine *m);
/* Whether some cluster failed. */
bool em_grid_has_failed(const em_machine *m);
/* Changes of all machines. */
uint64_t em_grid_changes(const em_machine *m);
/* No warp of this machine makes progress and it can start no more clusters, at `changes` changes of all
 * machines. If all machines are stuck the grid is deadlocked: sets m->failed. */
void em_grid_stuck(em_machine *m, uint64_t changes);

#endif
