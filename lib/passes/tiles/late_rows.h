/* Late loads (TILE_LATE) of one row, as a bias that all rows of a tile add: the threads of a warpgroup load a few elements each while the last
 * products are computed, and read those of a piece of the store from shared memory. Otherwise each thread would load and hold a quarter of the row. */
#ifndef CUTE_LIB_PASSES_TILES_LATE_ROWS_H
#define CUTE_LIB_PASSES_TILES_LATE_ROWS_H

#include "lib/passes/tiles/late_copies.h"

/* The mark of such a load: TILE_LATE has this text. */
#define TILE_LATE_ROW "row"

/* Whether a load of a tile with this distribution is one. */
bool tile_is_row(MlirOperation load, const tile_distribution *d);
/* Bytes in shared memory of a row, after the operations on the row alone. */
int64_t tile_row_bytes(MlirOperation load);

typedef struct tile_row {
    MlirOperation load, store;
    MlirValue value; /* the row after the operations on it alone, in shared memory */
    MlirOperation
        loop; /* of products, in front of whose last wait it is loaded; null: in front of the store */
    tile_distribution d;
    const char *element; /* of the value */
    int bits;
    int64_t warpgroups, memory, bytes; /* that have a copy each; byte of the first one, and its size */
    int64_t role;                      /* number of the store's, from 0, or 0 */
    bool is_loaded;
    MlirValue loaded; /* elements of this thread */
    struct tile_row *next;
} tile_row;

/* Finds the rows of a kernel, and reserves their memory. */
void tile_find_rows(tile_emitter *e);
/* The row that a value is; null: it is none. */
tile_row *tile_row_of(tile_emitter *e, MlirValue value);
/* Loads the rows of stores behind `loop`. */
void tile_load_rows(tile_emitter *e, MlirOperation loop);
/* In front of a store: writes its rows to shared memory. True: its warpgroups have to meet before they read them. */
bool tile_write_rows(tile_emitter *e, MlirOperation store);
/* Values `map` of a row, of one piece of the store. */
MlirValue tile_row_part(tile_emitter *e, const tile_row *r, const int32_t *map, int64_t count);

#endif
