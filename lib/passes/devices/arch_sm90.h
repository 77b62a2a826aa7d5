/* Instructions of sm_90a as inline PTX: the one place that writes those of warpgroups. */
#ifndef CUTE_LIB_PASSES_DEVICES_ARCH_SM90_H
#define CUTE_LIB_PASSES_DEVICES_ARCH_SM90_H

#include "lib/atoms/atoms.h"
#include "lib/ir/mlir/builder.h"

/* Values that one statement ties at most. */
enum { CUTE_MOST_TIED = 512 };

/* Words of a matrix descriptor. */
typedef struct cute_descriptor {
    MlirValue low, high; /* i32 */
} cute_descriptor;

/* Products that one statement adds up at most. */
enum { CUTE_MOST_STEPS = 8 };

typedef struct cute_wgmma_step {
    MlirValue a_words[8]; /* A in registers: i32 */
    cute_descriptor a, b; /* a: A in shared memory */
    MlirValue adds;       /* i1: false: D = A * B */
    bool negative[2];     /* -A, -B: of floats */
} cute_wgmma_step;

/* wgmma.mma_async, a step behind the other in one statement: D is read and written where it is. d: its registers, which
 * are those of C; they get the result. before, behind: instructions without operands around them, or "". */
void cute_arch_wgmma(const cute_builder *b, const cute_atom *atom, MlirValue *d, const cute_wgmma_step *steps,
                     int count, const char *before, const char *behind);

/* An instruction without operands ("wgmma.fence.sync.aligned;") that stays where it is among those of its kind, in front of
 * whatever reads values[] behind it and behind whatever makes them: they are replaced by what it yields, the same. */
void cute_arch_pinned(const cute_builder *b, const char *ptx, MlirValue *values, intptr_t count);

#endif
