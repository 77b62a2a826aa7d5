/* Shared libraries that are opened while a program runs: the CUDA driver and others that need not be there. */
#ifndef CUTE_LIB_BASE_SYSTEM_LIBRARY_H
#define CUTE_LIB_BASE_SYSTEM_LIBRARY_H

#include "lib/base/buffer.h"

/* The library that `variable` of the environment names, and no other; where it is not set or empty the first of `names`, a list
 * that NULL ends. They stay mapped to the end of the process: CUDA's do not survive dlclose. *path (may be NULL): what was opened,
 * else what was tried first. NULL: none, and why is in `reasons` (may be NULL), a line for each that was tried. */
void *cute_library_open(const char *variable, const char *const *names, const char **path,
                        cute_buffer *reasons);

/* A note for each line of `reasons`, which are released. */
void cute_library_notes(cute_buffer *reasons, cute_diag *diag);

/* The CUDA driver, the same way: $CUTE_LIBCUDA, else libcuda.so.1. */
void *cute_driver_open(const char **path, cute_buffer *reasons);
/* Whether $CUTE_LIBCUDA names it: whoever does so means it, and does not want the emulator instead. */
bool cute_driver_is_named(void);

#endif
