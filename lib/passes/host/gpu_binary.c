/* attach-nvvm-target and emit-gpu-binary: compile gpu.modules to gpu.binary inside cute-opt.
 *
 * attach-nvvm-target requires nothing and ensures that each gpu.module has the target, once. emit-gpu-binary
 * requires one-shot-convert-to-llvm and a target on each gpu.module; it ensures that each becomes a
 * gpu.binary with an object for each of its targets. In cute-opt, objects are made by the code of cute-ptx
 * and cute-link (binary.h), for every architecture and with metadata. Bitcode, and targets with features,
 * flags or libraries, use MLIR's serializer, which supports the architectures of LLVM 19's NVPTX.
 *
 *     gpu.module @m [#nvvm.target<chip = "sm_90a">] { llvm.func @k() attributes {nvvm.kernel} { ... } }
 * ->
 *     gpu.binary @m [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "...">]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/host/binary.h"
#include "lib/passes/passes.h"

/* ---- attach-nvvm-target ---- */

enum { CHIP, FEATURES, LEVEL };
static const cute_pass_option attach_options[] = {
    [CHIP] = {"chip", CUTE_PASS_TEXT, "Architecture such as sm_90a", 0, "sm_80"},
    [FEATURES] = {"features", CUTE_PASS_TEXT,
                  "Backend features such as +ptx83; empty: those that the chip needs", 0, ""},
    [LEVEL] = {"opt-level", CUTE_PASS_INT, "Optimization level, 0 to 3", 2, NULL},
};

/* Null after an error. Omits fields with default values, as the attribute's printer does. */
static MlirAttribute target_of(MlirOperation root, cute_pass_run *pass)
{
    MlirStringRef chip = cute_pass_text(pass, CHIP), features = cute_pass_text(pass, FEATURES);
    int64_t level = cute_pass_int(pass, LEVEL);
    MlirAttribute none = {NULL};
    if (level < 0 || level > 3) {
        char text[80];
        snprintf(text, sizeof text, "attach-nvvm-target expects opt-level from 0 to 3, got %lld",
                 (long long)level);
        cute_emit_error(mlirOperationGetLocation(root), text);
        return none;
    }
    cute_buffer text = {0};
    cute_buffer_append(&text, chip.data, chip.length);
    const cute_arch *arch = cute_arch_find(cute_buffer_text(&text));
    cute_buffer_release(&text);
    /* LLVM 19 has no separate sm_88. */
    if (arch && cute_text_is(chip, arch->name) && arch->backends & CUTE_BACKEND_NVPTX)
        chip = cute_text(arch->target);
    cute_buffer_printf(&text, "#nvvm.target<O = %d, chip = \"%.*s\"", (int)level, (int)chip.length,
                       chip.data);
    if (features.length)
        cute_buffer_printf(&text, ", features = \"%.*s\"", (int)features.length, features.data);
    cute_buffer_puts(&text, ">");
    MlirAttribute target =
        mlirAttributeParseGet(mlirOperationGetContext(root), cute_text(cute_buffer_text(&text)));
    cute_buffer_release(&text);
    return target;
}

static void attach_one(MlirOperation module, void *context)
{
    MlirAttribute target = *(MlirAttribute *)context;
    MlirAttribute old = mlirOperationGetAttributeByName(module, cute_text("targets"));
    intptr_t count = mlirAttributeIsNull(old) ? 0 : mlirArrayAttrGetNumElements(old);
    MlirAttribute *all = malloc((size_t)(count + 1) * sizeof *all);
    if (!all) return;
    for (intptr_t i = 0; i < count; i++) {
        all[i] = mlirArrayAttrGetElement(old, i);
        if (mlirAttributeEqual(all[i], target)) {
            free(all);
            return;
        }
    }
    all[count] = target;
    mlirOperationSetAttributeByName(module, cute_text("targets"),
                                    mlirArrayAttrGet(mlirOperationGetContext(module), count + 1, all));
    free(all);
}

static void run_attach_target(MlirOperation root, cute_pass_run *pass)
{
    MlirAttribute target = target_of(root, pass);
    if (mlirAttributeIsNull(target))
        cute_pass_fail(pass);
    else
        cute_op_each(root, "gpu.module", attach_one, &target);
}

const cute_pass cute_pass_attach_target = {
    .name = "attach-nvvm-target",
    .help = "Attach an NVVM target to each gpu.module",
    .anchor = "builtin.module",
    .options = attach_options,
    .option_count = sizeof attach_options / sizeof *attach_options,
    .dialects = CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM | CUTE_DIALECT_NVVM,
    .run = run_attach_target,
};

/* ---- PTX ISA of inline assembly ---- */

enum { NEWEST = 85 }; /* latest PTX ISA that LLVM 19 emits */

