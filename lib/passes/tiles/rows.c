/* cute.tile.rows: some rows of a tensor as a tensor. TMA loads its tiles from the whole tensor, with the elements behind the rows: allowed
 * where these only reach elements that stores to such rows leave out. Elsewhere, and for all other accesses, it is a view. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

MlirOperation tile_rows_of(MlirValue tensor)
{
    MlirOperation op = cute_defining_op(tensor);
    return !mlirOperationIsNull(op) && cute_op_is(op, "cute.tile.rows") ? op : (MlirOperation){NULL};
}

/* ---- where elements behind the rows go ---- */

enum { MOST_VALUES = 128 };

typedef struct flow {
    MlirValue count, coord; /* of the rows and of the load */
    int64_t extent;         /* of its tile along the rows */
    struct {
        const void *value;
        int dim;
    } seen[MOST_VALUES];
    int seen_count;
} flow;

static bool is_clipped(flow *f, MlirValue value, int dim);

/* The coordinate along mode 0: a known index of a tile, or the operand that has it. */
static bool same_row(MlirValue a, MlirValue b)
{
    const cute_value *x = cute_type_peek(mlirValueGetType(a)), *y = cute_type_peek(mlirValueGetType(b));
    const cute_tree *of[2] = {x->tree, y->tree};
    for (int i = 0; i < 2; i++) {
        if (of[i] && of[i]->kind == CUTE_TREE_TUPLE) of[i] = of[i]->items[0];
        if (!of[i] || of[i]->kind != CUTE_TREE_INT) return false;
    }
    if (of[0]->value.known || of[1]->value.known)
        return of[0]->value.known && of[1]->value.known && of[0]->value.value == of[1]->value.value;
    MlirOperation from = cute_defining_op(a), other = cute_defining_op(b);
    return !mlirOperationIsNull(from) && cute_op_is(from, "cute.make_coord") && !mlirOperationIsNull(other) &&
           cute_op_is(other, "cute.make_coord") &&
           mlirValueEqual(mlirOperationGetOperand(from, 0), mlirOperationGetOperand(other, 0));
}

/* Whether a store leaves out what is behind the rows: its tensor has as many, and its tile is in the same place. */
static bool store_clips(const flow *f, MlirOperation store, int dim)
{
    cute_tile_shape shape;
    MlirValue tensor = mlirOperationGetOperand(store, 1);
    MlirOperation rows = tile_rows_of(tensor);
    if (mlirOperationIsNull(rows) || dim != 0) return false;
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    return cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(store, 0)), &shape) &&
           shape.rank == cute_tile_tensor_rank(type) && shape.extent[0] == f->extent &&
           mlirValueEqual(mlirOperationGetOperand(rows, 2), f->count) &&
           same_row(mlirOperationGetOperand(store, 2), f->coord);
}

/* The dimension of a result whose elements follow from those of operand `at` along `dim` alone; -1: there is none. */
static int result_dim(MlirOperation op, unsigned at, int dim)
{
    cute_tile_shape from, to;
    if (mlirOperationGetNumResults(op) != 1 ||
        !cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(op, at)), &from) ||
        !cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &to))
        return -1;
    if (cute_op_is(op, "cute.tile.gemm")) return at == 2 ? dim : dim == 0 ? (int)at : -1;
    if (cute_op_is(op, "cute.tile.permute")) {
        int64_t order[CUTE_TILE_RANK];
        int count = cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("order")), order);
        for (int i = 0; i < count; i++)
            if (order[i] == dim) return i;
        return -1;
    }
    if (cute_op_is(op, "cute.tile.broadcast"))
        return from.extent[dim] == to.extent[dim + to.rank - from.rank] ? dim + to.rank - from.rank : -1;
    if (cute_op_is(op, "cute.tile.reduce")) return cute_tile_number(op, "mode", dim) != dim ? dim : -1;
    bool elementwise = cute_op_of(op, "arith.") || cute_op_of(op, "math.") ||
                       cute_op_is(op, "cute.tile.convert") || cute_op_is(op, "cute.tile.map") ||
                       cute_op_is(op, "cute.tile.cast") || cute_op_is(op, "cute.tile.settle");
    return elementwise && cute_tile_shape_equal(&from, &to) ? dim : -1;
}

/* A value that an scf.for carries: its result and its argument. */
static bool carried_is_clipped(flow *f, MlirOperation loop, intptr_t i, int dim)
{
    return is_clipped(f, mlirOperationGetResult(loop, i), dim) &&
           is_clipped(f, mlirBlockGetArgument(tile_loop_body(loop), 1 + i), dim);
}

static bool use_is_clipped(flow *f, MlirOperation user, unsigned at, int dim)
{
    if (cute_op_is(user, "cute.tile.store")) return at == 0 && store_clips(f, user, dim);
    if (cute_op_is(user, "scf.for")) return at >= 3 && carried_is_clipped(f, user, at - 3, dim);
    if (cute_op_is(user, "scf.yield")) {
        MlirOperation loop = tile_parent(user);
        return cute_op_is(loop, "scf.for") && carried_is_clipped(f, loop, at, dim);
    }
    int to = result_dim(user, at, dim);
    return to >= 0 && is_clipped(f, mlirOperationGetResult(user, 0), to);
}

