/* cute-nvgpu-to-nvgpu: lowers instructions and thread communication to operations of nvvm, llvm and inline
 * PTX.
 *
 * Requires: nothing. Ensures: no operation cute_nvgpu.arch.* of sm_80 to sm_90.
 *
 *     %v = cute_nvgpu.arch.copy.ldsm<{num_matrices = 4 : i32, ...}> (%p) : (!cute.ptr<f16, smem, align<16>>) -> vector<4xi32>
 * ->
 *     %0 = nvvm.ldmatrix %address {layout = #nvvm.mma_layout<row>, num = 4 : i32} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/devices/arch.h"
#include "lib/passes/devices/arch_sync.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"
#include "lib/passes/tensors/lower_each.h"
#include "lib/passes/tensors/shared_memory.h"
#include "lib/passes/tensors/tma_lowering.h"
#include "lib/passes/tensors/wgmma.h"

/* ---- attributes ---- */

static MlirType i32_of(const cute_builder *b)
{
    return mlirIntegerTypeGet(b->context, 32);
}

static void replace_result(MlirOperation op, MlirValue value)
{
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
}

/* Whether the printed attribute contains the word. */
static bool attribute_has_word(MlirOperation op, const char *name, const char *word)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text(name));
    if (mlirAttributeIsNull(attribute)) return false;
    if (mlirAttributeIsAString(attribute)) return cute_text_is(mlirStringAttrGetValue(attribute), word);
    cute_buffer text = {0};
    mlirAttributePrint(attribute, cute_print_to_buffer, &text);
    bool found = strstr(cute_buffer_text(&text), word) != NULL;
    cute_buffer_release(&text);
    return found;
}

static MlirStringRef word_of(MlirOperation op, const char *name)
{
    return mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text(name)));
}

static int number_of(MlirOperation op, const char *name)
{
    return (int)mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text(name)));
}

/* ---- copies and MMAs ---- */

static cute_status lower_cp_async(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirValue to = mlirOperationGetOperand(op, 0), from = mlirOperationGetOperand(op, 1);
    const cute_pointer *pointer = cute_type_peek(mlirValueGetType(to))->pointer;
    cute_cp_async how = {.bytes = pointer->bits / 8,
                         .global = attribute_has_word(op, "cache_mode", "global")};
    if (mlirOperationGetNumOperands(op) > 2) how.predicate = mlirOperationGetOperand(op, 2);
    if (cute_op_has(op, "l2_prefetch")) how.prefetch = number_of(op, "l2_prefetch");
    MlirAttribute eviction = mlirOperationGetAttributeByName(op, cute_text("l2_eviction"));
    if (!mlirAttributeIsNull(eviction)) {
        MlirStringRef text = cute_word_text(eviction);
        const char *word = cute_arena_copy(x->arena, text.data, text.length);
        if (!word) return cute_fail_memory(x->diag);
        how.policy = cute_arch_policy(&b, word);
    }
    MlirValue target = cute_arch_address(&b, to), source = cute_arch_address(&b, from);
    cute_arch_cp_async(&b, target, source, &how);
    return CUTE_OK;
}

static cute_status matrix_count(const cute_expansion *x, MlirOperation op, int *out)
{
    *out = number_of(op, "num_matrices");
    if (*out == 1 || *out == 2 || *out == 4) return CUTE_OK;
    return cute_fail(x->diag, CUTE_INVALID, NULL, "expects 1, 2 or 4 matrices, got %d", *out);
}

static cute_status lower_ldsm(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirValue words[4];
    int count;
    CUTE_TRY(matrix_count(x, op, &count));
    MlirValue from = cute_arch_address(&b, mlirOperationGetOperand(op, 0));
    cute_arch_ldmatrix(&b, from, count, cute_op_has(op, "transpose"), words);
    replace_result(op, cute_build_value(&b, "vector.from_elements",
                                        mlirValueGetType(mlirOperationGetResult(op, 0)),
                                        (cute_operands){words, count}, CUTE_NO_NAMED));
    return CUTE_OK;
}

