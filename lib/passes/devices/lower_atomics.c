/* cute-lower-atomics: lowers memref.atomic_rmw and memref.generic_atomic_rmw.
 *
 * Requires: kernels in gpu.modules. Ensures: no such operations in gpu.modules. They are relaxed, at gpu
 * scope: one instruction if it exists, otherwise a compare-and-swap loop.
 *
 *     %old = memref.atomic_rmw mulf %v, %m[%i] : (f32, memref<?xf32>) -> f32
 * ->
 *     %descriptor = builtin.unrealized_conversion_cast %m : memref<?xf32> to !llvm.struct<...>
 *     %p = llvm.getelementptr ...
 *     %old = scf.while ... atom.relaxed.gpu.cas.b32
 */
#include <llvm/Config/llvm-config.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/atomics.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

/* ---- addresses ---- */

/* LLVM's address space of a memref's memory space; -1: neither generic, global nor shared. */
static int address_space(MlirType memref)
{
    MlirAttribute space = mlirMemRefTypeGetMemorySpace(memref);
    if (mlirAttributeIsNull(space)) return 0;
    if (mlirAttributeIsAInteger(space)) {
        int64_t number = mlirIntegerAttrGetValueInt(space);
        return number == 0 || number == 1 || number == 3 ? (int)number : -1;
    }
    cute_buffer text = {0};
    mlirAttributePrint(space, cute_print_to_buffer, &text);
    const char *name = cute_buffer_text(&text);
    int number = strstr(name, "workgroup") ? 3 : strstr(name, "global") ? 1 : -1;
    cute_buffer_release(&text);
    return number;
}

/* The descriptor type of convert-gpu-to-nvvm, so that the casts cancel. */
static MlirType descriptor_type(MlirContext context, int64_t rank, int space)
{
    cute_buffer text = {0};
    cute_buffer_printf(&text, "!llvm.struct<(ptr<%d>, ptr<%d>, i64", space, space);
    if (rank > 0) cute_buffer_printf(&text, ", array<%d x i64>, array<%d x i64>", (int)rank, (int)rank);
    cute_buffer_puts(&text, ")>");
    MlirType type = mlirTypeParseGet(context, cute_text(cute_buffer_text(&text)));
    cute_buffer_release(&text);
    return type;
}

enum { ALIGNED = 1, OFFSET, SIZES, STRIDES }; /* fields of a descriptor */

/* The address of an element; `first` is the operand with the first index. */
static MlirValue element_pointer(const cute_builder *b, MlirOperation op, MlirValue memref, intptr_t first,
                                 MlirType element, int space)
{
    int64_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref));
    MlirType i64 = mlirIntegerTypeGet(b->context, 64),
             pointer = mlirLLVMPointerTypeGet(b->context, (unsigned)space);
    MlirValue descriptor =
        cute_unary(b, "builtin.unrealized_conversion_cast", memref, descriptor_type(b->context, rank, space));
    MlirValue at = cute_extract_field(b, descriptor, OFFSET, -1, i64);
    for (int64_t i = 0; i < rank; i++) {
        MlirValue index = cute_unary(b, "arith.index_cast", mlirOperationGetOperand(op, first + i), i64);
        MlirValue stride = cute_extract_field(b, descriptor, STRIDES, i, i64);
        at = cute_binary(b, "arith.addi", at, cute_binary(b, "arith.muli", index, stride));
    }
    MlirValue base = cute_extract_field(b, descriptor, ALIGNED, -1, pointer);
    int32_t dynamic = INT32_MIN;
    return cute_build_value(b, "llvm.getelementptr", pointer, CUTE_OPERANDS(base, at),
                            CUTE_NAMED(cute_attribute(b->context, "rawConstantIndices",
                                                      mlirDenseI32ArrayGet(b->context, 1, &dynamic)),
                                       cute_attribute(b->context, "elem_type", mlirTypeAttrGet(element))));
}

/* ---- operations ---- */

