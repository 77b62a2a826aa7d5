/* cute-lower-gpu: what convert-gpu-to-nvvm of MLIR 19 leaves out.
 *
 * Requires: kernels in gpu.modules. Ensures: no gpu.cluster_dim_blocks.
 *
 *     %n = gpu.cluster_dim_blocks x
 * ->
 *     %0 = nvvm.read.ptx.sreg.cluster.nctaid.x : i32
 *     %n = arith.index_castui %0 : i32 to index
 */
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/NVVM.h>

#include "lib/ir/util.h"
#include "lib/passes/passes.h"

static void lower(MlirOperation op, void *context)
{
    (void)context;
    static const char *const registers[] = {"nvvm.read.ptx.sreg.cluster.nctaid.x",
                                            "nvvm.read.ptx.sreg.cluster.nctaid.y",
                                            "nvvm.read.ptx.sreg.cluster.nctaid.z"};
    cute_buffer dimension = {0};
    mlirAttributePrint(mlirOperationGetAttributeByName(op, cute_text("dimension")), cute_print_to_buffer,
                       &dimension);
    const char *letter = strpbrk(cute_buffer_text(&dimension), "xyz"); /* #gpu<dim x> */
    int which = letter ? *letter - 'x' : 0;
    cute_buffer_release(&dimension);

    MlirContext c = mlirOperationGetContext(op);
    MlirType i32 = mlirIntegerTypeGet(c, 32), index = mlirIndexTypeGet(c);
    MlirValue value = cute_op_value_before(op, (cute_op_new){.name = registers[which]}, i32);
    value = cute_op_value_before(
        op, (cute_op_new){.name = "arith.index_castui", .operands = &value, .operand_count = 1}, index);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
    mlirOperationDestroy(op);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    cute_op_each(root, "gpu.cluster_dim_blocks", lower, NULL);
}

static MlirDialectHandle (*const dialects[])(void) = {mlirGetDialectHandle__arith__,
                                                      mlirGetDialectHandle__nvvm__, NULL};

const cute_pass cute_pass_lower_gpu = {
    .name = "cute-lower-gpu",
    .help = "Lower operations of gpu that convert-gpu-to-nvvm leaves",
    .dialects = dialects,
    .run = run,
};
