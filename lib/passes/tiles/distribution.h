/* How the elements of a tile are distributed over the threads of a block: a layout from (thread, value) to coordinates of the
 * tile, as CuTe's thread-value layouts. Written as the encoding of a tensor type it has basis strides, a mode of the stride for
 * each dimension: #cute.layout<"((8,16),(8,2)):((8@1,1@0),(1@1,16@0))">, where a stride of 0 among the threads' means that
 * these threads hold the same elements. Knows no MLIR but that attribute. */
#ifndef CUTE_LIB_PASSES_TILES_DISTRIBUTION_H
#define CUTE_LIB_PASSES_TILES_DISTRIBUTION_H

#include <mlir-c/IR.h>

#include "cute/base.h"
#include "cute/layout.h"
#include "lib/ir/ops/tile.h"

enum { TILE_MODES = 28, TILE_COPIES = -1 /* dimension of a mode along which elements repeat */ };

/* `extent` indices that advance the coordinate in dimension `dim` by `step` each. */
typedef struct tile_mode {
    int64_t extent;
    int dim;
    int64_t step;
} tile_mode;

typedef struct tile_modes {
    int count;
    tile_mode at[TILE_MODES]; /* the first is the fastest */
} tile_modes;

typedef struct tile_distribution {
    cute_tile_shape shape;
    tile_modes threads, values;
} tile_distribution;

int64_t tile_modes_size(const tile_modes *modes);
/* Number of threads, and of values of each. */
int64_t tile_threads(const tile_distribution *d);
int64_t tile_values(const tile_distribution *d);
/* Adds the coordinate of index `i` of `modes` to `coord`. */
void tile_modes_coord(const tile_modes *modes, int64_t i, int64_t coord[CUTE_TILE_RANK]);
/* Row-major index in the tile of value `value` of thread `thread`. */
int64_t tile_element_index(const tile_distribution *d, int64_t thread, int64_t value);
/* Joins modes that follow one another and drops those of extent 1. */
void tile_normalize(tile_distribution *d);
bool tile_distribution_equal(const tile_distribution *a, const tile_distribution *b);
/* Appends a mode unless its extent is 1; false when there are too many. */
bool tile_modes_add(tile_modes *modes, int64_t extent, int dim, int64_t step);

/* ---- making one; false when it has too many modes ---- */

/* Blocked: `vector` adjacent elements of dimension order[0] and `second` of order[1] are a thread's, then threads are laid along
 * the dimensions of `order`; the rest of the tile are further values, the remaining threads hold copies. */
bool tile_blocked(const cute_tile_shape *shape, const int *order, int64_t vector, int64_t second,
                  int64_t threads, tile_distribution *out);
/* The same, but adjacent threads hold `run` elements of order[0] at a time, and the next threads those of other dimensions: parts of a run's
 * length then are at constant distances in a thread, which needs an address for fewer of its elements. */
bool tile_in_runs(const cute_tile_shape *shape, const int *order, int64_t vector, int64_t run,
                  int64_t threads, tile_distribution *out);
/* tile_blocked with the last dimension first. */
bool tile_row_major(const cute_tile_shape *shape, int64_t vector, int64_t threads, tile_distribution *out);
/* Each thread along `axis` holds adjacent elements, all of them in lanes of one warp: what a scan works on. */
bool tile_for_scan(const cute_tile_shape *shape, int axis, int64_t threads, tile_distribution *out);
/* All threads hold all elements. */
bool tile_replicated(const cute_tile_shape *shape, int64_t threads, tile_distribution *out);
/* That of a tile of shape `shape` which broadcasts to d's: threads along repeated dimensions hold copies. */
bool tile_projected(const tile_distribution *d, const cute_tile_shape *shape, tile_distribution *out);
/* Dimension i is dimension order[i] of d. */
void tile_permuted(const tile_distribution *d, const int64_t *order, tile_distribution *out);
/* Of the same elements, counted row-major, in another shape; false where a mode does not fit it. */
bool tile_reshaped(const tile_distribution *d, const cute_tile_shape *shape, tile_distribution *out);

/* Without dimension `mode`, which is a thread's whole: that of the elements at one index. False where threads share it. */
bool tile_picked(const tile_distribution *d, int mode, tile_distribution *out);
/* The reverse: with a dimension `mode` of this extent, whose elements are a thread's. */
bool tile_stacked(const tile_distribution *d, int mode, int64_t extent, tile_distribution *out);

/* The columns (the last dimension) of a tile in `bands` parts side by side, each a part of every thread's values: the distribution of one. False
 * where the columns of a thread are not so. */
bool tile_band(const tile_distribution *d, int64_t bands, tile_distribution *out);
/* The values of each thread that are those of band `band`, in order. */
void tile_band_map(const tile_distribution *d, int64_t bands, int64_t band, int32_t *map);

/* Whether threads that hold elements along `dim` are lanes of one warp. */
bool tile_along_lanes(const tile_distribution *d, int dim);

/* Orders the values of each thread: those along `dim` first, adjacent ones next to one another. */
void tile_adjacent_first(tile_distribution *d, int dim);

/* ---- relations ---- */

/* For each value of `to`, the value of `from` that is the same element in every thread; false where some thread lacks one.
 * The tiles have the same shape, or from's broadcasts to to's. `map` has tile_values(to) entries. */
bool tile_registers_map(cute_arena *arena, const tile_distribution *from, const tile_distribution *to,
                        int32_t *map);
/* The value of each thread that has index `index` in dimension `mode` of `with`, for each value of `without`, where `without` is
 * tile_picked(with). */
bool tile_picked_map(const tile_distribution *with, const tile_distribution *without, int mode, int64_t index,
                     int32_t *map);

/* ---- text ---- */

/* "((8,16),(8,2)):((8@1,1@0),(1@1,16@0))" */
const char *tile_distribution_text(cute_arena *arena, const tile_distribution *d);
MlirAttribute tile_encoding(MlirContext context, cute_arena *arena, const tile_distribution *d);
/* That of a tensor type's encoding; false where it has none, or one that is not a distribution. */
bool tile_distribution_of(MlirType type, tile_distribution *out);
/* Integer strides: (thread, value) to the index with dimension 0 fastest, as tiled copies have it. */
const char *tile_copy_text(cute_arena *arena, const tile_distribution *d);

#endif
