/* Memory operations: checks that tensors, atoms and values match. */
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/atoms/validate.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"
#include "lib/ir/ops/check.h"

/* ---- inference ---- */

/* Null if MLIR has no such type. */
static MlirType element_type_of(MlirContext context, const cute_value *tensor)
{
    return cute_element_type(context, tensor->pointer->element);
}

/* Operand `index` as a tensor; NULL if it is not one, which ODS verification rejects. */
static const cute_value *tensor_at(const MlirValue *operands, intptr_t count, intptr_t index)
{
    const cute_value *value = index < count ? cute_type_peek(mlirValueGetType(operands[index])) : NULL;
    return value && value->type == CUTE_MEMREF ? value : NULL;
}

static bool infer_load(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *tensor = tensor_at(query->operands, query->operand_count, 0);
    if (!tensor) return true;
    MlirType element = element_type_of(query->context, tensor);
    if (mlirTypeIsNull(element))
        return cute_op_fail(query->location, row->name,
                            "expected an element type with an MLIR equivalent, got %s",
                            tensor->pointer->element);
    cute_op_types_add(out, element);
    return true;
}

static MlirType vector_type_of(MlirContext context, const cute_value *tensor)
{
    MlirType element = element_type_of(context, tensor);
    int64_t count = cute_check_size(tensor->layout.shape);
    return mlirTypeIsNull(element) || count < 1 ? (MlirType){NULL} : mlirVectorTypeGet(1, &count, element);
}

static bool infer_vector(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *tensor = tensor_at(query->operands, query->operand_count, 0);
    if (!tensor) return true;
    MlirType vector = vector_type_of(query->context, tensor);
    if (mlirTypeIsNull(vector))
        return cute_op_fail(query->location, row->name, "expected a tensor with static extents");
    cute_op_types_add(out, vector);
    return true;
}

/* ---- whole tensors ---- */

static bool verify_alloca(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *result = cute_check_result(&c, 0);
    cute_value own = cute_value_of_layout(result->layout);
    bool stated = mlirOperationGetNumOperands(op) > 0;
    const cute_value *layout = stated ? cute_check_operand(&c, 0) : &own;
    cute_space space = result->pointer->space;
    if (space != CUTE_SPACE_RMEM && space != CUTE_SPACE_SMEM)
        return cute_check_fail(&c, "expects a result in memory space 'rmem' or 'smem', but got '%s'",
                               cute_space_name(space));
    if (!cute_value_is_static(layout))
        return cute_check_fail(&c, "expects a static layout: %s",
                               space == CUTE_SPACE_RMEM
                                   ? "registers are allocated at compile time"
                                   : "for a size set at launch, use cute_nvgpu.arch.get_dyn_smem");
    return !stated || cute_check_layout(&c, result, layout);
}

static MlirType operand_type(MlirOperation op, intptr_t index)
{
    return mlirValueGetType(mlirOperationGetOperand(op, index));
}

static bool verify_load(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return cute_check_coord(&c, cute_check_operand(&c, 1)->tree, cute_check_operand(&c, 0)->layout.shape);
}

static bool verify_store(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *tensor = cute_check_operand(&c, 0);
    return cute_check_coord(&c, cute_check_operand(&c, 1)->tree, tensor->layout.shape) &&
           cute_check_value(&c, "a value", operand_type(op, 2), tensor->pointer);
}

static bool verify_vector(const cute_check *c, const cute_value *tensor, MlirType vector)
{
    int64_t size = cute_check_size(tensor->layout.shape);
    if (!size)
        return cute_check_fail(
            c, "expects a tensor with static extents, which determine the length of the vector");
    int64_t length = cute_check_length(vector);
    if (!length)
        return cute_check_fail(
            c, "expects a vector of %lld elements, the size of the tensor, but got a length beyond 64 bits",
            (long long)size);
    if (length != size)
        return cute_check_fail(c, "expects a vector of %lld elements, the size of the tensor, but got %lld",
                               (long long)size, (long long)length);
    return cute_check_value(c, "a vector", mlirShapedTypeGetElementType(vector), tensor->pointer);
}

static bool verify_store_vec(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_vector(&c, cute_check_operand(&c, 1), operand_type(op, 0));
}

static bool verify_fill(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return cute_check_value(&c, "a value", operand_type(op, 1), cute_check_operand(&c, 0)->pointer);
}

/* ---- by an atom ---- */

