/* Instructions as text, JSON and pictures: what `cute-dump layout --atom` shows. */
#ifndef CUTE_LIB_CALCULATOR_ATOMS_H
#define CUTE_LIB_CALCULATOR_ATOMS_H

#include <jansson.h>

#include "lib/atoms/validate.h"
#include "lib/calculator/picture.h"

/* A line an instruction: its name, architecture and type. */
void cute_atoms_list(cute_arena *arena, cute_buffer *out);
json_t *cute_atoms_list_json(cute_arena *arena);

/* What the row says: type, PTX, operands with their layouts and registers. */
void cute_atom_describe(cute_arena *arena, const cute_atom *atom, cute_buffer *out);
json_t *cute_atom_json(cute_arena *arena, const cute_atom *atom);

/* How many operands have a picture of their own: A, B, C of an MMA, source and destination of a copy. */
size_t cute_atom_pictures(const cute_atom *atom);
/* Which thread holds which value of an operand, of an atom, a tiled copy or a tiled MMA: (M,K), (N,K), (M,N); of a copy
 * atom a row of 8 elements a row, of a tiled copy its tile. */
cute_status cute_atom_picture(cute_arena *arena, const cute_value *value, size_t operand,
                              const cute_picture_options *options, cute_picture *out, cute_diag *diag);
/* One for each operand; one for both of a tiled copy where they are the same. */
cute_status cute_atom_all_pictures(cute_arena *arena, const cute_value *value,
                                   const cute_picture_options *options, cute_picture out[3], size_t *count,
                                   cute_diag *diag);
/* Those in one: of an MMA A beside C and B, as (K,N), above it; of a copy destination beside source. */
cute_status cute_atom_whole_picture(cute_arena *arena, const cute_value *value,
                                    const cute_picture_options *options, cute_picture *out, cute_diag *diag);

#endif
