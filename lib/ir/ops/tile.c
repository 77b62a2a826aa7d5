/* Operations of tile programs: result types, and whether shapes, types and coordinates fit. */
#include "lib/ir/ops/tile.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"
#include "lib/ir/ops/check.h"
#include "lib/layout/pointer.h"

/* ---- kinds of elementwise operations ---- */

static const cute_tile_map maps[] = {
#define MAP(name, operands, on_floats, on_integers) {#name, operands, on_floats, on_integers, false, -1, -1},
#define COMPARE(name, on_floats, on_integers)       {#name, 2, NULL, NULL, true, on_floats, on_integers},
#include "lib/ir/ops/tile_maps.def"
};

const cute_tile_map *cute_tile_map_find(MlirStringRef name)
{
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (cute_text_is(name, maps[i].name)) return &maps[i];
    return NULL;
}

/* ---- inference ---- */

static MlirAttribute attribute_of(const cute_op_query *query, const char *name)
{
    return mlirAttributeIsNull(query->attributes)
               ? query->attributes
               : mlirDictionaryAttrGetElementByName(query->attributes, cute_text(name));
}

static int64_t number_of(const cute_op_query *query, const char *name)
{
    MlirAttribute a = attribute_of(query, name);
    return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? -1 : mlirIntegerAttrGetValueInt(a);
}

static MlirType type_at(const cute_op_query *query, intptr_t i)
{
    return i < query->operand_count ? mlirValueGetType(query->operands[i]) : (MlirType){NULL};
}

static const char *shape_text(const cute_tile_shape *shape, char *out, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < shape->rank && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%lld", i ? "x" : "", (long long)shape->extent[i]);
    if (!shape->rank) snprintf(out, size, "a scalar");
    return out;
}
enum { SHAPE_TEXT = 160 };

static bool not_a_shape(const cute_op_query *query, const cute_op_row *row, const char *name)
{
    return cute_op_fail(
        query->location, row->name,
        "expects '%s' to be at most %d extents of at least 1, such as [64, 32], whose product is at most %d",
        name, CUTE_TILE_RANK, CUTE_TILE_MOST);
}

static bool not_a_tile(const cute_op_query *query, const cute_op_row *row, intptr_t i)
{
    return cute_op_fail(
        query->location, row->name,
        "expects operand #%d to be a tile: a tensor of known extents, at most %d dimensions and %d elements",
        (int)i, CUTE_TILE_RANK, CUTE_TILE_MOST);
}

static bool infer_program(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    MlirAttribute tile = attribute_of(query, "extents");
    intptr_t count = query->operand_count;
    if (!mlirAttributeIsNull(tile)) {
        cute_tile_shape shape;
        if (!cute_tile_shape_from(tile, &shape)) return not_a_shape(query, row, "extents");
        count = shape.rank;
    }
    if (count < 1 || count > 3)
        return cute_op_fail(query->location, row->name, "expects a grid of 1 to 3 dimensions, but got %d",
                            (int)count);
    MlirAttribute cluster = attribute_of(query, "in_cluster");
    int64_t blocks[CUTE_TILE_RANK];
    bool divided = !mlirAttributeIsNull(cluster) && cute_tile_numbers(cluster, blocks) == count + 1;
    for (intptr_t i = 0; i < count + divided; i++)
        cute_op_types_add(out, mlirIntegerTypeGet(query->context, 32));
    return true;
}

static bool infer_i32(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    cute_op_types_add(out, mlirIntegerTypeGet(query->context, 32));
    return true;
}

static const cute_value *tensor_of(MlirType type)
{
    const cute_value *value = mlirTypeIsNull(type) ? NULL : cute_type_peek(type);
    return value && value->type == CUTE_MEMREF ? value : NULL;
}

bool cute_tile_is_packed(const cute_pointer *pointer)
{
    return cute_element_is_packed(pointer->element);
}

MlirType cute_tile_loaded(MlirContext context, const cute_pointer *pointer)
{
    if (!strcmp(pointer->element, "i4")) return mlirIntegerTypeGet(context, 8);
    if (!strcmp(pointer->element, "f4E2M1FN")) return mlirF16TypeGet(context);
    return cute_element_type(context, pointer->element);
}

MlirType cute_tile_stored(MlirType element, const cute_pointer *pointer)
{
    MlirType to = cute_element_type(mlirTypeGetContext(element), pointer->element);
    bool floats = !mlirTypeIsNull(to) && mlirTypeIsAFloat(element) && mlirTypeIsAFloat(to);
    return floats && !mlirTypeEqual(element, to) && strcmp(pointer->element, "tf32") ? to : (MlirType){NULL};
}

bool cute_tile_converts(MlirType type, MlirType element)
{
    return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 1 && mlirTypeIsAFloat(element);
}

int cute_tile_tensor_rank(const cute_value *tensor)
{
    return tensor->layout.shape->kind == CUTE_TREE_TUPLE ? (int)tensor->layout.shape->count : 1;
}

/* The type that the attribute `to` names, or `own`. */
static MlirType element_or(const cute_op_query *query, MlirType own)
{
    MlirAttribute to = attribute_of(query, "to");
    return mlirAttributeIsNull(to) || !mlirAttributeIsAType(to) ? own : mlirTypeAttrGetValue(to);
}

