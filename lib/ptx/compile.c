/* The whole compilation, as a readable list of stages. */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm/Config/llvm-config.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Target/LLVMIR.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/file.h"
#include "lib/base/text/json.h"
#include "lib/ir/diagnostics/diagnostics.h"
#include "lib/ir/diagnostics/gaveup.h"
#include "lib/ir/diagnostics/recover.h"
#include "lib/ir/mlir/context.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/host/binary.h"
#include "lib/passes/passes.h"
#include "lib/ptx/backend.h"
#include "lib/ptx/llvmlink.h"
#include "lib/ptx/local_memory.h"
#include "lib/ptx/metadata.h"
#include "lib/ptx/passdump.h"
#include "lib/toolkit/toolkit.h"

/* Remarks on tensors that stay in memory are attributed to the pass that puts tensors into registers. */
#define CUTE_REGISTERS_PASS "cute-nvgpu-copy-lowering"

typedef struct compilation {
    const cute_ptx_options *options;
    cute_diag *diag;
    cute_arena *arena;
    cute_mlir_source source;
    MlirContext context;
    MlirModule module;
    cute_ptx_output *out;
    cute_pass_dump dump;    /* if options->dump_passes is set */
    unsigned backend;       /* CUTE_BACKEND_* */
    cute_status status;     /* of all stages so far */
    cute_ptx_stage stage;   /* current stage */
    const char *gpu_module; /* being compiled, or NULL */
    size_t llvm_errors;     /* reported by LLVM */
    size_t errors_before;   /* in the diag, at the start */
    bool lowered;           /* by the user's pipeline, which replaces the default lowering */
    bool tell_registers;    /* emit remarks on tensors that do not get registers */
    MlirOperation *tensors; /* of the module being compiled, in the arena */
    size_t tensor_count, tensor_room;
} compilation;

/* Whether an error was reported; otherwise the failure of a stage needs a message. */
static bool has_reported_error(const compilation *c)
{
    return cute_diag_errors(c->diag) > c->errors_before;
}

/* ---- intermediate files ---- */

static cute_status save_file(compilation *c, const char *directory, const char *name, const void *bytes,
                             size_t length)
{
    if (!directory) return CUTE_OK;
    const char *path = cute_arena_printf(c->arena, "%s/%s", directory, name);
    if (!path) return cute_fail_memory(c->diag);
    CUTE_TRY(cute_make_directory(directory, c->diag));
    return cute_file_write(path, bytes, length, c->diag);
}

static cute_status save_ir(compilation *c, const char *directory, const char *name, MlirOperation op)
{
    if (!directory) return CUTE_OK;
    cute_buffer text = {0};
    MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
    if (c->options->lineinfo) mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
    mlirOperationPrintWithFlags(op, flags, cute_print_to_buffer, &text);
    mlirOpPrintingFlagsDestroy(flags);
    cute_buffer_putc(&text, '\n');
    cute_status status = save_file(c, directory, name, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return status;
}

/* One file per gpu.module: MODULE.translated.ll. */
static cute_status save_temp(compilation *c, const char *gpu_module, const char *suffix, const char *text,
                             size_t length)
{
    const char *stem = cute_file_plain_name(c->arena, gpu_module);
    const char *name = stem ? cute_arena_printf(c->arena, "%s.%s", stem, suffix) : NULL;
    return name ? save_file(c, c->options->save_temps, name, text, length) : cute_fail_memory(c->diag);
}

static cute_status save_llvm(compilation *c, const char *gpu_module, const char *suffix, LLVMModuleRef module)
{
    if (!c->options->save_temps) return CUTE_OK;
    char *text = LLVMPrintModuleToString(module);
    cute_status status = save_temp(c, gpu_module, suffix, text, strlen(text));
    LLVMDisposeMessage(text);
    return status;
}

/* ---- the stages ---- */

/* MLIR's and LLVM's registries are process-wide. */
static void register_all(void)
{
    mlirRegisterAllPasses();
    cute_passes_register();
    cute_nvptx_register();
}

void cute_ptx_register(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_all);
}

