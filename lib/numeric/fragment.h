/* Layouts of fragments, for mma.c and num_mma_place. */
#ifndef CUTE_LIB_NUMERIC_FRAGMENT_H
#define CUTE_LIB_NUMERIC_FRAGMENT_H

#include "lib/numeric/mma.h"

/* The number of 32-bit (f64: 64-bit) registers that hold `count` elements across a warp. */
int num_fragment_registers(int count, ptx_type type);
int num_fragment_elements(num_operand operand, int m, int n, int k);
/* Like num_mma_place for elements of `type`; D's type may differ from C's. */
num_place num_fragment_place(const num_mma *mma, num_operand operand, ptx_type type,
                             const num_mma_options *options, int lane, int reg, int index);

/* For a matrix of m x k, k x n or m x n, except m8n8k4 of f16. */
num_place num_shape_place(num_operand operand, int m, int k, ptx_type type, int lane, int reg, int index);

/* mma.m8n8k4 of f16: four matrices per warp. */
static inline bool num_is_quad(const num_mma *mma)
{
    return mma->k == 4 && mma->a == PTX_f16;
}

#endif
