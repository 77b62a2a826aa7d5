/* Late loads (TILE_LATE) by TMA: bands of their tiles arrive in shared memory, each in front of the band that the store writes. The first ones are
 * under way while the products of the tile are computed. */
#ifndef CUTE_LIB_PASSES_TILES_LATE_COPIES_H
#define CUTE_LIB_PASSES_TILES_LATE_COPIES_H

#include "lib/passes/tiles/joined.h"
#include "lib/passes/tiles/schedule.h"

/* The mark of a late load by TMA: TILE_LATE has this text. Their store has TILE_BAND_BUFFERS, how many bands are in shared memory at once. */
#define TILE_LATE_TMA     "tma"
#define TILE_BAND_BUFFERS "cute.buffers"

enum {
    TILE_LATE_LOADS = 4,
    TILE_MOST_BUFFERS = 8,
    TILE_STORE_ROOM = 32 << 10 /* bytes of a store's buffers */
};

/* ---- which loads (late_plan.c) ---- */

/* A store by TMA with the loads whose bands arrive by TMA, and their buffers: those of the store first, which a load of elements of the same size uses
 * too, then those of other loads, and of stores that are joined with it. */
typedef struct tile_late_plan {
    MlirOperation store, loads[TILE_LATE_LOADS];
    int count;
    tile_bands stored, loaded[TILE_LATE_LOADS];
    int64_t offset[TILE_LATE_LOADS];  /* bytes from the store's buffers to those of a load; 0: the same */
    tile_bands also[TILE_JOINED_OPS]; /* of joined stores, in their order, without the first */
    int64_t also_offset[TILE_JOINED_OPS];
    int also_count;
    int64_t bytes;      /* of all buffers of all `warpgroups` */
    int64_t warpgroups; /* that have buffers: of all turns */
    int64_t bands;      /* of a tile */
    int64_t expected;   /* bytes that arrive for a band of a warpgroup */
} tile_late_plan;
/* The store that alone, or with the operations that are joined with it, uses a tile, by way of elementwise operations, reshapes and broadcasts in its
 * block: the first one of its set. Null: another operation uses it too. */
MlirOperation tile_only_store(MlirValue tile);
/* The loop of products in front of a store: in its block, or in one around the branches that it is in; null: there is none. */
MlirOperation tile_loop_before(MlirOperation store);
/* The plan of a store with TILE_BAND_BUFFERS; `groups` warpgroups share a tile, of each of `turns`. False: it has none. */
bool tile_late_plan_of(MlirOperation store, int64_t groups, int64_t turns, tile_late_plan *out);
/* Marks the late loads that TMA can copy, with buffers in `room` bytes of shared memory, where the mbarriers of stages, `barriers` bytes, and rows
 * (late_rows.h) are too; remarks tell why threads load the others. */
void tile_choose_late(cute_pass_run *pass, MlirOperation function, const tile_schedule *s, int64_t room,
                      int64_t barriers);

/* ---- their lowering (late_copies.c) ---- */

typedef struct tile_late_copies {
    tile_late_plan plan;
    int64_t barriers, memory; /* bytes: where the mbarriers are, one for each buffer, and the buffers */
    int64_t role;             /* number of the store's, from 0, or 0 */
    MlirOperation loop; /* of products, in whose first iteration the first bands are fetched; null: none */
    bool issued;        /* they are */
    bool initialised;   /* the mbarriers are */
    MlirValue owner;    /* i32: the warpgroup's number among those with buffers */
    tile_pieces pieces[TILE_LATE_LOADS]; /* of the store that is lowered */
    MlirValue *read[TILE_LATE_LOADS];    /* of the band that is stored: each piece; null: not yet */
    int64_t band;
    struct tile_late_copies *next;
} tile_late_copies;

/* Finds the stores with such loads: reserves their mbarriers, then, once these are placed, their buffers. */
void tile_find_copies(tile_emitter *e);
void tile_place_copies(tile_emitter *e);
/* Initialises their mbarriers, by one thread, once. */
void tile_init_copies(tile_emitter *e);
/* Behind a product of `loop`, in it: fetches the first bands in the first iteration. */
void tile_fetch_first(tile_emitter *e, MlirOperation loop);
/* Those of a store, or of a load and its index; null: it has none. */
tile_late_copies *tile_late_copies_of(tile_emitter *e, MlirOperation op, int *index);
/* The buffers of the store. */
void tile_late_copies_begin(tile_emitter *e, tile_late_copies *c, MlirValue leads);
/* All threads: waits for band `band`. */
void tile_late_copies_await(tile_emitter *e, tile_late_copies *c, int64_t band);
/* The warpgroup's first warp, once it has stored band `band`: fetches a later one, and behind the last one of a buffer sets its mbarrier back. */
void tile_late_copies_next(tile_emitter *e, tile_late_copies *c, int64_t band);
/* Values `map` of load `index`, of a piece of the band that has arrived. */
MlirValue tile_late_copies_part(tile_emitter *e, tile_late_copies *c, int index, const int32_t *map,
                                int64_t count);

#endif
