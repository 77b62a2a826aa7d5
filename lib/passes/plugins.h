/* Plugins of the compilers. */
#ifndef CUTE_LIB_PASSES_PLUGINS_H
#define CUTE_LIB_PASSES_PLUGINS_H

#include "cute/base.h"

/* Loads the plugins (.so) and the PDL patterns (.mlir) and registers their passes, pipelines, steps and operations for the rest of the
 * process: after cute_passes_register, before the first context is created. `program` names it in messages. */
cute_status cute_plugins_register(const char *program, const char *const *paths, size_t count,
                                  cute_diag *diag);

#endif