static cute_status parse_source(compilation *c)
{
    cute_ptx_register();
    MlirDialectRegistry registry = cute_registry_create();
    c->context = mlirContextCreateWithRegistry(registry, false);
    mlirDialectRegistryDestroy(registry);
    c->module = cute_mlir_source_parse(&c->source, c->context);
    if (mlirModuleIsNull(c->module)) {
        if (!has_reported_error(c))
            cute_fail(c->diag, CUTE_INVALID, &(cute_place){.file = c->source.label},
                      "expected MLIR as text or bytecode");
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

static void report_pipeline(MlirStringRef text, void *buffer)
{
    cute_print_to_buffer(text, buffer);
}

/* In mlir-opt's format; only a header for a pass without changes. */
static void print_after(const char *pass, const cute_passed *done, void *context)
{
    compilation *c = context;
    cute_buffer text = {0};
    cute_buffer_printf(&text, "// -----// IR Dump After %s%s //----- //\n", pass,
                       done->failed    ? " Failed"
                       : done->changed ? ""
                                       : " (no change)");
    if (done->changed || done->failed) {
        MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
        if (done->failed) mlirOpPrintingFlagsPrintGenericOpForm(flags);
        mlirOperationPrintWithFlags(mlirModuleGetOperation(c->module), flags, cute_print_to_buffer, &text);
        mlirOpPrintingFlagsDestroy(flags);
        cute_buffer_puts(&text, "\n\n");
    }
    fwrite(cute_buffer_text(&text), 1, text.length, stderr);
    cute_buffer_release(&text);
}

/* Attaches the printing and dumping of IR to `manager`, which runs `pipeline`. */
static void observe_passes(compilation *c, MlirPassManager manager, const char *pipeline)
{
    if (c->options->dump_passes) cute_pass_dump_observe(&c->dump, manager, pipeline);
    if (c->options->print_ir) cute_pass_manager_observe(manager, print_after, c);
}

/* Prints before all passes, and after passes that change the IR. */
static void enable_printing(MlirPassManager manager)
{
#if LLVM_VERSION_MAJOR >= 20
    MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
    mlirPassManagerEnableIRPrinting(manager, true, true, true, true, false, flags, cute_text(""));
    mlirOpPrintingFlagsDestroy(flags);
#else
    mlirPassManagerEnableIRPrinting(manager);
#endif
}

/* Kernels by the level that they are at. */
typedef struct kernel_levels {
    size_t higher, lowered; /* gpu.func, gpu.launch, ...; llvm.func */
} kernel_levels;

static void count_kernel(MlirOperation op, void *context)
{
    kernel_levels *levels = context;
    if (cute_op_is(op, "gpu.func") || cute_op_is(op, "gpu.launch") || cute_op_is(op, "cuda.kernel"))
        levels->higher++;
    else if (cute_kernel_is(op))
        ++*(cute_op_is(op, "llvm.func") ? &levels->lowered : &levels->higher);
}

static kernel_levels count_kernels(const compilation *c)
{
    kernel_levels levels = {0};
    cute_op_each(mlirModuleGetOperation(c->module), NULL, count_kernel, &levels);
    return levels;
}

/* Whether the text runs one of our pipelines that lower kernels. */
static bool names_lowering(const char *pipeline)
{
    return strstr(pipeline, "cute-to-nvvm") || strstr(pipeline, "cute-full-lowering");
}

static void set_binary_later(MlirOperation module, bool later)
{
    if (later)
        mlirOperationSetAttributeByName(module, cute_text(CUTE_BINARY_LATER),
                                        mlirUnitAttrGet(mlirOperationGetContext(module)));
    else
        mlirOperationRemoveAttributeByName(module, cute_text(CUTE_BINARY_LATER));
}

/* Runs the user's passes, a list or a pipeline on builtin.module. Sets c->lowered if they lower the kernels. */
static cute_status run_pipeline(compilation *c)
{
    MlirOperation root = mlirModuleGetOperation(c->module);
    kernel_levels before = count_kernels(c);
    bool later =
        strstr(c->options->pipeline, "cubin-format") || strstr(c->options->pipeline, "emit-gpu-binary");
    bool prints;
    char *own = cute_pipeline_text(c->options->pipeline, &prints);
    const char *text = own ? own + strspn(own, " \t\n") : NULL;
    if (!text) return cute_fail_memory(c->diag);
    cute_buffer errors = {0};
    cute_status status = CUTE_OK;
    MlirPassManager manager = mlirPassManagerCreate(c->context);
    if (prints) {
        mlirContextEnableMultithreading(c->context, false);
        enable_printing(manager);
    }
    if (later) set_binary_later(root, true);
    MlirOpPassManager top = mlirPassManagerGetAsOpPassManager(manager);
    bool whole = strncmp(text, "builtin.module(", strlen("builtin.module(")) == 0;
    MlirLogicalResult parsed =
        whole ? mlirParsePassPipeline(top, cute_text(text), report_pipeline, &errors)
              : mlirOpPassManagerAddPipeline(top, cute_text(text), report_pipeline, &errors);
    if (mlirLogicalResultIsFailure(parsed)) {
        status = cute_fail(c->diag, CUTE_USAGE, NULL, "invalid pipeline '%s': %s", text,
                           cute_buffer_text(&errors));
    } else if ((status = cute_pass_manager_remarks(manager, c->options->remarks, c->diag)) == CUTE_OK &&
               (observe_passes(c, manager, text), true) &&
               mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, root))) {
        status = CUTE_INVALID;
        if (!has_reported_error(c))
            cute_fail(c->diag, status, &(cute_place){.file = c->source.label}, "the pipeline '%s' failed",
                      text);
    }
    if (later) set_binary_later(root, false);
    kernel_levels after = count_kernels(c);
    c->lowered = after.lowered && !after.higher && (before.higher || names_lowering(text));
    mlirPassManagerDestroy(manager);
    cute_buffer_release(&errors);
    free(own);
    return status;
}

