/* Distributions that differ in which lane of a warp holds an element: exchanged by shuffles, without shared memory.
 *
 * A swap exchanges one bit of the number of a value with one of the number of the lane: of each pair of values that differ in the former, a lane
 * sends the one that the other lane has, and keeps its own. */
#ifndef CUTE_LIB_PASSES_TILES_LANE_SWAPS_H
#define CUTE_LIB_PASSES_TILES_LANE_SWAPS_H

#include "lib/passes/tiles/emit.h"

enum { TILE_LANE_BITS = 5 };

typedef struct tile_lane_swaps {
    int count;
    struct {
        int64_t value; /* distance of the values of a pair */
        int lane;      /* bit */
    } at[TILE_LANE_BITS];
} tile_lane_swaps;

/* `from` with swaps after which `vector` adjacent elements along `dim` are a thread's, and `run` are those of a warp in one access. False where it
 * takes more than swaps. */
bool tile_lanes_along(const tile_distribution *from, int dim, int64_t run, int64_t vector,
                      tile_distribution *out);
/* The swaps that make `from` `after`: `to`, but for the order of a thread's values. False where that takes more. */
bool tile_find_swaps(const tile_distribution *from, const tile_distribution *to, tile_lane_swaps *out,
                     tile_distribution *after);
MlirValue tile_swap_lanes(tile_emitter *e, MlirValue value, const tile_lane_swaps *swaps);

#endif
