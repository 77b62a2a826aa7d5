/* cute-kernel-registers: adds the launch bounds that ptxas needs for setmaxnreg.
 *
 * Requires: kernels are llvm.func, with their callees present. Ensures: a kernel that executes setmaxnreg,
 * directly or through calls, has a minimum number of blocks per multiprocessor or a register limit. Without
 * either, and without a block size, ptxas does not know the initial registers of a thread and ignores
 * setmaxnreg. The default is one block per multiprocessor, for which such kernels are written.
 *
 *     llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} { nvvm.setmaxregister increase 240 ...
 * ->
 *     llvm.func @k() attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} { ...
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

typedef struct search {
    MlirOperation module;
    MlirOperation found; /* the first setmaxnreg */
    int depth;           /* call depth */
} search;

enum { DEEPEST = 32 };

static void look_in(search *s, MlirOperation function);

static MlirOperation function_named(MlirOperation module, MlirStringRef name)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    MlirOperation op = mlirBlockGetFirstOperation(block);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        MlirAttribute own = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
        if (cute_op_is(op, "llvm.func") && !mlirAttributeIsNull(own) &&
            mlirStringRefEqual(mlirStringAttrGetValue(own), name))
            break;
    }
    return op;
}

static bool has_text(MlirOperation assembly, const char *word)
{
    MlirStringRef text =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(assembly, cute_text("asm_string")));
    return text.length && memmem(text.data, text.length, word, strlen(word));
}

static void look_at(MlirOperation op, void *context)
{
    search *s = context;
    if (!mlirOperationIsNull(s->found)) return;
    if (cute_op_is(op, "nvvm.setmaxregister") ||
        (cute_op_is(op, "llvm.inline_asm") && has_text(op, "setmaxnreg"))) {
        s->found = op;
    } else if (cute_op_is(op, "llvm.call")) {
        MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("callee"));
        if (mlirAttributeIsNull(name) || s->depth >= DEEPEST) return;
        MlirOperation callee = function_named(s->module, mlirFlatSymbolRefAttrGetValue(name));
        if (!mlirOperationIsNull(callee)) look_in(s, callee);
    }
}

static void look_in(search *s, MlirOperation function)
{
    s->depth++;
    cute_op_each(function, NULL, look_at, s);
    s->depth--;
}

static bool has_any(MlirOperation kernel, const char *const *names)
{
    for (; *names; names++)
        if (cute_op_has(kernel, *names)) return true;
    return false;
}

static void bound_kernel_registers(MlirOperation kernel, void *context)
{
    cute_pass_run *pass = context;
    static const char *const counts[] = {"nvvm.minctasm", "nvvm.maxnreg", NULL};
    static const char *const sizes[] = {"nvvm.reqntid", "nvvm.maxntid", NULL};
    if (!cute_kernel_is(kernel)) return;
    search s = {.module = mlirOperationGetParentOperation(kernel)};
    look_in(&s, kernel);
    if (mlirOperationIsNull(s.found) || has_any(kernel, counts)) return;
    MlirLocation location = mlirOperationGetLocation(s.found);
    if (!has_any(kernel, sizes)) {
        cute_emit_warning(location,
                          "setmaxnreg is ignored by ptxas because the block size of the kernel is unknown; "
                          "expected nvvm.reqntid = array<i32: X, Y, Z> or nvvm.maxnreg among its attributes");
        return;
    }
    MlirContext c = mlirOperationGetContext(kernel);
    mlirOperationSetAttributeByName(kernel, cute_text("nvvm.minctasm"),
                                    mlirIntegerAttrGet(mlirIntegerTypeGet(c, 32), 1));
    cute_pass_remark(pass, location,
                     "the kernel gets nvvm.minctasm = 1, so that ptxas does not ignore setmaxnreg: one block "
                     "uses the registers of a multiprocessor");
}

static void run_kernel_registers(MlirOperation root, cute_pass_run *pass)
{
    cute_op_each(root, "llvm.func", bound_kernel_registers, pass);
}

const cute_pass cute_pass_kernel_registers = {
    .name = "cute-kernel-registers",
    .help = "Add the minimum number of blocks per multiprocessor to kernels with setmaxnreg",
    .anchor = "builtin.module",
    .run = run_kernel_registers,
};
