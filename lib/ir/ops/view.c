/* See view.h. Pointers become addresses; tensors and iterators become structs. */
#include "lib/ir/ops/view.h"

#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"
#include "lib/ir/ops/algebra.h"

bool cute_lower_same(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    MlirType type = mlirValueGetType(mlirOperationGetResult(l->op, 0));
    MlirValue value = mlirOperationGetOperand(l->op, 0);
    /* Between memory spaces, including generic. */
    bool pointers = mlirTypeIsALLVMPointerType(type) && mlirTypeIsALLVMPointerType(mlirValueGetType(value));
    if (pointers && !mlirTypeEqual(type, mlirValueGetType(value)))
        value = cute_unary(&b, "llvm.addrspacecast", value, type);
    cute_lowered(l, cute_cast(&b, value, type));
    return true;
}

/* Allocates an array for the dynamic leaves of a value, plus one. */
static MlirValue *alloc_leaf_values(const cute_value *value)
{
    return calloc(cute_value_unknowns(value, NULL, 0) + 1, sizeof(MlirValue));
}

/* Assembles a value from its leaves, after the pointer if it is a tensor in memory. */
static MlirValue assemble_value(const cute_builder *b, const cute_value *value, MlirType stored,
                                MlirValue pointer, MlirValue *items)
{
    MlirValue into = pointer;
    bool alone = !mlirValueIsNull(pointer) && mlirTypeEqual(stored, mlirValueGetType(pointer));
    if (!alone && mlirTypeIsALLVMStructType(stored)) {
        const int64_t first = 0;
        into = cute_fields_poison(b, stored);
        if (!mlirValueIsNull(pointer)) into = cute_fields_insert(b, into, pointer, &first, 1);
    }
    return cute_fields_scatter(b, value, into, items);
}

bool cute_lower_make_view(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    const cute_value *view = cute_type_peek(l->results[0]), *layout = cute_type_peek(l->operands[1]);
    MlirValue *items = view && layout ? alloc_leaf_values(view) : NULL,
              iterator = mlirOperationGetOperand(l->op, 0);
    if (!items) return false;
    size_t count = 0;
    if (view->type == CUTE_COORD_TENSOR)
        count = cute_fields_gather(&b, cute_type_peek(l->operands[0]), iterator, items);
    cute_fields_gather(&b, layout, mlirOperationGetOperand(l->op, 1), items + count);
    MlirValue pointer = view->type == CUTE_MEMREF ? iterator : (MlirValue){NULL};
    MlirType stored = mlirValueGetType(mlirOperationGetResult(l->op, 0));
    cute_lowered(l, assemble_value(&b, view, stored, pointer, items));
    free(items);
    return true;
}

/* Lowers the extraction of a part of a view: the leaves starting at `skip`. */
static bool lower_part(const cute_op_lowering *l, size_t skip)
{
    cute_builder b = cute_builder_before(l->op);
    const cute_value *view = cute_type_peek(l->operands[0]), *part = cute_type_peek(l->results[0]);
    MlirValue *items = view && part ? alloc_leaf_values(view) : NULL;
    if (!items) return false;
    cute_fields_gather(&b, view, mlirOperationGetOperand(l->op, 0), items);
    MlirType stored = mlirValueGetType(mlirOperationGetResult(l->op, 0));
    cute_lowered(l, assemble_value(&b, part, stored, (MlirValue){NULL}, items + skip));
    free(items);
    return true;
}

bool cute_lower_get_iter(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    const cute_value *view = cute_type_peek(l->operands[0]);
    if (!view || view->type != CUTE_MEMREF) return view && lower_part(l, 0);
    cute_builder b = cute_builder_before(l->op);
    MlirValue value = mlirOperationGetOperand(l->op, 0);
    const int64_t first = 0;
    MlirType pointer = cute_pointer_type(b.context, view->pointer->space);
    if (!mlirTypeEqual(mlirValueGetType(value), pointer))
        value = cute_fields_extract(&b, value, pointer, &first, 1);
    cute_lowered(l, value);
    return true;
}

