/* cute-finish-kernels: restores kernel attributes that the conversion of gpu.func drops.
 *
 * Requires: kernels are llvm.func, with `cute.kernel`. Ensures: each has `nvvm.kernel`, even if the source
 * had only `gpu.kernel`; by-value parameters have llvm.byval, llvm.align and nvvm.grid_constant again; a
 * required block size (`nvvm.reqntid`) is not weakened to a bound; no argument carries `cute.` attributes.
 * Non-kernel functions are internal, unless `relocatable`; there are no C wrappers (`_mlir_ciface_NAME`),
 * and a function that the source only declares is a declaration under its own name. A shared array without
 * elements is dynamic shared memory, however it was declared: external, so that all of them have the same
 * address, and aligned to 1024, the span of the widest swizzle of TMA and wgmma.
 *
 *     llvm.mlir.global private @smem() {addr_space = 3 : i32} : !llvm.array<0 x f16>
 * ->
 *     llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x f16>
 */
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

/* Merges `old`, without the attributes of our dialect, with `kept`. */
static MlirAttribute merge_attributes(MlirContext c, MlirAttribute old, MlirAttribute kept)
{
    MlirNamedAttribute items[64];
    intptr_t count = 0;
    for (int from_kept = 0; from_kept < 2; from_kept++) {
        MlirAttribute source = from_kept ? kept : old;
        if (mlirAttributeIsNull(source)) continue;
        for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(source) && count < 64; i++) {
            MlirNamedAttribute item = mlirDictionaryAttrGetElement(source, i);
            MlirStringRef name = mlirIdentifierStr(item.name);
            if (name.length > 5 && !memcmp(name.data, "cute.", 5)) continue;
            bool known = !from_kept && !mlirAttributeIsNull(kept) &&
                         !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(kept, name));
            if (!known) items[count++] = item;
        }
    }
    return mlirDictionaryAttrGet(c, count, items);
}

static void finish_kernel(MlirOperation kernel, void *context)
{
    (void)context;
    if (!cute_op_is(kernel, "llvm.func")) return;
    MlirContext c = mlirOperationGetContext(kernel);
    MlirAttribute noted = mlirOperationGetAttributeByName(kernel, cute_text("cute.kernel"));
    MlirAttribute kept = {NULL};
    if (!mlirAttributeIsNull(noted)) kept = mlirDictionaryAttrGetElementByName(noted, cute_text("kept"));
    MlirAttribute old = mlirOperationGetAttributeByName(kernel, cute_text("arg_attrs"));
    intptr_t count = cute_kernel_argument_count(kernel);
    MlirAttribute *items = calloc((size_t)count + 1, sizeof *items);
    for (intptr_t i = 0; items && i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%td", i);
        MlirAttribute of_old = {NULL}, of_kept = {NULL};
        if (!mlirAttributeIsNull(old) && i < mlirArrayAttrGetNumElements(old))
            of_old = mlirArrayAttrGetElement(old, i);
        if (!mlirAttributeIsNull(kept)) of_kept = mlirDictionaryAttrGetElementByName(kept, cute_text(name));
        items[i] = merge_attributes(c, of_old, of_kept);
    }
    if (items && count)
        mlirOperationSetAttributeByName(kernel, cute_text("arg_attrs"), mlirArrayAttrGet(c, count, items));
    free(items);
    if (cute_op_has(kernel, "nvvm.reqntid"))
        mlirOperationRemoveAttributeByName(kernel, cute_text("nvvm.maxntid"));
}

