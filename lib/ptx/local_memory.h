/* Tensors in registers that stay in local memory, and why. */
#ifndef CUTE_LIB_PTX_LOCAL_MEMORY_H
#define CUTE_LIB_PTX_LOCAL_MEMORY_H

#include <llvm-c/TargetMachine.h>
#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why one stays, and the place of what is the reason; file: "" where it is not known. */
typedef struct cute_local_tensor {
    size_t index; /* of the tensor, in the order of cute_llvm_name_tensors */
    const char *reason, *instead;
    const char *file;
    unsigned line, column;
} cute_local_tensor;

/* Names the memory of the tensors of a gpu.module in the LLVM IR that it became, so that they are known again after
 * optimization. Calls `each` for them in order. */
void cute_llvm_name_tensors(MlirOperation gpu_module, LLVMModuleRef module,
                            void (*each)(MlirOperation op, void *context), void *context);
/* Calls `each` for those that are still memory, once for each. */
void cute_llvm_local_tensors(LLVMModuleRef module, LLVMTargetMachineRef machine,
                             void (*each)(const cute_local_tensor *tensor, void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
