/* Division by an invariant divisor: precomputed once, then a multiplication and shifts. Granlund and
 * Montgomery, "Division by Invariant Integers using Multiplication", figure 4.1, for unsigned integers of
 * w bits: with l = ceil(log2 d),
 *
 *     m = floor(2^w (2^l - d) / d) + 1      s1 = min(l, 1)      s2 = max(l - 1, 0)
 *     n / d = (t + (n - t >> s1)) >> s2     t = high(m n)
 *
 * exact for all n and all nonzero d. A divisor is stored as {d, m, s1, s2}: iw, iw, i8, i8. */
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/ir/ops/check.h"

enum { DIVISOR, MULTIPLIER, FIRST_SHIFT, SECOND_SHIFT, FIELDS };

/* ---- types ---- */

MlirType cute_lower_divisor(MlirContext c, cute_arena *arena, MlirType type)
{
    (void)arena;
    MlirType number = mlirIntegerTypeGet(c, (unsigned)cute_type_peek(type)->width),
             shift = mlirIntegerTypeGet(c, 8);
    MlirType fields[FIELDS] = {number, number, shift, shift};
    return mlirLLVMStructTypeLiteralGet(c, FIELDS, fields, false);
}

static bool infer_create(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    MlirType type = query->operand_count ? mlirValueGetType(query->operands[0]) : (MlirType){NULL};
    const cute_value *multiple = mlirTypeIsNull(type) ? NULL : cute_type_peek(type);
    bool integer =
        multiple ? multiple->type == CUTE_INTEGER : !mlirTypeIsNull(type) && mlirTypeIsAInteger(type);
    if (integer)
        cute_op_types_add(out, cute_type_get(query->context, CUTE_TYPE_INDEX_FastDivmodDivisor,
                                             cute_text(cute_integer_width(type) == 64 ? "64" : "32")));
    return true;
}

static bool infer_compute(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    const cute_value *divisor =
        query->operand_count > 1 ? cute_type_peek(mlirValueGetType(query->operands[1])) : NULL;
    for (int i = 0; i < 2 && divisor && divisor->type == CUTE_DIVISOR; i++)
        cute_op_types_add(out, mlirIntegerTypeGet(query->context, (unsigned)divisor->width));
    return true;
}

static bool verify_divisor(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    int from = cute_integer_width(mlirValueGetType(mlirOperationGetOperand(op, 0))),
        to = cute_check_result(&c, 0)->width;
    if (from == to) return true;
    return cute_check_fail(&c, "expects a divisor as wide as its operand, %d bits, but got %d", from, to);
}

static bool verify_divmod(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    int bits = cute_check_operand(&c, 1)->width;
    int widths[] = {cute_integer_width(mlirValueGetType(mlirOperationGetOperand(op, 0))),
                    cute_integer_width(mlirValueGetType(mlirOperationGetResult(op, 0))),
                    cute_integer_width(mlirValueGetType(mlirOperationGetResult(op, 1)))};
    static const char *const names[] = {"dividend", "quotient", "remainder"};
    for (int i = 0; i < 3; i++)
        if (widths[i] != bits)
            return cute_check_fail(&c, "expects a %s as wide as the divisor, %d bits, but got %d", names[i],
                                   bits, widths[i]);
    return true;
}

/* ---- lowering ---- */

static MlirType integer_type(const cute_builder *b, int width)
{
    return mlirIntegerTypeGet(b->context, (unsigned)width);
}

/* The number of bits of x without leading zeros. */
static MlirValue bit_length(const cute_builder *b, MlirValue x, int width)
{
    MlirType type = integer_type(b, width);
    MlirValue zero = cute_integer(b, type, 0), length = zero;
    for (int bits = width / 2; bits; bits /= 2) {
        MlirValue large = cute_compare(b, CUTE_IS_UGE, x, cute_integer(b, type, (int64_t)1 << bits));
        MlirValue by = cute_select(b, large, cute_integer(b, type, bits), zero);
        length = cute_binary(b, "arith.addi", length, by);
        x = cute_binary(b, "arith.shrui", x, by);
    }
    return cute_binary(b, "arith.addi", length, x); /* x is now 0 or 1 */
}

/* floor(2^w r / d) for r < d, by long division, one bit per iteration. */
static MlirValue divide_long(const cute_builder *b, MlirValue r, MlirValue d, int width)
{
    MlirType type = integer_type(b, width), i32 = integer_type(b, 32);
    MlirType types[] = {i32, type, type};
    MlirLocation locations[] = {b->location, b->location, b->location};
    MlirRegion region = mlirRegionCreate();
    MlirBlock block = mlirBlockCreate(3, types, locations);
    mlirRegionAppendOwnedBlock(region, block);
    MlirValue start[] = {cute_integer(b, i32, 0), cute_integer(b, i32, width), cute_integer(b, i32, 1), r,
                         cute_integer(b, type, 0)};
    MlirOperation loop = cute_build_regions(b, "scf.for", (cute_operands){start, 5},
                                            (cute_types){types + 1, 2}, CUTE_NO_NAMED, &region, 1);
    cute_builder in = cute_builder_at_end(block, b->location);
    MlirValue one = cute_integer(&in, type, 1), rest = mlirBlockGetArgument(block, 1),
              quotient = mlirBlockGetArgument(block, 2);
    MlirValue lost = cute_compare(&in, CUTE_IS_SLT, rest, cute_integer(&in, type, 0));
    rest = cute_binary(&in, "arith.shli", rest, one);
    MlirValue goes = cute_binary(&in, "arith.ori", lost, cute_compare(&in, CUTE_IS_UGE, rest, d));
    rest = cute_select(&in, goes, cute_binary(&in, "arith.subi", rest, d), rest);
    quotient = cute_binary(&in, "arith.shli", quotient, one);
    quotient = cute_binary(&in, "arith.ori", quotient, cute_unary(&in, "arith.extui", goes, type));
    cute_build(&in, "scf.yield", CUTE_OPERANDS(rest, quotient), CUTE_NO_TYPES, CUTE_NO_NAMED);
    return mlirOperationGetResult(loop, 1);
}

