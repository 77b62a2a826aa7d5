/* cute-lower-gpu: lowers operations of gpu that convert-gpu-to-nvvm of MLIR 19 does not.
 *
 * Requires: kernels in gpu.modules. Ensures there: no gpu.cluster_dim_blocks, global_id, num_subgroups,
 * subgroup_id, subgroup_size.
 *
 *     %n = gpu.cluster_dim_blocks x
 * ->
 *     %0 = nvvm.read.ptx.sreg.cluster.nctaid.x : i32
 *     %n = arith.index_castui %0 : i32 to index
 */

#include <stdio.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

/* The letter of #gpu<dim x>. */
static int dimension_letter(MlirOperation op)
{
    cute_buffer dimension = {0};
    mlirAttributePrint(mlirOperationGetAttributeByName(op, cute_text("dimension")), cute_print_to_buffer,
                       &dimension);
    const char *letter = strpbrk(cute_buffer_text(&dimension), "xyz");
    int which = letter ? *letter - 'x' : 0;
    cute_buffer_release(&dimension);
    return which;
}

static MlirValue lower_cluster_dim(const cute_builder *b, MlirOperation op)
{
    static const char *const registers[] = {"nvvm.read.ptx.sreg.cluster.nctaid.x",
                                            "nvvm.read.ptx.sreg.cluster.nctaid.y",
                                            "nvvm.read.ptx.sreg.cluster.nctaid.z"};
    MlirValue value = cute_build_value(b, registers[dimension_letter(op)], mlirIntegerTypeGet(b->context, 32),
                                       CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    return cute_unary(b, "arith.index_castui", value, mlirIndexTypeGet(b->context));
}

/* gpu.thread_id and similar operations. */
static MlirValue build_dimension(const cute_builder *b, const char *name, int letter)
{
    char text[16];
    snprintf(text, sizeof text, "#gpu<dim %c>", 'x' + letter);
    return cute_build_value(b, name, mlirIndexTypeGet(b->context), CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(b->context, "dimension",
                                                      mlirAttributeParseGet(b->context, cute_text(text)))));
}

static MlirValue lower_global_id(const cute_builder *b, MlirOperation op)
{
    int letter = dimension_letter(op);
    MlirValue before = cute_binary(b, "arith.muli", build_dimension(b, "gpu.block_id", letter),
                                   build_dimension(b, "gpu.block_dim", letter));
    return cute_binary(b, "arith.addi", before, build_dimension(b, "gpu.thread_id", letter));
}

static MlirValue lower_subgroup_id(const cute_builder *b, MlirOperation op)
{
    (void)op;
    MlirValue number = build_dimension(b, "gpu.thread_id", 2);
    for (int letter = 1; letter >= 0; letter--)
        number =
            cute_binary(b, "arith.addi",
                        cute_binary(b, "arith.muli", number, build_dimension(b, "gpu.block_dim", letter)),
                        build_dimension(b, "gpu.thread_id", letter));
    return cute_binary(b, "arith.shrui", number, cute_integer(b, mlirIndexTypeGet(b->context), 5));
}

static MlirValue lower_num_subgroups(const cute_builder *b, MlirOperation op)
{
    (void)op;
    MlirType index = mlirIndexTypeGet(b->context);
    MlirValue threads = build_dimension(b, "gpu.block_dim", 0);
    for (int letter = 1; letter < 3; letter++)
        threads = cute_binary(b, "arith.muli", threads, build_dimension(b, "gpu.block_dim", letter));
    threads = cute_binary(b, "arith.addi", threads, cute_integer(b, index, 31));
    return cute_binary(b, "arith.shrui", threads, cute_integer(b, index, 5));
}

static MlirValue lower_subgroup_size(const cute_builder *b, MlirOperation op)
{
    (void)op;
    return cute_integer(b, mlirIndexTypeGet(b->context), 32);
}

static const struct {
    const char *name;
    MlirValue (*lower)(const cute_builder *b, MlirOperation op);
} rows[] = {
    {"gpu.cluster_dim_blocks", lower_cluster_dim}, {"gpu.global_id", lower_global_id},
    {"gpu.num_subgroups", lower_num_subgroups},    {"gpu.subgroup_id", lower_subgroup_id},
    {"gpu.subgroup_size", lower_subgroup_size},
};

static void lower_gpu_op(MlirOperation op, void *context)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cute_op_is(op, rows[i].name)) continue;
        cute_builder b = cute_builder_before(op);
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), rows[i].lower(&b, op));
        mlirOperationDestroy(op);
        *(bool *)context = true;
        return;
    }
}

static void lower_gpu_module(MlirOperation op, void *context)
{
    cute_op_each(op, "gpu.", lower_gpu_op, context);
}

static void run_lower_gpu(MlirOperation root, cute_pass_run *pass)
{
    bool changed = false;
    cute_op_each(root, "gpu.module", lower_gpu_module, &changed);
    if (!changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_lower_gpu = {
    .name = "cute-lower-gpu",
    .help = "Lower operations of gpu that convert-gpu-to-nvvm does not",
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU | CUTE_DIALECT_NVVM,
    .run = run_lower_gpu,
};
