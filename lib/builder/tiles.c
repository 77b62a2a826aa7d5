/* Tile programs. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/builder/builder.h"
#include "lib/ir/mlir/util.h"

enum { EXTENTS = 16 };

/* An array<i32: ...>; null after an error. */
static MlirAttribute extents_attribute(cute_ir_at at, const char *function, cute_ir_extents extents)
{
    int32_t numbers[EXTENTS];
    if (!extents.count || extents.count > EXTENTS)
        return ir_fail(at, "%s expects 1 to %d extents, got %zu", function, EXTENTS, extents.count),
               mlirAttributeGetNull();
    for (size_t i = 0; i < extents.count; i++) {
        if (extents.items[i] < 1 || extents.items[i] > INT32_MAX)
            return ir_fail(at, "%s expects extents of 1 to %d, got %lld", function, INT32_MAX,
                           (long long)extents.items[i]),
                   mlirAttributeGetNull();
        numbers[i] = (int32_t)extents.items[i];
    }
    return mlirDenseI32ArrayGet(at.ir->context, (intptr_t)extents.count, numbers);
}

static MlirAttribute dictionary(cute_ir *ir, const char *name, MlirAttribute value)
{
    MlirNamedAttribute named = cute_attribute(ir->context, name, value);
    return mlirDictionaryAttrGet(ir->context, 1, &named);
}

static MlirAttribute i32_attribute(cute_ir *ir, int32_t value)
{
    return mlirIntegerAttrGet(mlirIntegerTypeGet(ir->context, 32), value);
}

void cute_ir_tile_program(cute_ir_at at, cute_ir_value tensor, cute_ir_extents extents,
                          cute_ir_value *indices)
{
    static const char function[] = "cute_ir_tile_program";
    MlirValue of;
    if (!ir_frame_for(at, function) || !ir_tensor(at, function, tensor, false, &of)) return;
    MlirAttribute numbers = extents_attribute(at, function, extents);
    if (mlirAttributeIsNull(numbers)) return;
    cute_ir_value first =
        ir_build(at, "cute.tile.program", CUTE_OPERANDS(of), NULL, dictionary(at.ir, "extents", numbers));
    for (size_t i = 0; indices && ir_ready(at.ir) && i < extents.count; i++) {
        indices[i] = first;
        indices[i].index += (uint32_t)i;
    }
}

cute_ir_value cute_ir_tile_count(cute_ir_at at, cute_ir_value tensor, int mode, int64_t size)
{
    static const char function[] = "cute_ir_tile_count";
    cute_ir *ir = at.ir;
    MlirValue of;
    if (!ir_frame_for(at, function) || !ir_tensor(at, function, tensor, false, &of))
        return (cute_ir_value){0};
    if (size < 1 || size > INT32_MAX)
        return ir_fail(at, "%s expects a size of 1 to %d, got %lld", function, INT32_MAX, (long long)size);
    MlirNamedAttribute named[] = {cute_attribute(ir->context, "mode", i32_attribute(ir, mode)),
                                  cute_attribute(ir->context, "size", i32_attribute(ir, (int32_t)size))};
    return ir_build(at, "cute.tile.count", CUTE_OPERANDS(of), NULL,
                    mlirDictionaryAttrGet(ir->context, 2, named));
}

cute_ir_value cute_ir_tile_load(cute_ir_at at, cute_ir_value tensor, cute_ir_extents extents,
                                cute_ir_values coordinates)
{
    static const char function[] = "cute_ir_tile_load";
    MlirValue of, coordinate;
    if (!ir_frame_for(at, function) || !ir_tensor(at, function, tensor, false, &of))
        return (cute_ir_value){0};
    MlirAttribute numbers = extents_attribute(at, function, extents);
    if (mlirAttributeIsNull(numbers) || !ir_coordinate(at, function, coordinates, &coordinate))
        return (cute_ir_value){0};
    return ir_build(at, "cute.tile.load", CUTE_OPERANDS(of, coordinate), NULL,
                    dictionary(at.ir, "extents", numbers));
}

void cute_ir_tile_store(cute_ir_at at, cute_ir_value tile, cute_ir_value tensor, cute_ir_values coordinates)
{
    static const char function[] = "cute_ir_tile_store";
    MlirValue value, to, coordinate;
    if (ir_frame_for(at, function) && ir_get(at, function, tile, &value) &&
        ir_tensor(at, function, tensor, false, &to) && ir_coordinate(at, function, coordinates, &coordinate))
        ir_build(at, "cute.tile.store", CUTE_OPERANDS(value, to, coordinate), &CUTE_NO_TYPES,
                 mlirAttributeGetNull());
}

cute_ir_value cute_ir_tile(cute_ir_at at, cute_ir_value number, const char *element, cute_ir_extents extents)
{
    static const char function[] = "cute_ir_tile";
    MlirValue value;
    if (!ir_frame_for(at, function)) return (cute_ir_value){0};
    MlirType of = ir_type(at, element);
    if (mlirTypeIsNull(of) || mlirAttributeIsNull(extents_attribute(at, function, extents)))
        return (cute_ir_value){0};
    ir_listen(at.ir);
    MlirType type = mlirRankedTensorTypeGetChecked(ir_location(at), (intptr_t)extents.count, extents.items,
                                                   of, mlirAttributeGetNull());
    if (mlirTypeIsNull(type))
        return ir_fail(at, "%s: %s", function, ir_caught(at.ir, "invalid element type"));
    if (!ir_constant(at, function, number, type, &value)) return (cute_ir_value){0};
    return ir_new_value(at.ir, value, 0, 0);
}

cute_ir_value cute_ir_tile_gemm(cute_ir_at at, cute_ir_value a, cute_ir_value b, cute_ir_value c)
{
    static const char function[] = "cute_ir_tile_gemm";
    MlirValue of[3];
    if (!ir_frame_for(at, function) || !ir_get(at, function, a, &of[0]) || !ir_get(at, function, b, &of[1]) ||
        !ir_get(at, function, c, &of[2]))
        return (cute_ir_value){0};
    return ir_build(at, "cute.tile.gemm", (cute_operands){of, 3}, NULL, mlirAttributeGetNull());
}

cute_ir_value cute_ir_tile_reduce(cute_ir_at at, const char *kind, int dimension, cute_ir_value tile)
{
    static const char function[] = "cute_ir_tile_reduce";
    cute_ir *ir = at.ir;
    MlirValue value;
    if (!ir_frame_for(at, function) || !ir_get(at, function, tile, &value)) return (cute_ir_value){0};
    MlirNamedAttribute named[] = {
        cute_attribute(ir->context, "kind", cute_string_attribute(ir->context, kind ? kind : "")),
        cute_attribute(ir->context, "mode", i32_attribute(ir, dimension))};
    return ir_build(at, "cute.tile.reduce", CUTE_OPERANDS(value), NULL,
                    mlirDictionaryAttrGet(ir->context, 2, named));
}
