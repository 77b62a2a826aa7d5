/* NVIDIA's libNVVM, loaded on demand. */
#include <dlfcn.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/file.h"
#include "lib/ptx/backend.h"
#include "lib/toolkit/toolkit.h"

/* libNVVM API, see NVIDIA's "libNVVM API" manual. */
typedef void *nvvm_program;
typedef struct nvvm {
    void *library;
    int (*create)(nvvm_program *);
    int (*destroy)(nvvm_program *);
    int (*add)(nvvm_program, const char *, size_t, const char *);
    int (*add_lazily)(nvvm_program, const char *, size_t, const char *);
    int (*compile)(nvvm_program, int, const char **);
    int (*result_size)(nvvm_program, size_t *);
    int (*result)(nvvm_program, char *);
    int (*log_size)(nvvm_program, size_t *);
    int (*log)(nvvm_program, char *);
    const char *(*error)(int);
    int (*ir_version)(int *, int *, int *, int *);
} nvvm;

static cute_status load_libnvvm(const char *path, nvvm *api, cute_diag *diag)
{
    *api = (nvvm){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!api->library) return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot load %s: %s", path, dlerror());
    const struct {
        const char *name;
        void **slot;
    } symbols[] = {
        {"nvvmCreateProgram", (void **)&api->create},
        {"nvvmDestroyProgram", (void **)&api->destroy},
        {"nvvmAddModuleToProgram", (void **)&api->add},
        {"nvvmLazyAddModuleToProgram", (void **)&api->add_lazily},
        {"nvvmCompileProgram", (void **)&api->compile},
        {"nvvmGetCompiledResultSize", (void **)&api->result_size},
        {"nvvmGetCompiledResult", (void **)&api->result},
        {"nvvmGetProgramLogSize", (void **)&api->log_size},
        {"nvvmGetProgramLog", (void **)&api->log},
        {"nvvmGetErrorString", (void **)&api->error},
        {"nvvmIRVersion", (void **)&api->ir_version},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].slot = dlsym(api->library, symbols[i].name);
        if (!*symbols[i].slot)
            return cute_fail(diag, CUTE_SYSTEM, NULL, "%s has no %s: too old?", path, symbols[i].name);
    }
    return CUTE_OK;
}

/* Adds the IR version that libNVVM requires. */
static void state_version(LLVMModuleRef module, const nvvm *api, cute_diag *diag)
{
    int major = 2, minor = 0, debug_major = 3, debug_minor = 2;
    api->ir_version(&major, &minor, &debug_major, &debug_minor);
    char version[64];
    snprintf(version, sizeof version, "NVVM IR %d.%d", major, minor);
    cute_diag_know(diag, CUTE_FACT_TOOLKIT_VERSION, version);
    LLVMContextRef c = LLVMGetModuleContext(module);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
    const int values[] = {major, minor, debug_major, debug_minor};
    LLVMMetadataRef parts[4];
    for (int i = 0; i < 4; i++)
        parts[i] = LLVMValueAsMetadata(LLVMConstInt(i32, (unsigned long long)values[i], 0));
    LLVMValueRef node = LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, parts, 4));
    LLVMAddNamedMetadataOperand(module, "nvvmir.version", node);
}

static cute_status fail_libnvvm(const nvvm *api, nvvm_program program, int code, const char *what,
                                cute_diag *diag)
{
    size_t size = 0;
    cute_status status =
        cute_fail(diag, CUTE_INVALID, NULL, "libNVVM could not %s: %s", what, api->error(code));
    if (program && api->log_size(program, &size) == 0 && size > 1) {
        char *log = calloc(size + 1, 1);
        if (log && api->log(program, log) == 0) {
            for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
                cute_note(diag, NULL, "%s", line);
        }
        free(log);
    }
    return status;
}

static cute_status add_libdevice(const nvvm *api, nvvm_program program, const cute_ptx_options *options,
                                 cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer bitcode = {0};
    const char *path;
    cute_status status = cute_toolkit_find(arena, CUTE_LIBDEVICE, options->cuda_path, &path, diag);
    if (!status) status = cute_file_read(path, &bitcode, diag);
    if (!status) {
        int code = api->add_lazily(program, bitcode.data, bitcode.length, "libdevice");
        if (code) status = fail_libnvvm(api, program, code, "add libdevice", diag);
    }
    cute_buffer_release(&bitcode);
    cute_arena_destroy(arena);
    return status;
}

/* LLVM 19's intrinsic of `nvvm.barrier` with a thread count has another meaning in libNVVM; replaced by the
 * instruction. */
