/* Modes of layouts and tuples: get, select, flatten, group, compose, size. */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"

enum { MAX_PATH = 64 };

/* Reads the mode attribute; returns its length, 0 if absent, -1 if too long. */
static intptr_t read_mode_path(MlirOperation op, int32_t *out)
{
    MlirAttribute mode = mlirOperationGetAttributeByName(op, cute_text("mode"));
    if (mlirAttributeIsNull(mode)) return 0;
    intptr_t count = mlirDenseArrayGetNumElements(mode);
    if (count > MAX_PATH) return -1;
    for (intptr_t i = 0; i < count; i++) out[i] = mlirDenseI32ArrayGetElement(mode, i);
    return count;
}

/* `name`<path>(operand 0 of source). */
static bool rewrite_with_path(MlirOperation op, const char *name, MlirOperation source, const int32_t *path,
                              intptr_t count, cute_rewrite *out)
{
    MlirContext c = mlirOperationGetContext(op);
    *out = (cute_rewrite){.name = name, .operands = {mlirOperationGetOperand(source, 0)}, .operand_count = 1};
    if (count == 0) return true;
    out->attributes[out->attribute_count++] = cute_attribute(c, "mode", mlirDenseI32ArrayGet(c, count, path));
    return true;
}

/* get<b>(get<a>(x)) = get<a,b>(x); also for size and cosize. */
static bool concatenate_paths(MlirOperation op, const char *name, MlirOperation source, cute_rewrite *out)
{
    int32_t path[2 * MAX_PATH];
    intptr_t first = read_mode_path(source, path);
    if (first < 0) return false;
    intptr_t second = read_mode_path(op, path + first);
    return second >= 0 && rewrite_with_path(op, name, source, path, first + second, out);
}

static bool get_of_get(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return concatenate_paths(op, "cute.get", source, out);
}

static bool size_of_get(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return concatenate_paths(op, "cute.size", source, out);
}

static bool cosize_of_get(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return concatenate_paths(op, "cute.cosize", source, out);
}

/* select<b>(select<a>(x)) = select<a[b]>(x); get<i,...>(select<a>(x)) = get<a[i],...>(x). */
static bool through_select(MlirOperation op, const char *name, intptr_t mapped, MlirOperation source,
                           cute_rewrite *out)
{
    int32_t modes[MAX_PATH], path[MAX_PATH];
    intptr_t count = read_mode_path(source, modes), length = read_mode_path(op, path);
    if (count <= 0 || length <= 0) return false;
    for (intptr_t i = 0; i < length && i < mapped; i++) {
        if (path[i] < 0 || path[i] >= count) return false;
        path[i] = modes[path[i]];
    }
    return rewrite_with_path(op, name, source, path, length, out);
}

static bool select_of_select(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return through_select(op, "cute.select", MAX_PATH, source, out);
}

static bool get_of_select(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    return through_select(op, "cute.get", 1, source, out);
}

/* op(f(x)) = op(x) for an f that preserves op's result, if neither has further arguments. */
static bool skip_source(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    int32_t path[MAX_PATH];
    if (read_mode_path(op, path) != 0 || mlirOperationGetNumOperands(op) != 1) return false;
    *out = (cute_rewrite){.name = cute_op_row_of(op)->name,
                          .operands = {mlirOperationGetOperand(source, 0)},
                          .operand_count = 1};
    return true;
}

static bool size_of_shape(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    int32_t path[MAX_PATH];
    intptr_t count = read_mode_path(op, path);
    return count >= 0 && rewrite_with_path(op, "cute.size", source, path, count, out);
}

static bool is_static_operand(MlirOperation op, intptr_t operand)
{
    return cute_type_is_static(mlirValueGetType(mlirOperationGetOperand(op, operand)));
}

/* (A o B) o C = A o (B o C): composes static B and C at compile time. */
static bool compose_known(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    if (!is_static_operand(op, 1) || !is_static_operand(source, 1) || is_static_operand(source, 0))
        return false;
    MlirValue b = mlirOperationGetOperand(source, 1), c = mlirOperationGetOperand(op, 1);
    cute_type type;
    if (!cute_type_is(mlirValueGetType(b), &type) || type != CUTE_LAYOUT) return false;
    MlirOperation inner = cute_rewrite_insert(
        op, &(cute_rewrite){.name = "cute.composition", .operands = {b, c}, .operand_count = 2});
    if (mlirOperationIsNull(inner)) return false;
    *out = (cute_rewrite){.name = "cute.composition",
                          .operands = {mlirOperationGetOperand(source, 0), mlirOperationGetResult(inner, 0)},
                          .operand_count = 2};
    return true;
}

