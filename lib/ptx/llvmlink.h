/* The doors that LLVM's C interface lacks here: linking only what is needed, all of its fatal errors. */
#ifndef CUTE_LIB_PTX_LLVMLINK_H
#define CUTE_LIB_PTX_LLVMLINK_H

#include <llvm-c/Types.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Links the functions of the bitcode file `path` that `module` declares and those that they call, as internal
 * ones. On failure *error is malloc'ed. */
bool cute_llvm_link_needed(LLVMModuleRef module, const char *path, char **error);

/* `handler` is called before LLVM ends the process, with what it would print; it may leave by longjmp. Once in a
 * process. */
void cute_llvm_on_fatal(void (*handler)(const char *reason));

#ifdef __cplusplus
}
#endif
#endif
