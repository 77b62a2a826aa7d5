/* Atoms of the tensor memory accelerator: what their types say, which tensor map a tensor and a tile in shared memory
 * need, and how both are partitioned for it. Sources: CuTe C++ (copy_traits_sm90_tma.hpp), PTX ISA 8.5 5.5 (tensors),
 * CUDA driver API (cuTensorMapEncodeTiled). */
#ifndef CUTE_LIB_ATOMS_TMA_H
#define CUTE_LIB_ATOMS_TMA_H

#include "cute/tensor_map.h"
#include "lib/atoms/parts.h"

typedef enum cute_tma_operation { CUTE_TMA_LOAD, CUTE_TMA_STORE, CUTE_TMA_REDUCE } cute_tma_operation;

/* What the type of such an atom says. */
typedef struct cute_tma {
    cute_tma_operation operation;
    bool executable; /* it has a barrier, or needs none */
    bool im2col; /* pixels of a column with channels each, not a box; tma_gbasis: (channels, pixels, 1...) */
    const char *element; /* "f16" */
    int bits;            /* of an element */
    int64_t copy_bits;   /* that all blocks that share an instruction get of it */
    cute_layout basis;   /* tma_gbasis: extents of the box, and which mode of the tensor each counts */
    const char *format;  /* "F16_RN"; NULL: executable */
    const char *kind;    /* of a load: "sm_90", "sm_90_multicast" and the like; NULL: executable, or none */
    const char *reduce;  /* of a reduction: "ADD" and the like */
    bool multicast;      /* a load writes to several blocks of the cluster */
    int blocks;          /* of a load: that work together (sm_100), else 1 */
} cute_tma;

/* Elements that one instruction moves, those of all blocks that share it. */
int64_t cute_tma_elements(const cute_tma *tma);
/* What stands in `field` of an atom that an operation of that family made, or checks it. */
cute_status cute_tma_of_fields(cute_arena *arena, const atom_family *family, const atom_fields *fields,
                               const cute_tma **out, cute_diag *diag);
/* The atom that can run, of one that can't. */
cute_status cute_tma_executable(cute_arena *arena, const cute_atom *atom, const cute_atom **out,
                                cute_diag *diag);

/* ---- bulk copies without a tensor map: contiguous bytes (CuTe C++: SM90_BULK_COPY_G2S, S2G) ---- */

typedef struct cute_bulk {
    cute_space from, to; /* gmem to smem, smem to gmem, smem to dsmem */
    const char *element;
    int bits;
    const char *reduce; /* "add", "min", ... of PTX, or NULL */
    const char *type;   /* of a reduction: PTX's, with .noftz where it wants that: "noftz.f16" */
} cute_bulk;

cute_status cute_bulk_of_fields(cute_arena *arena, const atom_fields *fields, const cute_bulk **out,
                                cute_diag *diag);

/* ---- tensor maps ---- */

enum {
    CUTE_MAP_GROUP = 16, /* modes of a tensor in the last dimension, at most */
    CUTE_TMA_COORDINATES = CUTE_MAP_RANK + CUTE_MAP_SPATIAL /* of an instruction: im2col has offsets behind */
};

/* A tensor map's element type by its name in tma_format ("F16_RN"), and the name for an element type of MLIR, NULL where
 * the accelerator has none. */
bool cute_tma_format_find(const char *name, size_t length, cute_tensor_map_type *type, int *bits);
const char *cute_tma_format_of(const char *element);

/* Words for what a tensor map chooses: "none", "128B"; the driver's values are their indices. */
typedef enum cute_tma_choice {
    CUTE_TMA_SWIZZLE,
    CUTE_TMA_INTERLEAVE,
    CUTE_TMA_PROMOTION,
    CUTE_TMA_FILL
} cute_tma_choice;
/* Of a value that is out of range: the first word. */
const char *cute_tma_word(cute_tma_choice choice, int value);
/* CUTE_INVALID: there is no such word; the message has those that there are. */
cute_status cute_tma_word_find(cute_tma_choice choice, const char *word, int *value, cute_diag *diag);

/* What an im2col copy has of width, height and depth, as far as the tensor has them. */
typedef struct cute_tma_im2col {
    int64_t lower[CUTE_MAP_SPATIAL], upper[CUTE_MAP_SPATIAL];     /* corners of the box of pixels */
    int64_t stride[CUTE_MAP_SPATIAL];                             /* from a pixel to the next */
    int64_t filter[CUTE_MAP_SPATIAL], dilation[CUTE_MAP_SPATIAL]; /* positions, and pixels between two */
} cute_tma_im2col;

typedef struct cute_tma_request {
    cute_tma_operation operation;
    const cute_value *tensor, *tile; /* a tensor in gmem; the layout of a tile in shared memory */
    const cute_value *map;           /* from the tile's elements to the tensor's modes; NULL: mode by mode */
    const char *format, *kind, *reduce; /* NULL: as the element says; sm_90 (_multicast); ADD */
    int64_t multicast;                  /* blocks that share an instruction; 1: none */
    int interleave, promotion, fill;    /* the driver's values */
    const cute_tma_im2col *im2col;      /* NULL: tiles */
} cute_tma_request;

/* A tensor map but for what is known at run time. Dimensions from the fastest to the slowest. */
typedef struct cute_tma_map {
    const cute_atom *atom;
    cute_value coordinates; /* the tensor of coordinates, whose unknown extents have no handles */
    cute_tensor_map map;    /* no address, dims and strides; the box is one block's */
    /* Leaves of the tensor's shape, and of its stride: one of each dimension, but of the last one `groups`, whose
     * coordinates count `scale` each. */
    uint32_t leaf[CUTE_MAP_RANK + CUTE_MAP_GROUP];
    int64_t scale[CUTE_MAP_RANK + CUTE_MAP_GROUP];
    int groups;
    int64_t group_stride; /* of the last dimension where it has several leaves, in elements */
} cute_tma_map;

/* CUTE_INVALID where no tensor map can do it: the message says what would. */
cute_status cute_tma_plan(cute_arena *arena, const cute_tma_request *request, cute_tma_map *out,
                          cute_diag *diag);

/* ---- partitions ---- */

/* tma_partition: mode 0 of a tensor in shared memory and of one of coordinates as (what one instruction moves,
 * instructions), beginning at what block `coordinate` of `blocks` (its coordinate among those that share the copy)
 * brings. `arith` as cute_apply's. */
cute_status cute_tma_partition(cute_arena *arena, const cute_arith *arith, const cute_tma *tma,
                               const cute_value *coordinate, const cute_value *blocks,
                               const cute_value *shared, const cute_value *global, cute_value *shared_part,
                               cute_value *global_part, cute_diag *diag);

#endif
