/* Operations and PDL patterns that plugins add. Like MLIR's registry of passes, the lists are process-wide: they are filled before the
 * first context is created and never shrink. */
#ifndef CUTE_LIB_IR_MLIR_EXTENSION_H
#define CUTE_LIB_IR_MLIR_EXTENSION_H

#include <mlir-c/IR.h>

#include "lib/plugin/plugins.h"

#ifdef __cplusplus
#include <vector>
namespace cute
{
// The names of the passes that were added.
const std::vector<const char *> &extensionPasses();
} // namespace cute
extern "C" {
#endif

/* Adds an operation to its dialect, which the contexts that are created from now on have. The row and the library live as long as
 * the process. */
void cute_extension_add_operation(const cute_plugin_operation *row, const plugin_library *library);
/* Whether a dialect of plugins has the operation. */
bool cute_extension_has_operation(const char *name);
/* Dialects ("arith,gpu") that each new context loads, as passes create their operations. */
void cute_extension_load(const char *dialects);
/* Adds passes to a pipeline of the program; the row lives as long as the process. Step `index` of all; NULL: past the last. */
void cute_extension_add_step(const cute_plugin_step *row);
const cute_plugin_step *cute_extension_step(size_t index);
/* Notes the name of a plugin's pass. It lives as long as the process. */
void cute_extension_note_pass(const char *name);

/* Whether `registry` has the dialect. */
bool cute_registry_has(MlirDialectRegistry registry, const char *dialect, size_t length);
/* Inserts the dialects of plugins. */
void cute_extensions_insert(MlirDialectRegistry registry);

/* The first operation in `patterns` that PDL cannot run here, as it calls a native function; null: none. */
MlirOperation cute_patterns_native(MlirOperation patterns);
size_t cute_patterns_count(MlirOperation patterns);
/* Lowers a copy of the patterns to their bytecode; LLVM gives up if they are invalid (recover.h). Adds the dialects that they need
 * to those that new contexts load. */
void cute_patterns_try(MlirModule patterns);
/* Registers the pass `name`, which applies the patterns of the text until none matches. Texts live as long as the process. */
void cute_patterns_register(const char *name, const char *help, const char *text, size_t length);

/* An operation in no block that uses a value defined at or in `root`: it was created but not inserted. Drops its
 * uses, so that the module can be destroyed. Null: none. */
MlirOperation cute_stray_user(MlirOperation root);

#ifdef __cplusplus
}
#endif
#endif
