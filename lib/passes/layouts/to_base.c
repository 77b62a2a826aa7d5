/* cute-to-base: lowers cute values to structs of their unknown integers.
 *
 * Requires: cute-expand-ops. Ensures: no operation or type of the dialect cute. A value without unknown
 * leaves is `!llvm.struct<()>`, with one it is that integer, with more a flat struct; a layout is a pair of
 * shape and stride, a tile its layouts, a composed layout B, offset and A (lib/ir/dialects/fields.c).
 *
 *     %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(4,1)">) -> !cute.layout<"(?,4):(4,1)">
 * ->
 *     %0 = ub.poison : !llvm.struct<(i32, struct<()>)>
 *     %1 = llvm.insertvalue %s, %0[0]
 *     %l = llvm.insertvalue %d, %1[1]
 *
 * Types are lowered in place, so values also cross scf, cf and calls.
 */
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/passes.h"

/* ---- types ---- */

static MlirType lower_type(MlirType type);

static MlirType lower_function(MlirType type)
{
    intptr_t inputs = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
    MlirType *types = calloc((size_t)(inputs + results) + 1, sizeof *types);
    if (!types) return type;
    for (intptr_t i = 0; i < inputs; i++) types[i] = lower_type(mlirFunctionTypeGetInput(type, i));
    for (intptr_t i = 0; i < results; i++) types[inputs + i] = lower_type(mlirFunctionTypeGetResult(type, i));
    type = mlirFunctionTypeGet(mlirTypeGetContext(type), inputs, types, results, types + inputs);
    free(types);
    return type;
}

static MlirType lower_builtin_tuple(MlirType type)
{
    intptr_t count = mlirTupleTypeGetNumTypes(type);
    MlirType *types = calloc((size_t)count + 1, sizeof *types);
    if (!types) return type;
    for (intptr_t i = 0; i < count; i++) types[i] = lower_type(mlirTupleTypeGetType(type, i));
    type = mlirTupleTypeGet(mlirTypeGetContext(type), count, types);
    free(types);
    return type;
}

/* The lowered type; `type` itself if it contains no type of the dialect. */
static MlirType lower_type(MlirType type)
{
    if (mlirTypeIsAFunction(type)) return lower_function(type);
    if (mlirTypeIsATuple(type)) return lower_builtin_tuple(type);
    const cute_type_row *row = cute_type_row_of(type);
    if (!row || !row->lower) return type;
    cute_arena *arena = cute_arena_create();
    MlirType result = arena ? row->lower(mlirTypeGetContext(type), arena, type) : type;
    cute_arena_destroy(arena);
    return mlirTypeIsNull(result) ? type : result;
}

/* ---- lowering: record operations with their values, lower all types in place, lower the operations ---- */

typedef struct job {
    const cute_op_row *row;
    cute_op_lowering lowering;
} job;

typedef struct lowering {
    cute_pass_run *pass;
    cute_arena *arena;
    job *jobs;
    size_t count, capacity;
    bool failed;
} lowering;

static void fail_lowering(lowering *l)
{
    cute_pass_fail(l->pass);
    l->failed = true;
}

/* Records the types before they are lowered, operands first. */
static void note_job(lowering *l, const cute_op_row *row, MlirOperation op)
{
    intptr_t operands = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
    MlirType *types = cute_arena_array(l->arena, (size_t)(operands + results), sizeof *types);
    if ((!types && operands + results) ||
        !cute_heap_more(&l->jobs, l->count, &l->capacity, sizeof *l->jobs, 64)) {
        fail_lowering(l);
        return;
    }
    for (intptr_t i = 0; i < operands; i++) types[i] = mlirValueGetType(mlirOperationGetOperand(op, i));
    for (intptr_t i = 0; i < results; i++)
        types[operands + i] = mlirValueGetType(mlirOperationGetResult(op, i));
    l->jobs[l->count++] = (job){row, {.op = op, .operands = types, .results = types + operands}};
}

/* Reports types without a storage type. */
static void check_storage_types(lowering *l, MlirOperation op)
{
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
        const cute_type_row *row = cute_type_row_of(type);
        if (!row || row->lower) continue;
        cute_op_fail(mlirOperationGetLocation(op), NULL, "values of type !%s.%s are not supported",
                     row->dialect, row->mnemonic);
        fail_lowering(l);
    }
}

/* A cast between a type and its storage type, which becomes a no-op. */
static bool is_cast(MlirOperation op)
{
    return cute_op_is(op, "builtin.unrealized_conversion_cast") && mlirOperationGetNumOperands(op) == 1 &&
           mlirOperationGetNumResults(op) == 1;
}

static void drop_cast(MlirOperation op, void *context)
{
    (void)context;
    if (!is_cast(op)) return;
    MlirValue value = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
    if (!mlirTypeEqual(mlirValueGetType(value), mlirValueGetType(result))) return;
    mlirValueReplaceAllUsesOfWith(result, value);
    mlirOperationDestroy(op);
}

static void record_op(MlirOperation op, void *context)
{
    lowering *l = context;
    check_storage_types(l, op);
    const cute_op_row *row = cute_op_row_of(op);
    if (row && row->lower) {
        note_job(l, row, op);
        return;
    }
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    bool arch = cute_op_of(op, "cute_nvgpu.");
    if (!arch && !cute_op_of(op, "cute.")) return;
    if (cute_op_of(op, "cute_nvgpu.host.")) return; /* cute-launch-plan handles it */
    cute_op_fail(mlirOperationGetLocation(op), cute_arena_copy(l->arena, name.data, name.length),
                 "is not lowered: run %s before cute-to-base",
                 arch ? "cute-nvgpu-to-nvgpu" : "cute-expand-ops");
    fail_lowering(l);
}

static void retype_value(MlirValue value)
{
    MlirType from = mlirValueGetType(value), to = lower_type(from);
    if (!mlirTypeEqual(from, to)) mlirValueSetType(value, to);
}

static void retype_signature(MlirOperation op)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("function_type"));
    if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAType(attribute)) return;
    MlirType from = mlirTypeAttrGetValue(attribute), to = lower_type(from);
    if (!mlirTypeEqual(from, to))
        mlirOperationSetAttributeByName(op, cute_text("function_type"), mlirTypeAttrGet(to));
}

static void retype_op(MlirOperation op, void *context)
{
    (void)context;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) retype_value(mlirOperationGetResult(op, i));
    intptr_t regions = mlirOperationGetNumRegions(op);
    for (intptr_t r = 0; r < regions; r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++)
                retype_value(mlirBlockGetArgument(b, i));
    if (regions) retype_signature(op);
}

static void run_to_base(MlirOperation root, cute_pass_run *pass)
{
    lowering l = {.pass = pass, .arena = cute_arena_create()};
    if (!l.arena) fail_lowering(&l);
    if (!l.failed) cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, record_op, &l);
    if (!l.failed) {
        cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, retype_op, NULL);
        for (size_t i = 0; i < l.count; i++)
            if (!l.jobs[i].row->lower(l.jobs[i].row, &l.jobs[i].lowering)) fail_lowering(&l);
        cute_op_walk(root, "builtin.", CUTE_WALK_INNER_FIRST, drop_cast, NULL);
    }
    free(l.jobs);
    cute_arena_destroy(l.arena);
}

const cute_pass cute_pass_to_base = {
    .name = "cute-to-base",
    .help = "Lower cute values to structs of integers",
    .dialects =
        CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM | CUTE_DIALECT_SCF,
    .run = run_to_base,
};
