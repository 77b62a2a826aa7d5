/* Operations of nvvm and nvgpu that LLVM 19 does not have: newer.td. */
#ifndef CUTE_LIB_IR_DIALECTS_NEWER_H
#define CUTE_LIB_IR_DIALECTS_NEWER_H

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* They join their dialects when those are loaded. */
void cute_newer_insert(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif
#endif
