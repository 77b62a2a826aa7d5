/* Shared by the TMA files of lib/atoms: shorthands for the layout algebra, and atoms from fields. */
#ifndef CUTE_LIB_ATOMS_TMA_ALGEBRA_H
#define CUTE_LIB_ATOMS_TMA_ALGEBRA_H

#include "lib/atoms/parts.h"

typedef struct tma_work {
    cute_arena *arena;
    const cute_arith *arith;
    cute_diag *diag;
} tma_work;

cute_status tma_apply(const tma_work *w, cute_operation operation, const cute_value *operands, size_t count,
                      cute_value *out);
cute_status tma_unary(const tma_work *w, cute_operation operation, cute_layout in, cute_layout *out);
cute_status tma_compose(const tma_work *w, cute_layout a, cute_layout b, cute_layout *out);
/* A leaf, and a pair. NULL: out of memory, or an operand is NULL. */
const cute_tree *tma_number(const tma_work *w, int64_t value);
const cute_tree *tma_pair(const tma_work *w, const cute_tree *a, const cute_tree *b);
/* `scale` times the basis vector of `path`. */
const cute_tree *tma_basis(const tma_work *w, int64_t scale, const int32_t *path, uint32_t depth);
/* The number of top-level modes; 1 for a leaf. */
uint32_t tma_rank(const cute_tree *t);
const cute_tree *tma_mode(const cute_tree *t, uint32_t i);
cute_layout tma_layout_mode(cute_layout layout, uint32_t i);
/* The product of the leaves; 0: unknown or too large. */
int64_t tma_size(const cute_tree *shape);

cute_status tma_make_atom(cute_arena *arena, const char *mnemonic, const atom_fields *fields,
                          const cute_atom **out, cute_diag *diag);
/* "atom.non_exec_tiled_tma_load" and so on. */
const char *tma_mnemonic(bool executable, bool im2col, int operation);

#endif
