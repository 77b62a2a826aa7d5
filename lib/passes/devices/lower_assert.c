/* cute-lower-assert: lowers device assertions.
 *
 * Requires: kernels in gpu.modules. Ensures: no cf.assert in a gpu.module. With `enable`, a false condition
 * calls CUDA's __assertfail(message, file, line, function, character size), which prints and aborts the grid;
 * otherwise the operation is removed.
 *
 *     cf.assert %ok, "in bounds"
 * ->
 *     scf.if %not_ok { llvm.call @__assertfail(%message, %file, %line, %function, %one) }
 */
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

typedef struct asserts {
    MlirOperation module;
    int strings; /* number of globals created so far */
} asserts;

static void erase_op(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationDestroy(op);
}

static MlirBlock module_block(const asserts *a)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(a->module, 0));
}

/* Declares llvm.func @__assertfail(ptr, ptr, i32, ptr, i64), once in each module. */
static void declare_assertfail(asserts *a)
{
    MlirContext c = mlirOperationGetContext(a->module);
    MlirType ptr = mlirLLVMPointerTypeGet(c, 0), i32 = mlirIntegerTypeGet(c, 32),
             i64 = mlirIntegerTypeGet(c, 64);
    MlirType inputs[] = {ptr, ptr, i32, ptr, i64};
    MlirType type = mlirLLVMFunctionTypeGet(mlirLLVMVoidTypeGet(c), 5, inputs, false);
    MlirAttribute passthrough = cute_string_attribute(c, "noreturn");
    MlirNamedAttribute attributes[] = {
        cute_attribute(c, "sym_name", cute_string_attribute(c, "__assertfail")),
        cute_attribute(c, "function_type", mlirTypeAttrGet(type)),
        cute_attribute(c, "linkage", mlirAttributeParseGet(c, cute_text("#llvm.linkage<external>"))),
        cute_attribute(c, "passthrough", mlirArrayAttrGet(c, 1, &passthrough)),
    };
    MlirRegion body = mlirRegionCreate();
    cute_builder b = cute_builder_at_start(module_block(a), mlirOperationGetLocation(a->module));
    cute_build_regions(&b, "llvm.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES, (cute_named){attributes, 4}, &body,
                       1);
}

/* The address of a constant string, before `where`. */
static MlirValue string_address(asserts *a, MlirOperation where, MlirStringRef text)
{
    MlirContext c = mlirOperationGetContext(where);
    char name[32];
    snprintf(name, sizeof name, "__assert_text_%d", a->strings++);
    char *terminated = calloc(text.length + 1, 1);
    if (terminated) memcpy(terminated, text.data, text.length);
    char type_text[48];
    snprintf(type_text, sizeof type_text, "!llvm.array<%zu x i8>", text.length + 1);
    MlirNamedAttribute attributes[] = {
        cute_attribute(c, "sym_name", cute_string_attribute(c, name)),
        cute_attribute(c, "global_type", mlirTypeAttrGet(mlirTypeParseGet(c, cute_text(type_text)))),
        cute_attribute(c, "constant", mlirUnitAttrGet(c)),
        cute_attribute(c, "linkage", mlirAttributeParseGet(c, cute_text("#llvm.linkage<internal>"))),
        cute_attribute(
            c, "value",
            mlirStringAttrGet(c, mlirStringRefCreate(terminated, terminated ? text.length + 1 : 0))),
        cute_attribute(c, "addr_space", mlirIntegerAttrGet(mlirIntegerTypeGet(c, 32), 1)),
    };
    MlirRegion initializer = mlirRegionCreate();
    cute_builder top = cute_builder_at_start(module_block(a), mlirOperationGetLocation(where));
    cute_build_regions(&top, "llvm.mlir.global", CUTE_NO_OPERANDS, CUTE_NO_TYPES, (cute_named){attributes, 6},
                       &initializer, 1);
    free(terminated);
    MlirNamedAttribute reference =
        cute_attribute(c, "global_name", mlirFlatSymbolRefAttrGet(c, cute_text(name)));
    MlirType global = mlirLLVMPointerTypeGet(c, 1), generic = mlirLLVMPointerTypeGet(c, 0);
    cute_builder b = cute_builder_before(where);
    MlirValue address =
        cute_build_value(&b, "llvm.mlir.addressof", global, CUTE_NO_OPERANDS, CUTE_NAMED(reference));
    return cute_build_value(&b, "llvm.addrspacecast", generic, CUTE_OPERANDS(address), CUTE_NO_NAMED);
}

static MlirStringRef function_name(MlirOperation op)
{
    for (MlirOperation p = op; !mlirOperationIsNull(p); p = mlirOperationGetParentOperation(p)) {
        if (!cute_op_is(p, "gpu.func") && !cute_op_is(p, "func.func") && !cute_op_is(p, "llvm.func"))
            continue;
        return mlirStringAttrGetValue(mlirOperationGetAttributeByName(p, cute_text("sym_name")));
    }
    return cute_text("?");
}

static void lower_assert_op(MlirOperation op, void *context)
{
    asserts *a = context;
    if (a->strings == 0) declare_assertfail(a);
    MlirContext c = mlirOperationGetContext(op);
    MlirLocation location = mlirOperationGetLocation(op);
    MlirStringRef file = cute_text("<unknown>");
    unsigned line = 0, column = 0;
    cute_location_place(location, &file, &line, &column);

    cute_builder b = cute_builder_before(op);
    MlirValue one = cute_build_constant(&b, 1, 1);
    MlirValue failed = cute_build_value(&b, "arith.xori", mlirIntegerTypeGet(c, 1),
                                        CUTE_OPERANDS(mlirOperationGetOperand(op, 0), one), CUTE_NO_NAMED);
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock then = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], then);
    cute_builder inside = cute_builder_at_end(then, location);
    MlirOperation yield = cute_build(&inside, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    inside = cute_builder_before(yield);
    cute_build_regions(&b, "scf.if", CUTE_OPERANDS(failed), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);

    MlirStringRef message = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("msg")));
    MlirStringRef name = function_name(op);
    MlirValue arguments[] = {string_address(a, yield, message), string_address(a, yield, file),
                             cute_build_constant(&inside, 32, line), string_address(a, yield, name),
                             cute_build_constant(&inside, 64, 1)};
    MlirNamedAttribute attributes[] = {
        cute_attribute(c, "callee", mlirFlatSymbolRefAttrGet(c, cute_text("__assertfail"))),
    };
    cute_build(&inside, "llvm.call", (cute_operands){arguments, 5}, CUTE_NO_TYPES,
               (cute_named){attributes, 1});
    mlirOperationDestroy(op);
}

typedef struct work {
    bool enable;
} work;

static void lower_module_asserts(MlirOperation op, void *context)
{
    work *w = context;
    asserts a = {.module = op};
    cute_op_each(op, "cf.assert", w->enable ? lower_assert_op : erase_op, &a);
}

static void run_lower_assert(MlirOperation root, cute_pass_run *pass)
{
    work w = {.enable = cute_pass_int(pass, 0)};
    cute_op_each(root, "gpu.module", lower_module_asserts, &w);
}

static const cute_pass_option options[] = {
    {"enable", CUTE_PASS_BOOL, "Keep assertions, which abort the grid if false", 0, NULL},
};
const cute_pass cute_pass_lower_assert = {
    .name = "cute-lower-assert",
    .help = "Lower cf.assert in kernels to CUDA's __assertfail, or remove it",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_LLVM | CUTE_DIALECT_SCF | CUTE_DIALECT_ARITH,
    .run = run_lower_assert,
};
