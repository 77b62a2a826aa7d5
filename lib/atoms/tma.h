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
    bool executable;     /* it has a barrier, or needs none */
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

/* A tensor map's element type by its name in tma_format ("F16_RN"), and the name for an element type of MLIR, NULL where
 * the accelerator has none. */
bool cute_tma_format_find(const char *name, size_t length, cute_tensor_map_type *type, int *bits);
const char *cute_tma_format_of(const char *element);

typedef struct cute_tma_request {
    cute_tma_operation operation;
    const cute_value *tensor, *tile; /* a tensor in gmem; the layout of a tile in shared memory */
    const cute_value *map;           /* from the tile's elements to the tensor's modes; NULL: mode by mode */
    const char *format, *kind, *reduce; /* NULL: as the element says; sm_90 (_multicast); ADD */
    int64_t multicast;                  /* blocks that share an instruction; 1: none */
} cute_tma_request;

/* A tensor map but for what is known at run time. Dimensions from the fastest to the slowest. */
typedef struct cute_tma_map {
    const cute_atom *atom;
    cute_value coordinates; /* the tensor of coordinates, whose unknown extents have no handles */
    cute_tensor_map_type type;
    int rank;
    uint32_t leaf[CUTE_MAP_RANK]; /* which leaf of the tensor's shape, and of its stride */
    int64_t box[CUTE_MAP_RANK];   /* of one block's instruction */
    cute_tensor_map_swizzle swizzle;
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