static bool infer_load(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_tile_shape shape;
    const cute_value *tensor = tensor_of(type_at(query, 0));
    if (!tensor) return true;
    if (!cute_tile_shape_from(attribute_of(query, "extents"), &shape))
        return not_a_shape(query, row, "extents");
    MlirType element = cute_tile_loaded(query->context, tensor->pointer);
    if (mlirTypeIsNull(element)) return true;
    cute_op_types_add(out, cute_tile_type(&shape, element_or(query, element), mlirAttributeGetNull()));
    return true;
}

/* The shape to which operands from `first` on broadcast; scalars have any. False after an error. */
static bool join_operands(const cute_op_row *row, const cute_op_query *query, intptr_t first, intptr_t count,
                          cute_tile_shape *shape, MlirAttribute *encoding, bool *any)
{
    *shape = (cute_tile_shape){0};
    *encoding = mlirAttributeGetNull();
    *any = false;
    for (intptr_t i = first; i < first + count; i++) {
        MlirType type = type_at(query, i);
        cute_tile_shape own;
        if (!mlirTypeIsARankedTensor(type)) continue;
        if (!cute_tile_shape_of(type, &own)) return not_a_tile(query, row, i);
        char left[SHAPE_TEXT], right[SHAPE_TEXT];
        shape_text(shape, left, sizeof left);
        if (!cute_tile_shape_join(shape, &own))
            return cute_op_fail(
                query->location, row->name,
                "expects shapes that broadcast, but got %s and %s (operand #%d): align trailing dimensions, "
                "and give those that repeat an extent of 1 with cute.tile.reshape",
                left, shape_text(&own, right, sizeof right), (int)i);
        if (cute_tile_shape_equal(shape, &own)) *encoding = mlirRankedTensorTypeGetEncoding(type);
        *any = true;
    }
    return true;
}

/* Messages about cute.tile.map name it as the short form does: cute.tile.add. */
enum { MAP_NAME = 48 };

static cute_op_row row_of_map(const cute_op_row *row, const cute_tile_map *map, char name[MAP_NAME])
{
    cute_op_row own = *row;
    snprintf(name, MAP_NAME, "cute.tile.%s", map->name);
    own.name = name;
    return own;
}

MlirType cute_tile_map_element(const cute_tile_map *map, const MlirType *types)
{
    int first = strcmp(map->name, "where") ? 0 : 1;
    for (int i = map->operands - 1; i >= first; i--)
        if (mlirTypeIsARankedTensor(types[i])) return cute_tile_element(types[i]);
    return types[map->operands - 1];
}

static bool infer_map(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    MlirAttribute kind = attribute_of(query, "kind"), encoding;
    const cute_tile_map *map = mlirAttributeIsNull(kind) || !mlirAttributeIsAString(kind)
                                   ? NULL
                                   : cute_tile_map_find(mlirStringAttrGetValue(kind));
    if (!map)
        return cute_op_fail(query->location, row->name,
                            "expects a kind of elementwise operation, such as add");
    char name[MAP_NAME];
    const cute_op_row own = row_of_map(row, map, name);
    if (query->operand_count != map->operands)
        return cute_op_fail(query->location, own.name, "expects %d operand%s for %s, but got %d",
                            map->operands, map->operands == 1 ? "" : "s", map->name,
                            (int)query->operand_count);
    cute_tile_shape shape;
    bool any;
    if (!join_operands(&own, query, 0, query->operand_count, &shape, &encoding, &any)) return false;
    MlirType types[3];
    for (int i = 0; i < map->operands; i++) types[i] = type_at(query, i);
    MlirType element =
        map->compare ? mlirIntegerTypeGet(query->context, 1) : cute_tile_map_element(map, types);
    cute_op_types_add(out, any ? cute_tile_type(&shape, element, encoding) : element);
    return true;
}

static bool infer_cast(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    MlirAttribute element = attribute_of(query, "element");
    MlirType from = type_at(query, 0);
    cute_tile_shape shape;
    if (mlirAttributeIsNull(element) || !mlirAttributeIsAType(element) || mlirTypeIsNull(from)) return true;
    MlirType to = mlirTypeAttrGetValue(element);
    if (!mlirTypeIsARankedTensor(from)) return cute_op_types_add(out, to), true;
    if (!cute_tile_shape_of(from, &shape)) return not_a_tile(query, row, 0);
    cute_op_types_add(out, cute_tile_type(&shape, to, mlirRankedTensorTypeGetEncoding(from)));
    return true;
}

static bool infer_shaped(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_tile_shape shape;
    if (!cute_tile_shape_from(attribute_of(query, "extents"), &shape))
        return not_a_shape(query, row, "extents");
    MlirType element = query->operand_count && strcmp(row->name, "cute.tile.iota")
                           ? cute_tile_element(type_at(query, 0))
                           : mlirIntegerTypeGet(query->context, 32);
    cute_op_types_add(out, cute_tile_type(&shape, element, mlirAttributeGetNull()));
    return true;
}

