/* How the loops of a tile program are scheduled: stages, roles, clusters. One text holds a whole schedule, on the kernel
 * (`cute.schedule = "stages=4 consumers=2"`) or the command line; cute-tile-schedule completes it. */
#ifndef CUTE_LIB_PASSES_TILES_SCHEDULE_H
#define CUTE_LIB_PASSES_TILES_SCHEDULE_H

#include "lib/model/model.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/tiles.h"

typedef enum tile_l2 {
    TILE_L2_NORMAL,
    TILE_L2_STREAM /* tiles that differ between rows of the grid, those of A, are read once: they leave first */
} tile_l2;

typedef struct tile_schedule {
    bool naive;     /* one element at a time, no tensor cores, a barrier before each operation: a reference */
    int stages;     /* buffers of each load of a loop; 1: loads are not ahead */
    int consumers;  /* warpgroups that multiply, beside a warp that loads by TMA; 0: each warp does both */
    int threads;    /* of a block without such roles; 0: chosen by the tiles */
    int cluster[2]; /* blocks along the last two dimensions of the grid, which share loads */
    int persistent; /* 1: as many blocks as fit on the device take tiles in turn */
    int order;      /* tiles along the first of the last two dimensions before the next along the second */
    int tail;       /* of the last wave's tiles, a cute_model_tail: how resident blocks share them */
    int turns;      /* 1: warpgroups compute alternate tiles of resident blocks; 0: they share each tile */
    int split;      /* blocks of a cluster that divide the k of a tile */
    int slices;     /* groups of a block's warps that divide it further, each with stages of its own */
    int blocks;     /* of a multiprocessor at once, which their registers and stages allow for */
    int l2;         /* a tile_l2: how long tiles that are fetched stay in L2 */
    int factors;    /* 1: a warpgroup beside the consumers computes the factor of their product */
    bool given[13]; /* which of these a text stated, by tile_schedule_rows' index */
} tile_schedule;

/* The defaults: nothing is ahead, blocks are not resident. */
void tile_schedule_init(tile_schedule *s);
/* Parses "stages=4 cluster=2x1". False after an error at `location`. */
bool tile_schedule_parse(MlirStringRef text, MlirLocation location, tile_schedule *out);
/* Of a kernel's attribute; the defaults where it has none. The text has been checked. */
void tile_schedule_of(MlirOperation function, tile_schedule *out);
bool tile_schedule_states(const tile_schedule *s, const char *name);
/* The value of that name is stated from here on. */
void tile_schedule_state(tile_schedule *s, const char *name);
/* Warpgroups that compute a tile together. */
int tile_schedule_groups(const tile_schedule *s);
void tile_schedule_set(MlirOperation function, const tile_schedule *s);
/* "whole", "split" or "stream". */
const char *tile_schedule_tail(int tail);
/* Whether passes behind cute-tile-schedule have applied a kernel's schedule, as in a module that was printed there. */
bool tile_schedule_is_applied(MlirOperation function);
/* How many divide the k of a tile: the slices of all blocks of a cluster that do. They are blocks up to cute-tile-slices. */
int tile_schedule_shares(const tile_schedule *s);
/* A block's shared memory for a slice that uses so many bytes: stages are aligned as in a block. */
int64_t tile_slice_bytes(const tile_schedule *s, int64_t bytes);
/* The bytes that each slice of a block has, if the block has so many. */
int64_t tile_slice_share(const tile_schedule *s, int64_t bytes);
/* ptxas leaves registers to as many blocks of a multiprocessor as the schedule asks for. */
void tile_keep_blocks(MlirOperation function);

/* ---- the choice (choice.c) ---- */

/* Sizes of a kernel's product: the attribute `cute.sizes = "m=4096 n=4096 k=4096 batch=1"`. 0: not stated. */
typedef struct tile_sizes {
    int64_t m, n, k, batch;
} tile_sizes;
/* False after an error at `location`. */
bool tile_sizes_parse(MlirStringRef text, MlirLocation location, tile_sizes *out);
/* Completes a schedule by the cost model: of the schedules that the passes accept for the kernel's products and that agree with what a
 * text stated, the one with the least estimated time, never one that is slower than without stages. Remarks tell the estimate and
 * refused choices, and the `listed` likeliest schedules. Marks the products that warpgroups compute. */
void tile_schedule_choose(cute_pass_run *pass, const cute_arch *arch, MlirOperation function,
                          const tile_sizes *sizes, int listed, tile_schedule *s);

