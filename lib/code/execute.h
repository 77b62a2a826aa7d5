/* What one instruction of PTX makes of its operands' lanes. */
#ifndef CUTE_LIB_CODE_EXECUTE_H
#define CUTE_LIB_CODE_EXECUTE_H

#include "lib/code/lanes.h"
#include "lib/emulator/machine/machine.h"

enum { EVALUATE_OPERANDS = 24 };

typedef struct evaluation {
    cute_arena *arena; /* of texts */
    em_warp *scratch;  /* whose executors run instructions with known operands; its registers are slots */
    const em_inst *inst;
    uint32_t mask; /* lanes that come here */
    /* Operands that are read, and those that are written, in their order; lists one by one. */
    em_operand *sources[EVALUATE_OPERANDS], *results[EVALUATE_OPERANDS];
    int source_count, result_count;
    lane_values in[EVALUATE_OPERANDS], out[EVALUATE_OPERANDS];
} evaluation;

/* Bits of an operand's register; 0: more than 64, of which nothing is known. */
uint32_t evaluate_bits(const em_operand *o);
/* Which operands it has. False: more than fit, or it is not known to the emulator. */
bool evaluate_operands(evaluation *e, const em_inst *inst);
/* The executor needs nothing but registers. */
bool evaluate_is_pure(const em_inst *inst);
/* Sets `out` where the emulator's executor can: all operands are known, and it needs nothing but registers. */
bool evaluate_known(evaluation *e);
/* Sets `out` of operations of PTX that are none on integers: moves of parts, address spaces, what lanes say to each other. */
bool evaluate_other(evaluation *e);

#endif
