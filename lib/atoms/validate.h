/* What has to hold of tilings and of the tensors that atoms take: facts of layouts, element types, spaces, alignment. */
#ifndef CUTE_LIB_ATOMS_VALIDATE_H
#define CUTE_LIB_ATOMS_VALIDATE_H

#include "lib/atoms/atoms.h"

/* ---- does a tiling cover its tile? ---- */

typedef enum cute_cover_kind {
    CUTE_COVER_ONCE,
    CUTE_COVER_SHARED,  /* every element is there; this one has two threads */
    CUTE_COVER_TWICE,   /* this one is two values of one thread */
    CUTE_COVER_NEVER,   /* this one has none */
    CUTE_COVER_OUTSIDE, /* there is no such element */
    CUTE_COVER_UNKNOWN, /* the instruction has no row, or there is too much to try */
} cute_cover_kind;

/* The first element of the worst kind, as an index of the tile (first mode fastest), and who has it. */
typedef struct cute_cover {
    cute_cover_kind kind;
    int64_t element, thread[2], value[2];
    int64_t rows, columns; /* of the tile; of one with more modes the product of the others */
} cute_cover;

/* `layout`, all of it known, takes (thread, value) to an index of a tile of rows x columns. */
cute_status cute_cover_of(cute_arena *arena, cute_layout layout, int64_t rows, int64_t columns,
                          cute_cover *out, cute_diag *diag);

/* (thread, value) to the index of an element of the tile, and the tile's extents; a layout whose parts are NULL: not known. */
typedef struct cute_tiling {
    cute_layout layout;
    int64_t rows, columns;
} cute_tiling;

/* Of a tiled MMA what its threads have of A, B or C. Of a tiled copy what they read (CUTE_ATOM_SOURCE) or write
 * (_DESTINATION), of ldmatrix and stmatrix the addresses that they give; CUTE_ATOM_REFERENCE: what they have in registers. */
cute_status cute_tiling_operand(cute_arena *arena, const cute_value *tiled, int operand, cute_tiling *out,
                                cute_diag *diag);
/* cute_cover_of that. Not all threads of ldmatrix and stmatrix need to give an address. */
cute_status cute_tiling_cover(cute_arena *arena, const cute_value *tiled, int operand, cute_cover *out,
                              cute_diag *diag);
/* "element (3,8) of its tile of 16 x 64 is in no thread", in `arena`; NULL for ONCE and UNKNOWN. */
const char *cute_cover_text(cute_arena *arena, const cute_cover *cover);

/* Two atoms of a tiled MMA that the same threads would run, as coordinates (M,N,K); false: each has its own. */
bool cute_mma_overlap(const cute_value *mma, int64_t first[3], int64_t second[3]);

/* ---- do they go together? ---- */

/* A tiled copy has a whole number of its atom's threads and values; a permutation has whole atoms for all threads. */
cute_status cute_tiling_verify(cute_arena *arena, const cute_value *tiled, cute_diag *diag);
/* A copy of `source` to `target` by an atom or tiled copy: element types, spaces, alignment, contiguous values, extents.
 * `predicate` may be NULL. What is not known of the atom is not checked. */
cute_status cute_copy_verify(cute_arena *arena, const cute_value *copy, const cute_value *source,
                             const cute_value *target, const cute_value *predicate, cute_diag *diag);
/* D = A * B + C by an atom or tiled MMA, fragments as operands: D, A, B, C. */
cute_status cute_gemm_verify(cute_arena *arena, const cute_value *mma, const cute_value operands[4],
                             cute_diag *diag);

#endif