static cute_status lower_stsm(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirValue words[4];
    int count;
    CUTE_TRY(matrix_count(x, op, &count));
    MlirValue to = cute_arch_address(&b, mlirOperationGetOperand(op, 0));
    for (int i = 0; i < count; i++) words[i] = cute_vector_extract(&b, mlirOperationGetOperand(op, 1), i);
    cute_arch_stmatrix(&b, to, count, cute_op_has(op, "transpose"), words);
    return CUTE_OK;
}

/* The atom of an mma operation, from its attributes and results. */
static cute_status atom_of_mma(const cute_expansion *x, MlirOperation op, const char *mnemonic,
                               const cute_atom **out)
{
    cute_buffer shape = {0}, a = {0}, b = {0};
    int m = 0, n = 0, k = 0;
    mlirAttributePrint(mlirOperationGetAttributeByName(op, cute_text("shape_MNK")), cute_print_to_buffer,
                       &shape);
    mlirAttributePrint(mlirOperationGetAttributeByName(op, cute_text("a_type")), cute_print_to_buffer, &a);
    mlirAttributePrint(mlirOperationGetAttributeByName(op, cute_text("b_type")), cute_print_to_buffer, &b);
    const char *numbers = strchr(cute_buffer_text(&shape), '(');
    if (numbers) sscanf(numbers, "(%d,%d,%d)", &m, &n, &k);
    const char *c = strstr(cute_buffer_text(&a), "f") ? "f16" : "i32";
    if (mlirOperationGetNumResults(op) > 0) {
        MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
        if (mlirTypeIsAF32(type)) c = "f32";
        if (mlirTypeIsAF64(type)) c = "f64";
    }
    const char *text = cute_arena_printf(x->arena, "%dx%dx%d, elem_type = (%s, %s, %s) ", m, n, k,
                                         cute_buffer_text(&a), cute_buffer_text(&b), c);
    size_t offset;
    cute_status status = text ? cute_atom_parse(x->arena, mnemonic, text, strlen(text), out, &offset, x->diag)
                              : cute_fail_memory(x->diag);
    cute_buffer_release(&shape);
    cute_buffer_release(&a);
    cute_buffer_release(&b);
    return status;
}

static cute_status lower_mma(const cute_expansion *x, MlirOperation op, const char *mnemonic)
{
    enum { MOST = 64 };
    const cute_atom *atom;
    CUTE_TRY(atom_of_mma(x, op, mnemonic, &atom));
    cute_builder b = cute_builder_before(op);
    MlirValue registers[MOST], d[MOST];
    intptr_t count = 0;
    const MlirValue *first[3];
    MlirAttribute segments = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    for (int i = 0; i < 3; i++) {
        const cute_atom_operand *o = &atom->operand[i];
        intptr_t given = mlirDenseI32ArrayGetElement(segments, i);
        if (given != o->registers || count + given > MOST)
            return cute_fail(x->diag, CUTE_INVALID, NULL,
                             "expects %d registers of operand %d for %s, got %ld", o->registers, i,
                             atom->name, (long)given);
        first[i] = &registers[count];
        for (intptr_t j = 0; j < given; j++, count++) registers[count] = mlirOperationGetOperand(op, count);
    }
    if (mlirOperationGetNumResults(op) != atom->operand[CUTE_ATOM_C].registers)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects %d results for %s, got %ld",
                         atom->operand[CUTE_ATOM_C].registers, atom->name,
                         (long)mlirOperationGetNumResults(op));
    if (!cute_arch_mma(&b, atom, first[0], first[1], first[2], d))
        return cute_fail(x->diag, CUTE_INVALID, NULL, "is not supported by %s", atom->text);
    for (int i = 0; i < atom->operand[CUTE_ATOM_C].registers; i++) {
        MlirValue result = mlirOperationGetResult(op, i);
        MlirType type = mlirValueGetType(result);
        if (!mlirTypeEqual(type, mlirValueGetType(d[i]))) d[i] = cute_unary(&b, "llvm.bitcast", d[i], type);
        mlirValueReplaceAllUsesOfWith(result, d[i]);
    }
    return CUTE_OK;
}

