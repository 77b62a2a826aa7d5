/* cute-nvgpu-tma-materialize: makes the host encode tensor maps and passes them to kernels as parameters.
 *
 * Requires: launches outlined, kernels in gpu.modules. Ensures: no
 * cute_nvgpu.atom.make_non_exec_tiled_tma_load, store or reduce, and none of im2col. An atom that is a
 * kernel argument becomes a pointer to 128 bytes (`tensor-map=param`: passed by value as a grid constant
 * aligned to 64; `tensor-map=memory`: in device memory). An atom that a kernel creates from a tensor becomes
 * an additional parameter; its creation moves to the host functions that launch the kernel, together with
 * the computation of the tensor from the kernel's arguments. Coordinates are rebuilt in place. Static
 * properties of a map are in the parameter's `cute.tensor_map` (docs/metadata.md), from which a launch
 * without a host function encodes the map.
 *
 *     gpu.func @k(%A: !A) kernel { %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %tile) ... }
 *     gpu.launch_func @m::@k ... args(%x : !A)
 * ->
 *     gpu.func @k(%A: !A, %map: !llvm.ptr {cute.tensor_map = {...}}) kernel {
 *       %a = builtin.unrealized_conversion_cast %map
 *       %c = cute.make_view(...) ...
 *     %map = cute_nvgpu.host.tensor_map(%pointer, ...) {box = [...], swizzle = 3 : i32, ...}
 *     gpu.launch_func @m::@k ... args(%x : !A, %map : !llvm.ptr)
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/ir/ops/tma.h"
#include "lib/passes/dead.h"
#include "lib/passes/host/describe.h"
#include "lib/passes/host/launches.h"
#include "lib/passes/passes.h"

#define TILED  "cute_nvgpu.atom.make_non_exec_tiled_tma_"
#define IM2COL "cute_nvgpu.atom.make_non_exec_im2col_tma_"
static const char *const makes[] = {TILED "load",  TILED "store",  TILED "reduce",
                                    IM2COL "load", IM2COL "store", IM2COL "reduce"};
enum { MAKES = sizeof makes / sizeof *makes };

/* A tensor map created in a kernel. */
typedef struct inner {
    MlirOperation make;
    cute_tma_map map;
} inner;

/* A kernel value and its copy on the host. */
typedef struct moved {
    MlirValue from, to;
} moved;

typedef struct materializing {
    MlirOperation root, kernel;
    cute_launches *launches;
    cute_pass_run *pass;
    cute_arena *arena;
    cute_diag *diag;
    bool by_value, launched, changed, failed;
    inner *inner;
    size_t inner_count, inner_capacity;
    MlirOperation launch, source; /* source: the operation that creates argument `wanted` */
    intptr_t first, wanted; /* first: index of the kernel's first argument among the launch's operands */
    moved *moved;
    size_t moved_count, moved_capacity;
} materializing;

static void fail_at(materializing *m, MlirOperation op)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    const char *text = cute_arena_copy(m->arena, name.data, name.length);
    cute_op_fail(mlirOperationGetLocation(op), text, "%s",
                 cute_diag_count(m->diag) ? cute_diag_get(m->diag, 0)->text : "out of memory");
    cute_diag_destroy(m->diag);
    m->diag = cute_diag_create();
    cute_pass_fail(m->pass);
    m->failed = true;
}

/* ---- operands of a tensor map ---- */

