/* Accepts files with several modules, and gpu.modules without a terminator (as printed by newer MLIR), as
 * a single module. */
#ifndef CUTE_LIB_IR_TEXT_MODULES_H
#define CUTE_LIB_IR_TEXT_MODULES_H

#include <mlir-c/IR.h>

#include "lib/ir/text/defines.h"

/* If necessary, copies the text to *out with
 *   - aliases renamed that a later module redefines, with their uses;
 *   - gpu.module_end added to gpu.modules in generic form (LLVM 20 has no such operation).
 * Changes are added to *edits. Otherwise *out remains empty. */
cute_status cute_modules_splice(const char *text, size_t length, cute_buffer *out, cute_edits *edits,
                                cute_diag *diag);

/* Merges a module that contains only modules into one. Clashing symbols, and kernels of the same name in
 * different gpu.modules, are renamed (`kernels`, `kernels_2`) with their uses. Also drops lists of empty
 * argument attributes from kernels. */
void cute_modules_merge(MlirOperation root);

#endif
