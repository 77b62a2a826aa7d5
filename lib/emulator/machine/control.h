/* Between the parts of the machine: splits (control.c) and the schedule (machine.c). */
#ifndef CUTE_LIB_EMULATOR_MACHINE_CONTROL_H
#define CUTE_LIB_EMULATOR_MACHINE_CONTROL_H
#include "lib/emulator/machine/machine.h"
/* Makes a split the current one. */
void em_use_split(em_warp *w, int index);

/* Lanes that wait at a join are resumed without the others: every lane of a warp makes progress, even where those that it
 * waits for wait for what only it can do (a lock that it holds). Whether there were any. */
bool em_resume_joins(em_warp *w);
/* Runs the current split until something stops it (w->stop) or `budget` instructions are over; how many ran.
 */
uint32_t em_run_split(em_warp *w, uint32_t budget);
/* Registers for a function, listed in w->frames. */
em_frame *em_make_frame(em_warp *w, const em_function *f);
void em_run_warp_barrier(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_return(em_warp *w, const em_inst *i, uint32_t mask);
#endif