/* The single result of an operation with inferred type. */
static MlirValue build_inferred(const cute_builder *b, const char *name, MlirValue operand)
{
    MlirOperation op = cute_build_inferred(b, name, CUTE_OPERANDS(operand), CUTE_NO_NAMED);
    return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

/* All leaves of a tensor's shape or stride. */
static MlirOperation leaves_of(const cute_builder *b, MlirValue tensor, const char *part)
{
    MlirValue layout = build_inferred(b, "cute.get_layout", tensor);
    MlirValue tuple = mlirValueIsNull(layout) ? layout : build_inferred(b, part, layout);
    if (mlirValueIsNull(tuple)) return (MlirOperation){NULL};
    return cute_build_inferred(b, "cute.get_scalars", CUTE_OPERANDS(tuple), CUTE_NO_NAMED);
}

static MlirValue as_i64(const cute_builder *b, MlirOperation scalars, uint32_t leaf)
{
    MlirValue value = mlirOperationGetResult(scalars, leaf);
    MlirType i64 = mlirIntegerTypeGet(b->context, 64);
    return mlirTypeEqual(mlirValueGetType(value), i64) ? value : cute_unary(b, "arith.extsi", value, i64);
}

static MlirNamedAttribute i32_attribute(MlirContext c, const char *name, int64_t value)
{
    return cute_attribute(c, name, mlirIntegerAttrGet(mlirIntegerTypeGet(c, 32), value));
}

/* Extent of the last dimension, whose modes share a stride: large enough for the last element of each
 * mode. */
static MlirValue group_extent(const cute_builder *b, MlirOperation extents, const cute_tma_map *map)
{
    MlirType i64 = mlirIntegerTypeGet(b->context, 64);
    MlirValue one = cute_integer(b, i64, 1), sum = one;
    for (int i = 0; i < map->groups; i++) {
        int at = map->map.rank - 1 + i;
        MlirValue steps = cute_binary(b, "arith.subi", as_i64(b, extents, map->leaf[at]), one);
        if (map->scale[at] != 1)
            steps = cute_binary(b, "arith.muli", steps, cute_integer(b, i64, map->scale[at]));
        sum = cute_binary(b, "arith.addi", sum, steps);
    }
    return sum;
}

/* Adds the properties that differ from the defaults. */
static void add_choices(MlirContext c, const cute_tensor_map *map, MlirNamedAttribute *attributes,
                        intptr_t *count)
{
    const struct {
        const char *name;
        cute_tma_choice choice;
        int value, usual;
    } words[] = {{"interleave", CUTE_TMA_INTERLEAVE, (int)map->interleave, 0},
                 {"l2_promotion", CUTE_TMA_PROMOTION, (int)map->l2_promotion, CUTE_MAP_L2_128B},
                 {"fill", CUTE_TMA_FILL, (int)map->fill, 0}};
    for (int i = 0; i < 3; i++)
        if (words[i].value != words[i].usual)
            attributes[(*count)++] = cute_attribute(
                c, words[i].name, cute_string_attribute(c, cute_tma_word(words[i].choice, words[i].value)));
    if (!map->im2col) return;
    const char *const names[] = {"lower", "upper", "stride"};
    for (int i = 0; i < 3; i++) {
        int64_t numbers[CUTE_MAP_SPATIAL];
        for (int j = 0; j < map->rank - 2; j++)
            numbers[j] = i == 0   ? map->lower[j]
                         : i == 1 ? map->upper[j]
                                  : (int32_t)map->element_strides[1 + j];
        attributes[(*count)++] = cute_attribute(c, names[i], mlirDenseI64ArrayGet(c, map->rank - 2, numbers));
    }
}

/* Creates the host operation for a map of `tensor`. */
static cute_status build_map(materializing *m, const cute_builder *b, MlirValue tensor,
                             const cute_tma_map *map, MlirStringRef name, MlirValue *out)
{
    MlirContext c = b->context;
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    MlirOperation extents = leaves_of(b, tensor, "cute.get_shape"),
                  strides = leaves_of(b, tensor, "cute.get_stride");
    MlirValue iterator = build_inferred(b, "cute.get_iter", tensor), operands[2 * CUTE_MAP_RANK];
    if (mlirOperationIsNull(extents) || mlirOperationIsNull(strides) || mlirValueIsNull(iterator))
        return cute_fail(m->diag, CUTE_INVALID, NULL, "could not read the tensor's layout");
    intptr_t count = 0, attribute_count = 5;
    int rank = map->map.rank;
    int64_t modes[CUTE_MAP_RANK], box[CUTE_MAP_RANK], bytes = type->pointer->bits / 8;
    operands[count++] = cute_cast(b, iterator, mlirLLVMPointerTypeGet(c, 1));
    for (int i = 0; i < rank; i++)
        operands[count++] =
            map->groups && i == rank - 1 ? group_extent(b, extents, map) : as_i64(b, extents, map->leaf[i]);
    MlirType i64 = mlirIntegerTypeGet(c, 64);
    for (int i = 1; i < rank; i++)
        operands[count++] =
            map->groups && i == rank - 1
                ? cute_integer(b, i64, map->group_stride * bytes)
                : cute_binary(b, "arith.muli", as_i64(b, strides, map->leaf[i]), cute_integer(b, i64, bytes));
    for (int i = 0; i < rank; i++) modes[i] = map->leaf[i], box[i] = map->map.box[i];
    MlirNamedAttribute attributes[11] = {
        cute_attribute(c, "box", mlirDenseI64ArrayGet(c, map->map.im2col ? 2 : rank, box)),
        cute_attribute(c, "modes", mlirDenseI64ArrayGet(c, rank, modes)),
        cute_attribute(c, "format", cute_string_attribute(c, map->atom->tma->format)),
        i32_attribute(c, "swizzle", map->map.swizzle),
        cute_attribute(c, "tensor", mlirStringAttrGet(c, name)),
    };
    add_choices(c, &map->map, attributes, &attribute_count);
    *out = cute_build_value(b, "cute_nvgpu.host.tensor_map", mlirLLVMPointerTypeGet(c, 0),
                            (cute_operands){operands, count}, (cute_named){attributes, attribute_count});
    return CUTE_OK;
}

/* Extents of an im2col copy's coordinates: the pixels of the box, in width, height and depth, at which a
 * copy may start. */
static MlirValue pixel_shape(materializing *m, const cute_builder *b, MlirValue tensor,
                             const cute_value *coordinates, const cute_tma_map *map)
{
    enum { MOST = 2 * CUTE_TMA_COORDINATES };
    const cute_tree *shape = coordinates->layout.shape, *pixels = shape->items[0];
    const cute_tree *channels =
        shape->items[1]->kind == CUTE_TREE_TUPLE ? shape->items[1]->items[0] : shape->items[1];
    cute_value value = cute_value_of_tree(CUTE_SHAPE, shape);
    MlirType type = cute_type_of_value(b->context, m->arena, &value);
    MlirOperation extents = leaves_of(b, tensor, "cute.get_shape");
    MlirValue operands[MOST];
    intptr_t count = 0;
    if (mlirTypeIsNull(type) || mlirOperationIsNull(extents)) return (MlirValue){NULL};
    for (uint32_t i = 0; i < pixels->count; i++) {
        if (pixels->items[i]->value.known) continue;
        MlirValue extent = mlirOperationGetResult(extents, 1 + i);
        if (i + 1 < pixels->count) { /* not the batch */
            const cute_tensor_map *t = &map->map;
            MlirType width = mlirValueGetType(extent);
            extent = cute_binary(b, "arith.addi", extent, cute_integer(b, width, t->upper[i] - t->lower[i]));
            if (t->element_strides[1 + i] > 1)
                extent = cute_binary(b, "arith.ceildivsi", extent,
                                     cute_integer(b, width, t->element_strides[1 + i]));
        }
        operands[count++] = extent;
    }
    if (!channels->value.known) operands[count++] = mlirOperationGetResult(extents, 0);
    return cute_build_value(b, "cute.make_shape", type, (cute_operands){operands, count}, CUTE_NO_NAMED);
}

/* Rebuilds the tensor of coordinates returned by `make`, with the extents of its tensor. */
static cute_status build_coordinates(materializing *m, MlirOperation make, const cute_tma_map *map)
{
    cute_builder b = cute_builder_before(make);
    MlirValue result = mlirOperationGetResult(make, 1), tensor = mlirOperationGetOperand(make, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(result));
    cute_value iterator = cute_value_of_tree(CUTE_ARITH_TUPLE_ITER, type->tree),
               stride = cute_value_of_tree(CUTE_STRIDE, type->layout.stride);
    MlirType types[] = {cute_type_of_value(b.context, m->arena, &iterator),
                        cute_type_of_value(b.context, m->arena, &stride)};
    MlirValue layout = build_inferred(&b, "cute.get_layout", tensor);
    MlirValue shape = mlirValueIsNull(layout) ? layout
                      : map->map.im2col       ? pixel_shape(m, &b, tensor, type, map)
                                              : build_inferred(&b, "cute.get_shape", layout);
    if (mlirTypeIsNull(types[0]) || mlirTypeIsNull(types[1]) || mlirValueIsNull(shape))
        return cute_fail(m->diag, CUTE_INVALID, NULL, "could not read the tensor's extents");
    MlirValue parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = cute_build_value(&b, "cute.static", types[i], CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue operands[] = {shape, parts[1]};
    const int32_t segments[] = {1, 1};
    MlirNamedAttribute sizes =
        cute_attribute(b.context, "operandSegmentSizes", mlirDenseI32ArrayGet(b.context, 2, segments));
    MlirOperation made =
        cute_build_inferred(&b, "cute.make_layout", (cute_operands){operands, 2}, CUTE_NAMED(sizes));
    if (mlirOperationIsNull(made))
        return cute_fail(m->diag, CUTE_INVALID, NULL, "could not make the layout of coordinates");
    mlirValueReplaceAllUsesOfWith(
        result, cute_build_value(&b, "cute.make_view", mlirValueGetType(result),
                                 CUTE_OPERANDS(parts[0], mlirOperationGetResult(made, 0)), CUTE_NO_NAMED));
    return CUTE_OK;
}

/* ---- parameters ---- */

/* Builds cute.tensor_map from the properties of `map` known before a launch (NULL: none); `argument` is
 * the index of the tensor among the kernel's arguments, -1: none. */
static MlirAttribute describe_map(const materializing *m, const cute_tma_map *map, intptr_t argument)
{
    MlirContext c = mlirOperationGetContext(m->root);
    cute_dict d = {.context = c};
    cute_dict_text(&d, "space", m->by_value ? "param" : "memory");
    if (!map) return cute_dict_finish(&d);
    const cute_tensor_map *t = &map->map;
    int64_t box[CUTE_MAP_RANK], modes[CUTE_MAP_RANK];
    for (int i = 0; i < t->rank; i++) { /* slowest first, as in a memref */
        box[i] = t->im2col ? t->box[i] : t->box[t->rank - 1 - i];
        modes[i] = map->leaf[t->rank - 1 - i];
    }
    cute_dict_text(&d, "format", map->atom->tma->format);
    if (t->im2col) cute_dict_text(&d, "mode", "im2col");
    cute_dict_put(&d, "box", cute_int_array(c, box, t->im2col ? 2 : t->rank, INT64_MIN));
    cute_dict_text(&d, "swizzle", cute_tma_word(CUTE_TMA_SWIZZLE, (int)t->swizzle));
    cute_dict_text(&d, "interleave", cute_tma_word(CUTE_TMA_INTERLEAVE, (int)t->interleave));
    cute_dict_text(&d, "l2promo", cute_tma_word(CUTE_TMA_PROMOTION, (int)t->l2_promotion));
    cute_dict_text(&d, "fill", cute_tma_word(CUTE_TMA_FILL, (int)t->fill));
    if (argument >= 0 && !t->im2col && !map->groups) {
        cute_dict_int(&d, "tensor", argument);
        cute_dict_put(&d, "modes", cute_int_array(c, modes, t->rank, INT64_MIN));
    }
    return cute_dict_finish(&d);
}

static MlirAttribute parameter_attributes(const materializing *m, MlirAttribute before, MlirAttribute map,
                                          MlirAttribute name)
{
    MlirContext c = mlirOperationGetContext(m->root);
    cute_dict d = {.context = c};
    intptr_t count = mlirAttributeIsNull(before) ? 0 : mlirDictionaryAttrGetNumElements(before);
    for (intptr_t i = 0; i < count && d.count < 16; i++)
        d.items[d.count++] = mlirDictionaryAttrGetElement(before, i);
    cute_dict_put(&d, "cute.tensor_map", map);
    if (!mlirAttributeIsNull(name)) cute_dict_put(&d, "cute.name", name);
    return cute_dict_finish(&d);
}

/* Makes argument `index` of the kernel, which is inserted (`insert`) or replaces an atom, a pointer to a
 * map, cast to `atom` at the start of the kernel. */
static MlirValue add_parameter(materializing *m, intptr_t index, bool insert, MlirType atom,
                               MlirAttribute map, MlirAttribute name)
{
    MlirContext c = mlirOperationGetContext(m->root);
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(m->kernel, 0));
    MlirType type =
        mlirTypeAttrGetValue(mlirOperationGetAttributeByName(m->kernel, cute_text("function_type")));
    MlirAttribute all = mlirOperationGetAttributeByName(m->kernel, cute_text("arg_attrs"));
    intptr_t count = mlirFunctionTypeGetNumInputs(type), total = count + insert;
    MlirType *inputs = cute_arena_array(m->arena, (size_t)total + 1, sizeof *inputs);
    MlirAttribute *attributes = cute_arena_array(m->arena, (size_t)total + 1, sizeof *attributes);
    if (!inputs || !attributes) return (MlirValue){NULL};
    for (intptr_t i = 0; i < total; i++) {
        bool old = i < count;
        MlirAttribute own = old && !mlirAttributeIsNull(all) ? mlirArrayAttrGetElement(all, i)
                                                             : mlirDictionaryAttrGet(c, 0, NULL);
        inputs[i] = i == index ? mlirLLVMPointerTypeGet(c, 0) : mlirFunctionTypeGetInput(type, i);
        attributes[i] =
            i == index ? parameter_attributes(m, insert ? (MlirAttribute){NULL} : own, map, name) : own;
    }
    mlirOperationSetAttributeByName(m->kernel, cute_text("function_type"),
                                    mlirTypeAttrGet(mlirFunctionTypeGet(c, total, inputs, 0, NULL)));
    mlirOperationSetAttributeByName(m->kernel, cute_text("arg_attrs"),
                                    mlirArrayAttrGet(c, total, attributes));
    MlirLocation location = insert ? mlirOperationGetLocation(m->kernel)
                                   : cute_argument_location(mlirBlockGetArgument(entry, index));
    MlirValue pointer = mlirBlockInsertArgument(entry, insert ? index : index + 1, inputs[index], location);
    cute_builder b = cute_builder_at_start(entry, location);
    MlirValue cast = cute_cast(&b, pointer, atom);
    if (!insert) {
        mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(entry, index), cast);
        mlirBlockEraseArgument(entry, (unsigned)index);
    }
    m->changed = true;
    return cast;
}

