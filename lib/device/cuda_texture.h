/* Texture and surface objects of the CUDA driver. */
#ifndef CUTE_LIB_DEVICE_CUDA_TEXTURE_H
#define CUTE_LIB_DEVICE_CUDA_TEXTURE_H

#include <stdbool.h>

#include "cute/texture.h"
#include "lib/device/cuda_api.h"

typedef struct cuda_texture {
    cute_texture texture;
    cu_array array;            /* NULL: the texels are in the memory itself */
    unsigned long long object; /* the handle that kernels get */
    bool made;                 /* `object` has to be destroyed */
} cuda_texture;

/* Whether the driver has the functions below. */
bool cute_cuda_has_textures(const cuda_api *api);
/* Makes the array, if there is one, and the object of `t->texture`, which was checked. After a failure *doing says what failed;
 * cute_cuda_texture_release is called in either case. */
cu_result cute_cuda_texture_make(const cuda_api *api, cuda_texture *t, const char **doing);
cu_result cute_cuda_texture_release(const cuda_api *api, cuda_texture *t);
/* Copies the memory to the array, or back; without an array nothing. */
cu_result cute_cuda_texture_move(const cuda_api *api, const cuda_texture *t, bool to_memory,
                                 cu_stream stream);

#endif
