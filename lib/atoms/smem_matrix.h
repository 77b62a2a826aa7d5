/* Matrices in shared memory for wgmma and TMA: the canonical layouts of the PTX ISA (9.7.15.5.1), and the
 * descriptors that encode them. */
#ifndef CUTE_LIB_ATOMS_SMEM_MATRIX_H
#define CUTE_LIB_ATOMS_SMEM_MATRIX_H

#include "lib/atoms/atoms.h"

typedef struct cute_smem_matrix {
    bool mn_major;           /* M or N is contiguous; else K */
    int swizzle;             /* swizzle width in bytes, in chunks of 16: 0 (none), 32, 64, 128 */
    int64_t leading, stride; /* byte offsets: multiples of 16 */
} cute_smem_matrix;

/* The canonical layout of an operand of mn x k elements: mode 0 of `tensor` (first mode fastest), in shared
 * memory. CUTE_INVALID: no descriptor expresses it; the message lists supported layouts. */
cute_status cute_smem_matrix_of(cute_arena *arena, const cute_value *tensor, bool mn_major, int64_t mn,
                                int64_t k, cute_smem_matrix *out, cute_diag *diag);

/* The lower word of the matrix descriptor (9.7.15.5.1.2.2), to which the address is added in units of 16
 * bytes. */
uint32_t cute_smem_matrix_low(const cute_smem_matrix *matrix);
uint32_t cute_smem_matrix_high(const cute_smem_matrix *matrix);

#endif
