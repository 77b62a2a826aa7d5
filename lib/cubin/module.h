/* Internals of cute_module for other rooms. */
#ifndef CUTE_LIB_CUBIN_MODULE_H
#define CUTE_LIB_CUBIN_MODULE_H

#include "cute/cubin.h"
#include "lib/cubin/elf/elf.h"

typedef enum cute_content {
    CUTE_CONTENT_UNKNOWN,
    CUTE_CONTENT_EMPTY,
    CUTE_CONTENT_ELF,
    CUTE_CONTENT_PTX,
    CUTE_CONTENT_FATBIN,
    CUTE_CONTENT_ARCHIVE,
    CUTE_CONTENT_MLIR,
    CUTE_CONTENT_MLIR_BYTECODE,
    CUTE_CONTENT_LLVM, /* bitcode or text */
    CUTE_CONTENT_JSON,
} cute_content;

/* The file format, from the first bytes. */
cute_content cute_content_of(const void *bytes, size_t length);
/* "an ELF file", "MLIR", ... for messages. */
const char *cute_content_name(cute_content content);
/* Whether a kernel's metadata lists -D `name`. */
bool cute_module_defines(const cute_module *module, const char *name);
/* Whether it is MLIR text or bytecode. */
bool cute_content_is_mlir(const void *bytes, size_t length);
/* Finds the symbol (in `arena`) of a .global or .const variable by symbol or C++ name. CUTE_INVALID: none, or
 * several. */
cute_status cute_module_find_variable(cute_arena *arena, const cute_module *module, const char *name,
                                      const char **symbol, cute_diag *diag);
/* The fatbin that contains the module; NULL: none. */
const void *cute_module_fatbin(const cute_module *module, size_t *length);
/* The ELF file of a cubin; NULL for PTX. */
const cute_elf *cute_module_elf(const cute_module *module);

#endif
