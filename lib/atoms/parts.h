/* What the files of lib/atoms share: the fields of an atom's text, and the way from them to a row. */
#ifndef CUTE_LIB_ATOMS_PARTS_H
#define CUTE_LIB_ATOMS_PARTS_H

#include "lib/atoms/atoms.h"

/* What the text of an atom's type says; 0 and NULL where it says nothing. */
typedef struct atom_fields {
    int64_t shape[3], bits, matrices, l2_prefetch;
    const char *type[3]; /* A, B, C; of a copy the first */
    const char *op, *order, *cache, *eviction, *l2_eviction, *satfinite;
    /* Of copies of the tensor memory accelerator (tma.h). */
    int64_t copy_bits, num_cta;
    const char *tma_kind, *tma_mode, *tma_format, *tma_reduce, *tma_multicast, *basis, *global_stride;
} atom_fields;

typedef struct atom_family {
    const char *mnemonic;
    cute_atom_kind kind;
    const char *format; /* NULL: no row knows it */
} atom_family;

/* NULL: there is none. */
const atom_family *atom_family_find(const char *mnemonic, size_t length);
const atom_family *atom_family_at(size_t index);

/* The row that the fields name, as an atom without its text. CUTE_INVALID with those nearest. */
cute_status atom_make(cute_arena *arena, const atom_family *family, const atom_fields *fields, cute_atom *out,
                      cute_diag *diag);
/* The family and the fields of a row of atoms.def. */
const atom_family *atom_row_fields(size_t index, const char *type, atom_fields *out);
const char *atom_row_name(size_t index);

/* The text of a type from its family's format: "!cute_nvgpu.MNEMONIC<...>". */
const char *atom_print(cute_arena *arena, const atom_family *family, const atom_fields *fields);

#endif