static void open_shared(MlirOperation global, void *context)
{
    (void)context;
    MlirContext c = mlirOperationGetContext(global);
    MlirAttribute space = mlirOperationGetAttributeByName(global, cute_text("addr_space"));
    if (mlirAttributeIsNull(space) || mlirIntegerAttrGetValueInt(space) != 3) return;
    cute_buffer type = {0};
    mlirTypePrint(mlirTypeAttrGetValue(mlirOperationGetAttributeByName(global, cute_text("global_type"))),
                  cute_print_to_buffer, &type);
    if (strstr(cute_buffer_text(&type), "array<0 x")) {
        mlirOperationSetAttributeByName(global, cute_text("linkage"),
                                        mlirAttributeParseGet(c, cute_text("#llvm.linkage<external>")));
        MlirAttribute align = mlirOperationGetAttributeByName(global, cute_text("alignment"));
        if (mlirAttributeIsNull(align) || mlirIntegerAttrGetValueInt(align) < 1024)
            mlirOperationSetAttributeByName(global, cute_text("alignment"),
                                            mlirIntegerAttrGet(mlirIntegerTypeGet(c, 64), 1024));
        mlirOperationRemoveAttributeByName(global, cute_text("value"));
        MlirRegion initializer = mlirOperationGetRegion(global, 0);
        MlirBlock block = mlirRegionGetFirstBlock(initializer);
        if (!mlirBlockIsNull(block)) {
            mlirBlockDetach(block);
            mlirBlockDestroy(block);
        }
    }
    cute_buffer_release(&type);
}

/* ---- non-kernel functions ---- */

static bool has_body(MlirOperation function)
{
    return !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
}

static void set_linkage(MlirOperation function, const char *linkage)
{
    MlirAttribute value = mlirAttributeParseGet(mlirOperationGetContext(function), cute_text(linkage));
    mlirOperationSetAttributeByName(function, cute_text("linkage"), value);
}

typedef struct callee {
    MlirStringRef name;
    bool called;
} callee;

static void look_at_call(MlirOperation call, void *context)
{
    callee *c = context;
    MlirAttribute name = mlirOperationGetAttributeByName(call, cute_text("callee"));
    if (!mlirAttributeIsNull(name) && mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(name), c->name))
        c->called = true;
}

/* Restores a declaration `@name`, which convert-gpu-to-nvvm turned into a function that calls `wrapper`.
 * False if it is not one. */
static bool declare_again(MlirOperation module, MlirStringRef name, MlirStringRef wrapper)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    MlirOperation op = mlirBlockGetFirstOperation(block);
    while (!mlirOperationIsNull(op) && !mlirStringRefEqual(cute_op_symbol(op), name))
        op = mlirOperationGetNextInBlock(op);
    if (mlirOperationIsNull(op) || !cute_op_is(op, "llvm.func")) return false;
    callee c = {.name = wrapper};
    cute_op_each(op, "llvm.call", look_at_call, &c);
    if (!c.called) return false;
    MlirRegion body = mlirRegionCreate();
    mlirRegionTakeBody(body, mlirOperationGetRegion(op, 0));
    mlirRegionDestroy(body);
    set_linkage(op, "#llvm.linkage<external>");
    return true;
}

/* Removes C wrappers, which have no callers on a device, and makes other functions internal unless the
 * module is to be linked. */
static void close_function(MlirOperation function, void *context)
{
    bool relocatable = *(bool *)context;
    MlirOperation parent = mlirOperationGetParentOperation(function);
    if (!cute_op_is(parent, "gpu.module")) return;
    if (cute_kernel_is(function)) return;
    MlirStringRef name = cute_op_symbol(function);
    static const char wrapper[] = "_mlir_ciface_";
    size_t prefix = sizeof wrapper - 1;
    if (name.length > prefix && !memcmp(name.data, wrapper, prefix)) {
        MlirStringRef plain = mlirStringRefCreate(name.data + prefix, name.length - prefix);
        if (has_body(function) || declare_again(parent, plain, name)) mlirOperationDestroy(function);
    } else if (has_body(function) && !relocatable) {
        set_linkage(function, "#llvm.linkage<internal>");
    }
}

static void run_finish_kernels(MlirOperation root, cute_pass_run *pass)
{
    bool relocatable = cute_pass_int(pass, 0);
    cute_kernels_enter(root);
    cute_kernels_each(root, finish_kernel, NULL);
    cute_op_each(root, "llvm.func", close_function, &relocatable);
    cute_op_each(root, "llvm.mlir.global", open_shared, NULL);
}

static const cute_pass_option options[] = {
    {"relocatable", CUTE_PASS_BOOL, "Keep non-kernel functions visible to other modules", 0, NULL},
};

const cute_pass cute_pass_finish_kernels = {
    .name = "cute-finish-kernels",
    .help = "Restore the attributes of kernel parameters after conversion",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .run = run_finish_kernels,
};
