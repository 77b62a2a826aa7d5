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
    const char *tma_kind, *tma_mode, *tma_format, *tma_reduce, *tma_multicast, *bulk, *basis, *global_stride;
    const char *major[2], *frag; /* of wgmma: which mode of A and B is contiguous, where A is */
} atom_fields;

typedef struct atom_family {
    const char *mnemonic;
    cute_atom_kind kind;
    const char *format; /* NULL: no row knows it */
} atom_family;

/* NULL: there is none. */
const atom_family *atom_family_find(const char *mnemonic, size_t length);
const atom_family *atom_family_at(size_t index);

/* The row that the fields name, as an atom without its text. CUTE_INVALID with those nearest. Fields that the text may leave
 * out are set to what that means. */
cute_status atom_make(cute_arena *arena, const atom_family *family, atom_fields *fields, cute_atom *out,
                      cute_diag *diag);
/* The family and the fields of a row of atoms.def. */
const atom_family *atom_row_fields(size_t index, const char *type, atom_fields *out);
const char *atom_row_name(cute_arena *arena, size_t index);

/* ---- what files make of fields (rows.c) ---- */

/* PTX's name of MLIR's element type; NULL: it has none. MLIR's of PTX's, "f32" for what there is none. */
const char *atom_ptx_type(const char *type);
const char *atom_mlir_type(const char *ptx);
/* How PTX's and MLIR's name of what is summed is written; NULL: products, added. */
const char *atom_op_word(cute_mma_op op);
/* The type, bits, layout and registers of operand `which`. */
cute_status atom_set_operand(cute_arena *arena, cute_atom *atom, int which, const char *type,
                             const char *layout, cute_diag *diag);
cute_status atom_set_threads(cute_arena *arena, int threads, cute_atom *out, cute_diag *diag);

/* ---- wgmma (wgmma.c): rows behind the others ---- */

/* One for each row and place of A. */
size_t atom_wgmma_count(void);
/* Fields of one; N is a common one. */
void atom_wgmma_fields(size_t index, atom_fields *out);
/* Like atom_make. What the text left out is set in `fields`. */
cute_status atom_make_wgmma(cute_arena *arena, atom_fields *fields, cute_atom *out, cute_diag *diag);
/* CuTe C++'s name of it. */
const char *atom_wgmma_name(cute_arena *arena, const atom_fields *fields);
/* The fields that have this name; false: none. */
bool atom_wgmma_named(cute_arena *arena, const char *name, atom_fields *out);

/* The text of a type from its family's format: "!cute_nvgpu.MNEMONIC<...>". */
const char *atom_print(cute_arena *arena, const atom_family *family, const atom_fields *fields);

#endif
