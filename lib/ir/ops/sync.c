/* mbarriers, pipelines, groups of asynchronous operations, clusters: inference and verification. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/atoms/validate.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"

/* ---- fixed result types ---- */

static bool infer_i1(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    cute_op_types_add(out, mlirIntegerTypeGet(query->context, 1));
    return true;
}

static void add_i32_types(const cute_op_query *query, cute_op_types *out, int count)
{
    for (int i = 0; i < count; i++) cute_op_types_add(out, mlirIntegerTypeGet(query->context, 32));
}

static bool infer_i32(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    add_i32_types(query, out, 1);
    return true;
}

static bool infer_pipeline_state(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    add_i32_types(query, out, 2);
    return true;
}

static bool infer_xyz(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    add_i32_types(query, out, 3);
    return true;
}

static bool infer_i64(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    cute_op_types_add(out, mlirIntegerTypeGet(query->context, 64));
    return true;
}

/* ---- mbarriers ---- */

static bool check_barrier(const cute_check *c, intptr_t operand)
{
    char what[32];
    snprintf(what, sizeof what, "operand #%d", (int)operand);
    const cute_pointer *p = cute_check_operand(c, operand)->pointer;
    if (!cute_check_space(c, what, p, CUTE_SPACE_SMEM)) return false;
    if (p->bits != 64)
        return cute_check_fail(c, "expects %s to be an mbarrier, a pointer to i64, but got a pointer to '%s'",
                               what, p->element);
    if (p->align < 8)
        return cute_check_fail(c, "expects %s to be aligned to 8 bytes, but got %d", what, (int)p->align);
    if (!p->swizzle.bits) return true;
    return cute_check_fail(c, "expects %s to be a pointer without a swizzle", what);
}

static bool verify_barrier(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return check_barrier(&c, 0);
}

static bool verify_conditional(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return check_barrier(&c, 1);
}

enum { MAX_ARRIVALS = (1 << 20) - 1 };

static bool verify_arrive(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    if (!check_barrier(&c, 0)) return false;
    MlirAttribute count = mlirOperationGetAttributeByName(op, cute_text("count"));
    if (mlirAttributeIsNull(count)) return true;
    int64_t value = mlirIntegerAttrGetValueInt(count);
    if (value >= 1 && value <= MAX_ARRIVALS) return true;
    return cute_check_fail(&c, "expects a count from 1 to %d, but got %d", MAX_ARRIVALS, (int)value);
}

/* ---- fences, registers ---- */

static bool verify_tensormap(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirStringRef order = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("order")));
    bool acquires = cute_text_is(order, "acquire");
    if (acquires == (mlirOperationGetNumOperands(op) == 1)) return true;
    return cute_check_fail(&c, acquires ? "expects the address of the tensor map to acquire"
                                        : "expects no address with order 'release'");
}

/* PTX ISA, "tensormap.cp_fenceproxy": from shared to global memory, both aligned to 128 bytes. */
static bool verify_release(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    static const cute_space spaces[] = {CUTE_SPACE_GMEM, CUTE_SPACE_SMEM};
    for (int i = 0; i < 2; i++) {
        const char *what = i ? "operand #1" : "operand #0";
        const cute_pointer *p = cute_check_operand(&c, i)->pointer;
        if (!cute_check_space(&c, what, p, spaces[i])) return false;
        if (p->align % 128)
            return cute_check_fail(&c, "expects %s to be aligned to 128 bytes, but got %lld", what,
                                   (long long)p->align);
    }
    return true;
}

/* PTX ISA, "setmaxnreg" */
static bool verify_setmaxnreg(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    int64_t count = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("registers")));
    if (count >= 24 && count <= 256 && count % 8 == 0) return true;
    return cute_check_fail(&c, "expects a multiple of 8 from 24 to 256 registers, but got %d", (int)count);
}

/* ---- shared memory of other blocks ---- */

static bool infer_dsmem(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *value =
        query->operand_count > 0 ? cute_type_peek(mlirValueGetType(query->operands[0])) : NULL;
    if (!value || value->type != CUTE_PTR)
        return cute_op_fail(query->location, row->name, "expects a pointer to shared memory");
    if (value->pointer->space != CUTE_SPACE_SMEM)
        return cute_op_fail(query->location, row->name,
                            "expects operand #0 to be in memory space 'smem', but got '%s'",
                            cute_space_name(value->pointer->space));
    if (value->pointer->swizzle.bits)
        return cute_op_fail(query->location, row->name, "expects a pointer without a swizzle");
    cute_pointer pointer = *value->pointer;
    cute_value there = *value;
    pointer.space = CUTE_SPACE_DSMEM;
    there.pointer = &pointer;
    cute_arena *arena = cute_arena_create();
    if (arena) cute_op_types_add(out, cute_type_of_value(query->context, arena, &there));
    cute_arena_destroy(arena);
    return arena != NULL;
}

static bool verify_dsmem(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_pointer *from = cute_check_operand(&c, 0)->pointer, *to = cute_check_result(&c, 0)->pointer;
    if (!cute_check_space(&c, "operand #0", from, CUTE_SPACE_SMEM) ||
        !cute_check_space(&c, "result", to, CUTE_SPACE_DSMEM) ||
        !cute_check_element(&c, "result", to->element, from->element) ||
        !cute_check_align(&c, "result", to, from->align))
        return false;
    if (!from->swizzle.bits && !to->swizzle.bits) return true;
    return cute_check_fail(&c, "expects a pointer without a swizzle");
}

