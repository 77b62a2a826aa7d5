/* cute-kernel-registers: what ptxas needs of a kernel whose warpgroups give registers to one another.
 *
 * Requires: kernels are llvm.func, and what they call is there. Ensures: one that executes setmaxnreg, or calls what does, has a
 * number of blocks per multiprocessor or of registers; without either, and without the size of a block, ptxas does not know
 * with how many registers a thread begins, and ignores setmaxnreg. Registers are then given away as if the multiprocessor was the
 * block's own, which is what such kernels are written for.
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
    int depth;           /* of calls */
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

static void finish(MlirOperation kernel, void *context)
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
                          "setmaxnreg is ignored by ptxas, as the kernel does not say how many threads a "
                          "block has; expected nvvm.reqntid = array<i32: X, Y, Z> or nvvm.maxnreg among its "
                          "attributes");
        return;
    }
    MlirContext c = mlirOperationGetContext(kernel);
    mlirOperationSetAttributeByName(kernel, cute_text("nvvm.minctasm"),
                                    mlirIntegerAttrGet(mlirIntegerTypeGet(c, 32), 1));
    cute_pass_remark(pass, location,
                     "the kernel gets nvvm.minctasm = 1, so that ptxas does not ignore setmaxnreg: "
                     "one block has the registers of a multiprocessor");
}

static void run_kernel_registers(MlirOperation root, cute_pass_run *pass)
{
    cute_op_each(root, "llvm.func", finish, pass);
}

const cute_pass cute_pass_kernel_registers = {
    .name = "cute-kernel-registers",
    .help = "State how many blocks share a multiprocessor for kernels with setmaxnreg",
    .anchor = "builtin.module",
    .run = run_kernel_registers,
};
