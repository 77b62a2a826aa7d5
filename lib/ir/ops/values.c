/* Converts SSA values to values of lib/layout, with SSA integers as handles of dynamic leaves, and back. */
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"

/* The number of dynamic leaves of a layout. */
static size_t unknowns_of_layout(cute_layout layout)
{
    cute_value value = cute_value_of_layout(layout);
    return layout.shape ? cute_value_unknowns(&value, NULL, 0) : 0;
}

/* ---- operands ---- */

/* Appends the SSA integers of the dynamic leaves of `value` to handles[*count], in storage order, if
 * `value` was assembled from them. */
static bool read_leaf_handles(MlirValue value, void **handles, size_t *count)
{
    if (cute_type_is_static(mlirValueGetType(value))) return true;
    MlirOperation op = cute_defining_op(value);
    const cute_op_row *row = mlirOperationIsNull(op) ? NULL : cute_op_row_of(op);
    if (!row || row->parts == CUTE_PARTS_NONE) return false;
    if (row->expand && (!row->expands || row->expands(op))) return false; /* it is computed */
    intptr_t operands = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < operands; i++) {
        MlirValue operand =
            mlirOperationGetOperand(op, row->parts == CUTE_PARTS_REVERSED ? operands - 1 - i : i);
        if (row->parts != CUTE_PARTS_LEAVES) {
            if (!read_leaf_handles(operand, handles, count)) return false;
            continue;
        }
        cute_type kind;
        MlirOperation from = cute_defining_op(operand);
        if (cute_type_is(mlirValueGetType(operand), &kind) && kind == CUTE_INTEGER &&
            !mlirOperationIsNull(from) && cute_op_is(from, "cute.assume"))
            operand = mlirOperationGetOperand(from, 0);
        if (!mlirTypeIsAInteger(mlirValueGetType(operand))) return false;
        handles[(*count)++] = (void *)operand.ptr;
    }
    return true;
}

/* Builds an operation that extracts a part of `whole`. */
static cute_status build_part(MlirOperation op, const char *name, MlirValue whole, MlirValue *out,
                              cute_diag *diag)
{
    cute_builder b = cute_builder_before(op);
    MlirOperation made = cute_build_inferred(&b, name, CUTE_OPERANDS(whole), CUTE_NO_NAMED);
    if (mlirOperationIsNull(made))
        return cute_fail(diag, CUTE_INVALID, NULL, "could not read the operand with %s", name);
    *out = mlirOperationGetResult(made, 0);
    return CUTE_OK;
}

/* Binds the iterator and layout of a tensor to the operands of its make_view, or to operations that
 * extract them. */
static cute_status bind_tensor(const cute_expansion *x, MlirOperation op, MlirValue operand, cute_value *out)
{
    MlirOperation view = cute_defining_op(operand);
    bool made = !mlirOperationIsNull(view) && cute_op_is(view, "cute.make_view") &&
                mlirOperationGetNumOperands(view) == 2;
    MlirValue iterator, layout;
    if (made)
        iterator = mlirOperationGetOperand(view, 0);
    else
        CUTE_TRY(build_part(op, "cute.get_iter", operand, &iterator, x->diag));
    cute_value parts;
    if (out->type == CUTE_MEMREF) {
        out->pointer = cute_pointer_with_handle(x->arena, out->pointer, (void *)iterator.ptr);
        if (!out->pointer) return cute_fail_memory(x->diag);
    } else {
        CUTE_TRY(cute_value_bind(x, op, iterator, &parts));
        out->tree = parts.tree;
    }
    cute_value shape = *out; /* without the iterator: has the layout unknown leaves? */
    if (out->type != CUTE_MEMREF) shape.tree = NULL, shape.type = CUTE_LAYOUT;
    if (cute_value_unknowns(&shape, NULL, 0) == 0) return CUTE_OK;
    if (made)
        layout = mlirOperationGetOperand(view, 1);
    else
        CUTE_TRY(build_part(op, "cute.get_layout", operand, &layout, x->diag));
    CUTE_TRY(cute_value_bind(x, op, layout, &parts));
    out->layout = parts.layout;
    if (parts.type == CUTE_COMPOSED_LAYOUT) out->tree = parts.tree, out->inner = parts.inner;
    return CUTE_OK;
}

