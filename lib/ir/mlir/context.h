/* The dialect registry of all tools. */
#ifndef CUTE_LIB_IR_MLIR_CONTEXT_H
#define CUTE_LIB_IR_MLIR_CONTEXT_H

#include <mlir-c/IR.h>

/* Upstream's dialects and passes, and ours. Passes are registered once per process. */
MlirDialectRegistry cute_registry_create(void);

#endif
