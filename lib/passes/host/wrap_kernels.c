/* cute-wrap-kernels: moves kernels outside of a gpu.module into a new one, named @kernels.
 *
 * Requires: nothing. Ensures: each function with `gpu.kernel` (or `nvvm.kernel`) is in a gpu.module,
 * with the functions and globals it refers to; func.func becomes gpu.func.
 *
 *     func.func @k(%a: memref<8xf32>) attributes {gpu.kernel} { ... return }
 * ->
 *     gpu.module @kernels { gpu.func @k(%a: memref<8xf32>) kernel { ... gpu.return } }
 */

#include <llvm/Config/llvm-config.h>

#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

static bool is_marked_kernel(MlirOperation op)
{
    return (cute_op_is(op, "func.func") || cute_op_is(op, "llvm.func")) && cute_kernel_is(op);
}

static void return_of_kernel(MlirOperation op, void *context)
{
    (void)context;
    cute_builder b = cute_builder_before(op);
    cute_build(&b, "gpu.return", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationDestroy(op);
}

/* Converts a func.func to gpu.func; the old one is destroyed. */
static MlirOperation to_gpu_func(MlirOperation func)
{
    MlirContext context = mlirOperationGetContext(func);
    cute_op_each(func, "func.return", return_of_kernel, NULL);
    MlirNamedAttribute attributes[64];
    intptr_t count = 0, total = mlirOperationGetNumAttributes(func);
    for (intptr_t i = 0; i < total && count < 63; i++)
        attributes[count++] = mlirOperationGetAttribute(func, i);
    MlirRegion body = mlirRegionCreate();
    mlirRegionTakeBody(body, mlirOperationGetRegion(func, 0));
    cute_builder b = cute_builder_before(func);
    MlirOperation kernel = cute_build_regions(&b, "gpu.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                                              (cute_named){attributes, count}, &body, 1);
    mlirOperationSetAttributeByName(kernel, cute_text("gpu.kernel"), mlirUnitAttrGet(context));
    mlirOperationDestroy(func);
    return kernel;
}

typedef struct closure {
    MlirOperation top;    /* symbol table for lookups */
    MlirBlock module;     /* the gpu.module's block */
    MlirOperation anchor; /* its terminator, or null */
} closure;

static MlirOperation find_symbol(MlirBlock block, MlirStringRef name)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        MlirAttribute symbol = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
        if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
            return op;
    }
    return (MlirOperation){NULL};
}

static void append_to_module(closure *c, MlirOperation op)
{
    if (mlirOperationIsNull(c->anchor))
        mlirBlockAppendOwnedOperation(c->module, op);
    else
        mlirBlockInsertOwnedOperationBefore(c->module, c->anchor, op);
}

static MlirWalkResult copy_references(MlirOperation op, void *context);

static void copy_symbol(closure *c, MlirAttribute reference)
{
    MlirStringRef name = mlirFlatSymbolRefAttrGetValue(reference);
    if (!mlirOperationIsNull(find_symbol(c->module, name))) return;
    MlirOperation symbol = find_symbol(mlirRegionGetFirstBlock(mlirOperationGetRegion(c->top, 0)), name);
    if (mlirOperationIsNull(symbol) || cute_op_is(symbol, "gpu.module")) return;
    MlirOperation copy = mlirOperationClone(symbol);
    append_to_module(c, copy);
    mlirOperationWalk(copy, copy_references, c, MlirWalkPreOrder);
}

static MlirWalkResult copy_references(MlirOperation op, void *context)
{
    for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++) {
        MlirAttribute value = mlirOperationGetAttribute(op, i).attribute;
        if (mlirAttributeIsAFlatSymbolRef(value)) copy_symbol(context, value);
    }
    return MlirWalkResultAdvance;
}

static MlirOperation make_module(MlirOperation before, MlirOperation top)
{
    MlirContext context = mlirOperationGetContext(top);
    MlirStringRef name = cute_text("kernels");
    MlirBlock top_block = mlirRegionGetFirstBlock(mlirOperationGetRegion(top, 0));
    if (!mlirOperationIsNull(find_symbol(top_block, name))) name = cute_text("kernels_0");
    MlirRegion body = mlirRegionCreate();
    MlirBlock block = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(body, block);
    cute_builder inside = cute_builder_at_end(block, mlirOperationGetLocation(before));
    if (LLVM_VERSION_MAJOR < 20)
        cute_build(&inside, "gpu.module_end", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirNamedAttribute symbol = cute_attribute(context, "sym_name", mlirStringAttrGet(context, name));
    cute_builder b = cute_builder_before(before);
    return cute_build_regions(&b, "gpu.module", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NAMED(symbol), &body,
                              1);
}

static void run_wrap_kernels(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
    if (mlirBlockIsNull(block)) return;
    closure c = {.top = root};
    MlirOperation next;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (!is_marked_kernel(op)) continue;
        if (mlirBlockIsNull(c.module)) {
            MlirOperation module = make_module(op, root);
            c.module = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
            c.anchor = mlirBlockGetTerminator(c.module);
            mlirOperationSetAttributeByName(root, cute_text("gpu.container_module"),
                                            mlirUnitAttrGet(mlirOperationGetContext(root)));
        }
        mlirOperationRemoveFromParent(op);
        append_to_module(&c, op);
        if (cute_op_is(op, "func.func")) op = to_gpu_func(op);
        mlirOperationWalk(op, copy_references, &c, MlirWalkPreOrder);
    }
}

const cute_pass cute_pass_wrap_kernels = {
    .name = "cute-wrap-kernels",
    .help = "Move kernels outside of a gpu.module into one",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_GPU,
    .run = run_wrap_kernels,
};