static cute_status lower_mma_80(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    return lower_mma(x, op, "sm80.mma");
}

static cute_status lower_mma_89(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    return lower_mma(x, op, "sm89.mma");
}

/* ---- dynamic shared memory ---- */

static cute_status lower_get_dyn_smem(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirOperation module = cute_op_parent(op, "gpu.module");
    if (mlirOperationIsNull(module))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects to be in a gpu.module: only kernels have shared memory");
    MlirValue result = mlirOperationGetResult(op, 0);
    const cute_pointer *pointer = cute_type_peek(mlirValueGetType(result))->pointer;
    MlirValue address = cute_shared_dynamic(&b, module, pointer->align);
    replace_result(op, cute_cast(&b, address, mlirValueGetType(result)));
    return CUTE_OK;
}

static cute_status lower_get_dyn_smem_size(const cute_expansion *x, const cute_pass_run *pass,
                                           MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    replace_result(
        op, cute_assembly(&b, false, "mov.u32 $0, %dynamic_smem_size;", "=r", CUTE_NO_OPERANDS, i32_of(&b)));
    return CUTE_OK;
}

/* ---- warps ---- */

static MlirNamedAttribute kind_attribute(const cute_builder *b, const char *mnemonic, const char *word)
{
    char text[64];
    snprintf(text, sizeof text, "#nvvm<%s %s>", mnemonic, word);
    return cute_attribute(b->context, "kind", mlirAttributeParseGet(b->context, cute_text(text)));
}

/* shfl.sync of all lanes. */
static MlirValue build_shuffle(const cute_builder *b, const char *mode, MlirValue value, MlirValue lane)
{
    MlirType i32 = i32_of(b);
    MlirValue clamp = cute_integer(b, i32, strcmp(mode, "up") ? 31 : 0);
    return cute_build_value(b, "nvvm.shfl.sync", mlirValueGetType(value),
                            CUTE_OPERANDS(cute_integer(b, i32, -1), value, lane, clamp),
                            CUTE_NAMED(kind_attribute(b, "shfl_kind", mode)));
}

static cute_status lower_broadcast(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    bool named = mlirOperationGetNumOperands(op) > 1;
    MlirValue lane = named ? mlirOperationGetOperand(op, 1) : cute_integer(&b, i32_of(&b), 0);
    replace_result(op, build_shuffle(&b, "idx", mlirOperationGetOperand(op, 0), lane));
    return CUTE_OK;
}

static cute_status lower_shuffle(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirStringRef mode = word_of(op, "mode");
    const char *text = cute_arena_copy(x->arena, mode.data, mode.length);
    if (!text) return cute_fail_memory(x->diag);
    replace_result(op,
                   build_shuffle(&b, text, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)));
    return CUTE_OK;
}

/* Operations that combine the values of two lanes, and their names in redux.sync. */
static const struct {
    const char *kind, *integer, *real, *redux;
} combiners[] = {
    {"add", "arith.addi", "arith.addf", "add"},
    {"mul", "arith.muli", "arith.mulf", NULL},
    {"min", "arith.minsi", "arith.minnumf", "min"},
    {"max", "arith.maxsi", "arith.maxnumf", "max"},
    {"and", "arith.andi", NULL, "and"},
    {"or", "arith.ori", NULL, "or"},
    {"xor", "arith.xori", NULL, "xor"},
};

