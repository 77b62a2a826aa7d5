/* ldmatrix, stmatrix and movmatrix: transfer 8x8 matrices of 16-bit elements between rows of 16 bytes and the
 * registers of a warp (PTX ISA 8.5, 9.7.14.5.15 to 17). Lane 4*r + c holds elements 2c and 2c+1 of row r. */
#ifndef CUTE_LIB_NUMERIC_MATRIX_H
#define CUTE_LIB_NUMERIC_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

/* `rows[i]`: the 16 bytes of row i % 8 of matrix i / 8, addressed by lane i; the first 8 * count are used.
 * The caller checks addresses (16-byte aligned, inside shared memory). Register j of lane i is d[j][i]. `d`
 * must not alias the rows; count is 1, 2 or 4. */
void num_ldmatrix(int count, bool transposed, const void *const rows[32], uint32_t *const d[4]);
void num_stmatrix(int count, bool transposed, void *const rows[32], const uint32_t *const a[4]);
/* movmatrix.m8n8.trans.b16; `d` may be `a`. */
void num_movmatrix(uint32_t *d, const uint32_t *a);

#endif