/* Whether a value is a layout of static shape; strides may be dynamic. */
static bool has_static_shape(MlirValue value, cute_value *out)
{
    cute_type type;
    return cute_type_is(mlirValueGetType(value), &type) && type == CUTE_LAYOUT &&
           cute_type_value(mlirValueGetType(value), out, NULL) == CUTE_OK &&
           cute_tree_is_static(out->layout.shape);
}

/* For `source`, a divide by a static tiler: replaces *b by C with source(A) o *b = A o C, which is the
 * divide of the compact layout of A's shape, composed with *b. */
static bool through_divide(cute_arena *arena, MlirOperation source, cute_value *b)
{
    cute_operation divide;
    cute_value layout, tiler, shape, stride, compact, divided;
    const cute_tree *one = cute_tree_number(arena, 1);
    if (!one || !is_static_operand(source, 1) ||
        !has_static_shape(mlirOperationGetOperand(source, 0), &layout) ||
        !cute_operation_find(cute_op_row_of(source)->name + strlen("cute."), &divide) ||
        cute_type_value(mlirValueGetType(mlirOperationGetOperand(source, 1)), &tiler, NULL))
        return false;
    shape = cute_value_of_tree(CUTE_SHAPE, layout.layout.shape);
    if (cute_apply(arena, NULL, CUTE_OP_PREFIX_PRODUCT, &shape, 1, NULL, &stride, NULL)) return false;
    compact = cute_value_of_layout((cute_layout){layout.layout.shape, stride.tree});
    cute_value operands[] = {compact, tiler};
    if (cute_apply(arena, NULL, divide, operands, 2, NULL, &divided, NULL)) return false;
    cute_value pair[] = {divided, *b};
    return cute_apply(arena, NULL, CUTE_OP_COMPOSITION, pair, 2, NULL, b, NULL) == CUTE_OK &&
           b->type == CUTE_LAYOUT && cute_value_is_static(b);
}

/* f(A) o B = A o C for flatten, group_modes and divides with a static B: a single composition; strides of
 * A may be dynamic. */
static bool compose_through(cute_arena *arena, MlirOperation op, cute_rewrite *out)
{
    static const char *const same_function[] = {"cute.flatten", "cute.group_modes"};
    static const char *const divides[] = {"cute.logical_divide", "cute.zipped_divide", "cute.tiled_divide",
                                          "cute.flat_divide"};
    MlirValue from = mlirOperationGetOperand(op, 0);
    cute_value layout, b, result;
    bool moved = false;
    if (!is_static_operand(op, 1) || is_static_operand(op, 0) ||
        cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 1)), &b, NULL) || b.type != CUTE_LAYOUT)
        return false;
    for (bool more = true; more;) {
        MlirOperation source = cute_defining_op(from);
        more = false;
        for (size_t i = 0; i < 2 && !more && !mlirOperationIsNull(source); i++)
            more = cute_op_is(source, same_function[i]);
        for (size_t i = 0; i < 4 && !more && !mlirOperationIsNull(source); i++)
            more = cute_op_is(source, divides[i]) && through_divide(arena, source, &b);
        if (more) from = mlirOperationGetOperand(source, 0);
        moved = moved || more;
    }
    if (!moved || !has_static_shape(from, &layout)) return false;
    cute_value pair[] = {layout, b};
    MlirContext c = mlirOperationGetContext(op);
    if (cute_apply(arena, NULL, CUTE_OP_COMPOSITION, pair, 2, NULL, &result, NULL) ||
        !mlirTypeEqual(cute_type_of_value(c, arena, &result),
                       mlirValueGetType(mlirOperationGetResult(op, 0))))
        return false;
    cute_builder at = cute_builder_before(op);
    MlirValue tiler = cute_build_value(&at, "cute.static", cute_type_of_value(c, arena, &b), CUTE_NO_OPERANDS,
                                       CUTE_NO_NAMED);
    *out = (cute_rewrite){.name = "cute.composition", .operands = {from, tiler}, .operand_count = 2};
    return true;
}

/* The size of the tile, mode 0 of a divide; 0 if `source` is not a divide or the size is dynamic. */
static int64_t tile_of_divide(cute_arena *arena, MlirOperation source)
{
    cute_value divided, tile, size;
    cute_type tiler;
    bool apart = cute_op_is(source, "cute.zipped_divide") || cute_op_is(source, "cute.tiled_divide");
    bool whole = cute_op_is(source, "cute.logical_divide") &&
                 cute_type_is(mlirValueGetType(mlirOperationGetOperand(source, 1)), &tiler) &&
                 tiler == CUTE_LAYOUT;
    if ((!apart && !whole) || !is_static_operand(source, 1) ||
        cute_type_value(mlirValueGetType(mlirOperationGetResult(source, 0)), &divided, NULL) ||
        divided.type != CUTE_LAYOUT || divided.layout.shape->kind != CUTE_TREE_TUPLE)
        return 0;
    tile = cute_value_of_tree(CUTE_SHAPE, divided.layout.shape->items[0]);
    if (cute_apply(arena, NULL, CUTE_OP_SIZE, &tile, 1, NULL, &size, NULL)) return 0;
    return size.tree->kind == CUTE_TREE_INT && size.tree->value.known ? size.tree->value.value : 0;
}

