/* Products of tiles as the tensor cores of sm_90 compute them, for mma, wmma and wgmma alike.
 *
 * What is known of that arithmetic is measured, not documented: Fasi, Higham, Mikaitis, Pranesh, "Numerical
 * behavior of NVIDIA tensor cores" (2021); Xie et al., "MMA-Sim" (arXiv 2511.10909), whose model for Hopper
 * agreed with the hardware bit for bit on random operands. For one element of D and one instruction:
 *   - each product is exact; its exponent is the sum of the operands' (a subnormal has the format's least
 * exponent, a zero -126);
 *   - products and accumulator are aligned to the largest exponent E and cut off, towards zero, below 2^(E -
 * F), with F = 25 bits, or 13 for wgmma of e4m3 and e5m2;
 *   - they are added exactly, all products of the instruction at once, and the sum is rounded once: f32
 * towards zero (wgmma of 8-bit floats: to 13 bits of fraction), f16 to nearest, ties to even;
 *   - a NaN is 0x7fffffff or 0x7fff; beyond the largest value there is infinity. */
#ifndef CUTE_LIB_NUMERIC_DOT_H
#define CUTE_LIB_NUMERIC_DOT_H

#include "lib/numeric/mma.h"

enum { NUM_DOT_COLUMNS = 16 }; /* rows of B, C and their exponents are padded to a multiple of this */

/* A tile of floating-point operands, widened: values and exponents (of 0: -126), `stride` elements a row. */
typedef struct num_tile {
    float *values;
    int16_t *exponents;
    int stride;
    int least, most; /* exponents of the elements that are not 0; least > most: there are none */
    bool special;    /* there is an infinity or a NaN */
} num_tile;

/* Widens `count` elements of `type` (their bits, in the low bits) to row `row` of the tile from column
 * `column`. */
void num_tile_reset(num_tile *tile);
void num_tile_set(num_tile *tile, ptx_type type, int row, int column, int count, const uint32_t *bits);

typedef struct num_dot_rule {
    int fraction; /* F above */
    int result;   /* bits of fraction of an f32 result: 23 or 13 */
    bool half;    /* the accumulator is f16 */
} num_dot_rule;
num_dot_rule num_dot_rule_of(ptx_type a, ptx_type d, bool wgmma);

/* c[i][j] = c[i][j] + sum over l of a[i][l] * b[l][j] for `rows` x `columns`, `k` products each; `c` holds
 * floats (values of f16 where the rule says so) with `stride` a multiple of NUM_DOT_COLUMNS. */
void num_dot_float(const num_dot_rule *rule, int rows, int columns, int k, const num_tile *a,
                   const num_tile *b, float *c, int stride);
/* Integers: a and b of at most 9 bits, k at most 512; saturates or wraps. */
void num_dot_integer(bool satfinite, int rows, int columns, int k, const int16_t *a, int a_stride,
                     const int16_t *b, int b_stride, int32_t *c, int stride);

#endif