typedef struct chip_check {
    compilation *c;
    MlirOperation module;
    cute_status status;
} chip_check;

static bool is_chip(const char *chip, const cute_arch *arch, void *context)
{
    chip_check *check = context;
    compilation *c = check->c;
    (void)chip;
    if (!arch || strcmp(arch->target, c->options->arch->target) == 0) return false; /* the first decides */
    cute_place place = cute_mlir_place(&c->source, mlirOperationGetLocation(check->module), c->arena);
    check->status = cute_fail(c->diag, CUTE_INVALID, &place,
                              "the pipeline lowers the kernels for %s, and cute-ptx generates PTX for %s",
                              arch->name, c->options->arch->name);
    cute_note(c->diag, NULL, "name one architecture in both: -arch=%s, or cubin-chip=%s in the pipeline",
              arch->name, c->options->arch->name);
    return false;
}

/* The pipeline's target, where it has attached one, has to be -arch. */
static void check_chip(MlirOperation module, void *context)
{
    chip_check *check = context;
    check->module = module;
    if (!check->status) cute_targets_each(module, is_chip, check);
}

static void print_module(const compilation *c, cute_buffer *out)
{
    MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
    if (c->options->lineinfo) mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
    mlirOperationPrintWithFlags(mlirModuleGetOperation(c->module), flags, cute_print_to_buffer, out);
    mlirOpPrintingFlagsDestroy(flags);
    cute_buffer_putc(out, '\n');
}

static cute_status keep_lowered(compilation *c)
{
    print_module(c, c->options->lowered);
    return cute_buffer_ok(c->options->lowered) ? CUTE_OK : cute_fail_memory(c->diag);
}

/* The module after the user's passes, for CUTE_EMIT_MLIR. */
static cute_status emit_mlir(compilation *c)
{
    cute_ptx_result *result = c->out->modules = calloc(1, sizeof *result);
    c->out->count = result ? 1 : 0;
    if (result && (result->module = calloc(1, 1)) != NULL) print_module(c, &result->text);
    return result && result->module && cute_buffer_ok(&result->text) ? CUTE_OK : cute_fail_memory(c->diag);
}

