/* See arch_sync.h. Each operation becomes a PTX instruction (a row of `instructions`), an nvvm operation,
 * or arithmetic. */
#include "lib/passes/devices/arch_sync.h"

#include <llvm/Config/llvm-config.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/arch.h"
#include "lib/passes/devices/ptx_text.h"

#define ARCH "cute_nvgpu.arch."

/* ---- instructions ---- */

/* `other`: text used if the operation has operand `operand` or the attribute `attribute`. Operands are
 * numbered after the result. Pointers to shared memory become 32-bit addresses. */
static const struct instruction {
    const char *name, *text, *other;
    int operand;
    const char *attribute;
} instructions[] = {
#define ONE(name, text)                    {name, text, NULL, 0, NULL}
#define MORE(name, text, other, operand)   {name, text, other, operand, NULL}
#define WITH(name, text, other, attribute) {name, text, other, 0, attribute}
    ONE("mbarrier_init", "mbarrier.init.shared::cta.b64 [$0], $1;"),
    ONE("mbarrier_inval", "mbarrier.inval.shared::cta.b64 [$0];"),
    ONE("mbarrier_init_fence", "fence.mbarrier_init.release.cluster;"),
    MORE("mbarrier_expect_tx", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;",
         "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $2; "
         "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [a], $1; }",
         2),
    MORE("mbarrier_arrive_and_expect_tx",
         "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [$0], $1;",
         "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $2; "
         "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [a], $1; }",
         2),
    MORE("mbarrier_complete_tx", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$0], $1;",
         "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $2; "
         "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [a], $1; }",
         2),
    ONE("mbarrier_wait",
        "{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.{scope|cta}.shared::cta.b64 p, [$0], $1; "
        "@!p bra again; }"),
    ONE("mbarrier_try_wait", "mbarrier.try_wait.parity.acquire.{scope|cta}.shared::cta.b64 $0, [$1], $2;"),
    WITH("mbarrier_test_wait", "mbarrier.test_wait.parity.shared::cta.b64 $0, [$1], $2;",
         "mbarrier.test_wait.parity.acquire.{scope}.shared::cta.b64 $0, [$1], $2;", "scope"),
    ONE("mbarrier_conditional_try_wait",
        "{ .reg .pred p; setp.ne.u32 p, 1, 0; "
        "@$1 mbarrier.try_wait.parity.acquire.{scope|cta}.shared::cta.b64 p, [$2], $3; mov.pred $0, p; }"),
    ONE("cp_async_mbarrier_arrive", "cp.async.mbarrier.arrive.shared::cta.b64 [$0];"),
    ONE("cp_async_mbarrier_arrive_noinc", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];"),
    ONE("fence_proxy", "fence.proxy.{kind};"),
    ONE("fence_view_async_shared", "fence.proxy.async.shared::cta;"),
    MORE("fence_proxy_tensormap", "fence.proxy.tensormap::generic.release.{scope};",
         "fence.proxy.tensormap::generic.acquire.{scope} [$0], 128;", 0),
    ONE("cp_fence_tma_desc_release", "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{"
                                     "scope}.sync.aligned [$0], [$1], 128;"),
    ONE("named_barrier_vote", "bar.red.{kind}.pred $0, $1, $2, $3;"),
    ONE("sm_id", "mov.u32 $0, %smid;"),
    ONE("clock", "mov.u64 $0, %clock64;"),
    ONE("globaltimer", "mov.u64 $0, %globaltimer;"),
    ONE("griddepcontrol_wait", "griddepcontrol.wait;"),
    ONE("griddepcontrol_launch_dependents", "griddepcontrol.launch_dependents;"),
    ONE("elect_one", "{ .reg .b32 r; elect.sync r|$0, 0xffffffff; }"),
#undef ONE
#undef MORE
#undef WITH
};

/* LLVM's constraint letter for registers of the type. */
static char constraint_letter(MlirType type)
{
    if (mlirTypeIsAF32(type)) return 'f';
    if (mlirTypeIsAF64(type)) return 'd';
    if (!mlirTypeIsAInteger(type)) return 'l';
    switch (mlirIntegerTypeGetWidth(type)) {
    case 1: return 'b';
    case 16: return 'h';
    case 32: return 'r';
    default: return 'l';
    }
}

/* The operand as a register. */
static MlirValue register_of(const cute_builder *b, MlirValue value)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(value));
    if (!type || !type->pointer) return value;
    MlirValue address = cute_arch_address(b, value);
    if (type->pointer->space != CUTE_SPACE_SMEM) return address;
    return cute_unary(b, "llvm.ptrtoint", address, mlirIntegerTypeGet(b->context, 32));
}

