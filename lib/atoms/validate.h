/* Validation of tilings and of the tensors passed to atoms: coverage, element types, address spaces,
 * alignment. */
#ifndef CUTE_LIB_ATOMS_VALIDATE_H
#define CUTE_LIB_ATOMS_VALIDATE_H

#include "lib/atoms/atoms.h"

/* ---- coverage of the tile ---- */

typedef enum cute_cover_kind {
    CUTE_COVER_ONCE,
    CUTE_COVER_SHARED,  /* every element is covered; this one by two threads */
    CUTE_COVER_TWICE,   /* this one is two values of one thread */
    CUTE_COVER_NEVER,   /* this one is not covered */
    CUTE_COVER_OUTSIDE, /* outside the tile */
    CUTE_COVER_UNKNOWN, /* the instruction has no row, or the tile is too large to enumerate */
} cute_cover_kind;

/* The first element with the most severe kind, as an index of the tile (first mode fastest), and its
 * owners. */
typedef struct cute_cover {
    cute_cover_kind kind;
    int64_t element, thread[2], value[2];
    int64_t rows, columns; /* of the tile; columns is the product of all modes after the first */
} cute_cover;

/* `layout`, fully known, maps (thread, value) to an index of a tile of rows x columns. */
cute_status cute_cover_of(cute_arena *arena, cute_layout layout, int64_t rows, int64_t columns,
                          cute_cover *out, cute_diag *diag);

/* (thread, value) to an element's index in the tile, and the tile's extents; a layout with NULL parts:
 * unknown. */
typedef struct cute_tiling {
    cute_layout layout;
    int64_t rows, columns;
} cute_tiling;

/* The tiling of A, B or C by a tiled MMA; or of a tiled copy's source (CUTE_ATOM_SOURCE) or destination
 * (_DESTINATION), which for ldmatrix and stmatrix are the addresses that threads provide;
 * CUTE_ATOM_REFERENCE: of its registers. */
cute_status cute_tiling_operand(cute_arena *arena, const cute_value *tiled, int operand, cute_tiling *out,
                                cute_diag *diag);
/* cute_cover_of that tiling. Not all threads of ldmatrix and stmatrix need to provide an address. */
cute_status cute_tiling_cover(cute_arena *arena, const cute_value *tiled, int operand, cute_cover *out,
                              cute_diag *diag);
/* "element (3,8) of its tile of 16 x 64 belongs to no thread", in `arena`; NULL for ONCE and UNKNOWN. */
const char *cute_cover_text(cute_arena *arena, const cute_cover *cover);

/* Finds two atoms of a tiled MMA that the same threads would execute, as coordinates (M,N,K); false: no
 * overlap. */
bool cute_mma_overlap(const cute_value *mma, int64_t first[3], int64_t second[3]);

/* ---- compatibility ---- */

/* The threads and values of a tiled copy must be multiples of its atom's; a permutation must contain whole
 * atoms for all threads. */
cute_status cute_tiling_verify(cute_arena *arena, const cute_value *tiled, cute_diag *diag);
/* Checks a copy of `source` to `target` by an atom or tiled copy: element types, address spaces, alignment,
 * contiguous values, extents. `predicate` may be NULL. Unknown properties of the atom are not checked. */
cute_status cute_copy_verify(cute_arena *arena, const cute_value *copy, const cute_value *source,
                             const cute_value *target, const cute_value *predicate, cute_diag *diag);
/* Checks D = A * B + C by an atom or tiled MMA; operands are the fragments D, A, B, C. */
cute_status cute_gemm_verify(cute_arena *arena, const cute_value *mma, const cute_value operands[4],
                             cute_diag *diag);

#endif