static cute_status run_lowering(compilation *c)
{
    cute_buffer pipeline = {0}, errors = {0};
    cute_lowering options = {.arch = c->options->arch,
                             .opt_level = c->options->opt_level,
                             .assertions = c->options->assertions,
                             .tensor_maps_memory = c->options->tensor_maps_memory,
                             .static_checks = c->options->static_checks,
                             .schedule = c->options->schedule,
                             .relocatable = c->options->relocatable,
                             .lineinfo = c->options->lineinfo || c->tell_registers};
    chip_check check = {.c = c};
    if (c->lowered) {
        cute_op_each(mlirModuleGetOperation(c->module), "gpu.module", check_chip, &check);
        if (check.status) return check.status;
        cute_lowering_end(&options, &pipeline);
    } else {
        cute_lowering_pipeline(&options, &pipeline);
    }
    MlirPassManager manager = mlirPassManagerCreate(c->context);
    /* The pipeline has a verification step, cute-verify. Verifying after each pass, as cute-opt does, or
     * after each change, as a dump does, takes half of the time of a large kernel. */
    mlirPassManagerEnableVerifier(manager, false);
    MlirOpPassManager top = mlirPassManagerGetAsOpPassManager(manager);
    cute_status status = cute_pass_manager_remarks(manager, c->options->remarks, c->diag);
    MlirOperation module = mlirModuleGetOperation(c->module);
    observe_passes(c, manager, cute_buffer_text(&pipeline));
    if (!status && mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(
                       top, cute_text(cute_buffer_text(&pipeline)), report_pipeline, &errors)))
        status =
            cute_fail(c->diag, CUTE_SYSTEM, NULL, "the default lowering cannot be applied to this MLIR: %s",
                      cute_buffer_text(&errors));
    if (!status && (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, module)) ||
                    !mlirOperationVerify(module))) {
        status = CUTE_INVALID;
        if (!has_reported_error(c))
            cute_fail(c->diag, status, &(cute_place){.file = c->source.label}, "the default lowering failed");
        else if (c->lowered)
            cute_note(c->diag, NULL,
                      "the pipeline lowers the kernels to llvm.func, so the default lowering does not run; "
                      "cute-full-lowering, at the end of the pipeline, lowers the rest");
    }
    if (!status) status = save_ir(c, c->options->save_temps, "lowered.mlir", module);
    mlirPassManagerDestroy(manager);
    cute_buffer_release(&errors);
    cute_buffer_release(&pipeline);
    return status;
}

static cute_status link_libraries(compilation *c, LLVMModuleRef module, bool libdevice)
{
    size_t count = c->options->library_count;
    for (size_t i = 0; i < count + libdevice; i++) {
        const char *path = i < count ? c->options->libraries[i] : NULL;
        if (!path)
            CUTE_TRY(cute_toolkit_find(c->arena, CUTE_LIBDEVICE, c->options->cuda_path, &path, c->diag));
        char *error = NULL;
        struct stat info;
        bool plain =
            stat(path, &info) != 0 || S_ISREG(info.st_mode); /* LLVM would read some devices endlessly */
        if (plain && cute_llvm_link_needed(module, path, &error)) continue;
        cute_status status =
            cute_fail(c->diag, i < count ? CUTE_INVALID : CUTE_SYSTEM, &(cute_place){.file = path},
                      "cannot link this bitcode: %s", plain ? error : "not a plain file");
        free(error);
        return status;
    }
    return CUTE_OK;
}

/* Checks functions without a body: a later link (nvlink) may define them, but only libdevice defines
 * __nv_*. */
static cute_status check_undefined(compilation *c, LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (!LLVMIsDeclaration(f) || length < 5 || memcmp(name, "__nv_", 5)) continue;
        return cute_fail(c->diag, CUTE_INVALID, &(cute_place){.file = c->source.label},
                         "libdevice has no function '%s'", name);
    }
    return CUTE_OK;
}

/* ---- tensors in registers ---- */

static void remember_tensor(MlirOperation op, void *context)
{
    compilation *c = context;
    if (c->tensor_count == c->tensor_room) {
        size_t room = c->tensor_room ? 2 * c->tensor_room : 32;
        MlirOperation *grown = cute_arena_array(c->arena, room, sizeof *grown);
        if (!grown) return;
        if (c->tensor_count) memcpy(grown, c->tensors, c->tensor_count * sizeof *grown);
        c->tensors = grown;
        c->tensor_room = room;
    }
    c->tensors[c->tensor_count++] = op;
}

static void tell_local_tensor(const cute_local_tensor *tensor, void *context)
{
    compilation *c = context;
    if (tensor->index >= c->tensor_count) return;
    bool optimized = c->options->opt_level > 0;
    MlirOperation op = c->tensors[tensor->index];
    MlirStringRef name =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text(CUTE_REGISTERS)));
    cute_place place = cute_mlir_place(&c->source, mlirOperationGetLocation(op), c->arena);
    cute_report(c->diag, CUTE_REMARK, &place,
                "the tensor %.*s in registers stays in local memory: %s [" CUTE_REGISTERS_PASS "]",
                (int)name.length, name.data,
                optimized ? tensor->reason : "tensors stay in memory at optimization level 0");
    if (!optimized) return;
    cute_place at = {.file = tensor->file, .line = (int)tensor->line, .column = (int)tensor->column};
    if (*tensor->file) cute_origin_line(c->source.origin, &at);
    cute_note(c->diag, *tensor->file ? &at : NULL, "expected %s", tensor->instead);
}

