/* cute-import-kernels: converts kernels of the dialect cuda to gpu kernels, and expands warpgroup_mma.
 *
 * Requires: nothing. Ensures: no cuda.kernel, no cute_nvgpu.arch.warpgroup_mma; control flow that yields one
 * tensor in registers is replaced by that tensor. Unused arguments whose types are static (a known layout)
 * are removed, from the kernel and its launches. A kernel whose launches all have the same known block size
 * requires it (nvvm.reqntid).
 *
 *     cuda.kernel @k(%x: !llvm.ptr<1>, %l: !cute.layout<"4:1">) attributes {cute.kernel} { cuda.return }
 *     cuda.launch_ex @kernels::@k<%cfg> (%x, %l)
 * ->
 *     gpu.func @k(%x: !llvm.ptr<1>) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} { gpu.return }
 *     cuda.launch_ex @kernels::@k<%cfg> (%x)
 */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tensors/carried.h"
#include "lib/passes/tensors/wgmma.h"

/* A kernel and the properties common to its launches. */
typedef struct kernel {
    MlirOperation op;
    MlirStringRef module, name;
    bool *gone; /* by argument: to be removed */
    intptr_t arguments;
    bool launched, differs;
    int64_t block[3];
} kernel;

typedef struct import {
    MlirOperation root;
    cute_arena *arena;
    kernel *kernels;
    size_t count, capacity;
} import;

/* ---- arguments ---- */

/* Whether the type has no run-time part. */
static bool is_stateless(cute_arena *arena, MlirType type)
{
    const cute_type_row *row = cute_type_row_of(type);
    if (!row || !row->lower) return false;
    MlirType stored = row->lower(mlirTypeGetContext(type), arena, type);
    return !mlirTypeIsNull(stored) && cute_type_is_empty(stored);
}

static void note_kernel(MlirOperation op, void *context)
{
    import *m = context;
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (!cute_arena_more(m->arena, &m->kernels, m->count, &m->capacity, sizeof *m->kernels, 4)) return;
    kernel k = {.op = op,
                .name = cute_op_symbol(op),
                .module = cute_op_symbol(mlirOperationGetParentOperation(op)),
                .arguments = mlirBlockGetNumArguments(entry)};
    k.gone = cute_arena_array(m->arena, (size_t)k.arguments + 1, sizeof *k.gone);
    if (!k.gone) return;
    for (intptr_t i = 0; i < k.arguments; i++) {
        MlirValue argument = mlirBlockGetArgument(entry, i);
        k.gone[i] = mlirOpOperandIsNull(mlirValueGetFirstUse(argument)) &&
                    is_stateless(m->arena, mlirValueGetType(argument));
    }
    m->kernels[m->count++] = k;
}

/* ---- launches ---- */

static kernel *launched_kernel(import *m, MlirOperation launch)
{
    MlirAttribute callee = mlirOperationGetAttributeByName(launch, cute_text("callee"));
    if (mlirSymbolRefAttrGetNumNestedReferences(callee) != 1) return NULL;
    MlirStringRef module = mlirSymbolRefAttrGetRootReference(callee),
                  name = mlirSymbolRefAttrGetLeafReference(callee);
    for (size_t i = 0; i < m->count; i++)
        if (mlirStringRefEqual(m->kernels[i].module, module) && mlirStringRefEqual(m->kernels[i].name, name))
            return &m->kernels[i];
    return NULL;
}

/* A positive constant, or 0. */
static int64_t positive_constant(MlirValue value)
{
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !cute_op_is(op, "arith.constant")) return 0;
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("value"));
    int64_t number = mlirAttributeIsAInteger(attribute) ? mlirIntegerAttrGetValueInt(attribute) : 0;
    return number > 0 && number <= 1024 ? number : 0;
}

static void note_block(kernel *k, MlirOperation launch)
{
    MlirOperation made = cute_defining_op(mlirOperationGetOperand(launch, 0));
    bool known = !mlirOperationIsNull(made) && cute_op_is(made, "cuda.launch_cfg.create");
    for (int i = 0; i < 3; i++) {
        int64_t extent = known ? positive_constant(mlirOperationGetOperand(made, i)) : 0;
        if (!extent || (k->launched && extent != k->block[i])) k->differs = true;
        k->block[i] = extent;
    }
    k->launched = true;
}

static void import_launch(MlirOperation op, void *context)
{
    import *m = context;
    kernel *k = launched_kernel(m, op);
    if (!k || mlirOperationGetNumOperands(op) != k->arguments + 1) return;
    note_block(k, op);
    MlirValue *operands = cute_arena_array(m->arena, (size_t)k->arguments + 1, sizeof *operands);
    if (!operands) return;
    intptr_t kept = 0;
    operands[kept++] = mlirOperationGetOperand(op, 0);
    for (intptr_t i = 0; i < k->arguments; i++)
        if (!k->gone[i]) operands[kept++] = mlirOperationGetOperand(op, i + 1);
    if (kept <= k->arguments) mlirOperationSetOperands(op, kept, operands);
}

