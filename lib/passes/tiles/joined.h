/* Stores by TMA and reductions of sums of wgmma that are computed together: each band of columns once, for all of them. Otherwise a tile that several
 * of them use would be in registers as a whole, beside the sums that it is computed from. */
#ifndef CUTE_LIB_PASSES_TILES_JOINED_H
#define CUTE_LIB_PASSES_TILES_JOINED_H

#include "lib/passes/tiles/bands.h"

/* Of such a store or reduction: the number of its set, different from those of other sets of its block. The set is computed where its first operation is. */
#define TILE_JOINED "cute.joined"

enum { TILE_JOINED_OPS = 16 };

typedef struct tile_joined {
    MlirOperation ops[TILE_JOINED_OPS]; /* in their order */
    int count;
} tile_joined;

/* Joins the stores and reductions of a function whose tiles are distributed: marks them, and moves the operations that compute their operands in front of the first one. */
void tile_join(MlirOperation function);
/* Gives the stores of a set bands of as many columns, of which a buffer of each fits in `bytes` in a block. */
void tile_settle_joined(MlirOperation function, int64_t bytes);
/* The set of an operation; one that is not joined is alone. */
void tile_joined_with(MlirOperation op, tile_joined *out);
/* The first store of the set of a store or reduction; null: it has none. */
MlirOperation tile_joined_store(MlirOperation op);

#endif
