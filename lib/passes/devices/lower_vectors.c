/* cute-lower-vectors: lowers operations of vector that convert-vector-to-llvm does not.
 *
 * Requires: kernels in gpu.modules. Ensures there: no vector.multi_reduction, no vector.scan, no
 * vector.contract of a kind other than add, no vector.mask around a transfer, no vector.extract or insert of
 * a scalar at a position of several numbers that are not all known, and no vector.from_elements of rank 2
 * and more.
 *
 *     %r = vector.extract %v[%i, 1] : f32 from vector<2x4xf32>
 * ->
 *     %0 = vector.shape_cast %v : vector<2x4xf32> to vector<8xf32>
 *     %r = vector.extract %0[%i * 4 + 1] : f32 from vector<8xf32>
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

/* Linear index of an element, from a position whose unknown parts are operands starting at `first`; null
 * unless it is the position of a scalar in a vector of rank 2 and more with an unknown part. */
static MlirValue element_number(const cute_builder *b, MlirOperation op, MlirType vector, intptr_t first)
{
    MlirAttribute position = mlirOperationGetAttributeByName(op, cute_text("static_position"));
    int64_t rank = mlirShapedTypeGetRank(vector);
    bool scalar = mlirDenseArrayGetNumElements(position) == rank;
    if (!scalar || rank < 2 || first == mlirOperationGetNumOperands(op)) return (MlirValue){NULL};
    MlirType index = mlirIndexTypeGet(b->context);
    MlirValue number = cute_integer(b, index, 0);
    for (int64_t i = 0; i < rank; i++) {
        int64_t known = mlirDenseI64ArrayGetElement(position, i);
        MlirValue part =
            known == INT64_MIN ? mlirOperationGetOperand(op, first++) : cute_integer(b, index, known);
        MlirValue scaled =
            cute_binary(b, "arith.muli", number, cute_integer(b, index, mlirShapedTypeGetDimSize(vector, i)));
        number = cute_binary(b, "arith.addi", scaled, part);
    }
    return number;
}

static MlirNamedAttribute unknown_position(const cute_builder *b)
{
    int64_t unknown = INT64_MIN;
    return cute_attribute(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &unknown));
}

static void lower_extract(MlirOperation op)
{
    cute_builder b = cute_builder_before(op);
    MlirValue vector = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(vector);
    MlirValue number = element_number(&b, op, type, 1);
    if (mlirValueIsNull(number)) return;
    MlirValue flat = cute_unary(&b, "vector.shape_cast", vector, cute_vector_flat(type));
    mlirValueReplaceAllUsesOfWith(result, cute_build_value(&b, "vector.extract", mlirValueGetType(result),
                                                           CUTE_OPERANDS(flat, number),
                                                           CUTE_NAMED(unknown_position(&b))));
    mlirOperationDestroy(op);
}

static void lower_insert(MlirOperation op)
{
    cute_builder b = cute_builder_before(op);
    MlirValue vector = mlirOperationGetOperand(op, 1);
    MlirType type = mlirValueGetType(vector), flat_type = cute_vector_flat(type);
    MlirValue number = element_number(&b, op, type, 2);
    if (mlirValueIsNull(number)) return;
    MlirValue flat = cute_unary(&b, "vector.shape_cast", vector, flat_type);
    flat = cute_build_value(&b, "vector.insert", flat_type,
                            CUTE_OPERANDS(mlirOperationGetOperand(op, 0), flat, number),
                            CUTE_NAMED(unknown_position(&b)));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                  cute_unary(&b, "vector.shape_cast", flat, type));
    mlirOperationDestroy(op);
}

static void lower_from_elements(MlirOperation op)
{
    MlirValue result = mlirOperationGetResult(op, 0), elements[64];
    MlirType type = mlirValueGetType(result);
    intptr_t count = mlirOperationGetNumOperands(op);
    if (mlirShapedTypeGetRank(type) < 2 || count > (intptr_t)(sizeof elements / sizeof *elements)) return;
    cute_builder b = cute_builder_before(op);
    for (intptr_t i = 0; i < count; i++) elements[i] = mlirOperationGetOperand(op, i);
    MlirValue flat = cute_build_value(&b, "vector.from_elements", cute_vector_flat(type),
                                      (cute_operands){elements, count}, CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(result, cute_unary(&b, "vector.shape_cast", flat, type));
    mlirOperationDestroy(op);
}

static const struct {
    const char *name;
    void (*lower)(MlirOperation op);
} rows[] = {
    {"vector.extract", lower_extract},
    {"vector.from_elements", lower_from_elements},
    {"vector.insert", lower_insert},
};

typedef struct work {
    cute_pass_run *pass;
    bool changed;
    bool patterns; /* cute_lower_vectors has something to do */
} work;

/* convert-vector-to-llvm accepts only sums of products. */
static bool is_other_contraction(MlirOperation op)
{
    if (!cute_op_is(op, "vector.contract")) return false;
    MlirAttribute kind = mlirOperationGetAttributeByName(op, cute_text("kind"));
    cute_buffer text = {0};
    if (!mlirAttributeIsNull(kind)) mlirAttributePrint(kind, cute_print_to_buffer, &text);
    bool other = text.length && !strstr(cute_buffer_text(&text), "<add>");
    cute_buffer_release(&text);
    return other;
}

static void lower_vector_op(MlirOperation op, void *context)
{
    static const char *const upstream[] = {"vector.mask", "vector.multi_reduction", "vector.scan"};
    work *w = context;
    for (size_t i = 0; i < sizeof upstream / sizeof *upstream; i++)
        w->patterns |= cute_op_is(op, upstream[i]);
    w->patterns |= is_other_contraction(op);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cute_op_is(op, rows[i].name)) continue;
        rows[i].lower(op);
        w->changed = true;
        return;
    }
}

static void lower_vector_module(MlirOperation op, void *context)
{
    work *w = context;
    w->patterns = false;
    cute_op_each(op, "vector.", lower_vector_op, w);
    if (!w->patterns) return;
    w->changed = true;
    if (!cute_lower_vectors(op)) cute_pass_fail(w->pass);
}

static void run_lower_vectors(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_each(root, "gpu.module", lower_vector_module, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_lower_vectors = {
    .name = "cute-lower-vectors",
    .help = "Lower operations of vector that convert-vector-to-llvm does not",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_VECTOR,
    .run = run_lower_vectors,
};
