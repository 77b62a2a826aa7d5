/* Instruction counts and dependence chains of SASS. */
#ifndef CUTE_LIB_REPORT_CODE_FIGURES_H
#define CUTE_LIB_REPORT_CODE_FIGURES_H

#include "lib/code/sass/code.h"

/* The longest dependence chain through registers; dependences through memory are ignored. */
typedef struct cute_code_chain {
    size_t instructions;
    size_t length;   /* instructions on the longest chain */
    int64_t cycles;  /* the largest latency of a chain */
    int64_t carried; /* loop-carried cycles per iteration; 0 outside of loops */
    double ilp;      /* instructions / length */
} cute_code_chain;

typedef struct cute_code_access_count {
    cute_code_space space;
    cute_code_access access;
    unsigned width; /* bytes per lane; 0: unknown, or not per lane */
    size_t count, in_loops;
} cute_code_access_count;

typedef struct cute_code_opcode_count {
    const char *name; /* terminated */
    cute_code_class class;
    size_t count, in_loops;
} cute_code_opcode_count;

typedef struct cute_code_figures {
    size_t instructions; /* reachable ones; the others are padding or dead code */
    size_t unreached;
    size_t classes[CUTE_CODE_CLASSES], loop_classes[CUTE_CODE_CLASSES];
    size_t in_loops;
    cute_code_opcode_count *opcodes;  /* the most frequent first */
    cute_code_access_count *accesses; /* sorted by space, access, width */
    size_t opcode_count, access_count, opcode_capacity, access_capacity;
    cute_code_chain *blocks, *loops; /* one each */
} cute_code_figures;

/* In `arena`; false when memory is exhausted. */
bool cute_code_count(cute_arena *arena, const cute_code_function *function, cute_code_figures *out);

#endif