/* f(A / T) o B = (A o T) o B for a static B within the first tile; the number of tiles may be dynamic. */
static bool compose_in_tile(cute_arena *arena, MlirOperation op, cute_rewrite *out)
{
    MlirOperation source = cute_defining_op(mlirOperationGetOperand(op, 0));
    cute_value b, last;
    while (!mlirOperationIsNull(source) &&
           (cute_op_is(source, "cute.flatten") || cute_op_is(source, "cute.group_modes")))
        source = cute_defining_op(mlirOperationGetOperand(source, 0));
    if (mlirOperationIsNull(source) || !is_static_operand(op, 1) ||
        cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 1)), &b, NULL) ||
        b.type != CUTE_LAYOUT || cute_apply(arena, NULL, CUTE_OP_COSIZE, &b, 1, NULL, &last, NULL) ||
        last.tree->kind != CUTE_TREE_INT || !last.tree->value.known ||
        last.tree->value.value > tile_of_divide(arena, source))
        return false;
    MlirOperation tile = cute_rewrite_insert(
        op,
        &(cute_rewrite){.name = "cute.composition",
                        .operands = {mlirOperationGetOperand(source, 0), mlirOperationGetOperand(source, 1)},
                        .operand_count = 2});
    if (mlirOperationIsNull(tile)) return false;
    *out = (cute_rewrite){.name = "cute.composition",
                          .operands = {mlirOperationGetResult(tile, 0), mlirOperationGetOperand(op, 1)},
                          .operand_count = 2};
    return true;
}

static bool compose_parts(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)source;
    cute_arena *arena = cute_arena_create();
    bool ok = arena && (compose_through(arena, op, out) || compose_in_tile(arena, op, out));
    cute_arena_destroy(arena);
    return ok;
}

#define RULES(name, ...) static const cute_op_rule name[] = {__VA_ARGS__, {NULL, NULL}}

RULES(same, {NULL, cute_rule_operand});
RULES(get, {"cute.get", get_of_get}, {"cute.select", get_of_select});
RULES(select, {"cute.select", select_of_select});
RULES(size, {"cute.get", size_of_get}, {"cute.get_shape", size_of_shape}, {"cute.flatten", skip_source},
      {"cute.group_modes", skip_source}, {"cute.coalesce", skip_source});
RULES(cosize, {"cute.get", cosize_of_get}, {"cute.flatten", skip_source}, {"cute.group_modes", skip_source},
      {"cute.coalesce", skip_source});
RULES(flatten, {"cute.flatten", skip_source}, {"cute.group_modes", skip_source});
RULES(coalesce, {"cute.coalesce", skip_source}, {"cute.flatten", skip_source},
      {"cute.group_modes", skip_source});
RULES(product, {"cute.tuple_product_each", skip_source}, {"cute.flatten", skip_source});
RULES(composition, {"cute.composition", compose_known}, {NULL, compose_parts});

static const cute_op_row rows[] = {
    {CUTE_ALGEBRA_EXPANDED(GET, get), .simplify = same, .fuse = get},
    {CUTE_ALGEBRA_EXPANDED(SELECT, select), .fuse = select},
    {CUTE_ALGEBRA_EXPANDED(SIZE, size), .fuse = size},
    {CUTE_ALGEBRA_EXPANDED(COSIZE, cosize), .fuse = cosize},
    {CUTE_ALGEBRA_EXPANDED(FLATTEN, flatten), .simplify = same, .fuse = flatten},
    {CUTE_ALGEBRA_EXPANDED(COALESCE, coalesce), .fuse = coalesce},
    {CUTE_ALGEBRA_EXPANDED(TUPLE_PRODUCT, tuple_product), .simplify = same, .fuse = product},
    {CUTE_ALGEBRA_EXPANDED(TUPLE_PRODUCT_EACH, tuple_product_each), .simplify = same},
    {CUTE_ALGEBRA_EXPANDED(APPEND_TO_RANK, append_to_rank), .simplify = same},
    {CUTE_ALGEBRA_EXPANDED(PREPEND_TO_RANK, prepend_to_rank), .simplify = same},
    {CUTE_ALGEBRA_EXPANDED(COMPOSITION, composition), .fuse = composition},
};
const cute_op_family cute_family_mode = {rows, sizeof rows / sizeof *rows};
