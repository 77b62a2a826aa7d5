/* LLVM transformations that keep tensors in registers and reduce register pressure, around LLVM's own
 * pipeline. */
#ifndef CUTE_LIB_PTX_REGISTERS_H
#define CUTE_LIB_PTX_REGISTERS_H

#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loops that index registers are unrolled automatically up to this trip count. */
enum { CUTE_UNROLLED_ITERATIONS = 256 };

/* Unrolls marked loops, splits long vectors into scalars, and promotes memory with constant indices to
 * registers; runs first, so that all of LLVM's pipeline sees SSA values. Inline assembly without side effects
 * is marked as not accessing memory, and .sync assembly as convergent. */
void cute_llvm_prepare(LLVMModuleRef module, LLVMTargetMachineRef machine);

/* After LLVM's pipeline: rematerializes values that are unused in a loop with high register pressure after
 * the loop, and values that the sides of a branch with setmaxnreg need on each side; multiples that such a loop
 * uses become shifts, which ptxas does not rematerialize in it. Shortens the addresses and predicates of
 * loops with cp.async or with narrow loads under predicates; in loops with wgmma, loads have predicates instead of
 * branches, and a loop that carries a factor has two iterations in one (alternate_factors.cpp). */
void cute_llvm_recompute(LLVMModuleRef module, LLVMTargetMachineRef machine);

/* Before code generation: merges stores of 8 or 16 single bytes into one store. */
void cute_llvm_join_bytes(LLVMModuleRef module);

/* Creates a target machine with 32-bit pointers to shared, constant and local memory if the module's
 * intrinsics support them, and 64-bit pointers otherwise. */
LLVMTargetMachineRef cute_llvm_machine(LLVMModuleRef module, LLVMTargetRef target, const char *triple,
                                       const char *chip, const char *features, LLVMCodeGenOptLevel level);

#ifdef __cplusplus
}
#endif
#endif