/* A name that no argument has: "A_map", "A_map2", ... */
static MlirAttribute map_name(const materializing *m, MlirStringRef tensor)
{
    MlirContext c = mlirOperationGetContext(m->root);
    for (int number = 1;; number++) {
        char tail[16] = "";
        if (number > 1) snprintf(tail, sizeof tail, "%d", number);
        const char *text = cute_arena_printf(m->arena, "%.*s_map%s", (int)tensor.length, tensor.data, tail);
        bool taken = false;
        for (intptr_t i = 0; text && i < cute_kernel_argument_count(m->kernel); i++)
            taken = taken || cute_text_is(cute_argument_name(m->kernel, i), text);
        if (!taken) return cute_string_attribute(c, text ? text : "map");
    }
}

/* ---- launches ---- */

static bool is_make(MlirOperation op)
{
    for (int i = 0; i < MAKES; i++)
        if (cute_op_is(op, makes[i])) return true;
    return false;
}

typedef void (*launch_visit)(materializing *m, MlirOperation launch, intptr_t first, intptr_t end);

typedef struct each {
    materializing *m;
    launch_visit visit;
} each;

static void visit_launch(MlirOperation op, void *context)
{
    each *l = context;
    if (cute_op_is(op, "cuda.launch_ex")) {
        l->visit(l->m, op, 1, mlirOperationGetNumOperands(op));
        return;
    }
    intptr_t start[CUTE_LAUNCH_GROUPS];
    cute_launch_groups(op, start);
    l->visit(l->m, op, start[CUTE_LAUNCH_ARGUMENTS], start[CUTE_LAUNCH_ARGUMENTS + 1]);
}

