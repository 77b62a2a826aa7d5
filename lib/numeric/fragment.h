/* Layouts of fragments: what mma.c and mma.h's num_mma_place use. */
#ifndef CUTE_LIB_NUMERIC_FRAGMENT_H
#define CUTE_LIB_NUMERIC_FRAGMENT_H

#include "lib/numeric/mma.h"

/* 32-bit (f64: 64-bit) registers that hold `count` elements over a warp. */
int num_fragment_registers(int count, ptx_type type);
int num_fragment_elements(num_operand operand, int m, int n, int k);
/* As num_mma_place, of elements of a type; that of D may be another one than C's. */
num_place num_fragment_place(const num_mma *mma, num_operand operand, ptx_type type,
                             const num_mma_options *options, int lane, int reg, int index);

/* Of a matrix of m x k, k x n or m x n, m8n8k4 of f16 apart. */
num_place num_shape_place(num_operand operand, int m, int k, ptx_type type, int lane, int reg, int index);

/* mma.m8n8k4 of f16: four matrices a warp. */
static inline bool num_is_quad(const num_mma *mma)
{
    return mma->k == 4 && mma->a == PTX_f16;
}

#endif
