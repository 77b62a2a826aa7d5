/* What the passes on tile programs share. */
#ifndef CUTE_LIB_PASSES_TILES_TILES_H
#define CUTE_LIB_PASSES_TILES_TILES_H

#include "cute/layout.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/builder.h"
#include "lib/passes/tiles/distribution.h"

/* `value` with elements of type `to` (expand.c). */
MlirValue tile_cast(const cute_builder *b, MlirValue value, MlirType to, bool zero_extend);

/* A constant float, or a tile of it (expand.c). */
MlirValue tile_number(const cute_builder *b, MlirType type, double value);

/* A walk's visitor: a load of packed elements as a load of bytes (packed.c); sets *(bool *)context. */
void tile_expand_packed(MlirOperation op, void *context);

/* False after an error at a store that several blocks execute for the same elements (independence.c). */
bool tile_check_independence(MlirOperation function);

/* Whether a function has an operation on tiles or a value that is one. */
bool tile_is_program(MlirOperation function);
/* The kernel's attribute that states a schedule, a string (schedule.h). */
#define TILE_SCHEDULE "cute.schedule"
/* Of a kernel that is refused: a thread has too few registers (cute-tile-layouts), or the reason as a text. */
#define TILE_CROWDED "cute.crowded"
/* Of a cute.tile.convert that lanes of a warp do by shuffles, without shared memory. */
#define TILE_SWAPPED "cute.swapped"
/* That states the extents of its product. */
#define TILE_SIZES "cute.sizes"
/* Of a kernel that may start before the kernel in front of it has ended. */
#define TILE_PROGRAMMATIC "cute.programmatic"
/* Of a kernel whose last arguments, so many, are temporaries of its launch plan: slots, then flags. */
#define TILE_TEMPORARIES "cute.temporaries"
/* Of a product of warpgroups whose factor A is in registers: it is computed from sums. */
#define TILE_HELD "cute.held"
/* Of a product whose sums become a factor of another one, or whose factor does: warps divide its rows alone, so that no other warp needs them. */
#define TILE_ROWS "cute.rows"
/* Of an arith.select whose condition is seldom true, and of the branch that it becomes. */
#define TILE_RARE "cute.rare"
/* Of a cute.tile.program: the blocks of a cluster. */
#define TILE_IN_CLUSTER "in_cluster"
/* The blocks of a cluster along each dimension of the grid, of a cute.tile.program, cute.tile.workers or cute.tile.place; then, with one number
 * more, those that divide a tile. The result: how many numbers; -1: it has no cluster (launch.c). */
int tile_cluster_of(MlirOperation grid, int64_t along[CUTE_TILE_RANK]);
bool tile_is_naive(MlirOperation function);
/* The tensor that `tensor` is a part of, by cute.tile.from, cute.tile.rows or cute.tile.pages (from.c). */
MlirValue tile_tensor_root(MlirValue tensor);
/* Whether the kernel of `op` writes to the tensor, or to another part of what it is a part of. */
bool tile_is_written(MlirValue tensor, MlirOperation op);
/* Threads of a block, as cute-tile-layouts chose them: the attribute nvvm.reqntid; 0: none. */
int64_t tile_block_size(MlirOperation function);

/* Lowers cute.tile.rows to a view: a visitor of a walk (rows.c). */
void tile_lower_rows(MlirOperation op, void *context);
/* The iterator of `view`, in memory or of coordinates, behind `first` rows. */
MlirValue tile_first_row(const cute_builder *b, MlirValue view, MlirValue first);

/* Lowers cute.tile.pieces and cute.tile.piece to arithmetic: visitors of a walk (pieces.c). */
void tile_lower_pieces(MlirOperation op, void *context);
void tile_lower_piece(MlirOperation op, void *context);

/* Of an arith.divf of f32, x / (1 + e) where x is below -6 if the divisor is above 2^60, and falls slower: divisions may share a reciprocal. */
#define TILE_SHARES "cute.shares"

/* Of a load whose tile only a store by TMA uses, behind elementwise operations: each part is loaded in front of the part that is stored. */
#define TILE_LATE "cute.late"

/* ---- operations on tiles (loops.c) ---- */

/* Whether a value is a tile. */
bool tile_is_tile(MlirValue value);
/* Whether an operand or result of an operation is one. */
bool tile_has_tiles(MlirOperation op);
/* Whether an operation computes each element from those at the same place: arith and math. */
bool tile_is_elementwise(MlirOperation op);

/* ---- memory (memory.c) ---- */

/* The dimension of a tensor whose elements are adjacent, -1 if none is known, and how many elements of a tile one access of at
 * most 16 bytes may have by the tensor's alignment, extents and strides; at least 1. */
int64_t tile_access_width(const cute_value *tensor, const cute_tile_shape *tile, int *contiguous);
/* The same of copies that end with a row, as those by TMA: elements of which rows of the tensor are multiples, of at most 16 bytes. */
int64_t tile_row_alignment(const cute_value *tensor, const cute_tile_shape *tile, int *contiguous);
/* Sectors of 32 bytes that the first access of a warp touches, over the fewest possible; 1 is best. */
double tile_access_waste(const cute_value *tensor, const tile_distribution *d);

/* ---- products (gemm.c) ---- */

/* How a product is computed: by an MMA atom or, without one, by threads that multiply and add. */
typedef struct tile_product {
    const char *atom; /* text of its type */
    bool multiply_add;
    bool warpgroups;       /* wgmma: rows, columns and copies count warpgroups */
    bool held;             /* wgmma: A is in registers */
    bool tf32;             /* factors of f32 are rounded to tf32 */
    int64_t m, n, k;       /* of the atom */
    int64_t rows, columns; /* warps, or threads without an MMA, along M and N */
    int64_t copies;        /* groups of warps that compute the same */
    char text[256];        /* of the atom's type, where it depends on the tiles */
} tile_product;
/* For A and the accumulator of these shapes and elements. `op`: whose attributes tf32 (factors of f32 may be rounded) and wgmma count. */
void tile_product_choose(const cute_tile_shape *a, const cute_tile_shape *c, MlirType of_a, MlirType of_c,
                         MlirOperation op, const cute_arch *arch, int64_t threads, tile_product *out);
/* Of `groups` warpgroups, how many have rows of their own, a divisor with 64 rows or a multiple for each; 0: none can. The others divide columns. */
int64_t tile_groups_along_rows(int64_t rows, int64_t groups);
/* The distribution in which an access of `tensor` is best; false where a tile has too many modes (memory.c). */
bool tile_access_distribution(const cute_value *tensor, const cute_tile_shape *shape, int64_t threads,
                              tile_distribution *out);
/* The distribution of operand 0 (A), 1 (B) or 2 (C and D). */
bool tile_product_distribution(cute_arena *arena, MlirContext context, const tile_product *p, int operand,
                               const cute_tile_shape *shape, tile_distribution *out);
/* Threads for a product of this shape. */
int64_t tile_product_threads(int64_t m, int64_t n);

#endif