bool cute_lower_get_layout(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    const cute_value *view = cute_type_peek(l->operands[0]);
    size_t skip = 0;
    if (view && view->type == CUTE_COORD_TENSOR) {
        cute_value iterator = cute_value_of_tree(CUTE_ARITH_TUPLE_ITER, view->tree);
        skip = cute_value_unknowns(&iterator, NULL, 0);
    }
    return view && lower_part(l, skip);
}

/* Offsets are in units of 16 bytes, like the address in the low word. */
static bool add_to_descriptor(const cute_op_lowering *l, const cute_int *by)
{
    cute_builder b = cute_builder_before(l->op);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    MlirValue words = mlirOperationGetOperand(l->op, 0), step;
    if (by->known)
        step = cute_integer(&b, i32, by->value);
    else
        step = mlirOperationGetOperand(l->op, 1);
    if (!mlirTypeEqual(mlirValueGetType(step), i32)) step = cute_unary(&b, "arith.trunci", step, i32);
    MlirValue low = cute_extract_field(&b, words, 0, -1, i32);
    cute_lowered(l, cute_insert_field(&b, words, cute_binary(&b, "arith.addi", low, step), 0));
    return true;
}

bool cute_lower_add_offset(const cute_op_row *row, const cute_op_lowering *l)
{
    const cute_value *from = cute_type_peek(l->operands[0]), *offset = cute_type_peek(l->operands[1]);
    cute_builder b = cute_builder_before(l->op);
    if (!from || !offset || from->type != CUTE_PTR || offset->tree->kind != CUTE_TREE_INT)
        return cute_op_fail(b.location, row->name, "can be lowered only with a pointer and a single integer");
    const cute_pointer *pointer = from->pointer;
    if (pointer->space == CUTE_SPACE_DESC) return add_to_descriptor(l, &offset->tree->value);
    MlirType element = cute_element_type(b.context, pointer->element);
    MlirType stored = mlirTypeIsNull(element) ? element : cute_stored_type(element, pointer->bits);
    if (mlirTypeIsNull(stored) || pointer->bits == 0)
        return cute_op_fail(b.location, row->name, "expects elements of a known size, but got %s",
                            pointer->element);
    cute_int by = offset->tree->value;
    int64_t divisor = by.known ? by.value : by.divisor ? by.divisor : 1;
    if (pointer->bits < 8 && divisor * pointer->bits % 8)
        return cute_op_fail(
            b.location, row->name,
            "expects an offset in whole bytes, but its elements have %d bits and its divisor is %lld",
            pointer->bits, (long long)divisor);
    MlirValue unknown = {NULL}, value = mlirOperationGetOperand(l->op, 0);
    if (!by.known) unknown = mlirOperationGetOperand(l->op, 1);
    cute_lowered(l, cute_advance(&b, value, stored, pointer->bits, unknown, by.known ? by.value : 0));
    return true;
}

bool cute_lower_apply_swizzle(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    const cute_value *from = cute_type_peek(l->operands[0]);
    if (!from || !from->pointer) return false;
    cute_builder b = cute_builder_before(l->op);
    cute_lowered(l, cute_swizzled_address(&b, from->pointer, mlirOperationGetOperand(l->op, 0)));
    return true;
}

/* The address operand as an SSA integer. */
static MlirValue integer_operand(const cute_builder *b, const cute_op_lowering *l)
{
    const cute_value *value = cute_type_peek(l->operands[0]);
    if (value && value->tree && value->tree->kind == CUTE_TREE_INT && value->tree->value.known)
        return cute_build_constant(b, 64, value->tree->value.value);
    return mlirOperationGetOperand(l->op, 0);
}

bool cute_lower_inttoptr(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    MlirType type = mlirValueGetType(mlirOperationGetResult(l->op, 0));
    cute_lowered(l, cute_unary(&b, "llvm.inttoptr", integer_operand(&b, l), type));
    return true;
}

bool cute_lower_ptrtoint(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    MlirType type = mlirValueGetType(mlirOperationGetResult(l->op, 0));
    cute_lowered(l, cute_unary(&b, "llvm.ptrtoint", mlirOperationGetOperand(l->op, 0), type));
    return true;
}
