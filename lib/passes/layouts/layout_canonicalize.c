/* cute-layout-canonicalize: shortens layouts before they are evaluated.
 *
 * Requires: verified IR. Ensures: no cute.layout_eval of an integer iterates over modes that can be merged,
 * which saves divisions. The mode of each leaf of the coordinate is coalesced, which is the same function
 * inside the layout's domain.
 *
 *     %i = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !cute.layout<"(4,8):(1,4)">) -> !cute.int_tuple<"?">
 * ->
 *     %m = cute.coalesce(%l) : (!cute.layout<"(4,8):(1,4)">) -> !cute.layout<"32:1">
 *     %i = cute.layout_eval(%c, %m) : (!cute.coord<"?">, !cute.layout<"32:1">) -> !cute.int_tuple<"?">
 */
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/passes.h"

/* The coordinate's profile, with 1 for each integer. */
static const cute_tree *profile_of(cute_arena *arena, const cute_tree *coord)
{
    if (coord->kind != CUTE_TREE_TUPLE) return cute_tree_number(arena, 1);
    const cute_tree **items = cute_arena_array(arena, coord->count, sizeof *items);
    for (uint32_t i = 0; items && i < coord->count; i++)
        if (!(items[i] = profile_of(arena, coord->items[i]))) return NULL;
    return items || !coord->count ? cute_tree_tuple(arena, items, coord->count) : NULL;
}

static const cute_tree *shape_of(const cute_value *layout)
{
    return layout->layout.shape;
}

static MlirValue build_static(MlirOperation where, cute_arena *arena, const cute_value *value)
{
    MlirType type = cute_type_of_value(mlirOperationGetContext(where), arena, value);
    cute_builder b = cute_builder_before(where);
    return cute_build_value(&b, "cute.static", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

/* The coalesced layout for `op`, or null if it is not shorter. */
static MlirValue build_coalesced(MlirOperation op, cute_arena *arena, const cute_tree *coord,
                                 const cute_value *layout)
{
    MlirValue none = {NULL}, operand = mlirOperationGetOperand(op, 1);
    cute_rewrite r = {.name = "cute.coalesce", .operands = {operand}, .operand_count = 1};
    MlirValue profile = none;
    if (coord->kind == CUTE_TREE_TUPLE) {
        const cute_tree *tree = profile_of(arena, coord);
        if (!tree) return none;
        cute_value value = cute_value_of_tree(CUTE_COORD, tree);
        profile = r.operands[r.operand_count++] = build_static(op, arena, &value);
    }
    MlirOperation made = cute_rewrite_insert(op, &r);
    cute_value shorter;
    if (!mlirOperationIsNull(made) &&
        cute_type_value(mlirValueGetType(mlirOperationGetResult(made, 0)), &shorter, NULL) == CUTE_OK &&
        shape_of(&shorter)->leaves < shape_of(layout)->leaves)
        return mlirOperationGetResult(made, 0);
    if (!mlirOperationIsNull(made)) mlirOperationDestroy(made);
    if (!mlirValueIsNull(profile)) mlirOperationDestroy(mlirOpResultGetOwner(profile));
    return none;
}

static void shorten_layout_eval(MlirOperation op, void *context)
{
    (void)context;
    cute_arena *arena = cute_arena_create();
    cute_value coord, layout;
    if (arena && cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 0)), &coord, NULL) == CUTE_OK &&
        cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 1)), &layout, NULL) == CUTE_OK &&
        coord.tree->leaves < shape_of(&layout)->leaves) {
        MlirValue shorter = build_coalesced(op, arena, coord.tree, &layout);
        MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
        if (!mlirValueIsNull(shorter)) {
            MlirOperation made =
                cute_rewrite_insert(op, &(cute_rewrite){.name = "cute.layout_eval",
                                                        .operands = {mlirOperationGetOperand(op, 0), shorter},
                                                        .operand_count = 2});
            if (!mlirOperationIsNull(made) &&
                mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(made, 0)), type)) {
                mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(made, 0));
                mlirOperationDestroy(op);
            }
        }
    }
    cute_arena_destroy(arena);
}

static void run_layout_canonicalize(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    cute_op_each(root, "cute.layout_eval", shorten_layout_eval, NULL);
}

const cute_pass cute_pass_layout_canonicalize = {
    .name = "cute-layout-canonicalize",
    .help = "Coalesce layouts before evaluating them",
    .dialects = CUTE_DIALECT_CUTE,
    .run = run_layout_canonicalize,
};
