/* Operations that allocate register tensors: make_fragment_like, predicate. */
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/layout/pointer.h"

/* Inference precedes ODS verification of operand types. */
static cute_status read_typed_operand(const cute_op_query *query, intptr_t i, const char *what,
                                      cute_type type, cute_value *out, cute_diag *diag)
{
    if (i < query->operand_count &&
        cute_type_value(mlirValueGetType(query->operands[i]), out, NULL) == CUTE_OK && out->type == type)
        return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "expects %s as operand #%d", what, (int)i);
}

/* ---- make_fragment_like ---- */

static cute_status infer_fragment(cute_arena *arena, const cute_op_query *query, cute_op_types *out,
                                  cute_diag *diag)
{
    cute_value tensor, layout, compact;
    CUTE_TRY(read_typed_operand(query, 0, "a tensor in memory", CUTE_MEMREF, &tensor, diag));
    if (!cute_tree_is_static(tensor.layout.shape))
        return cute_fail(diag, CUTE_INVALID, NULL, "expects static extents, but got %s",
                         cute_tree_text(arena, tensor.layout.shape));
    layout = cute_value_of_layout(tensor.layout);
    CUTE_TRY(cute_apply(arena, NULL, CUTE_OP_MAKE_LAYOUT_LIKE, &layout, 1, NULL, &compact, diag));
    cute_pointer pointer = *tensor.pointer;
    pointer.space = CUTE_SPACE_RMEM;
    pointer.swizzle = (cute_swizzle){0};
    pointer.align = 32;
    pointer.handle = NULL;
    MlirAttribute element = mlirAttributeIsNull(query->attributes)
                                ? query->attributes
                                : mlirDictionaryAttrGetElementByName(query->attributes, cute_text("element"));
    if (!mlirAttributeIsNull(element) && mlirAttributeIsAType(element)) {
        cute_buffer text = {0};
        mlirTypePrint(mlirTypeAttrGetValue(element), cute_print_to_buffer, &text);
        pointer.element = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
        cute_buffer_release(&text);
        if (!pointer.element) return cute_fail_memory(diag);
        bool sized = alg_element_bits(pointer.element, strlen(pointer.element), &pointer.bits);
        if (!sized || !pointer.bits || !strcmp(pointer.element, "index"))
            return cute_fail(diag, CUTE_INVALID, NULL, "expects an element type, but got %s",
                             pointer.element);
    }
    cute_value fragment = {.type = CUTE_MEMREF, .pointer = &pointer, .layout = compact.layout};
    MlirType type = cute_type_of_value(query->context, arena, &fragment);
    if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
    cute_op_types_add(out, type);
    return CUTE_OK;
}

/* Allocates a register tensor of `type` before `op`. */
static cute_status allocate_registers(const cute_expansion *x, MlirOperation op, MlirType type,
                                      MlirValue *out)
{
    cute_builder b = cute_builder_before(op);
    cute_value layout = cute_value_of_layout(cute_type_peek(type)->layout);
    MlirType layout_type = cute_type_of_value(b.context, x->arena, &layout);
    if (mlirTypeIsNull(layout_type)) return cute_fail_memory(x->diag);
    MlirValue known = cute_build_value(&b, "cute.static", layout_type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    *out = cute_build_value(&b, "cute.memref.alloca", type, CUTE_OPERANDS(known), CUTE_NO_NAMED);
    return CUTE_OK;
}

static cute_status expand_fragment(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    MlirValue result = mlirOperationGetResult(op, 0), made;
    CUTE_TRY(allocate_registers(x, op, mlirValueGetType(result), &made));
    mlirValueReplaceAllUsesOfWith(result, made);
    return CUTE_OK;
}

/* ---- predicate ---- */

/* The compact layout of the predicates: the copies of mode 0, (values, copies...), then the other modes.
 * If mode 0 is an integer, each element has its own predicate. */
static cute_status predicate_layout(cute_arena *arena, const cute_value *coords, cute_value *out,
                                    cute_diag *diag)
{
    const cute_tree *shape = coords->layout.shape;
    if (!cute_tree_is_static(shape))
        return cute_fail(diag, CUTE_INVALID, NULL, "expects static extents, but got %s",
                         cute_tree_text(arena, shape));
    size_t rank = shape->kind == CUTE_TREE_TUPLE ? shape->count : 0;
    if (!rank)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects the values of a copy as mode 0, but got shape %s",
                         cute_tree_text(arena, shape));
    const cute_tree **modes = cute_arena_array(arena, rank, sizeof *modes), *first = shape->items[0];
    if (!modes) return cute_fail_memory(diag);
    size_t copies = first->kind == CUTE_TREE_TUPLE && first->count > 1 ? first->count - 1 : 0;
    if (first->kind != CUTE_TREE_TUPLE)
        modes[0] = first;
    else
        modes[0] = copies == 0   ? cute_tree_number(arena, 1)
                   : copies == 1 ? first->items[1]
                                 : cute_tree_tuple(arena, first->items + 1, copies);
    for (size_t i = 1; i < rank; i++) modes[i] = shape->items[i];
    const cute_tree *tree = modes[0] ? cute_tree_tuple(arena, modes, rank) : NULL;
    if (!tree) return cute_fail_memory(diag);
    cute_value in = cute_value_of_tree(CUTE_SHAPE, tree);
    return cute_apply(arena, NULL, CUTE_OP_MAKE_LAYOUT, &in, 1, NULL, out, diag);
}

