/* cute-memory-model: lowers fences and atomic accesses of llvm to the PTX memory model.
 *
 * Requires: nothing. Ensures: no llvm.fence, no atomic llvm.load or llvm.store, no llvm.cmpxchg, and no
 * llvm.atomicrmw in gpu.modules except relaxed ones at gpu scope that LLVM selects as one instruction. LLVM
 * 19 cannot select the former, and drops the order and scope of the latter.
 *
 *     %v = llvm.load %p atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
 * ->
 *     %v = llvm.inline_asm has_side_effects "ld.acquire.gpu.global.b32 $0, [$1];", "=r,l,~{memory}" %p
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/atomics.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

/* llvm's AtomicOrdering. */
enum { NOT_ATOMIC, UNORDERED, MONOTONIC, ACQUIRE = 4, RELEASE, ACQ_REL, SEQ_CST };

static int64_t order_attribute(MlirOperation op, const char *name)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text(name));
    return mlirAttributeIsNull(attribute) ? NOT_ATOMIC : mlirIntegerAttrGetValueInt(attribute);
}

static cute_order llvm_order(int64_t ordering)
{
    switch (ordering) {
    case ACQUIRE: return CUTE_ORDER_ACQUIRE;
    case RELEASE: return CUTE_ORDER_RELEASE;
    case ACQ_REL: return CUTE_ORDER_ACQ_REL;
    case SEQ_CST: return CUTE_ORDER_SEQ_CST;
    default: return CUTE_ORDER_RELAXED;
    }
}

/* Scope names of LLVM's NVPTX, PTX, HSA and MLIR. */
static const struct {
    const char *name, *scope;
} scopes[] = {
    {"", "sys"},       {"singlethread", NULL}, {"block", "cta"}, {"cluster", "cluster"},
    {"device", "gpu"}, {"workgroup", "cta"},   {"agent", "gpu"}, {"system", "sys"},
    {"cta", "cta"},    {"gpu", "gpu"},         {"sys", "sys"},
};

/* False after an error on `op`. */
static bool llvm_scope(MlirOperation op, const cute_device_work *w, const char **scope)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("syncscope"));
    MlirStringRef name = mlirAttributeIsNull(attribute) ? cute_text("") : mlirStringAttrGetValue(attribute);
    cute_buffer text = {0};
    MlirStringRef what = mlirIdentifierStr(mlirOperationGetName(op));
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (!cute_text_is(name, scopes[i].name)) continue;
        *scope = scopes[i].scope;
        bool cluster = *scope && !strcmp(*scope, "cluster");
        if (!cluster || !w->arch || cute_arch_has(w->arch->number, CUTE_FEATURE_CLUSTERS)) return true;
        cute_buffer_printf(&text, "'%.*s' op with syncscope \"cluster\" needs sm_%d, got %s",
                           (int)what.length, what.data, cute_feature_first(CUTE_FEATURE_CLUSTERS),
                           w->arch->name);
    }
    if (!text.length)
        cute_buffer_printf(
            &text,
            "'%.*s' op expected syncscope \"block\", \"cluster\", \"device\", \"singlethread\" or none "
            "(the system), got \"%.*s\"",
            (int)what.length, what.data, (int)name.length, name.data);
    cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

/* Local memory is private and constant memory never changes: no order is needed. */
static bool is_unshared(MlirValue pointer)
{
    int space = (int)mlirLLVMPointerTypeGetAddressSpace(mlirValueGetType(pointer));
    return space == 4 || space == 5;
}

static void make_plain(MlirOperation op)
{
    MlirContext c = mlirOperationGetContext(op);
    mlirOperationSetAttributeByName(op, cute_text("ordering"),
                                    mlirIntegerAttrGet(mlirIntegerTypeGet(c, 64), NOT_ATOMIC));
    mlirOperationRemoveAttributeByName(op, cute_text("syncscope"));
}

static bool lower_llvm_fence(MlirOperation op, cute_atomic atomic)
{
    cute_builder b = cute_builder_before(op);
    cute_atomic_fence(&b, atomic);
    return true;
}

static bool lower_atomic_load(MlirOperation op, cute_atomic atomic)
{
    MlirValue old = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(old);
    if (!cute_atomic_type(op, type, 8)) return false;
    cute_builder b = cute_builder_before(op);
    mlirValueReplaceAllUsesOfWith(old, cute_atomic_load(&b, atomic, mlirOperationGetOperand(op, 0), type));
    return true;
}

static bool lower_atomic_store(MlirOperation op, cute_atomic atomic)
{
    MlirValue value = mlirOperationGetOperand(op, 0);
    if (!cute_atomic_type(op, mlirValueGetType(value), 8)) return false;
    cute_builder b = cute_builder_before(op);
    cute_atomic_store(&b, atomic, mlirOperationGetOperand(op, 1), value);
    return true;
}

