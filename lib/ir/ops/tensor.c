/* Tensors, iterators, pointers and integers as values: operations that need more than the default rows of
 * algebra.c, or whose result type cannot be inferred. */
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/ir/ops/check.h"
#include "lib/ir/ops/view.h"
#include "lib/layout/pointer.h"

/* ---- pointers ---- */

static bool verify_recast(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_pointer *from = cute_check_operand(&c, 0)->pointer, *to = cute_check_result(&c, 0)->pointer;
    return cute_check_space(&c, "result", to, from->space) && cute_check_align(&c, "result", to, from->align);
}

static bool verify_inttoptr(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    const cute_value *multiple = cute_type_peek(type);
    const cute_pointer *to = cute_check_result(&c, 0)->pointer;
    int64_t divisor = multiple ? multiple->tree->value.divisor : 1;
    int width = multiple ? multiple->tree->value.width : (int)mlirIntegerTypeGetWidth(type);
    if (width == 32 && to->space != CUTE_SPACE_SMEM && to->space != CUTE_SPACE_TMEM)
        return cute_check_fail(&c, "expects a 64-bit address for memory space '%s', but got 32 bits",
                               cute_space_name(to->space));
    return cute_check_align(&c, "result", to, divisor);
}

static bool verify_ptrtoint(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_pointer *from = cute_check_operand(&c, 0)->pointer;
    bool narrow = mlirIntegerTypeGetWidth(mlirValueGetType(mlirOperationGetResult(op, 0))) == 32;
    if (!narrow || from->space == CUTE_SPACE_SMEM || from->space == CUTE_SPACE_TMEM) return true;
    return cute_check_fail(&c, "expects an i64 address for memory space '%s', but got i32",
                           cute_space_name(from->space));
}

static bool verify_swizzle(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_pointer *from = cute_check_operand(&c, 0)->pointer, *to = cute_check_result(&c, 0)->pointer;
    if (to->swizzle.bits &&
        !(to->swizzle.bits == from->swizzle.bits && to->swizzle.base == from->swizzle.base &&
          to->swizzle.shift == from->swizzle.shift))
        return cute_check_fail(&c, "expects a result without a swizzle, or with the operand's");
    int64_t align = to->swizzle.bits ? from->align : alg_swizzled_align(from->swizzle, from->align);
    return cute_check_element(&c, "result", to->element, from->element) &&
           cute_check_space(&c, "result", to, from->space) && cute_check_align(&c, "result", to, align);
}

/* ---- integers ---- */

static bool verify_assume(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    int from = cute_integer_width(mlirValueGetType(mlirOperationGetOperand(op, 0))),
        to = cute_integer_width(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (from == to) return true;
    return cute_check_fail(&c, "expects a result as wide as its operand, %d bits, but got %d", from, to);
}

/* Coordinate iterators are expanded to integer arithmetic; pointers are lowered by cute-to-base. */
static bool expands_add_offset(MlirOperation op)
{
    cute_type kind;
    return !cute_type_is(mlirValueGetType(mlirOperationGetOperand(op, 0)), &kind) || kind != CUTE_PTR;
}

static const cute_op_row rows[] = {
    {.name = "cute.get_iter",
     .algebra = CUTE_OP_GET_ITER,
     .infer = cute_algebra_infer,
     .expand = cute_algebra_expand,
     .lower = cute_lower_get_iter},
    {.name = "cute.get_layout",
     .algebra = CUTE_OP_GET_LAYOUT,
     .infer = cute_algebra_infer,
     .expand = cute_algebra_expand,
     .lower = cute_lower_get_layout},
    {.name = "cute.make_view",
     .algebra = CUTE_OP_MAKE_VIEW,
     .infer = cute_algebra_infer,
     .parts = CUTE_PARTS_FIELDS,
     .lower = cute_lower_make_view},
    {CUTE_ALGEBRA_EXPANDED(MAKE_IDENTITY_TENSOR, make_identity_tensor)},
    {CUTE_ALGEBRA_EXPANDED(ADD_OFFSET, add_offset), .expands = expands_add_offset,
     .lower = cute_lower_add_offset},
    {CUTE_ALGEBRA(MAKE_ARITH_TUPLE_ITER, make_arith_tuple_iter), .parts = CUTE_PARTS_FIELDS,
     .lower = cute_lower_same},
    {CUTE_ALGEBRA_EXPANDED(DEREF_ARITH_TUPLE_ITER, deref_arith_tuple_iter), .lower = cute_lower_same},
    {CUTE_ALGEBRA_EXPANDED(LOCAL_TILE, local_tile)},
    {CUTE_ALGEBRA_EXPANDED(LOCAL_PARTITION, local_partition)},
    {CUTE_ALGEBRA_EXPANDED(GET_HIER_COORD, get_hier_coord)},
    {CUTE_ALGEBRA_EXPANDED(GET_FLAT_COORD, get_flat_coord)},
    {CUTE_ALGEBRA_EXPANDED(TUPLE_MUL, tuple_mul)},
    {CUTE_ALGEBRA_EXPANDED(TUPLE_DIV, tuple_div)},
    {CUTE_ALGEBRA_EXPANDED(TUPLE_MOD, tuple_mod)},
    {.name = "cute.recast_iter", .verify = verify_recast, .lower = cute_lower_same},
    {.name = "cute.inttoptr", .verify = verify_inttoptr, .lower = cute_lower_inttoptr},
    {.name = "cute.ptrtoint", .verify = verify_ptrtoint, .lower = cute_lower_ptrtoint},
    {.name = "cute.apply_swizzle", .verify = verify_swizzle, .lower = cute_lower_apply_swizzle},
    {.name = "cute.assume", .verify = verify_assume, .lower = cute_lower_same},
};
const cute_op_family cute_family_tensor = {rows, sizeof rows / sizeof *rows};
