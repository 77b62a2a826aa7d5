/* cute-partition-optimization: hoists partitions out of loops.
 *
 * Requires: verified IR before cute-tensor-partition. Ensures: in an scf.for, loop-invariant tiles and
 * partitions and the operations that build their operands are moved before the loop. A partition of a tile
 * whose coordinate depends on the loop is replaced by a partition of all tiles along the varying modes,
 * before the loop, and a slice of it in the loop. Result types do not change.
 *
 *     scf.for %k = ... {
 *       %g = cute.local_tile(%a, %tile, (%m, %k))
 *       %s = cute.tiled.copy.partition_S(%copy, %g, %t)
 * ->
 *     %g = cute.local_tile(%a, %tile, (%m, _))
 *     %p = cute.tiled.copy.partition_S(%copy, %g, %t)
 *     scf.for %k = ... {
 *       %s = cute.slice(%p, (_, _, _, %k))
 */
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/dead.h"
#include "lib/passes/passes.h"

enum { MOST_OPERANDS = 4, MOST_MODES = 16 };

/* Operations that may be moved out of a loop. Those in `partitions` divide by a known tiler, never by 0. */
static const struct {
    const char *name;
    int tensor;   /* the operand that is partitioned; -1: not a partition */
    bool divides; /* by operand 1 */
} movable[] = {
    {"cute.tiled.copy.partition_S", 1, false},
    {"cute.tiled.copy.partition_D", 1, false},
    {"cute.tiled.copy.retile", 1, false},
    {"cute.tiled.mma.partition", 1, false},
    {"cute.local_partition", 0, true},
    {"cute.local_tile", -1, true},
    {"cute.slice", -1, false},
    {"cute.get_iter", -1, false},
    {"cute.get_layout", -1, false},
    {"cute.get_shape", -1, false},
    {"cute.make_view", -1, false},
    {"cute.make_layout", -1, false},
    {"cute.make_shape", -1, false},
    {"cute.make_stride", -1, false},
    {"cute.make_coord", -1, false},
    {"cute.make_int_tuple", -1, false},
    {"cute.make_identity_tensor", -1, false},
    {"cute.make_atom", -1, false},
    {"cute.make_tiled_copy", -1, false},
    {"cute.make_tiled_mma", -1, false},
    {"cute.static", -1, false},
    {"cute.group_modes", -1, false},
};

static int movable_row(MlirOperation op)
{
    int count = sizeof movable / sizeof *movable;
    for (int i = 0; i < count; i++)
        if (cute_op_is(op, movable[i].name)) return i;
    return -1;
}

static bool is_inside(MlirValue value, MlirOperation loop)
{
    MlirOperation op = mlirValueIsAOpResult(value)
                           ? mlirOpResultGetOwner(value)
                           : mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
    for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
        if (mlirOperationEqual(op, loop)) return true;
    return false;
}

/* Whether all operands but `except` (-1: all) are loop-invariant. */
static bool is_invariant(MlirOperation op, MlirOperation loop, intptr_t except)
{
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (i != except && is_inside(mlirOperationGetOperand(op, i), loop)) return false;
    return true;
}

static bool may_move(MlirOperation op, int row)
{
    return !movable[row].divides || (mlirOperationGetNumOperands(op) > 1 &&
                                     cute_type_is_static(mlirValueGetType(mlirOperationGetOperand(op, 1))));
}

/* ---- tiles along varying modes ---- */

/* A copy of `op` with other operands; null if the layout algebra rejects it. */
static MlirOperation rebuild_op(const cute_builder *b, MlirOperation op, const char *name,
                                const MlirValue *operands, intptr_t count)
{
    MlirNamedAttribute kept[MOST_OPERANDS];
    intptr_t attributes = 0;
    for (intptr_t i = 0; !mlirOperationIsNull(op) && i < mlirOperationGetNumAttributes(op); i++) {
        MlirNamedAttribute one = mlirOperationGetAttribute(op, i);
        if (cute_text_is(mlirIdentifierStr(one.name), "operandSegmentSizes")) continue;
        if (attributes == MOST_OPERANDS) return (MlirOperation){NULL};
        kept[attributes++] = one;
    }
    const cute_op_row *row = cute_op_row_find(name, strlen(name));
    cute_op_query query = {.context = b->context,
                           .location = b->location,
                           .operand_count = count,
                           .operands = operands,
                           .attributes = mlirDictionaryAttrGet(b->context, attributes, kept)};
    cute_arena *arena = cute_arena_create();
    MlirOperation made = {NULL};
    cute_value value;
    if (arena && row && cute_algebra_apply(arena, &query, row->algebra, &value, NULL) == CUTE_OK) {
        MlirType type = cute_type_of_value(b->context, arena, &value);
        if (!mlirTypeIsNull(type))
            made = cute_build(b, name, (cute_operands){operands, count}, CUTE_TYPES(type),
                              (cute_named){kept, attributes});
    }
    cute_arena_destroy(arena);
    return made;
}

