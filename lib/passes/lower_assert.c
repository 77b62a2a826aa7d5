/* cute-lower-assert: device assertions.
 *
 * Requires: kernels in gpu.modules. Ensures: no cf.assert in a gpu.module. With `enable` a false condition
 * calls CUDA's
 * __assertfail(message, file, line, function, character size), which prints and stops the grid; otherwise the
 * operation goes.
 *
 *     cf.assert %ok, "in bounds"
 * ->
 *     scf.if %not_ok { llvm.call @__assertfail(%message, %file, %line, %function, %one) }
 */
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/LLVM.h>
#include <mlir-c/Dialect/SCF.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/shim.h"
#include "lib/ir/util.h"
#include "lib/passes/passes.h"

typedef struct asserts {
    MlirOperation module;
    int strings; /* globals made so far */
} asserts;

static void erase(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationDestroy(op);
}

static MlirBlock module_block(const asserts *a)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(a->module, 0));
}

/* llvm.func @__assertfail(ptr, ptr, i32, ptr, i64), once a module. */
static void declare(asserts *a)
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
    mlirBlockInsertOwnedOperation(
        module_block(a), 0,
        cute_op_create(&(cute_op_new){.name = "llvm.func",
                                      .location = mlirOperationGetLocation(a->module),
                                      .attributes = attributes,
                                      .attribute_count = 4,
                                      .regions = &body,
                                      .region_count = 1}));
}

/* The address of a constant string, before `where`. */
static MlirValue string_address(asserts *a, MlirOperation where, MlirStringRef text)
{
    MlirContext c = mlirOperationGetContext(where);
    MlirLocation location = mlirOperationGetLocation(where);
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
    mlirBlockInsertOwnedOperation(module_block(a), 0,
                                  cute_op_create(&(cute_op_new){.name = "llvm.mlir.global",
                                                                .location = location,
                                                                .attributes = attributes,
                                                                .attribute_count = 6,
                                                                .regions = &initializer,
                                                                .region_count = 1}));
    free(terminated);
    MlirNamedAttribute reference =
        cute_attribute(c, "global_name", mlirFlatSymbolRefAttrGet(c, cute_text(name)));
    MlirType global = mlirLLVMPointerTypeGet(c, 1), generic = mlirLLVMPointerTypeGet(c, 0);
    MlirValue address = cute_op_value_before(where,
                                             (cute_op_new){.name = "llvm.mlir.addressof",
                                                           .location = location,
                                                           .attributes = &reference,
                                                           .attribute_count = 1},
                                             global);
    return cute_op_value_before(
        where,
        (cute_op_new){
            .name = "llvm.addrspacecast", .location = location, .operands = &address, .operand_count = 1},
        generic);
}

static MlirValue constant(MlirOperation where, unsigned width, int64_t value)
{
    MlirType type = mlirIntegerTypeGet(mlirOperationGetContext(where), width);
    MlirNamedAttribute attribute =
        cute_attribute(mlirOperationGetContext(where), "value", mlirIntegerAttrGet(type, value));
    return cute_op_value_before(
        where, (cute_op_new){.name = "arith.constant", .attributes = &attribute, .attribute_count = 1}, type);
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

static void lower(MlirOperation op, void *context)
{
    asserts *a = context;
    if (a->strings == 0) declare(a);
    MlirContext c = mlirOperationGetContext(op);
    MlirLocation location = mlirOperationGetLocation(op);
    MlirStringRef file = cute_text("<unknown>");
    unsigned line = 0, column = 0;
    cute_location_place(location, &file, &line, &column);

    MlirValue operands[2] = {mlirOperationGetOperand(op, 0), constant(op, 1, 1)};
    MlirType i1 = mlirIntegerTypeGet(c, 1);
    MlirValue failed = cute_op_value_before(
        op,
        (cute_op_new){.name = "arith.xori", .location = location, .operands = operands, .operand_count = 2},
        i1);
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock then = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], then);
    MlirOperation yield = cute_op_create(&(cute_op_new){.name = "scf.yield", .location = location});
    mlirBlockAppendOwnedOperation(then, yield);
    cute_op_insert_before(op, &(cute_op_new){.name = "scf.if",
                                             .location = location,
                                             .operands = &failed,
                                             .operand_count = 1,
                                             .regions = regions,
                                             .region_count = 2});

    MlirStringRef message = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("msg")));
    MlirStringRef name = function_name(op);
    MlirValue arguments[] = {string_address(a, yield, message), string_address(a, yield, file),
                             constant(yield, 32, line), string_address(a, yield, name),
                             constant(yield, 64, 1)};
    MlirNamedAttribute attributes[] = {
        cute_attribute(c, "callee", mlirFlatSymbolRefAttrGet(c, cute_text("__assertfail"))),
    };
    cute_op_insert_before(yield, &(cute_op_new){.name = "llvm.call",
                                                .location = location,
                                                .operands = arguments,
                                                .operand_count = 5,
                                                .attributes = attributes,
                                                .attribute_count = 1});
    mlirOperationDestroy(op);
}

typedef struct work {
    bool enable;
} work;

static void module(MlirOperation op, void *context)
{
    work *w = context;
    asserts a = {.module = op};
    cute_op_each(op, "cf.assert", w->enable ? lower : erase, &a);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    work w = {.enable = cute_pass_int(pass, 0)};
    cute_op_each(root, "gpu.module", module, &w);
}

static const cute_pass_option options[] = {
    {"enable", CUTE_PASS_BOOL, "Keep assertions: a false one stops the grid", 0, NULL},
};
static MlirDialectHandle (*const dialects[])(void) = {
    mlirGetDialectHandle__llvm__, mlirGetDialectHandle__scf__, mlirGetDialectHandle__arith__, NULL};

const cute_pass cute_pass_lower_assert = {
    .name = "cute-lower-assert",
    .help = "Lower cf.assert in kernels to CUDA's __assertfail, or remove it",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = dialects,
    .run = run,
};
