/* cute-kernel-arguments: makes all kernel arguments valid PTX parameters, or removes them.
 *
 * Requires: kernels in gpu.modules, host code removed, cute-to-base. Ensures: each kernel argument of type
 * !nvgpu.tensormap.descriptor becomes a pointer: by value (`tensor-map=param`: a 128-byte grid constant,
 * aligned to 64) or to device memory (`tensor-map=memory`). Empty structs, which PTX cannot represent, are
 * removed.
 *
 *     gpu.func @k(%m: !nvgpu.tensormap.descriptor<...>) kernel
 * ->
 *     gpu.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64, nvvm.grid_constant}) kernel {
 *       %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to !nvgpu.tensormap.descriptor<...>
 */
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/describe.h"
#include "lib/passes/passes.h"

MlirAttribute cute_grid_constant(MlirContext c)
{
    return mlirAttributeParseGet(
        c, cute_text("{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}"));
}

/* Removes the attributes of an erased argument. */
static void drop_attributes(MlirOperation kernel, intptr_t index)
{
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("arg_attrs"));
    if (mlirAttributeIsNull(all)) return;
    intptr_t count = mlirArrayAttrGetNumElements(all), n = 0;
    MlirAttribute *items = calloc((size_t)count + 1, sizeof *items);
    if (!items) return;
    for (intptr_t i = 0; i < count; i++)
        if (i != index) items[n++] = mlirArrayAttrGetElement(all, i);
    mlirOperationSetAttributeByName(kernel, cute_text("arg_attrs"),
                                    mlirArrayAttrGet(mlirOperationGetContext(kernel), n, items));
    free(items);
}

/* An empty value carries no data: any value will do. */
static void erase_argument(MlirOperation kernel, MlirBlock entry, intptr_t index)
{
    MlirValue old = mlirBlockGetArgument(entry, index);
    MlirType type = mlirValueGetType(old);
    cute_builder b = cute_builder_at_start(entry, mlirOperationGetLocation(kernel));
    mlirValueReplaceAllUsesOfWith(
        old, cute_build_value(&b, "llvm.mlir.undef", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED));
    mlirBlockEraseArgument(entry, (unsigned)index);
    drop_attributes(kernel, index);
}

static void replace_argument(MlirBlock entry, intptr_t index, MlirLocation location)
{
    MlirContext c = mlirLocationGetContext(location);
    MlirValue old = mlirBlockGetArgument(entry, index);
    MlirType map = mlirValueGetType(old);
    MlirValue pointer = mlirBlockInsertArgument(entry, index + 1, mlirLLVMPointerTypeGet(c, 0), location);
    cute_builder b = cute_builder_at_start(entry, location);
    mlirValueReplaceAllUsesOfWith(old, cute_build_value(&b, "builtin.unrealized_conversion_cast", map,
                                                        CUTE_OPERANDS(pointer), CUTE_NO_NAMED));
    mlirBlockEraseArgument(entry, (unsigned)index);
}

/* Makes cute-finish-kernels put the attributes of a grid constant on a parameter (kernel_metadata.c). */
static void keep_grid_constant(MlirOperation kernel, int64_t parameter)
{
    MlirContext c = mlirOperationGetContext(kernel);
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("cute.kernel"));
    if (mlirAttributeIsNull(all)) return;
    MlirAttribute kept = mlirDictionaryAttrGetElementByName(all, cute_text("kept"));
    char name[32];
    snprintf(name, sizeof name, "p%lld", (long long)parameter);
    intptr_t count = mlirAttributeIsNull(kept) ? 0 : mlirDictionaryAttrGetNumElements(kept);
    intptr_t total = mlirDictionaryAttrGetNumElements(all);
    MlirNamedAttribute *items = calloc((size_t)(count + total) + 2, sizeof *items);
    if (!items) return;
    for (intptr_t i = 0; i < count; i++) items[i] = mlirDictionaryAttrGetElement(kept, i);
    items[count] = cute_attribute(c, name, cute_grid_constant(c));
    kept = mlirDictionaryAttrGet(c, count + 1, items);
    intptr_t n = 0;
    for (intptr_t i = 0; i < total; i++) {
        MlirNamedAttribute item = mlirDictionaryAttrGetElement(all, i);
        if (!cute_text_is(mlirIdentifierStr(item.name), "kept")) items[n++] = item;
    }
    items[n++] = cute_attribute(c, "kept", kept);
    mlirOperationSetAttributeByName(kernel, cute_text("cute.kernel"), mlirDictionaryAttrGet(c, n, items));
    free(items);
}

static int64_t first_parameter(MlirOperation kernel, intptr_t argument)
{
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("cute.kernel"));
    if (mlirAttributeIsNull(all)) return argument;
    MlirAttribute args = mlirDictionaryAttrGetElementByName(all, cute_text("args"));
    if (mlirAttributeIsNull(args) || argument >= mlirArrayAttrGetNumElements(args)) return argument;
    MlirAttribute first =
        mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(args, argument), cute_text("first"));
    return mlirIntegerAttrGetValueInt(first);
}

static void convert_arguments(MlirOperation kernel, void *context)
{
    bool by_value = *(bool *)context;
    MlirContext c = mlirOperationGetContext(kernel);
    MlirType type = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(kernel, cute_text("function_type")));
    if (!mlirTypeIsAFunction(type)) return;
    intptr_t count = mlirFunctionTypeGetNumInputs(type);
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    MlirType *inputs = calloc((size_t)count + 1, sizeof *inputs);
    bool changed = false;
    intptr_t kept = 0; /* arguments so far, without erased ones */
    for (intptr_t i = 0; inputs && i < count; i++) {
        inputs[kept] = mlirFunctionTypeGetInput(type, i);
        if (cute_type_is_empty(inputs[kept])) {
            erase_argument(kernel, entry, kept);
            changed = true;
            continue;
        }
        if (cute_tensor_map_is(inputs[kept])) {
            replace_argument(entry, kept, mlirOperationGetLocation(kernel));
            inputs[kept] = mlirLLVMPointerTypeGet(c, 0);
            if (by_value) keep_grid_constant(kernel, first_parameter(kernel, i));
            changed = true;
        }
        kept++;
    }
    if (changed)
        mlirOperationSetAttributeByName(kernel, cute_text("function_type"),
                                        mlirTypeAttrGet(mlirFunctionTypeGet(c, kept, inputs, 0, NULL)));
    free(inputs);
}

static void run_kernel_arguments(MlirOperation root, cute_pass_run *pass)
{
    MlirStringRef space = cute_pass_text(pass, 0);
    bool by_value = cute_text_is(space, "param");
    if (!by_value && !cute_text_is(space, "memory")) {
        cute_buffer text = {0};
        cute_buffer_printf(&text, "cute-kernel-arguments expects tensor-map 'param' or 'memory', got '%.*s'",
                           (int)space.length, space.data);
        cute_emit_error(mlirOperationGetLocation(root), cute_buffer_text(&text));
        cute_buffer_release(&text);
        cute_pass_fail(pass);
        return;
    }
    cute_kernels_each(root, convert_arguments, &by_value);
}

static const cute_pass_option options[] = {
    {"tensor-map", CUTE_PASS_TEXT, "param (128 bytes by value) or memory (a pointer)", 0, "param"},
};
const cute_pass cute_pass_kernel_arguments = {
    .name = "cute-kernel-arguments",
    .help = "Convert tensor maps and empty structs, which are not valid parameters, in kernel arguments",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_LLVM,
    .run = run_kernel_arguments,
};