/* Binds a !cute.iN value to a builtin integer. */
static cute_status bind_integer(const cute_expansion *x, MlirOperation op, MlirValue operand, cute_value *out)
{
    MlirOperation from = cute_defining_op(operand);
    MlirValue plain;
    if (!mlirOperationIsNull(from) && cute_op_is(from, "cute.assume") &&
        mlirTypeIsAInteger(mlirValueGetType(mlirOperationGetOperand(from, 0)))) {
        plain = mlirOperationGetOperand(from, 0);
    } else {
        cute_builder b = cute_builder_before(op);
        plain = cute_cast(&b, operand, mlirIntegerTypeGet(b.context, (unsigned)out->tree->value.width));
    }
    cute_int value = out->tree->value;
    value.handle = (void *)plain.ptr;
    out->tree = cute_tree_scalar(x->arena, value);
    return out->tree ? CUTE_OK : cute_fail_memory(x->diag);
}

cute_status cute_value_bind(const cute_expansion *x, MlirOperation op, MlirValue operand, cute_value *out)
{
    cute_arena *arena = x->arena;
    cute_diag *diag = x->diag;
    MlirType type = mlirValueGetType(operand);
    if (mlirTypeIsAInteger(type)) {
        *out = cute_value_of_tree(CUTE_INT_TUPLE, cute_tree_unknown(arena, (int)mlirIntegerTypeGetWidth(type),
                                                                    (void *)operand.ptr));
        return out->tree ? CUTE_OK : cute_fail_memory(diag);
    }
    CUTE_TRY(cute_type_value(type, out, diag));
    switch (out->type) {
    case CUTE_PTR:
        out->pointer = cute_pointer_with_handle(arena, out->pointer, (void *)operand.ptr);
        return out->pointer ? CUTE_OK : cute_fail_memory(diag);
    case CUTE_MEMREF:
    case CUTE_COORD_TENSOR: return bind_tensor(x, op, operand, out);
    case CUTE_INTEGER: return bind_integer(x, op, operand, out);
    default: break;
    }
    size_t count = cute_value_unknowns(out, NULL, 0);
    if (count == 0) return CUTE_OK;
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirType *types = cute_arena_array(arena, count, sizeof *types);
    void **handles = cute_arena_array(arena, count, sizeof *handles);
    if (!leaves || !types || !handles) return cute_fail_memory(diag);
    cute_value_unknowns(out, leaves, count);
    cute_value bound;
    size_t made = 0;
    if (read_leaf_handles(operand, handles, &made) && made == count) {
        CUTE_TRY(cute_value_with_handles(arena, out, handles, count, &bound, diag));
        *out = bound;
        return CUTE_OK;
    }
    if (out->type == CUTE_ARITH_TUPLE_ITER) { /* its leaves are those of the dereferenced tuple */
        MlirValue tuple;
        CUTE_TRY(build_part(op, "cute.deref_arith_tuple_iter", operand, &tuple, diag));
        CUTE_TRY(cute_value_bind(x, op, tuple, &bound));
        out->tree = bound.tree;
        return CUTE_OK;
    }
    MlirContext c = mlirOperationGetContext(op);
    MlirNamedAttribute only = cute_attribute(c, "only_dynamic", mlirUnitAttrGet(c));
    /* get_scalars returns A, offset, B of a composed layout; storage order is B, offset, A. */
    size_t outer = out->type == CUTE_COMPOSED_LAYOUT ? unknowns_of_layout(out->layout) : 0;
    size_t inner = out->type == CUTE_COMPOSED_LAYOUT ? unknowns_of_layout(out->inner) : 0;
    size_t offset = out->type == CUTE_COMPOSED_LAYOUT ? count - outer - inner : 0;
    size_t *order = cute_arena_array(arena, count, sizeof *order);
    if (!order) return cute_fail_memory(diag);
    for (size_t i = 0; i < count; i++) order[i] = i;
    if (out->type == CUTE_COMPOSED_LAYOUT) {
        size_t n = 0;
        for (size_t i = 0; i < inner; i++) order[n++] = outer + offset + i;
        for (size_t i = 0; i < offset; i++) order[n++] = outer + i;
        for (size_t i = 0; i < outer; i++) order[n++] = i;
    }
    for (size_t i = 0; i < count; i++) types[i] = mlirIntegerTypeGet(c, (unsigned)leaves[order[i]].width);
    cute_builder b = cute_builder_before(op);
    MlirOperation scalars = cute_build(&b, "cute.get_scalars", CUTE_OPERANDS(operand),
                                       (cute_types){types, (intptr_t)count}, CUTE_NAMED(only));
    if (mlirOperationIsNull(scalars))
        return cute_fail(diag, CUTE_INVALID, NULL, "could not read the operand's leaves");
    for (size_t i = 0; i < count; i++)
        handles[order[i]] = (void *)mlirOperationGetResult(scalars, (intptr_t)i).ptr;
    CUTE_TRY(cute_value_with_handles(arena, out, handles, count, &bound, diag));
    *out = bound;
    return CUTE_OK;
}