static cute_atomic_kind kind_of(MlirOperation op)
{
    return (cute_atomic_kind)mlirIntegerAttrGetValueInt(
        mlirOperationGetAttributeByName(op, cute_text("bin_op")));
}

static bool lower_atomicrmw(MlirOperation op, cute_atomic atomic)
{
    MlirValue operand = mlirOperationGetOperand(op, 1);
    if (!cute_atomic_type(op, mlirValueGetType(operand), 16)) return false;
    cute_builder b = cute_builder_before(op);
    MlirValue old = cute_atomic_update(&b, atomic, mlirOperationGetOperand(op, 0), kind_of(op), operand);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), old);
    return true;
}

static bool lower_cmpxchg(MlirOperation op, cute_atomic atomic)
{
    MlirValue expected = mlirOperationGetOperand(op, 1), result = mlirOperationGetResult(op, 0);
    if (!cute_atomic_type(op, mlirValueGetType(expected), 16)) return false;
    cute_builder b = cute_builder_before(op);
    MlirValue found =
        cute_atomic_cas(&b, atomic, mlirOperationGetOperand(op, 0), expected, mlirOperationGetOperand(op, 2));
    MlirAttribute equal = mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 64), CUTE_IS_EQ);
    MlirValue same =
        cute_build_value(&b, "llvm.icmp", mlirIntegerTypeGet(b.context, 1), CUTE_OPERANDS(found, expected),
                         CUTE_NAMED(cute_attribute(b.context, "predicate", equal)));
    MlirValue pair =
        cute_build_value(&b, "llvm.mlir.undef", mlirValueGetType(result), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    pair = cute_insert_field(&b, cute_insert_field(&b, pair, found, 0), same, 1);
    mlirValueReplaceAllUsesOfWith(result, pair);
    return true;
}

/* The attribute with the order, the address operand (-1: none), the lowering. */
static const struct {
    const char *name, *order;
    int pointer;
    bool (*lower)(MlirOperation op, cute_atomic atomic);
} operations[] = {
    {"llvm.load", "ordering", 0, lower_atomic_load},
    {"llvm.store", "ordering", 1, lower_atomic_store},
    {"llvm.atomicrmw", "ordering", 0, lower_atomicrmw},
    {"llvm.cmpxchg", "success_ordering", 0, lower_cmpxchg},
    {"llvm.fence", "ordering", -1, lower_llvm_fence},
};

/* If a failed comparison has a stronger order than a successful one, both use it. */
static int64_t strongest_order(int64_t success, int64_t failure)
{
    if (failure == SEQ_CST) return SEQ_CST;
    if (failure != ACQUIRE) return success;
    return success == RELEASE ? ACQ_REL : success == MONOTONIC ? ACQUIRE : success;
}

static void lower_memory_op(MlirOperation op, void *context)
{
    cute_device_work *w = context;
    size_t which = 0, count = sizeof operations / sizeof *operations;
    while (which < count && !cute_op_is(op, operations[which].name)) which++;
    if (which == count) return;
    int64_t ordering = order_attribute(op, operations[which].order);
    ordering = strongest_order(ordering, order_attribute(op, "failure_ordering"));
    if (ordering == NOT_ATOMIC) return;
    cute_atomic atomic = {.order = llvm_order(ordering), .arch = w->arch};
    if (!llvm_scope(op, w, &atomic.scope)) {
        cute_pass_fail(w->pass);
        return;
    }
    int pointer = operations[which].pointer;
    bool access = which < 2;
    if (access && is_unshared(mlirOperationGetOperand(op, pointer))) {
        make_plain(op);
        w->changed = true;
        return;
    }
    bool update = cute_op_is(op, "llvm.atomicrmw");
    if (update && atomic.order == CUTE_ORDER_RELAXED && atomic.scope && !strcmp(atomic.scope, "gpu") &&
        cute_atomic_is_native(kind_of(op), mlirValueGetType(mlirOperationGetOperand(op, 1))))
        return;
    w->changed = true;
    if (operations[which].lower(op, atomic))
        mlirOperationDestroy(op);
    else
        cute_pass_fail(w->pass);
}

static void run_memory_model(MlirOperation root, cute_pass_run *pass)
{
    cute_lower_each(root, pass, "llvm.", CUTE_WALK_OUTER_FIRST, lower_memory_op);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
};

const cute_pass cute_pass_memory_model = {
    .name = "cute-memory-model",
    .help = "Lower fences and atomic accesses of llvm to the PTX memory model",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM | CUTE_DIALECT_SCF,
    .run = run_memory_model,
};