/* Whether there are TMA and wgmma. */
static inline bool tile_is_hopper(const cute_arch *arch)
{
    return arch && arch->number == 90 && arch->variant == 'a';
}

/* ---- factors on a warpgroup of their own (factors.c) ---- */

/* Whether a product of the kernel has a factor that one warpgroup can compute for those that divide the columns of its sums. */
bool tile_has_wide_factor(MlirOperation function);
/* Why a warpgroup of its own cannot, with this schedule, once products are marked; NULL: it can. */
const char *tile_why_no_factors(MlirOperation function, const tile_schedule *s);
/* Threads of that warpgroup; 0: there is none. */
int64_t tile_factor_threads(const tile_schedule *s);
/* Columns of an instruction, where a warpgroup has `own` of a product: ptxas refuses one with more registers than a thread has at the launch, which is
 * 128 in a block of 512 threads (gemm.c). */
int64_t tile_factor_columns(int64_t own);
/* Notes for cute-tile-fit that it cannot after all, with the reason. */
void tile_give_up_factors(MlirOperation function, const char *why);
/* Sums of the product that are scaled where a rare condition is true become sums that are scaled where the scale, which is 1 elsewhere, is not 1: one
 * tile then passes between the warpgroups. */
void tile_scale_by_factors(MlirOperation function);

/* Whether a cute.tile.convert is to a distribution over other threads, which a ring makes of it (crossings.c). */
bool tile_changes_role(MlirOperation op);
/* Passes tiles between that warpgroup and the consumers. False: one of them is known only in a branch; nothing is changed (crossings.c). */
bool tile_pass_between_roles(MlirOperation function);
/* In roles: a tile that the products of both read is fetched, and given back, in parts of its columns (parts.c). */
void tile_fetch_in_parts(MlirOperation function);
/* The pipe of a ring's fetches or puts; null: it has none (exchange.c). */
MlirValue tile_pipe_of(MlirValue ring);
/* The pipe of a cute.tile.fetch or cute.tile.put, whose stage is complete when these have filled it; null: it has none, or is another operation. */
MlirValue tile_filled_pipe(MlirOperation op);
/* A ring of so many stages for tiles of the type of `tile`, in front of all else in the kernel (exchange.c). */
MlirValue tile_make_ring(MlirOperation function, MlirValue tile, int stages);

/* ---- launches (launch.c) ---- */

/* Whether the kernel's module declares a host function of its name, whose body cute-tile-launch makes: one that launches several kernels. */
bool tile_is_declared_on_host(MlirOperation kernel);

/* ---- kernels without products (traffic.c) ---- */

/* Remarks with the `listed` likeliest block sizes of a kernel without products, and their estimates; `stated`: the only one, 0: none is stated. */
void tile_list_threads(cute_pass_run *pass, const cute_model_device *device, MlirOperation function,
                       const tile_sizes *sizes, int64_t stated, int listed);
/* Threads of a block that the tiles of a kernel without products call for. */
int64_t tile_usual_threads(MlirOperation function);

/* ---- loops (loops.c) ---- */

MlirBlock tile_loop_body(MlirOperation loop);
/* A new scf.for in the place of `loop`, which carries `count` more values, from `initial`; they are the last arguments of its body,
 * and its terminator yields them unchanged. `loop` is destroyed. */
MlirOperation tile_loop_carry(MlirOperation loop, const MlirValue *initial, intptr_t count);
/* LLVM and ptxas neither unroll it nor peel iterations off. */
void tile_loop_keep_whole(MlirOperation loop);
/* The index of the stage behind `stage`, of `count`. */
MlirValue tile_stage_behind(const cute_builder *b, MlirValue stage, int64_t count);
/* The loop with products that is directly in a block of `function`. */
typedef struct tile_product_loop {
    MlirBlock block;
    MlirOperation loop;      /* null: there is none */
    bool several, elsewhere; /* others are; products are outside of it */
    bool only_loads;         /* nothing else in front of it has effects */
} tile_product_loop;
tile_product_loop tile_find_product_loop(MlirOperation function, MlirBlock block);
/* The operation of `block` that uses `value` first, itself or in a region; its terminator if none does. */
MlirOperation tile_first_user(MlirBlock block, MlirValue value);
/* Moves a cute.tile.release of a loop an iteration later: each iteration releases the stage of the previous one, where there is one, and the last
 * stage is released behind the loop. Returns the new loop (async_products.c). */
