/* See retype.h. */
#include "lib/passes/tensors/retype.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/ops.h"

enum { MOST_DEPTH = 1000 };

static bool retype_users(MlirValue value, MlirOperation *stuck, int depth);

/* All attributes including properties. */
static MlirAttribute attribute_dictionary(MlirOperation op)
{
    intptr_t count = mlirOperationGetNumAttributes(op);
    MlirNamedAttribute *list = calloc((size_t)count + 1, sizeof *list);
    if (!list) return (MlirAttribute){NULL};
    for (intptr_t i = 0; i < count; i++) list[i] = mlirOperationGetAttribute(op, i);
    MlirAttribute out = mlirDictionaryAttrGet(mlirOperationGetContext(op), count, list);
    free(list);
    return out;
}

/* Infers the result types again. */
static bool infer_results(const cute_op_row *row, MlirOperation op, cute_op_types *types)
{
    intptr_t count = mlirOperationGetNumOperands(op);
    MlirValue *operands = calloc((size_t)count + 1, sizeof *operands);
    if (!operands) return false;
    for (intptr_t i = 0; i < count; i++) operands[i] = mlirOperationGetOperand(op, i);
    cute_op_query query = {.context = mlirOperationGetContext(op),
                           .location = mlirOperationGetLocation(op),
                           .operand_count = count,
                           .operands = operands,
                           .attributes = attribute_dictionary(op)};
    bool ok = row->infer(row, &query, types) && types->count == mlirOperationGetNumResults(op);
    free(operands);
    return ok;
}

/* A tensor or pointer, whose type has a memory space and layout. */
static bool is_place(MlirType type)
{
    const cute_value *v = cute_type_peek(type);
    return v && v->pointer && v->pointer->space != CUTE_SPACE_RMEM;
}

static bool follow_user(MlirOperation op, MlirOperation *stuck, int depth)
{
    const cute_op_row *row = cute_op_row_of(op);
    intptr_t results = mlirOperationGetNumResults(op);
    *stuck = op;
    /* Accesses keep their types; nothing is known of other dialects' operations. */
    if (!row || cute_op_is(op, "cute.recast_iter") || cute_op_is(op, "cute.ptrtoint") ||
        cute_op_of(op, "cute.ptr."))
        return false;
    if (!row->infer) {
        for (intptr_t i = 0; i < results; i++)
            if (is_place(mlirValueGetType(mlirOperationGetResult(op, i)))) return false;
        return true;
    }
    cute_op_types types = {0};
    bool ok = infer_results(row, op, &types);
    for (intptr_t i = 0; ok && i < results; i++) {
        MlirValue result = mlirOperationGetResult(op, i);
        if (mlirTypeEqual(mlirValueGetType(result), types.items[i])) continue;
        mlirValueSetType(result, types.items[i]);
        ok = retype_users(result, stuck, depth + 1);
    }
    free(types.items);
    return ok;
}

static bool retype_users(MlirValue value, MlirOperation *stuck, int depth)
{
    if (depth > MOST_DEPTH) return false;
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (!follow_user(mlirOpOperandGetOwner(use), stuck, depth)) return false;
    return true;
}

bool cute_retype(MlirValue value, MlirType type, MlirOperation *stuck)
{
    mlirValueSetType(value, type);
    return retype_users(value, stuck, 0);
}
