/* Conversion of a gpu.module to a gpu.binary. The program that links this provides the object maker. */
#ifndef CUTE_LIB_PASSES_HOST_BINARY_H
#define CUTE_LIB_PASSES_HOST_BINARY_H

#include "lib/base/buffer.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"

typedef enum cute_object_format { CUTE_OBJECT_PTX, CUTE_OBJECT_CUBIN, CUTE_OBJECT_FATBIN } cute_object_format;

/* Request for the object of a lowered gpu.module. */
typedef struct cute_object_request {
    MlirOperation module;
    const cute_arch *arch;
    int opt_level;
    bool lineinfo;
    const char *toolkit; /* root of the toolkit; NULL: search for it */
    cute_object_format format;
} cute_object_request;

/* Makes the object; errors are added to `diag`. */
typedef cute_status (*cute_object_maker)(const cute_object_request *request, cute_buffer *out,
                                         cute_diag *diag);
/* Makes emit-gpu-binary use `maker`, which supports every architecture. Initially NULL: MLIR's own
 * serializer. */
void cute_binary_set_maker(cute_object_maker maker);
cute_object_maker cute_binary_maker(void);

/* An attribute of the builtin.module: emit-gpu-binary leaves the lowered gpu.modules, as cute-ptx generates their code after
 * the pipeline. */
#define CUTE_BINARY_LATER "cute.binary_later"

/* #gpu.object<target, bin = "...">; null after an error has been reported. */
MlirAttribute cute_binary_object(MlirAttribute target, cute_object_format format, const cute_buffer *bytes);
/* Replaces the module by a gpu.binary with `objects` (an array). False: out of memory. */
bool cute_binary_replace(MlirOperation module, MlirAttribute objects);

#endif