MlirOperation tile_release_later(MlirOperation loop, MlirOperation release);
/* How many products, this one included, may still be under way behind a product of warpgroups; TILE_NO_WAIT: all. */
enum { TILE_NO_WAIT = 7 };
void tile_set_pending(MlirOperation product, int pending);
/* A cute.tile.settle: the sums, complete while `pending` later products may still be under way. */
MlirValue tile_settle(const cute_builder *b, MlirValue sums, int pending);
/* The innermost operation with a region that `op` is directly in. */
MlirOperation tile_parent(MlirOperation op);
/* The role that an operation is in, or the kernel. */
MlirOperation tile_role_around(MlirOperation op);
/* Registers of a thread for a value, at least one. */
int64_t tile_registers_of(MlirValue value);
/* Moves constants of a loop's body in front of it. */
void tile_hoist_constants(MlirOperation loop);
/* Whether an operation on distributed tiles uses no shared memory other than stages; false of products, whose factors decide (scratch.c). */
bool tile_needs_no_memory(MlirOperation op);
/* Of a reduction beside products of warpgroups, of sums whose columns these divide: how many parts each row has. Corresponding warps of the
 * warpgroups combine them in shared memory that only such reductions use (scratch.c). 0: it is another operation. */
int64_t tile_parts_of_groups(MlirOperation op);
int64_t tile_parts_bytes(MlirOperation op);
/* Of another reduction: bytes of the parts of each warp (scratch.c). */
int64_t tile_reduction_bytes(MlirOperation op);
/* The most bytes of shared memory that an operation other than stages needs, in `turns` groups of warps at once (async_pipeline.c). */
int64_t tile_most_memory(MlirOperation function, int64_t turns);
/* Of a tile that passes through shared memory: its rows may have 16 bytes of padding. */
int64_t tile_staged_bytes(const cute_tile_shape *shape, int bits);
/* Of a cute.tile.reduce_scatter: bytes of the memory of its role's operations, and of the slots that other blocks write (reduce_scatter.c). */
int64_t tile_scatter_bytes(MlirOperation op, int64_t *slots);
/* The cute.tile.reduce_scatter of which a store's tile is computed element by element; null: none. */
MlirOperation tile_scattered_source(MlirOperation store);
/* The distribution of one of `blocks` parts of a tile along dimension `mode`, in the registers of `whole`. False where threads divide the parts. */
bool tile_scatter_part(const tile_distribution *whole, int mode, int64_t blocks, tile_distribution *part);
/* Of a cute.tile.cluster_reduce: bytes of its slots (cluster_reduce.c). */
int64_t tile_cluster_reduce_bytes(MlirOperation op);
/* Whether stages may be in use while an operation is executed: it is in a loop with products. `kept`: stages are filled in front of
 * loops, or by other warps; then it is executed once, behind all products, or stages are in use. */
bool tile_meets_stages(MlirOperation op, bool kept);
/* Whether a tile is the constant 0. */
bool tile_is_zero(MlirValue value);
/* The last operation of this name in a function; null: there is none. */
MlirOperation tile_find_op(MlirOperation function, const char *name);
/* Whether `value` is defined in `block` or a region of its operations. */
bool tile_defined_in(MlirValue value, MlirBlock block);
/* Whether `op` reads an element of global memory that the kernel does not write: any warp may read it, at any time. */
bool tile_reads_element(MlirOperation op);
/* Removes operations of `block` whose results nothing uses and that have no effects but such reads, which may be out of bounds where a fetch that used
 * them was removed. */
void tile_drop_unused(MlirBlock block);
/* A copy of the operations in `block` that compute `value`, with `with` in place of `of`; they may read such elements. Null: an operation has
 * other effects or regions, or the value depends on a block argument other than `of`. A builder with a null block: is only tried. */
MlirValue tile_recompute(const cute_builder *b, MlirBlock block, MlirValue value, MlirValue of,
                         MlirValue with);

/* `value`, where it is known in front of `before`, else a copy of the operations that compute it from such values. Null: one of them has effects
 * or regions, or a result that is a tile. A builder with a null block: is only tried. */
MlirValue tile_hoist(const cute_builder *b, MlirOperation before, MlirValue value);

/* The indices of the block in its grid that a value depends on: a bit for each result of cute.tile.program or cute.tile.place. */
enum { TILE_UNKNOWN_PLACE = 1 << 30 };
int tile_places_of(MlirValue value);
/* The same for the bounds and the step of an scf.for. */
int tile_places_of_bounds(MlirOperation loop);

