/* Describes the addresses of a warp: as a layout, and the access pattern in a few words. */
#ifndef CUTE_LIB_CODE_PATTERN_H
#define CUTE_LIB_CODE_PATTERN_H

#include "lib/code/access.h"

/* Sets `layout` and `pattern`. */
cute_status cute_access_describe(cute_arena *arena, cute_access *access, cute_diag *diag);

#endif