/* Whether all that follows from elements of `value` behind the rows, which are along `dim`, is left out of stores. */
static bool is_clipped(flow *f, MlirValue value, int dim)
{
    for (int i = 0; i < f->seen_count; i++)
        if (f->seen[i].value == value.ptr && f->seen[i].dim == dim) return true;
    if (f->seen_count == MOST_VALUES) return false;
    f->seen[f->seen_count].value = value.ptr;
    f->seen[f->seen_count++].dim = dim;
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (!use_is_clipped(f, mlirOpOperandGetOwner(use), mlirOpOperandGetOperandNumber(use), dim))
            return false;
    return true;
}

bool tile_rows_are_clipped(MlirOperation load)
{
    cute_tile_shape shape;
    MlirValue tensor = mlirOperationGetOperand(load, 0);
    MlirOperation rows = tile_rows_of(tensor);
    if (mlirOperationIsNull(rows)) return true;
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    if (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(load, 0)), &shape) ||
        shape.rank != cute_tile_tensor_rank(type))
        return false;
    flow f = {.count = mlirOperationGetOperand(rows, 2),
              .coord = mlirOperationGetOperand(load, 1),
              .extent = shape.extent[0]};
    return is_clipped(&f, mlirOperationGetResult(load, 0), 0);
}

/* ---- lowering ---- */

static MlirValue emit(const cute_builder *b, const char *name, cute_operands operands, cute_named attributes)
{
    for (intptr_t i = 0; i < operands.count; i++)
        if (mlirValueIsNull(operands.items[i])) return operands.items[i];
    MlirOperation op = cute_build_inferred(b, name, operands, attributes);
    return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

MlirValue tile_first_row(const cute_builder *b, MlirValue view, MlirValue first)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(view));
    const cute_tree *shape = type->layout.shape;
    char text[160] = "!cute.coord<\"?\">";
    if (shape->kind == CUTE_TREE_TUPLE) {
        int length = snprintf(text, sizeof text, "!cute.coord<\"(?");
        for (uint32_t i = 1; i < shape->count && length < (int)sizeof text - 8; i++)
            length += snprintf(text + length, sizeof text - (size_t)length, ",0");
        snprintf(text + length, sizeof text - (size_t)length, ")\">");
    }
    MlirType coord = mlirTypeParseGet(b->context, cute_text(text));
    MlirValue at = cute_build_value(b, "cute.make_coord", coord, CUTE_OPERANDS(first), CUTE_NO_NAMED),
              layout = emit(b, "cute.get_layout", CUTE_OPERANDS(view), CUTE_NO_NAMED),
              by = emit(b, "cute.layout_eval", CUTE_OPERANDS(at, layout), CUTE_NO_NAMED),
              from = emit(b, "cute.get_iter", CUTE_OPERANDS(view), CUTE_NO_NAMED);
    return emit(b, "cute.add_offset", CUTE_OPERANDS(from, by), CUTE_NO_NAMED);
}

/* The extents of a tensor's layout with `count` along mode 0. */
static MlirValue shape_with(const cute_builder *b, MlirValue layout, const cute_tree *shape, MlirValue count)
{
    MlirValue extents[CUTE_TILE_RANK];
    intptr_t unknown = 1;
    bool tuple = shape->kind == CUTE_TREE_TUPLE;
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    extents[0] = count;
    cute_buffer_printf(&text, tuple ? "!cute.shape<\"(?" : "!cute.shape<\"?\">");
    for (uint32_t i = 1; tuple && i < shape->count && unknown < CUTE_TILE_RANK; i++) {
        int32_t mode = (int32_t)i;
        MlirNamedAttribute at =
            cute_attribute(b->context, "mode", mlirDenseI32ArrayGet(b->context, 1, &mode));
        cute_buffer_printf(&text, ",%s", cute_tree_text(arena, shape->items[i]));
        if (cute_tree_is_static(shape->items[i])) continue;
        MlirValue size = emit(b, "cute.size", CUTE_OPERANDS(layout), CUTE_NAMED(at));
        extents[unknown++] = emit(b, "cute.get_scalars", CUTE_OPERANDS(size), CUTE_NO_NAMED);
    }
    if (tuple) cute_buffer_printf(&text, ")\">");
    MlirType type = mlirTypeParseGet(b->context, cute_text(cute_buffer_text(&text)));
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
    return cute_build_value(b, "cute.make_shape", type, (cute_operands){extents, unknown}, CUTE_NO_NAMED);
}

void tile_lower_rows(MlirOperation op, void *context)
{
    (void)context;
    cute_builder b = cute_builder_before(op);
    MlirValue tensor = mlirOperationGetOperand(op, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    MlirValue at = tile_first_row(&b, tensor, mlirOperationGetOperand(op, 1)),
              layout = emit(&b, "cute.get_layout", CUTE_OPERANDS(tensor), CUTE_NO_NAMED),
              stride = emit(&b, "cute.get_stride", CUTE_OPERANDS(layout), CUTE_NO_NAMED),
              shape = shape_with(&b, layout, type->layout.shape, mlirOperationGetOperand(op, 2)),
              made = emit(&b, "cute.make_layout", CUTE_OPERANDS(shape, stride), CUTE_NO_NAMED),
              view = emit(&b, "cute.make_view", CUTE_OPERANDS(at, made), CUTE_NO_NAMED);
    if (mlirValueIsNull(view)) return; /* an error was reported */
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), view);
    mlirOperationDestroy(op);
}