/* The operands as values, where all are such: instructions of descriptors have others. */
static bool read_operands(const cute_check *c, cute_value *out, intptr_t count)
{
    for (intptr_t i = 0; i < count; i++) {
        const cute_value *value = cute_check_operand(c, i);
        if (!value) return false;
        out[i] = *value;
    }
    return true;
}

static bool verify_copy(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_value operands[4];
    intptr_t count = mlirOperationGetNumOperands(op);
    if (!read_operands(&c, operands, count)) return true;
    if (operands[0].atom->kind != CUTE_ATOM_COPY)
        return cute_check_fail(&c, "expects a copy atom, but got '%s'", operands[0].atom->mnemonic);
    if (count < 4 && !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, cute_text("zero_fill"))))
        return cute_check_fail(&c, "expects a predicate with 'zero_fill': it selects the elements to zero");
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    bool ok = cute_copy_verify(arena, &operands[0], &operands[1], &operands[2],
                               count > 3 ? &operands[3] : NULL, diag) == CUTE_OK;
    if (!ok)
        cute_check_fail(&c, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "out of memory");
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static bool verify_prefetch(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_atom *atom = cute_check_operand(&c, 0)->atom;
    const cute_value *source = cute_check_operand(&c, 1);
    if (atom->kind != CUTE_ATOM_COPY)
        return cute_check_fail(&c, "expects a copy atom, but got '%s'", atom->mnemonic);
    /* Of a tensor map, coordinates are prefetched. */
    if (!atom->known || !source || source->type != CUTE_MEMREF) return true;
    return cute_check_space(&c, "operand #1", source->pointer, CUTE_SPACE_GMEM);
}

static bool verify_gemm(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_atom *atom = cute_check_operand(&c, 0)->atom;
    if (atom->kind != CUTE_ATOM_MMA)
        return cute_check_fail(&c, "expects an MMA atom, but got '%s'", atom->mnemonic);
    cute_value operands[5];
    if (!read_operands(&c, operands, 5)) return true;
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    bool ok = cute_gemm_verify(arena, &operands[0], operands + 1, diag) == CUTE_OK;
    if (!ok)
        cute_check_fail(&c, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "out of memory");
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

/* ---- single accesses ---- */

static bool verify_access(const cute_check *c, const cute_pointer *pointer, MlirType type)
{
    if (pointer->swizzle.bits)
        return cute_check_fail(c, "expects a pointer without a swizzle: use cute.apply_swizzle");
    if (!mlirTypeIsAVector(type)) return cute_check_value(c, "a value", type, pointer);
    int64_t bits, length = cute_check_length(type);
    if (!cute_check_value(c, "a vector", mlirShapedTypeGetElementType(type), pointer)) return false;
    if (!length || __builtin_mul_overflow(length, (int64_t)pointer->bits, &bits))
        return cute_check_fail(c, "expects a vector whose size in bits fits in 64 bits");
    int64_t bytes = bits / 8;
    if (pointer->space == CUTE_SPACE_RMEM || bytes <= pointer->align) return true;
    return cute_check_fail(c, "expects a pointer aligned to the access size, %lld bytes, but got %lld",
                           (long long)bytes, (long long)pointer->align);
}

static bool verify_ptr_load(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_access(&c, cute_check_operand(&c, 0)->pointer,
                         mlirValueGetType(mlirOperationGetResult(op, 0)));
}

static bool verify_ptr_store(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_access(&c, cute_check_operand(&c, 0)->pointer, operand_type(op, 1));
}

static const cute_op_row rows[] = {
    {.name = "cute.memref.alloca", .verify = verify_alloca},
    {.name = "cute.memref.load", .infer = infer_load, .verify = verify_load},
    {.name = "cute.memref.store", .verify = verify_store},
    {.name = "cute.memref.load_vec", .infer = infer_vector},
    {.name = "cute.memref.store_vec", .verify = verify_store_vec},
    {.name = "cute.fill", .verify = verify_fill},
    {.name = "cute.copy", .verify = verify_copy},
    {.name = "cute.copy_atom_call", .verify = verify_copy},
    {.name = "cute.prefetch", .verify = verify_prefetch},
    {.name = "cute.gemm", .verify = verify_gemm},
    {.name = "cute.mma_atom_call", .verify = verify_gemm},
    {.name = "cute.ptr.load", .verify = verify_ptr_load},
    {.name = "cute.ptr.store", .verify = verify_ptr_store},
};
const cute_op_family cute_family_memory = {rows, sizeof rows / sizeof *rows};
