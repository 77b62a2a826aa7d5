/* Queries on host functions: which ones launch kernels, directly or through calls. */
#ifndef CUTE_LIB_PASSES_HOST_HOST_H
#define CUTE_LIB_PASSES_HOST_HOST_H

#include <mlir-c/IR.h>
#include <stdbool.h>

/* A public func.func with a body. */
bool cute_host_is_public(MlirOperation op);
/* The callee of a func.call; null if `module` does not contain it. */
MlirOperation cute_host_callee(MlirOperation module, MlirOperation call);
/* Whether `func` launches a kernel, directly or through calls. */
bool cute_host_launches(MlirOperation module, MlirOperation func);
/* Whether `func` contains a loop, copy, fill or wait, directly or through calls: its launches have a place among these. */
bool cute_host_is_ordered(MlirOperation module, MlirOperation func);

#endif
