/* Loads of elements that share bytes, i4 and f4E2M1FN: the bytes are loaded, and both halves of each become elements, of the type to which
 * they are converted if that is their only use.
 *
 *     %w = cute.tile.load(%q, %c) {extents = [64, 32]} : (!cute.memref<i4, ...>, ...) -> tensor<64x32xi8>
 * ->
 *     %b = cute.tile.load(%bytes, %c) {extents = [64, 16]} : (!cute.memref<i8, ...>, ...) -> tensor<64x16xi8>
 *     %s = cute.tile.stack(%low, %high) : (tensor<64x16xi8>, tensor<64x16xi8>) -> tensor<64x16x2xi8>
 *     %w = cute.tile.reshape(%s) {extents = [64, 32]} : (tensor<64x16x2xi8>) -> tensor<64x32xi8>
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/tiles.h"

static MlirValue first_result(MlirOperation op)
{
    return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

/* The tensor's bytes, half as many along the last mode. */
static MlirValue view_bytes(const cute_builder *b, MlirValue tensor, const cute_pointer *pointer)
{
    char text[80];
    snprintf(text, sizeof text, "!cute.ptr<i8, gmem, align<%lld>>",
             (long long)(pointer->align > 0 ? pointer->align : 1));
    MlirType type = mlirTypeParseGet(b->context, cute_text(text));
    MlirType i32 = mlirIntegerTypeGet(b->context, 32);
    MlirValue iter =
        first_result(cute_build_inferred(b, "cute.get_iter", CUTE_OPERANDS(tensor), CUTE_NO_NAMED));
    MlirValue layout =
        first_result(cute_build_inferred(b, "cute.get_layout", CUTE_OPERANDS(tensor), CUTE_NO_NAMED));
    if (mlirValueIsNull(iter) || mlirValueIsNull(layout) || mlirTypeIsNull(type)) return (MlirValue){NULL};
    MlirValue bytes = cute_build_value(b, "cute.recast_iter", type, CUTE_OPERANDS(iter), CUTE_NO_NAMED);
    MlirValue half = first_result(cute_build_inferred(
        b, "cute.recast_layout", CUTE_OPERANDS(layout),
        CUTE_NAMED(cute_attribute(b->context, "new_type_bits", mlirIntegerAttrGet(i32, 8)),
                   cute_attribute(b->context, "old_type_bits", mlirIntegerAttrGet(i32, 4)))));
    if (mlirValueIsNull(half)) return half;
    return first_result(cute_build_inferred(b, "cute.make_view", CUTE_OPERANDS(bytes, half), CUTE_NO_NAMED));
}

static MlirValue apply(const cute_builder *b, const char *name, MlirValue x, int64_t value)
{
    return cute_binary(b, name, x, cute_integer(b, mlirValueGetType(x), value));
}

static MlirType with_element(MlirValue tile, MlirType element)
{
    cute_tile_shape shape;
    cute_tile_shape_of(mlirValueGetType(tile), &shape);
    return cute_tile_type(&shape, element, mlirAttributeGetNull());
}

/* Half 0 or 1 of the bytes, sign-extended. */
static MlirValue unpack_i4(const cute_builder *b, MlirValue bytes, int half)
{
    if (!half) bytes = apply(b, "arith.shli", bytes, 4);
    return apply(b, "arith.shrsi", bytes, 4);
}

/* Sign, two bits of exponent with a bias of 1 and one of mantissa are those of an f16 with the bias 15, which is then scaled; so
 * are its numbers below 1. */
static MlirValue unpack_e2m1(const cute_builder *b, MlirValue bytes, int half)
{
    enum { BIAS = 1 << 14, SIGN = 12, MAGNITUDE = 9 };
    MlirValue wide =
        cute_unary(b, "arith.extui", bytes, with_element(bytes, mlirIntegerTypeGet(b->context, 16)));
    if (half) wide = apply(b, "arith.shrui", wide, 4);
    MlirValue sign = apply(b, "arith.shli", apply(b, "arith.andi", wide, 8), SIGN),
              magnitude = apply(b, "arith.shli", apply(b, "arith.andi", wide, 7), MAGNITUDE),
              bits = cute_binary(b, "arith.ori", sign, magnitude);
    MlirValue small = cute_unary(b, "arith.bitcast", bits, with_element(bytes, mlirF16TypeGet(b->context)));
    return cute_binary(b, "arith.mulf", small, tile_number(b, mlirValueGetType(small), BIAS));
}

