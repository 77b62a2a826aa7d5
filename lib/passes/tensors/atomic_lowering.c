/* Lowers atomic updates of tensor elements to llvm.atomicrmw and llvm.cmpxchg, which cute-memory-model
 * lowers further, and vector updates, which LLVM lacks, to PTX.
 *
 *     %old = cute.atomic_add<{scope = "cta"}> (%x, %t, %c) : (i32, !cute.memref<i32, smem, "(64,8):(8,1)">, ...) -> i32
 * ->
 *     %old = llvm.atomicrmw add %address, %x syncscope("block") monotonic : !llvm.ptr<3>, i32
 */
#include "lib/passes/tensors/atomic_lowering.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/atomics.h"
#include "lib/passes/tensors/tensors.h"

/* ---- order and scope ---- */

/* By attribute value; `llvm` holds the AtomicOrdering of the update and of a failed comparison. */
static const struct {
    const char *word;
    cute_order order;
    int llvm, failure;
} orders[] = {
    {"relaxed", CUTE_ORDER_RELAXED, 2, 2}, {"acquire", CUTE_ORDER_ACQUIRE, 4, 4},
    {"release", CUTE_ORDER_RELEASE, 5, 2}, {"acq_rel", CUTE_ORDER_ACQ_REL, 6, 4},
    {"sc", CUTE_ORDER_SEQ_CST, 7, 7},
};
static const struct {
    const char *word, *llvm;
} scopes[] = {{"gpu", "device"}, {"cta", "block"}, {"cluster", "cluster"}, {"sys", "system"}};

static bool attribute_has_word(MlirOperation op, const char *name, const char *word)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text(name));
    return !mlirAttributeIsNull(attribute) && cute_text_is(mlirStringAttrGetValue(attribute), word);
}

/* The ordering's row, by default the first. */
static size_t order_row(MlirOperation op)
{
    size_t i = sizeof orders / sizeof *orders;
    while (--i && !attribute_has_word(op, "order", orders[i].word)) continue;
    return i;
}

static size_t scope_row(MlirOperation op)
{
    size_t i = sizeof scopes / sizeof *scopes;
    while (--i && !attribute_has_word(op, "scope", scopes[i].word)) continue;
    return i;
}

static MlirNamedAttribute integer_attribute(const cute_builder *b, const char *name, int64_t value)
{
    return cute_attribute(b->context, name, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), value));
}

static MlirNamedAttribute scope_attribute(const cute_builder *b, MlirOperation op)
{
    return cute_attribute(b->context, "syncscope",
                          cute_string_attribute(b->context, scopes[scope_row(op)].llvm));
}

/* ---- addresses ---- */

/* Whether `count` elements starting at an address are contiguous: they are in one mode of stride 1. */
static bool side_by_side(const cute_tree *shape, const cute_tree *stride, int64_t count)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++)
            if (side_by_side(shape->items[i], stride->items[i], count)) return true;
        return false;
    }
    if (stride->kind != CUTE_TREE_INT || !stride->value.known || stride->value.value != 1) return false;
    return !shape->value.known || shape->value.value % count == 0;
}

static cute_status element_address(const cute_expansion *x, MlirOperation op, intptr_t values, int64_t count,
                                   MlirValue *address)
{
    cute_tensor t;
    MlirValue shift;
    int64_t align;
    CUTE_TRY(cute_tensor_at(x, op, values, values + 1, &t, address, &align, &shift));
    int64_t bytes = count * t.bits / 8;
    if (count == 1 || (align >= bytes && !t.value.inner.shape &&
                       side_by_side(t.value.layout.shape, t.value.layout.stride, count)))
        return CUTE_OK;
    return cute_fail(x->diag, CUTE_INVALID, NULL,
                     "expects %lld contiguous elements at a coordinate that is aligned to %lld bytes, got "
                     "%lld known ones of \"%s\"; !cute.i32<divby %lld> declares an index to be a multiple",
                     (long long)count, (long long)bytes, (long long)align,
                     cute_layout_text(x->arena, t.value.layout), (long long)count);
}

/* ---- operations ---- */

static cute_status lower_scalar_update(const cute_expansion *x, MlirOperation op, cute_atomic_kind integers,
                                       cute_atomic_kind floats)
{
    cute_builder b = cute_builder_before(op);
    MlirValue value = mlirOperationGetOperand(op, 0), address;
    MlirType type = mlirValueGetType(value);
    CUTE_TRY(element_address(x, op, 1, cute_vector_count(type), &address));
    const size_t order = order_row(op);
    MlirValue old;
    if (mlirTypeIsAVector(type)) {
        const char *scope = scopes[scope_row(op)].word;
        old = cute_atomic_add_vector(&b, (cute_atomic){.order = orders[order].order, .scope = scope}, address,
                                     value);
    } else {
        cute_atomic_kind kind = mlirTypeIsAInteger(type) ? integers : floats;
        old = cute_build_value(&b, "llvm.atomicrmw", type, CUTE_OPERANDS(address, value),
                               CUTE_NAMED(integer_attribute(&b, "bin_op", kind),
                                          integer_attribute(&b, "ordering", orders[order].llvm),
                                          scope_attribute(&b, op)));
    }
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), old);
    return CUTE_OK;
}

/* Floats are compared bitwise. */
static cute_status lower_cas(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirValue values[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)}, address;
    MlirType type = mlirValueGetType(values[0]), bits = type;
    CUTE_TRY(element_address(x, op, 2, 1, &address));
    bool floats = !mlirTypeIsAInteger(type);
    if (floats) bits = mlirIntegerTypeGet(b.context, mlirFloatTypeGetWidth(type));
    for (int i = 0; i < 2 && floats; i++) values[i] = cute_unary(&b, "arith.bitcast", values[i], bits);
    MlirType pair[] = {bits, mlirIntegerTypeGet(b.context, 1)};
    const size_t order = order_row(op);
    MlirValue found =
        cute_build_value(&b, "llvm.cmpxchg", mlirLLVMStructTypeLiteralGet(b.context, 2, pair, false),
                         CUTE_OPERANDS(address, values[0], values[1]),
                         CUTE_NAMED(integer_attribute(&b, "success_ordering", orders[order].llvm),
                                    integer_attribute(&b, "failure_ordering", orders[order].failure),
                                    scope_attribute(&b, op)));
    MlirValue old = cute_extract_field(&b, found, 0, -1, bits);
    if (floats) old = cute_unary(&b, "arith.bitcast", old, type);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), old);
    return CUTE_OK;
}

/* ---- the table ---- */

#define CUTE_ATOMIC_CAS(name, types)
#define CUTE_ATOMIC_OP(name, types, vectors, integers, floats)                                               \
    static cute_status lower_##name##_update(const cute_expansion *x, const cute_pass_run *pass,             \
                                             MlirOperation op)                                               \
    {                                                                                                        \
        (void)pass;                                                                                          \
        return lower_scalar_update(x, op, CUTE_ATOMIC_##integers, CUTE_ATOMIC_##floats);                     \
    }
#include "lib/ir/ops/atomics.def"

static const cute_lower_row rows[] = {
#define CUTE_ATOMIC_CAS(name, types) {"cute.atomic_" #name, lower_##name},
#define CUTE_ATOMIC_OP(name, ...)    {"cute.atomic_" #name, lower_##name##_update},
#include "lib/ir/ops/atomics.def"
};
const cute_lower_table cute_atomic_table = {rows, sizeof rows / sizeof *rows};