/* Inline PTX with all operands; its result, if any, replaces that of `op`. */
static void build_inline_asm(const cute_builder *b, MlirOperation op, const char *text, bool effects)
{
    enum { MOST = 16 };
    MlirValue operands[MOST];
    char constraints[8 * MOST], *at = constraints;
    intptr_t count = mlirOperationGetNumOperands(op);
    MlirType result = {NULL};
    if (mlirOperationGetNumResults(op) > 0) {
        result = mlirValueGetType(mlirOperationGetResult(op, 0));
        at += sprintf(at, "=%c,", constraint_letter(result));
    }
    for (intptr_t i = 0; i < count && i < MOST; i++) {
        operands[i] = register_of(b, mlirOperationGetOperand(op, i));
        at += sprintf(at, "%c,", constraint_letter(mlirValueGetType(operands[i])));
    }
    if (effects) at += sprintf(at, "~{memory},");
    if (at > constraints) at[-1] = '\0';
    *at = '\0';
    cute_buffer ptx = {0};
    cute_ptx_words(op, text, &ptx);
    MlirValue value = cute_assembly(b, effects, cute_buffer_text(&ptx), constraints,
                                    (cute_operands){operands, count}, result);
    cute_buffer_release(&ptx);
    if (!mlirTypeIsNull(result)) mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
}

static cute_status lower_instruction(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        const struct instruction *row = &instructions[i];
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
        if (!cute_text_is(mlirStringRefCreate(name.data + strlen(ARCH), name.length - strlen(ARCH)),
                          row->name))
            continue;
        bool other = row->other && (row->attribute ? cute_op_has(op, row->attribute)
                                                   : mlirOperationGetNumOperands(op) > row->operand);
        build_inline_asm(&b, op, other ? row->other : row->text, true);
        return CUTE_OK;
    }
    return cute_fail(x->diag, CUTE_INVALID, NULL, "has no instruction");
}

/* Without a count, the form of sm_80. */
static cute_status lower_arrive(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    static const char *const texts[3][2] = {
        {"mbarrier.arrive.shared::cta.b64 _, [$0];",
         "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0], {count};"},
        {"{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; "
         "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }",
         "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; "
         "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a], {count}; }"},
        {"{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; "
         "mbarrier.arrive.release.cta.shared::cluster.b64 _, [a]; }",
         "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; "
         "mbarrier.arrive.release.cta.shared::cluster.b64 _, [a], {count}; }"}};
    bool remote = mlirOperationGetNumOperands(op) > 1;
    build_inline_asm(&b, op, texts[remote ? 1 + cute_op_has(op, "reads_only") : 0][cute_op_has(op, "count")],
                     true);
    return CUTE_OK;
}

/* ---- shared memory of other blocks ---- */

static cute_status lower_map(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType generic = cute_pointer_type(b.context, CUTE_SPACE_GENERIC);
    MlirValue here =
        cute_unary(&b, "llvm.addrspacecast", cute_arch_address(&b, mlirOperationGetOperand(op, 0)), generic);
    MlirValue there = cute_assembly(&b, false, "mapa.u64 $0, $1, $2;", "=l,l,r",
                                    CUTE_OPERANDS(here, mlirOperationGetOperand(op, 1)), generic);
    mlirValueReplaceAllUsesOfWith(result, cute_cast(&b, there, mlirValueGetType(result)));
    return CUTE_OK;
}

static cute_status lower_st_async(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirValue value = mlirOperationGetOperand(op, 0), operands[7];
    MlirType type = mlirValueGetType(value), element = cute_type_element(type);
    int64_t count = cute_vector_count(type);
    char text[320], constraints[32], *at = text, *kinds = constraints, letter = constraint_letter(element);
    at += sprintf(at,
                  "{ .reg .b32 a, b; mapa.shared::cluster.u32 a, $%d, $%d; mapa.shared::cluster.u32 b, $%d, "
                  "$%d; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes%s.%s [a], %s",
                  (int)count, (int)count + 2, (int)count + 1, (int)count + 2,
                  count == 4   ? ".v4"
                  : count == 2 ? ".v2"
                               : "",
                  letter == 'f'   ? "f32"
                  : letter == 'd' ? "f64"
                  : letter == 'r' ? "b32"
                                  : "b64",
                  count > 1 ? "{" : "");
    for (int64_t i = 0; i < count; i++) {
        operands[i] = mlirTypeIsAVector(type) ? cute_vector_extract(&b, value, i) : value;
        at += sprintf(at, "%s$%d", i ? ", " : "", (int)i);
        kinds += sprintf(kinds, "%c,", letter);
    }
    sprintf(at, "%s, [b]; }", count > 1 ? "}" : "");
    sprintf(kinds, "r,r,r,~{memory}");
    for (int i = 0; i < 3; i++) operands[count + i] = register_of(&b, mlirOperationGetOperand(op, 1 + i));
    cute_assembly(&b, true, text, constraints, (cute_operands){operands, count + 3}, (MlirType){NULL});
    return CUTE_OK;
}

