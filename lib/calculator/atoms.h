/* Atoms as text, JSON and pictures: the output of `cute-dump layout --atom`. */
#ifndef CUTE_LIB_CALCULATOR_ATOMS_H
#define CUTE_LIB_CALCULATOR_ATOMS_H

#include <jansson.h>

#include "lib/atoms/validate.h"
#include "lib/calculator/picture.h"

/* One line per instruction: name, architecture and type. */
void cute_atoms_list(cute_arena *arena, cute_buffer *out);
json_t *cute_atoms_list_json(cute_arena *arena);

/* The row's properties: type, PTX, operands with their layouts and registers. */
void cute_atom_describe(cute_arena *arena, const cute_atom *atom, cute_buffer *out);
json_t *cute_atom_json(cute_arena *arena, const cute_atom *atom);

/* The number of operands with separate pictures: A, B, C of an MMA; source and destination of a copy. */
size_t cute_atom_pictures(const cute_atom *atom);
/* A picture of which thread holds which value of an operand of an atom, a tiled copy or a tiled MMA: (M,K),
 * (N,K), (M,N); for a copy atom 8 elements per row, for a tiled copy its tile. */
cute_status cute_atom_picture(cute_arena *arena, const cute_value *value, size_t operand,
                              const cute_picture_options *options, cute_picture *out, cute_diag *diag);
/* One picture per operand; a single one for a tiled copy whose operands are the same. */
cute_status cute_atom_all_pictures(cute_arena *arena, const cute_value *value,
                                   const cute_picture_options *options, cute_picture out[3], size_t *count,
                                   cute_diag *diag);
/* All operands in one picture: for an MMA, A beside C and B, as (K,N), above it; for a copy, source beside
 * destination. */
cute_status cute_atom_whole_picture(cute_arena *arena, const cute_value *value,
                                    const cute_picture_options *options, cute_picture *out, cute_diag *diag);

#endif
