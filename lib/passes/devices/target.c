/* See target.h. */
#include "lib/passes/devices/target.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

bool cute_pass_arch(cute_pass_run *run, int i, MlirOperation root, const cute_arch **out)
{
    MlirStringRef name = cute_pass_text(run, i);
    *out = NULL;
    if (!name.length) return true;
    cute_buffer text = {0};
    cute_buffer_append(&text, name.data, name.length);
    *out = cute_arch_find(cute_buffer_text(&text));
    if (!*out) {
        cute_buffer message = {0};
        cute_buffer_printf(&message, "expected an architecture such as sm_90a, got '%s'",
                           cute_buffer_text(&text));
        cute_emit_error(mlirOperationGetLocation(root), cute_buffer_text(&message));
        cute_buffer_release(&message);
        cute_pass_fail(run);
    }
    cute_buffer_release(&text);
    return *out;
}

typedef struct inside {
    cute_device_work work;
    const char *prefix;
    cute_walk_order order;
    void (*visit)(MlirOperation op, void *work);
} inside;

static void visit_module(MlirOperation module, void *context)
{
    inside *in = context;
    cute_op_walk(module, in->prefix, in->order, in->visit, &in->work);
}

void cute_lower_each(MlirOperation root, cute_pass_run *pass, const char *prefix, cute_walk_order order,
                     void (*visit)(MlirOperation op, void *work))
{
    inside in = {.work = {.pass = pass}, .prefix = prefix, .order = order, .visit = visit};
    if (cute_pass_arch(pass, 0, root, &in.work.arch)) cute_op_each(root, "gpu.module", visit_module, &in);
    if (!in.work.changed) cute_pass_unchanged(pass);
}

static const struct {
    const char *name;
    int number;
    char variant;
} needs[] = {
#define NEEDS(name, number, variant) {name, number, variant},
#include "lib/passes/devices/target.def"
};

static bool arch_matches(const cute_arch *arch, int number, char variant)
{
    switch (variant) {
    case 'a': return arch->number == number && arch->variant == 'a';
    case 's': return arch->number >= number && arch->variant;
    default: return arch->number >= number;
    }
}

static bool refuse_arch(MlirOperation op, const char *needed, const cute_arch *arch)
{
    char text[160];
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    snprintf(text, sizeof text, "'%.*s' op needs %s, got %s", (int)name.length, name.data, needed,
             arch->name);
    cute_emit_error(mlirOperationGetLocation(op), text);
    return false;
}

/* mma.sync: the shapes of Turing, and those since Ampere. */
static bool has_mma(MlirOperation op, const cute_arch *arch)
{
    if (cute_arch_has(arch->number, CUTE_FEATURE_MMA_AMPERE)) return true;
    MlirAttribute shape = mlirOperationGetAttributeByName(op, cute_text("shape"));
    cute_buffer text = {0};
    if (mlirAttributeIsNull(shape)) shape = mlirOperationGetAttributeByName(op, cute_text("mmaShape"));
    if (!mlirAttributeIsNull(shape)) mlirAttributePrint(shape, cute_print_to_buffer, &text);
    mlirTypePrint(mlirValueGetType(mlirOperationGetOperand(op, 0)), cute_print_to_buffer, &text);
    const char *t = cute_buffer_text(&text);
    /* #nvvm.shape<m = 16, n = 8, k = 8> or [16, 8, 8], and the type of A. */
    bool small = strstr(t, "k = 8>") || strstr(t, ", 8]"), half = strstr(t, "f16") && !strstr(t, "bf16");
    bool integers = strstr(t, "m = 8, n = 8, k = 16>") || strstr(t, "m = 8, n = 8, k = 32>") ||
                    strstr(t, "[8, 8, 16]") || strstr(t, "[8, 8, 32]");
    bool turing = (small && half) || integers;
    cute_buffer_release(&text);
    return turing || refuse_arch(op, "sm_80", arch);
}

/* Requirements of sm_80 operations that need sm_90: a count, a remote mbarrier, or cluster scope. */
static bool has_mbarrier(MlirOperation op, const cute_arch *arch)
{
    if (cute_arch_has(arch->number, CUTE_FEATURE_MBARRIER_REMOTE)) return true;
    if (cute_op_is(op, "cute_nvgpu.arch.mbarrier_arrive") &&
        (cute_op_has(op, "count") || mlirOperationGetNumOperands(op) > 1))
        return refuse_arch(op, "sm_90 for a count or another block's mbarrier", arch);
    if (cute_op_is(op, "cute_nvgpu.arch.mbarrier_test_wait") && cute_op_has(op, "scope"))
        return refuse_arch(op, "sm_90 for a scope", arch);
    MlirAttribute scope = mlirOperationGetAttributeByName(op, cute_text("scope"));
    if (cute_op_is(op, "cute_nvgpu.arch.fence") && mlirAttributeIsAString(scope) &&
        cute_text_is(mlirStringAttrGetValue(scope), "cluster"))
        return refuse_arch(op, "sm_90 for the scope 'cluster'", arch);
    return true;
}

