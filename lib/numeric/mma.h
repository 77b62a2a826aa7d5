/* mma.sync and wmma: which lane and register holds which element, and D = A * B + C (PTX ISA 8.5, 9.7.14).
 *
 * The arithmetic is that of lib/numeric/dot.h. Forms without an instruction on sm_90 are expanded as by its
 * compiler: 8-bit floats are converted to f16; the products with k % 4 < 2 are summed first, the others are
 * added to that sum, and the result is added to C in f32. m8n8k4 of f16 is a chain of fma in f32, added to C.
 * Integers wrap at 32 bits or saturate with .satfinite; f64 is a chain of fma in the order of k that starts
 * with C. */
#ifndef CUTE_LIB_NUMERIC_MMA_H
#define CUTE_LIB_NUMERIC_MMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/numeric/types.h"

typedef enum num_mma_op { NUM_MUL_ADD, NUM_XOR_POPC, NUM_AND_POPC } num_mma_op;
typedef enum num_operand { NUM_A, NUM_B, NUM_C } num_operand; /* D has the layout of C */

/* One instruction. wmma fragments use the layouts of mma; f16 fragments of wmma.load.a and .b have 8
 * registers, of which unneeded ones repeat the first ones. */
typedef struct num_mma {
    int16_t m, n, k;
    uint8_t a, b, c, d; /* ptx_type */
    uint8_t op;         /* num_mma_op */
    bool wmma;
    uint8_t registers[4]; /* of A, B, C, D; registers of f64 have 64 bits, all others 32 */
} num_mma;

/* Finds the instruction with this shape and these types in PTX up to 8.5 for sm_90; false if PTX does not
 * have it. Layouts (.row, .col) are passed to num_mma_run. Excludes mma.sp. */
bool num_mma_find(bool wmma, int m, int n, int k, ptx_type a, ptx_type b, ptx_type c, ptx_type d,
                  num_mma_op op, num_mma *out);
/* Registers of a wmma fragment of this shape and type (wmma.load, wmma.store); 0: unsupported. */
int num_wmma_registers(num_operand operand, int m, int n, int k, ptx_type type);

typedef struct num_mma_options {
    bool satfinite;
    /* .col for A, .row for B: only relevant for m8n8k4 of f16; other fragments do not depend on it */
    bool a_col, b_row;
} num_mma_options;

/* D = A * B + C over a warp. Operands are arrays of pointers, one per register, to its 32 lanes: uint32_t, or
 * uint64_t for f64. D's lanes may alias C's. */
void num_mma_run(const num_mma *mma, const num_mma_options *options, void *const *d, const void *const *a,
                 const void *const *b, const void *const *c);

/* The position of element `index` of register `reg` of `lane` in the M x K, K x N or M x N matrix (m8n8k4 of
 * f16: of computation `*part` of four; otherwise 0). Elements of a register start at its low bits. */
typedef struct num_place {
    int row, column, part;
} num_place;
num_place num_mma_place(const num_mma *mma, num_operand operand, const num_mma_options *options, int lane,
                        int reg, int index);

/* wmma.load and wmma.store: moves a fragment between memory and registers. `move` is called for pieces of 1
 * to 8 bytes at byte `offset` from the operand's address (4-bit and 1-bit elements: whole 32-bit words), with
 * the lane that owns the piece; it loads into or stores from `bytes`. If it returns false, the transfer ends
 * and returns false. `stride`: the leading dimension in elements. */
typedef bool (*num_wmma_move)(void *context, int lane, int64_t offset, int size, void *bytes);
bool num_wmma_load(num_operand operand, int m, int n, int k, ptx_type type, bool col_major, int64_t stride,
                   void *const *registers, num_wmma_move move, void *context);
bool num_wmma_store(int m, int n, int k, ptx_type type, bool col_major, int64_t stride,
                    const void *const *registers, num_wmma_move move, void *context);

#endif
