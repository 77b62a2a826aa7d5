/* TMA atoms: their types, the tensor map for a tensor and a tile in shared memory, and the partition of both
 * for the copy. Sources: CuTe C++ (copy_traits_sm90_tma.hpp), PTX ISA 8.5 5.5 (tensors), CUDA driver API
 * (cuTensorMapEncodeTiled). */
#ifndef CUTE_LIB_ATOMS_TMA_H
#define CUTE_LIB_ATOMS_TMA_H

#include "cute/tensor_map.h"
#include "lib/atoms/parts.h"

typedef enum cute_tma_operation { CUTE_TMA_LOAD, CUTE_TMA_STORE, CUTE_TMA_REDUCE } cute_tma_operation;

/* The parsed type of a TMA atom. */
typedef struct cute_tma {
    cute_tma_operation operation;
    bool executable; /* it has its mbarrier, or needs none */
    /* Im2col mode: a column of pixels with their channels, not a box; tma_gbasis: (channels, pixels, 1...) */
    bool im2col;
    const char *element; /* "f16" */
    int bits;            /* per element */
    int64_t copy_bits;   /* copied by one instruction, for all blocks that share it */
    cute_layout basis;   /* tma_gbasis: the extents of the box, and the mode of the tensor that each counts */
    const char *format;  /* "F16_RN"; NULL: executable */
    const char *kind;   /* of a load: "sm_90", "sm_90_multicast" and so on; NULL: executable, or not a load */
    const char *reduce; /* of a reduction: "ADD" and so on */
    bool multicast;     /* a load writes to several blocks of the cluster */
    int blocks;         /* of a load: number of cooperating blocks (sm_100), else 1 */
} cute_tma;

/* The number of elements of one instruction, for all blocks that share it. */
int64_t cute_tma_elements(const cute_tma *tma);
/* Fills `out` from the fields of an atom of that family and checks them. */
cute_status cute_tma_of_fields(cute_arena *arena, const atom_family *family, const atom_fields *fields,
                               const cute_tma **out, cute_diag *diag);
/* The executable atom of a non-executable one. */
cute_status cute_tma_executable(cute_arena *arena, const cute_atom *atom, const cute_atom **out,
                                cute_diag *diag);

/* ---- bulk copies without a tensor map: contiguous bytes (CuTe C++: SM90_BULK_COPY_G2S, S2G) ---- */

typedef struct cute_bulk {
    cute_space from, to; /* gmem to smem, smem to gmem, smem to dsmem */
    const char *element;
    int bits;
    const char *reduce; /* PTX's operation: "add", "min", ..., or NULL */
    const char *type;   /* of a reduction: PTX's type, with .noftz if required: "noftz.f16" */
} cute_bulk;

cute_status cute_bulk_of_fields(cute_arena *arena, const atom_fields *fields, const cute_bulk **out,
                                cute_diag *diag);

/* ---- tensor maps ---- */

enum {
    CUTE_MAP_GROUP = 16, /* maximum number of modes combined in the last dimension */
    CUTE_TMA_COORDINATES = CUTE_MAP_RANK + CUTE_MAP_SPATIAL /* of an instruction: im2col appends offsets */
};

/* The element type of a tensor map by its name in tma_format ("F16_RN"), and the name for an MLIR element
 * type (NULL if TMA does not support it). */
bool cute_tma_format_find(const char *name, size_t length, cute_tensor_map_type *type, int *bits);
const char *cute_tma_format_of(const char *element);

/* The enumerated properties of a tensor map; their words ("none", "128B") are indexed by the driver's
 * values. */
typedef enum cute_tma_choice {
    CUTE_TMA_SWIZZLE,
    CUTE_TMA_INTERLEAVE,
    CUTE_TMA_PROMOTION,
    CUTE_TMA_FILL
} cute_tma_choice;
/* The first word for a value out of range. */
const char *cute_tma_word(cute_tma_choice choice, int value);
/* CUTE_INVALID: unknown word; the message lists the known ones. */
cute_status cute_tma_word_find(cute_tma_choice choice, const char *word, int *value, cute_diag *diag);

/* The im2col parameters of width, height and depth, as far as the tensor has them. */
typedef struct cute_tma_im2col {
    int64_t lower[CUTE_MAP_SPATIAL], upper[CUTE_MAP_SPATIAL]; /* corners of the box of pixels */
    int64_t stride[CUTE_MAP_SPATIAL];                         /* between pixels */
    int64_t filter[CUTE_MAP_SPATIAL],
        dilation[CUTE_MAP_SPATIAL]; /* positions of the filter, and their distance in pixels */
} cute_tma_im2col;

typedef struct cute_tma_request {
    cute_tma_operation operation;
    const cute_value *tensor, *tile; /* a tensor in gmem; the layout of a tile in shared memory */
    const cute_value *map;           /* from the tile's elements to the tensor's modes; NULL: mode by mode */
    const char *format, *kind, *reduce; /* NULL: derived from the element type; sm_90 (_multicast); ADD */
    int64_t multicast;                  /* blocks that share an instruction; 1: none */
    int interleave, promotion, fill;    /* the driver's values */
    const cute_tma_im2col *im2col;      /* NULL: tiles */
} cute_tma_request;

/* A tensor map without the properties known only at run time. Dimensions are ordered from fastest to
 * slowest. */
typedef struct cute_tma_map {
    const cute_atom *atom;
    cute_value coordinates; /* the tensor of coordinates; its unknown extents have no handles */
    cute_tensor_map map;    /* without address, dims and strides; the box is one block's */
    /* For each dimension, the leaf of the tensor's shape and stride; the last dimension combines `groups`
     * leaves, whose coordinates are scaled by `scale`. */
    uint32_t leaf[CUTE_MAP_RANK + CUTE_MAP_GROUP];
    int64_t scale[CUTE_MAP_RANK + CUTE_MAP_GROUP];
    int groups;
    int64_t group_stride; /* of the last dimension if it combines several leaves, in elements */
} cute_tma_map;

/* CUTE_INVALID: no tensor map supports the request; the message suggests an alternative. */
cute_status cute_tma_plan(cute_arena *arena, const cute_tma_request *request, cute_tma_map *out,
                          cute_diag *diag);

/* ---- partitions ---- */

/* tma_partition: rearranges mode 0 of a tensor in shared memory and of one of coordinates as (elements of one
 * instruction, instructions), starting at the part of the block at `coordinate` of `blocks`, the blocks that
 * share the copy. `arith` as in cute_apply. */
cute_status cute_tma_partition(cute_arena *arena, const cute_arith *arith, const cute_tma *tma,
                               const cute_value *coordinate, const cute_value *blocks,
                               const cute_value *shared, const cute_value *global, cute_value *shared_part,
                               cute_value *global_part, cute_diag *diag);

#endif