static cute_status all_reduce(const cute_expansion *x, MlirOperation op, bool redux)
{
    cute_builder b = cute_builder_before(op);
    MlirValue value = mlirOperationGetOperand(op, 0);
    MlirType type = mlirValueGetType(value), i32 = i32_of(&b);
    MlirAttribute lanes = mlirOperationGetAttributeByName(op, cute_text("lanes"));
    int64_t count = mlirAttributeIsNull(lanes) ? 32 : mlirIntegerAttrGetValueInt(lanes);
    bool real = !mlirTypeIsAInteger(type);
    for (size_t i = 0; i < sizeof combiners / sizeof *combiners; i++) {
        if (!cute_text_is(word_of(op, "kind"), combiners[i].kind)) continue;
        const char *combine = real ? combiners[i].real : combiners[i].integer;
        if (!combine) break;
        if (redux && !real && combiners[i].redux && count == 32) {
            replace_result(
                op,
                cute_build_value(&b, "nvvm.redux.sync", i32, CUTE_OPERANDS(value, cute_integer(&b, i32, -1)),
                                 CUTE_NAMED(kind_attribute(&b, "redux_kind", combiners[i].redux))));
            return CUTE_OK;
        }
        for (int64_t distance = count / 2; distance; distance /= 2)
            value = cute_binary(&b, combine, value,
                                build_shuffle(&b, "bfly", value, cute_integer(&b, i32, distance)));
        replace_result(op, value);
        return CUTE_OK;
    }
    return cute_fail(x->diag, CUTE_INVALID, NULL, "expects add, mul, min or max of floats");
}

static cute_status lower_all_reduce(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    return all_reduce(x, op, true);
}

/* For architectures without redux.sync. */
static cute_status lower_all_reduce_sm75(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    return all_reduce(x, op, false);
}

static cute_status lower_vote(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirStringRef which = word_of(op, "kind");
    MlirType i32 = i32_of(&b), type = mlirValueGetType(mlirOperationGetResult(op, 0));
    bool ballot = cute_text_is(which, "ballot");
    if (mlirIntegerTypeGetWidth(type) != (ballot ? 32 : 1))
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects an %s as result, got an i%u",
                         ballot ? "i32" : "i1", mlirIntegerTypeGetWidth(type));
    const char *name = cute_arena_printf(x->arena, "llvm.nvvm.vote.%.*s.sync", (int)which.length, which.data);
    if (!name) return cute_fail_memory(x->diag);
    replace_result(
        op, cute_build_value(
                &b, "llvm.call_intrinsic", ballot ? i32 : type,
                CUTE_OPERANDS(cute_integer(&b, i32, -1), mlirOperationGetOperand(op, 0)),
                CUTE_NAMED(cute_attribute(b.context, "intrin", cute_string_attribute(b.context, name)))));
    return CUTE_OK;
}

static cute_status lower_warp_sync(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    cute_builder b = cute_builder_before(op);
    bool masked = mlirOperationGetNumOperands(op) > 0;
    MlirValue mask = masked ? mlirOperationGetOperand(op, 0) : cute_integer(&b, i32_of(&b), -1);
    cute_build(&b, "nvvm.bar.warp.sync", CUTE_OPERANDS(mask), CUTE_NO_TYPES, CUTE_NO_NAMED);
    return CUTE_OK;
}

/* ---- blocks, clusters, groups of copies ---- */

static cute_status lower_proxy_fence(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirStringRef order = word_of(op, "order"), scope = word_of(op, "scope");
    const char *text = cute_arena_printf(x->arena, "fence.%.*s.%.*s;", (int)order.length, order.data,
                                         (int)scope.length, scope.data);
    if (!text) return cute_fail_memory(x->diag);
    cute_assembly(&b, true, text, "~{memory}", CUTE_NO_OPERANDS, (MlirType){NULL});
    return CUTE_OK;
}

static cute_status lower_barrier(MlirOperation op, const char *name, cute_named attributes)
{
    cute_builder b = cute_builder_before(op);
    MlirValue operands[2];
    intptr_t count = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < count; i++) operands[i] = mlirOperationGetOperand(op, i);
    cute_build(&b, name, (cute_operands){operands, count}, CUTE_NO_TYPES, attributes);
    return CUTE_OK;
}

static cute_status lower_block_sync(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    return lower_barrier(op, "nvvm.barrier0", CUTE_NO_NAMED);
}

static cute_status lower_named_barrier(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    if (cute_op_is(op, "cute_nvgpu.arch.named_barrier_arrive"))
        return lower_barrier(op, "nvvm.barrier.arrive", CUTE_NO_NAMED);
    return lower_barrier(op, "nvvm.barrier", CUTE_NO_NAMED);
}

