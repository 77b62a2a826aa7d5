/* From LLVM IR to PTX. */
#ifndef CUTE_LIB_PTX_BACKEND_H
#define CUTE_LIB_PTX_BACKEND_H

#include <llvm-c/TargetMachine.h>
#include <llvm-c/Types.h>

#include "lib/ptx/ptx.h"

/* LLVM's NVPTX backend. Registered once per process. */
void cute_nvptx_register(void);
cute_status cute_nvptx_machine(const cute_ptx_options *options, LLVMModuleRef module,
                               LLVMTargetMachineRef *out, cute_diag *diag);
cute_status cute_nvptx_optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, int level,
                                cute_diag *diag);
cute_status cute_nvptx_codegen(const cute_ptx_options *options, LLVMModuleRef module,
                               LLVMTargetMachineRef machine, cute_buffer *out, cute_diag *diag);

/* NVIDIA's libNVVM, for architectures newer than LLVM's backend. Links libdevice itself if requested. */
cute_status cute_libnvvm_compile(LLVMModuleRef module, const cute_ptx_options *options, bool libdevice,
                                 cute_buffer *out, cute_diag *diag);

/* Whether the module declares functions of libdevice (`__nv_*`) that it does not define. */
bool cute_needs_libdevice(LLVMModuleRef module);

#endif
