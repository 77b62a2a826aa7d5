/* Warp and block communication: reductions, shuffles, votes, barriers. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"

/* The result type of a vote: i32 for `ballot`, otherwise i1. */
static MlirType type_of_vote(MlirContext context, MlirAttribute kind)
{
    return mlirIntegerTypeGet(context, cute_text_is(mlirStringAttrGetValue(kind), "ballot") ? 32 : 1);
}

static bool infer_vote(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    MlirAttribute kind = mlirDictionaryAttrGetElementByName(query->attributes, cute_text("kind"));
    if (mlirAttributeIsNull(kind) || !mlirAttributeIsAString(kind))
        return cute_op_fail(query->location, row->name, "expects kind all, any, uni or ballot");
    cute_op_types_add(out, type_of_vote(query->context, kind));
    return true;
}

static bool verify_vote(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirAttribute kind = mlirOperationGetAttributeByName(op, cute_text("kind"));
    MlirType type = type_of_vote(mlirOperationGetContext(op), kind);
    if (mlirTypeEqual(type, mlirValueGetType(mlirOperationGetResult(op, 0)))) return true;
    MlirStringRef text = mlirStringAttrGetValue(kind);
    return cute_check_fail(&c, "expects the result of '%.*s' to be an i%u, but got an i%u", (int)text.length,
                           text.data, mlirIntegerTypeGetWidth(type),
                           mlirIntegerTypeGetWidth(mlirValueGetType(mlirOperationGetResult(op, 0))));
}

static const cute_op_row rows[] = {
    {.name = "cute_nvgpu.arch.warp_all_reduce"},
    {.name = "cute_nvgpu.arch.warp_broadcast"},
    {.name = "cute_nvgpu.arch.shuffle"},
    {.name = "cute_nvgpu.arch.vote", .infer = infer_vote, .verify = verify_vote},
    {.name = "cute_nvgpu.arch.warp_sync"},
    {.name = "cute_nvgpu.arch.block_sync"},
    {.name = "cute_nvgpu.arch.named_barrier_sync"},
    {.name = "cute_nvgpu.arch.named_barrier_arrive"},
    {.name = "cute_nvgpu.arch.named_barrier_vote"},
    {.name = "cute_nvgpu.arch.cluster_arrive"},
    {.name = "cute_nvgpu.arch.cluster_wait"},
    {.name = "cute_nvgpu.arch.fence"},
    {.name = "cute_nvgpu.arch.cp_async_commit_group"},
    {.name = "cute_nvgpu.arch.cp_async_wait_group"},
};
const cute_op_family cute_family_arch = {rows, sizeof rows / sizeof *rows};
