/* Names that the printer gives to long types of LLVM's dialect. */
#ifndef CUTE_LIB_IR_ALIASES_H
#define CUTE_LIB_IR_ALIASES_H

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* They are there when the dialect nvvm is loaded. */
void cute_aliases_insert(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif
#endif
