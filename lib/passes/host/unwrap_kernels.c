/* cute-unwrap-kernels: moves the contents of gpu.modules to the module, for tools that translate its llvm functions.
 *
 * Requires: kernels lowered to the dialects llvm and nvvm (cute-full-lowering). Ensures: no gpu.module; the module has the target
 * triple of its code, and functions have only attributes that mlir-translate reads. The metadata of kernels is dropped.
 *
 *     gpu.module @m { llvm.func @k() attributes {cute.kernel = {...}, gpu.kernel, nvvm.kernel} { ... } }
 * ->
 *     module attributes {llvm.target_triple = "nvptx64-nvidia-cuda"} { llvm.func @k() attributes {nvvm.kernel} { ... } }
 */
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

/* Fails if another operation of the block has the name. */
static bool check_name(MlirBlock block, MlirOperation op, cute_pass_run *pass)
{
    MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    if (mlirAttributeIsNull(name)) return true;
    for (MlirOperation other = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(other);
         other = mlirOperationGetNextInBlock(other)) {
        if (cute_op_is(other, "gpu.module") ||
            !mlirAttributeEqual(mlirOperationGetAttributeByName(other, cute_text("sym_name")), name))
            continue;
        cute_emit_error(
            mlirOperationGetLocation(op),
            "expected a name that no other operation of the module has: rename it to unwrap its gpu.module");
        cute_pass_fail(pass);
        return false;
    }
    return true;
}

/* Removes attributes of the dialects cute and gpu. */
static void clean_attributes(MlirOperation op)
{
    for (intptr_t i = mlirOperationGetNumDiscardableAttributes(op); i-- > 0;) {
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetDiscardableAttribute(op, i).name);
        bool ours = name.length > 4 && (!memcmp(name.data, "cute", 4) || !memcmp(name.data, "gpu.", 4));
        if (ours) mlirOperationRemoveDiscardableAttributeByName(op, name);
    }
}

static bool unwrap(MlirBlock block, MlirOperation module, cute_pass_run *pass)
{
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    MlirOperation next;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (cute_op_is(op, "gpu.module_end")) continue;
        if (!check_name(block, op, pass)) return false;
        mlirOperationRemoveFromParent(op);
        mlirBlockInsertOwnedOperationBefore(block, module, op);
        clean_attributes(op);
    }
    mlirOperationDestroy(module);
    return true;
}

static void run_unwrap_kernels(MlirOperation root, cute_pass_run *pass)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
    MlirContext context = mlirOperationGetContext(root);
    bool any = false;
    if (mlirBlockIsNull(block)) return;
    MlirOperation next;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (!cute_op_is(op, "gpu.module")) continue;
        if (!unwrap(block, op, pass)) return;
        any = true;
    }
    if (!any) return;
    mlirOperationRemoveAttributeByName(root, cute_text("gpu.container_module"));
    mlirOperationSetAttributeByName(root, cute_text("llvm.target_triple"),
                                    cute_string_attribute(context, "nvptx64-nvidia-cuda"));
}

const cute_pass cute_pass_unwrap_kernels = {
    .name = "cute-unwrap-kernels",
    .help = "Move lowered kernels out of gpu.modules, for mlir-translate",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_GPU,
    .run = run_unwrap_kernels,
};