static void each_launch(materializing *m, launch_visit visit)
{
    each l = {m, visit};
    cute_launches_each(m->launches, m->kernel, visit_launch, &l);
}

static bool is_tma_atom(MlirType type)
{
    const cute_value *value = cute_type_peek(type);
    return value && value->type == CUTE_ATOM && value->atom->tma && !value->atom->tma->executable;
}

/* Converts atoms among a launch's arguments to pointers to maps. */
static void cast_atoms(materializing *m, MlirOperation launch, intptr_t first, intptr_t end)
{
    cute_builder b = cute_builder_before(launch);
    m->launched = true;
    for (intptr_t i = first; i < end; i++) {
        MlirValue operand = mlirOperationGetOperand(launch, i);
        if (is_tma_atom(mlirValueGetType(operand)))
            mlirOperationSetOperand(launch, i, cute_cast(&b, operand, mlirLLVMPointerTypeGet(b.context, 0)));
    }
}

/* ---- moving computations to the host ---- */

static MlirValue find_moved(const materializing *m, MlirValue value)
{
    for (size_t i = 0; i < m->moved_count; i++)
        if (mlirValueEqual(m->moved[i].from, value)) return m->moved[i].to;
    return (MlirValue){NULL};
}

static intptr_t kernel_argument_index(const materializing *m, MlirValue value)
{
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(m->kernel, 0));
    for (intptr_t i = 0; i < cute_kernel_argument_count(m->kernel); i++)
        if (mlirValueEqual(mlirBlockGetArgument(entry, i), value)) return i;
    return -1;
}

