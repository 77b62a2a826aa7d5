/* Connects both libraries: the compiler library compiles the kernels of matrix products in the process. */
#include "cute/gemm_compiler.h"

#include <stdlib.h>
#include <string.h>

#include "cute/compile.h"

static cute_status copy_text(const cute_compiled *compiled, const char *label, char **ptx, size_t *length,
                             cute_diag *diag)
{
    if (cute_compiled_count(compiled) != 1)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected one gpu.module in the kernel %s, got %zu", label,
                         cute_compiled_count(compiled));
    const char *text = cute_compiled_text(compiled, 0, length);
    if (!(*ptx = malloc(*length + 1))) return cute_fail_memory(diag);
    memcpy(*ptx, text, *length + 1);
    return CUTE_OK;
}

static cute_status compile_gemm_to_ptx(void *context, const char *label, const char *source, size_t length,
                                       const char *const *defines, size_t define_count, const char *arch,
                                       char **ptx, size_t *ptx_length, cute_diag *diag)
{
    cute_compiler *compiler = NULL;
    cute_compiled *compiled = NULL;
    (void)context;
    CUTE_TRY(cute_compiler_create(&compiler, diag));
    cute_status status = cute_compiler_set(compiler, "arch", arch, diag);
    for (size_t i = 0; i < define_count && status == CUTE_OK; i++)
        status = cute_compiler_set(compiler, "define", defines[i], diag);
    if (status == CUTE_OK) status = cute_compiler_run(compiler, label, source, length, &compiled, diag);
    if (status == CUTE_OK) status = copy_text(compiled, label, ptx, ptx_length, diag);
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    return status;
}

/* Part of cache keys: kernels compiled by another version may differ. */
static const cute_gemm_compiler compiler = {
    .size = sizeof compiler, .to_ptx = compile_gemm_to_ptx, .version = "libcute-compiler " CUTE_VERSION};

const cute_gemm_compiler *cute_compiler_gemm(void)
{
    return &compiler;
}