static cute_status infer_predicates(cute_arena *arena, const cute_op_query *query, cute_op_types *out,
                                    cute_diag *diag)
{
    cute_value coords, bounds, layout, coordinate, less;
    CUTE_TRY(read_typed_operand(query, 0, "a tensor of coordinates", CUTE_COORD_TENSOR, &coords, diag));
    if (query->operand_count < 2 ||
        cute_type_value(mlirValueGetType(query->operands[1]), &bounds, NULL) != CUTE_OK ||
        bounds.type > CUTE_INT_TUPLE)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a shape or coordinate as operand #1");
    CUTE_TRY(predicate_layout(arena, &coords, &layout, diag));
    /* The bounds must be congruent to the coordinates, of which the iterator is one. */
    coordinate = cute_value_of_tree(CUTE_INT_TUPLE, coords.tree);
    cute_value pair[] = {coordinate, cute_value_of_tree(CUTE_INT_TUPLE, bounds.tree)};
    CUTE_TRY(cute_apply(arena, NULL, CUTE_OP_ELEM_LESS, pair, 2, NULL, &less, diag));
    const cute_pointer pointer = {.element = "i8", .bits = 8, .space = CUTE_SPACE_RMEM, .align = 1};
    cute_value predicates = {.type = CUTE_MEMREF, .pointer = &pointer, .layout = layout.layout};
    MlirType type = cute_type_of_value(query->context, arena, &predicates);
    if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
    cute_op_types_add(out, type);
    return CUTE_OK;
}

/* The coordinate of an index in the shape `tree`, first leaf fastest; divides *index by the consumed
 * extents. */
static const cute_tree *coordinate_at(cute_arena *arena, const cute_tree *tree, int64_t *index)
{
    if (tree->kind != CUTE_TREE_TUPLE) {
        int64_t at = *index % tree->value.value;
        *index /= tree->value.value;
        return cute_tree_number(arena, at);
    }
    const cute_tree **items = cute_arena_array(arena, tree->count, sizeof *items);
    if (!items && tree->count) return NULL;
    for (uint32_t i = 0; i < tree->count; i++)
        if (!(items[i] = coordinate_at(arena, tree->items[i], index))) return NULL;
    return cute_tree_tuple(arena, items, tree->count);
}