static bool infer_reduce(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_tile_shape shape;
    int64_t axis = number_of(query, "mode");
    if (mlirTypeIsNull(type_at(query, 0))) return true;
    if (!cute_tile_shape_of(type_at(query, 0), &shape)) return not_a_tile(query, row, 0);
    if (mlirAttributeIsNull(attribute_of(query, "mode")))
        return cute_op_fail(query->location, row->name,
                            "expects an axis behind the kind, such as %s<add, %d>", row->name,
                            shape.rank - 1);
    if (axis < 0 || axis >= shape.rank)
        return cute_op_fail(query->location, row->name, "expects an axis from 0 to %d, but got %lld",
                            shape.rank - 1, (long long)axis);
    MlirAttribute encoding = mlirAttributeGetNull();
    if (!strcmp(row->name, "cute.tile.reduce"))
        shape.extent[axis] = 1;
    else
        encoding = mlirRankedTensorTypeGetEncoding(type_at(query, 0));
    cute_op_types_add(out, cute_tile_type(&shape, cute_tile_element(type_at(query, 0)), encoding));
    return true;
}

static bool infer_permute(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_tile_shape shape, result;
    if (mlirTypeIsNull(type_at(query, 0))) return true;
    if (!cute_tile_shape_of(type_at(query, 0), &shape)) return not_a_tile(query, row, 0);
    int64_t order[CUTE_TILE_RANK];
    int count = cute_tile_numbers(attribute_of(query, "order"), order);
    unsigned seen = 0;
    for (int i = 0; i < count && count == shape.rank; i++) {
        if (order[i] < 0 || order[i] >= shape.rank || seen >> order[i] & 1) break;
        seen |= 1u << order[i];
        result.extent[i] = shape.extent[order[i]];
    }
    if (seen != (1u << shape.rank) - 1)
        return cute_op_fail(query->location, row->name,
                            "expects 'order' to have each of the dimensions 0 to %d once", shape.rank - 1);
    result.rank = shape.rank;
    cute_op_types_add(out,
                      cute_tile_type(&result, cute_tile_element(type_at(query, 0)), mlirAttributeGetNull()));
    return true;
}

static bool infer_stack(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_tile_shape shape;
    for (intptr_t i = 0; i < query->operand_count; i++)
        if (mlirTypeIsNull(type_at(query, i))) return true;
    if (query->operand_count < 1)
        return cute_op_fail(query->location, row->name, "expects at least one tile");
    if (!cute_tile_shape_of(type_at(query, 0), &shape)) return not_a_tile(query, row, 0);
    if (shape.rank == CUTE_TILE_RANK)
        return cute_op_fail(query->location, row->name, "expects tiles of at most %d dimensions",
                            CUTE_TILE_RANK - 1);
    shape.extent[shape.rank++] = query->operand_count;
    cute_op_types_add(out,
                      cute_tile_type(&shape, cute_tile_element(type_at(query, 0)), mlirAttributeGetNull()));
    return true;
}

static bool infer_pick(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_tile_shape shape;
    int64_t mode = number_of(query, "mode"), index = number_of(query, "index");
    if (mlirTypeIsNull(type_at(query, 0))) return true;
    if (!cute_tile_shape_of(type_at(query, 0), &shape)) return not_a_tile(query, row, 0);
    if (mode < 0 || mode >= shape.rank)
        return cute_op_fail(query->location, row->name, "expects an axis from 0 to %d, but got %lld",
                            shape.rank - 1, (long long)mode);
    if (index < 0 || index >= shape.extent[mode])
        return cute_op_fail(query->location, row->name, "expects an index from 0 to %lld, but got %lld",
                            (long long)shape.extent[mode] - 1, (long long)index);
    for (int64_t i = mode; i + 1 < shape.rank; i++) shape.extent[i] = shape.extent[i + 1];
    shape.rank--;
    cute_op_types_add(out,
                      cute_tile_type(&shape, cute_tile_element(type_at(query, 0)), mlirAttributeGetNull()));
    return true;
}

static bool infer_gemm(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    if (query->operand_count == 3) cute_op_types_add(out, type_at(query, 2));
    return true;
}

static bool infer_gather(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    const cute_value *tensor = tensor_of(type_at(query, 0));
    cute_tile_shape shape;
    MlirAttribute encoding;
    bool any;
    if (!tensor) return true;
    if (!join_operands(row, query, 1, query->operand_count - 1, &shape, &encoding, &any)) return false;
    MlirType element = cute_element_type(query->context, tensor->pointer->element);
    if (!any)
        return cute_op_fail(query->location, row->name,
                            "expects a coordinate that is a tile: of scalars alone, cute.memref.load");
    if (mlirTypeIsNull(element)) return true;
    cute_op_types_add(out, cute_tile_type(&shape, element_or(query, element), mlirAttributeGetNull()));
    return true;
}

static bool infer_scalar(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    if (query->operand_count == 1) cute_op_types_add(out, cute_tile_element(type_at(query, 0)));
    return true;
}

/* ---- verification ---- */

static MlirType operand_type(MlirOperation op, intptr_t i)
{
    return mlirValueGetType(mlirOperationGetOperand(op, i));
}

static bool is_float(MlirType type)
{
    return mlirTypeIsAFloat(type);
}

static bool is_integer(MlirType type)
{
    return mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type);
}

