/* Tensor maps (tensor descriptors of TMA; PTX ISA 8.5, 5.5; the driver's cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col). */
#ifndef CUTE_TENSOR_MAP_H
#define CUTE_TENSOR_MAP_H

#include "cute/base.h"

/* An address in a device's memory; 0: none. */
typedef uint64_t cute_address;

/* The values of the enumerations are the driver's: CUtensorMapDataType and so on. */
typedef enum cute_tensor_map_type {
    CUTE_MAP_U8,
    CUTE_MAP_U16,
    CUTE_MAP_U32,
    CUTE_MAP_I32,
    CUTE_MAP_U64,
    CUTE_MAP_I64,
    CUTE_MAP_F16,
    CUTE_MAP_F32,
    CUTE_MAP_F64,
    CUTE_MAP_BF16,
    CUTE_MAP_F32_FTZ,
    CUTE_MAP_TF32,
    CUTE_MAP_TF32_FTZ
} cute_tensor_map_type;

typedef enum cute_tensor_map_interleave {
    CUTE_MAP_INTERLEAVE_NONE,
    CUTE_MAP_INTERLEAVE_16B,
    CUTE_MAP_INTERLEAVE_32B
} cute_tensor_map_interleave;

typedef enum cute_tensor_map_swizzle {
    CUTE_MAP_SWIZZLE_NONE,
    CUTE_MAP_SWIZZLE_32B,
    CUTE_MAP_SWIZZLE_64B,
    CUTE_MAP_SWIZZLE_128B,
    CUTE_MAP_SWIZZLE_128B_ATOM_32B,
    CUTE_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
    CUTE_MAP_SWIZZLE_128B_ATOM_64B
} cute_tensor_map_swizzle;

typedef enum cute_tensor_map_promotion {
    CUTE_MAP_L2_NONE,
    CUTE_MAP_L2_64B,
    CUTE_MAP_L2_128B,
    CUTE_MAP_L2_256B
} cute_tensor_map_promotion;

/* The value of elements read outside the tensor. */
typedef enum cute_tensor_map_fill { CUTE_MAP_FILL_ZEROS, CUTE_MAP_FILL_NAN } cute_tensor_map_fill;

/* Width, height and depth are the CUTE_MAP_SPATIAL dimensions between channels and batch. */
enum { CUTE_MAP_RANK = 5, CUTE_MAP_SPATIAL = 3, CUTE_MAP_BYTES = 128 };

/* `size` is sizeof(cute_tensor_map). Extents are listed from the fastest dimension to the slowest, as in the
 * driver. */
typedef struct cute_tensor_map {
    size_t size;
    cute_tensor_map_type type;
    int rank;
    cute_address address;
    uint64_t dims[CUTE_MAP_RANK];
    uint64_t strides[CUTE_MAP_RANK]; /* bytes; strides[i] is that of dimension i + 1 */
    uint32_t box[CUTE_MAP_RANK], element_strides[CUTE_MAP_RANK];
    cute_tensor_map_interleave interleave;
    cute_tensor_map_swizzle swizzle;
    cute_tensor_map_promotion l2_promotion;
    cute_tensor_map_fill fill;
    /* im2col mode: the dimensions are channels, width, height, depth (rank - 2 of these three) and batch;
     * box[0] counts the channels of a pixel and box[1] the pixels of a column; the corners of the pixel box
     * are offsets from the first and the last pixel. */
    bool im2col;
    int32_t lower[CUTE_MAP_SPATIAL], upper[CUTE_MAP_SPATIAL];
} cute_tensor_map;

#endif
