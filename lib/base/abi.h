/* Structs of the public headers that begin with their size, as the caller's compiler saw it: a caller that was built
 * with an older or a newer header is understood. */
#ifndef CUTE_LIB_BASE_ABI_H
#define CUTE_LIB_BASE_ABI_H

#include "cute/base.h"

/* Copies the caller's struct into `ours` of `size` bytes; what the caller's has not is zero. CUTE_USAGE where `theirs`
 * has no size, or holds something that we do not know. `name` is the struct's, for the message. */
cute_status cute_struct_read(void *ours, size_t size, const void *theirs, const char *name, cute_diag *diag);
/* Copies `ours` into what the caller's struct has room for; its size stays. CUTE_USAGE where it has none. */
cute_status cute_struct_write(void *theirs, const void *ours, size_t size, const char *name, cute_diag *diag);

#endif
