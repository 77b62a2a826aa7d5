/* Fatal errors of LLVM, which would end the process, as a return to the caller. The one place that knows of
 * them: the compiler library and the tools go through it. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_RECOVER_H
#define CUTE_LIB_IR_DIAGNOSTICS_RECOVER_H

#include <stdbool.h>

/* Runs body(context) on this thread. False where LLVM gave up inside it (report_fatal_error, out of memory):
 * *reason is LLVM's message then, malloc'ed (NULL when memory is exhausted). The frames in between are left
 * as they are: what they own leaks, and the MLIR and LLVM contexts that they used must not be touched again,
 * not even destroyed. LLVM itself stays usable. May be nested and called by several threads at once. */
bool cute_llvm_recover(void (*body)(void *context), void *context, char **reason);

/* What a program does about a fatal error on a thread outside of cute_llvm_recover, as those of MLIR's pool: it
 * may say so and must end the process. NULL, as at first: LLVM ends it. */
void cute_llvm_last_resort(void (*give_up)(const char *reason));

#endif
