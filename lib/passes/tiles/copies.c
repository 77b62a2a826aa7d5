/* See copies.h. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/ops/tile.h"
#include "lib/passes/tiles/copies.h"

enum { MOST_CARRIED = 64 };

void tile_map(tile_copies *c, MlirValue from, MlirValue to)
{
    if (c->count == TILE_COPIES_MOST) return;
    c->from[c->count] = from;
    c->to[c->count++] = to;
}

MlirValue tile_mapped(const tile_copies *c, MlirValue value)
{
    for (int i = c->count; i-- > 0;)
        if (mlirValueEqual(c->from[i], value)) return c->to[i];
    return value;
}

void tile_map_operands(const tile_copies *c, MlirOperation op)
{
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        mlirOperationSetOperand(op, i, tile_mapped(c, mlirOperationGetOperand(op, i)));
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (MlirOperation own = mlirBlockGetFirstOperation(b); !mlirOperationIsNull(own);
                 own = mlirOperationGetNextInBlock(own))
                tile_map_operands(c, own);
}

MlirOperation tile_copy(tile_copies *c, MlirOperation op)
{
    MlirOperation made = mlirOperationClone(op);
    tile_map_operands(c, made);
    mlirBlockAppendOwnedOperation(c->into, made);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        tile_map(c, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
    return made;
}

MlirOperation tile_copies_if(const cute_builder *b, MlirValue condition, tile_copies *then,
                             tile_copies *otherwise, const MlirValue *values, const MlirValue *others,
                             int count)
{
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock blocks[2] = {then->into, otherwise ? otherwise->into : mlirBlockCreate(0, NULL, NULL)};
    MlirType types[MOST_CARRIED];
    for (int i = 0; i < count; i++)
        types[i] = mlirValueGetType(others ? others[i] : tile_mapped(then, values[i]));
    for (int side = 0; side < 2; side++) {
        const tile_copies *of = side ? otherwise : then;
        MlirValue made[MOST_CARRIED];
        for (int i = 0; i < count; i++) made[i] = of ? tile_mapped(of, values[i]) : others[i];
        mlirRegionAppendOwnedBlock(regions[side], blocks[side]);
        cute_builder end = cute_builder_at_end(blocks[side], b->location);
        cute_build(&end, "scf.yield", (cute_operands){made, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    return cute_build_regions(b, "scf.if", CUTE_OPERANDS(condition), (cute_types){types, count},
                              CUTE_NO_NAMED, regions, 2);
}

MlirValue tile_zero_of(const cute_builder *b, MlirType type)
{
    if (!mlirTypeIsARankedTensor(type)) return cute_build_constant(b, 32, 0);
    MlirType element = cute_tile_element(type);
    MlirAttribute zero = mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(b->context, element, 0)
                                                   : mlirIntegerAttrGet(element, 0);
    return cute_build_value(
        b, "arith.constant", type, CUTE_NO_OPERANDS,
        CUTE_NAMED(cute_attribute(b->context, "value", mlirDenseElementsAttrSplatGet(type, zero))));
}
