/* gpu.binary: its objects, and a gpu.module that becomes one. Who makes the objects is said by the program. */
#ifndef CUTE_LIB_PASSES_HOST_BINARY_H
#define CUTE_LIB_PASSES_HOST_BINARY_H

#include "lib/base/buffer.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"

typedef enum cute_object_format { CUTE_OBJECT_PTX, CUTE_OBJECT_CUBIN, CUTE_OBJECT_FATBIN } cute_object_format;

/* An object of a gpu.module that is lowered. */
typedef struct cute_object_request {
    MlirOperation module;
    const cute_arch *arch;
    int opt_level;
    bool lineinfo;
    const char *toolkit; /* its folder; NULL: to be looked for */
    cute_object_format format;
} cute_object_request;

/* Makes the bytes; what is wrong goes to `diag`. */
typedef cute_status (*cute_object_maker)(const cute_object_request *request, cute_buffer *out,
                                         cute_diag *diag);
/* From now on emit-gpu-binary asks `maker`, which knows every architecture; NULL, as at first: MLIR's own serializer. */
void cute_binary_set_maker(cute_object_maker maker);
cute_object_maker cute_binary_maker(void);

/* #gpu.object<target, bin = "...">; null: the text was not taken, which has been told. */
MlirAttribute cute_binary_object(MlirAttribute target, cute_object_format format, const cute_buffer *bytes);
/* Puts a gpu.binary with `objects` (an array) in the place of the module. False: out of memory. */
bool cute_binary_replace(MlirOperation module, MlirAttribute objects);

#endif
