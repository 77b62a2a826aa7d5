/* Counts and chains of dependences of machine code. */
#ifndef CUTE_LIB_REPORT_CODE_FIGURES_H
#define CUTE_LIB_REPORT_CODE_FIGURES_H

#include "lib/code/sass/code.h"

/* A chain of dependences through registers; dependences through memory are not seen. */
typedef struct cute_code_chain {
    size_t instructions;
    size_t length;   /* instructions on the longest chain */
    int64_t cycles;  /* of the chain with the greatest latency */
    int64_t carried; /* of a loop: what one more iteration adds to it; 0 elsewhere */
    double ilp;      /* instructions / length */
} cute_code_chain;

typedef struct cute_code_access_count {
    cute_code_space space;
    cute_code_access access;
    unsigned width; /* bytes a lane; 0: not known, or not by lanes */
    size_t count, in_loops;
} cute_code_access_count;

typedef struct cute_code_opcode_count {
    const char *name; /* terminated */
    cute_code_class class;
    size_t count, in_loops;
} cute_code_opcode_count;

typedef struct cute_code_figures {
    size_t instructions; /* reached ones; the rest is padding or dead */
    size_t unreached;
    size_t classes[CUTE_CODE_CLASSES], loop_classes[CUTE_CODE_CLASSES];
    size_t in_loops;
    cute_code_opcode_count *opcodes;  /* the most frequent first */
    cute_code_access_count *accesses; /* by space, access, width */
    size_t opcode_count, access_count, opcode_capacity, access_capacity;
    cute_code_chain *blocks, *loops; /* one each */
} cute_code_figures;

/* In `arena`; false when memory is exhausted. */
bool cute_code_count(cute_arena *arena, const cute_code_function *function, cute_code_figures *out);

#endif