static void write_barriers(LLVMModuleRef module)
{
    static const char text[] = "bar.sync $0, $1;", constraints[] = "r,r,~{memory}",
                      convergent[] = "convergent";
    LLVMValueRef intrinsic = LLVMGetNamedFunction(module, "llvm.nvvm.barrier");
    if (!intrinsic) return;
    LLVMContextRef c = LLVMGetModuleContext(module);
    LLVMTypeRef type = LLVMGlobalGetValueType(intrinsic);
    LLVMValueRef instruction =
        LLVMGetInlineAsm(type, text, sizeof text - 1, constraints, sizeof constraints - 1, true, false,
                         LLVMInlineAsmDialectATT, false);
    unsigned kind = LLVMGetEnumAttributeKindForName(convergent, sizeof convergent - 1);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(c);
    for (LLVMUseRef use = LLVMGetFirstUse(intrinsic), next; use; use = next) {
        next = LLVMGetNextUse(use);
        LLVMValueRef call = LLVMGetUser(use);
        LLVMValueRef operands[] = {LLVMGetOperand(call, 0), LLVMGetOperand(call, 1)};
        LLVMPositionBuilderBefore(builder, call);
        LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
        LLVMValueRef barrier = LLVMBuildCall2(builder, type, instruction, operands, 2, "");
        LLVMAddCallSiteAttribute(barrier, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(c, kind, 0));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDisposeBuilder(builder);
    LLVMDeleteFunction(intrinsic);
}

/* Attributes introduced in LLVM 20, which libNVVM's bitcode reader does not know. All are optional. */
static void drop_attribute(LLVMModuleRef module, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        unsigned parameters = LLVMCountParams(f);
        LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind);
        for (unsigned i = 0; i <= parameters; i++) LLVMRemoveEnumAttributeAtIndex(f, i, kind);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMGetInstructionOpcode(i) != LLVMCall) continue;
                unsigned arguments = LLVMGetNumArgOperands(i);
                LLVMRemoveCallSiteEnumAttribute(i, LLVMAttributeFunctionIndex, kind);
                for (unsigned k = 0; k <= arguments; k++) LLVMRemoveCallSiteEnumAttribute(i, k, kind);
            }
    }
}

static void drop_newer_attributes(LLVMModuleRef module)
{
    static const char *const names[] = {"captures", "dead_on_return", "nocreateundeforpoison",
                                        "nodivergencesource"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) drop_attribute(module, names[i]);
}

/* The oldest target whose LLVM IR libNVVM 13 reads. For older architectures the PTX gets their target directive: ptxas rejects
 * an instruction that the architecture lacks. */
static const char OLDEST[] = "compute_100";

/* `arch` NULL: the PTX as it is. */
static void put_ptx(const char *ptx, const char *arch, cute_buffer *out)
{
    static const char directive[] = ".target sm_100";
    const char *at = arch ? strstr(ptx, directive) : NULL;
    if (!at) {
        cute_buffer_puts(out, ptx);
        return;
    }
    cute_buffer_append(out, ptx, (size_t)(at - ptx));
    cute_buffer_printf(out, ".target %s%s", arch, at + sizeof directive - 1);
}

static cute_status compile_program(const nvvm *api, LLVMModuleRef module, const cute_ptx_options *options,
                                   bool libdevice, cute_buffer *out, cute_diag *diag)
{
    nvvm_program program = NULL;
    LLVMMemoryBufferRef bitcode = NULL;
    char arch[32], level[16];
    bool known = options->arch->backends & CUTE_BACKEND_LIBNVVM;
    snprintf(arch, sizeof arch, "-arch=%s", known ? options->arch->target : OLDEST);
    snprintf(level, sizeof level, "-opt=%d", options->opt_level == 0 ? 0 : 3);
    const char *flags[3] = {arch, level};
    int flag_count = 2;
    if (options->lineinfo) flags[flag_count++] = "-generate-line-info";

    cute_status status = CUTE_OK;
    int code = api->create(&program);
    if (code) return fail_libnvvm(api, NULL, code, "start", diag);
    LLVMSetTarget(module, "nvptx64-nvidia-cuda");
    LLVMSetDataLayout(
        module, "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
                "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64");
    state_version(module, api, diag);
    write_barriers(module);
    drop_newer_attributes(module);
    bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
    code = api->add(program, LLVMGetBufferStart(bitcode), LLVMGetBufferSize(bitcode), "kernels");
    if (code) status = fail_libnvvm(api, program, code, "read the module", diag);
    if (!status && libdevice) status = add_libdevice(api, program, options, diag);
    if (!status) {
        code = api->compile(program, flag_count, flags);
        if (code) status = fail_libnvvm(api, program, code, "compile", diag);
    }
    size_t size = 0;
    if (!status) {
        code = api->result_size(program, &size);
        if (code) status = fail_libnvvm(api, program, code, "return its result", diag);
    }
    if (!status) {
        char *ptx = calloc(size + 1, 1);
        if (!ptx)
            status = cute_fail_memory(diag);
        else if (api->result(program, ptx) == 0)
            put_ptx(ptx, known ? NULL : options->arch->name, out);
        free(ptx);
    }
    LLVMDisposeMemoryBuffer(bitcode);
    api->destroy(&program);
    return status;
}

cute_status cute_libnvvm_compile(LLVMModuleRef module, const cute_ptx_options *options, bool libdevice,
                                 cute_buffer *out, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    const char *path;
    nvvm api = {0};
    cute_status status = cute_toolkit_find(arena, CUTE_LIBNVVM, options->cuda_path, &path, diag);
    if (status) cute_note(diag, NULL, "--backend=llvm generates PTX without libNVVM");
    if (!status) cute_diag_know(diag, CUTE_FACT_TOOLKIT, path);
    if (!status) cute_diag_know(diag, CUTE_FACT_TOOLKIT_VERSION, NULL);
    if (!status) status = load_libnvvm(path, &api, diag);
    if (!status) status = compile_program(&api, module, options, libdevice, out, diag);
    /* Not unloaded: libNVVM leaves thread-local state behind. */
    cute_arena_destroy(arena);
    return status;
}
