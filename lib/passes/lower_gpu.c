/* cute-lower-gpu: what convert-gpu-to-nvvm of MLIR 19 leaves out.
 *
 * Requires: kernels in gpu.modules. Ensures: no gpu.cluster_dim_blocks.
 *
 *     %n = gpu.cluster_dim_blocks x
 * ->
 *     %0 = nvvm.read.ptx.sreg.cluster.nctaid.x : i32
 *     %n = arith.index_castui %0 : i32 to index
 */

#include "lib/ir/builder.h"
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
    cute_builder b = cute_builder_before(op);
    MlirValue value = cute_build_value(&b, registers[which], i32, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    value = cute_build_value(&b, "arith.index_castui", index, CUTE_OPERANDS(value), CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
    mlirOperationDestroy(op);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    cute_op_each(root, "gpu.cluster_dim_blocks", lower, NULL);
}

const cute_pass cute_pass_lower_gpu = {
    .name = "cute-lower-gpu",
    .help = "Lower operations of gpu that convert-gpu-to-nvvm leaves",
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_NVVM,
    .run = run,
};