static void note_assembly(MlirOperation op, void *context)
{
    int *isa = context;
    MlirAttribute text = mlirOperationGetAttributeByName(op, cute_text("asm_string"));
    if (mlirAttributeIsNull(text) || !mlirAttributeIsAString(text)) return;
    cute_buffer copy = {0};
    MlirStringRef assembly = mlirStringAttrGetValue(text);
    cute_buffer_append(&copy, assembly.data, assembly.length);
    int needed = cute_ptx_isa_of(cute_buffer_text(&copy));
    if (needed > *isa) *isa = needed;
    cute_buffer_release(&copy);
}

/* Adds the features that inline assembly needs to targets without any: LLVM defaults to the oldest PTX ISA
 * of the chip, which lacks some Hopper instructions. */
static void state_features(MlirOperation module, void *context)
{
    (void)context;
    int isa = 0;
    cute_op_each(module, "llvm.inline_asm", note_assembly, &isa);
    MlirAttribute old = mlirOperationGetAttributeByName(module, cute_text("targets"));
    if (!isa || mlirAttributeIsNull(old)) return;
    MlirContext context_of = mlirOperationGetContext(module);
    intptr_t count = mlirArrayAttrGetNumElements(old);
    MlirAttribute *all = malloc((size_t)(count ? count : 1) * sizeof *all);
    if (!all) return;
    for (intptr_t i = 0; i < count; i++) {
        static const char nvvm[] = "#nvvm.target<";
        cute_buffer text = {0};
        all[i] = mlirArrayAttrGetElement(old, i);
        mlirAttributePrint(all[i], cute_print_to_buffer, &text);
        const char *printed = cute_buffer_text(&text);
        size_t head = sizeof nvvm - 1;
        if (!strncmp(printed, nvvm, head) && !strstr(printed, "features = ")) {
            const char *flags = strstr(printed, ", flags = "), *link = strstr(printed, ", link = ");
            const char *at = flags ? flags : link ? link : strrchr(printed, '>');
            cute_buffer stated = {0};
            cute_buffer_printf(&stated, "%.*s, features = \"+ptx%d\"%s", (int)(at - printed), printed,
                               isa < NEWEST ? isa : NEWEST, at);
            all[i] = mlirAttributeParseGet(context_of, cute_text(cute_buffer_text(&stated)));
            cute_buffer_release(&stated);
        }
        cute_buffer_release(&text);
    }
    mlirOperationSetAttributeByName(module, cute_text("targets"), mlirArrayAttrGet(context_of, count, all));
    free(all);
}

/* ---- emit-gpu-binary ---- */

enum { TARGET, TOOLKIT, LINES };
static const cute_pass_option emit_options[] = {
    [TARGET] = {"compilation-target", CUTE_PASS_TEXT,
                "Output format: isa (PTX), bin (cubin), fatbin, or offload or llvm (LLVM bitcode)", 0, "isa"},
    [TOOLKIT] = {"toolkit", CUTE_PASS_TEXT, "Root of the CUDA toolkit; empty: CUDA_PATH, CUDA_HOME or PATH",
                 0, ""},
    [LINES] = {"lineinfo", CUTE_PASS_BOOL, "Emit source lines in cubins", 0, NULL},
};

static const struct {
    const char *name, *format;
} formats[] = {{"isa", "isa"}, {"bin", "bin"}, {"fatbin", "fatbin"}, {"offload", "llvm"}, {"llvm", "llvm"}};

static bool is_there(MlirStringRef folder, const char *file)
{
    cute_buffer path = {0};
    struct stat info;
    cute_buffer_printf(&path, "%.*s%s", (int)folder.length, folder.data, file);
    bool there = cute_buffer_ok(&path) && !stat(cute_buffer_text(&path), &info) &&
                 (*file ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode));
    cute_buffer_release(&path);
    return there;
}

/* Upstream reports a missing folder but continues with a toolkit found elsewhere. */
static bool toolkit_is_there(MlirOperation root, MlirStringRef toolkit, bool assembles)
{
    if (!toolkit.length) return true;
    bool folder = is_there(toolkit, "");
    if (folder && (!assembles || is_there(toolkit, "/bin/ptxas"))) return true;
    cute_buffer message = {0};
    cute_buffer_printf(&message, "emit-gpu-binary expects the root of a CUDA toolkit, got '%.*s'%s",
                       (int)toolkit.length, toolkit.data, folder ? ", which has no bin/ptxas" : "");
    cute_emit_error(mlirOperationGetLocation(root), cute_buffer_text(&message));
    cute_buffer_release(&message);
    return false;
}

typedef struct chips {
    MlirOperation module;
    bool good;
    bool foreign; /* also accept chips that LLVM's NVPTX lacks */
} chips;

/* For a chip that LLVM's NVPTX lacks, LLVM would silently emit PTX for another one; for operations that a
 * chip lacks it reports no location. */
