/* Assumptions about a launch, with their origin: block, grid, arguments, alignments. All views share them and their text. */
#ifndef CUTE_LIB_CODE_ASSUMPTIONS_H
#define CUTE_LIB_CODE_ASSUMPTIONS_H

#include "cute/cubin.h"

struct em_function;

/* Bytes of the parameter block. */
typedef enum code_byte {
    CODE_BYTE_UNKNOWN,
    CODE_BYTE_NUMBER,
    CODE_BYTE_POINTER, /* as an offset from the start of an allocation */
} code_byte;

typedef struct code_assumptions {
    int64_t block[3], grid[3]; /* [0] 0: unknown */
    int64_t dynamic_smem;      /* bytes per block, if the grid is known; -1: unknown */
    const char *
        block_from; /* ".reqntid", "--block", "launch.json", "metadata", ".maxntid", "assumed"; NULL: unknown */
    bool block_assumed; /* no source states the block */
    /* The parameter block; `known` has a code_byte for each byte. NULL: no launch. */
    const uint8_t *parameters, *known;
    size_t parameter_bytes;
    const cute_kernel *about; /* the kernel's metadata, for declared alignments; NULL: none */
} code_assumptions;

enum {
    CODE_ASSUMED_ARGUMENT =
        1024,              /* unknown arguments and uniform loads are assumed to be multiples of this */
    CODE_ALLOCATION = 256, /* alignment of cudaMalloc in bytes */
};

/* Sets block and block_from from the first source that has it: .reqntid, the given block (`from`: "--block", "launch.json"; block[0] 0:
 * none), the metadata, a one-dimensional .maxntid. `kernel` and `about` may be NULL. A block that exceeds the limits is unknown. */
void code_assume_block(code_assumptions *a, const struct em_function *kernel, const cute_kernel *about,
                       const int64_t block[3], const char *from);
/* The alignment in bytes of the pointer at `offset` of the parameters, from the launch or the metadata; 1: unknown. */
int64_t code_pointer_alignment(const code_assumptions *a, uint32_t offset);
/* The kind and value of `bytes` of the parameters. */
code_byte code_parameter(const code_assumptions *a, uint64_t at, uint32_t bytes, uint64_t *out);
/* The assumed value of an unknown argument: a multiple of CODE_ASSUMED_ARGUMENT that depends on its offset. */
static inline uint64_t code_assumed_argument(uint64_t offset)
{
    return CODE_ASSUMED_ARGUMENT * (1 + (offset >> 2) % 16);
}
/* "blocks of 256 x 1 x 1 (.maxntid)"; NULL: memory is exhausted. */
const char *code_block_text(cute_arena *arena, const code_assumptions *a);

#endif