/* A coordinate built from leaves of another one, and `_`. */
typedef struct coordinate {
    cute_buffer text; /* "(?,_" */
    MlirValue operands[MOST_MODES];
    intptr_t count;
} coordinate;

static void put_leaf(coordinate *c, const char *leaf)
{
    cute_buffer_printf(&c->text, "%s%s", c->text.length ? "," : "(", leaf);
}

static MlirValue make_coordinate(const cute_builder *b, coordinate *c)
{
    cute_buffer_putc(&c->text, ')');
    MlirType type = cute_type_get(b->context, CUTE_TYPE_INDEX_Coord, cute_text(cute_buffer_text(&c->text)));
    return cute_build_value(b, "cute.make_coord", type, (cute_operands){c->operands, c->count},
                            CUTE_NO_NAMED);
}

/* Splits the coordinate of a tile into `whole`, with `_` for the leaves that vary, and `slice`, which
 * selects those. False if it is not built from leaves. */
static bool split_coordinate(cute_arena *arena, MlirOperation tile, MlirOperation loop, coordinate *whole,
                             coordinate *slice, size_t *changing)
{
    MlirOperation made = cute_defining_op(mlirOperationGetOperand(tile, 2));
    if (mlirOperationIsNull(made) || !cute_op_is(made, "cute.make_coord")) return false;
    const cute_tree *tree = cute_type_peek(mlirValueGetType(mlirOperationGetResult(made, 0)))->tree;
    MlirAttribute attribute = mlirOperationGetAttributeByName(tile, cute_text("proj"));
    cute_value proj = {0};
    if (!mlirAttributeIsNull(attribute)) {
        MlirStringRef text = cute_coord_text(attribute);
        if (cute_value_parse(arena, CUTE_COORD, text.data, text.length, &proj, NULL, NULL)) return false;
    }
    if (tree->kind != CUTE_TREE_TUPLE || tree->count > MOST_MODES) return false;
    intptr_t operand = 0;
    *changing = 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        const cute_tree *leaf = tree->items[i];
        if (leaf->kind == CUTE_TREE_UNDERSCORE) {
            /* Modes that were `_` before would be between the new ones. */
            if (!proj.tree || i >= proj.tree->count || proj.tree->items[i]->kind != CUTE_TREE_UNDERSCORE)
                return false;
            put_leaf(whole, "_");
            continue;
        }
        if (leaf->kind != CUTE_TREE_INT) return false;
        const char *text = cute_tree_text(arena, leaf);
        bool dropped = proj.tree && proj.tree->kind == CUTE_TREE_TUPLE && i < proj.tree->count &&
                       proj.tree->items[i]->kind == CUTE_TREE_UNDERSCORE;
        if (leaf->value.known) {
            put_leaf(whole, text);
            continue;
        }
        if (operand == mlirOperationGetNumOperands(made)) return false;
        MlirValue value = mlirOperationGetOperand(made, operand++);
        if (!is_inside(value, loop)) {
            put_leaf(whole, text);
            whole->operands[whole->count++] = value;
        } else if (dropped) {
            put_leaf(whole, "0");
        } else {
            put_leaf(whole, "_");
            put_leaf(slice, text);
            slice->operands[slice->count++] = value;
            ++*changing;
        }
    }
    return operand == mlirOperationGetNumOperands(made) && *changing;
}

static size_t view_rank(MlirValue view)
{
    const cute_value *value = cute_type_peek(mlirValueGetType(view));
    const cute_tree *shape = value ? value->layout.shape : NULL;
    return shape && shape->kind == CUTE_TREE_TUPLE ? shape->count : 1;
}

/* Erases new operations after a failure. */
static void erase_ops(MlirOperation *made, int count)
{
    while (count-- > 0)
        if (!mlirOperationIsNull(made[count])) mlirOperationDestroy(made[count]);
}

/* Replaces the partition `op` of a tile at a varying coordinate by a slice of the partition of all those
 * tiles. */
