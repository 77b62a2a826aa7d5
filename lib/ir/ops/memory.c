/* What reads and writes tensors: the types of elements and vectors follow from the tensor's. */
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/checked.h"
#include "lib/ir/ops/address.h"
#include "lib/ir/ops/algebra.h"
#include "lib/ir/spellings.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"

/* ---- what a tensor has ---- */

/* How many elements; -1 where an extent is not known, or they are too many. */
static int64_t count_of(const cute_tree *shape)
{
    if (shape->kind == CUTE_TREE_INT) return shape->value.known ? shape->value.value : -1;
    if (shape->kind != CUTE_TREE_TUPLE) return -1;
    int64_t all = 1;
    for (uint32_t i = 0; i < shape->count; i++) {
        int64_t one = count_of(shape->items[i]);
        if (one < 0 || !cute_mul64(all, one, &all)) return -1;
    }
    return all;
}

/* Null for a type that the program cannot have. */
static MlirType element_of(MlirContext context, const cute_value *tensor)
{
    const char *name = tensor->pointer->element, *other = cute_spelling_of_element(name);
    return cute_element_type(context, other ? other : name);
}

/* The tensor that is operand `index` of an operation; NULL: it is none, which the definition refuses. */
static const cute_value *tensor_at(const MlirValue *operands, intptr_t count, intptr_t index)
{
    const cute_value *value = index < count ? cute_type_peek(mlirValueGetType(operands[index])) : NULL;
    return value && value->type == CUTE_MEMREF ? value : NULL;
}

/* ---- inference ---- */

static bool infer_load(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *tensor = tensor_at(query->operands, query->operand_count, 0);
    if (!tensor) return true;
    MlirType element = element_of(query->context, tensor);
    if (mlirTypeIsNull(element))
        return cute_op_fail(query->location, row->name,
                            "expected elements of a type that programs have, got %s",
                            tensor->pointer->element);
    cute_op_types_add(out, element);
    return true;
}

static MlirType vector_of(MlirContext context, const cute_value *tensor)
{
    MlirType element = element_of(context, tensor);
    int64_t count = count_of(tensor->layout.shape);
    return mlirTypeIsNull(element) || count < 1 ? (MlirType){NULL} : mlirVectorTypeGet(1, &count, element);
}

static bool infer_vector(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *tensor = tensor_at(query->operands, query->operand_count, 0);
    if (!tensor) return true;
    MlirType vector = vector_of(query->context, tensor);
    if (mlirTypeIsNull(vector))
        return cute_op_fail(query->location, row->name, "expected a tensor of known extents");
    cute_op_types_add(out, vector);
    return true;
}

static const cute_op_row rows[] = {
    {.name = "cute.memref.alloca"},
    {.name = "cute.memref.load", .infer = infer_load},
    {.name = "cute.memref.store"},
    {.name = "cute.memref.load_vec", .infer = infer_vector},
    {.name = "cute.memref.store_vec"},
    {.name = "cute.fill"},
    {.name = "cute.copy"},
    {.name = "cute.copy_atom_call"},
    {.name = "cute.prefetch"},
    {.name = "cute.gemm"},
    {.name = "cute.mma_atom_call"},
    {.name = "cute.ptr.load"},
    {.name = "cute.ptr.store"},
};
const cute_op_family cute_family_memory = {rows, sizeof rows / sizeof *rows};