/* ---- operations of nvvm ---- */

static MlirNamedAttribute copy_number_attribute(MlirContext c, const char *name, MlirOperation op,
                                                const char *from)
{
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text(from));
    return cute_attribute(c, name, value);
}

static cute_status lower_bulk_group(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    if (cute_op_is(op, ARCH "cp_async_bulk_commit_group")) {
        cute_build(&b, "nvvm.cp.async.bulk.commit.group", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
        return CUTE_OK;
    }
    MlirNamedAttribute attributes[] = {
        copy_number_attribute(b.context, "group", op, "groups"),
        cute_attribute(b.context, "read", mlirUnitAttrGet(b.context)),
    };
    cute_build(&b, "nvvm.cp.async.bulk.wait_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
               (cute_named){attributes, cute_op_has(op, "read") ? 2 : 1});
    return CUTE_OK;
}

static MlirNamedAttribute groups_in_flight(MlirContext c, MlirOperation op)
{
    enum { width = LLVM_VERSION_MAJOR >= 20 ? 64 : 32 };
    int64_t groups = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("groups")));
    return cute_attribute(c, "group", mlirIntegerAttrGet(mlirIntegerTypeGet(c, width), groups));
}

static cute_status lower_wgmma(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    if (cute_op_is(op, ARCH "wgmma_fence"))
        cute_build(&b, "nvvm.wgmma.fence.aligned", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    else if (cute_op_is(op, ARCH "wgmma_commit_group"))
        cute_build(&b, "nvvm.wgmma.commit.group.sync.aligned", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                   CUTE_NO_NAMED);
    else
        cute_build(&b, "nvvm.wgmma.wait.group.sync.aligned", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                   CUTE_NAMED(groups_in_flight(b.context, op)));
    return CUTE_OK;
}

static cute_status lower_registers(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    bool more = cute_op_is(op, ARCH "setmaxregister_increase");
    MlirAttribute action = mlirAttributeParseGet(
        b.context, cute_text(more ? "#nvvm<action increase>" : "#nvvm<action decrease>"));
    cute_build(&b, "nvvm.setmaxregister", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
               CUTE_NAMED(copy_number_attribute(b.context, "regCount", op, "registers"),
                          cute_attribute(b.context, "action", action)));
    return CUTE_OK;
}

static cute_status lower_barrier_cluster(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirNamedAttribute aligned = cute_attribute(b.context, "aligned", mlirUnitAttrGet(b.context));
    cute_build(&b, "nvvm.cluster.arrive", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NAMED(aligned));
    cute_build(&b, "nvvm.cluster.wait", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NAMED(aligned));
    return CUTE_OK;
}

/* One special register for each result. */
static cute_status lower_read(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    static const struct {
        const char *name, *sreg;
    } sregs[] = {
        {ARCH "block_in_cluster_idx", "cluster.ctaid"},
        {ARCH "block_in_cluster_dim", "cluster.nctaid"},
        {ARCH "cluster_idx", "clusterid"},
        {ARCH "cluster_dim", "nclusterid"},
        {ARCH "block_idx_in_cluster", "cluster.ctarank"},
        {ARCH "cluster_size", "cluster.nctarank"},
    };
    cute_builder b = cute_builder_before(op);
    intptr_t count = mlirOperationGetNumResults(op);
    for (size_t i = 0; i < sizeof sregs / sizeof *sregs; i++) {
        if (!cute_op_is(op, sregs[i].name)) continue;
        for (intptr_t axis = 0; axis < count; axis++) {
            char name[64];
            snprintf(name, sizeof name, "nvvm.read.ptx.sreg.%s%s%.*s", sregs[i].sreg, count > 1 ? "." : "",
                     count > 1, &"xyz"[axis]);
            MlirValue value = cute_build_value(&b, name, mlirIntegerTypeGet(b.context, 32), CUTE_NO_OPERANDS,
                                               CUTE_NO_NAMED);
            mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, axis), value);
        }
        return CUTE_OK;
    }
    return cute_fail(x->diag, CUTE_INVALID, NULL, "has no special register");
}

/* ---- pipeline states ---- */

static void replace_state(MlirOperation op, MlirValue index, MlirValue phase)
{
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), index);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 1), phase);
}

static bool is_producer(MlirOperation op)
{
    MlirAttribute whose = mlirOperationGetAttributeByName(op, cute_text("whose"));
    return !mlirAttributeIsNull(whose) && cute_text_is(mlirStringAttrGetValue(whose), "producer");
}

static cute_status lower_start(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    MlirValue index = cute_integer(&b, i32, 0);
    replace_state(op, index, cute_integer(&b, i32, is_producer(op)));
    return CUTE_OK;
}

