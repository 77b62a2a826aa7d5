/* LLVM's NVPTX backend: in LLVM 19, up to sm_90a and PTX 8.5. */
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>

#include "lib/passes/devices/target.h"
#include "lib/ptx/backend.h"
#include "lib/ptx/registers.h"

/* llvm-c/Target.h declares these only for the configured targets. */
void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);

static const char triple[] = "nvptx64-nvidia-cuda";

bool cute_needs_libdevice(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (LLVMIsDeclaration(f) && length > 5 && !memcmp(name, "__nv_", 5)) return true;
    }
    return false;
}

void cute_nvptx_register(void)
{
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

/* ---- the PTX ISA ---- */

enum { LATEST_ISA = 85 }; /* supported by LLVM 19 */
static const char newest_target[] =
    "sm_90a"; /* the newest target of LLVM 19, also used for later architectures */

static int isa_of_function(LLVMValueRef f)
{
    int isa = CUTE_PTX_ISA;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (!callee || !LLVMIsAInlineAsm(callee)) continue;
            size_t length;
            int needed = cute_ptx_isa_of(LLVMGetInlineAsmAsmString(callee, &length));
            if (needed > isa) isa = needed;
        }
    return isa;
}

/* PTX 8.3 suffices for all other sm_90a instructions that this compiler emits, and older drivers accept
 * it. */
static int isa_of(LLVMModuleRef module, const cute_arch *arch)
{
    bool known = arch->backends & CUTE_BACKEND_NVPTX;
    int isa = known || arch->ptx < CUTE_PTX_ISA ? CUTE_PTX_ISA : arch->ptx;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        int needed = isa_of_function(f);
        if (needed > isa) isa = needed;
    }
    return isa;
}

cute_status cute_nvptx_machine(const cute_ptx_options *options, LLVMModuleRef module,
                               LLVMTargetMachineRef *out, cute_diag *diag)
{
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &error)) {
        cute_status status = cute_fail(diag, CUTE_SYSTEM, NULL, "LLVM has no NVPTX backend: %s", error);
        LLVMDisposeMessage(error);
        return status;
    }
    bool known = options->arch->backends & CUTE_BACKEND_NVPTX;
    int isa = isa_of(module, options->arch);
    char features[16];
    snprintf(features, sizeof features, "+ptx%d", isa < LATEST_ISA ? isa : LATEST_ISA);
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                 LLVMCodeGenLevelDefault, LLVMCodeGenLevelAggressive};
    *out = cute_llvm_machine(module, target, triple, known ? options->arch->target : newest_target, features,
                             levels[options->opt_level]);
    if (!*out)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "LLVM cannot generate code for %s", options->arch->name);
    return CUTE_OK;
}

cute_status cute_nvptx_optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, int level,
                                cute_diag *diag)
{
    char passes[16] = "default<O0>";
    passes[9] = (char)('0' + level);
    if (level) cute_llvm_prepare(module, machine);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error && level) cute_llvm_recompute(module, machine);
    if (!error) cute_llvm_join_bytes(module);
    if (!error) return CUTE_OK;
    char *message = LLVMGetErrorMessage(error);
    cute_status status = cute_fail(diag, CUTE_INVALID, NULL, "LLVM's optimiser: %s", message);
    LLVMDisposeErrorMessage(message);
    return status;
}

/* Rewrites the header of the PTX: the ISA version, and an architecture unknown to LLVM. */
static void set_header(const char *text, size_t length, int isa, const cute_arch *arch, cute_buffer *out)
{
    static const char version[] = ".version ", target[] = ".target sm_90a";
    const char *stop = text + length, *at = memmem(text, length, version, strlen(version));
    if (at && isa > LATEST_ISA) {
        at += strlen(version);
        cute_buffer_append(out, text, (size_t)(at - text));
        cute_buffer_printf(out, "%d.%d", isa / 10, isa % 10);
        text = at + 3;
    }
    at = memmem(text, (size_t)(stop - text), target, strlen(target));
    if (at && !(arch->backends & CUTE_BACKEND_NVPTX)) {
        cute_buffer_append(out, text, (size_t)(at - text));
        cute_buffer_printf(out, ".target %s", arch->name);
        text = at + strlen(target);
    }
    cute_buffer_append(out, text, (size_t)(stop - text));
}

cute_status cute_nvptx_codegen(const cute_ptx_options *options, LLVMModuleRef module,
                               LLVMTargetMachineRef machine, cute_buffer *out, cute_diag *diag)
{
    char *error = NULL;
    LLVMMemoryBufferRef text;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &error, &text)) {
        cute_status status = cute_fail(diag, CUTE_INVALID, NULL, "LLVM's NVPTX backend: %s", error);
        LLVMDisposeMessage(error);
        return status;
    }
    set_header(LLVMGetBufferStart(text), LLVMGetBufferSize(text), isa_of(module, options->arch),
               options->arch, out);
    LLVMDisposeMemoryBuffer(text);
    return CUTE_OK;
}
