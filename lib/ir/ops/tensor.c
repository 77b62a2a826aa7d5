/* Tensors, iterators, pointers and integers as values. What lib/layout computes of them has rows in algebra.c. */
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/ops/algebra.h"
#include "lib/ir/ops/view.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"

/* A pointer moves when the program runs; an iterator over coordinates is made of integers. */
static bool expands_add_offset(MlirOperation op)
{
    cute_type kind;
    return !cute_type_is(mlirValueGetType(mlirOperationGetOperand(op, 0)), &kind) || kind != CUTE_PTR;
}

static const cute_op_row rows[] = {
    {CUTE_ALGEBRA_EXPANDED(GET_ITER, get_iter), .lower = cute_lower_get_iter},
    {CUTE_ALGEBRA_EXPANDED(GET_LAYOUT, get_layout), .lower = cute_lower_get_layout},
    {CUTE_ALGEBRA(MAKE_VIEW, make_view), .parts = CUTE_PARTS_FIELDS, .lower = cute_lower_make_view},
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
    {.name = "cute.recast_iter", .lower = cute_lower_same},
    {.name = "cute.inttoptr", .lower = cute_lower_inttoptr},
    {.name = "cute.ptrtoint", .lower = cute_lower_ptrtoint},
    {.name = "cute.apply_swizzle", .lower = cute_lower_apply_swizzle},
    {.name = "cute.assume", .lower = cute_lower_same},
    {.name = "cute.fast_divmod.create_divisor"},
    {.name = "cute.fast_divmod.compute"},
};
const cute_op_family cute_family_tensor = {rows, sizeof rows / sizeof *rows};
