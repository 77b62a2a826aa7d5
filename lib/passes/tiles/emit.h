/* The lowering of one kernel from tiles to vectors of each thread, and what its files share. */
#ifndef CUTE_LIB_PASSES_TILES_EMIT_H
#define CUTE_LIB_PASSES_TILES_EMIT_H

#include "lib/ir/mlir/arith.h"
#include "lib/passes/tiles/tiles.h"

enum { TILE_OPERANDS = 12 };

/* A barrier or wait of a store by TMA, and the bytes that a warpgroup has for the store. */
typedef struct tile_order {
    MlirOperation op;
    int64_t stored;
} tile_order;

/* Operations that all threads of a block execute together, or those of a role. */
typedef struct tile_role {
    MlirOperation op;          /* cute.tile.role; null: the block */
    int64_t first_warp, warps; /* warps: of a turn */
    int64_t turns;             /* groups of so many warps, each of which executes the operations */
    MlirValue turn;            /* i32: this group; null: there is one */
    MlirValue memory;          /* i32: byte of the role's shared memory where the group's begins */
    MlirOperation own;         /* arith.constant: bytes of a group's memory, set at the role's end */
    int barrier;               /* named barrier; 0: the block's */
    MlirValue thread;          /* i32, from 0 in the role, or in its group */
    MlirValue warp;            /* i32 that is the same in all lanes, from 0 in the block */
    MlirValue elected;         /* i1: of the role's first warp, one thread */
    bool stores;               /* by TMA: its warpgroups wait for them at the end */
    cute_builder end;          /* behind its operations */
    int64_t scratch;           /* byte of shared memory from which its operations may use it */
    bool shares;               /* this memory: not only stores by TMA do */
    bool mixed;                /* stores of different bytes do */
    int64_t stored;            /* bytes that a warpgroup has for a store by TMA; 0: there is none yet */
    tile_order orders[16];     /* of stores by TMA, which are only needed then */
    int order_count;
} tile_role;

/* A tensor as a part of another one: its element 0 is at index first[i] of mode mode[i]. */
enum { TILE_FROM = 8 };
typedef struct tile_origin {
    MlirValue root;
    int count, mode[TILE_FROM];
    MlirValue first[TILE_FROM];
    MlirOperation from[TILE_FROM]; /* the cute.tile.from or cute.tile.rows */
    bool stays[TILE_FROM];         /* it is lowered behind all operations on tiles: a cute.tile.rows */
} tile_origin;

/* Entries of a table of pages that a role of one warp has read: each lane one. */
enum { TILE_TABLES = 8 };
typedef struct tile_table {
    const tile_role *role;
    MlirValue table, row, count; /* of cute.tile.pages */
    MlirValue cells;             /* of each lane: the first entry that the warp has read, and the lane's */
} tile_table;

/* A ring or pipe, in the kernel's shared memory. */
typedef struct tile_buffer {
    bool is_pipe;
    const cute_value *ring; /* the type of a ring */
    int64_t offset;         /* bytes */
    MlirValue
        view; /* the tensor, or the pointer to the mbarriers; the operation's result until it is lowered */
    int64_t expected;          /* of a pipe: bytes that arrive at a stage; 0: warps that have written it do */
    int64_t writers;           /* of a pipe: their arrivals; else 1 */
    struct tile_buffer *pipe;  /* of a ring; null: none */
    struct tile_buffer *whole; /* the ring that this one is a part of; null: none */
    bool by_threads;           /* of a ring with a pipe that threads write: products do not read it */
    MlirValue tma, coords, exec; /* of a ring that TMA fills */
    int64_t stages, bytes;
    int64_t readers;   /* of a pipe: threads of a block that release a stage to each block that fills it */
    bool by_warpgroup; /* of a pipe: one of each warpgroup, not warp */
    bool drained;      /* of a pipe: the role that fills it ends when all stages are empty */
    int shares[4],
        share_count; /* of a pipe: the different `multicast` of its fetches, a bit for each dimension; 0 if it is the only one */
    bool addressed;     /* a ring that TMA fills */
    bool paged;         /* of a ring: each page of a tile is fetched from a place of its own */
    tile_origin origin; /* of a ring: where its tiles are in an argument of the kernel */
    bool taken, rounds; /* of a ring: something reads it; only products in tf32 do, for which TMA rounds */
    int multicast;      /* of a ring: that of its fetches */
} tile_buffer;
/* A sum while products are under way: its registers. */
typedef struct tile_accumulator {
    MlirValue carried, variable;
    MlirOperation settle; /* in the block of its product, without a loop that carries it; null: a loop does */
    MlirOperation first;  /* the first product of an iteration that adds to it */
    bool from_zero; /* the variable is not set in front of the loop: the first product does not read it */
} tile_accumulator;
/* A load with TILE_LATE: bands of its columns, as vectors, which are loaded where the store needs them. */
typedef struct tile_late {
    const struct tile_op *load;
    struct tile_late_copies
        *copies; /* NULL: threads load them; else those of its store, which TMA does (late_copies.h) */
    int index;   /* of it there */
    int64_t bands;
    int32_t *band_of, *place_of; /* for each value of the thread: its band, and where it is there */
    MlirValue *loaded;           /* of each band; null: not yet */
    struct tile_late *next;
} tile_late;
/* Blocks of a cluster that write each other's memory (peers.c). */
typedef struct tile_peers {
    bool write;
    int role;
    /* The cluster's barrier is that of the block's mbarriers, too, for all roles but the first. */
    bool by_roles;
    bool met; /* the role has waited */
} tile_peers;
enum { TILE_BUFFERS = 64, TILE_ROLES = 8, TILE_ACCUMULATORS = 32 };

