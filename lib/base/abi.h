/* Versioned public structs: the first field is the size that the caller was compiled with, so callers built
 * with older or newer headers are understood. */
#ifndef CUTE_LIB_BASE_ABI_H
#define CUTE_LIB_BASE_ABI_H

#include "cute/base.h"

/* Copies the caller's struct into `ours` of `size` bytes; fields that the caller's version lacks become zero.
 * CUTE_USAGE if `theirs` has no valid size, or sets fields unknown to this version. `name` is the struct's
 * name for messages. */
cute_status cute_struct_read(void *ours, size_t size, const void *theirs, const char *name, cute_diag *diag);
/* Copies the fields of `ours` that fit into the caller's struct; its size field is unchanged. CUTE_USAGE if
 * the size is invalid. */
cute_status cute_struct_write(void *theirs, const void *ours, size_t size, const char *name, cute_diag *diag);

#endif