/* ---- kernels ---- */

static void import_return(MlirOperation op, void *context)
{
    (void)context;
    cute_builder b = cute_builder_before(op);
    cute_build(&b, "gpu.return", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationDestroy(op);
}

/* The elements of an array attribute for the remaining arguments. */
static MlirAttribute kept_elements(import *m, const kernel *k, MlirAttribute all)
{
    MlirAttribute *items = cute_arena_array(m->arena, (size_t)k->arguments + 1, sizeof *items);
    intptr_t n = 0;
    for (intptr_t i = 0; items && i < k->arguments && i < mlirArrayAttrGetNumElements(all); i++)
        if (!k->gone[i]) items[n++] = mlirArrayAttrGetElement(all, i);
    return mlirArrayAttrGet(mlirOperationGetContext(k->op), n, items);
}

/* Attributes that launches and back ends read; the others belong to its printer. */
static bool is_kept(MlirStringRef name)
{
    static const char *const prefixes[] = {"nvvm.", "gpu."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (name.length > strlen(prefixes[i]) && !memcmp(name.data, prefixes[i], strlen(prefixes[i])))
            return !cute_text_is(name, "gpu.kernel");
    return cute_text_is(name, "sym_name");
}

static void import_kernel(import *m, kernel *k)
{
    MlirContext c = mlirOperationGetContext(k->op);
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(k->op, 0));
    MlirType *types = cute_arena_array(m->arena, (size_t)k->arguments + 1, sizeof *types);
    intptr_t total = mlirOperationGetNumAttributes(k->op), count = 0, inputs = 0;
    MlirNamedAttribute *attributes = cute_arena_array(m->arena, (size_t)total + 4, sizeof *attributes);
    if (!types || !attributes) return;
    for (intptr_t i = k->arguments; i-- > 0;)
        if (k->gone[i]) mlirBlockEraseArgument(entry, (unsigned)i);
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++)
        types[inputs++] = mlirValueGetType(mlirBlockGetArgument(entry, i));
    for (intptr_t i = 0; i < total; i++) {
        MlirNamedAttribute a = mlirOperationGetAttribute(k->op, i);
        if (is_kept(mlirIdentifierStr(a.name))) attributes[count++] = a;
    }
    MlirAttribute all = mlirOperationGetAttributeByName(k->op, cute_text("arg_attrs"));
    if (!mlirAttributeIsNull(all))
        attributes[count++] = cute_attribute(c, "arg_attrs", kept_elements(m, k, all));
    attributes[count++] =
        cute_attribute(c, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(c, inputs, types, 0, NULL)));
    attributes[count++] = cute_attribute(c, "gpu.kernel", mlirUnitAttrGet(c));
    if (k->launched && !k->differs && !cute_op_has(k->op, "nvvm.reqntid")) {
        int32_t block[3] = {(int32_t)k->block[0], (int32_t)k->block[1], (int32_t)k->block[2]};
        attributes[count++] = cute_attribute(c, "nvvm.reqntid", mlirDenseI32ArrayGet(c, 3, block));
    }
    cute_op_each(k->op, "cuda.return", import_return, NULL);
    MlirRegion body = mlirRegionCreate();
    mlirRegionTakeBody(body, mlirOperationGetRegion(k->op, 0));
    cute_builder b = cute_builder_before(k->op);
    cute_build_regions(&b, "gpu.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES, (cute_named){attributes, count},
                       &body, 1);
    mlirOperationDestroy(k->op);
}

static void run_import_kernels(MlirOperation root, cute_pass_run *pass)
{
import m = {.root = root, .arena = cute_arena_create() };
    if (!m.arena) {
        cute_pass_fail(pass);
        return;
    }
    cute_op_each(root, "cuda.kernel", note_kernel, &m);
    bool changed = cute_expand_warpgroup_mma(root);
    changed |= cute_carry_tensors(root);
    if (!m.count && !changed) cute_pass_unchanged(pass);
    if (m.count) cute_op_each(root, "cuda.launch_ex", import_launch, &m);
    for (size_t i = 0; i < m.count; i++) import_kernel(&m, &m.kernels[i]);
    cute_arena_destroy(m.arena);
}

const cute_pass cute_pass_import_kernels = {
    .name = "cute-import-kernels",
    .help = "Convert cuda.kernel to gpu.func",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM,
    .run = run_import_kernels,
};
