/* See kernel_offsets.h. An operation uses 32-bit offsets where its tensor's type does not prove them
 * sufficient (lib/layout/width.h). The assumption extends to the whole tensor: a tile of `?:1` is part of
 * a vector that must have fewer than 2^31 elements. */
#include "lib/passes/host/kernel_offsets.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/layout/width.h"
#include "lib/passes/host/describe.h"

typedef struct search {
    MlirOperation kernel;
    MlirBlock entry;
    const cute_pass_run *pass;
    int64_t *below; /* by argument: exclusive limit of its offsets in elements; 0: no assumption */
    intptr_t count;
} search;

/* Operations that compute the offset of an element or a part. */
static const char *const indexing[] = {
    "cute.slice",
    "cute.local_tile",
    "cute.local_partition",
    "cute.tiled.copy.partition_S",
    "cute.tiled.copy.partition_D",
    "cute.tiled.mma.partition",
    "cute.memref.load",
    "cute.memref.store",
    "cute.memref.load_vec",
    "cute.memref.store_vec",
    "cute.fill",
    "cute.copy",
    "cute.copy_atom_call",
    "cute.prefetch",
    "cute.gemm",
    "cute.mma_atom_call",
    "cute.crd2idx",
    "cute.layout_eval",
};

static bool is_indexing(MlirOperation op)
{
    for (size_t i = 0; i < sizeof indexing / sizeof *indexing; i++)
        if (cute_op_is(op, indexing[i])) return true;
    return false;
}

/* The tensor type of a value in a memory space that can exceed 32-bit offsets. */
static const cute_value *tensor_of(MlirValue value)
{
    const cute_value *v = cute_type_peek(mlirValueGetType(value));
    bool large = v && v->type == CUTE_MEMREF &&
                 (v->pointer->space == CUTE_SPACE_GMEM || v->pointer->space == CUTE_SPACE_GENERIC);
    return large ? v : NULL;
}

/* The tensor that has `value` as its layout, or null. */
static MlirValue of_layout(MlirValue value)
{
    MlirOperation made = cute_defining_op(value);
    if (mlirOperationIsNull(made) || !cute_op_is(made, "cute.get_layout")) return (MlirValue){NULL};
    return mlirOperationGetOperand(made, 0);
}

/* The tensor that this one is a part of; null: it is a whole tensor. */
static MlirValue whole_of(MlirValue value)
{
    if (mlirValueIsABlockArgument(value)) { /* initial value of a loop argument */
        MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
        intptr_t number = mlirBlockArgumentGetArgNumber(value);
        bool carried = cute_op_is(loop, "scf.for") && number > 0;
        return carried ? mlirOperationGetOperand(loop, number + 2) : (MlirValue){NULL};
    }
    MlirOperation made = cute_defining_op(value);
    if (cute_op_is(made, "cute.make_view")) return of_layout(mlirOperationGetOperand(made, 1));
    for (intptr_t i = 0; cute_op_of(made, "cute.") && i < mlirOperationGetNumOperands(made); i++)
        if (tensor_of(mlirOperationGetOperand(made, i))) return mlirOperationGetOperand(made, i);
    return (MlirValue){NULL};
}

static intptr_t argument_index(const search *s, MlirValue value)
{
    if (!mlirValueIsABlockArgument(value) || !mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->entry))
        return -1;
    intptr_t number = mlirBlockArgumentGetArgNumber(value);
    return number < s->count ? number : -1;
}

