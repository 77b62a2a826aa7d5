/* Tensors, iterators, pointers and integers as values. What lib/layout computes of them has rows in algebra.c. */
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/ops/algebra.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"

/* An operation that lib/layout may not know yet: then its result is what it says. */
static bool infer_named(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_op_row known = *row;
    if (!cute_operation_find(row->name + 5, &known.algebra)) return true;
    return cute_algebra_infer(&known, query, out);
}

#define NAMED(op) {.name = "cute." #op, .infer = infer_named}

static const cute_op_row rows[] = {
    NAMED(get_iter),
    NAMED(get_layout),
    NAMED(make_view),
    NAMED(make_identity_tensor),
    NAMED(add_offset),
    NAMED(make_arith_tuple_iter),
    NAMED(deref_arith_tuple_iter),
    NAMED(local_tile),
    NAMED(local_partition),
    NAMED(get_hier_coord),
    NAMED(get_flat_coord),
    NAMED(tuple_mul),
    NAMED(tuple_div),
    NAMED(tuple_mod),
    {.name = "cute.recast_iter"},
    {.name = "cute.inttoptr"},
    {.name = "cute.ptrtoint"},
    {.name = "cute.apply_swizzle"},
    {.name = "cute.assume"},
    {.name = "cute.fast_divmod.create_divisor"},
    {.name = "cute.fast_divmod.compute"},
};
const cute_op_family cute_family_tensor = {rows, sizeof rows / sizeof *rows};