/* Whether an operation can be cloned on the host. */
static bool host_can(MlirOperation op)
{
    return !mlirOperationIsNull(op) && mlirOperationGetNumRegions(op) == 0 && cute_op_is_effect_free(op) &&
           (cute_op_of(op, "cute.") || cute_op_of(op, "arith."));
}

/* Clones the computation of a kernel value before the launch. */
static cute_status move_to_host(materializing *m, MlirValue value, MlirValue *out)
{
    *out = find_moved(m, value);
    if (!mlirValueIsNull(*out)) return CUTE_OK;
    intptr_t argument = kernel_argument_index(m, value);
    MlirOperation op = cute_defining_op(value);
    if (argument >= 0) {
        *out = mlirOperationGetOperand(m->launch, m->first + argument);
        return CUTE_OK;
    }
    if (!host_can(op)) {
        MlirStringRef name = mlirOperationIsNull(op) ? cute_text("a block argument")
                                                     : mlirIdentifierStr(mlirOperationGetName(op));
        return cute_fail(m->diag, CUTE_INVALID, NULL,
                         "expects a tensor that the host can compute from the kernel's arguments: its tensor "
                         "map is encoded before the launch, but it depends on %.*s",
                         (int)name.length, name.data);
    }
    intptr_t count = mlirOperationGetNumOperands(op);
    MlirValue *operands = cute_arena_array(m->arena, (size_t)count + 1, sizeof *operands);
    if (!operands) return cute_fail_memory(m->diag);
    for (intptr_t i = 0; i < count; i++)
        CUTE_TRY(move_to_host(m, mlirOperationGetOperand(op, i), &operands[i]));
    MlirOperation copy = mlirOperationClone(op);
    mlirOperationSetOperands(copy, count, operands);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(m->launch), m->launch, copy);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        if (!cute_arena_more(m->arena, &m->moved, m->moved_count, &m->moved_capacity, sizeof *m->moved, 16))
            return cute_fail_memory(m->diag);
        m->moved[m->moved_count++] = (moved){mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i)};
        if (mlirValueEqual(mlirOperationGetResult(op, i), value)) *out = mlirOperationGetResult(copy, i);
    }
    return CUTE_OK;
}