/* ---- results ---- */

static cute_status build_value(cute_arena *arena, MlirOperation where, const cute_value *value,
                               MlirValue *out, cute_diag *diag);

static cute_status build_operation(cute_arena *arena, MlirOperation where, const char *name,
                                   const MlirValue *operands, size_t count, const cute_value *value,
                                   MlirValue *out, cute_diag *diag)
{
    MlirType type = cute_type_of_value(mlirOperationGetContext(where), arena, value);
    cute_builder b = cute_builder_before(where);
    MlirOperation op =
        cute_build(&b, name, (cute_operands){operands, (intptr_t)count}, CUTE_TYPES(type), CUTE_NO_NAMED);
    if (mlirOperationIsNull(op)) return cute_fail(diag, CUTE_INVALID, NULL, "could not make %s", name);
    *out = mlirOperationGetResult(op, 0);
    return CUTE_OK;
}

/* Builds a value that is a single tree from its dynamic leaves. */
static cute_status build_tree(cute_arena *arena, MlirOperation where, const cute_value *value, MlirValue *out,
                              cute_diag *diag)
{
    size_t count = cute_value_unknowns(value, NULL, 0);
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirValue *operands = cute_arena_array(arena, count, sizeof *operands);
    if (count && (!leaves || !operands)) return cute_fail_memory(diag);
    cute_value_unknowns(value, leaves, count);
    for (size_t i = 0; i < count; i++) operands[i] = (MlirValue){leaves[i].handle};
    const char *name = cute_arena_printf(arena, "cute.make_%s", cute_type_name(value->type));
    if (!name) return cute_fail_memory(diag);
    return build_operation(arena, where, name, operands, count, value, out, diag);
}

/* The pointer, recast if the algebra changed its element type. */
static cute_status build_pointer(cute_arena *arena, MlirOperation where, const cute_pointer *pointer,
                                 MlirValue *out, cute_diag *diag)
{
    if (!pointer->handle) return cute_fail(diag, CUTE_INVALID, NULL, "a tensor of the result has no pointer");
    *out = (MlirValue){pointer->handle};
    cute_value value = {.type = CUTE_PTR, .pointer = pointer};
    MlirType type = cute_type_of_value(mlirOperationGetContext(where), arena, &value);
    if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
    if (mlirTypeEqual(type, mlirValueGetType(*out))) return CUTE_OK;
    return build_operation(arena, where, "cute.recast_iter", out, 1, &value, out, diag);
}

/* The layout of a tensor, without its iterator. */
static cute_value layout_of_tensor(const cute_value *tensor)
{
    cute_value layout = cute_value_of_layout(tensor->layout);
    if (tensor->type != CUTE_MEMREF || !tensor->tree) return layout;
    layout.type = CUTE_COMPOSED_LAYOUT;
    layout.tree = tensor->tree;
    layout.inner = tensor->inner;
    layout.swizzle = tensor->swizzle;
    return layout;
}