/* By arith's AtomicRMWKind, which LLVM 22 orders alphabetically. */
static const cute_atomic_kind kinds[] = {
#if LLVM_VERSION_MAJOR >= 22
    CUTE_ATOMIC_FADD,     CUTE_ATOMIC_ADD,  CUTE_ATOMIC_AND, CUTE_ATOMIC_EXCHANGE,
    CUTE_ATOMIC_FMAXIMUM, CUTE_ATOMIC_FMAX, CUTE_ATOMIC_MAX, CUTE_ATOMIC_UMAX,
    CUTE_ATOMIC_FMINIMUM, CUTE_ATOMIC_FMIN, CUTE_ATOMIC_MIN, CUTE_ATOMIC_UMIN,
    CUTE_ATOMIC_FMUL,     CUTE_ATOMIC_MUL,  CUTE_ATOMIC_OR,  CUTE_ATOMIC_XOR,
#else
    CUTE_ATOMIC_FADD, CUTE_ATOMIC_ADD,      CUTE_ATOMIC_EXCHANGE, CUTE_ATOMIC_FMAXIMUM, CUTE_ATOMIC_MAX,
    CUTE_ATOMIC_UMAX, CUTE_ATOMIC_FMINIMUM, CUTE_ATOMIC_MIN,      CUTE_ATOMIC_UMIN,     CUTE_ATOMIC_FMUL,
    CUTE_ATOMIC_MUL,  CUTE_ATOMIC_OR,       CUTE_ATOMIC_AND,      CUTE_ATOMIC_FMAX,     CUTE_ATOMIC_FMIN,
#endif
};

/* Lets LLVM select the instruction: it may infer the address space of generic pointers. */
static MlirValue build_native_update(const cute_builder *b, MlirValue pointer, cute_atomic_kind kind,
                                     MlirValue value)
{
    MlirType i64 = mlirIntegerTypeGet(b->context, 64);
    enum { MONOTONIC = 2 };
    return cute_build_value(
        b, "llvm.atomicrmw", mlirValueGetType(value), CUTE_OPERANDS(pointer, value),
        CUTE_NAMED(cute_attribute(b->context, "bin_op", mlirIntegerAttrGet(i64, kind)),
                   cute_attribute(b->context, "ordering", mlirIntegerAttrGet(i64, MONOTONIC)),
                   cute_attribute(b->context, "syncscope", cute_string_attribute(b->context, "device"))));
}

/* Moves the body of a generic_atomic_rmw to the computation of the new value. */
static MlirValue inline_body(const cute_builder *b, MlirValue old, void *context)
{
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(*(MlirOperation *)context, 0));
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, 0), old);
    MlirOperation end = mlirBlockGetTerminator(body);
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
         op = mlirBlockGetFirstOperation(body)) {
        mlirOperationRemoveFromParent(op);
        mlirBlockAppendOwnedOperation(b->block, op);
    }
    return mlirOperationGetOperand(end, 0);
}

static void refuse_update(MlirOperation op, const cute_device_work *w, const char *message)
{
    cute_emit_error(mlirOperationGetLocation(op), message);
    cute_pass_fail(w->pass);
}

static void lower_atomic_op(MlirOperation op, void *context)
{
    cute_device_work *w = context;
    bool generic = cute_op_is(op, "memref.generic_atomic_rmw");
    if (!generic && !cute_op_is(op, "memref.atomic_rmw")) return;
    MlirValue memref = mlirOperationGetOperand(op, generic ? 0 : 1), result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result);
    cute_builder b = cute_builder_before(op);
    w->changed = true;
    int space = address_space(mlirValueGetType(memref));
    if (space < 0) {
        refuse_update(op, w, "expected a memref in global or workgroup memory for an atomic update");
        return;
    }
    if (!cute_atomic_type(op, type, 16)) {
        cute_pass_fail(w->pass);
        return;
    }
    cute_atomic atomic = {.order = CUTE_ORDER_RELAXED, .scope = "gpu", .arch = w->arch};
    MlirValue pointer = element_pointer(&b, op, memref, generic ? 1 : 2, type, space), old;
    if (generic) {
        old = cute_atomic_loop(&b, atomic, pointer, type, inline_body, &op);
    } else {
        cute_atomic_kind kind =
            kinds[mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("kind")))];
        MlirValue value = mlirOperationGetOperand(op, 0);
        old = cute_atomic_is_native(kind, type) ? build_native_update(&b, pointer, kind, value)
                                                : cute_atomic_update(&b, atomic, pointer, kind, value);
    }
    mlirValueReplaceAllUsesOfWith(result, old);
    mlirOperationDestroy(op);
}

static void run_lower_atomics(MlirOperation root, cute_pass_run *pass)
{
    /* Inner operations first: a body may contain another one. */
    cute_lower_each(root, pass, "memref.", CUTE_WALK_INNER_FIRST, lower_atomic_op);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
};

const cute_pass cute_pass_lower_atomics = {
    .name = "cute-lower-atomics",
    .help = "Lower atomic updates of memrefs to instructions or compare-and-swap loops",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM | CUTE_DIALECT_SCF,
    .run = run_lower_atomics,
};
