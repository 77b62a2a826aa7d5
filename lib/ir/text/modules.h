/* Files that hold several modules, and gpu.modules without an end, as printers of newer MLIR write them: what parses is
 * one text of one module. */
#ifndef CUTE_LIB_IR_TEXT_MODULES_H
#define CUTE_LIB_IR_TEXT_MODULES_H

#include <mlir-c/IR.h>

#include "lib/ir/text/defines.h"

/* Where the text needs it, *out is a copy in which
 *   - aliases that a module behind the first defines once more are called otherwise, there and where they are used;
 *   - gpu.modules in generic form end in gpu.module_end, which LLVM 20 has no more.
 * What was replaced or put in is added to *edits. Otherwise *out stays empty. */
cute_status cute_modules_splice(const char *text, size_t length, cute_buffer *out, cute_edits *edits,
                                cute_diag *diag);

/* A module of nothing but several modules becomes one: symbols, and kernels of one name in different gpu.modules, are
 * renamed where they meet (`kernels`, `kernels_2`), with all that refers to them. Kernels lose lists of attributes in which
 * nothing is. */
void cute_modules_merge(MlirOperation root);

#endif
