/* Finds the parts of the CUDA toolkit. Each is searched separately, as they may come from different places (a
 * toolkit, PyPI's wheels, a distribution's packages). */
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

/* Searches, in this order: `cuda_path` (--cuda-path; may be NULL; if given, only this), the folders in
 * CUTE_CUDA_PATH, CUDA_TOOLKIT_PATH, CUDA_HOME, CUDA_PATH, folders relative to the program (../cuda,
 * ../lib/cute/cuda), the toolkit of a program on PATH, /usr/local/cuda, the distribution's folders. *out is
 * in `arena`. CUTE_SYSTEM with the searched folders and the fix. */
cute_status cute_toolkit_find(cute_arena *arena, cute_part part, const char *cuda_path, const char **out,
                              cute_diag *diag);
/* Adds to a cache key the identity of the parts that generate code: another ptxas makes another cubin. */
void cute_toolkit_key(cute_arena *arena, const char *cuda_path, cute_buffer *key);

#endif
