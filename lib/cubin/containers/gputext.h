/* Shared by the readers of MLIR text and bytecode: `#gpu.object<...>`, which is text in both. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_GPUTEXT_H
#define CUTE_LIB_CUBIN_CONTAINERS_GPUTEXT_H

#include "lib/cubin/containers/gpubinary.h"

typedef struct cute_object_list {
    cute_object *items;
    size_t count, capacity;
} cute_object_list;

/* A scanner's position in a text, and the whole text for the lookup of aliases (`#name = ...`). */
typedef struct cute_mlir_text {
    cute_arena *arena;
    const char *label;
    const char *text, *at, *stop;
    cute_diag *diag;
} cute_mlir_text;

/* Reads `#gpu.object<...>` at s->at and adds it as the next object of `symbol`. */
cute_status cute_gpu_object_read(cute_mlir_text *s, const char *symbol, size_t index, cute_object_list *list);
/* All objects of a module's bytecode. */
cute_status cute_gpu_bytecode_read(cute_arena *arena, const char *label, const uint8_t *bytes, size_t length,
                                   cute_object_list *list, cute_diag *diag);

#endif
