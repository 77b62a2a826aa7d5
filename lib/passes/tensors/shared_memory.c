/* See shared_memory.h. */
#include "lib/passes/tensors/shared_memory.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/numbers/checked.h"
#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"

/* ---- variables ---- */

static MlirNamedAttribute integer_attribute(const cute_builder *b, const char *name, int bits, int64_t value)
{
    return cute_attribute(b->context, name,
                          mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, (unsigned)bits), value));
}

static void declare_variable(const cute_builder *b, MlirBlock module, const char *name, const char *linkage,
                             int64_t bytes, int64_t align)
{
    cute_builder at = cute_builder_at_start(module, b->location);
    MlirContext c = b->context;
    MlirType type = mlirLLVMArrayTypeGet(mlirIntegerTypeGet(c, 8), (unsigned)bytes);
    MlirNamedAttribute attributes[] = {
        cute_attribute(c, "sym_name", cute_string_attribute(c, name)),
        cute_attribute(c, "global_type", mlirTypeAttrGet(type)),
        cute_attribute(c, "linkage", mlirAttributeParseGet(c, cute_text(linkage))),
        integer_attribute(b, "addr_space", 32, 3),
        integer_attribute(b, "alignment", 64, align),
    };
    MlirRegion body = mlirRegionCreate();
    cute_build_regions(&at, "llvm.mlir.global", CUTE_NO_OPERANDS, CUTE_NO_TYPES, (cute_named){attributes, 5},
                       &body, 1);
}

static MlirValue address_of(const cute_builder *b, const char *name)
{
    MlirAttribute symbol = mlirFlatSymbolRefAttrGet(b->context, cute_text(name));
    return cute_build_value(b, "llvm.mlir.addressof", cute_pointer_type(b->context, CUTE_SPACE_SMEM),
                            CUTE_NO_OPERANDS, CUTE_NAMED(cute_attribute(b->context, "global_name", symbol)));
}

static MlirBlock body_of(MlirOperation module)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
}

static MlirOperation global_called(MlirBlock module, const char *name)
{
    MlirOperation op = mlirBlockGetFirstOperation(module);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        if (!cute_op_is(op, "llvm.mlir.global")) continue;
        MlirAttribute known = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
        if (cute_text_is(mlirStringAttrGetValue(known), name)) break;
    }
    return op;
}

MlirValue cute_shared_dynamic(const cute_builder *b, MlirOperation module, int64_t align)
{
    static const char name[] = "__dynamic_shared_memory";
    MlirOperation global = global_called(body_of(module), name);
    if (mlirOperationIsNull(global)) {
        declare_variable(b, body_of(module), name, "#llvm.linkage<external>", 0, align);
    } else {
        MlirAttribute known = mlirOperationGetAttributeByName(global, cute_text("alignment"));
        if (mlirIntegerAttrGetValueInt(known) < align)
            mlirOperationSetAttributeByName(global, cute_text("alignment"),
                                            integer_attribute(b, "alignment", 64, align).attribute);
    }
    return address_of(b, name);
}

MlirValue cute_shared_static(const cute_builder *b, MlirOperation module, int64_t bytes, int64_t align)
{
    char name[40];
    int number = 0;
    do snprintf(name, sizeof name, "__shared_memory_%d", number++);
    while (cute_symbol_in(module, name));
    declare_variable(b, body_of(module), name, "#llvm.linkage<internal>", bytes, align);
    return address_of(b, name);
}

/* ---- sizes ---- */

/* Size of the aligned blocks, in units, that a swizzle permutes within. */
static int64_t swizzle_block(cute_swizzle s)
{
    int64_t moved = s.shift < 0 ? -(int64_t)s.shift : 0, exponent = s.bits + s.base + moved;
    return s.bits ? (int64_t)1 << (exponent < 40 ? exponent : 40) : 1;
}

static bool round_up_to(int64_t *count, int64_t unit)
{
    if (!cute_add64(*count, unit - 1, count)) return false;
    *count = *count / unit * unit;
    return true;
}

cute_status cute_shared_size(cute_arena *arena, const cute_value *tensor, int64_t *bytes, int64_t *align,
                             cute_diag *diag)
{
    cute_value layout = cute_value_of_layout(tensor->layout), size;
    const cute_pointer *pointer = tensor->pointer;
    int64_t offset = 0, count, elements = swizzle_block(tensor->swizzle);
    bool known = cute_value_is_static(&layout) && !tensor->inner.shape && pointer->bits > 0;
    if (known && tensor->tree) {
        known = tensor->tree->kind == CUTE_TREE_INT && tensor->tree->value.known;
        offset = known ? tensor->tree->value.value : 0;
    }
    if (!known)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a known number of elements of known size");
    CUTE_TRY(cute_apply(arena, NULL, CUTE_OP_COSIZE, &layout, 1, NULL, &size, diag));
    if (size.tree->kind != CUTE_TREE_INT || !size.tree->value.known || offset < 0)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a layout without elements before its pointer");
    *align = swizzle_block(pointer->swizzle);
    if (*align < pointer->align) *align = pointer->align;
    bool fits = cute_add64(size.tree->value.value, offset, &count) &&
                (!tensor->tree || round_up_to(&count, elements)) &&
                cute_mul64(count, pointer->bits, &count) && round_up_to(&count, 8);
    *bytes = fits ? count / 8 : INT64_MAX;
    if (fits && pointer->swizzle.bits && !round_up_to(bytes, swizzle_block(pointer->swizzle)))
        *bytes = INT64_MAX;
    return CUTE_OK;
}

typedef struct total {
    cute_pass_run *pass;
    MlirOperation function;
    int64_t bytes;
} total;

static void add_alloca(MlirOperation op, void *context)
{
    total *t = context;
    const cute_value *tensor = cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!tensor || tensor->type != CUTE_MEMREF || tensor->pointer->space != CUTE_SPACE_SMEM) return;
    MlirOperation function = mlirOperationGetParentOperation(op);
    while (!mlirOperationIsNull(function) && !cute_op_has(function, "function_type"))
        function = mlirOperationGetParentOperation(function);
    if (!mlirOperationEqual(function, t->function)) *t = (total){t->pass, function, 0};
    cute_arena *arena = cute_arena_create();
    int64_t bytes, align, before = t->bytes;
    if (arena && cute_shared_size(arena, tensor, &bytes, &align, NULL) == CUTE_OK &&
        before <= CUTE_STATIC_SHARED) {
        bool fits = round_up_to(&t->bytes, align) && cute_add64(t->bytes, bytes, &t->bytes);
        if (!fits) t->bytes = INT64_MAX;
        if (t->bytes > CUTE_STATIC_SHARED) {
            cute_op_fail(mlirOperationGetLocation(op), "cute.memref.alloca",
                         "uses %lld bytes of shared memory in addition to %lld: a kernel declares at most "
                         "%d; cute_nvgpu.arch.get_dyn_smem is sized at launch",
                         (long long)bytes, (long long)before, CUTE_STATIC_SHARED);
            cute_pass_fail(t->pass);
        }
    }
    cute_arena_destroy(arena);
}

void cute_shared_check(MlirOperation root, cute_pass_run *pass)
{
    total t = {.pass = pass};
    cute_op_each(root, "cute.memref.alloca", add_alloca, &t);
}
