/* Emission of tensor instructions as operations of nvvm, llvm and inline PTX; no other file emits these. */
#ifndef CUTE_LIB_PASSES_DEVICES_ARCH_H
#define CUTE_LIB_PASSES_DEVICES_ARCH_H

#include "cute/tensor_map.h"
#include "lib/atoms/atoms.h"
#include "lib/atoms/tma.h"
#include "lib/ir/mlir/builder.h"

/* The address (an !llvm.ptr) of a pointer, with the swizzle of its type applied. */
MlirValue cute_arch_address(const cute_builder *b, MlirValue pointer);

/* cp.async of 4, 8 or 16 bytes; `global`: bypasses the L1 cache. Writes zeros if `predicate` (i1; may be
 * null) is false. `prefetch`: bytes to prefetch into the L2 cache, 0, 64, 128 or 256; `policy`: a cache
 * policy (i64), or null. */
typedef struct cute_cp_async {
    int bytes, prefetch;
    bool global;
    MlirValue predicate, policy;
} cute_cp_async;
void cute_arch_cp_async(const cute_builder *b, MlirValue to, MlirValue from, const cute_cp_async *how);

/* An L2 cache policy (i64) for a whole access: createpolicy with "evict_first" or similar. */
MlirValue cute_arch_policy(const cute_builder *b, const char *eviction);

/* ldmatrix: fills words[] with `matrices` (1, 2, 4) values i32. */
void cute_arch_ldmatrix(const cute_builder *b, MlirValue from, int matrices, bool transposed,
                        MlirValue *words);
void cute_arch_stmatrix(const cute_builder *b, MlirValue to, int matrices, bool transposed,
                        const MlirValue *words);

/* mma.sync: registers of A, B and C in order, of any type of the right size. d[] may equal c[]; it
 * receives registers of the type returned by cute_arch_register. False if no single instruction implements
 * the atom. */
bool cute_arch_mma(const cute_builder *b, const cute_atom *atom, const MlirValue *a, const MlirValue *bs,
                   const MlirValue *c, MlirValue *d);
/* f32, f64, i32 or i64. */
MlirType cute_arch_register(const cute_builder *b, const cute_atom_operand *operand);

/* prefetch.global.L2 */
void cute_arch_prefetch(const cute_builder *b, MlirValue from);

/* ---- the tensor memory accelerator (arch_tma.c) ---- */

typedef enum cute_tma_way { CUTE_TMA_WAY_LOAD, CUTE_TMA_WAY_STORE, CUTE_TMA_WAY_PREFETCH } cute_tma_way;

/* Operands shared by the instructions of a copy. Null operands are absent. */
typedef struct cute_tma_copy {
    cute_tma_way way;
    int rank;
    bool im2col;
    int offsets;         /* number of im2col filter offsets; loads only */
    const char *reduce;  /* reduction such as "ADD", or NULL; stores only */
    MlirValue map;       /* generic pointer to the tensor map */
    MlirValue barrier;   /* pointer to the mbarrier in shared memory; loads only */
    MlirValue mask;      /* multicast mask of blocks (i16); loads only */
    MlirValue policy;    /* L2 cache policy (i64) */
    MlirValue predicate; /* i1 */
} cute_tma_copy;

typedef struct cute_tma_run {
    MlirValue shared;                            /* pointer to shared memory, unswizzled */
    MlirValue coordinates[CUTE_TMA_COORDINATES]; /* i32, fastest dimension first; followed by offsets, i16 */
} cute_tma_run;

/* Emits `count` instructions run by one elected lane; all lanes of the warp must reach them. Changes
 * `runs`. */
void cute_arch_tma(const cute_builder *b, const cute_tma_copy *copy, cute_tma_run *runs, int64_t count);
/* Bulk copies without a tensor map. The pointers are in the memory spaces of `bulk`. */
typedef struct cute_bulk_run {
    MlirValue to, from;
    int64_t bytes;
} cute_bulk_run;
void cute_arch_bulk(const cute_builder *b, const cute_tma_copy *copy, const struct cute_bulk *bulk,
                    cute_bulk_run *runs, int64_t count);
/* Fields changed by tensormap.replace in a map in shared memory, whose address is an i32: address (i64),
 * extents (i32) and, except for the first dimension, strides in bytes (i64). Run by an elected lane. */
typedef struct cute_map_update {
    MlirValue map, address, extents[CUTE_MAP_RANK], strides[CUTE_MAP_RANK];
    int rank;
} cute_map_update;
void cute_arch_update_map(const cute_builder *b, const cute_map_update *update);
/* prefetch.tensormap of a generic pointer. */
void cute_arch_prefetch_map(const cute_builder *b, MlirValue map);

#endif
