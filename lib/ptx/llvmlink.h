/* Linking of needed functions only, which LLVM's C interface lacks. */
#ifndef CUTE_LIB_PTX_LLVMLINK_H
#define CUTE_LIB_PTX_LLVMLINK_H

#include <llvm-c/Types.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Links, with internal linkage, the functions of the bitcode file `path` that `module` declares, and their
 * callees. On failure *error is malloc'ed. */
bool cute_llvm_link_needed(LLVMModuleRef module, const char *path, char **error);

#ifdef __cplusplus
}
#endif
#endif