/* Atomic updates of tensors that need sm_90: cluster scope, and vectors other than a pair of f16. */
static bool has_atomic(MlirOperation op, const cute_arch *arch)
{
    if (arch->number >= 90) return true;
    MlirAttribute scope = mlirOperationGetAttributeByName(op, cute_text("scope"));
    if (!mlirAttributeIsNull(scope) && cute_text_is(mlirStringAttrGetValue(scope), "cluster"))
        return refuse_arch(op, "sm_90 for the scope 'cluster'", arch);
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    if (!mlirTypeIsAVector(type)) return true;
    bool pair = mlirTypeIsAF16(mlirShapedTypeGetElementType(type)) && mlirShapedTypeGetDimSize(type, 0) == 2;
    return pair || refuse_arch(op, "sm_90 for a vector other than 2 elements of f16", arch);
}

bool cute_target_has(MlirOperation op, const cute_arch *arch)
{
    if (!arch) return true;
    if (cute_op_of(op, "cute.atomic_")) return has_atomic(op, arch);
    bool ours = cute_op_of(op, "cute_nvgpu.");
    if (!ours && !cute_op_of(op, "nvvm.") && !cute_op_of(op, "nvgpu.") && !cute_op_of(op, "gpu."))
        return true;
    if (ours && !has_mbarrier(op, arch)) return false;
    if (cute_op_is(op, "nvvm.mma.sync") || cute_op_is(op, "nvgpu.mma.sync")) return has_mma(op, arch);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (!cute_op_of(op, needs[i].name) && !cute_op_is(op, needs[i].name)) continue;
        if (arch_matches(arch, needs[i].number, needs[i].variant)) return true;
        char needed[48];
        const char *suffix = needs[i].variant == 's' ? "a or a later architecture-specific one"
                             : needs[i].variant      ? "a"
                                                     : "";
        snprintf(needed, sizeof needed, "sm_%d%s", needs[i].number, suffix);
        return refuse_arch(op, needed, arch);
    }
    return true;
}

typedef struct all {
    const cute_arch *arch;
    bool has;
} all;

static void check_op(MlirOperation op, void *context)
{
    all *a = context;
    a->has &= cute_target_has(op, a->arch);
}

bool cute_target_has_all(MlirOperation module, const cute_arch *arch)
{
    all a = {arch, true};
    cute_op_each(module, NULL, check_op, &a);
    return a.has;
}

void cute_targets_each(MlirOperation module,
                       bool (*visit)(const char *chip, const cute_arch *arch, void *context), void *context)
{
    static const char key[] = "chip = \"";
    MlirAttribute targets = mlirOperationGetAttributeByName(module, cute_text("targets"));
    if (mlirAttributeIsNull(targets)) return;
    cute_buffer text = {0};
    mlirAttributePrint(targets, cute_print_to_buffer, &text);
    char *at = strstr(cute_buffer_text(&text), key), *end;
    for (bool more = true; more && at && (end = strchr(at += strlen(key), '"')); at = strstr(end + 1, key)) {
        *end = '\0';
        more = visit(at, cute_arch_find(at), context);
    }
    cute_buffer_release(&text);
}

/* ---- the PTX ISA ---- */

/* Newer features of inline assembly, and the PTX ISA that introduced them. */
static const struct {
    const char *instruction, *modifier;
    int isa;
} newer[] = {
    {"mma.sync", ".f32.e4m3", 84},
    {"mma.sync", ".f32.e5m2", 84},
    {"mma.sync", ".f16.e4m3", 87},
    {"mma.sync", ".f16.e5m2", 87},
};

int cute_ptx_isa_of(const char *assembly)
{
    int isa = CUTE_PTX_ISA;
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (newer[i].isa > isa && strstr(assembly, newer[i].instruction) &&
            strstr(assembly, newer[i].modifier))
            isa = newer[i].isa;
    return isa;
}

bool cute_may_approximate(MlirOperation op)
{
    MlirAttribute flags = mlirOperationGetAttributeByName(op, cute_text("fastmath"));
    if (mlirAttributeIsNull(flags)) return false;
    cute_buffer text = {0};
    mlirAttributePrint(flags, cute_print_to_buffer, &text);
    const char *list = strchr(cute_buffer_text(&text), '<');
    bool may = list && (strstr(list, "afn") || strstr(list, "fast"));
    cute_buffer_release(&text);
    return may;
}