static cute_status lower_cluster(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    MlirContext c = mlirOperationGetContext(op);
    const char *name = cute_op_is(op, "cute_nvgpu.arch.cluster_wait") ? "nvvm.cluster.wait"
                       : cute_op_has(op, "relaxed")                   ? "nvvm.cluster.arrive.relaxed"
                                                                      : "nvvm.cluster.arrive";
    return lower_barrier(op, name, CUTE_NAMED(cute_attribute(c, "aligned", mlirUnitAttrGet(c))));
}

static cute_status lower_commit(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    return lower_barrier(op, "nvvm.cp.async.commit.group", CUTE_NO_NAMED);
}

static cute_status lower_wait_group(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)x, (void)pass;
    MlirContext c = mlirOperationGetContext(op);
    MlirAttribute groups = mlirOperationGetAttributeByName(op, cute_text("groups"));
    return lower_barrier(op, "nvvm.cp.async.wait.group", CUTE_NAMED(cute_attribute(c, "n", groups)));
}

/* ---- the pass ---- */

/* ---- descriptors ---- */

static cute_status lower_prefetch_map(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_builder b = cute_builder_before(op);
    MlirValue map;
    CUTE_TRY(cute_tma_map_of(x, op, &b, &map));
    cute_arch_prefetch_map(&b, map);
    return CUTE_OK;
}

#define ARCH "cute_nvgpu.arch."
static const cute_lower_row rows[] = {
    {"cute_nvgpu.prefetch_tma_desc", lower_prefetch_map},
    {ARCH "copy.SM80.cp_async", lower_cp_async},
    {ARCH "copy.ldsm", lower_ldsm},
    {ARCH "copy.stsm", lower_stsm},
    {ARCH "mma.SM80", lower_mma_80},
    {ARCH "mma.SM89", lower_mma_89},
    {ARCH "get_dyn_smem", lower_get_dyn_smem},
    {ARCH "get_dyn_smem_size", lower_get_dyn_smem_size},
    {ARCH "make_warp_uniform", lower_broadcast},
    {ARCH "warp_broadcast", lower_broadcast},
    {ARCH "warp_all_reduce", lower_all_reduce},
    {ARCH "shuffle", lower_shuffle},
    {ARCH "vote", lower_vote},
    {ARCH "warp_sync", lower_warp_sync},
    {ARCH "block_sync", lower_block_sync},
    {ARCH "named_barrier_sync", lower_named_barrier},
    {ARCH "named_barrier_arrive", lower_named_barrier},
    {ARCH "cluster_arrive", lower_cluster},
    {ARCH "cluster_wait", lower_cluster},
    {ARCH "fence", lower_proxy_fence},
    {ARCH "cp_async_commit_group", lower_commit},
    {ARCH "cp_async_wait_group", lower_wait_group},
};
static const cute_lower_row rows_sm75[] = {{ARCH "warp_all_reduce", lower_all_reduce_sm75}};
#undef ARCH

enum { REDUX = 80 }; /* first architecture with redux.sync */

static void run_nvgpu_to_nvgpu(MlirOperation root, cute_pass_run *pass)
{
    const cute_arch *arch;
    if (!cute_pass_arch(pass, 0, root, &arch)) return;
    cute_expand_warpgroup_mma(root);
    /* The first row with a name applies. */
    const cute_lower_table tables[] = {
        {rows_sm75, arch && arch->number < REDUX}, {rows, sizeof rows / sizeof *rows}, cute_sync_rows()};
    cute_lower_tables(root, pass, "cute_nvgpu.", tables, sizeof tables / sizeof *tables);
}

static const cute_pass_option options[] = {CUTE_ARCH_OPTION};

const cute_pass cute_pass_nvgpu_to_nvgpu = {
    .name = "cute-nvgpu-to-nvgpu",
    .help = "Lower instructions of cute_nvgpu to nvvm, llvm and inline PTX",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM |
                CUTE_DIALECT_NVVM | CUTE_DIALECT_VECTOR,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_nvgpu_to_nvgpu,
};