static bool verify_st_async(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0)), element = type;
    const cute_pointer *p = cute_check_operand(&c, 1)->pointer;
    int64_t count = 1;
    if (mlirTypeIsAVector(type)) {
        element = mlirShapedTypeGetElementType(type);
        count = mlirShapedTypeGetDimSize(type, 0);
    }
    if (!cute_check_space(&c, "operand #1", p, CUTE_SPACE_SMEM) ||
        !cute_check_value(&c, "operand #0", element, p) || !check_barrier(&c, 2))
        return false;
    if (p->swizzle.bits) return cute_check_fail(&c, "expects operand #1 to be a pointer without a swizzle");
    int64_t bytes = count * p->bits / 8;
    if (p->align >= bytes) return true;
    return cute_check_fail(&c, "expects operand #1 to be aligned to %d bytes, but got %d", (int)bytes,
                           (int)p->align);
}

/* ---- warpgroup_mma ---- */

enum { OPERAND_MMA, OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_BARRIER }; /* operands */

static bool infer_warpgroup_mma(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    if (query->operand_count <= OPERAND_C)
        return cute_op_fail(query->location, row->name, "expects A, B and C");
    cute_op_types_add(out, mlirValueGetType(query->operands[OPERAND_C]));
    return true;
}

static bool verify_warpgroup_mma(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *mma = cute_check_operand(&c, OPERAND_MMA), *sum = cute_check_operand(&c, OPERAND_C);
    if (mma->atom->known && !mma->atom->wgmma)
        return cute_check_fail(&c, "expects a wgmma atom, but got '%s'", mma->atom->mnemonic);
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(op, OPERAND_C)),
                       mlirValueGetType(mlirOperationGetResult(op, 0))))
        return cute_check_fail(&c, "expects D to have the type of C");
    if (mlirOperationGetNumOperands(op) > OPERAND_BARRIER && !check_barrier(&c, OPERAND_BARRIER))
        return false;
    const cute_value *a = cute_check_operand(&c, OPERAND_A), *b = cute_check_operand(&c, OPERAND_B);
    if (!a || !b || !sum) return true;
    const cute_value operands[4] = {*sum, *a, *b, *sum};
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    bool ok = cute_gemm_verify(arena, mma, operands, diag) == CUTE_OK;
    if (!ok)
        cute_check_fail(&c, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "out of memory");
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static const cute_op_row rows[] = {
    {.name = "cute_nvgpu.arch.mbarrier_init", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_inval", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_init_fence"},
    {.name = "cute_nvgpu.arch.mbarrier_arrive", .verify = verify_arrive},
    {.name = "cute_nvgpu.arch.mbarrier_expect_tx", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_arrive_and_expect_tx", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_complete_tx", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_wait", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_try_wait", .infer = infer_i1, .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_test_wait", .infer = infer_i1, .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.mbarrier_conditional_try_wait",
     .infer = infer_i1,
     .verify = verify_conditional},
    {.name = "cute_nvgpu.arch.cp_async_mbarrier_arrive", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.cp_async_mbarrier_arrive_noinc", .verify = verify_barrier},
    {.name = "cute_nvgpu.arch.pipeline_start", .infer = infer_pipeline_state},
    {.name = "cute_nvgpu.arch.pipeline_advance", .infer = infer_pipeline_state},
    {.name = "cute_nvgpu.arch.pipeline_index_of", .infer = infer_pipeline_state},
    {.name = "cute_nvgpu.arch.cp_async_bulk_commit_group"},
    {.name = "cute_nvgpu.arch.cp_async_bulk_wait_group"},
    {.name = "cute_nvgpu.arch.wgmma_fence"},
    {.name = "cute_nvgpu.arch.wgmma_commit_group"},
    {.name = "cute_nvgpu.arch.wgmma_wait_group"},
    {.name = "cute_nvgpu.arch.warpgroup_mma", .infer = infer_warpgroup_mma, .verify = verify_warpgroup_mma},
    {.name = "cute_nvgpu.arch.fence_proxy"},
    {.name = "cute_nvgpu.arch.fence_view_async_shared"},
    {.name = "cute_nvgpu.arch.fence_proxy_tensormap", .verify = verify_tensormap},
    {.name = "cute_nvgpu.arch.cp_fence_tma_desc_release", .verify = verify_release},
    {.name = "cute_nvgpu.arch.barrier_cluster"},
    {.name = "cute_nvgpu.arch.block_in_cluster_idx", .infer = infer_xyz},
    {.name = "cute_nvgpu.arch.block_in_cluster_dim", .infer = infer_xyz},
    {.name = "cute_nvgpu.arch.cluster_idx", .infer = infer_xyz},
    {.name = "cute_nvgpu.arch.cluster_dim", .infer = infer_xyz},
    {.name = "cute_nvgpu.arch.block_idx_in_cluster", .infer = infer_i32},
    {.name = "cute_nvgpu.arch.cluster_size", .infer = infer_i32},
    {.name = "cute_nvgpu.arch.sm_id", .infer = infer_i32},
    {.name = "cute_nvgpu.arch.clock", .infer = infer_i64},
    {.name = "cute_nvgpu.arch.globaltimer", .infer = infer_i64},
    {.name = "cute_nvgpu.arch.map_dsmem_ptr", .infer = infer_dsmem, .verify = verify_dsmem},
    {.name = "cute_nvgpu.arch.st_async", .verify = verify_st_async},
    {.name = "cute_nvgpu.arch.griddepcontrol_wait"},
    {.name = "cute_nvgpu.arch.griddepcontrol_launch_dependents"},
    {.name = "cute_nvgpu.arch.elect_one", .infer = infer_i1},
    {.name = "cute_nvgpu.arch.setmaxregister_increase", .verify = verify_setmaxnreg},
    {.name = "cute_nvgpu.arch.setmaxregister_decrease", .verify = verify_setmaxnreg},
};
const cute_op_family cute_family_sync = {rows, sizeof rows / sizeof *rows};
