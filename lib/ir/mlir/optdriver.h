/* cute-opt: the mlir-opt driver with our dialects, passes, defines and diagnostics. */
#ifndef CUTE_LIB_IR_MLIR_OPTDRIVER_H
#define CUTE_LIB_IR_MLIR_OPTDRIVER_H

#include "lib/base/buffer.h"

/* Adds the external programs that passes run to a cache key (cute_toolkit_key). */
typedef void (*cute_opt_makers)(cute_arena *arena, const char *cuda_path, cute_buffer *key);

/* Registers plugins after the passes (cute_plugins_register). */
typedef cute_status (*cute_opt_plugins)(const char *program, const char *const *paths, size_t count,
                                        cute_diag *diag);

/* Runs the command line; returns the exit code. Writes diagnostics to standard error. `passes` registers
 * the passes. */
int cute_opt_main(int argc, char **argv, void (*passes)(void), cute_opt_plugins plugins,
                  cute_opt_makers makers);

#endif
