/* Assumptions about a launch and their sources: block, grid, arguments, alignments. Views that look
 * at a kernel fill it here and print it with the same words. */
#ifndef CUTE_LIB_CODE_ASSUMPTIONS_H
#define CUTE_LIB_CODE_ASSUMPTIONS_H

#include "cute/cubin.h"

struct em_function;

/* Bytes of the parameter block. */
typedef enum code_byte {
    CODE_BYTE_UNKNOWN,
    CODE_BYTE_NUMBER,
    CODE_BYTE_POINTER, /* to so many bytes behind the begin of an allocation */
} code_byte;

typedef struct code_assumptions {
    int64_t block[3], grid[3]; /* [0] 0: not known */
    int64_t dynamic_smem;      /* bytes of a block, where grid is known; -1: not known */
    const char *
        block_from; /* ".reqntid", "--block", "launch.json", "metadata", ".maxntid", "assumed"; NULL: not known */
    bool block_assumed; /* made up */
    /* The parameter block; `known` has a code_byte for each byte. NULL: no launch says it. */
    const uint8_t *parameters, *known;
    size_t parameter_bytes;
    const cute_kernel *about; /* declared alignments; NULL: no metadata */
} code_assumptions;

enum {
    CODE_MADE_UP =
        1024, /* what an argument, and a number that all lanes load, are taken for where nothing says it */
    CODE_ALLOCATION = 256, /* what cudaMalloc aligns to */
};

/* Sets block and block_from: a block that is required goes first, then a stated one (`from`: "--block", "launch.json"; block[0] 0:
 * none), the metadata's, and the most threads of one dimension. `kernel` and `about` may be NULL. More threads than a block
 * can have are not known. */
void code_assume_block(code_assumptions *a, const struct em_function *kernel, const cute_kernel *about,
                       const int64_t block[3], const char *from);
/* The alignment in bytes of the pointer at `offset` of the parameters, by the launch or the metadata; 1: unknown. */
int64_t code_alignment(const code_assumptions *a, uint32_t offset);
/* One of code_byte for `bytes` of the parameters, and their value. */
code_byte code_parameter(const code_assumptions *a, uint64_t at, uint32_t bytes, uint64_t *out);
/* An argument that nothing is known of: a multiple of CODE_MADE_UP, by its place. */
static inline uint64_t code_made_up(uint64_t offset)
{
    return CODE_MADE_UP * (1 + (offset >> 2) % 16);
}
/* "blocks of 256 x 1 x 1 (.maxntid)"; NULL: memory is exhausted. */
const char *code_block_text(cute_arena *arena, const code_assumptions *a);

#endif