/* The stage is sum % stages; the phase flips sum / stages times. */
static void wrap_stage(const cute_builder *b, MlirOperation op, MlirValue sum, MlirValue phase,
                       MlirValue stages)
{
    MlirValue index = cute_binary(b, "arith.remui", sum, stages);
    MlirValue turns = cute_binary(b, "arith.divui", sum, stages);
    MlirValue odd = cute_binary(b, "arith.andi", turns, cute_integer(b, mlirValueGetType(sum), 1));
    replace_state(op, index, cute_binary(b, "arith.xori", phase, odd));
}

static cute_status lower_advance(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    MlirValue index = mlirOperationGetOperand(op, 0), phase = mlirOperationGetOperand(op, 1);
    int64_t count = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("stages")));
    MlirValue stages = cute_integer(&b, i32, count);
    if (mlirOperationGetNumOperands(op) > 2) {
        wrap_stage(&b, op, cute_binary(&b, "arith.addi", index, mlirOperationGetOperand(op, 2)), phase,
                   stages);
        return CUTE_OK;
    }
    MlirValue zero = cute_integer(&b, i32, 0), one = cute_integer(&b, i32, 1);
    MlirValue next = cute_binary(&b, "arith.addi", index, one);
    MlirValue wraps = cute_compare(&b, CUTE_IS_EQ, next, stages);
    MlirValue other = cute_binary(&b, "arith.xori", phase, one);
    MlirValue stage = cute_select(&b, wraps, zero, next);
    replace_state(op, stage, cute_select(&b, wraps, other, phase));
    return CUTE_OK;
}

static cute_status lower_index_of(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    int64_t stages = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("stages")));
    MlirValue phase = cute_integer(&b, i32, is_producer(op));
    wrap_stage(&b, op, mlirOperationGetOperand(op, 0), phase, cute_integer(&b, i32, stages));
    return CUTE_OK;
}

/* ---- rows ---- */

cute_lower_table cute_sync_rows(void)
{
    static const cute_lower_row rows[] = {
        {ARCH "mbarrier_init", lower_instruction},
        {ARCH "mbarrier_inval", lower_instruction},
        {ARCH "mbarrier_init_fence", lower_instruction},
        {ARCH "mbarrier_arrive", lower_arrive},
        {ARCH "mbarrier_expect_tx", lower_instruction},
        {ARCH "mbarrier_arrive_and_expect_tx", lower_instruction},
        {ARCH "mbarrier_complete_tx", lower_instruction},
        {ARCH "mbarrier_wait", lower_instruction},
        {ARCH "mbarrier_try_wait", lower_instruction},
        {ARCH "mbarrier_test_wait", lower_instruction},
        {ARCH "mbarrier_conditional_try_wait", lower_instruction},
        {ARCH "named_barrier_vote", lower_instruction},
        {ARCH "cp_async_mbarrier_arrive", lower_instruction},
        {ARCH "cp_async_mbarrier_arrive_noinc", lower_instruction},
        {ARCH "pipeline_start", lower_start},
        {ARCH "pipeline_advance", lower_advance},
        {ARCH "pipeline_index_of", lower_index_of},
        {ARCH "cp_async_bulk_commit_group", lower_bulk_group},
        {ARCH "cp_async_bulk_wait_group", lower_bulk_group},
        {ARCH "wgmma_fence", lower_wgmma},
        {ARCH "wgmma_commit_group", lower_wgmma},
        {ARCH "wgmma_wait_group", lower_wgmma},
        {ARCH "fence_proxy", lower_instruction},
        {ARCH "fence_view_async_shared", lower_instruction},
        {ARCH "fence_proxy_tensormap", lower_instruction},
        {ARCH "cp_fence_tma_desc_release", lower_instruction},
        {ARCH "barrier_cluster", lower_barrier_cluster},
        {ARCH "block_in_cluster_idx", lower_read},
        {ARCH "block_in_cluster_dim", lower_read},
        {ARCH "cluster_idx", lower_read},
        {ARCH "cluster_dim", lower_read},
        {ARCH "block_idx_in_cluster", lower_read},
        {ARCH "cluster_size", lower_read},
        {ARCH "sm_id", lower_instruction},
        {ARCH "clock", lower_instruction},
        {ARCH "globaltimer", lower_instruction},
        {ARCH "map_dsmem_ptr", lower_map},
        {ARCH "st_async", lower_st_async},
        {ARCH "griddepcontrol_wait", lower_instruction},
        {ARCH "griddepcontrol_launch_dependents", lower_instruction},
        {ARCH "elect_one", lower_instruction},
        {ARCH "setmaxregister_increase", lower_registers},
        {ARCH "setmaxregister_decrease", lower_registers},
    };
    return (cute_lower_table){rows, sizeof rows / sizeof *rows};
}
