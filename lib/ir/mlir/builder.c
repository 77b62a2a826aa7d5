/* The only place that creates operations for C passes. */
#include "lib/ir/mlir/builder.h"

#include <llvm/Config/llvm-config.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/util.h"

cute_builder cute_builder_before(MlirOperation op)
{
    return (cute_builder){mlirOperationGetContext(op), mlirOperationGetLocation(op),
                          mlirOperationGetBlock(op), op};
}

cute_builder cute_builder_at_start(MlirBlock block, MlirLocation location)
{
    return (cute_builder){mlirLocationGetContext(location), location, block,
                          mlirBlockGetFirstOperation(block)};
}

cute_builder cute_builder_at_end(MlirBlock block, MlirLocation location)
{
    return (cute_builder){mlirLocationGetContext(location), location, block, {NULL}};
}

/* Operations with operand segments, and their number. Each segment has one operand, trailing ones possibly
 * none; the first segment of a call has all, the operand bundles (LLVM 20) none. */
typedef struct grouped {
    const char *name;
    int32_t groups;
    bool call;
} grouped;

static const grouped *groups_of(MlirStringRef name)
{
    static const grouped all[] = {
        {"cute.local_tile", 3, false},
        {"cute.local_partition", 3, false},
#if LLVM_VERSION_MAJOR >= 20
        {"llvm.call", 2, true},
        {"llvm.call_intrinsic", 2, true},
#endif
        {"nvvm.barrier", LLVM_VERSION_MAJOR >= 22 ? 3 : 2, false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (cute_text_is(name, all[i].name)) return &all[i];
    return NULL;
}

/* Unless `attributes` have them. */
static void add_groups(const cute_builder *b, MlirOperationState *state, intptr_t operands,
                       cute_named attributes)
{
    const grouped *g = groups_of(state->name);
    if (!g) return;
    for (intptr_t i = 0; i < attributes.count; i++)
        if (cute_text_is(mlirIdentifierStr(attributes.items[i].name), "operandSegmentSizes")) return;
    int32_t sizes[3];
    for (int32_t i = 0; i < g->groups; i++) sizes[i] = i < operands;
    if (g->call) sizes[0] = (int32_t)operands, sizes[1] = 0;
    MlirNamedAttribute groups[] = {
        cute_attribute(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, g->groups, sizes)),
        cute_attribute(b->context, "op_bundle_sizes", mlirDenseI32ArrayGet(b->context, 0, NULL)),
    };
    mlirOperationStateAddAttributes(state, g->call ? 2 : 1, groups);
}

static MlirOperation create_operation(const cute_builder *b, MlirOperationState *state,
                                      cute_operands operands, cute_named attributes)
{
    mlirOperationStateAddOperands(state, operands.count, operands.items);
    mlirOperationStateAddAttributes(state, attributes.count, attributes.items);
    add_groups(b, state, operands.count, attributes);
    MlirOperation op = mlirOperationCreate(state);
    if (mlirOperationIsNull(op)) return op;
    if (mlirOperationIsNull(b->before))
        mlirBlockAppendOwnedOperation(b->block, op);
    else
        mlirBlockInsertOwnedOperationBefore(b->block, b->before, op);
    return op;
}

MlirOperation cute_build_regions(const cute_builder *b, const char *name, cute_operands operands,
                                 cute_types results, cute_named attributes, MlirRegion *regions,
                                 intptr_t count)
{
    MlirOperationState state = mlirOperationStateGet(cute_text(name), b->location);
    mlirOperationStateAddResults(&state, results.count, results.items);
    mlirOperationStateAddOwnedRegions(&state, count, regions);
    return create_operation(b, &state, operands, attributes);
}

MlirOperation cute_build(const cute_builder *b, const char *name, cute_operands operands, cute_types results,
                         cute_named attributes)
{
    return cute_build_regions(b, name, operands, results, attributes, NULL, 0);
}

MlirOperation cute_build_inferred(const cute_builder *b, const char *name, cute_operands operands,
                                  cute_named attributes)
{
    MlirOperationState state = mlirOperationStateGet(cute_text(name), b->location);
    mlirOperationStateEnableResultTypeInference(&state);
    return create_operation(b, &state, operands, attributes);
}

MlirValue cute_build_value(const cute_builder *b, const char *name, MlirType type, cute_operands operands,
                           cute_named attributes)
{
    return mlirOperationGetResult(cute_build(b, name, operands, CUTE_TYPES(type), attributes), 0);
}

MlirValue cute_build_constant(const cute_builder *b, int width, int64_t value)
{
    MlirType type = mlirIntegerTypeGet(b->context, (unsigned)width);
    MlirNamedAttribute attribute = cute_attribute(b->context, "value", mlirIntegerAttrGet(type, value));
    return cute_build_value(b, "arith.constant", type, CUTE_NO_OPERANDS, CUTE_NAMED(attribute));
}
