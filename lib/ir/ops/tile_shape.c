/* See tile.h: shapes of tiles, and attributes of operations on them. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/tile.h"

static bool within(const cute_tile_shape *shape)
{
    int64_t size = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->extent[i] < 1 || shape->extent[i] > CUTE_TILE_MOST) return false;
        size *= shape->extent[i];
        if (size > CUTE_TILE_MOST) return false;
    }
    return true;
}

bool cute_tile_shape_of(MlirType type, cute_tile_shape *out)
{
    if (mlirTypeIsNull(type) || !mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
        mlirShapedTypeGetRank(type) > CUTE_TILE_RANK)
        return false;
    out->rank = (int)mlirShapedTypeGetRank(type);
    for (int i = 0; i < out->rank; i++) out->extent[i] = mlirShapedTypeGetDimSize(type, i);
    return within(out);
}

bool cute_tile_shape_from(MlirAttribute list, cute_tile_shape *out)
{
    int count = cute_tile_numbers(list, out->extent);
    out->rank = count;
    return count >= 0 && within(out);
}

int cute_tile_numbers(MlirAttribute list, int64_t out[CUTE_TILE_RANK])
{
    if (mlirAttributeIsNull(list) || !mlirAttributeIsADenseI32Array(list)) return -1;
    intptr_t count = mlirDenseArrayGetNumElements(list);
    if (count > CUTE_TILE_RANK) return -1;
    for (intptr_t i = 0; i < count; i++) out[i] = mlirDenseI32ArrayGetElement(list, i);
    return (int)count;
}

int64_t cute_tile_size(const cute_tile_shape *shape)
{
    int64_t size = 1;
    for (int i = 0; i < shape->rank; i++) size *= shape->extent[i];
    return size;
}

bool cute_tile_shape_equal(const cute_tile_shape *a, const cute_tile_shape *b)
{
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->extent[i] != b->extent[i]) return false;
    return true;
}

bool cute_tile_shape_join(cute_tile_shape *shape, const cute_tile_shape *other)
{
    cute_tile_shape out = {.rank = shape->rank > other->rank ? shape->rank : other->rank};
    for (int i = 0; i < out.rank; i++) {
        int a = i - (out.rank - shape->rank), b = i - (out.rank - other->rank);
        int64_t left = a < 0 ? 1 : shape->extent[a], right = b < 0 ? 1 : other->extent[b];
        if (left != right && left != 1 && right != 1) return false;
        out.extent[i] = left == 1 ? right : left;
    }
    *shape = out;
    return within(shape);
}

MlirType cute_tile_type(const cute_tile_shape *shape, MlirType element, MlirAttribute encoding)
{
    return mlirRankedTensorTypeGetChecked(mlirLocationUnknownGet(mlirTypeGetContext(element)), shape->rank,
                                          shape->extent, element, encoding);
}

MlirType cute_tile_element(MlirType type)
{
    return mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
}

int cute_tile_bits(MlirType element)
{
    return mlirTypeIsAFloat(element)     ? (int)mlirFloatTypeGetWidth(element)
           : mlirTypeIsAInteger(element) ? (int)mlirIntegerTypeGetWidth(element)
                                         : 64;
}

int cute_tile_memory_bits(MlirType element)
{
    enum { BYTE = 8 };
    int bits = cute_tile_bits(element);
    return bits < BYTE ? BYTE : bits;
}

int64_t cute_tile_number(MlirOperation op, const char *name, int64_t missing)
{
    MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text(name));
    return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? missing : mlirIntegerAttrGetValueInt(a);
}

MlirStringRef cute_tile_word(MlirOperation op, const char *name)
{
    MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text(name));
    return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? cute_text("") : mlirStringAttrGetValue(a);
}
