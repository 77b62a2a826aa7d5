/* The objects in the gpu.binary operations of an MLIR module, from its text or its bytecode, without MLIR. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_GPUBINARY_H
#define CUTE_LIB_CUBIN_CONTAINERS_GPUBINARY_H

#include "cute/base.h"

typedef enum cute_object_kind {
    CUTE_OBJECT_OFFLOAD,  /* LLVM IR, or whatever a target serialises first */
    CUTE_OBJECT_ASSEMBLY, /* PTX */
    CUTE_OBJECT_BIN,      /* a cubin */
    CUTE_OBJECT_FATBIN,   /* what no word says */
} cute_object_kind;

typedef struct cute_object {
    const char *symbol; /* of the gpu.binary, without '@' */
    size_t index;       /* which of its objects */
    cute_object_kind kind;
    const char *chip; /* "sm_90a"; "" when the target does not say */
    const void *data;
    size_t length;
} cute_object;

/* Lists all objects in their order; everything is in `arena`. None is no error. CUTE_INVALID with the place
 * (text) or the byte (bytecode) of what cannot be read. */
cute_status cute_gpu_binary_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                                 cute_object **out, size_t *count, cute_diag *diag);
const char *cute_object_kind_name(cute_object_kind kind);

#endif