static cute_status optimize_module(compilation *c, LLVMModuleRef module, LLVMTargetMachineRef machine)
{
    CUTE_TRY(cute_nvptx_optimize(module, machine, c->options->opt_level, c->diag));
    if (!c->tell_registers) return CUTE_OK;
    cute_llvm_local_tensors(module, machine, tell_local_tensor, c);
    if (!c->options->lineinfo) LLVMStripModuleDebugInfo(module);
    return CUTE_OK;
}

static bool has_wgmma(LLVMModuleRef module)
{
    static const char name[] = "wgmma.mma_async";
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
                size_t length = 0;
                const char *text =
                    callee && LLVMIsAInlineAsm(callee) ? LLVMGetInlineAsmAsmString(callee, &length) : NULL;
                if (text && memmem(text, length, name, sizeof name - 1)) return true;
            }
    return false;
}

static cute_status generate_code(compilation *c, const char *gpu_module, LLVMModuleRef module,
                                 cute_buffer *out)
{
    double start = cute_clock();
    /* Unoptimized code keeps values in memory and copies registers, but the accumulators of wgmma are
     * undefined until the wait: copies between two wgmmas would read stale values. */
    const cute_ptx_options *given = c->options;
    cute_ptx_options options = *given;
    if (options.opt_level == 0 && has_wgmma(module)) options.opt_level = 1;
    c->options = &options;
    c->stage = CUTE_STAGE_link;
    bool nvptx = c->backend == CUTE_BACKEND_NVPTX;
    bool libdevice = cute_needs_libdevice(module);
    LLVMTargetMachineRef machine = NULL;
    cute_status status = CUTE_OK;
    if (nvptx) {
        status = cute_nvptx_machine(c->options, module, &machine, c->diag);
        if (status) {
            c->options = given;
            return status;
        }
        LLVMSetTarget(module, "nvptx64-nvidia-cuda");
        LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
        LLVMSetModuleDataLayout(module, layout);
        LLVMDisposeTargetData(layout);
    }
    if (!status) status = link_libraries(c, module, nvptx && libdevice);
    if (!status && nvptx) status = check_undefined(c, module);
    c->out->seconds[CUTE_STAGE_link] += cute_clock() - start;

    start = cute_clock();
    c->stage = CUTE_STAGE_optimize;
    if (!status && nvptx) status = optimize_module(c, module, machine);
    c->out->seconds[CUTE_STAGE_optimize] += cute_clock() - start;
    if (!status) status = save_llvm(c, gpu_module, "optimized.ll", module);

    start = cute_clock();
    c->stage = CUTE_STAGE_codegen;
    if (!status && c->options->emit == CUTE_EMIT_LLVM) {
        char *text = LLVMPrintModuleToString(module);
        cute_buffer_puts(out, text);
        LLVMDisposeMessage(text);
    } else if (!status) {
        status = nvptx ? cute_nvptx_codegen(c->options, module, machine, out, c->diag)
                       : cute_libnvvm_compile(module, c->options, libdevice, out, c->diag);
    }
    c->out->seconds[CUTE_STAGE_codegen] += cute_clock() - start;
    if (!status && c->llvm_errors) status = CUTE_INVALID;
    if (machine) LLVMDisposeTargetMachine(machine);
    c->options = given;
    return status;
}

/* Without a handler, LLVM prints its messages, and ends the process after an error. */
static void on_llvm_message(LLVMDiagnosticInfoRef info, void *context)
{
    compilation *c = context;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity != LLVMDSError && severity != LLVMDSWarning) return;
    char *text = LLVMGetDiagInfoDescription(info);
    cute_report(c->diag, severity == LLVMDSError ? CUTE_ERROR : CUTE_WARNING,
                &(cute_place){.file = c->source.label}, "gpu.module @%s for %s: %s", c->gpu_module,
                c->options->arch->name, text);
    LLVMDisposeMessage(text);
    c->llvm_errors += severity == LLVMDSError;
}

