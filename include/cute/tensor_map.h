/* Tiled tensor maps (tensor descriptors of TMA; PTX ISA 8.5, 5.5; cuTensorMapEncodeTiled of the driver). */
#ifndef CUTE_TENSOR_MAP_H
#define CUTE_TENSOR_MAP_H

#include "cute/base.h"

/* An address in a device's memory; 0 is no memory. */
typedef uint64_t cute_address;

/* A tiled tensor map. Extents run from the fastest dimension to the slowest, as cuTensorMapEncodeTiled
 * takes them; the values of the enumerations are the driver's too. */
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

enum { CUTE_MAP_RANK = 5, CUTE_MAP_BYTES = 128 };

typedef struct cute_tensor_map {
    cute_tensor_map_type type;
    int rank;
    cute_address address;
    uint64_t dims[CUTE_MAP_RANK];
    uint64_t strides[CUTE_MAP_RANK]; /* bytes; of dimension i + 1 */
    uint32_t box[CUTE_MAP_RANK], element_strides[CUTE_MAP_RANK];
    int interleave;   /* 0 none, 1 16B, 2 32B */
    int swizzle;      /* 0 none, 1 32B, 2 64B, 3 128B, 4 128B_atom_32B, 5 ..._flip_8B, 6 128B_atom_64B */
    int l2_promotion; /* 0 none, 1 64B, 2 128B, 3 256B */
    int fill;         /* 0 zeros, 1 NaN */
} cute_tensor_map;

#endif