static MlirStringRef tensor_name(const materializing *m, MlirOperation make)
{
    intptr_t argument = kernel_argument_index(m, mlirOperationGetOperand(make, 0));
    return argument < 0 ? cute_text("tensor") : cute_argument_name(m->kernel, argument);
}

/* Adds the kernel's maps as arguments of a launch. */
static void add_maps(materializing *m, MlirOperation launch, intptr_t first, intptr_t end)
{
    intptr_t count = mlirOperationGetNumOperands(launch), added = (intptr_t)m->inner_count, n = 0;
    MlirValue *operands = cute_arena_array(m->arena, (size_t)(count + added), sizeof *operands);
    m->launch = launch;
    m->first = first;
    m->moved_count = 0;
    for (intptr_t i = 0; operands && i < end; i++) operands[n++] = mlirOperationGetOperand(launch, i);
    for (size_t i = 0; operands && i < m->inner_count; i++) {
        cute_builder b = cute_builder_before(launch);
        MlirOperation make = m->inner[i].make;
        b.location = mlirOperationGetLocation(make);
        MlirValue tensor;
        if (move_to_host(m, mlirOperationGetOperand(make, 0), &tensor) != CUTE_OK ||
            build_map(m, &b, tensor, &m->inner[i].map, tensor_name(m, make), &operands[n++]) != CUTE_OK) {
            fail_at(m, make);
            return;
        }
    }
    for (intptr_t i = end; operands && i < count; i++) operands[n++] = mlirOperationGetOperand(launch, i);
    if (!operands) {
        fail_at(m, launch);
        return;
    }
    mlirOperationSetOperands(launch, n, operands);
    if (!cute_op_is(launch, "gpu.launch_func")) return;
    MlirAttribute segments = mlirOperationGetAttributeByName(launch, cute_text("operandSegmentSizes"));
    int32_t sizes[13];
    intptr_t groups = mlirDenseArrayGetNumElements(segments);
    for (intptr_t i = 0; i < groups && i < 13; i++) sizes[i] = mlirDenseI32ArrayGetElement(segments, i);
    sizes[11] += (int32_t)added;
    mlirOperationSetAttributeByName(launch, cute_text("operandSegmentSizes"),
                                    mlirDenseI32ArrayGet(mlirOperationGetContext(launch), groups, sizes));
}

