/* MLIR contexts with everything that the tools read. */
#ifndef CUTE_LIB_IR_MLIR_CONTEXT_H
#define CUTE_LIB_IR_MLIR_CONTEXT_H

#include <mlir-c/IR.h>

/* Upstream's dialects and passes, and ours. Passes register once a process. */
MlirDialectRegistry cute_registry_create(void);

#endif
