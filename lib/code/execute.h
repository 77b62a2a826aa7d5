/* Evaluates one PTX instruction on the lane values of its operands. */
#ifndef CUTE_LIB_CODE_EXECUTE_H
#define CUTE_LIB_CODE_EXECUTE_H

#include "lib/code/lanes.h"
#include "lib/emulator/machine/machine.h"

enum { EVALUATE_OPERANDS = 24 };

typedef struct evaluation {
    cute_arena *arena; /* for texts */
    em_warp *scratch;  /* a warp of the emulator that executes instructions with known operands */
    const em_inst *inst;
    uint32_t mask; /* active lanes */
    /* Operands that are read and written, in order, with lists flattened. */
    em_operand *sources[EVALUATE_OPERANDS], *results[EVALUATE_OPERANDS];
    int source_count, result_count;
    lane_values in[EVALUATE_OPERANDS], out[EVALUATE_OPERANDS];
} evaluation;

/* Bits of an operand's register; 0: more than 64, not evaluated. */
uint32_t evaluate_bits(const em_operand *o);
/* Collects the operands. False: too many, or the emulator does not support the instruction. */
bool evaluate_operands(evaluation *e, const em_inst *inst);
/* The instruction reads and writes only registers. */
bool evaluate_is_pure(const em_inst *inst);
/* Sets `out` by executing a pure instruction with known operands on the emulator. */
bool evaluate_known(evaluation *e);
/* Sets `out` of other operations: vector moves, address-space conversions, warp communication. */
bool evaluate_other(evaluation *e);

#endif
