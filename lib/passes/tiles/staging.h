/* Tiles that pass from one distribution to another through shared memory: one layout, which all threads write and then read. */
#ifndef CUTE_LIB_PASSES_TILES_STAGING_H
#define CUTE_LIB_PASSES_TILES_STAGING_H

#include "lib/passes/tiles/emit.h"

/* One side: its values in the order of its accesses, and where elements are. */
typedef struct tile_side {
    tile_distribution d;
    int64_t stride[CUTE_TILE_RANK], width; /* in elements */
    bool load;
} tile_side;

typedef struct tile_staging {
    tile_side write, read;
    int64_t elements; /* with padding */
    cute_swizzle swizzle;
    bool plain; /* addresses have no swizzle */
    double cost;
} tile_staging;

/* The best way from `from` to `to`. */
typedef enum tile_staging_kind {
    TILE_SAME,       /* the same tile */
    TILE_RESHAPED,   /* of another shape, both row-major */
    TILE_UNSWIZZLED, /* the same, without a swizzle of addresses */
} tile_staging_kind;
void tile_choose_staging(tile_emitter *e, const tile_distribution *from, const tile_distribution *to,
                         tile_staging_kind kind, int bits, tile_staging *best);
/* The tile in shared memory as this side has it. */
MlirValue tile_staging_view(tile_emitter *e, const tile_staging *s, const tile_side *of, const char *element,
                            int bits);
/* The registers of `value`, distributed as `from`, in the order of `to`, which has the same elements in the same threads. */
MlirValue tile_reorder(tile_emitter *e, MlirValue value, const tile_distribution *from,
                       const tile_distribution *to);
/* `value` from one distribution to another, through shared memory. */
MlirValue tile_stage(tile_emitter *e, MlirValue value, const tile_distribution *from,
                     const tile_distribution *to, tile_staging_kind kind);

#endif
