/* Host functions: which launch kernels, themselves or through what they call. */
#ifndef CUTE_LIB_PASSES_HOST_HOST_H
#define CUTE_LIB_PASSES_HOST_HOST_H

#include <mlir-c/IR.h>
#include <stdbool.h>

/* A func.func with a body that others may call. */
bool cute_host_is_public(MlirOperation op);
/* The function that a func.call calls; null where `module` does not have it. */
MlirOperation cute_host_callee(MlirOperation module, MlirOperation call);
/* Whether `func` launches a kernel, or a function that it calls. */
bool cute_host_launches(MlirOperation module, MlirOperation func);
/* Whether it has a loop of scf, or a function that it calls. */
bool cute_host_loops(MlirOperation module, MlirOperation func);

#endif