static cute_status build_tensor(cute_arena *arena, MlirOperation where, const cute_value *value,
                                MlirValue *out, cute_diag *diag)
{
    MlirValue operands[2];
    cute_value iterator = cute_value_of_tree(CUTE_ARITH_TUPLE_ITER, value->tree),
               layout = layout_of_tensor(value);
    if (value->type == CUTE_MEMREF)
        CUTE_TRY(build_pointer(arena, where, value->pointer, &operands[0], diag));
    else
        CUTE_TRY(build_value(arena, where, &iterator, &operands[0], diag));
    CUTE_TRY(build_value(arena, where, &layout, &operands[1], diag));
    return build_operation(arena, where, "cute.make_view", operands, 2, value, out, diag);
}

/* Builds operations that yield `value`, whose dynamic leaves have handles. */
static cute_status build_value(cute_arena *arena, MlirOperation where, const cute_value *value,
                               MlirValue *out, cute_diag *diag)
{
    if (cute_value_is_static(value))
        return build_operation(arena, where, "cute.static", NULL, 0, value, out, diag);
    switch (value->type) {
    case CUTE_PTR: return build_pointer(arena, where, value->pointer, out, diag);
    case CUTE_MEMREF:
    case CUTE_COORD_TENSOR: return build_tensor(arena, where, value, out, diag);
    case CUTE_INTEGER:
        *out = (MlirValue){value->tree->value.handle};
        return build_operation(arena, where, "cute.assume", out, 1, value, out, diag);
    case CUTE_ARITH_TUPLE_ITER: {
        cute_value tuple = cute_value_of_tree(CUTE_INT_TUPLE, value->tree);
        CUTE_TRY(build_tree(arena, where, &tuple, out, diag));
        return build_operation(arena, where, "cute.make_arith_tuple_iter", out, 1, value, out, diag);
    }
    default: break;
    }
    if (value->type == CUTE_LAYOUT) {
        cute_value shape = cute_value_of_tree(CUTE_SHAPE, value->layout.shape);
        cute_value stride = cute_value_of_tree(CUTE_STRIDE, value->layout.stride);
        MlirValue operands[2];
        CUTE_TRY(build_tree(arena, where, &shape, &operands[0], diag));
        CUTE_TRY(build_tree(arena, where, &stride, &operands[1], diag));
        return build_operation(arena, where, "cute.make_layout", operands, 2, value, out, diag);
    }
    if (value->type != CUTE_COMPOSED_LAYOUT) return build_tree(arena, where, value, out, diag);
    cute_value inner = {.type = CUTE_SWIZZLE, .swizzle = value->swizzle};
    if (value->inner.shape) inner = cute_value_of_layout(value->inner);
    cute_value offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree),
               outer = cute_value_of_layout(value->layout);
    MlirValue operands[3];
    CUTE_TRY(build_value(arena, where, &outer, &operands[2], diag));
    CUTE_TRY(build_tree(arena, where, &offset, &operands[1], diag));
    CUTE_TRY(build_value(arena, where, &inner, &operands[0], diag));
    return build_operation(arena, where, "cute.make_composed_layout", operands, 3, value, out, diag);
}

/* Copies static leaves and divisors from `stated`, a tree of the same profile, to `tree`; NULL when memory
 * is exhausted. */
