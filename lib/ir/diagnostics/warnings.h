/* Opt-in warnings (--warn), implemented as remarks of passes (warnings.def). */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_WARNINGS_H
#define CUTE_LIB_IR_DIAGNOSTICS_WARNINGS_H

#include "cute/base.h"

/* Adds the passes that implement the comma-separated warnings `names` (NULL: none) to the pass list
 * `remarks` of --remarks (NULL: none). CUTE_USAGE for an unknown warning. */
cute_status cute_warnings_as_remarks(cute_arena *arena, const char *names, const char *remarks,
                                     const char **out, cute_diag *diag);

#endif