static void note_reliance(search *s, MlirOperation op, MlirValue value)
{
    const cute_value *part = tensor_of(value), *whole;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    MlirValue next;
    int64_t below = (int64_t)INT32_MAX + 1;
    if (!part || !cute_index_is_assumed(part, (uint64_t)below, NULL, 0)) return;
    while (next = whole_of(value), !mlirValueIsNull(next) && tensor_of(next)) value = next;
    whole = tensor_of(value);
    /* In elements of the whole tensor, whose element type may differ. */
    if (part->pointer->bits && whole->pointer->bits)
        below = below * part->pointer->bits / whole->pointer->bits;
    if (!cute_index_is_assumed(whole, (uint64_t)below, NULL, 0)) return;
    intptr_t argument = argument_index(s, value);
    if (argument >= 0) {
        MlirStringRef called = cute_argument_name(s->kernel, argument);
        if (!s->below[argument] || below < s->below[argument]) s->below[argument] = below;
        cute_pass_remark(
            s->pass, mlirOperationGetLocation(op),
            "'%.*s' computes 32-bit offsets of '%.*s', so launches that exceed them are rejected; expected "
            "?{i64} strides, or ?{i64} extents if the strides are known, for larger tensors",
            (int)name.length, name.data, (int)called.length, called.data);
    } else {
        cute_pass_remark(s->pass, mlirOperationGetLocation(op),
                         "'%.*s' computes 32-bit offsets of a tensor that is not a kernel argument, and "
                         "their range is not checked; expected 64-bit strides or extents for larger tensors",
                         (int)name.length, name.data);
    }
}

static void check_indexing(MlirOperation op, void *context)
{
    if (!is_indexing(op)) return;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue value = mlirOperationGetOperand(op, i), tensor = of_layout(value);
        note_reliance(context, op, mlirValueIsNull(tensor) ? value : tensor);
    }
}

/* The leaves whose (extent - 1) * |stride| are summed, and the limit of the sum. */
static MlirAttribute describe_offsets(MlirContext context, const cute_value *tensor, int64_t below)
{
    bool narrow[CUTE_MAX_DEPTH];
    int64_t leaves[CUTE_MAX_DEPTH];
    intptr_t count = 0;
    if (!cute_index_is_assumed(tensor, (uint64_t)below, narrow, CUTE_MAX_DEPTH)) return (MlirAttribute){NULL};
    for (uint32_t i = 0; i < tensor->layout.shape->leaves; i++)
        if (narrow[i]) leaves[count++] = i;
    cute_dict d = {.context = context};
    cute_dict_put(&d, "leaves", cute_int_array(context, leaves, count, INT64_MIN));
    cute_dict_int(&d, "below", below);
    return cute_dict_finish(&d);
}

/* `dictionary` with an additional item. */
static MlirAttribute dict_with(MlirContext context, MlirAttribute dictionary, const char *name,
                               MlirAttribute value)
{
    cute_dict d = {.context = context};
    intptr_t count = mlirDictionaryAttrGetNumElements(dictionary);
    if (count >= (intptr_t)(sizeof d.items / sizeof *d.items)) return dictionary;
    for (; d.count < count; d.count++) d.items[d.count] = mlirDictionaryAttrGetElement(dictionary, d.count);
    cute_dict_put(&d, name, value);
    return cute_dict_finish(&d);
}

MlirAttribute cute_describe_offsets(MlirOperation kernel, const cute_pass_run *pass, MlirAttribute args)
{
    MlirContext context = mlirOperationGetContext(kernel);
    search s = {.kernel = kernel, .pass = pass, .count = mlirArrayAttrGetNumElements(args)};
    s.entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    s.below = calloc((size_t)s.count + 1, sizeof *s.below);
    MlirAttribute *items = calloc((size_t)s.count + 1, sizeof *items);
    if (s.below && items) {
        cute_op_each(kernel, "cute.", check_indexing, &s);
        for (intptr_t i = 0; i < s.count; i++) {
            items[i] = mlirArrayAttrGetElement(args, i);
            const cute_value *tensor = s.below[i] ? tensor_of(mlirBlockGetArgument(s.entry, i)) : NULL;
            MlirAttribute said =
                tensor ? describe_offsets(context, tensor, s.below[i]) : (MlirAttribute){NULL};
            if (!mlirAttributeIsNull(said)) items[i] = dict_with(context, items[i], "offsets", said);
        }
        args = mlirArrayAttrGet(context, s.count, items);
    }
    free(items);
    free(s.below);
    return args;
}