/* ---- kernels ---- */

static void note_inner(MlirOperation op, void *context)
{
    materializing *m = context;
    if (!is_make(op)) return;
    if (!cute_arena_more(m->arena, &m->inner, m->inner_count, &m->inner_capacity, sizeof *m->inner, 4)) {
        fail_at(m, op);
        return;
    }
    inner *i = &m->inner[m->inner_count];
    *i = (inner){.make = op};
    if (cute_tma_plan_of(m->arena, op, &i->map, m->diag) != CUTE_OK)
        fail_at(m, op);
    else
        m->inner_count++;
}

/* The operation that creates the atom passed as argument `index`; null: unknown. */
static MlirOperation make_of_operand(MlirOperation launch, intptr_t operand)
{
    MlirOperation op = cute_defining_op(mlirOperationGetOperand(launch, operand));
    if (!mlirOperationIsNull(op) && cute_op_is(op, "builtin.unrealized_conversion_cast"))
        op = cute_defining_op(mlirOperationGetOperand(op, 0));
    return !mlirOperationIsNull(op) && is_make(op) ? op : (MlirOperation){NULL};
}

static void find_source(materializing *m, MlirOperation launch, intptr_t first, intptr_t end)
{
    if (mlirOperationIsNull(m->source) && first + m->wanted < end)
        m->source = make_of_operand(launch, first + m->wanted);
}

/* Lowers atoms among the arguments. One launch determines the box for all, since the type contains it. */
static void lower_atoms(materializing *m)
{
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(m->kernel, 0));
    for (intptr_t i = 0; i < cute_kernel_argument_count(m->kernel); i++) {
        MlirType type = mlirValueGetType(mlirBlockGetArgument(entry, i));
        if (!is_tma_atom(type)) continue;
        cute_tma_map map;
        MlirAttribute known = describe_map(m, NULL, -1);
        m->wanted = i;
        m->source = (MlirOperation){NULL};
        each_launch(m, find_source);
        if (!mlirOperationIsNull(m->source) && cute_tma_plan_of(m->arena, m->source, &map, NULL) == CUTE_OK)
            known = describe_map(m, &map, -1);
        add_parameter(m, i, false, type, known, (MlirAttribute){NULL});
    }
}

static void lower_inner(materializing *m, inner *i)
{
    MlirOperation make = i->make;
    intptr_t argument = kernel_argument_index(m, mlirOperationGetOperand(make, 0));
    if (!m->launched && (i->map.map.im2col || i->map.groups)) {
        cute_fail(
            m->diag, CUTE_INVALID, NULL,
            "expects a host function that launches the kernel: only the host can encode a tensor map %s",
            i->map.groups ? "with a dimension of several modes" : "in im2col mode");
        fail_at(m, make);
        return;
    }
    if (!m->launched && argument < 0) {
        cute_fail(m->diag, CUTE_INVALID, NULL,
                  "expects a kernel argument as its tensor: no host function here launches the kernel, so no "
                  "other tensor can be computed");
        fail_at(m, make);
        return;
    }
    MlirValue atom = mlirOperationGetResult(make, 0);
    MlirValue cast = add_parameter(m, cute_kernel_argument_count(m->kernel), true, mlirValueGetType(atom),
                                   describe_map(m, &i->map, argument), map_name(m, tensor_name(m, make)));
    if (mlirValueIsNull(cast) || build_coordinates(m, make, &i->map) != CUTE_OK) {
        fail_at(m, make);
        return;
    }
    mlirValueReplaceAllUsesOfWith(atom, cast);
    mlirOperationDestroy(make);
}

