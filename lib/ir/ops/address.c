/* See address.h. */
#include "lib/ir/ops/address.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/text/spellings.h"

MlirType cute_element_type(MlirContext context, const char *text)
{
    const char *other = cute_spelling_of_element(text);
    return mlirTypeParseGet(context, cute_text(other ? other : text));
}

static bool is_small_float(MlirType type)
{
    return mlirTypeIsAFloat8E4M3FN(type) || mlirTypeIsAFloat8E5M2(type) || mlirTypeIsAFloat8E4M3FNUZ(type) ||
           mlirTypeIsAFloat8E5M2FNUZ(type) || mlirTypeIsAFloat8E4M3B11FNUZ(type);
}

MlirType cute_stored_type(MlirType element, int bits)
{
    MlirContext c = mlirTypeGetContext(element);
    if (mlirTypeIsAF16(element) || mlirTypeIsABF16(element) || mlirTypeIsAF32(element) ||
        mlirTypeIsAF64(element))
        return element;
    if (mlirTypeIsAInteger(element) || is_small_float(element) || mlirTypeIsATF32(element) ||
        mlirTypeIsAIndex(element))
        return mlirIntegerTypeGet(c, bits < 8 ? 8 : (unsigned)bits);
    if (mlirTypeIsALLVMPointerType(element)) return element;
    return (MlirType){NULL};
}

MlirValue cute_advance(const cute_builder *b, MlirValue pointer, MlirType stored, int bits, MlirValue by,
                       int64_t constant)
{
    MlirContext c = b->context;
    if (bits < 8) {
        constant = constant * bits / 8;
        int elements = bits > 0 ? 8 / bits : 1; /* in a byte */
        if (!mlirValueIsNull(by))
            by = cute_binary(b, "arith.shrsi", by,
                             cute_integer(b, mlirValueGetType(by), __builtin_ctz((unsigned)elements)));
    }
    for (int pass = 0; pass < 2; pass++) {
        bool unknown = pass == 0;
        if (unknown ? mlirValueIsNull(by) : constant == 0) continue;
        if (!unknown &&
            (constant != (int32_t)constant || constant == INT32_MIN)) { /* more than the attribute holds */
            by = cute_integer(b, mlirIntegerTypeGet(c, 64), constant);
            unknown = true;
        }
        int32_t index = unknown ? INT32_MIN : (int32_t)constant;
        MlirNamedAttribute attributes[] = {
            cute_attribute(c, "elem_type", mlirTypeAttrGet(stored)),
            cute_attribute(c, "rawConstantIndices", mlirDenseI32ArrayGet(c, 1, &index))};
        MlirValue operands[] = {pointer, by};
        pointer = cute_build_value(b, "llvm.getelementptr", mlirValueGetType(pointer),
                                   (cute_operands){operands, unknown ? 2 : 1}, (cute_named){attributes, 2});
    }
    return pointer;
}

MlirValue cute_swizzled_address(const cute_builder *b, const cute_pointer *pointer, MlirValue address)
{
    cute_swizzle s = pointer->swizzle;
    if (!s.bits) return address;
    MlirType type = mlirIntegerTypeGet(b->context, pointer->space == CUTE_SPACE_SMEM ? 32 : 64);
    MlirValue number = cute_unary(b, "llvm.ptrtoint", address, type);
    int distance = s.shift < 0 ? -s.shift : s.shift;
    int64_t mask = (((int64_t)1 << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    MlirValue part = cute_binary(b, "arith.andi", number, cute_integer(b, type, mask));
    part = cute_binary(b, s.shift > 0 ? "arith.shrui" : "arith.shli", part, cute_integer(b, type, distance));
    number = cute_binary(b, "arith.xori", number, part);
    return cute_unary(b, "llvm.inttoptr", number, mlirValueGetType(address));
}