static bool fail_type(const cute_check *c, const char *what, MlirType type)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_check_fail(c, "%s, but got '%s'", what, cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

static bool fail_types(const cute_check *c, const char *what, MlirType a, MlirType b)
{
    cute_buffer left = {0}, right = {0};
    mlirTypePrint(a, cute_print_to_buffer, &left);
    mlirTypePrint(b, cute_print_to_buffer, &right);
    cute_check_fail(c, "%s, but got %s and %s: cute.tile.cast converts", what, cute_buffer_text(&left),
                    cute_buffer_text(&right));
    cute_buffer_release(&left);
    cute_buffer_release(&right);
    return false;
}

static bool verify_program(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirAttribute tile = mlirOperationGetAttributeByName(op, cute_text("extents"));
    intptr_t count = mlirOperationGetNumOperands(op);
    if (mlirAttributeIsNull(tile)) {
        for (intptr_t i = 0; i < count; i++)
            if (!is_integer(operand_type(op, i)))
                return fail_type(&c, "expects extents of i32, i64 or index, or a tensor and a tile",
                                 operand_type(op, i));
        return true;
    }
    const cute_value *tensor = count == 1 ? tensor_of(operand_type(op, 0)) : NULL;
    if (!tensor)
        return cute_check_fail(&c, "expects one operand with 'extents': the tensor that the tiles divide");
    int rank = cute_tile_tensor_rank(tensor);
    if (rank != mlirDenseArrayGetNumElements(tile))
        return cute_check_fail(&c,
                               "expects an extent of the tile for each of the tensor's %d modes, but got %d",
                               rank, (int)mlirDenseArrayGetNumElements(tile));
    int64_t blocks[CUTE_TILE_RANK];
    int dimensions = cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("in_cluster")), blocks);
    if (cute_op_has(op, "in_cluster") && dimensions != rank && dimensions != rank + 1)
        return cute_check_fail(
            &c, "expects blocks of a cluster for each of the grid's %d dimensions, and of a tile, but got %d",
            rank, dimensions);
    if (cute_op_has(op, "single") && dimensions != rank)
        return cute_check_fail(&c, "expects 'in_cluster' with 'single'");
    return true;
}

static bool verify_count(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    int64_t mode = cute_tile_number(op, "mode", -1), size = cute_tile_number(op, "size", 0);
    int rank = cute_tile_tensor_rank(tensor_of(operand_type(op, 0)));
    if (mode < 0 || mode >= rank)
        return cute_check_fail(&c, "expects a mode from 0 to %d, but got %lld", rank - 1, (long long)mode);
    if (size < 1) return cute_check_fail(&c, "expects a size of at least 1, but got %lld", (long long)size);
    return true;
}

static bool verify_pages(const cute_op_row *row, MlirOperation op)
{
    return cute_tile_verify_pages(row, op);
}

static bool verify_from(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return cute_check_space(&c, "a tensor", cute_check_operand(&c, 0)->pointer, CUTE_SPACE_GMEM);
}

static bool verify_mask(const cute_check *c, const cute_tile_shape *shape, MlirType mask)
{
    cute_tile_shape own;
    char want[SHAPE_TEXT], got[SHAPE_TEXT];
    MlirType element = cute_tile_element(mask);
    if (!mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) != 1)
        return fail_type(c, "expects a mask of i1", mask);
    cute_tile_shape joined = *shape;
    if (!cute_tile_shape_of(mask, &own) || !cute_tile_shape_join(&joined, &own) ||
        !cute_tile_shape_equal(&joined, shape))
        return cute_check_fail(c, "expects a mask that broadcasts to the tile's shape, %s, but got %s",
                               shape_text(shape, want, sizeof want), shape_text(&own, got, sizeof got));
    return true;
}

/* What loads and stores of tiles have in common: the tensor, its modes, the coordinate. */
static bool verify_access(const cute_check *c, const cute_value *tensor, const cute_value *coord,
                          const cute_tile_shape *shape)
{
    int rank = cute_tile_tensor_rank(tensor),
        got = coord->tree->kind == CUTE_TREE_TUPLE ? (int)coord->tree->count : 1;
    if (tensor->pointer->space != CUTE_SPACE_GMEM)
        return cute_check_fail(
            c,
            "expects a tensor in global memory, gmem, but got %s: passes choose shared memory and registers",
            cute_space_name(tensor->pointer->space));
    if (shape->rank > rank || shape->rank < 1)
        return cute_check_fail(
            c, "expects a tile of 1 to %d dimensions, the last of the tensor's modes, but got %d", rank,
            shape->rank);
    if (rank != got)
        return cute_check_fail(
            c, "expects a coordinate with a number for each of the tensor's %d modes, but got %d", rank, got);
    return true;
}