/* Where an operand of a product is in shared memory. */
typedef struct tile_source {
    tile_buffer *ring; /* NULL: in registers */
    MlirValue stage;   /* i32 */
    int dims
        [2]; /* of the ring's, for each of the operand's dimensions: the last of those that are one there */
    int64_t extent[2]; /* of the operand */
} tile_source;

/* An operation on tiles, and how its tiles are distributed; types of the values are vectors already. */
typedef struct tile_op {
    MlirOperation op;
    tile_role *role;
    tile_source source[2];    /* of a product */
    bool in_place;            /* a take whose users all read the stage themselves, or a view of one */
    bool kept;                /* a take that such users still refer to */
    bool done;                /* it was lowered with one that it is joined with */
    bool tile[TILE_OPERANDS]; /* which operands are tiles */
    tile_distribution in[TILE_OPERANDS], out;
    bool same_mask[CUTE_TILE_RANK]; /* of a load or store: its mask repeats along the dimension */
    int64_t parts;                  /* of a reduction: tile_parts_of_groups */
    bool first_parts;               /* nothing reads the memory of parts any more */
    bool met;           /* of a vote: of all warps; of a put: they have met since products read its stage */
    bool follows_loads; /* of a store: other threads may have loaded the elements that a thread overwrites */
    bool follows_stores,
        follows_tma; /* of a load: other threads, or TMA, may have stored the elements that a thread reads */
} tile_op;

typedef struct tile_emitter {
    cute_arena *arena;
    MlirContext context;
    MlirOperation function;
    const cute_arch *arch;
    cute_builder b;                     /* before the operation that is lowered */
    cute_builder start;                 /* at the kernel's start, after the values that all operations use */
    MlirValue thread;                   /* i32, of the role that is lowered */
    int64_t threads;                    /* of that role */
    tile_role roles[TILE_ROLES], *role; /* the first is the block */
    int role_count;
    tile_buffer buffers[TILE_BUFFERS];
    int buffer_count;
    tile_table tables[TILE_TABLES];
    int table_count;
    tile_accumulator accumulators[TILE_ACCUMULATORS];
    int accumulator_count;
    tile_late *late;
    struct tile_late_copies *copies; /* of stores whose late loads TMA does */
    struct tile_row *rows;           /* late loads of one row */
    MlirOperation settled;           /* loop whose products have been waited for, in `settled_in` */
    MlirBlock settled_in;
    int64_t cluster[CUTE_TILE_RANK],
        cluster_size; /* blocks of a cluster along each dimension of the grid, and all */
    MlirValue rank;   /* of the block in its cluster, i32: the first dimension is the fastest */
    tile_peers peers;
    struct tile_scatter *scatter;                /* of cute.tile.reduce_scatter; NULL: the kernel has none */
    struct tile_cluster_reduce *cluster_reduces; /* of each cute.tile.cluster_reduce */
    struct tile_index *indices;                  /* of each cute.tile.iota */
    bool naive;                                  /* the kernel's schedule */
    bool
        frees_stages; /* operations that need shared memory use that of stages, which are free behind their loops */
    int64_t shared_bytes; /* dynamic shared memory that was used up to now */
    int64_t parts;        /* byte of shared memory where warpgroups combine parts of rows */
    bool failed;          /* after an error */
} tile_emitter;

