/* Interface between splits (control.c) and the schedule (schedule.c). */
#ifndef CUTE_LIB_EMULATOR_MACHINE_CONTROL_H
#define CUTE_LIB_EMULATOR_MACHINE_CONTROL_H
#include "lib/emulator/machine/machine.h"
/* Makes a split the current one. */
void em_use_split(em_warp *w, int index);

/* Resumes lanes that wait at a join without the others, so that every lane of a warp makes progress even if
 * the others wait for it (for example for a lock it holds). False: there were none. */
bool em_resume_joins(em_warp *w);
/* Runs the current split until it stops (w->stop) or `budget` instructions are executed; returns their
 * number. */
uint32_t em_run_split(em_warp *w, uint32_t budget);
/* A register frame for a function, listed in w->frames. */
em_frame *em_make_frame(em_warp *w, const em_function *f);
void em_run_warp_barrier(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_return(em_warp *w, const em_inst *i, uint32_t mask);
#endif