static bool slice_of_all(MlirOperation op, int tensor, MlirOperation loop, MlirOperation tile,
                         coordinate *whole, coordinate *slice, size_t changing)
{
    MlirValue operands[MOST_OPERANDS], result = mlirOperationGetResult(op, 0), all;
    intptr_t count = mlirOperationGetNumOperands(op);
    MlirOperation made[5] = {{NULL}};
    if (count > MOST_OPERANDS) return false;
    cute_builder outside = cute_builder_before(loop), inside = cute_builder_before(op);
    outside.location = mlirOperationGetLocation(tile);
    MlirValue tiled[] = {mlirOperationGetOperand(tile, 0), mlirOperationGetOperand(tile, 1),
                         make_coordinate(&outside, whole)};
    made[0] = cute_defining_op(tiled[2]);
    made[1] = rebuild_op(&outside, tile, "cute.local_tile", tiled, 3);
    if (mlirOperationIsNull(made[1])) return erase_ops(made, 1), false;
    for (intptr_t i = 0; i < count; i++) operands[i] = mlirOperationGetOperand(op, i);
    operands[tensor] = mlirOperationGetResult(made[1], 0);
    outside.location = inside.location;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    made[2] = rebuild_op(&outside, op, cute_op_row_find(name.data, name.length)->name, operands, count);
    if (mlirOperationIsNull(made[2])) return erase_ops(made, 2), false;
    all = mlirOperationGetResult(made[2], 0);
    if (view_rank(all) != view_rank(result) + changing) return erase_ops(made, 3), false;
    coordinate at = {.count = slice->count};
    for (size_t i = 0; i < view_rank(result); i++) put_leaf(&at, "_");
    cute_buffer_puts(&at.text, ",");
    cute_buffer_puts(&at.text, cute_buffer_text(&slice->text) + 1);
    memcpy(at.operands, slice->operands, sizeof at.operands);
    MlirValue pair[] = {all, make_coordinate(&inside, &at)};
    cute_buffer_release(&at.text);
    made[3] = cute_defining_op(pair[1]);
    made[4] = rebuild_op(&inside, (MlirOperation){NULL}, "cute.slice", pair, 2);
    if (mlirOperationIsNull(made[4])) return erase_ops(made, 4), false;
    MlirValue sliced = mlirOperationGetResult(made[4], 0);
    if (!mlirTypeEqual(mlirValueGetType(sliced), mlirValueGetType(result))) return erase_ops(made, 5), false;
    mlirValueReplaceAllUsesOfWith(result, sliced);
    return true;
}

/* ---- loops ---- */

typedef struct optimization {
    cute_pass_run *pass;
    bool changed;
} optimization;

static unsigned line_of(MlirOperation op)
{
    MlirStringRef file;
    unsigned line = 0, column;
    cute_location_place(mlirOperationGetLocation(op), &file, &line, &column);
    return line;
}

static void remark_hoisted(optimization *o, MlirOperation op, MlirOperation loop, const char *what)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_pass_remark(o->pass, mlirOperationGetLocation(op), "'%.*s' is computed before the loop at line %u%s",
                     (int)name.length, name.data, line_of(loop), what);
}

static void take_slices(optimization *o, MlirOperation op, int tensor, MlirOperation loop)
{
    MlirOperation tile = cute_defining_op(mlirOperationGetOperand(op, tensor));
    if (mlirOperationIsNull(tile) || !cute_op_is(tile, "cute.local_tile") ||
        mlirOperationGetNumOperands(tile) != 3 || !is_inside(mlirOperationGetResult(tile, 0), loop) ||
        !is_invariant(tile, loop, 2) || !is_invariant(op, loop, tensor) ||
        !may_move(tile, movable_row(tile)) || !may_move(op, movable_row(op)))
        return;
    cute_arena *arena = cute_arena_create();
    coordinate whole = {.count = 0}, slice = {.count = 0};
    size_t changing;
    if (arena && split_coordinate(arena, tile, loop, &whole, &slice, &changing) &&
        slice_of_all(op, tensor, loop, tile, &whole, &slice, changing)) {
        o->changed = true;
        remark_hoisted(o, op, loop, " for all tiles, and the loop takes a slice");
    }
    cute_buffer_release(&whole.text);
    cute_buffer_release(&slice.text);
    cute_arena_destroy(arena);
}

static void hoist_from_loop(MlirOperation loop, void *context)
{
    optimization *o = context;
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        int row = movable_row(op);
        if (row < 0) continue;
        if (is_invariant(op, loop, -1) && may_move(op, row)) {
            mlirOperationMoveBefore(op, loop);
            if (movable[row].tensor >= 0 || movable[row].divides) remark_hoisted(o, op, loop, "");
            o->changed = true;
        } else if (movable[row].tensor >= 0) {
            take_slices(o, op, movable[row].tensor, loop);
        }
    }
}

static void run_partition_optimization(MlirOperation root, cute_pass_run *pass)
{
    optimization o = {.pass = pass};
    cute_op_walk(root, "scf.for", CUTE_WALK_INNER_FIRST, hoist_from_loop, &o);
    if (!o.changed) {
        cute_pass_unchanged(pass);
        return;
    }
    cute_drop_dead(root);
    if (!cute_pass_run_pipeline(pass, "cse", root)) cute_pass_fail(pass);
}

const cute_pass cute_pass_partition_optimization = {
    .name = "cute-partition-optimization",
    .help = "Hoist partitions of tensors out of loops, which take slices of them",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU,
    .run = run_partition_optimization,
};
