/* See arith.h. */
#include "lib/ir/mlir/arith.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/util.h"

MlirType cute_type_element(MlirType type)
{
    return mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
}

MlirType cute_type_with_element(MlirType type, MlirType element)
{
    enum { RANKS = 16 };
    if (!mlirTypeIsAVector(type)) return element;
    int64_t shape[RANKS], rank = mlirShapedTypeGetRank(type);
    for (int64_t i = 0; i < rank && i < RANKS; i++) shape[i] = mlirShapedTypeGetDimSize(type, i);
    return rank <= RANKS ? mlirVectorTypeGet(rank, shape, element) : (MlirType){NULL};
}

int64_t cute_vector_count(MlirType type)
{
    int64_t count = 1;
    for (int64_t i = 0; mlirTypeIsAVector(type) && i < mlirShapedTypeGetRank(type); i++)
        count *= mlirShapedTypeGetDimSize(type, i);
    return count;
}

MlirType cute_vector_flat(MlirType type)
{
    int64_t count = cute_vector_count(type);
    return mlirVectorTypeGet(1, &count, cute_type_element(type));
}

static MlirNamedAttribute static_position(const cute_builder *b, int64_t at)
{
    return cute_attribute(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &at));
}

MlirValue cute_vector_extract(const cute_builder *b, MlirValue vector, int64_t at)
{
    return cute_build_value(b, "vector.extract", cute_type_element(mlirValueGetType(vector)),
                            CUTE_OPERANDS(vector), CUTE_NAMED(static_position(b, at)));
}

MlirValue cute_vector_insert(const cute_builder *b, MlirValue vector, MlirValue value, int64_t at)
{
    return cute_build_value(b, "vector.insert", mlirValueGetType(vector), CUTE_OPERANDS(value, vector),
                            CUTE_NAMED(static_position(b, at)));
}

MlirAttribute cute_constant_splat(MlirValue value)
{
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !cute_op_is(op, "arith.constant")) return mlirAttributeGetNull();
    MlirAttribute is = mlirOperationGetAttributeByName(op, cute_text("value"));
    return mlirAttributeIsADenseElements(is) && mlirDenseElementsAttrIsSplat(is)
               ? mlirDenseElementsAttrGetSplatValue(is)
               : mlirAttributeGetNull();
}

MlirValue cute_undefined(const cute_builder *b, MlirType type)
{
    return cute_build_value(b, "llvm.mlir.undef", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

MlirValue cute_unary(const cute_builder *b, const char *name, MlirValue value, MlirType type)
{
    return cute_build_value(b, name, type, CUTE_OPERANDS(value), CUTE_NO_NAMED);
}

MlirValue cute_binary(const cute_builder *b, const char *name, MlirValue left, MlirValue right)
{
    return cute_build_value(b, name, mlirValueGetType(left), CUTE_OPERANDS(left, right), CUTE_NO_NAMED);
}

MlirValue cute_compare(const cute_builder *b, cute_predicate predicate, MlirValue left, MlirValue right)
{
    MlirAttribute value = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), predicate);
    MlirType type = cute_type_with_element(mlirValueGetType(left), mlirIntegerTypeGet(b->context, 1));
    return cute_build_value(b, "arith.cmpi", type, CUTE_OPERANDS(left, right),
                            CUTE_NAMED(cute_attribute(b->context, "predicate", value)));
}

MlirValue cute_select(const cute_builder *b, MlirValue condition, MlirValue yes, MlirValue no)
{
    return cute_build_value(b, "arith.select", mlirValueGetType(yes), CUTE_OPERANDS(condition, yes, no),
                            CUTE_NO_NAMED);
}

MlirValue cute_integer(const cute_builder *b, MlirType type, int64_t value)
{
    bool many = mlirTypeIsAVector(type) || mlirTypeIsARankedTensor(type);
    MlirAttribute attribute = mlirIntegerAttrGet(many ? mlirShapedTypeGetElementType(type) : type, value);
    if (many) attribute = mlirDenseElementsAttrSplatGet(type, attribute);
    return cute_build_value(b, "arith.constant", type, CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(b->context, "value", attribute)));
}

MlirValue cute_cast(const cute_builder *b, MlirValue value, MlirType type)
{
    if (mlirTypeEqual(mlirValueGetType(value), type)) return value;
    return cute_unary(b, "builtin.unrealized_conversion_cast", value, type);
}

MlirValue cute_assembly(const cute_builder *b, bool effects, const char *text, const char *constraints,
                        cute_operands operands, MlirType result)
{
    MlirNamedAttribute attributes[] = {
        cute_attribute(b->context, "asm_string", cute_string_attribute(b->context, text)),
        cute_attribute(b->context, "constraints", cute_string_attribute(b->context, constraints)),
        cute_attribute(b->context, "has_side_effects", mlirUnitAttrGet(b->context)),
    };
    cute_types results = {&result, !mlirTypeIsNull(result)};
    MlirOperation op =
        cute_build(b, "llvm.inline_asm", operands, results, (cute_named){attributes, effects ? 3 : 2});
    return results.count ? mlirOperationGetResult(op, 0) : (MlirValue){NULL};
}

static MlirNamedAttribute position(const cute_builder *b, int64_t at, int64_t element)
{
    int64_t path[] = {at, element};
    return cute_attribute(b->context, "position",
                          mlirDenseI64ArrayGet(b->context, element < 0 ? 1 : 2, path));
}

MlirValue cute_extract_field(const cute_builder *b, MlirValue container, int64_t at, int64_t element,
                             MlirType type)
{
    return cute_build_value(b, "llvm.extractvalue", type, CUTE_OPERANDS(container),
                            CUTE_NAMED(position(b, at, element)));
}

MlirValue cute_insert_field(const cute_builder *b, MlirValue container, MlirValue value, int64_t at)
{
    return cute_build_value(b, "llvm.insertvalue", mlirValueGetType(container),
                            CUTE_OPERANDS(container, value), CUTE_NAMED(position(b, at, -1)));
}