static void lower_kernel(MlirOperation kernel, void *context)
{
    materializing *m = context;
    if (!cute_op_is(kernel, "gpu.func")) return;
    /* Unreachable copies need no tensor map. */
    cute_drop_never_run(kernel, "cute_nvgpu.");
    m->kernel = kernel;
    m->launched = false;
    m->inner_count = 0;
    cute_op_walk(kernel, "cute_nvgpu.", CUTE_WALK_OUTER_FIRST, note_inner, m);
    lower_atoms(m);
    each_launch(m, cast_atoms);
    if (m->inner_count) each_launch(m, add_maps);
    for (size_t i = 0; i < m->inner_count; i++) lower_inner(m, &m->inner[i]);
}

/* ---- host code ---- */

static MlirStringRef host_name(MlirOperation make)
{
    MlirValue tensor = mlirOperationGetOperand(make, 0);
    MlirOperation func = cute_op_parent(make, "func.func");
    if (mlirOperationIsNull(func) || !mlirValueIsABlockArgument(tensor)) return cute_text("tensor");
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++)
        if (mlirValueEqual(mlirBlockGetArgument(entry, i), tensor)) return cute_argument_name(func, i);
    return cute_text("tensor");
}

static void lower_host(MlirOperation op, void *context)
{
    materializing *m = context;
    cute_tma_map map;
    MlirValue made;
    if (!is_make(op)) return;
    cute_status status = cute_tma_plan_of(m->arena, op, &map, m->diag);
    if (status == CUTE_OK && !mlirOperationIsNull(cute_op_parent(op, "gpu.module")))
        status = cute_fail(m->diag, CUTE_INVALID, NULL,
                           "expects to be in a kernel or a host function: tensor maps are kernel parameters");
    cute_builder b = cute_builder_before(op);
    if (status == CUTE_OK)
        status = build_map(m, &b, mlirOperationGetOperand(op, 0), &map, host_name(op), &made);
    if (status == CUTE_OK) status = build_coordinates(m, op, &map);
    if (status != CUTE_OK) {
        fail_at(m, op);
        return;
    }
    MlirValue atom = mlirOperationGetResult(op, 0);
    mlirValueReplaceAllUsesOfWith(atom, cute_cast(&b, made, mlirValueGetType(atom)));
    mlirOperationDestroy(op);
    m->changed = true;
}

static void run_tma_materialize(MlirOperation root, cute_pass_run *pass)
{
    materializing m = {.root = root, .pass = pass, .arena = cute_arena_create(), .diag = cute_diag_create()};
    m.by_value = cute_text_is(cute_pass_text(pass, 0), "param");
    m.launches = cute_launches_create(root);
    if (m.arena && m.launches) {
        cute_kernels_each(root, lower_kernel, &m);
        if (!m.failed) cute_op_walk(root, "cute_nvgpu.", CUTE_WALK_OUTER_FIRST, lower_host, &m);
    } else {
        cute_pass_fail(pass);
    }
    if (m.changed)
        cute_drop_dead_parts(root);
    else
        cute_pass_unchanged(pass);
    cute_launches_destroy(m.launches);
    cute_diag_destroy(m.diag);
    cute_arena_destroy(m.arena);
}

static const cute_pass_option options[] = {
    {"tensor-map", CUTE_PASS_TEXT, "Pass tensor maps as param (128 bytes by value) or memory (a pointer)", 0,
     "param"},
};

const cute_pass cute_pass_tma_materialize = {
    .name = "cute-nvgpu-tma-materialize",
    .help = "Encode the tensor maps of TMA atoms on the host, and pass them to kernels as parameters",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM,
    .run = run_tma_materialize,
};