/* Elements of less than a byte: two in a byte along the last mode, all or none of which are in the tensor. */
static bool verify_packed(const cute_check *c, const cute_value *tensor, const cute_tile_shape *shape)
{
    if (!cute_tile_is_packed(tensor->pointer)) return true;
    const cute_tree *extent = tensor->layout.shape, *stride = tensor->layout.stride;
    if (extent->kind == CUTE_TREE_TUPLE) {
        stride = stride->items[extent->count - 1];
        extent = extent->items[extent->count - 1];
    }
    bool one = stride->kind == CUTE_TREE_INT && stride->value.known && stride->value.value == 1,
         even = extent->kind == CUTE_TREE_INT &&
                (extent->value.known ? extent->value.value % 2 == 0
                                     : extent->value.divisor > 0 && extent->value.divisor % 2 == 0);
    if (!one || !even || shape->extent[shape->rank - 1] % 2)
        return cute_check_fail(
            c,
            "expects two elements of %s in a byte along the last mode: stride 1, and extents of tensor and "
            "tile that are even, such as \"(?,?{div=32}):(?{i64 div=32},1)\"",
            tensor->pointer->element);
    if (mlirOperationGetNumOperands(c->op) > 2)
        return cute_check_fail(
            c, "expects no mask for elements of %s: mask the loaded tile with cute.tile.where",
            tensor->pointer->element);
    MlirStringRef fill = cute_tile_word(c->op, "fill");
    if (fill.length && !cute_text_is(fill, "zero"))
        return cute_check_fail(c, "expects the fill zero for elements of %s, but got %.*s",
                               tensor->pointer->element, (int)fill.length, fill.data);
    return true;
}

/* The type that `to` names. */
static bool verify_loaded(const cute_check *c, MlirOperation op)
{
    MlirType to = cute_tile_element(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!cute_op_has(op, "to") || is_float(to) || mlirTypeIsAInteger(to)) return true;
    return fail_type(c, "expects floats or integers", to);
}

static bool verify_load(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape shape;
    if (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &shape))
        return cute_check_fail(&c, "expects a result of known extents");
    return verify_access(&c, cute_check_operand(&c, 0), cute_check_operand(&c, 1), &shape) &&
           verify_packed(&c, cute_check_operand(&c, 0), &shape) && verify_loaded(&c, op) &&
           (mlirOperationGetNumOperands(op) < 3 || verify_mask(&c, &shape, operand_type(op, 2)));
}

static bool verify_element(const cute_check *c, MlirType tile, const cute_value *tensor)
{
    if (!mlirTypeIsNull(cute_tile_stored(cute_tile_element(tile), tensor->pointer))) return true;
    return cute_check_value(c, "elements", cute_tile_element(tile), tensor->pointer);
}

/* and, or, xor are of integers. */
static bool verify_kind(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType element = cute_tile_element(operand_type(op, 0));
    MlirStringRef kind = cute_tile_word(op, "kind");
    bool bits = cute_text_is(kind, "and") || cute_text_is(kind, "or") || cute_text_is(kind, "xor");
    if (is_integer(element) || (is_float(element) && !bits)) return true;
    return fail_type(&c, bits ? "expects integers" : "expects floats or integers", element);
}

/* There are no atomic products. */
static bool verify_atomic(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    if (!cute_text_is(cute_tile_word(op, "kind"), "mul")) return verify_kind(row, op);
    return cute_check_fail(&c, "expects the kind add, min, max, and, or or xor, but got mul");
}

static bool verify_store(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape shape;
    if (!cute_tile_shape_of(operand_type(op, 0), &shape))
        return cute_check_fail(&c, "expects a tile of known extents");
    return verify_access(&c, cute_check_operand(&c, 1), cute_check_operand(&c, 2), &shape) &&
           verify_element(&c, operand_type(op, 0), cute_check_operand(&c, 1)) &&
           (mlirOperationGetNumOperands(op) < 4 || verify_mask(&c, &shape, operand_type(op, 3))) &&
           (!cute_op_has(op, "kind") || verify_atomic(row, op));
}

static bool verify_map(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirStringRef kind = cute_tile_word(op, "kind");
    const cute_tile_map *map = cute_tile_map_find(kind);
    intptr_t count = mlirOperationGetNumOperands(op), first = cute_text_is(kind, "where") ? 1 : 0;
    if (!map) return cute_check_fail(&c, "expects a kind of elementwise operation, such as add");
    char name[MAP_NAME];
    const cute_op_row own_row = row_of_map(row, map, name);
    c.row = &own_row;
    MlirType types[3] = {{NULL}};
    for (intptr_t i = 0; i < count && i < 3; i++) types[i] = operand_type(op, i);
    MlirType element = cute_tile_map_element(map, types);
    if (first) {
        MlirType condition = cute_tile_element(operand_type(op, 0));
        if (!mlirTypeIsAInteger(condition) || mlirIntegerTypeGetWidth(condition) != 1)
            return fail_type(&c, "expects a condition of i1", operand_type(op, 0));
    }
    for (intptr_t i = first; i < count; i++) {
        MlirType own = cute_tile_element(types[i]);
        if (mlirTypeEqual(own, element) || cute_tile_converts(types[i], element)) continue;
        return fail_types(&c, "expects operands of one element type", own, element);
    }
    bool has = is_float(element)     ? map->on_floats || map->float_predicate >= 0
               : is_integer(element) ? map->on_integers || map->integer_predicate >= 0
                                     : false;
    if (has && cute_op_has(op, "fast") && !is_float(element))
        return fail_type(&c, "expects floats with 'fast'", element);
    if (has) return true;
    return fail_type(&c, is_float(element) ? "expects integers" : "expects floats", element);
}

static bool verify_cast(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType from = cute_tile_element(operand_type(op, 0)),
             to = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("element")));
    if ((is_float(from) || mlirTypeIsAInteger(from)) && (is_float(to) || mlirTypeIsAInteger(to))) return true;
    return fail_type(&c, "expects floats or integers",
                     is_float(from) || mlirTypeIsAInteger(from) ? to : from);
}