/* Why the k of a loop with products cannot be split among clusters; NULL: it carries one tile, a sum to which each iteration adds (split.c). */
const char *tile_why_not_sum(MlirOperation loop);

/* ---- sums of lanes (lane_sums.c) ---- */

/* The sum of rows, parts of which several lanes have, that a condition of rare selections compares with a number; null: it is another condition, or the
 * warps with parts of a row cannot vote. */
MlirOperation tile_tested_sum(MlirValue condition);
/* The same, where each thread has one part of a row, and nothing else uses the sum. */
MlirOperation tile_tested_parts(MlirValue condition);
/* A condition on each part of tile_tested_parts: where it is false of all parts of a row, so is `condition` of the row. */
MlirValue tile_may_exceed(const cute_builder *b, MlirValue condition);

/* ---- some rows of a tensor (rows.c) ---- */

/* The cute.tile.rows that makes a tensor; null: another operation does. */
MlirOperation tile_rows_of(MlirValue tensor);
/* Whether a load may read what is behind the rows of its tensor: all that follows from it is left out of stores. */
bool tile_rows_are_clipped(MlirOperation load);

/* ---- pages of a tensor (pages.c) ---- */

/* The cute.tile.pages that makes a tensor; null: another operation does. */
MlirOperation tile_pages_of(MlirValue tensor);
/* Whether pages of a stage begin where its swizzle repeats, so that TMA fills them. True of loads of other tensors. */
bool tile_pages_are_aligned(MlirOperation load);

/* ---- loads that may run ahead (ahead.c) ---- */

enum { TILE_AHEAD = 8 };
typedef struct tile_ahead {
    int count;
    MlirOperation loads[TILE_AHEAD];
} tile_ahead;
/* The loads of a loop whose tiles can be fetched in earlier iterations, with `tma` by TMA. `refused` is called for the others, with the reason; NULL:
 * not wanted. */
void tile_find_ahead(MlirOperation loop, bool tma, tile_ahead *out,
                     void (*refused)(MlirOperation load, const char *why, void *context), void *context);
/* Whether a load outside of loops can be fetched to a stage, with `tma` by TMA: only products in loops use it, of warpgroups with `tma`, else
 * of warps. NULL, or why not. */
const char *tile_why_not_once(MlirOperation load, bool tma);
/* The type of `stages` buffers of a tile in shared memory, with a contiguous dimension: swizzled so that TMA, cp.async, ldmatrix and
 * wgmma access it without conflicts. */
MlirType tile_stage_type(MlirContext context, const char *element, int bits, const cute_tile_shape *shape,
                         int contiguous, int stages);
/* Bytes of one of them. */
int64_t tile_stage_bytes(const cute_tile_shape *shape, int bits);
/* The same for the tiles of a cute.tile.load, contiguous as its tensor is, which TMA or cp.async fetches. With cp.async it is
 * swizzled for the threads that read it. */
MlirType tile_ring_type(MlirOperation load, int stages, bool tma);
int64_t tile_ring_bytes(MlirOperation load);
/* The operation that loads an operand of a product, through permutations and reshapes that drop extents of 1: a cute.tile.load or
 * cute.tile.take, else null. `dims`: for each of the operand's dimensions, that of the load. */
MlirOperation tile_operand_source(MlirValue operand, int dims[2]);
/* The product whose sums `value`, a tile of its shape, is computed from by elementwise operations and branches: where it is operand A of
 * another product, the threads hold its elements already. Null: none. */
MlirOperation tile_product_of(MlirValue value);
/* Of operand `i` of a product: the tile that it is, perhaps permuted, where threads compute it from sums of a product in the same block and hold it
 * otherwise than the instruction has a factor, or where warpgroups compute different columns of it: it goes through shared memory to all
 * warpgroups. Null: the operand is another. */
MlirValue tile_exchanged(MlirOperation product, int i);
/* Whether the registers of a warpgroup do not hold 64 rows of the sums of a product. */
bool tile_is_wide(MlirOperation product);
/* Stages of such a tile. Two: the next one is written while the one before is read. One of a factor A that is not permuted: the sums of the next one
 * are complete behind the product that reads it. */
int64_t tile_exchange_stages(MlirOperation product, int i);
/* Whether wgmma can compute the product with `consumers` warpgroups: both operands are loads by TMA or computed from sums, and the
 * shapes fit. */
bool tile_fits_wgmma(MlirOperation product, int consumers);

#endif
