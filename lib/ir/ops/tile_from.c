/* The types of parts of a tensor: from an index of a mode on, cute.tile.from, some rows, cute.tile.rows, and pages, cute.tile.pages. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"
#include "lib/ir/ops/ops.h"
#include "lib/ir/ops/tile.h"

static int64_t mode_of(const cute_op_query *query)
{
    MlirAttribute mode = mlirAttributeIsNull(query->attributes)
                             ? query->attributes
                             : mlirDictionaryAttrGetElementByName(query->attributes, cute_text("mode"));
    return mlirAttributeIsNull(mode) || !mlirAttributeIsAInteger(mode) ? -1
                                                                       : mlirIntegerAttrGetValueInt(mode);
}

/* The alignment in bytes of an element of a mode of this stride, where element 0 has that of `pointer`. */
static int64_t align_from(const cute_pointer *pointer, const cute_tree *stride)
{
    int64_t unit = stride->value.known ? stride->value.value : stride->value.divisor, align = pointer->align;
    if (!stride->value.known && !unit) unit = 1;
    while (align > 1 && unit * pointer->bits / 8 % align) align /= 2;
    return align;
}

static const cute_value *tensor_of(const cute_op_query *query)
{
    const cute_value *tensor =
        query->operand_count ? cute_type_peek(mlirValueGetType(query->operands[0])) : NULL;
    return tensor && tensor->type == CUTE_MEMREF ? tensor : NULL;
}

/* The tensor with an unknown extent in mode `mode`, from any index on. */
static bool add_part(const cute_value *tensor, int mode, const cute_op_query *query, cute_op_types *out)
{
    enum { BITS = 32 };
    bool tuple = tensor->layout.shape->kind == CUTE_TREE_TUPLE;
    const cute_tree *shape[CUTE_TILE_RANK], *stride = tensor->layout.stride;
    int rank = cute_tile_tensor_rank(tensor);
    for (int i = 0; i < rank && i < CUTE_TILE_RANK; i++)
        shape[i] = tuple ? tensor->layout.shape->items[i] : tensor->layout.shape;
    cute_arena *arena = cute_arena_create();
    cute_value result = *tensor;
    cute_pointer pointer = *tensor->pointer;
    bool ok = arena && (shape[mode] = cute_tree_unknown(arena, BITS, NULL));
    if (ok) {
        pointer.align = align_from(&pointer, tuple ? stride->items[mode] : stride);
        result.pointer = &pointer;
        result.layout.shape = tuple ? cute_tree_tuple(arena, shape, (size_t)rank) : shape[0];
        ok = result.layout.shape != NULL;
    }
    if (ok) cute_op_types_add(out, cute_type_of_value(query->context, arena, &result));
    cute_arena_destroy(arena);
    return ok;
}

bool cute_tile_infer_from(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *tensor = tensor_of(query);
    int64_t mode = mode_of(query);
    if (!tensor || tensor->tree || !tensor->layout.shape) return true;
    const cute_tree *shape = tensor->layout.shape;
    int rank = cute_tile_tensor_rank(tensor);
    bool one = mode >= 0 && mode < rank && rank <= CUTE_TILE_RANK &&
               (shape->kind != CUTE_TREE_TUPLE || shape->items[mode]->kind != CUTE_TREE_TUPLE);
    if (!one)
        return cute_op_fail(query->location, row->name,
                            "expects a mode of one extent, from 0 to %d, but got %d", rank - 1, (int)mode);
    return add_part(tensor, (int)mode, query, out);
}

bool cute_tile_infer_rows(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *tensor = tensor_of(query);
    if (!tensor) return true;
    const cute_tree *shape = tensor->layout.shape;
    if (shape && shape->kind == CUTE_TREE_TUPLE) shape = shape->items[0];
    if (tensor->tree || !shape || shape->kind != CUTE_TREE_INT ||
        cute_tile_tensor_rank(tensor) > CUTE_TILE_RANK)
        return cute_op_fail(
            query->location, row->name,
            "expects a tensor whose mode 0 has one extent and stride, and whose layout is not "
            "composed");
    return add_part(tensor, 0, query, out);
}

bool cute_tile_verify_pages(const cute_op_row *row, MlirOperation op)
{
    enum { BYTE = 8 };
    cute_check c = cute_check_begin(row, op);
    const cute_value *tensor = cute_check_operand(&c, 0), *table = cute_check_operand(&c, 1);
    if (!cute_check_space(&c, "operand #1", tensor->pointer, CUTE_SPACE_GMEM) ||
        !cute_check_space(&c, "operand #2", table->pointer, CUTE_SPACE_GMEM) ||
        !cute_check_element(&c, "operand #2", table->pointer->element, "i32"))
        return false;
    if (tensor->pointer->bits < BYTE)
        return cute_check_fail(&c, "expects elements of at least 8 bits, but got '%s'",
                               tensor->pointer->element);
    if (table->tree || cute_tile_tensor_rank(table) != 2)
        return cute_check_fail(&c, "expects a table of two modes, but got %d", cute_tile_tensor_rank(table));
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (!cute_op_is(user, "cute.tile.load") && !cute_op_is(user, "cute.tile.fetch"))
            return cute_check_fail(&c, "expects only loads of its tiles: use the tensor itself elsewhere");
    }
    return true;
}
