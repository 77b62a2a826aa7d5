/* mma.sync and wmma: which lane and register holds which element, and D = A * B + C (PTX ISA 8.5, 9.7.14).
 *
 * The arithmetic is that of lib/numeric/dot.h, with these forms that sm_90 has no instruction for and that
 * its compiler builds from others: 8-bit floats become f16, the products of k % 4 < 2 are summed first, then
 * the others onto that sum, which is added to C in f32; m8n8k4 of f16 is a chain of fma in f32, added to C.
 * Integers wrap at 32 bits or saturate with .satfinite; f64 is a chain of fma in the order of k that begins
 * with C. */
#ifndef CUTE_LIB_NUMERIC_MMA_H
#define CUTE_LIB_NUMERIC_MMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/numeric/types.h"

typedef enum num_mma_op { NUM_MUL_ADD, NUM_XOR_POPC, NUM_AND_POPC } num_mma_op;
typedef enum num_operand { NUM_A, NUM_B, NUM_C } num_operand; /* D is laid out as C */

/* One instruction. wmma fragments use the layouts of mma; f16 fragments of wmma.load.a and .b have 8
 * registers, of which those above what the matrix needs repeat the first. */
typedef struct num_mma {
    int16_t m, n, k;
    uint8_t a, b, c, d; /* ptx_type */
    uint8_t op;         /* num_mma_op */
    bool wmma;
    uint8_t registers[4]; /* of A, B, C, D; a register of f64 has 64 bits, all others 32 */
} num_mma;

/* What PTX up to 8.5 has of this shape and these types for sm_90, false otherwise; layouts (.row, .col) are
 * given to num_mma_run. Not here: mma.sp. */
bool num_mma_find(bool wmma, int m, int n, int k, ptx_type a, ptx_type b, ptx_type c, ptx_type d,
                  num_mma_op op, num_mma *out);
/* Registers of a wmma fragment of this shape and type by itself (wmma.load, wmma.store); 0: there is none. */
int num_wmma_registers(num_operand operand, int m, int n, int k, ptx_type type);

typedef struct num_mma_options {
    bool satfinite;
    bool a_col,
        b_row; /* .col for A, .row for B: matters for m8n8k4 of f16 only; elsewhere a fragment is the same */
} num_mma_options;

/* D = A * B + C over a warp. Operands are arrays of pointers, one a register, each to its 32 lanes: uint32_t,
 * or uint64_t for f64. D's lanes may be C's. */
void num_mma_run(const num_mma *mma, const num_mma_options *options, void *const *d, const void *const *a,
                 const void *const *b, const void *const *c);

/* Where element `index` of register `reg` of `lane` lies in the M x K, K x N or M x N matrix (of the
 * computation `*part` of four, for m8n8k4 of f16; else 0). The elements of a register begin at its low bits. */
typedef struct num_place {
    int row, column, part;
} num_place;
num_place num_mma_place(const num_mma *mma, num_operand operand, const num_mma_options *options, int lane,
                        int reg, int index);

/* wmma.load and wmma.store: moves a fragment between memory and registers. `move` is called for pieces of 1
 * to 8 bytes at byte `offset` from the operand's address (elements of 4 bits and 1 bit: whole 32-bit words),
 * with the lane whose piece it is; it loads into or stores from `bytes`. False from it ends the transfer and
 * is returned. `stride`: the leading dimension in elements. */
typedef bool (*num_wmma_move)(void *context, int lane, int64_t offset, int size, void *bytes);
bool num_wmma_load(num_operand operand, int m, int n, int k, ptx_type type, bool col_major, int64_t stride,
                   void *const *registers, num_wmma_move move, void *context);
bool num_wmma_store(int m, int n, int k, ptx_type type, bool col_major, int64_t stride,
                    const void *const *registers, num_wmma_move move, void *context);

#endif