static bool verify_broadcast(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape from, to, joined;
    char left[SHAPE_TEXT], right[SHAPE_TEXT];
    if (!mlirTypeIsARankedTensor(operand_type(op, 0))) return true;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &to);
    joined = to;
    if (cute_tile_shape_of(operand_type(op, 0), &from) && cute_tile_shape_join(&joined, &from) &&
        cute_tile_shape_equal(&joined, &to))
        return true;
    return cute_check_fail(&c, "expects a shape to which %s broadcasts, but got %s",
                           shape_text(&from, left, sizeof left), shape_text(&to, right, sizeof right));
}

static bool verify_iota(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape shape;
    int64_t axis = cute_tile_number(op, "mode", -1);
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &shape);
    if (axis >= 0 && axis < shape.rank) return true;
    return cute_check_fail(&c, "expects an axis from 0 to %d, but got %lld", shape.rank - 1, (long long)axis);
}

/* Means and variances have the number of their elements as an operand, other reductions have none. */
static bool verify_reduce(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType element = cute_tile_element(operand_type(op, 0));
    MlirStringRef kind = cute_tile_word(op, "kind");
    bool mean = cute_text_is(kind, "mean") || cute_text_is(kind, "variance"),
         count = mlirOperationGetNumOperands(op) > 1;
    if (count && !mean)
        return cute_check_fail(&c, "expects a count with the kinds mean and variance, but got %.*s",
                               (int)kind.length, kind.data);
    if (!mean) return verify_kind(row, op);
    if (!is_float(element)) return fail_type(&c, "expects floats", element);
    if (!count)
        return cute_check_fail(&c,
                               "expects the count by which the sum is divided, as in "
                               "%s<%.*s, 1> %%x, %%count: elements outside of a tensor do not count",
                               row->name, (int)kind.length, kind.data);
    const cute_value *tensor = tensor_of(operand_type(op, 1));
    if (tensor && cute_tile_number(op, "mode", 0) >= cute_tile_tensor_rank(tensor))
        return cute_check_fail(&c, "expects a tensor with the mode %lld as the count, but got %d mode%s",
                               (long long)cute_tile_number(op, "mode", 0), cute_tile_tensor_rank(tensor),
                               cute_tile_tensor_rank(tensor) == 1 ? "" : "s");
    if (tensor || mlirTypeEqual(operand_type(op, 1), element) ||
        cute_tile_converts(operand_type(op, 1), element))
        return true;
    return fail_type(&c, "expects a count that is an integer, a tensor, or of the tile's elements",
                     operand_type(op, 1));
}

static bool verify_reshape(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape from, to;
    if (!cute_tile_shape_of(operand_type(op, 0), &from))
        return cute_check_fail(&c, "expects a tile of known extents");
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &to);
    if (cute_tile_size(&from) == cute_tile_size(&to)) return true;
    return cute_check_fail(&c, "expects a shape of %lld elements, but got %lld",
                           (long long)cute_tile_size(&from), (long long)cute_tile_size(&to));
}

static bool verify_stack(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    for (intptr_t i = 1; i < mlirOperationGetNumOperands(op); i++)
        if (!mlirTypeEqual(operand_type(op, i), operand_type(op, 0))) {
            cute_tile_shape first, own;
            char want[SHAPE_TEXT], got[SHAPE_TEXT];
            if (!mlirTypeEqual(cute_tile_element(operand_type(op, i)),
                               cute_tile_element(operand_type(op, 0))))
                return fail_type(&c, "expects tiles of one element type", operand_type(op, i));
            if (cute_tile_shape_of(operand_type(op, i), &own) &&
                cute_tile_shape_of(operand_type(op, 0), &first) && !cute_tile_shape_equal(&own, &first))
                return cute_check_fail(&c, "expects tiles of one shape, but got %s and %s",
                                       shape_text(&first, want, sizeof want),
                                       shape_text(&own, got, sizeof got));
        }
    return true;
}

