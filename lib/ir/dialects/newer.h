/* Operations of nvvm and nvgpu that LLVM 19 lacks: newer.td. */
#ifndef CUTE_LIB_IR_DIALECTS_NEWER_H
#define CUTE_LIB_IR_DIALECTS_NEWER_H

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds them to their dialects on loading. */
void cute_newer_insert(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif
#endif