static bool check_chip(const char *chip, const cute_arch *arch, void *context)
{
    chips *c = context;
    if (arch && !(arch->backends & CUTE_BACKEND_NVPTX) && !c->foreign) {
        cute_buffer message = {0};
        cute_buffer_printf(&message,
                           "emit-gpu-binary expects an architecture of LLVM 19, got '%s'; use cute-ptx, "
                           "which compiles for it with libNVVM",
                           chip);
        cute_emit_error(mlirOperationGetLocation(c->module), cute_buffer_text(&message));
        cute_buffer_release(&message);
        return c->good = false;
    }
    c->good &= cute_target_has_all(c->module, arch);
    return true;
}

static void check_chips(MlirOperation module, void *context)
{
    chips *c = context;
    c->module = module;
    cute_targets_each(module, check_chip, c);
}

/* ---- objects made by cute-ptx and cute-link ---- */

typedef struct object_work {
    cute_pass_run *pass;
    cute_object_maker maker;
    cute_object_format format;
    const char *toolkit;
    bool lineinfo;
} object_work;

/* Architecture and optimization level of a target. False if it has other fields or an unknown
 * architecture. */
static bool read_target(MlirAttribute target, const cute_arch **arch, int *level)
{
    static const char *const others[] = {"features = ", "flags = ", "link = ", "triple = "};
    static const char chip[] = "chip = \"", optimisation[] = "<O = ";
    cute_buffer text = {0};
    mlirAttributePrint(target, cute_print_to_buffer, &text);
    char *printed = (char *)cute_buffer_text(&text), *at = strstr(printed, chip),
         *o = strstr(printed, optimisation);
    char *end = at ? strchr(at += sizeof chip - 1, '"') : NULL;
    bool plain = end && !strncmp(printed, "#nvvm.target<", 13);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) plain = plain && !strstr(printed, others[i]);
    *level = o ? atoi(o + sizeof optimisation - 1) : 2;
    if (end) *end = '\0';
    *arch = end ? cute_arch_find(at) : NULL;
    cute_buffer_release(&text);
    return plain && *arch && *level >= 0 && *level <= 3;
}

static void look_for_kernel(MlirOperation f, void *context)
{
    *(bool *)context |= cute_kernel_is(f);
}

/* Whether the maker supports each target of the module. */
static bool is_plain(MlirOperation module)
{
    MlirAttribute targets = mlirOperationGetAttributeByName(module, cute_text("targets"));
    bool plain = false;
    cute_op_each(module, "llvm.func", look_for_kernel, &plain);
    if (mlirAttributeIsNull(targets)) return false;
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(targets); i++) {
        const cute_arch *arch;
        int level;
        plain = plain && read_target(mlirArrayAttrGetElement(targets, i), &arch, &level);
    }
    return plain;
}

static void find_other(MlirOperation module, void *context)
{
    *(bool *)context |= !is_plain(module);
}

static MlirLocation location_of(MlirOperation module, const cute_message *message)
{
    const cute_place *place = &message->place;
    if (!place->file || place->line < 1) return mlirOperationGetLocation(module);
    return mlirLocationFileLineColGet(mlirOperationGetContext(module), cute_text(place->file),
                                      (unsigned)place->line,
                                      (unsigned)(place->column > 0 ? place->column : 1));
}

/* Reports each message with its notes. */
static void pass_on(MlirOperation module, const cute_diag *diag)
{
    enum { NOTES = 16 };
    for (size_t i = 0; i < cute_diag_count(diag);) {
        const cute_message *m = cute_diag_get(diag, i++);
        cute_emit_note notes[NOTES];
        size_t count = 0;
        for (; i < cute_diag_count(diag) && cute_diag_get(diag, i)->severity == CUTE_NOTE; i++)
            if (count < NOTES)
                notes[count++] = (cute_emit_note){location_of(module, cute_diag_get(diag, i)),
                                                  cute_diag_get(diag, i)->text};
        if (m->severity == CUTE_ERROR || m->severity == CUTE_WARNING)
            cute_emit_with_notes(location_of(module, m), m->severity == CUTE_ERROR, m->text, notes, count);
    }
}

static void make_objects(MlirOperation module, void *context)
{
    object_work *w = context;
    MlirAttribute targets = mlirOperationGetAttributeByName(module, cute_text("targets"));
    intptr_t count = mlirArrayAttrGetNumElements(targets);
    MlirAttribute *objects = calloc((size_t)count + 1, sizeof *objects);
    cute_diag *diag = cute_diag_create();
    bool good = objects && diag;
    for (intptr_t i = 0; i < count && good; i++) {
        cute_object_request request = {
            .module = module, .lineinfo = w->lineinfo, .toolkit = w->toolkit, .format = w->format};
        cute_buffer bytes = {0};
        MlirAttribute target = mlirArrayAttrGetElement(targets, i);
        good = read_target(target, &request.arch, &request.opt_level) &&
               w->maker(&request, &bytes, diag) == CUTE_OK;
        if (good) {
            objects[i] = cute_binary_object(target, w->format, &bytes);
            good = !mlirAttributeIsNull(objects[i]);
        }
        cute_buffer_release(&bytes);
    }
    if (diag) pass_on(module, diag);
    good = good &&
           cute_binary_replace(module, mlirArrayAttrGet(mlirOperationGetContext(module), count, objects));
    if (!good) cute_pass_fail(w->pass);
    cute_diag_destroy(diag);
    free(objects);
}