static bool verify_gemm(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape shape[3];
    char text[3][SHAPE_TEXT];
    MlirType element[3];
    for (int i = 0; i < 3; i++) {
        element[i] = cute_tile_element(operand_type(op, i));
        if (!cute_tile_shape_of(operand_type(op, i), &shape[i]) || shape[i].rank != 2)
            return cute_check_fail(&c, "expects operand #%d to have two dimensions", i);
        shape_text(&shape[i], text[i], sizeof text[i]);
    }
    if (shape[0].extent[1] != shape[1].extent[1])
        return cute_check_fail(
            &c,
            "expects A (M,K) and B (N,K) of one K, but got %s and %s: cute.tile.permute<[1, 0]> turns a tile",
            text[0], text[1]);
    if (shape[2].extent[0] != shape[0].extent[0] || shape[2].extent[1] != shape[1].extent[0])
        return cute_check_fail(&c, "expects an accumulator of %lldx%lld, but got %s",
                               (long long)shape[0].extent[0], (long long)shape[1].extent[0], text[2]);
    if (!mlirTypeEqual(element[0], element[1]))
        return fail_types(&c, "expects A and B of one element type", element[0], element[1]);
    int64_t band[CUTE_TILE_RANK] = {0, 1};
    int numbers = cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("band")), band);
    if (cute_op_has(op, "band") &&
        (numbers != 2 || !cute_op_has(op, "wgmma") || band[0] < 0 || band[0] >= band[1]))
        return cute_check_fail(
            &c, "expects 'band', of a product of warpgroups, to be two numbers, an index and a "
                "larger count");
    bool half = mlirTypeIsAF16(element[0]),
         narrow = half || mlirTypeIsABF16(element[0]) || mlirTypeIsAFloat8E4M3FN(element[0]) ||
                  mlirTypeIsAFloat8E5M2(element[0]) || mlirTypeIsAF32(element[0]);
    bool fits = mlirTypeIsAF32(element[2])   ? narrow
                : mlirTypeIsAF16(element[2]) ? half
                : mlirTypeIsAF64(element[2])
                    ? mlirTypeIsAF64(element[0])
                    : mlirTypeIsAInteger(element[2]) && mlirIntegerTypeGetWidth(element[2]) == 32 &&
                          mlirTypeIsAInteger(element[0]) && mlirIntegerTypeGetWidth(element[0]) == 8;
    if (fits) return true;
    return fail_type(&c,
                     "expects an accumulator of f32 for f16, bf16, f8E4M3FN, f8E5M2 and f32, f16 for f16, "
                     "f64 for f64, i32 for i8",
                     element[2]);
}

/* An atomic update without coordinates, of a tensor of `rank` modes. */
static bool verify_whole(const cute_check *c, intptr_t rank, const cute_tile_shape *shape)
{
    if (rank <= shape->rank) return true;
    return cute_check_fail(c,
                           "expects a tile of at least the tensor's %d modes without coordinates, but got %d",
                           (int)rank, shape->rank);
}

/* A coordinate for each mode behind the tensor, which is operand `at`, then perhaps a mask. */
static bool verify_coords(const cute_check *c, intptr_t at, const cute_tile_shape *shape)
{
    const cute_value *tensor = cute_check_operand(c, at);
    intptr_t count = mlirOperationGetNumOperands(c->op) - at - 1, rank = cute_tile_tensor_rank(tensor);
    if (tensor->pointer->space != CUTE_SPACE_GMEM)
        return cute_check_fail(c, "expects a tensor in global memory, gmem, but got %s",
                               cute_space_name(tensor->pointer->space));
    if (!count && !strcmp(c->row->name, "cute.tile.atomic")) return verify_whole(c, rank, shape);
    if (count != rank && count != rank + 1)
        return cute_check_fail(
            c,
            "expects a coordinate for each of the tensor's %d modes, and at most a mask, but got %d operands",
            (int)rank, (int)count);
    for (intptr_t i = 0; i < rank; i++) {
        MlirType element = cute_tile_element(operand_type(c->op, at + 1 + i));
        int width = mlirTypeIsAInteger(element) ? (int)mlirIntegerTypeGetWidth(element) : 0;
        if (width != 32 && width != 64) return fail_type(c, "expects coordinates of i32 or i64", element);
    }
    return count == rank || verify_mask(c, shape, operand_type(c->op, at + 1 + rank));
}

static bool verify_gather(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape shape;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &shape);
    return verify_coords(&c, 0, &shape) && verify_loaded(&c, op);
}

static bool verify_scatter(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape shape, own;
    char want[SHAPE_TEXT], got[SHAPE_TEXT];
    if (!cute_tile_shape_of(operand_type(op, 0), &shape))
        return cute_check_fail(&c, "expects a tile of known extents");
    if (!verify_coords(&c, 1, &shape) || !verify_element(&c, operand_type(op, 0), cute_check_operand(&c, 1)))
        return false;
    cute_tile_shape joined = shape;
    for (int i = 0; i < cute_tile_tensor_rank(cute_check_operand(&c, 1)); i++) {
        if (mlirOperationGetNumOperands(op) == 2) break;
        MlirType type = operand_type(op, 2 + i);
        if (!mlirTypeIsARankedTensor(type)) continue;
        if (!cute_tile_shape_of(type, &own) || !cute_tile_shape_join(&joined, &own) ||
            !cute_tile_shape_equal(&joined, &shape))
            return cute_check_fail(&c, "expects coordinates that broadcast to %s, but got %s",
                                   shape_text(&shape, want, sizeof want), shape_text(&own, got, sizeof got));
    }
    return strcmp(row->name, "cute.tile.atomic") || verify_atomic(row, op);
}

static bool verify_signal(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *counters = cute_check_operand(&c, 0);
    if (!cute_check_space(&c, "counters", counters->pointer, CUTE_SPACE_GMEM)) return false;
    if (counters->tree || !counters->layout.shape || counters->layout.shape->kind == CUTE_TREE_TUPLE)
        return cute_check_fail(&c, "expects a vector of counters");
    return cute_check_element(&c, "counters", counters->pointer->element, "i32");
}

static bool verify_scalar(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape shape;
    char got[SHAPE_TEXT];
    if (cute_tile_shape_of(operand_type(op, 0), &shape) && cute_tile_size(&shape) == 1) return true;
    return cute_check_fail(&c, "expects a tile of one element, but got %s",
                           shape_text(&shape, got, sizeof got));
}