/* The same for widths up to 32, with a division of twice the width. */
static MlirValue divide_wide(const cute_builder *b, MlirValue r, MlirValue d, int width)
{
    MlirType wide = integer_type(b, 2 * width);
    MlirValue dividend =
        cute_binary(b, "arith.shli", cute_unary(b, "arith.extui", r, wide), cute_integer(b, wide, width));
    MlirValue quotient = cute_binary(b, "arith.divui", dividend, cute_unary(b, "arith.extui", d, wide));
    return cute_unary(b, "arith.trunci", quotient, integer_type(b, width));
}

static bool lower_create(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    int width = cute_type_peek(l->results[0])->width;
    MlirType type = integer_type(&b, width), i8 = integer_type(&b, 8);
    MlirValue d = mlirOperationGetOperand(l->op, 0), zero = cute_integer(&b, type, 0),
              one = cute_integer(&b, type, 1);
    MlirValue length = bit_length(&b, cute_binary(&b, "arith.subi", d, one), width);
    /* 2^l - d, with 2^w taken as 0: a shift by w is poison. */
    MlirValue all = cute_compare(&b, CUTE_IS_EQ, length, cute_integer(&b, type, width));
    MlirValue power = cute_binary(&b, "arith.shli", one, cute_select(&b, all, zero, length));
    MlirValue rest = cute_binary(&b, "arith.subi", cute_select(&b, all, zero, power), d);
    MlirValue quotient = width < 64 ? divide_wide(&b, rest, d, width) : divide_long(&b, rest, d, width);
    MlirValue fields[FIELDS] = {
        d, cute_binary(&b, "arith.addi", quotient, one), cute_binary(&b, "arith.minui", length, one),
        cute_binary(&b, "arith.subi", length, cute_binary(&b, "arith.minui", length, one))};
    MlirValue made = cute_fields_poison(&b, mlirValueGetType(mlirOperationGetResult(l->op, 0)));
    for (int64_t i = 0; i < FIELDS; i++) {
        if (i >= FIRST_SHIFT) fields[i] = cute_unary(&b, "arith.trunci", fields[i], i8);
        made = cute_fields_insert(&b, made, fields[i], &i, 1);
    }
    cute_lowered(l, made);
    return true;
}

/* The upper half of a product. */
static MlirValue multiply_high(const cute_builder *b, MlirValue x, MlirValue y, int width)
{
    MlirType type = integer_type(b, width), wide = integer_type(b, 2 * width);
    if (width == 64) {
        MlirOperation product =
            cute_build(b, "arith.mului_extended", CUTE_OPERANDS(x, y), CUTE_TYPES(type, type), CUTE_NO_NAMED);
        return mlirOperationGetResult(product, 1);
    }
    MlirValue product = cute_binary(b, "arith.muli", cute_unary(b, "arith.extui", x, wide),
                                    cute_unary(b, "arith.extui", y, wide));
    product = cute_binary(b, "arith.shrui", product, cute_integer(b, wide, width));
    return cute_unary(b, "arith.trunci", product, type);
}

static bool lower_compute(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    int width = cute_type_peek(l->operands[1])->width;
    MlirType type = integer_type(&b, width), i8 = integer_type(&b, 8);
    MlirValue n = mlirOperationGetOperand(l->op, 0), divisor = mlirOperationGetOperand(l->op, 1);
    MlirValue fields[FIELDS];
    for (int64_t i = 0; i < FIELDS; i++) {
        fields[i] = cute_fields_extract(&b, divisor, i < FIRST_SHIFT ? type : i8, &i, 1);
        if (i >= FIRST_SHIFT) fields[i] = cute_unary(&b, "arith.extui", fields[i], type);
    }
    MlirValue t = multiply_high(&b, fields[MULTIPLIER], n, width);
    MlirValue quotient =
        cute_binary(&b, "arith.shrui", cute_binary(&b, "arith.subi", n, t), fields[FIRST_SHIFT]);
    quotient =
        cute_binary(&b, "arith.shrui", cute_binary(&b, "arith.addi", t, quotient), fields[SECOND_SHIFT]);
    MlirValue remainder =
        cute_binary(&b, "arith.subi", n, cute_binary(&b, "arith.muli", quotient, fields[DIVISOR]));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(l->op, 0), quotient);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(l->op, 1), remainder);
    mlirOperationDestroy(l->op);
    return true;
}

static const cute_op_row rows[] = {
    {.name = "cute.fast_divmod.create_divisor",
     .infer = infer_create,
     .verify = verify_divisor,
     .lower = lower_create},
    {.name = "cute.fast_divmod.compute",
     .infer = infer_compute,
     .verify = verify_divmod,
     .lower = lower_compute},
};
const cute_op_family cute_family_divisor = {rows, sizeof rows / sizeof *rows};