/* The only use of a tile of integers, which converts it to floats; null: it has others. */
static MlirOperation only_conversion(MlirValue tile)
{
    const MlirOperation none = {NULL};
    MlirOperation user = cute_only_user(tile);
    return !mlirOperationIsNull(user) && cute_op_is(user, "arith.sitofp") ? user : none;
}

void tile_expand_packed(MlirOperation op, void *context)
{
    bool *changed = context;
    MlirValue tensor = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    cute_tile_shape shape;
    if (!type || !cute_tile_is_packed(type->pointer) || !cute_tile_shape_of(mlirValueGetType(result), &shape))
        return;
    cute_builder b = cute_builder_before(op), start = b;
    /* The bytes of an argument are the same in all iterations of a loop, so its loads can run ahead. */
    if (mlirValueIsABlockArgument(tensor))
        start = cute_builder_at_start(mlirBlockArgumentGetOwner(tensor), b.location);
    MlirValue bytes = view_bytes(&start, tensor, type->pointer);
    if (mlirValueIsNull(bytes)) return;
    int32_t extents[CUTE_TILE_RANK];
    cute_tile_shape halves = shape, pairs = shape;
    halves.extent[shape.rank - 1] /= 2;
    pairs.extent[shape.rank - 1] /= 2;
    pairs.extent[pairs.rank++] = 2;
    for (int i = 0; i < shape.rank; i++) extents[i] = (int32_t)halves.extent[i];
    MlirType i8 = mlirIntegerTypeGet(b.context, 8);
    MlirValue loaded =
        cute_build_value(&b, "cute.tile.load", cute_tile_type(&halves, i8, mlirAttributeGetNull()),
                         CUTE_OPERANDS(bytes, mlirOperationGetOperand(op, 1)),
                         CUTE_NAMED(cute_attribute(b.context, "extents",
                                                   mlirDenseI32ArrayGet(b.context, shape.rank, extents))));
    MlirValue part[2];
    for (int i = 0; i < 2; i++)
        part[i] =
            !strcmp(type->pointer->element, "i4") ? unpack_i4(&b, loaded, i) : unpack_e2m1(&b, loaded, i);
    /* A conversion of the halves is one of bytes as they are loaded. */
    MlirOperation cast = only_conversion(result);
    if (!mlirOperationIsNull(cast)) {
        MlirValue converted = mlirOperationGetResult(cast, 0);
        MlirType to = cute_tile_element(mlirValueGetType(converted));
        for (int i = 0; i < 2; i++) part[i] = tile_cast(&b, part[i], to, false);
        mlirValueReplaceAllUsesOfWith(converted, result);
        mlirOperationDestroy(cast);
        mlirValueSetType(result, cute_tile_type(&shape, to, mlirAttributeGetNull()));
    }
    MlirType element = cute_tile_element(mlirValueGetType(part[0]));
    MlirValue stacked =
        cute_build_value(&b, "cute.tile.stack", cute_tile_type(&pairs, element, mlirAttributeGetNull()),
                         CUTE_OPERANDS(part[0], part[1]), CUTE_NO_NAMED);
    extents[shape.rank - 1] *= 2;
    MlirValue whole =
        cute_build_value(&b, "cute.tile.reshape", mlirValueGetType(result), CUTE_OPERANDS(stacked),
                         CUTE_NAMED(cute_attribute(b.context, "extents",
                                                   mlirDenseI32ArrayGet(b.context, shape.rank, extents))));
    mlirValueReplaceAllUsesOfWith(result, whole);
    mlirOperationDestroy(op);
    *changed = true;
}