/* Marks functions, calls and inline PTX convergent, as clang does for CUDA, so that no transformation makes
 * them control-dependent on more conditions. LLVM removes the mark again if a function's body allows it. MLIR
 * marks intrinsics only: CallSiteSplitting would duplicate calls of unmarked functions for both sides of a
 * branch. */
static void mark_convergent(LLVMModuleRef module)
{
    static const char name[] = "convergent";
    LLVMAttributeRef convergent = LLVMCreateEnumAttribute(
        LLVMGetModuleContext(module), LLVMGetEnumAttributeKindForName(name, sizeof name - 1), 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetIntrinsicID(f)) continue;
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, convergent);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
                bool free = callee && LLVMIsAInlineAsm(callee)
                                ? !LLVMGetInlineAsmHasSideEffects(callee)
                                : callee && LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee);
                if (callee && !free) LLVMAddCallSiteAttribute(i, LLVMAttributeFunctionIndex, convergent);
            }
    }
}

static cute_status compile_module(compilation *c, MlirOperation op, cute_ptx_result *result)
{
    MlirStringRef name = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("sym_name")));
    char *copy = malloc(name.length + 1);
    if (!copy) return cute_fail_memory(c->diag);
    memcpy(copy, name.data, name.length);
    copy[name.length] = '\0';
    result->module = c->gpu_module = copy;
    if (c->options->emit == CUTE_EMIT_PTX)
        CUTE_TRY(cute_metadata_write(op, c->options, &result->text, c->diag));

    double start = cute_clock();
    c->stage = CUTE_STAGE_translate;
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(llvm, on_llvm_message, c);
    LLVMModuleRef module = mlirTranslateModuleToLLVMIR(op, llvm);
    c->out->seconds[CUTE_STAGE_translate] += cute_clock() - start;
    cute_status status = CUTE_OK;
    if (!module) {
        status = CUTE_INVALID;
        if (!has_reported_error(c))
            cute_fail(c->diag, status, &(cute_place){.file = c->source.label},
                      "cannot translate gpu.module @%s to LLVM IR", copy);
    }
    if (!status) mark_convergent(module);
    c->tensor_count = 0;
    if (!status && c->tell_registers) cute_llvm_name_tensors(op, module, remember_tensor, c);
    if (!status) status = save_llvm(c, copy, "translated.ll", module);
    if (!status) status = generate_code(c, copy, module, &result->text);
    if (module) LLVMDisposeModule(module);
    LLVMContextDispose(llvm);
    if (!status && c->options->save_temps)
        status = save_temp(c, copy, "ptx", cute_buffer_text(&result->text), result->text.length);
    return status;
}

/* ---- gpu.modules and kernels ---- */

static MlirBlock body_of(MlirOperation op)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
}

static void count_operation(MlirOperation op, void *context)
{
    (void)op;
    ++*(size_t *)context;
}

static bool is_kernel(MlirOperation op)
{
    return cute_kernel_is(op) || cute_op_is(op, "cuda.kernel");
}

static void look_for_kernel(MlirOperation op, void *context)
{
    *(bool *)context |= is_kernel(op) || cute_op_is(op, "gpu.launch");
}

/* Reports that a gpu.binary is already compiled, possibly by the user's pipeline. */
static cute_status refuse_compiled(compilation *c, MlirOperation binary)
{
    MlirStringRef name =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(binary, cute_text("sym_name")));
    cute_place place = cute_mlir_place(&c->source, mlirOperationGetLocation(binary), c->arena);
    cute_fail(c->diag, CUTE_INVALID, &place,
              "expected a gpu.module, got gpu.binary @%.*s, which is already compiled", (int)name.length,
              name.data);
    cute_note(c->diag, NULL,
              c->options->pipeline
                  ? "remove gpu-module-to-binary from the pipeline, so that cute-ptx can generate PTX; "
                    "'cute-opt --pass-pipeline=... | cute-link' extracts the code of the gpu.binary"
                  : "'cute-link FILE' extracts its code");
    return CUTE_INVALID;
}

/* Rejects a module without kernels before anything is lowered. Device functions alone are useful for linking
 * only. */
