/* wgmma.mma_async: a warpgroup's MMA of 64 x K by K x N with operands in shared memory (PTX
 * ISA 8.5, 9.7.15). The arithmetic is that of mma.h. */
#ifndef CUTE_LIB_NUMERIC_WGMMA_H
#define CUTE_LIB_NUMERIC_WGMMA_H

#include "lib/numeric/mma.h"

/* A matrix descriptor, decoded (9.7.15.5.1.2.2). */
typedef struct num_descriptor {
    uint32_t start, leading, stride; /* bytes */
    uint32_t base;                   /* base offset, 0 to 7 */
    uint32_t swizzle;                /* span in bytes: 0, 32, 64, 128 */
} num_descriptor;
num_descriptor num_descriptor_decode(uint64_t bits);

typedef struct num_wgmma {
    int n, k;         /* m is 64 */
    ptx_type a, b, d; /* d: F32, F16 or S32 */
    num_mma_op op;    /* NUM_AND_POPC for b1 */
    bool a_in_registers;
    bool transpose_a, transpose_b; /* M-major, N-major; 16-bit types only */
    bool negate_a, negate_b;       /* scale-a, scale-b of -1 */
    bool scale_d;                  /* false: D = A*B */
    bool satfinite;
} num_wgmma;

/* NULL if PTX has this instruction, else a message. */
const char *num_wgmma_check(const num_wgmma *wgmma);
/* Registers of D per thread: n / 2, or n / 4 for f16. A in registers has 4. */
int num_wgmma_registers(const num_wgmma *wgmma);

/* Reads `size` (16) bytes of shared memory at a 16-byte aligned address through the asynchronous proxy; false
 * ends the instruction. `operand` is NUM_A or NUM_B. Each 16 bytes of an operand are read once per call. */
typedef bool (*num_shared_read)(void *context, num_operand operand, uint32_t address, uint32_t size,
                                void *out);

typedef struct num_wgmma_operands {
    uint64_t a_descriptor, b_descriptor;
    /* Register r of the w-th computed warp is [w * registers + r]: a pointer to its 32 lanes. D is read if
     * scale_d. */
    const uint32_t *const *a;
    uint32_t *const *d;
    /* Directly accessible shared memory, or NULL: `shared_bytes` from the address `shared_first`. */
    const uint8_t *shared;
    uint32_t shared_first, shared_bytes;
} num_wgmma_operands;

/* Computes the rows of warps `first` to `first + count - 1` of the warpgroup (0, 4 for all, which is
 * fastest). False if `read` failed; D is then unchanged. */
bool num_wgmma_run(const num_wgmma *wgmma, int first, int count, const num_wgmma_operands *operands,
                   num_shared_read read, void *context);

/* The unswizzled order: byte address of the 16-byte chunk that holds (mn, k) of an operand in shared memory,
 * for checks and explanations; *element is its index in the chunk. `bits`: of an element. */
uint32_t num_descriptor_address(const num_descriptor *descriptor, bool mn_major, int bits, int mn, int k,
                                int *element);

#endif
