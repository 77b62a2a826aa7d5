/* Recovers from LLVM's fatal errors, which would otherwise end the process. Used by the compiler library
 * and the tools. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_RECOVER_H
#define CUTE_LIB_IR_DIAGNOSTICS_RECOVER_H

#include <stdbool.h>

/* Runs body(context) on this thread. Returns false on a fatal LLVM error (report_fatal_error, out of
 * memory) and sets *reason to LLVM's message, malloc'ed (NULL when memory is exhausted). The stack is
 * unwound by longjmp: its resources leak, and the MLIR and LLVM contexts involved must not be used again,
 * not even destroyed. LLVM itself remains usable. Reentrant and thread-safe. */
bool cute_llvm_recover(void (*body)(void *context), void *context, char **reason);

/* Handles a fatal error on a thread outside of cute_llvm_recover, such as MLIR's pool: `give_up` may print
 * the message and must end the process. NULL (default): LLVM ends it. */
void cute_llvm_last_resort(void (*give_up)(const char *reason));

#endif
