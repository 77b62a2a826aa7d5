/* Finds tensors in registers that end up in local memory, and the reason. */
#ifndef CUTE_LIB_PTX_LOCAL_MEMORY_H
#define CUTE_LIB_PTX_LOCAL_MEMORY_H

#include <llvm-c/TargetMachine.h>
#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The reason, the fix, and the place of the responsible access; file: "" if unknown. */
typedef struct cute_local_tensor {
    size_t index; /* of the tensor in the order of cute_llvm_name_tensors */
    const char *reason, *instead;
    const char *file;
    unsigned line, column;
} cute_local_tensor;

/* Names the allocas of a gpu.module's tensors in its LLVM IR, so that they can be found after optimization.
 * Calls `each` for the tensors in order. */
void cute_llvm_name_tensors(MlirOperation gpu_module, LLVMModuleRef module,
                            void (*each)(MlirOperation op, void *context), void *context);
/* Calls `each` once for each tensor that is still in memory. */
void cute_llvm_local_tensors(LLVMModuleRef module, LLVMTargetMachineRef machine,
                             void (*each)(const cute_local_tensor *tensor, void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
