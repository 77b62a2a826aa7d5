/* Between the parts that run a grid: places of clusters (machine.c), time slices of warps (schedule.c),
 * hangs (hang.c), what machines share (grid.c). */
#ifndef CUTE_LIB_EMULATOR_MACHINE_SCHEDULE_H
#define CUTE_LIB_EMULATOR_MACHINE_SCHEDULE_H

#include "lib/emulator/machine/machine.h"

/* ---- machine.c ---- */
bool em_make_cluster(em_machine *m, em_cluster *c);
void em_release_cluster(em_cluster *c);
/* The `index`th cluster of the grid begins in `c`. */
void em_begin_cluster(em_machine *m, em_cluster *c, uint64_t index);
void em_end_cluster(em_machine *m, em_cluster *c);

/* ---- schedule.c ---- */
/* Runs clusters of the grid until there are no more, or something failed. */
void em_run_clusters(em_machine *m);

/* ---- hang.c ---- */
void em_spin_begin(em_warp *w);
/* After a time slice of the warp: whether it has been in this state before. */
void em_spin_probe(em_warp *w);
/* Who waits where for what, as notes of an error, over all machines of the grid. `waiting`: clusters that
 * have not begun. */
void em_explain_waits(em_machine *machines, uint32_t count, uint64_t waiting, cute_diag *diag);
/* Where the first warps are that have not ended. */
void em_show_places(em_machine *machines, uint32_t count, cute_diag *diag);

/* ---- grid.c ---- */
/* The next cluster for a machine; false: none, or the device is full. */
bool em_grid_take(em_machine *m, uint64_t *index);
/* A cluster of the machine has ended; what it printed is given out in the order of the clusters. */
void em_grid_ended(em_machine *m, em_cluster *c);
void em_grid_print(em_warp *w, const char *text, size_t length);
void em_grid_heartbeat(em_machine *m);
/* Around what must not be mixed with what other threads do; nothing where there are none. */
void em_grid_lock(em_machine *m);
void em_grid_unlock(em_machine *m);
/* The launch has taken all its time (`late`), or memory has not changed for as long as it allows: m->failed. */
void em_grid_give_up(em_machine *m, bool late);
/* A deadlock as an error of `diag`, without its notes. */
void em_grid_deadlock(const em_machine *m, cute_diag *diag);
/* Whether a cluster failed before all that the machine runs. */
bool em_grid_is_over(const em_machine *m);
/* Whether some cluster failed. */
bool em_grid_has_failed(const em_machine *m);
/* Changes of all machines. */
uint64_t em_grid_changes(const em_machine *m);
/* No warp of this machine makes progress and it can take no more clusters, at `changes` changes of all machines. Where
 * that holds for all machines the grid is deadlocked: m->failed. */
void em_grid_stuck(em_machine *m, uint64_t changes);

#endif
