/* What cute-opt does: mlir-opt's driver with our dialects, passes, defines and diagnostics. */
#ifndef CUTE_LIB_IR_OPTDRIVER_H
#define CUTE_LIB_IR_OPTDRIVER_H

/* Runs the command line; returns the exit code. Writes diagnostics to standard error. `passes` registers
 * the passes. */
int cute_opt_main(int argc, char **argv, void (*passes)(void));

#endif
