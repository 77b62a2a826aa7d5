/* Atomic updates of tensor elements: supported types and memory spaces. */
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"

/* ---- inference ---- */

/* The old value has the type of the last operand before the tensor. */
static bool infer_atomic(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    if (query->operand_count >= 3)
        cute_op_types_add(out, mlirValueGetType(query->operands[query->operand_count - 3]));
    return true;
}

/* ---- types ---- */

enum { I16 = 1, I32 = 2, I64 = 4, F16 = 8, BF16 = 16, F32 = 32, F64 = 64 };
enum { WORDS = I32 | I64, NUMBERS = WORDS | F16 | BF16 | F32 | F64, BITS = I16 | NUMBERS };

static const struct {
    const char *operation;
    unsigned types;
    bool vectors;
} kinds[] = {
#define CUTE_ATOMIC_CAS(name, types)              {"cute.atomic_" #name, types, false},
#define CUTE_ATOMIC_OP(name, types, vectors, ...) {"cute.atomic_" #name, types, vectors},
#include "lib/ir/ops/atomics.def"
};

static unsigned type_bit(MlirType type)
{
    if (mlirTypeIsAF16(type)) return F16;
    if (mlirTypeIsABF16(type)) return BF16;
    if (mlirTypeIsAF32(type)) return F32;
    if (mlirTypeIsAF64(type)) return F64;
    if (!mlirTypeIsAInteger(type)) return 0;
    unsigned width = mlirIntegerTypeGetWidth(type);
    return width == 16 ? I16 : width == 32 ? I32 : width == 64 ? I64 : 0;
}

static bool verify_atomic_type(const cute_check *c, unsigned allowed, MlirType type)
{
    if (type_bit(type) & allowed) return true;
    static const char *const names[] = {"i16", "i32", "i64", "f16", "bf16", "f32", "f64"};
    cute_buffer text = {0}, got = {0};
    for (int i = 0; i < 7; i++) {
        if (!(allowed & 1u << i)) continue;
        bool last = allowed >> (i + 1) == 0;
        cute_buffer_printf(&text, "%s%s", !text.length ? "" : last ? " or " : ", ", names[i]);
    }
    mlirTypePrint(type, cute_print_to_buffer, &got);
    cute_check_fail(c, "expects %s, but got '%s'", cute_buffer_text(&text), cute_buffer_text(&got));
    cute_buffer_release(&text);
    cute_buffer_release(&got);
    return false;
}

/* ---- vectors ---- */

/* PTX ISA, "atom": .f16x2 and .bf16x2 in any memory, .vec_32_bit and .vec_16_bit in global memory. */
static bool verify_atomic_vector(const cute_check *c, MlirType vector, const cute_pointer *pointer)
{
    MlirType element = mlirShapedTypeGetElementType(vector);
    int64_t count = cute_check_length(vector);
    bool half = type_bit(element) & (F16 | BF16), single = mlirTypeIsAF32(element),
         global = pointer->space == CUTE_SPACE_GMEM, flat = mlirShapedTypeGetRank(vector) == 1;
    if (half && flat && (count == 2 || (global && (count == 4 || count == 8)))) return true;
    if (single && flat && global && (count == 2 || count == 4)) return true;
    cute_buffer got = {0};
    mlirTypePrint(vector, cute_print_to_buffer, &got);
    cute_check_fail(c,
                    "expects 2 elements of f16 or bf16, or, in gmem, 4 or 8 of f16 or bf16 or 2 or 4 of f32, "
                    "but got '%s' in %s",
                    cute_buffer_text(&got), cute_space_name(pointer->space));
    cute_buffer_release(&got);
    return false;
}

static bool verify_atomic(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    intptr_t values = mlirOperationGetNumOperands(op) - 2;
    const cute_value *tensor = cute_check_operand(&c, values);
    const cute_pointer *pointer = tensor->pointer;
    if (pointer->space == CUTE_SPACE_RMEM || pointer->space == CUTE_SPACE_TMEM ||
        pointer->space == CUTE_SPACE_DESC)
        return cute_check_fail(&c, "expects a tensor in gmem or smem, but got '%s'",
                               cute_space_name(pointer->space));
    if (!cute_check_coord(&c, cute_check_operand(&c, values + 1)->tree, tensor->layout.shape)) return false;
    size_t kind = 0;
    while (strcmp(kinds[kind].operation, row->name)) kind++;
    for (intptr_t i = 0; i < values; i++) {
        MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
        if (mlirTypeIsAVector(type) && kinds[kind].vectors) {
            MlirType element = mlirShapedTypeGetElementType(type);
            if (!cute_check_value(&c, "a vector", element, pointer) ||
                !verify_atomic_vector(&c, type, pointer))
                return false;
        } else if (!verify_atomic_type(&c, kinds[kind].types, type) ||
                   !cute_check_value(&c, "a value", type, pointer)) {
            return false;
        }
    }
    return true;
}

static const cute_op_row rows[] = {
#define CUTE_ATOMIC_OP(suffix, ...)                                                                          \
    {.name = "cute.atomic_" #suffix, .infer = infer_atomic, .verify = verify_atomic},
#define CUTE_ATOMIC_CAS CUTE_ATOMIC_OP
#include "lib/ir/ops/atomics.def"
};
const cute_op_family cute_family_atomic = {rows, sizeof rows / sizeof *rows};
