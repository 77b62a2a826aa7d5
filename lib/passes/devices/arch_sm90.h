/* Emission of wgmma and its synchronisation as inline PTX; no other file emits these. */
#ifndef CUTE_LIB_PASSES_DEVICES_ARCH_SM90_H
#define CUTE_LIB_PASSES_DEVICES_ARCH_SM90_H

#include "lib/atoms/atoms.h"
#include "lib/ir/mlir/builder.h"

/* Maximum number of values tied to one statement. */
enum { CUTE_MOST_TIED = 512 };

/* Words of a matrix descriptor. */
typedef struct cute_descriptor {
    MlirValue low, high; /* i32 */
} cute_descriptor;

/* Maximum number of products summed in one statement. */
enum { CUTE_MOST_STEPS = 8 };

typedef struct cute_wgmma_step {
    MlirValue a_words[8]; /* words of A in registers: i32 */
    cute_descriptor a, b; /* a: unless A is in registers */
    MlirValue adds;       /* i1; false: D = A * B */
    bool negative[2];     /* -A, -B; floats only */
} cute_wgmma_step;

/* wgmma.mma_async: `steps` consecutive products in one statement, accumulating in place. d: the registers
 * of D and C, replaced by the results. before, behind: instructions without operands around them, or "". */
void cute_arch_wgmma(const cute_builder *b, const cute_atom *atom, MlirValue *d, const cute_wgmma_step *steps,
                     int count, const char *before, const char *behind);

/* Emits an instruction without operands ("wgmma.fence.sync.aligned;") in order with others of its kind,
 * after the definitions of values[] and before their later uses, which use its results instead. */
void cute_arch_pinned(const cute_builder *b, const char *ptx, MlirValue *values, intptr_t count);

#endif