static cute_status need_kernels(compilation *c)
{
    MlirOperation root = mlirModuleGetOperation(c->module), other = {NULL}, host = {NULL}, binary = {NULL};
    bool device = false;
    for (MlirOperation op = mlirBlockGetFirstOperation(body_of(root)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (is_kernel(op)) return CUTE_OK;
        if (mlirOperationIsNull(host) && cute_op_is(op, "func.func")) host = op;
        if (mlirOperationIsNull(binary) && cute_op_is(op, "gpu.binary")) binary = op;
        if (!cute_op_is(op, "gpu.module")) continue;
        device = true;
        for (MlirOperation f = mlirBlockGetFirstOperation(body_of(op)); !mlirOperationIsNull(f);
             f = mlirOperationGetNextInBlock(f)) {
            if (is_kernel(f)) return CUTE_OK;
            if (mlirOperationIsNull(other) && cute_op_is(f, "gpu.func")) other = f;
        }
    }
    if (device && c->options->relocatable) return CUTE_OK;
    bool deeper = false; /* gpu.launch operations to outline, nested modules */
    cute_op_each(root, NULL, look_for_kernel, &deeper);
    if (deeper) return CUTE_OK;
    if (!mlirOperationIsNull(binary)) return refuse_compiled(c, binary);
    cute_place place = {.file = c->source.label};
    if (mlirOperationIsNull(other)) {
        MlirStringRef name = {0};
        if (!mlirOperationIsNull(host)) {
            name = mlirStringAttrGetValue(mlirOperationGetAttributeByName(host, cute_text("sym_name")));
            place = cute_mlir_place(&c->source, mlirOperationGetLocation(host), c->arena);
        }
        cute_fail(c->diag, CUTE_INVALID, &place,
                  name.length ? "no kernels in '%s': func.func @%.*s launches no kernel"
                              : "no kernels in '%s'",
                  c->source.label, (int)name.length, name.data);
        cute_note(c->diag, NULL,
                  "expected a gpu.func with 'kernel' in a gpu.module, a cuda.kernel, a gpu.launch, or a "
                  "function with "
                  "the attribute gpu.kernel");
    } else {
        MlirStringRef name =
            mlirStringAttrGetValue(mlirOperationGetAttributeByName(other, cute_text("sym_name")));
        place = cute_mlir_place(&c->source, mlirOperationGetLocation(other), c->arena);
        cute_fail(c->diag, CUTE_INVALID, &place,
                  "no kernels in '%s': gpu.func @%.*s has no 'kernel' attribute", c->source.label,
                  (int)name.length, name.data);
        cute_note(c->diag, NULL, "expected 'gpu.func @%.*s(...) kernel { ... }'", (int)name.length,
                  name.data);
    }
    return CUTE_INVALID;
}

typedef struct next {
    compilation *c;
    cute_status status;
} next;

static void each_module(MlirOperation op, void *context)
{
    next *n = context;
    if (n->status) return;
    n->status = compile_module(n->c, op, &n->c->out->modules[n->c->out->count++]);
}

static cute_status compile_modules(compilation *c)
{
    size_t count = 0;
    MlirOperation root = mlirModuleGetOperation(c->module);
    cute_op_each(root, "gpu.module", count_operation, &count);
    c->out->modules = calloc(count + 1, sizeof *c->out->modules);
    if (!c->out->modules) return cute_fail_memory(c->diag);
    next n = {.c = c};
    cute_op_each(root, "gpu.module", each_module, &n);
    return n.status;
}

/* Single-threaded, because the dump after a nested pass prints the whole module. */
static cute_status begin_dump(compilation *c)
{
    mlirContextEnableMultithreading(c->context, false);
    c->dump = (cute_pass_dump){.arena = c->arena,
                               .folder = c->options->dump_passes,
                               .each = c->options->dump_each,
                               .lineinfo = c->options->lineinfo,
                               .source = &c->source,
                               .module = mlirModuleGetOperation(c->module)};
    return cute_pass_dump_begin(&c->dump);
}

/* All calls to LLVM and MLIR. */
static void run_stages(void *context)
{
    compilation *c = context;
    double start = cute_clock();
    c->stage = CUTE_STAGE_parse;
    c->status = parse_source(c);
    c->out->seconds[CUTE_STAGE_parse] = cute_clock() - start;
    start = cute_clock();
    c->stage = CUTE_STAGE_lower;
    bool to_the_end = c->options->emit != CUTE_EMIT_MLIR;
    if (!c->status && c->options->print_ir) mlirContextEnableMultithreading(c->context, false);
    if (!c->status && c->options->dump_passes) c->status = begin_dump(c);
    if (!c->status && c->options->pipeline) c->status = run_pipeline(c);
    if (!c->status && to_the_end) c->status = need_kernels(c);
    if (!c->status && to_the_end) c->status = run_lowering(c);
    if (c->dump.passes) {
        cute_status dumped = cute_pass_dump_end(&c->dump, !c->status);
        if (!c->status) c->status = dumped;
    }
    if (!c->status && c->options->lowered) c->status = keep_lowered(c);
    c->out->seconds[CUTE_STAGE_lower] = cute_clock() - start;
    if (!c->status) c->status = to_the_end ? compile_modules(c) : emit_mlir(c);
    if (!mlirModuleIsNull(c->module)) mlirModuleDestroy(c->module);
    if (!mlirContextIsNull(c->context)) mlirContextDestroy(c->context);
}

/* If LLVM gave up, *reason is its message (malloc'ed) and *moment the stage. */
static cute_status compile_source(const cute_mlir_source *source, const cute_ptx_options *options,
                                  cute_ptx_output *out, char **reason, cute_moment *moment)
{
    static const char *const names[] = {
#define X(name) #name,
        CUTE_PTX_STAGES(X)
#undef X
    };
    compilation c = {.options = options,
                     .diag = source->diag,
                     .out = out,
                     .arena = cute_arena_create(),
                     .errors_before = cute_diag_errors(source->diag),
                     .source = *source};
    c.backend = cute_arch_choose_backend(options->arch, options->backend);
    c.tell_registers =
        cute_remarks_wanted(options->remarks, CUTE_REGISTERS_PASS) && c.backend == CUTE_BACKEND_NVPTX;
    *reason = NULL;
    if (!c.arena) return cute_fail_memory(source->diag);
    cute_diag_know(source->diag, CUTE_FACT_ARCHITECTURE, options->arch->name);
    cute_diag_know(source->diag, CUTE_FACT_TOOLKIT_VERSION, "LLVM " LLVM_VERSION_STRING);
    if (!cute_llvm_recover(run_stages, &c, reason)) {
        *moment = (cute_moment){names[c.stage], c.gpu_module, options->arch->name};
        c.status = *reason ? CUTE_INVALID : cute_fail_memory(source->diag);
    }
    cute_pass_dump_release(&c.dump);
    cute_arena_destroy(c.arena);
    return c.status;
}

/* Compiles again with line information, without which LLVM's message has no line. */
static cute_status explain_failure(const cute_mlir_source *source, const cute_ptx_options *options,
                                   const char *reason, const cute_moment *moment)
{
    bool placed = false;
    cute_mlir_source silent = *source;
    silent.diag = NULL;
    cute_gave_up(&silent, moment, reason, &placed);
    if (placed || options->lineinfo) return cute_gave_up(source, moment, reason, &placed);

    cute_ptx_options again = *options;
    again.lineinfo = true;
    again.save_temps = again.dump_passes = NULL;
    again.print_ir = false;
    again.lowered = NULL;
    cute_ptx_output out = {0};
    cute_moment then = *moment;
    char *text;
    compile_source(&silent, &again, &out, &text, &then);
    cute_status status = cute_gave_up(source, &then, text ? text : reason, &placed);
    cute_ptx_output_release(&out);
    free(text);
    return status;
}

cute_status cute_ptx_compile(const char *label, const char *text, size_t length,
                             const cute_ptx_options *options, cute_ptx_output *out, cute_diag *diag)
{
    *out = (cute_ptx_output){0};
    cute_origin origin;
    cute_origin_options reading = {options->defines, options->define_count, options->folders,
                                   options->folder_count, options->no_source_map};
    char *reason = NULL;
    cute_moment moment;
    cute_status status = cute_origin_open(&origin, label, text, length, &reading, diag);
    cute_mlir_source source = cute_mlir_source_of(&origin, diag);
    if (!status) status = compile_source(&source, options, out, &reason, &moment);
    if (reason) status = explain_failure(&source, options, reason, &moment);
    free(reason);
    cute_origin_release(&origin);
    return status;
}

void cute_ptx_output_release(cute_ptx_output *output)
{
    for (size_t i = 0; i < output->count; i++) {
        free((char *)output->modules[i].module);
        cute_buffer_release(&output->modules[i].text);
    }
    free(output->modules);
    *output = (cute_ptx_output){0};
}

const char *cute_llvm_version(void)
{
    return LLVM_VERSION_STRING;
}
