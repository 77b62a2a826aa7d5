/* Texture and surface objects (CUDA C++ Programming Guide, "Texture Fetching"; the driver's cuTexObjectCreate and cuSurfObjectCreate). */
#ifndef CUTE_TEXTURE_H
#define CUTE_TEXTURE_H

#include "cute/base.h"
#include "cute/tensor_map.h"

typedef enum cute_texture_kind {
    CUTE_TEXTURE_1D,
    CUTE_TEXTURE_2D,
    CUTE_TEXTURE_3D,
    CUTE_TEXTURE_1D_LAYERED,
    CUTE_TEXTURE_2D_LAYERED,
    CUTE_TEXTURE_CUBE,
    CUTE_TEXTURE_CUBE_LAYERED,
    CUTE_TEXTURE_KINDS
} cute_texture_kind;

/* Where the texels are: in an array of the device, which is a copy of the memory; or in the memory itself, as a row of texels (1D)
 * or as rows at multiples of the pitch (2D). */
typedef enum cute_texture_memory {
    CUTE_TEXTURE_ARRAY,
    CUTE_TEXTURE_LINEAR,
    CUTE_TEXTURE_PITCH
} cute_texture_memory;

typedef enum cute_texture_format {
    CUTE_TEXTURE_U8,
    CUTE_TEXTURE_U16,
    CUTE_TEXTURE_U32,
    CUTE_TEXTURE_S8,
    CUTE_TEXTURE_S16,
    CUTE_TEXTURE_S32,
    CUTE_TEXTURE_F16,
    CUTE_TEXTURE_F32,
    CUTE_TEXTURE_FORMATS
} cute_texture_format;

/* The texel at a coordinate outside the texture: that at the edge; of the texture repeated; of the texture repeated with every other copy
 * mirrored; the border colour. */
typedef enum cute_texture_address {
    CUTE_TEXTURE_CLAMP,
    CUTE_TEXTURE_WRAP,
    CUTE_TEXTURE_MIRROR,
    CUTE_TEXTURE_BORDER
} cute_texture_address;

typedef enum cute_texture_filter { CUTE_TEXTURE_POINT, CUTE_TEXTURE_LINEAR_FILTER } cute_texture_filter;

/* `size` is sizeof(cute_texture). */
typedef struct cute_texture {
    size_t size;
    /* A surface object: only kind, format, channels and extents apply; its memory is an array. */
    bool surface;
    cute_texture_kind kind;
    cute_texture_memory memory;
    cute_texture_format format;
    int channels;         /* 1, 2 or 4 */
    cute_address address; /* of the memory */
    /* In texels; height and depth are 0 or 1 where the kind has none. depth: of a 3D texture; the layers; 6 faces for each cube. */
    uint64_t width, height, depth;
    uint64_t pitch, slice;         /* bytes from row to row, and from slice to slice; 0: without gaps */
    cute_texture_address modes[3]; /* of x, y and z */
    cute_texture_filter filter;
    bool normalized;       /* coordinates from 0 to 1 instead of texels */
    bool normalized_float; /* integers of 8 and 16 bits are read as numbers from 0 or -1 to 1 */
    bool gather;           /* of a 2D array: tld4 may read it */
    float border[4];       /* of floating-point results */
} cute_texture;

#endif
