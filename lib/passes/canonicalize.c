/* cute-canonicalize: values of the dialect in their simplest form.
 *
 * Requires: verified IR. Ensures: no part is taken from a value that was just put together, nothing is put
 * together from the parts of one value, conversions there and back are gone, what the types say whole is
 * cute.static, no pure operation stands twice or is dead.
 *
 *     %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(4,1)">) ->
 * !cute.layout<"(?,4):(4,1)"> %t = cute.get_shape(%l) : !cute.layout<"(?,4):(4,1)"> -> !cute.shape<"(?,4)">
 * ->
 *     (%s)
 */

#include "lib/ir/hooks.h"
#include "lib/ir/shim.h"
#include "lib/passes/passes.h"
#include "lib/passes/peephole.h"

/* ---- parts of what was put together ---- */

static bool first_of_source(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)op;
    out->value = mlirOperationGetOperand(source, 0);
    return true;
}

static bool second_of_source(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)op;
    out->value = mlirOperationGetOperand(source, 1);
    return true;
}

static bool third_of_source(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)op;
    out->value = mlirOperationGetOperand(source, 2);
    return true;
}

/* The value of which operand `i` is the part called `part`, or null. */
static MlirValue whole(MlirOperation op, intptr_t i, const char *part)
{
    MlirOperation maker = cute_maker(mlirOperationGetOperand(op, i));
    if (mlirOperationIsNull(maker) || !cute_op_is(maker, part)) return (MlirValue){NULL};
    return mlirOperationGetOperand(maker, 0);
}

static bool same_layout(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    out->value = mlirOperationGetOperand(source, 0);
    MlirValue other = whole(op, 1, "cute.get_stride");
    return !mlirValueIsNull(other) && mlirValueEqual(other, out->value);
}

static bool same_composed(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    out->value = mlirOperationGetOperand(source, 0);
    MlirValue offset = whole(op, 1, "cute.composed_get_offset"),
              outer = whole(op, 2, "cute.composed_get_outer");
    return !mlirValueIsNull(offset) && !mlirValueIsNull(outer) && mlirValueEqual(offset, out->value) &&
           mlirValueEqual(outer, out->value);
}

/* ---- operations that do nothing ---- */

/* The same leaves in the same order are the same value where the type stays. */
static bool operand_itself(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)source;
    out->value = mlirOperationGetOperand(op, 0);
    return true;
}

static bool second_is_static(MlirOperation op)
{
    return cute_type_is_static(mlirValueGetType(mlirOperationGetOperand(op, 1)));
}

/* All leaves of the second operand are `number`. */
static bool second_is(MlirOperation op, int64_t number)
{
    if (!second_is_static(op)) return false;
    cute_arena *arena = cute_arena_create();
    cute_value value;
    bool all = cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 1)), &value, NULL) == CUTE_OK;
    size_t count = 0;
    cute_value *leaves = NULL;
    all = all && cute_value_leaves(arena, &value, false, &leaves, &count, NULL) == CUTE_OK;
    for (size_t i = 0; all && i < count; i++)
        all =
            leaves[i].tree && leaves[i].tree->kind == CUTE_TREE_INT && leaves[i].tree->value.value == number;
    cute_arena_destroy(arena);
    return all;
}

static bool by_nothing(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return second_is(op, 0) && operand_itself(op, source, out);
}

static bool by_one(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return second_is(op, 1) && operand_itself(op, source, out);
}

static const cute_peephole table[] = {
    {"cute.get_shape", "cute.make_layout", first_of_source},
    {"cute.get_stride", "cute.make_layout", second_of_source},
    {"cute.composed_get_inner", "cute.make_composed_layout", first_of_source},
    {"cute.composed_get_offset", "cute.make_composed_layout", second_of_source},
    {"cute.composed_get_outer", "cute.make_composed_layout", third_of_source},
    {"cute.make_layout", "cute.get_shape", same_layout},
    {"cute.make_composed_layout", "cute.composed_get_inner", same_composed},
    {"cute.to_int_tuple", "cute.to_shape", first_of_source},
    {"cute.to_int_tuple", "cute.to_stride", first_of_source},
    {"cute.to_int_tuple", "cute.to_coord", first_of_source},
    {"cute.to_shape", "cute.to_int_tuple", first_of_source},
    {"cute.to_stride", "cute.to_int_tuple", first_of_source},
    {"cute.to_coord", "cute.to_int_tuple", first_of_source},
    {"cute.to_int_tuple", NULL, operand_itself},
    {"cute.get", NULL, operand_itself},
    {"cute.flatten", NULL, operand_itself},
    {"cute.tuple_product", NULL, operand_itself},
    {"cute.tuple_product_each", NULL, operand_itself},
    {"cute.append_to_rank", NULL, operand_itself},
    {"cute.prepend_to_rank", NULL, operand_itself},
    {"cute.tuple_add", NULL, by_nothing},
    {"cute.tuple_sub", NULL, by_nothing},
    {"cute.ceil_div", NULL, by_one},
    {"cute.shape_div", NULL, by_one},
};

static void run(MlirOperation root, cute_pass_run *pass)
{
    cute_peephole_run(root, table, sizeof table / sizeof *table);
    if (!cute_pass_run_pipeline(pass, "cute-fold-static,cse", root)) cute_pass_fail(pass);
}

const cute_pass cute_pass_canonicalize = {
    .name = "cute-canonicalize",
    .help = "Simplify values of the dialect cute",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH,
    .run = run,
};
