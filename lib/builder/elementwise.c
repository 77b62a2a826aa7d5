/* Arithmetic: one function for each row of build_ops.def. Scalars and vectors get the operation of arith or math, tiles and kinds
 * that are made of several operations cute.tile.map. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/builder/builder.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/tile.h"

static MlirType element_of(MlirType type)
{
    return mlirTypeIsAVector(type) ? cute_type_element(type) : cute_tile_element(type);
}

/* The operand that numbers follow: the first tile, else the first value; -1: all are numbers. `first` skips a condition. */
static int leading_operand(const cute_ir_value *operands, const MlirType *types, int first, int count)
{
    int leading = -1;
    for (int i = first; i < count; i++) {
        if (ir_is_number(operands[i])) continue;
        if (mlirTypeIsARankedTensor(types[i])) return i;
        if (leading < 0) leading = i;
    }
    return leading;
}

/* `function` is the public name. False after an error. */
static bool get_operands(cute_ir_at at, const char *function, const cute_tile_map *map,
                         const cute_ir_value *operands, MlirValue *values, MlirType *types, bool *tiles)
{
    int first = strcmp(map->name, "where") ? 0 : 1;
    for (int i = 0; i < map->operands; i++) {
        if (ir_is_number(operands[i])) continue;
        if (!ir_get(at, function, operands[i], &values[i])) return false;
        types[i] = mlirValueGetType(values[i]);
        *tiles |= mlirTypeIsARankedTensor(types[i]);
    }
    int leading = leading_operand(operands, types, first, map->operands);
    if (leading < 0)
        return ir_fail(at, "%s expects a value among its operands, got numbers alone", function), false;
    MlirType type = *tiles ? element_of(types[leading]) : types[leading];
    for (int i = 0; i < map->operands; i++) {
        if (ir_is_number(operands[i])) {
            MlirType own = i < first ? mlirIntegerTypeGet(at.ir->context, 1) : type;
            if (!ir_constant(at, function, operands[i], own, &values[i])) return false;
            types[i] = own;
        } else if (!*tiles && i >= first && !mlirTypeEqual(types[i], type)) {
            ir_fail(at, "%s expects operands of one type, got '%s' and '%s': convert one with cute_ir_cast",
                    function, ir_type_text(at.ir, type), ir_type_text(at.ir, types[i]));
            return false;
        }
    }
    return true;
}

/* The operation of arith or math; NULL: none for these types. */
static const char *upstream_name(const cute_tile_map *map, MlirType element, int64_t *predicate)
{
    bool floats = mlirTypeIsAFloat(element);
    if (!floats && !mlirTypeIsAInteger(element) && !mlirTypeIsAIndex(element)) return NULL;
    if (map->compare) {
        *predicate = floats ? map->float_predicate : map->integer_predicate;
        return *predicate < 0 ? NULL : floats ? "arith.cmpf" : "arith.cmpi";
    }
    const char *name = floats ? map->on_floats : map->on_integers;
    return name && *name != '@' ? name : NULL;
}

static cute_ir_value build_map(cute_ir_at at, const char *function, const char *kind,
                               const cute_ir_value *operands)
{
    cute_ir *ir = at.ir;
    MlirValue values[3];
    MlirType types[3];
    bool tiles = false;
    int64_t predicate = -1;
    const cute_tile_map *map = cute_tile_map_find(cute_text(kind));
    if (!ir_frame_for(at, function) || !get_operands(at, function, map, operands, values, types, &tiles))
        return (cute_ir_value){0};
    cute_operands list = {values, map->operands};
    const char *name = tiles ? NULL : upstream_name(map, element_of(types[map->operands - 1]), &predicate);
    if (!name) return ir_build(at, "cute.tile.map", list, NULL, ir_word(ir, "kind", kind));
    MlirType type = types[map->operands - 1];
    if (!map->compare) return ir_build(at, name, list, &CUTE_TYPES(type), mlirAttributeGetNull());
    MlirNamedAttribute named = cute_attribute(
        ir->context, "predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(ir->context, 64), predicate));
    type = cute_type_with_element(type, mlirIntegerTypeGet(ir->context, 1));
    bool known = !mlirTypeIsNull(type);
    return ir_build(at, name, list, known ? &CUTE_TYPES(type) : NULL,
                    mlirDictionaryAttrGet(ir->context, 1, &named));
}

#define CUTE_IR_MAP1(name, description)                                                                      \
    cute_ir_value cute_ir_##name(cute_ir_at at, cute_ir_value x)                                             \
    {                                                                                                        \
        return build_map(at, "cute_ir_" #name, #name, &x);                                                   \
    }
#define CUTE_IR_MAP2(name, description)                                                                      \
    cute_ir_value cute_ir_##name(cute_ir_at at, cute_ir_value x, cute_ir_value y)                            \
    {                                                                                                        \
        return build_map(at, "cute_ir_" #name, #name, (const cute_ir_value[]){x, y});                        \
    }
#define CUTE_IR_MAP3(name, description)                                                                      \
    cute_ir_value cute_ir_##name(cute_ir_at at, cute_ir_value x, cute_ir_value y, cute_ir_value z)           \
    {                                                                                                        \
        return build_map(at, "cute_ir_" #name, #name, (const cute_ir_value[]){x, y, z});                     \
    }
#define CUTE_IR_COMPARE(name, description) CUTE_IR_MAP2(name, description)
#include "cute/build_ops.def"

cute_ir_value cute_ir_constant(cute_ir_at at, cute_ir_value number, const char *type)
{
    MlirValue value;
    if (!ir_frame_for(at, "cute_ir_constant")) return (cute_ir_value){0};
    MlirType is = ir_type(at, type);
    if (mlirTypeIsNull(is) || !ir_constant(at, "cute_ir_constant", number, is, &value))
        return (cute_ir_value){0};
    return ir_new_value(at.ir, value, 0, 0);
}

cute_ir_value cute_ir_cast(cute_ir_at at, cute_ir_value value, const char *element)
{
    cute_ir *ir = at.ir;
    MlirValue from;
    if (!ir_frame_for(at, "cute_ir_cast") || !ir_get(at, "cute_ir_cast", value, &from))
        return (cute_ir_value){0};
    MlirType to = ir_type(at, element);
    if (mlirTypeIsNull(to)) return (cute_ir_value){0};
    MlirType type = mlirValueGetType(from);
    if (mlirTypeEqual(type, to)) return value;
    bool index = mlirTypeIsAIndex(to) || mlirTypeIsAIndex(type);
    if (index)
        return ir_build(at, "arith.index_cast", CUTE_OPERANDS(from), &CUTE_TYPES(to), mlirAttributeGetNull());
    MlirNamedAttribute named = cute_attribute(ir->context, "element", mlirTypeAttrGet(to));
    return ir_build(at, "cute.tile.cast", CUTE_OPERANDS(from), NULL,
                    mlirDictionaryAttrGet(ir->context, 1, &named));
}