/* ---- operations and constants ---- */

/* An operation whose result types follow; null after an error. */
MlirOperation tile_emit_op(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes);
/* The only result of such an operation; a null value after an error. */
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
/* The same elements, of a value that elementwise operations compute: of their results only these are computed. A tile that is stored
 * part by part takes no registers for the whole of each step. */
MlirValue tile_part(tile_emitter *e, MlirValue value, const int32_t *map, int64_t count);
/* The same for several values, whose common operands are computed once. Null: memory is exhausted. */
typedef struct tile_parts tile_parts;
tile_parts *tile_begin_parts(tile_emitter *e, const int32_t *map, int64_t count);
MlirValue tile_part_of(tile_emitter *e, tile_parts *parts, MlirValue value);
/* `value`, which elementwise operations compute from `leaf` and numbers, with other elements in place of the leaf's. */
MlirValue tile_part_from(tile_emitter *e, MlirValue value, MlirValue leaf, MlirValue elements);
/* Elements of a, then of b. */
MlirValue tile_concat(tile_emitter *e, MlirValue a, MlirValue b);
MlirValue tile_splat(tile_emitter *e, MlirValue scalar, int64_t count);
/* The element of the concatenation of its operands that element `i` of a vector.shuffle is. */
int64_t tile_shuffled_from(MlirOperation shuffle, int64_t i);
/* A constant vector of i32. */
MlirValue tile_i32_vector(tile_emitter *e, const int32_t *values, int64_t count);
/* Combines two vectors or scalars by a kind of cute.tile.reduce. */
MlirValue tile_combine(tile_emitter *e, MlirStringRef kind, MlirValue a, MlirValue b);
/* A scalar of any type, of another lane, in words of 32 bits. `mode`: that of cute_nvgpu.arch.shuffle. */
MlirValue tile_shuffle(tile_emitter *e, MlirValue value, MlirValue lane, const char *mode);
/* The warps that have parts of the same rows, one of each of `parts` warpgroups, meet. */
void tile_meet_parts(tile_emitter *e, int64_t parts);
/* i1: whether it is true in a lane of the warps that have parts of the same rows, one of each of `parts` warpgroups. */
MlirValue tile_vote_of_parts(tile_emitter *e, int64_t parts, MlirValue condition);
/* The same in a thread of the role, or of its group. */
MlirValue tile_vote(tile_emitter *e, MlirValue condition);

/* ---- where a thread is ---- */

/* The thread's part of the coordinate in dimension `dim`. */
MlirValue tile_thread_coord(tile_emitter *e, const tile_distribution *d, int dim);
/* The thread's part of the element's place in memory with these strides. */
MlirValue tile_thread_offset(tile_emitter *e, const tile_distribution *d, const int64_t *strides);
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
/* An empty scf.for over numbers of i32, which stays a loop. */
MlirOperation tile_emit_loop(tile_emitter *e, int64_t from, int64_t to);

/* The same view (of memory or coordinates), in which the tile at `coord` is outside where its index along a mode of one tile is not 0. */
MlirValue tile_open_view(tile_emitter *e, MlirValue view, const cute_tile_shape *tile, MlirValue coord);

/* ---- tensors from an index on (from.c) ---- */

/* False where it is of too many parts. */
bool tile_origin_of(MlirValue tensor, tile_origin *out);
/* A view of `origin`'s root, memory or coordinates, moved to where the part begins; its layout stays. */
MlirValue tile_move_view(tile_emitter *e, MlirValue view, const tile_origin *origin);
MlirValue tile_lower_from(tile_emitter *e, const tile_op *t);

/* ---- memory (memory.c) ---- */

/* Copies a tile of a tensor to a tensor in shared memory, elements outside as 0, by cp.async where accesses are 4 bytes or more. */
void tile_copy_to_stage(tile_emitter *e, MlirValue tensor, MlirValue coord, const cute_tile_shape *tile,
                        MlirValue stage);
/* A tensor in shared memory at byte `offset` of the memory shared by the role's operations: elements of `element`
 * (MLIR's text), `layout` a text, dimensions as of the tile. Counts as used. */
