/* The lowering of one kernel from tiles to vectors of each thread, and what its files share. */
#ifndef CUTE_LIB_PASSES_TILES_EMIT_H
#define CUTE_LIB_PASSES_TILES_EMIT_H

#include "lib/ir/mlir/arith.h"
#include "lib/passes/tiles/tiles.h"

enum { TILE_OPERANDS = 12 };

/* An operation on tiles, and how its tiles are distributed; types of the values are vectors already. */
typedef struct tile_op {
    MlirOperation op;
    bool tile[TILE_OPERANDS]; /* which operands are tiles */
    tile_distribution in[TILE_OPERANDS], out;
    bool same_mask[CUTE_TILE_RANK]; /* of a load or store: its mask repeats along the dimension */
} tile_op;

typedef struct tile_emitter {
    cute_arena *arena;
    MlirContext context;
    MlirOperation function;
    const cute_arch *arch;
    cute_builder b;       /* before the operation that is lowered */
    MlirValue thread;     /* i32 */
    int64_t threads;      /* of a block */
    bool naive;           /* the kernel's schedule */
    int64_t shared_bytes; /* dynamic shared memory: the most that one operation needs */
    bool failed;          /* after an error */
} tile_emitter;

/* ---- operations and constants ---- */

/* The only result of an operation whose type follows; a null value after an error. */
MlirValue tile_emit(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes);
/* cute.static of `!cute.CLASS<"TEXT">`, given as that text. */
MlirValue tile_static(tile_emitter *e, const char *type);
MlirType tile_type(tile_emitter *e, const char *text);
MlirValue tile_i32(tile_emitter *e, int64_t value);
MlirType tile_i32_type(tile_emitter *e);
/* A constant of an element type, by a word of Cute_TileFill. */
MlirValue tile_fill_value(tile_emitter *e, MlirType element, MlirStringRef word);
/* Fails with an error at the operation. */
void tile_fail(tile_emitter *e, const char *text);

/* ---- vectors ---- */

MlirType tile_vector_type(MlirType element, int64_t count);
/* The elements of `value` at `map`. */
MlirValue tile_pick(tile_emitter *e, MlirValue value, const int32_t *map, int64_t count);
/* Elements of a, then of b. */
MlirValue tile_concat(tile_emitter *e, MlirValue a, MlirValue b);
MlirValue tile_splat(tile_emitter *e, MlirValue scalar, int64_t count);
/* A constant vector of i32. */
MlirValue tile_i32_vector(tile_emitter *e, const int32_t *values, int64_t count);
/* Combines two vectors or scalars by a kind of cute.tile.reduce. */
MlirValue tile_combine(tile_emitter *e, MlirStringRef kind, MlirValue a, MlirValue b);

/* ---- where a thread is ---- */

/* The thread's part of the coordinate in dimension `dim`. */
MlirValue tile_thread_coord(tile_emitter *e, const tile_distribution *d, int dim);
/* Of the row-major index of the element. */
MlirValue tile_thread_index(tile_emitter *e, const tile_distribution *d);
/* i1: of the threads that hold the same elements, this is the first; null where each element has one thread. */
MlirValue tile_is_first(tile_emitter *e, const tile_distribution *d);

/* The same distribution over as many threads as hold different elements, and this thread's index among them. */
MlirValue tile_thread_of(tile_emitter *e, const tile_distribution *d, tile_distribution *without);

/* ---- regions ---- */

/* An scf.if without results before the current operation: what is emitted until tile_if_end is inside. A null condition: nothing
 * is wrapped. */
typedef struct tile_if {
    cute_builder outside;
    bool wrapped;
} tile_if;
tile_if tile_if_begin(tile_emitter *e, MlirValue condition);
void tile_if_end(tile_emitter *e, tile_if *i);

/* ---- memory (memory.c) ---- */

/* A tensor in shared memory at byte `offset`: elements of `element` (MLIR's text), `layout` a text, dimensions as of the tile.
 * Counts as used. */
MlirValue tile_shared_view(tile_emitter *e, const char *element, int bits, const char *layout,
                           int64_t elements, int64_t offset);
/* Row-major layout of a tile as a text, or with dimension `fastest` contiguous. */
const char *tile_compact_layout(tile_emitter *e, const cute_tile_shape *shape, int fastest);
/* All threads of the block. */
void tile_barrier(tile_emitter *e);
/* Copies the thread's vector to `tensor`, a whole tile in shared memory, and back. `width`: elements of an access. */
void tile_to_shared(tile_emitter *e, const tile_distribution *d, MlirValue vector, MlirValue tensor,
                    int64_t width);
MlirValue tile_from_shared(tile_emitter *e, const tile_distribution *d, MlirValue tensor, int64_t width);
/* Adjacent elements along `dim` that are a thread's, at most 16 bytes of `bits` each. */
int64_t tile_run(const tile_distribution *d, int dim, int bits);
/* Element type as MLIR's text, in the arena, and bits; i1 is stored as i8. */
const char *tile_element_text(tile_emitter *e, MlirType element, int *bits);
/* An i1 vector as i8, any other itself, and back. */
MlirValue tile_as_stored(tile_emitter *e, MlirValue vector);
MlirValue tile_as_held(tile_emitter *e, MlirValue vector, MlirType element);

/* ---- the operations: the value that takes the place of the result, or null ---- */

MlirValue tile_lower_load(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_store(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_gather(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_scatter(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_convert(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_reduce(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_scan(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_gemm(tile_emitter *e, const tile_op *t);

#endif
