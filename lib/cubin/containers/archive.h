/* `ar` archives: the list of members. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_ARCHIVE_H
#define CUTE_LIB_CUBIN_CONTAINERS_ARCHIVE_H

#include "cute/base.h"

typedef struct cute_member {
    const char *name; /* "foo.o" */
    const void *bytes;
    size_t length;
} cute_member;

/* Lists the members (in `arena`; their bytes are not copied) without symbol tables. CUTE_INVALID: truncated,
 * or a thin archive, which has no contents. */
cute_status cute_archive_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                              cute_member **out, size_t *count, cute_diag *diag);

#endif