MlirValue tile_shared_view(tile_emitter *e, const char *element, int bits, const char *layout,
                           int64_t elements, int64_t offset);
/* The same for a pointer with a swizzle. */
MlirValue tile_shared_swizzled(tile_emitter *e, const cute_pointer *pointer, const char *layout,
                               int64_t elements, int64_t offset);
/* "(8,4):(4,1)": the layout of a tile with these strides. */
const char *tile_layout_text(tile_emitter *e, const cute_tile_shape *shape, const int64_t *strides);
/* Row-major layout of a tile as a text, or with dimension `fastest` contiguous. */
const char *tile_compact_layout(tile_emitter *e, const cute_tile_shape *shape, int fastest);
/* All threads of the block, or of the role. */
MlirOperation tile_barrier(tile_emitter *e);
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
/* The thread's elements of the tile that a cute.tile.load reads at `coord`, in another distribution. */
MlirValue tile_load_as(tile_emitter *e, MlirOperation load, MlirValue coord, const tile_distribution *d);
/* Notes a load with TILE_LATE, which stays in place until its store is lowered, for bands of so many columns. False where memory is exhausted. */
bool tile_note_late(tile_emitter *e, const tile_op *load);
/* Resets the late loads for the next store, whose bands have `columns` columns. */
void tile_begin_late(tile_emitter *e, int64_t columns);
/* Values `map` of a load with TILE_LATE, all of one band. */
MlirValue tile_late_part(tile_emitter *e, MlirOperation load, const int32_t *map, int64_t count);
MlirValue tile_lower_gather(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_scatter(tile_emitter *e, const tile_op *t);
/* The same registers where the distributions allow it, else through shared memory (staging.c). */
MlirValue tile_lower_convert(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_reshape(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_reduce(tile_emitter *e, const tile_op *t);
/* Allocates the memory where warpgroups combine parts of rows, behind the earlier allocations. */
void tile_place_parts(tile_emitter *e);
MlirValue tile_lower_scan(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_gemm(tile_emitter *e, const tile_op *t);

/* A reduction whose operand is there part by part (reduce.c). */
typedef struct tile_reduction {
    const tile_op *t;
    tile_distribution d; /* of the results before threads combine them */
    int32_t *result_of;  /* for each value of the thread */
    struct tile_partial *partial;
    int count;
    int64_t distance
        [5]; /* of the places of lanes that have different results, for each step between lanes; 0: they have the same */
    int steps;
    MlirValue whole; /* results of the bands before, where a warp has all parts of them */
} tile_reduction;
/* False after an error. */
bool tile_begin_reduction(tile_emitter *e, const tile_op *t, tile_reduction *r);
/* Adds values `map` of the operand. */
void tile_add_to_reduction(tile_emitter *e, tile_reduction *r, MlirValue values, const int32_t *map,
                           int64_t count);
/* Behind the parts of a band: lanes of a warp that have parts of the same results combine them, or else ptxas would leave the parts in registers, to be
 * combined behind the last band. */
void tile_finish_band(tile_emitter *e, tile_reduction *r);
/* The result, behind all values. */
MlirValue tile_end_reduction(tile_emitter *e, tile_reduction *r);

/* Whether operations on tiles of so many values of a thread behind a loop of products need many registers beside its sums (behind_loop.c). */
bool tile_is_heavy_behind(MlirOperation loop, int64_t values);

/* ---- stores by TMA (tma_store.c) ---- */

/* Named barriers of warpgroups, at most 4 of them, and of their turns; those before are of roles, of which there are few where corresponding warps
 * of warpgroups have barriers of their own. */
enum {
    TILE_PART_BARRIERS = 4,
    TILE_GROUP_BARRIERS = TILE_ROLES,
    TILE_TURN_BARRIERS = TILE_GROUP_BARRIERS + 4
};
MlirValue tile_lower_tma_store(tile_emitter *e, const tile_op *t);
/* Stores and reductions that are joined (joined.h), in their order; results[i] of each reduction. */
void tile_lower_joined(tile_emitter *e, const tile_op *const *ops, int count, MlirValue *results);
/* All threads of a warpgroup, by the barrier of its stores. */
void tile_group_barrier(tile_emitter *e);
/* i1: the first warp of a warpgroup. Roles begin at whole warpgroups. */
MlirValue tile_leads_group(tile_emitter *e);
/* Waits until the buffers of this warpgroup's stores have been read; `leads`: i1, its first warp. */
MlirOperation tile_wait_stores(tile_emitter *e, MlirValue leads);
/* The same for a warp that is known to be the first, until all but its latest `stores` have read theirs. */
void tile_wait_reads(tile_emitter *e, int64_t stores);
/* All threads of the role: until what its stores have written is there to be loaded; `tma`: also by TMA. */
void tile_wait_written(tile_emitter *e, bool tma);
/* Behind the last of a role: barriers and waits for other uses of the memory are removed where there are none, and are around a loop where the others are
 * stores of other sizes outside of it. */
void tile_finish_stores(tile_emitter *e, const tile_role *role);

/* ---- stages and roles (stages.c, roles.c) ---- */

/* Finds the roles, rings and pipes of the kernel, and places the latter in shared memory. False after an error. */
bool tile_find_stages(tile_emitter *e);
/* Whether all users of a take read its stage themselves: products, through views. */
bool tile_read_in_place(MlirOperation take);
tile_buffer *tile_buffer_of(tile_emitter *e, MlirValue value);
/* Arrivals at an empty mbarrier of a pipe in a phase. */
int64_t tile_pipe_arrivals(const tile_emitter *e, const tile_buffer *pipe);
tile_role *tile_role_of(tile_emitter *e, MlirOperation op);
/* A pointer to byte `offset` of the block's shared memory, of the type `pointer`, to elements of `bits`; moved by `by` elements. */
MlirValue tile_shared_at(tile_emitter *e, const char *pointer, int bits, int64_t offset);
MlirValue tile_offset_by(tile_emitter *e, MlirValue pointer, MlirValue by);
/* An atom with `field`, the text of an attribute, set. */
MlirValue tile_set_field(tile_emitter *e, MlirValue atom, MlirValue value, const char *field);
/* Its number in descriptions: from 0; the block's is 0, too. */
int64_t tile_role_number(const tile_emitter *e, const tile_role *role);
/* Fetches the tensor map of a TMA atom into the cache of constants, by one thread. */
void tile_prefetch_map(tile_emitter *e, MlirValue tma);
/* All threads of the block, or of its cluster if it has one. */
void tile_block_barrier(tile_emitter *e);
/* Emits for the threads of a role from here on. */
void tile_enter_role(tile_emitter *e, tile_role *role);
MlirValue tile_lower_ring(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_pipe(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_acquire(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_drain(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_await(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_release(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_fetch(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_take(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_put(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_role(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_turn(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_begin_turn(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_end_turn(tile_emitter *e, const tile_op *t);
/* `pointer`, to elements of `bits`, moved to the memory of this group of a role with turns. */
MlirValue tile_own_memory(tile_emitter *e, MlirValue pointer, int bits);
/* This warpgroup's number in its role, or in its group of a role with turns. */
MlirValue tile_group_index(tile_emitter *e);
/* The same among those of all groups of the role. */
MlirValue tile_group_number(tile_emitter *e);
/* The waits at the end of roles and blocks. */
void tile_finish_roles(tile_emitter *e);
/* Moves a wait for products, with the reads of sums and releases of stages behind it, into the regions of a branch with TILE_RARE that follows it:
 * ptxas schedules instructions in front of a wait behind it, but not across a branch (late_waits.c). */
void tile_delay_waits(MlirOperation function);
/* Fetches each of the tile's pages, of a tensor of cute.tile.pages, from `tensor` at `coord` to `to`, its part of `view` (pages.c). */
typedef void tile_fetch_page(tile_emitter *e, const tile_op *t, const cute_tile_shape *page, MlirValue tensor,
                             MlirValue coord, MlirValue to, void *context);
void tile_fetch_pages(tile_emitter *e, const tile_op *t, const cute_tile_shape *tile, MlirValue view,
                      tile_fetch_page *fetch, void *context);
/* The element at `coord`, an integer for each mode; `fill` where it is outside or `mask`, unless null, is false (memory.c). */
MlirValue tile_load_element(tile_emitter *e, MlirValue tensor, int rank, const MlirValue *coord,
                            MlirValue mask, MlirValue fill);
/* The coordinate in the tensor itself of a load of one page. */
MlirValue tile_one_page(tile_emitter *e, MlirOperation load);
/* A load of such a tensor, element by element. */
MlirValue tile_load_pages(tile_emitter *e, const tile_op *t);
/* Removes a cute.tile.pages: a visitor of a walk. */
void tile_remove_pages(MlirOperation op, void *context);
/* The stage of a ring as a tensor with an operand's two dimensions, then a mode of stages if `all`. */
MlirValue tile_stage_view(tile_emitter *e, const tile_source *s, bool all);
/* Mode `i` of tensor `value` has index `at`, the others are kept. */
MlirValue tile_slice_last(tile_emitter *e, MlirValue value, int rank, MlirValue at);

/* ---- products (gemm.c) ---- */

/* Registers that hold `values` of an atom, rest0 by rest1 of them, as a tensor; `vector` is stored there unless it is null. */
MlirValue tile_fragment(tile_emitter *e, const char *element, int64_t values, int64_t rest0, int64_t rest1,
                        MlirValue vector);
/* The atom's text for stages of these majors: whether M or N is contiguous, not K. */
void tile_wgmma_atom(tile_product *p, const char *element, const char *sum, bool a_mn, bool b_mn);

/* ---- comparisons of indices (compare_indices.c) ---- */

/* `value` is the vector of an iota: first + own[i]. `own` is kept. */
void tile_note_index(tile_emitter *e, MlirValue value, MlirValue first, const int32_t *own, int64_t count);
/* Compares constants with distances where that takes fewer instructions. */
void tile_compare_indices(tile_emitter *e);

/* ---- divisions (reciprocals.c) ---- */

/* Lets divisions with TILE_SHARES share reciprocals. */
void tile_share_reciprocals(tile_emitter *e);

/* ---- partial sums in global memory (partial_sums.c) ---- */

MlirValue tile_lower_signal(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_give(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_collect(tile_emitter *e, const tile_op *t);

/* ---- blocks of a cluster that write each other's shared memory (peers.c) ---- */

/* An operation by which they do. Before operations are lowered, after the buffers' fetches are known. */
void tile_note_peers(tile_emitter *e, MlirOperation op);
/* An operation without results that follow from it. */
void tile_sync(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes);
/* An mbarrier at byte `offset` of shared memory, whose only phase ends when so many bytes have arrived: one thread. */
void tile_init_bytes(tile_emitter *e, int64_t offset, int64_t bytes);
/* At the kernel's start, all threads. */
void tile_begin_peers(tile_emitter *e);
/* Whether blocks write each other's memory: fetches for several blocks, and mbarriers of the stages that these fill. */
bool tile_shares_stages(const tile_emitter *e);
/* Whether the cluster's barrier takes the place of the block's at the start: the first role, of whose warp a thread initialises mbarriers, does not
 * wait for other warps. */
bool tile_peers_start(const tile_emitter *e);
/* Then: in front of the roles, and at the start of each. */
void tile_arrive_peers(tile_emitter *e);
void tile_start_role(tile_emitter *e, const tile_role *role);
/* At the end of a role: the wait for the cluster, if another role writes to other blocks. */
void tile_join_peers(tile_emitter *e, const tile_role *role);
/* Before a write to another block. */
void tile_meet_peers(tile_emitter *e);
/* The rank in the cluster of the block whose place along a dimension is `i`, where that of this block is `own`. */
MlirValue tile_peer_rank(tile_emitter *e, int along, MlirValue own, MlirValue i);

/* ---- sums of the blocks of a cluster (reduce_scatter.c, cluster_reduce.c) ---- */

/* Finds the kernel's cute.tile.reduce_scatter and places its slots and mbarrier. False after an error. */
bool tile_find_scatter(tile_emitter *e);
void tile_init_scatter(tile_emitter *e);
MlirValue tile_lower_reduce_scatter(tile_emitter *e, const tile_op *t);
/* The same for each cute.tile.cluster_reduce. */
bool tile_find_cluster_reduces(tile_emitter *e);
void tile_init_cluster_reduces(tile_emitter *e);
MlirValue tile_lower_cluster_reduce(tile_emitter *e, const tile_op *t);

/* ---- products of warpgroups (wgmma_products.c) ---- */

/* Of a product with `pending`, before operations are lowered: the registers of its sums. False after an error. */
bool tile_make_accumulator(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_wgmma(tile_emitter *e, const tile_op *t);
MlirValue tile_lower_settle(tile_emitter *e, const tile_op *t);

#endif