/* False: use MLIR's serializer instead. */
static bool make_all(MlirOperation root, cute_pass_run *pass, MlirStringRef target, MlirStringRef toolkit)
{
    static const char *const names[] = {
        [CUTE_OBJECT_PTX] = "isa", [CUTE_OBJECT_CUBIN] = "bin", [CUTE_OBJECT_FATBIN] = "fatbin"};
    object_work w = {.pass = pass, .maker = cute_binary_maker(), .lineinfo = cute_pass_int(pass, LINES)};
    size_t f = 0;
    while (f < sizeof names / sizeof *names && !cute_text_is(target, names[f])) f++;
    bool other = !w.maker || f == sizeof names / sizeof *names;
    if (!other) cute_op_each(root, "gpu.module", find_other, &other);
    if (other) return false;
    cute_buffer folder = {0};
    cute_buffer_append(&folder, toolkit.data, toolkit.length);
    w.format = (cute_object_format)f;
    w.toolkit = toolkit.length ? cute_buffer_text(&folder) : NULL;
    chips c = {.good = true, .foreign = true};
    cute_op_each(root, "gpu.module", check_chips, &c);
    if (c.good)
        cute_op_each(root, "gpu.module", make_objects, &w);
    else
        cute_pass_fail(pass);
    cute_buffer_release(&folder);
    return true;
}

/* Upstream rejects such a kernel without suggesting a fix. */
static void refuse_unlowered(MlirOperation kernel, void *context)
{
    if (cute_op_is(mlirOperationGetParentOperation(kernel), "gpu.module")) {
        cute_emit_error(mlirOperationGetLocation(kernel),
                        "emit-gpu-binary expects kernels of llvm and nvvm, got a gpu.func; run "
                        "cute-full-lowering first, or cute-to-nvvm instead");
        *(bool *)context = false;
    }
}

static void run_emit_binary(MlirOperation root, cute_pass_run *pass)
{
    chips c = {.good = true};
    bool lowered = true;
    cute_kernels_enter(root);
    cute_op_each(root, "gpu.func", refuse_unlowered, &lowered);
    if (!lowered) {
        cute_pass_fail(pass);
        return;
    }
    if (cute_op_has(root, CUTE_BINARY_LATER)) return;
    MlirStringRef target = cute_pass_text(pass, TARGET), toolkit = cute_pass_text(pass, TOOLKIT);
    bool assembles = cute_text_is(target, "bin") || cute_text_is(target, "fatbin");
    bool good = toolkit_is_there(root, toolkit, assembles);
    if (good && make_all(root, pass, target, toolkit)) return;
    cute_op_each(root, "gpu.module", check_chips, &c);
    if (!c.good || !good) {
        cute_pass_fail(pass);
        return;
    }
    cute_op_each(root, "gpu.module", state_features, NULL);
    const char *format = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (cute_text_is(target, formats[i].name)) format = formats[i].format;
    cute_buffer text = {0};
    if (format) {
        cute_buffer_printf(&text, "gpu-module-to-binary{format=%s", format);
        if (toolkit.length) cute_buffer_printf(&text, " toolkit='%.*s'", (int)toolkit.length, toolkit.data);
        if (cute_pass_int(pass, LINES)) cute_buffer_puts(&text, " opts=-lineinfo");
        cute_buffer_puts(&text, "}");
        if (!cute_pass_run_pipeline(pass, cute_buffer_text(&text), root)) cute_pass_fail(pass);
    } else {
        cute_buffer_printf(
            &text, "emit-gpu-binary expects compilation-target isa, bin, fatbin, offload or llvm, got '%.*s'",
            (int)target.length, target.data);
        cute_emit_error(mlirOperationGetLocation(root), cute_buffer_text(&text));
        cute_pass_fail(pass);
    }
    cute_buffer_release(&text);
}

const cute_pass cute_pass_emit_binary = {
    .name = "emit-gpu-binary",
    .help = "Compile each gpu.module to a gpu.binary",
    .anchor = "builtin.module",
    .options = emit_options,
    .option_count = sizeof emit_options / sizeof *emit_options,
    .dialects = CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM | CUTE_DIALECT_NVVM,
    .run = run_emit_binary,
};
