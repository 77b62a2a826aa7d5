/* Reads the objects of gpu.binary operations from MLIR text or bytecode, without MLIR. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_GPUBINARY_H
#define CUTE_LIB_CUBIN_CONTAINERS_GPUBINARY_H

#include "cute/base.h"

typedef enum cute_object_kind {
    CUTE_OBJECT_OFFLOAD,  /* LLVM IR, or another format of the target */
    CUTE_OBJECT_ASSEMBLY, /* PTX */
    CUTE_OBJECT_BIN,      /* a cubin */
    CUTE_OBJECT_FATBIN,   /* the default, without a keyword */
} cute_object_kind;

typedef struct cute_object {
    const char *symbol; /* of the gpu.binary, without '@' */
    size_t index;       /* of the object in the gpu.binary */
    cute_object_kind kind;
    const char *chip; /* "sm_90a"; "" if the target has none */
    const void *data;
    size_t length;
} cute_object;

/* Lists all objects in order, in `arena`; none is not an error. CUTE_INVALID with the place (text) or the
 * byte offset (bytecode) of a syntax error. */
cute_status cute_gpu_binary_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                                 cute_object **out, size_t *count, cute_diag *diag);
const char *cute_object_kind_name(cute_object_kind kind);

#endif
