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
    MlirAttribute element = cute_constant_splat(value);
    return mlirAttributeIsNull(element) ? -1 : mlirIntegerAttrGetValueInt(element);
}

/* The bytes of which `value` is half 0 or 1, sign-extended by a shift; null: it is something else. */
static MlirValue halved_bytes(MlirValue value, int *half)
{
    const MlirValue none = {NULL};
    enum { HALF = 4 };
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !cute_op_is(op, "arith.shrsi") ||
        splat_of(mlirOperationGetOperand(op, 1)) != HALF)
        return none;
    MlirValue from = mlirOperationGetOperand(op, 0);
    op = cute_defining_op(from);
    bool low = !mlirOperationIsNull(op) && cute_op_is(op, "arith.shli") &&
               splat_of(mlirOperationGetOperand(op, 1)) == HALF;
    *half = !low;
    return low ? mlirOperationGetOperand(op, 0) : from;
}

/* (bits & mask) ^ flip of each 16 bits. */
static MlirValue masked(const cute_builder *b, MlirValue word, uint32_t mask, uint32_t flip)
{
    enum { BOTH = 0x10001 };
    return cute_assembly(b, false, "lop3.b32 $0, $1, $2, $3, 0x6a;", "=r,r,r,r",
                         CUTE_OPERANDS(word, cute_build_constant(b, WORD, (int64_t)mask * BOTH),
                                       cute_build_constant(b, WORD, (int64_t)flip * BOTH)),
                         mlirIntegerTypeGet(b->context, WORD));
}

/* A constant vector of one number. */
static MlirValue splat(const cute_builder *b, MlirType type, double number)
{
    MlirAttribute value = mlirDenseElementsAttrSplatGet(
        type, mlirFloatAttrDoubleGet(b->context, cute_type_element(type), number));
    return cute_build_value(b, "arith.constant", type, CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(b->context, "value", value)));
}

/* Halves of bytes to f16 or bf16, two at a time: bytes 0 and 2 of a word are in place for the mantissas of two numbers, 1 and 3 after a
 * shift. With its sign flipped, a half is its value plus 8, in the mantissa of 1024 (f16) or 128 (bf16). The upper half is
 * 16 times that, but not of bf16, whose mantissa is too short. */
static MlirValue convert_halves(const cute_builder *b, MlirValue x, int64_t words, int half, MlirType result)
{
    enum { SHIFT = 4, PAIRS = 2 };
    bool f16 = mlirTypeIsAF16(cute_type_element(result)), upper = half && f16;
    uint32_t one = f16 ? 0x6400 : 0x4300, mask = upper ? 0xF0 : 0xF, sign = upper ? 0x80 : 8;
    double bias = f16 ? 1024 : 128;
    MlirValue pairs = cute_undefined(b, vector_of(PAIRS * words, mlirIntegerTypeGet(b->context, WORD)));
    for (int64_t i = 0; i < words; i++)
        for (int64_t odd = 0; odd < PAIRS; odd++) {
            MlirValue word = cute_vector_extract(b, x, i);
            int64_t by = odd * BYTE + (half && !upper ? SHIFT : 0);
            if (by) word = cute_binary(b, "arith.shrui", word, cute_build_constant(b, WORD, by));
            pairs = cute_vector_insert(b, pairs, masked(b, word, mask, one | sign), PAIRS * i + odd);
        }
    MlirValue values = cute_unary(b, "vector.bitcast", pairs, result);
    double scale = upper ? 1.0 / 16 : 1;
    MlirValue y = cute_build_value(
        b, "math.fma", result,
        CUTE_OPERANDS(values, splat(b, result, scale), splat(b, result, -(bias * scale + 8))), CUTE_NO_NAMED);
    MlirValue out = cute_undefined(b, result);
    for (int64_t i = 0; i < BYTES * words; i++) {
        int64_t byte = i % BYTES, from = i - byte + byte % PAIRS * PAIRS + byte / PAIRS;
        out = cute_vector_insert(b, out, cute_vector_extract(b, y, from), i);
    }
    return out;
}

/* Whether `op` converts halves of bytes to numbers that hold them in their mantissa. */
static bool converts_halves(MlirOperation op)
{
    if (!cute_op_is(op, "arith.sitofp")) return false;
    int half;
    MlirType to = cute_type_element(mlirValueGetType(mlirOperationGetResult(op, 0)));
    int64_t words = words_of(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    return words > 0 && (mlirTypeIsAF16(to) || mlirTypeIsABF16(to)) &&
           !mlirValueIsNull(halved_bytes(mlirOperationGetOperand(op, 0), &half));
}

/* Whether all uses do. */
static bool all_convert_halves(MlirValue value)
{
    bool any = false;
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        if (!converts_halves(mlirOpOperandGetOwner(use))) return false;
        any = true;
    }
    return any;
}

bool cute_lower_byte_shift(MlirOperation op, const cute_device_work *w)
{
    (void)w;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    int64_t words = words_of(type), by = splat_of(mlirOperationGetOperand(op, 1));
    if (!words || by < 1 || by >= BYTE || all_convert_halves(mlirOperationGetResult(op, 0))) return false;
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
    cute_builder b = cute_builder_before(op);
    if (converts_halves(op)) {
        int half;
        MlirValue bytes = halved_bytes(mlirOperationGetOperand(op, 0), &half);
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                      convert_halves(&b, as_words(&b, bytes, words), words, half, result));
        return true;
    }
    if (!words || !mlirTypeIsAF16(cute_type_element(result))) return false;
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
    MlirValue constant = splat(&b, result, has_sign ? 1152 : 1024);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                  cute_binary(&b, "arith.subf", biased, constant));
    return true;
}
