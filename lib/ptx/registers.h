/* What a kernel's tensors in registers need before LLVM's own pipeline. */
#ifndef CUTE_LIB_PTX_REGISTERS_H
#define CUTE_LIB_PTX_REGISTERS_H

#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loops of at most so many iterations that index registers are unrolled unasked. */
enum { CUTE_UNROLLED_ITERATIONS = 256 };

/* Loops that ask for it are unrolled, long vectors become scalars, and what is accessed at known places goes to registers:
 * first, so that all of LLVM's pipeline sees values. Inline assembly without side effects neither reads nor writes memory,
 * and runs with the lanes that the program says. */
void cute_llvm_prepare(LLVMModuleRef module, LLVMTargetMachineRef machine);

/* After LLVM's pipeline: what stands idle in a loop that needs many registers is computed again behind it, and what the sides
 * of a branch with setmaxnreg need is computed on each. */
void cute_llvm_recompute(LLVMModuleRef module);

/* Before code is made: 8 or 16 bytes that are put together of single ones are stored at once. */
void cute_llvm_join_bytes(LLVMModuleRef module);

/* A target machine whose pointers to shared, constant and local memory have 32 bits where the module's intrinsics can do
 * with these, and 64 otherwise. */
LLVMTargetMachineRef cute_llvm_machine(LLVMModuleRef module, LLVMTargetRef target, const char *triple,
                                       const char *chip, const char *features, LLVMCodeGenOptLevel level);

#ifdef __cplusplus
}
#endif
#endif