/* Maps the coordinate of a predicate to the tensor of coordinates: the first value of the copy. */
static const cute_tree *first_value_coord(cute_arena *arena, const cute_tree *shape, const cute_tree *at)
{
    const cute_tree **modes = cute_arena_array(arena, shape->count, sizeof *modes), *first = shape->items[0];
    if (!modes) return NULL;
    for (uint32_t i = 1; i < shape->count; i++) modes[i] = at->items[i];
    int64_t origin = 0;
    modes[0] = at->items[0];
    if (first->kind == CUTE_TREE_TUPLE && first->count > 1) {
        const cute_tree **items = cute_arena_array(arena, first->count, sizeof *items), *copy = at->items[0];
        if (!items) return NULL;
        items[0] = coordinate_at(arena, first->items[0], &origin);
        for (uint32_t i = 1; i < first->count; i++) items[i] = first->count > 2 ? copy->items[i - 1] : copy;
        modes[0] = items[0] ? cute_tree_tuple(arena, items, first->count) : NULL;
    } else if (first->kind == CUTE_TREE_TUPLE) {
        modes[0] = coordinate_at(arena, first, &origin);
    }
    return modes[0] ? cute_tree_tuple(arena, modes, shape->count) : NULL;
}

static cute_status expand_predicate(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    cute_value coords, bounds, layout, size;
    MlirValue result = mlirOperationGetResult(op, 0);
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, 0), &coords));
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, 1), &bounds));
    bounds.type = CUTE_INT_TUPLE;
    CUTE_TRY(predicate_layout(x->arena, &coords, &layout, x->diag));
    CUTE_TRY(cute_apply(x->arena, NULL, CUTE_OP_SIZE, &layout, 1, NULL, &size, x->diag));
    cute_builder b = cute_builder_before(op);
    cute_arith arith = cute_emitter_start(x->emitter, &b);
    MlirType i8 = mlirIntegerTypeGet(b.context, 8);
    MlirValue made;
    CUTE_TRY(allocate_registers(x, op, mlirValueGetType(result), &made));
    for (int64_t i = 0; i < size.tree->value.value; i++) {
        int64_t rest = i;
        const cute_tree *at = coordinate_at(x->arena, layout.layout.shape, &rest);
        const cute_tree *in = at ? first_value_coord(x->arena, coords.layout.shape, at) : NULL;
        if (!in) return cute_fail_memory(x->diag);
        cute_value pair[] = {cute_value_of_tree(CUTE_COORD, in), cute_value_of_layout(coords.layout)};
        cute_value offset, less;
        CUTE_TRY(cute_apply(x->arena, &arith, CUTE_OP_LAYOUT_EVAL, pair, 2, NULL, &offset, x->diag));
        cute_value sum[] = {cute_value_of_tree(CUTE_INT_TUPLE, coords.tree), offset};
        CUTE_TRY(cute_apply(x->arena, &arith, CUTE_OP_TUPLE_ADD, sum, 2, NULL, &pair[0], x->diag));
        pair[1] = bounds;
        CUTE_TRY(cute_apply(x->arena, &arith, CUTE_OP_ELEM_LESS, pair, 2, NULL, &less, x->diag));
        MlirValue value = {less.tree->value.handle};
        value = less.tree->value.known
                    ? cute_build_constant(&b, 8, less.tree->value.value)
                    : cute_build_value(&b, "arith.extui", i8, CUTE_OPERANDS(value), CUTE_NO_NAMED);
        cute_value where = cute_value_of_tree(CUTE_COORD, at);
        MlirValue crd = cute_build_value(&b, "cute.static", cute_type_of_value(b.context, x->arena, &where),
                                         CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        cute_build(&b, "cute.memref.store", CUTE_OPERANDS(made, crd, value), CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    mlirValueReplaceAllUsesOfWith(result, made);
    return CUTE_OK;
}

/* ---- rows ---- */

typedef cute_status (*inference)(cute_arena *arena, const cute_op_query *query, cute_op_types *out,
                                 cute_diag *diag);

static bool infer_with_diag(const cute_op_query *query, cute_op_types *out, inference infer)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    bool ok = arena && infer(arena, query, out, diag) == CUTE_OK;
    if (!ok) cute_op_fail_diag(query->location, diag);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static bool infer_make_fragment_like(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    return infer_with_diag(query, out, infer_fragment);
}

static bool infer_predicate(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    return infer_with_diag(query, out, infer_predicates);
}

static const cute_op_row rows[] = {
    {.name = "cute.make_fragment_like", .infer = infer_make_fragment_like, .expand = expand_fragment},
    {.name = "cute.predicate", .infer = infer_predicate, .expand = expand_predicate},
};
const cute_op_family cute_family_registers = {rows, sizeof rows / sizeof *rows};
