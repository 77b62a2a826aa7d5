/* Products of cute/gemm.h whose kernels are compiled in the process, by the compiler of libcute-compiler: no program of the
 * pipe is needed. */
#ifndef CUTE_GEMM_COMPILER_H
#define CUTE_GEMM_COMPILER_H

#include "cute/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For cute_gemm_options.compiler. Used by several threads at once. */
CUTE_API const cute_gemm_compiler *cute_compiler_gemm(void);

#ifdef __cplusplus
}
#endif
#endif
