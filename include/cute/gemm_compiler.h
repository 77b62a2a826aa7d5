/* Compiles the kernels of cute/gemm.h within the process, with the compiler of libcute-compiler: no external
 * compiler program is needed. */
#ifndef CUTE_GEMM_COMPILER_H
#define CUTE_GEMM_COMPILER_H

#include "cute/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For cute_gemm_options.compiler. Thread-safe. */
CUTE_API const cute_gemm_compiler *cute_compiler_gemm(void);

#ifdef __cplusplus
}
#endif
#endif