/* Result types are those that follow, whatever their encodings. */
static bool verify_results(const cute_op_row *row, MlirOperation op)
{
    enum { MOST = 16 };
    cute_check c = cute_check_begin(row, op);
    MlirNamedAttribute attributes[MOST];
    MlirValue operands[MOST];
    intptr_t count = mlirOperationGetNumAttributes(op), given = mlirOperationGetNumOperands(op);
    if (given > MOST || count > MOST)
        return cute_check_fail(&c, "expects at most %d operands, but got %d", MOST, (int)given);
    for (intptr_t i = 0; i < count; i++) attributes[i] = mlirOperationGetAttribute(op, i);
    for (intptr_t i = 0; i < given; i++) operands[i] = mlirOperationGetOperand(op, i);
    MlirContext context = mlirOperationGetContext(op);
    cute_op_query query = {.context = context,
                           .location = mlirOperationGetLocation(op),
                           .operand_count = given,
                           .operands = operands,
                           .attributes = mlirDictionaryAttrGet(context, count, attributes)};
    cute_op_types types = {0};
    bool ok = row->infer(row, &query, &types);
    if (ok && types.count != mlirOperationGetNumResults(op))
        ok = cute_check_fail(&c, "expects %d result%s, but got %d", (int)types.count,
                             types.count == 1 ? "" : "s", (int)mlirOperationGetNumResults(op));
    for (intptr_t i = 0; ok && i < types.count; i++) {
        MlirType stated = mlirValueGetType(mlirOperationGetResult(op, i));
        cute_tile_shape want, got;
        bool tile = cute_tile_shape_of(types.items[i], &want);
        ok = tile ? cute_tile_shape_of(stated, &got) && cute_tile_shape_equal(&want, &got) &&
                        mlirTypeEqual(cute_tile_element(stated), cute_tile_element(types.items[i]))
                  : mlirTypeEqual(stated, types.items[i]);
        if (ok) continue;
        cute_buffer left = {0};
        mlirTypePrint(types.items[i], cute_print_to_buffer, &left);
        char what[320];
        snprintf(what, sizeof what, "expects a result of '%s'", cute_buffer_text(&left));
        cute_buffer_release(&left);
        fail_type(&c, what, stated);
    }
    free(types.items);
    return ok;
}

#define VERIFY(name)                                                                                         \
    static bool verify_typed_##name(const cute_op_row *row, MlirOperation op)                                \
    {                                                                                                        \
        return verify_results(row, op) && verify_##name(row, op);                                            \
    }
VERIFY(program)
VERIFY(count)
VERIFY(from)
VERIFY(pages)
VERIFY(load)
VERIFY(map)
VERIFY(cast)
VERIFY(broadcast)
VERIFY(iota)
VERIFY(kind)
VERIFY(reduce)
VERIFY(reshape)
VERIFY(stack)
VERIFY(gemm)
VERIFY(gather)
VERIFY(scalar)

static const cute_op_row rows[] = {
    {.name = "cute.tile.program", .infer = infer_program, .verify = verify_typed_program},
    {.name = "cute.tile.count", .infer = infer_i32, .verify = verify_typed_count},
    {.name = "cute.tile.rows", .infer = cute_tile_infer_rows, .verify = verify_results},
    {.name = "cute.tile.pages", .infer = cute_tile_infer_rows, .verify = verify_typed_pages},
    {.name = "cute.tile.from", .infer = cute_tile_infer_from, .verify = verify_typed_from},
    {.name = "cute.tile.load", .infer = infer_load, .verify = verify_typed_load},
    {.name = "cute.tile.store", .verify = verify_store},
    {.name = "cute.tile.map", .infer = infer_map, .verify = verify_typed_map},
    {.name = "cute.tile.cast", .infer = infer_cast, .verify = verify_typed_cast},
    {.name = "cute.tile.broadcast", .infer = infer_shaped, .verify = verify_typed_broadcast},
    {.name = "cute.tile.iota", .infer = infer_shaped, .verify = verify_typed_iota},
    {.name = "cute.tile.reduce", .infer = infer_reduce, .verify = verify_typed_reduce},
    {.name = "cute.tile.scan", .infer = infer_reduce, .verify = verify_typed_kind},
    {.name = "cute.tile.permute", .infer = infer_permute, .verify = verify_results},
    {.name = "cute.tile.reshape", .infer = infer_shaped, .verify = verify_typed_reshape},
    {.name = "cute.tile.stack", .infer = infer_stack, .verify = verify_typed_stack},
    {.name = "cute.tile.pick", .infer = infer_pick, .verify = verify_results},
    {.name = "cute.tile.gemm", .infer = infer_gemm, .verify = verify_typed_gemm},
    {.name = "cute.tile.gather", .infer = infer_gather, .verify = verify_typed_gather},
    {.name = "cute.tile.scatter", .verify = verify_scatter},
    {.name = "cute.tile.atomic", .verify = verify_scatter},
    {.name = "cute.tile.signal", .verify = verify_signal},
    {.name = "cute.tile.scalar", .infer = infer_scalar, .verify = verify_typed_scalar},
    {.name = "cute.tile.convert"},
};
const cute_op_family cute_family_tile = {rows, sizeof rows / sizeof *rows};
