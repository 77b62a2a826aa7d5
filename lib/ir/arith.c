/* See arith.h. */
#include "lib/ir/arith.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/util.h"

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
    return cute_build_value(b, "arith.cmpi", mlirIntegerTypeGet(b->context, 1), CUTE_OPERANDS(left, right),
                            CUTE_NAMED(cute_attribute(b->context, "predicate", value)));
}

MlirValue cute_select(const cute_builder *b, MlirValue condition, MlirValue yes, MlirValue no)
{
    return cute_build_value(b, "arith.select", mlirValueGetType(yes), CUTE_OPERANDS(condition, yes, no),
                            CUTE_NO_NAMED);
}

MlirValue cute_integer(const cute_builder *b, MlirType type, int64_t value)
{
    return cute_build_value(b, "arith.constant", type, CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(b->context, "value", mlirIntegerAttrGet(type, value))));
}

MlirValue cute_assembly(const cute_builder *b, const char *text, const char *constraints,
                        cute_operands operands, MlirType result)
{
    MlirNamedAttribute attributes[] = {
        cute_attribute(b->context, "asm_string", cute_string_attribute(b->context, text)),
        cute_attribute(b->context, "constraints", cute_string_attribute(b->context, constraints)),
        cute_attribute(b->context, "has_side_effects", mlirUnitAttrGet(b->context)),
    };
    cute_types results = {&result, !mlirTypeIsNull(result)};
    MlirOperation op = cute_build(b, "llvm.inline_asm", operands, results, (cute_named){attributes, 3});
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
