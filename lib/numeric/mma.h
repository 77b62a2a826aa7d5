/* mma.sync and wmma: which lane and register holds which element, and the product (PTX ISA 8.5, 9.7.14).
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

typedef enum emu_element {
    EMU_MMA_F64,
    EMU_MMA_F32, /* accumulators only */
    EMU_MMA_TF32,
    EMU_MMA_F16,
    EMU_MMA_BF16,
    EMU_MMA_E4M3,
    EMU_MMA_E5M2,
    EMU_MMA_S32, /* accumulators only */
    EMU_MMA_S8,
    EMU_MMA_U8,
    EMU_MMA_S4,
    EMU_MMA_U4,
    EMU_MMA_B1,
    EMU_MMA_ELEMENTS
} emu_element;

typedef enum emu_product { EMU_MUL_ADD, EMU_XOR_POPC, EMU_AND_POPC } emu_product;
typedef enum emu_operand { EMU_A, EMU_B, EMU_C } emu_operand; /* D is laid out as C */

int emu_element_bits(emu_element type);
/* "f16", "e4m3" ... as PTX spells it (".f16"); EMU_MMA_ELEMENTS when it is none. */
emu_element emu_element_find(const char *name, size_t length);

/* One instruction. wmma fragments use the layouts of mma; f16 fragments of wmma.load.a and .b have 8
 * registers, of which those above what the matrix needs repeat the first. */
typedef struct emu_mma {
    int16_t m, n, k;
    uint8_t a, b, c, d; /* emu_element */
    uint8_t product;    /* emu_product */
    bool wmma;
    uint8_t registers[4]; /* of A, B, C, D; a register of f64 has 64 bits, all others 32 */
} emu_mma;

/* What PTX up to 8.5 has of this shape and these types for sm_90, false otherwise; layouts (.row, .col) are
 * given to emu_mma_run. Not here: mma.sp. */
bool emu_mma_find(bool wmma, int m, int n, int k, emu_element a, emu_element b, emu_element c, emu_element d,
                  emu_product product, emu_mma *out);
/* Registers of a wmma fragment of this shape and type by itself (wmma.load, wmma.store); 0: there is none. */
int emu_wmma_registers(emu_operand operand, int m, int n, int k, emu_element type);

typedef struct emu_mma_options {
    bool satfinite;
    bool a_col,
        b_row; /* .col for A, .row for B: matters for m8n8k4 of f16 only; elsewhere a fragment is the same */
} emu_mma_options;

/* D = A * B + C over a warp. Operands are arrays of pointers, one a register, each to its 32 lanes: uint32_t,
 * or uint64_t for f64. D's lanes may be C's. */
void emu_mma_run(const emu_mma *mma, const emu_mma_options *options, void *const *d, const void *const *a,
                 const void *const *b, const void *const *c);

/* Where element `index` of register `reg` of `lane` lies in the M x K, K x N or M x N matrix (of the
 * computation
 * `*part` of four, for m8n8k4 of f16; else 0). The elements of a register begin at its low bits. */
typedef struct emu_place {
    int row, column, part;
} emu_place;
emu_place emu_mma_place(const emu_mma *mma, emu_operand operand, const emu_mma_options *options, int lane,
                        int reg, int index);

/* wmma.load and wmma.store: moves a fragment between memory and registers. `move` is called for pieces of 1
 * to 8 bytes at byte `offset` from the operand's address (elements of 4 bits and 1 bit: whole 32-bit words),
 * with the lane whose piece it is; it loads into or stores from `bytes`. False from it ends the transfer and
 * is returned. `stride`: the leading dimension in elements. */
typedef bool (*emu_wmma_move)(void *context, int lane, int64_t offset, int size, void *bytes);
bool emu_wmma_load(emu_operand operand, int m, int n, int k, emu_element type, bool col_major, int64_t stride,
                   void *const *registers, emu_wmma_move move, void *context);
bool emu_wmma_store(int m, int n, int k, emu_element type, bool col_major, int64_t stride,
                    const void *const *registers, emu_wmma_move move, void *context);

#endif
