/* Instructions of tensors as operations of nvvm, llvm and inline PTX: the one place that writes them. */
#ifndef CUTE_LIB_PASSES_DEVICES_ARCH_H
#define CUTE_LIB_PASSES_DEVICES_ARCH_H

#include "cute/tensor_map.h"
#include "lib/atoms/atoms.h"
#include "lib/atoms/tma.h"
#include "lib/ir/mlir/builder.h"

/* The address (an !llvm.ptr) of a pointer, swizzled as its type says. */
MlirValue cute_arch_address(const cute_builder *b, MlirValue pointer);

/* cp.async of 4, 8 or 16 bytes; `global`: past the L1. Where `predicate` (i1; null: none) is false the bytes become 0.
 * `prefetch`: bytes of the L2 to fetch with them, 0, 64, 128 or 256; `policy`: a cache policy (i64), or null. */
typedef struct cute_cp_async {
    int bytes, prefetch;
    bool global;
    MlirValue predicate, policy;
} cute_cp_async;
void cute_arch_cp_async(const cute_builder *b, MlirValue to, MlirValue from, const cute_cp_async *how);

/* A cache policy (i64) for all of an access: createpolicy of the L2, "evict_first" or the like. */
MlirValue cute_arch_policy(const cute_builder *b, const char *eviction);

/* ldmatrix: words[] gets `matrices` (1, 2, 4) i32. */
void cute_arch_ldmatrix(const cute_builder *b, MlirValue from, int matrices, bool transposed,
                        MlirValue *words);
void cute_arch_stmatrix(const cute_builder *b, MlirValue to, int matrices, bool transposed,
                        const MlirValue *words);

/* mma.sync: registers of A, B and C in order; of whatever type, if it has their bits. d[] may be c[]: it gets registers
 * of the type that cute_arch_register names. False where the atom has no single instruction. */
bool cute_arch_mma(const cute_builder *b, const cute_atom *atom, const MlirValue *a, const MlirValue *bs,
                   const MlirValue *c, MlirValue *d);
/* f32, f64, i32 or i64. */
MlirType cute_arch_register(const cute_builder *b, const cute_atom_operand *operand);

/* prefetch.global.L2 */
void cute_arch_prefetch(const cute_builder *b, MlirValue from);

/* ---- the tensor memory accelerator (arch_tma.c) ---- */

typedef enum cute_tma_way { CUTE_TMA_WAY_LOAD, CUTE_TMA_WAY_STORE, CUTE_TMA_WAY_PREFETCH } cute_tma_way;

/* What the instructions of a copy share. Values that are null are not there. */
typedef struct cute_tma_copy {
    cute_tma_way way;
    int rank;
    bool im2col;
    int offsets;         /* of an im2col load: coordinates of the filter */
    const char *reduce;  /* of a store: "ADD" and the like, or NULL */
    MlirValue map;       /* a generic pointer */
    MlirValue barrier;   /* of a load: a pointer to shared memory */
    MlirValue mask;      /* of a load: the blocks (i16) that get it */
    MlirValue policy;    /* of the L2 (i64) */
    MlirValue predicate; /* i1 */
} cute_tma_copy;

typedef struct cute_tma_run {
    MlirValue shared; /* a pointer to shared memory, without a swizzle */
    MlirValue
        coordinates[CUTE_TMA_COORDINATES]; /* i32, the fastest dimension first; behind them offsets, i16 */
} cute_tma_run;

/* `count` instructions, run by one elected lane; all lanes of the warp have to come. `runs` is changed. */
void cute_arch_tma(const cute_builder *b, const cute_tma_copy *copy, cute_tma_run *runs, int64_t count);
/* Bulk copies without a tensor map, in the same way. Addresses are pointers of the spaces that `bulk` names. */
typedef struct cute_bulk_run {
    MlirValue to, from;
    int64_t bytes;
} cute_bulk_run;
void cute_arch_bulk(const cute_builder *b, const cute_tma_copy *copy, const struct cute_bulk *bulk,
                    cute_bulk_run *runs, int64_t count);
/* What tensormap.replace changes of a map in shared memory, whose address is an i32: address (i64), extents (i32) and, but
 * for the first dimension, strides in bytes (i64). An elected lane does it. */
typedef struct cute_map_update {
    MlirValue map, address, extents[CUTE_MAP_RANK], strides[CUTE_MAP_RANK];
    int rank;
} cute_map_update;
void cute_arch_update_map(const cute_builder *b, const cute_map_update *update);
/* prefetch.tensormap of a generic pointer. */
void cute_arch_prefetch_map(const cute_builder *b, MlirValue map);

#endif
