/* Warnings that are off until --warn asks for them: remarks of the passes that know (warnings.def). */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_WARNINGS_H
#define CUTE_LIB_IR_DIAGNOSTICS_WARNINGS_H

#include "cute/base.h"

/* The passes of which remarks are wanted: those of `remarks` (as --remarks has them, NULL: none) and those that know the
 * warnings of `names`, separated by commas (NULL: none). CUTE_USAGE: there is no such warning. */
cute_status cute_warnings_as_remarks(cute_arena *arena, const char *names, const char *remarks,
                                     const char **out, cute_diag *diag);

#endif
