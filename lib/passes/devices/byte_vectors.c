/* Vectors of bytes, four in a register: arithmetic on all four, where LLVM works on each byte. See byte_vectors.h. */
#include "lib/passes/devices/byte_vectors.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"

enum { BYTES = 4, BYTE = 8, WORD = 32 };

/* Words that hold a vector of bytes; 0: of another type, or not whole words. */
static int64_t words_of(MlirType type)
{
    if (!mlirTypeIsAVector(type) || mlirShapedTypeGetRank(type) != 1) return 0;
    MlirType element = cute_type_element(type);
    if (!mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) != BYTE) return 0;
    int64_t count = mlirShapedTypeGetDimSize(type, 0);
    return count % BYTES ? 0 : count / BYTES;
}

static MlirType vector_of(int64_t count, MlirType element)
{
    return mlirVectorTypeGet(1, &count, element);
}

static MlirValue as_words(const cute_builder *b, MlirValue bytes, int64_t words)
{
    return cute_unary(b, "vector.bitcast", bytes, vector_of(words, mlirIntegerTypeGet(b->context, WORD)));
}

/* The same byte in all four places of a constant word. */
static MlirValue with_bytes(const cute_builder *b, const char *name, MlirValue words, uint32_t byte)
{
    return cute_binary(b, name, words,
                       cute_integer(b, mlirValueGetType(words), (int32_t)(byte * 0x01010101u)));
}

/* The number that all elements of a constant vector are; -1: it is something else. */
static int64_t splat_of(MlirValue value)
{
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !cute_op_is(op, "arith.constant")) return -1;
    MlirAttribute is = mlirOperationGetAttributeByName(op, cute_text("value"));
    if (!mlirAttributeIsADenseElements(is) || !mlirDenseElementsAttrIsSplat(is)) return -1;
    return mlirIntegerAttrGetValueInt(mlirDenseElementsAttrGetSplatValue(is));
}

bool cute_lower_byte_shift(MlirOperation op, const cute_device_work *w)
{
    (void)w;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    int64_t words = words_of(type), by = splat_of(mlirOperationGetOperand(op, 1));
    if (!words || by < 1 || by >= BYTE) return false;
    cute_builder b = cute_builder_before(op);
    MlirValue value = mlirOperationGetOperand(op, 0);
    /* The bits of a shift to the left by as many are in place. */
    MlirOperation from = cute_defining_op(value);
    bool low = !mlirOperationIsNull(from) && cute_op_is(from, "arith.shli") &&
               splat_of(mlirOperationGetOperand(from, 1)) == by;
    MlirValue x = as_words(&b, low ? mlirOperationGetOperand(from, 0) : value, words);
    if (!low) x = cute_binary(&b, "arith.shrui", x, cute_integer(&b, mlirValueGetType(x), by));
    /* A byte shifted without its sign is at most 255 >> by; the guard bit keeps the borrow inside the byte. */
    enum { GUARD = 0x80 };
    uint32_t sign = (uint32_t)GUARD >> by;
    x = with_bytes(&b, "arith.andi", x, 0xFFu >> by);
    x = with_bytes(&b, "arith.xori", x, sign | GUARD);
    x = with_bytes(&b, "arith.subi", x, sign);
    x = with_bytes(&b, "arith.xori", x, GUARD);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), cute_unary(&b, "vector.bitcast", x, type));
    return true;
}

bool cute_lower_byte_conversion(MlirOperation op, const cute_device_work *w)
{
    (void)w;
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    int64_t words = words_of(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    if (!words || !mlirTypeIsAF16(cute_type_element(result))) return false;
    cute_builder b = cute_builder_before(op);
    MlirType i32 = mlirIntegerTypeGet(b.context, WORD);
    MlirValue x = as_words(&b, mlirOperationGetOperand(op, 0), words);
    bool has_sign = cute_op_is(op, "arith.sitofp");
    if (has_sign) x = with_bytes(&b, "arith.xori", x, 0x80);
    /* 0x6400 is 1024 in f16, where the lowest bit of the mantissa is 1. */
    MlirValue upper = cute_build_constant(&b, WORD, 0x64646464);
    MlirValue halves = cute_undefined(&b, vector_of(2 * words, i32));
    for (int64_t i = 0; i < 2 * words; i++) {
        MlirValue word = cute_vector_extract(&b, x, i / 2);
        MlirValue pair =
            cute_assembly(&b, false, i % 2 ? "prmt.b32 $0, $1, $2, 0x4342;" : "prmt.b32 $0, $1, $2, 0x4140;",
                          "=r,r,r", CUTE_OPERANDS(word, upper), i32);
        halves = cute_vector_insert(&b, halves, pair, i);
    }
    MlirValue biased = cute_unary(&b, "vector.bitcast", halves, result);
    MlirAttribute bias = mlirDenseElementsAttrSplatGet(
        result, mlirFloatAttrDoubleGet(b.context, cute_type_element(result), has_sign ? 1152 : 1024));
    MlirValue constant = cute_build_value(&b, "arith.constant", result, CUTE_NO_OPERANDS,
                                          CUTE_NAMED(cute_attribute(b.context, "value", bias)));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                  cute_binary(&b, "arith.subf", biased, constant));
    return true;
}
