/* Shared by the files of lib/atoms: the fields of an atom's text, and conversion of fields to rows. */
#ifndef CUTE_LIB_ATOMS_PARTS_H
#define CUTE_LIB_ATOMS_PARTS_H

#include "lib/atoms/atoms.h"

/* The fields of the text of an atom's type; 0 and NULL: not stated. */
typedef struct atom_fields {
    int64_t shape[3], bits, matrices, l2_prefetch;
    const char *type[3]; /* A, B, C; of a copy the first */
    const char *op, *order, *cache, *eviction, *l2_eviction, *satfinite;
    /* TMA copies (tma.h). */
    int64_t copy_bits, num_cta;
    const char *tma_kind, *tma_mode, *tma_format, *tma_reduce, *tma_multicast, *bulk, *basis, *global_stride;
    const char *major[2], *frag; /* wgmma: the contiguous modes of A and B, and the location of A */
} atom_fields;

typedef struct atom_family {
    const char *mnemonic;
    cute_atom_kind kind;
    const char *format; /* NULL: no row has this family */
} atom_family;

/* NULL: unknown family. */
const atom_family *atom_family_find(const char *mnemonic, size_t length);
const atom_family *atom_family_at(size_t index);

/* Finds the row that matches the fields and makes an atom of it, without its text. Sets omitted optional
 * fields to their defaults. CUTE_INVALID names the nearest rows. */
cute_status atom_make(cute_arena *arena, const atom_family *family, atom_fields *fields, cute_atom *out,
                      cute_diag *diag);
/* The family and the fields of a row of atoms.def. */
const atom_family *atom_row_fields(size_t index, const char *type, atom_fields *out);
const char *atom_row_name(cute_arena *arena, size_t index);

/* ---- fields (rows.c) ---- */

/* PTX's name of an MLIR element type (NULL: none), and MLIR's name of a PTX type ("f32" if unknown). */
const char *atom_ptx_type(const char *type);
const char *atom_mlir_type(const char *ptx);
/* The spelling in PTX and MLIR of the MMA's operation; NULL: multiply-add. */
const char *atom_op_word(cute_mma_op op);
/* Sets the type, bits, layout and registers of operand `which`. */
cute_status atom_set_operand(cute_arena *arena, cute_atom *atom, int which, const char *type,
                             const char *layout, cute_diag *diag);
cute_status atom_set_threads(cute_arena *arena, int threads, cute_atom *out, cute_diag *diag);

/* ---- wgmma (wgmma.c): rows after the others ---- */

/* One per row and location of A. */
size_t atom_wgmma_count(void);
/* The fields of one of them, with a common N. */
void atom_wgmma_fields(size_t index, atom_fields *out);
/* Like atom_make; sets omitted `fields`. */
cute_status atom_make_wgmma(cute_arena *arena, atom_fields *fields, cute_atom *out, cute_diag *diag);
/* Its name in CuTe C++. */
const char *atom_wgmma_name(cute_arena *arena, const atom_fields *fields);
/* The fields with this name; false: unknown name. */
bool atom_wgmma_named(cute_arena *arena, const char *name, atom_fields *out);

/* The text of a type, by its family's format: "!cute_nvgpu.MNEMONIC<...>". */
const char *atom_print(cute_arena *arena, const atom_family *family, const atom_fields *fields);

#endif
