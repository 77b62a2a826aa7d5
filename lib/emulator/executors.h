/* Executors that more than one file has to recognise. */
#ifndef CUTE_LIB_EMULATOR_EXECUTORS_H
#define CUTE_LIB_EMULATOR_EXECUTORS_H
#include "lib/emulator/machine.h"
void em_run_branch(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_branch_index(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_exit(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_trap(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_return(em_warp *w, const em_inst *i, uint32_t mask);
#endif