static const cute_tree *apply_stated_leaves(cute_arena *arena, const cute_tree *tree, const cute_tree *stated)
{
    if (!tree || !stated || tree->kind != stated->kind) return tree;
    if (tree->kind == CUTE_TREE_INT || tree->kind == CUTE_TREE_BASIS) {
        if (tree->value.known) return tree;
        if (stated->value.known) return tree->kind == CUTE_TREE_INT ? stated : tree;
        if (tree->value.divisor == stated->value.divisor) return tree;
        cute_tree *leaf = cute_arena_alloc(arena, sizeof *leaf);
        if (!leaf) return NULL;
        *leaf = *tree;
        leaf->value.divisor = stated->value.divisor;
        return leaf;
    }
    if (tree->kind != CUTE_TREE_TUPLE || tree->count != stated->count) return tree;
    const cute_tree **items = NULL;
    for (uint32_t i = 0; i < tree->count; i++) {
        const cute_tree *item = apply_stated_leaves(arena, tree->items[i], stated->items[i]);
        if (item && item == tree->items[i] && !items) continue;
        if (!items) {
            items = cute_arena_array(arena, tree->count, sizeof *items);
            for (uint32_t k = 0; items && k < i; k++) items[k] = tree->items[k];
        }
        if (!items || !item) return NULL;
        items[i] = item;
    }
    return items ? cute_tree_tuple(arena, items, tree->count) : tree;
}

cute_status cute_value_replace(const cute_expansion *x, MlirOperation op, intptr_t index,
                               const cute_value *value)
{
    MlirValue old = mlirOperationGetResult(op, index), new;
    if (cute_type_is(mlirValueGetType(old), NULL)) {
        cute_value whole = *value;
        const cute_value *stated = cute_type_peek(mlirValueGetType(old));
        if (value->tree && !(whole.tree = apply_stated_leaves(x->arena, value->tree, stated->tree)))
            return cute_fail_memory(x->diag);
        CUTE_TRY(build_value(x->arena, op, &whole, &new, x->diag));
    } else {
        cute_int number = value->tree->value;
        cute_builder b = cute_builder_before(op);
        new = number.known ? cute_build_constant(&b, 1, number.value) : (MlirValue){number.handle};
    }
    mlirValueReplaceAllUsesOfWith(old, new);
    return CUTE_OK;
}

/* Replaces each leaf, including static ones, by the next result of a get_scalars. */
static const cute_tree *bind_all_leaves(cute_arena *arena, const cute_tree *tree, MlirOperation scalars,
                                        intptr_t *next)
{
    if (tree->kind == CUTE_TREE_INT) {
        MlirValue result = mlirOperationGetResult(scalars, (*next)++);
        int width = (int)mlirIntegerTypeGetWidth(mlirValueGetType(result));
        return cute_tree_unknown(arena, width, (void *)result.ptr);
    }
    if (tree->kind != CUTE_TREE_TUPLE) return tree;
    const cute_tree **items = cute_arena_array(arena, tree->count, sizeof *items);
    for (uint32_t i = 0; items && i < tree->count; i++)
        if (!(items[i] = bind_all_leaves(arena, tree->items[i], scalars, next))) return NULL;
    return items || !tree->count ? cute_tree_tuple(arena, items, tree->count) : NULL;
}

static bool only_integers(const cute_tree *tree)
{
    if (tree->kind != CUTE_TREE_TUPLE) return tree->kind == CUTE_TREE_INT;
    for (uint32_t i = 0; i < tree->count; i++)
        if (!only_integers(tree->items[i])) return false;
    return true;
}

cute_status cute_value_bind_all(const cute_expansion *x, MlirOperation op, MlirValue operand, cute_value *out)
{
    cute_arena *arena = x->arena;
    cute_diag *diag = x->diag;
    CUTE_TRY(cute_type_value(mlirValueGetType(operand), out, diag));
    const cute_tree **parts[] = {&out->tree, &out->layout.shape, &out->layout.stride};
    for (int i = 0; i < 3; i++)
        if (*parts[i] && !only_integers(*parts[i])) return cute_value_bind(x, op, operand, out);
    cute_builder b = cute_builder_before(op);
    MlirOperation scalars =
        cute_build_inferred(&b, "cute.get_scalars", CUTE_OPERANDS(operand), CUTE_NO_NAMED);
    if (mlirOperationIsNull(scalars))
        return cute_fail(diag, CUTE_INVALID, NULL, "could not read the operand's leaves");
    intptr_t next = 0;
    for (int i = 0; i < 3; i++)
        if (*parts[i] && !(*parts[i] = bind_all_leaves(arena, *parts[i], scalars, &next)))
            return cute_fail_memory(diag);
    return CUTE_OK;
}
