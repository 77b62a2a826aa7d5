/* Bands of a tile: columns of sums of wgmma, a part of each warpgroup's rows, which TMA copies between a tensor and buffers in shared
 * memory. A buffer is swizzled so that ldmatrix and stmatrix have no conflicts. */
#ifndef CUTE_LIB_PASSES_TILES_BANDS_H
#define CUTE_LIB_PASSES_TILES_BANDS_H

#include "lib/passes/tiles/emit.h"

enum {
    TILE_BAND_ROWS = 64,  /* of an instruction */
    TILE_BAND_PIECE = 16, /* columns that a thread copies at a time */
    TILE_BAND_VALUES = 8, /* of a thread in 64 x 16 elements */
    TILE_BAND_GROUP = 128 /* threads of a warpgroup */
};

typedef struct tile_bands {
    MlirValue tensor, coord; /* where the tile is */
    const cute_value *type;  /* of the tensor */
    cute_tile_shape shape;   /* of the tile */
    tile_distribution d;     /* of rank 2, without `lead` leading dimensions of extent 1 */
    int lead;
    bool halved; /* every second column of sums: a thread has single columns, which only stores have */
    const char *element;
    int bits;
    int64_t rows, columns; /* of a warpgroup's band */
    int64_t box, boxes;    /* columns of a copy by TMA, at most 128 bytes; copies of a band */
    int64_t buffers;       /* of a warpgroup */
    int64_t across;        /* warpgroups that divide the columns; the others divide the rows */
    MlirValue tma, coords, exec;
    MlirValue group;  /* i32: this warpgroup along the rows */
    MlirValue column; /* i32: along the columns; null: one has all */
    MlirValue view;   /* this warpgroup's buffers: (rows, box, boxes of all buffers) */
} tile_bands;

/* Warpgroups that divide the columns of sums of wgmma. */
int64_t tile_groups_across(const tile_distribution *d);
/* Columns of a band of `all`; 0: none fit. */
int64_t tile_tma_columns(int64_t all, int bits);
/* Whether threads have the elements of a tile as wgmma has its sums or every second column of them, of which each warpgroup has whole rows. */
bool tile_is_banded(const tile_distribution *d);
/* Whether TMA can copy bands of a tile with this distribution, that of wgmma's sums, from or to a tensor: an argument of the kernel. */
bool tile_fits_bands(const cute_value *tensor, MlirValue value, const tile_distribution *d);
/* The same of a store, which may be of every second column of sums. */
bool tile_fits_stored_bands(const cute_value *tensor, MlirValue value, const tile_distribution *d);
/* Bands of `columns` of a tile of `tensor` at `coord`, whose rows are divided among `groups`. False where tile_fits_stored_bands
 * is, or the columns do not fit. */
bool tile_bands_of(MlirValue tensor, MlirValue coord, const tile_distribution *d, int64_t groups,
                   int64_t columns, int64_t buffers, tile_bands *out);
/* Bytes of the buffers of a warpgroup. */
int64_t tile_bands_bytes(const tile_bands *bands);

/* Bands of a warpgroup. */
int64_t tile_bands_count(const tile_bands *bands);
/* Finds which bands are those of this warpgroup, of number `group` in its role. */
void tile_bands_find_own(tile_emitter *e, tile_bands *bands, MlirValue group);

typedef enum tile_bands_atom { TILE_BANDS_LOAD, TILE_BANDS_STORE, TILE_BANDS_ADD } tile_bands_atom;
/* The TMA atom, at the kernel's start. */
void tile_bands_make_atom(tile_emitter *e, tile_bands *bands, tile_bands_atom kind);
/* The layout of all warpgroups' buffers, with a last mode of `owners`: text of a layout. */
const char *tile_bands_layout(tile_emitter *e, const tile_bands *bands, int64_t owners);
/* The type of a pointer to them. */
cute_pointer tile_bands_pointer(const tile_bands *bands);
/* Sets the view, of buffers of that layout: those of `owner`. */
void tile_bands_slice(tile_emitter *e, tile_bands *bands, MlirValue all, MlirValue owner);
/* A band or buffer: a number, or a value of i32 where that is not null. */
typedef struct tile_band_index {
    int64_t number;
    MlirValue value;
} tile_band_index;
/* Copies a band from its buffer to the tensor, or back with `load`, an atom that knows its mbarrier. By one warp. */
void tile_bands_copy(tile_emitter *e, const tile_bands *bands, tile_band_index band, tile_band_index buffer,
                     MlirValue load);
/* Copies a band of the tensor to L2, by one warp. */
void tile_bands_prefetch(tile_emitter *e, const tile_bands *bands, tile_band_index band);

/* Emits for the threads of a warpgroup, until tile_leave_group. */
typedef struct tile_group_threads {
    MlirValue thread;
    int64_t threads;
} tile_group_threads;
tile_group_threads tile_enter_group(tile_emitter *e);
void tile_leave_group(tile_emitter *e, tile_group_threads outer);

/* Access of the buffers by threads, in pieces of 16 columns: ldmatrix, stmatrix or plain copies. */
typedef struct tile_pieces {
    MlirValue copy, part;
} tile_pieces;
tile_pieces tile_bands_pieces(tile_emitter *e, const tile_bands *bands, bool load);
/* Reads or writes the piece at column `column` of a buffer: the registers of 16 columns, in the order of an accumulator. */
MlirValue tile_read_piece(tile_emitter *e, const tile_bands *bands, const tile_pieces *p, int64_t buffer,
                          int64_t column);
void tile_write_piece(tile_emitter *e, const tile_bands *bands, const tile_pieces *p, int64_t buffer,
                      int64_t column, MlirValue values);
/* Writes a tile of 16-bit elements that warpgroups hold as their sums to a stage of a ring, by stmatrix. False where it is another tile: nothing is
 * emitted. */
bool tile_write_sum(tile_emitter *e, const tile_distribution *d, MlirValue values, MlirValue stage);
/* Values of a piece; and which of the thread's values of the tile it has at `column`. False where they are another thread's. */
int64_t tile_piece_values(const tile_bands *bands);
bool tile_piece_map(const tile_bands *bands, int64_t column, int32_t *map);

#endif
