/* Shared libraries opened at run time: the CUDA driver and other optional ones. */
#ifndef CUTE_LIB_BASE_SYSTEM_LIBRARY_H
#define CUTE_LIB_BASE_SYSTEM_LIBRARY_H

#include "lib/base/buffer.h"

/* Opens the library named by the environment variable `variable`, or, if it is unset or empty, the first
 * available of `names` (NULL-terminated). Libraries stay mapped until the process ends: CUDA's do not survive
 * dlclose. *path (may be NULL): the library opened, or the first one tried. NULL: none; `reasons` (may be
 * NULL) gets a line for each attempt. */
void *cute_library_open(const char *variable, const char *const *names, const char **path,
                        cute_buffer *reasons);

/* Adds a note for each line of `reasons`, which it releases. */
void cute_library_notes(cute_buffer *reasons, cute_diag *diag);

/* Opens the CUDA driver: $CUTE_LIBCUDA, else libcuda.so.1. */
void *cute_driver_open(const char **path, cute_buffer *reasons);
/* Whether $CUTE_LIBCUDA is set: an explicit request for the driver, so the emulator is not a substitute. */
bool cute_driver_is_named(void);

#endif
