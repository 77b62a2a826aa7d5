/* Where the parts of the CUDA toolkit are. Each is looked for on its own, as they come from different places
 * (a toolkit, PyPI's wheels, a distribution's packages). Knows nothing of what they are run for. */
#ifndef CUTE_LIB_TOOLKIT_TOOLKIT_H
#define CUTE_LIB_TOOLKIT_TOOLKIT_H

#include "lib/base/buffer.h"

typedef enum cute_part {
    CUTE_PTXAS,
    CUTE_NVLINK,
    CUTE_FATBINARY,
    CUTE_NVDISASM,
    CUTE_CUOBJDUMP,
    CUTE_LIBNVVM,      /* libnvvm.so.4: a path for dlopen */
    CUTE_LIBDEVICE,    /* libdevice.10.bc */
    CUTE_CUDA_INCLUDE, /* the folder with cuda.h */
    CUTE_PART_COUNT,
} cute_part;

/* Looks, in this order, in: `cuda_path` (--cuda-path; may be NULL; if given, nowhere else), the folders named
 * by CUTE_CUDA_PATH, CUDA_TOOLKIT_PATH, CUDA_HOME, CUDA_PATH, beside the program (../cuda, ../lib/cute/cuda),
 * the toolkit of a program on PATH, /usr/local/cuda, the distribution's folders. *out is in `arena`.
 * CUTE_SYSTEM with where it looked and how to get it. */
cute_status cute_toolkit_find(cute_arena *arena, cute_part part, const char *cuda_path, const char **out,
                              cute_diag *diag);
/* Adds to a key of the cache which files the parts are that make code: another ptxas makes another cubin. */
void cute_toolkit_key(cute_arena *arena, const char *cuda_path, cute_buffer *key);

#endif
