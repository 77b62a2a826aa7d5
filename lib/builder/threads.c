/* Kernels of threads: indices, elements of tensors, shared memory, barriers, communication. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/builder/builder.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"

/* ---- indices ---- */

/* An operation of gpu whose result is an index, as an i32. */
static cute_ir_value index_as_i32(cute_ir_at at, const char *name, MlirAttribute attributes)
{
    cute_ir *ir = at.ir;
    MlirOperation op =
        ir_create(at, name, CUTE_NO_OPERANDS, &CUTE_TYPES(mlirIndexTypeGet(ir->context)), attributes);
    if (mlirOperationIsNull(op)) return (cute_ir_value){0};
    return ir_build(at, "arith.index_cast", CUTE_OPERANDS(mlirOperationGetResult(op, 0)),
                    &CUTE_TYPES(mlirIntegerTypeGet(ir->context, 32)), mlirAttributeGetNull());
}

static cute_ir_value dimension_index(cute_ir_at at, const char *function, const char *name, cute_ir_axis axis)
{
    static const char *const dimensions[] = {"#gpu<dim x>", "#gpu<dim y>", "#gpu<dim z>"};
    cute_ir *ir = at.ir;
    if (!ir_frame_for(at, function)) return (cute_ir_value){0};
    if ((unsigned)axis > CUTE_IR_Z)
        return ir_fail(at, "%s expects CUTE_IR_X, CUTE_IR_Y or CUTE_IR_Z, got %d", function, (int)axis);
    MlirNamedAttribute named = cute_attribute(
        ir->context, "dimension", mlirAttributeParseGet(ir->context, cute_text(dimensions[axis])));
    return index_as_i32(at, name, mlirDictionaryAttrGet(ir->context, 1, &named));
}

cute_ir_value cute_ir_thread(cute_ir_at at, cute_ir_axis axis)
{
    return dimension_index(at, "cute_ir_thread", "gpu.thread_id", axis);
}

cute_ir_value cute_ir_block(cute_ir_at at, cute_ir_axis axis)
{
    return dimension_index(at, "cute_ir_block", "gpu.block_id", axis);
}

cute_ir_value cute_ir_block_size(cute_ir_at at, cute_ir_axis axis)
{
    return dimension_index(at, "cute_ir_block_size", "gpu.block_dim", axis);
}

cute_ir_value cute_ir_grid_size(cute_ir_at at, cute_ir_axis axis)
{
    return dimension_index(at, "cute_ir_grid_size", "gpu.grid_dim", axis);
}

cute_ir_value cute_ir_lane(cute_ir_at at)
{
    if (!ir_frame_for(at, "cute_ir_lane")) return (cute_ir_value){0};
    return index_as_i32(at, "gpu.lane_id", mlirAttributeGetNull());
}

/* ---- elements ---- */

/* Coordinates as values of type index. */
static bool index_operands(cute_ir_at at, const char *function, cute_ir_values coordinates, MlirValue *out)
{
    MlirType index = mlirIndexTypeGet(at.ir->context);
    for (size_t i = 0; i < coordinates.count; i++) {
        cute_ir_value c = coordinates.items[i];
        if (!ir_is_number(c)) {
            MlirValue value;
            if (!ir_get(at, function, c, &value)) return false;
            if (!mlirTypeIsAIndex(mlirValueGetType(value))) c = cute_ir_cast(at, c, "index");
        }
        if (!ir_ready(at.ir) || !ir_get_as(at, function, c, index, &out[i])) return false;
    }
    return true;
}

/* Appends a coordinate to the type's text, and a value that is not a number to `leaves`. */
static bool add_coordinate(cute_ir_at at, const char *function, cute_ir_value c, cute_buffer *type,
                           MlirValue *leaves, size_t *count)
{
    if (c.kind == CUTE_IR_INTEGER) {
        cute_buffer_printf(type, "%lld", (long long)c.integer);
        return true;
    }
    if (c.kind == CUTE_IR_REAL)
        return ir_fail(at, "%s expects integers as coordinates, got %g", function, c.real), false;
    if (!ir_get(at, function, c, &leaves[*count])) return false;
    MlirType is = mlirValueGetType(leaves[*count]);
    if (mlirTypeIsAIndex(is)) {
        c = cute_ir_cast(at, c, CUTE_I64);
        if (!ir_ready(at.ir) || !ir_get(at, function, c, &leaves[*count])) return false;
        is = mlirValueGetType(leaves[*count]);
    }
    unsigned width = mlirTypeIsAInteger(is) ? mlirIntegerTypeGetWidth(is) : 0;
    if (width != 32 && width != 64)
        return ir_fail(at, "%s expects coordinates of i32, i64 or index, got '%s'", function,
                       ir_type_text(at.ir, is)),
               false;
    cute_buffer_puts(type, width == 64 ? "?{i64}" : "?");
    ++*count;
    return true;
}

bool ir_coordinate(cute_ir_at at, const char *function, cute_ir_values coordinates, MlirValue *out)
{
    cute_ir *ir = at.ir;
    cute_buffer text = {0};
    size_t count = 0;
    MlirValue *leaves = cute_arena_array(ir->arena, coordinates.count + 1, sizeof *leaves);
    if (!leaves) return ir_fail_memory(ir), false;
    if (!coordinates.count) return ir_fail(at, "%s expects coordinates, got none", function), false;
    cute_buffer_puts(&text, coordinates.count > 1 ? "!cute.coord<\"(" : "!cute.coord<\"");
    bool good = true;
    for (size_t i = 0; i < coordinates.count && good; i++) {
        if (i) cute_buffer_puts(&text, ",");
        good = add_coordinate(at, function, coordinates.items[i], &text, leaves, &count);
    }
    cute_buffer_puts(&text, coordinates.count > 1 ? ")\">" : "\">");
    MlirOperation op = {NULL};
    if (good) {
        MlirType type = ir_type(at, cute_buffer_text(&text));
        if (!mlirTypeIsNull(type))
            op = ir_create(at, count ? "cute.make_coord" : "cute.static",
                           (cute_operands){leaves, (intptr_t)count}, &CUTE_TYPES(type),
                           mlirAttributeGetNull());
    }
    cute_buffer_release(&text);
    if (mlirOperationIsNull(op)) return false;
    *out = mlirOperationGetResult(op, 0);
    return true;
}

bool ir_tensor(cute_ir_at at, const char *function, cute_ir_value tensor, bool builtin, MlirValue *out)
{
    cute_type kind;
    if (!ir_get(at, function, tensor, out)) return false;
    MlirType type = mlirValueGetType(*out);
    if (cute_type_is(type, &kind) && kind == CUTE_MEMREF) return true;
    if (builtin && mlirTypeIsAMemRef(type)) return true;
    ir_fail(at, "%s expects a tensor of type !cute.memref%s, got '%s'", function, builtin ? " or memref" : "",
            ir_type_text(at.ir, type));
    return false;
}

cute_ir_value cute_ir_load(cute_ir_at at, cute_ir_value tensor, cute_ir_values coordinates)
{
    static const char function[] = "cute_ir_load";
    MlirValue *operands;
    if (!ir_frame_for(at, function)) return (cute_ir_value){0};
    operands = cute_arena_array(at.ir->arena, coordinates.count + 1, sizeof *operands);
    if (!operands) return ir_fail_memory(at.ir);
    if (!ir_tensor(at, function, tensor, true, &operands[0])) return (cute_ir_value){0};
    MlirType type = mlirValueGetType(operands[0]);
    if (!mlirTypeIsAMemRef(type)) {
        if (!ir_coordinate(at, function, coordinates, &operands[1])) return (cute_ir_value){0};
        return ir_build(at, "cute.memref.load", (cute_operands){operands, 2}, NULL, mlirAttributeGetNull());
    }
    if (!index_operands(at, function, coordinates, operands + 1)) return (cute_ir_value){0};
    MlirType element = mlirShapedTypeGetElementType(type);
    return ir_build(at, "memref.load", (cute_operands){operands, (intptr_t)coordinates.count + 1},
                    &CUTE_TYPES(element), mlirAttributeGetNull());
}

/* The element type of a tensor; null after an error. */
static MlirType element_type(cute_ir_at at, MlirType tensor)
{
    if (mlirTypeIsAMemRef(tensor)) return mlirShapedTypeGetElementType(tensor);
    const cute_value *value = cute_type_peek(tensor);
    MlirType type = value && value->pointer ? cute_element_type(at.ir->context, value->pointer->element)
                                            : (MlirType){NULL};
    if (mlirTypeIsNull(type))
        ir_fail(at, "cute_ir_store expects a tensor of numbers, got '%s'", ir_type_text(at.ir, tensor));
    return type;
}

void cute_ir_store(cute_ir_at at, cute_ir_value value, cute_ir_value tensor, cute_ir_values coordinates)
{
    static const char function[] = "cute_ir_store";
    MlirValue to, stored, coordinate, *operands;
    if (!ir_frame_for(at, function)) return;
    operands = cute_arena_array(at.ir->arena, coordinates.count + 2, sizeof *operands);
    if (!operands) {
        ir_fail_memory(at.ir);
        return;
    }
    if (!ir_tensor(at, function, tensor, true, &to)) return;
    MlirType type = mlirValueGetType(to), element = element_type(at, type);
    if (mlirTypeIsNull(element) || !ir_get_as(at, function, value, element, &stored)) return;
    if (!mlirTypeIsAMemRef(type)) {
        if (ir_coordinate(at, function, coordinates, &coordinate))
            ir_build(at, "cute.memref.store", CUTE_OPERANDS(to, coordinate, stored), &CUTE_NO_TYPES,
                     mlirAttributeGetNull());
        return;
    }
    operands[0] = stored;
    operands[1] = to;
    if (index_operands(at, function, coordinates, operands + 2))
        ir_build(at, "memref.store", (cute_operands){operands, (intptr_t)coordinates.count + 2},
                 &CUTE_NO_TYPES, mlirAttributeGetNull());
}

/* ---- shared memory and barriers ---- */

cute_ir_value cute_ir_shared(cute_ir_at at, const char *element, cute_ir_extents extents)
{
    static const char function[] = "cute_ir_shared";
    cute_ir *ir = at.ir;
    int64_t total = 1;
    if (!ir_frame_for(at, function)) return (cute_ir_value){0};
    if (!extents.count) return ir_fail(at, "%s expects extents, got none", function);
    for (size_t i = extents.count; i-- > 0;)
        if (extents.items[i] < 1 || !cute_mul64(total, extents.items[i], &total))
            return ir_fail(at, "%s expects positive extents, got %lld", function,
                           (long long)extents.items[i]);
    MlirType type = ir_type(at, element);
    if (mlirTypeIsNull(type)) return (cute_ir_value){0};
    cute_buffer text = {0}, strides = {0};
    cute_buffer_printf(&text, "!cute.memref<%s, smem, align<16>, \"(", ir_type_text(ir, type));
    for (size_t i = 0; i < extents.count; i++) {
        total /= extents.items[i];
        cute_buffer_printf(&text, "%s%lld", i ? "," : "", (long long)extents.items[i]);
        cute_buffer_printf(&strides, "%s%lld", i ? "," : "", (long long)total);
    }
    cute_buffer_printf(&text, "):(%s)\">", cute_buffer_text(&strides));
    type = cute_buffer_ok(&text) ? ir_type(at, cute_buffer_text(&text)) : (MlirType){NULL};
    if (!cute_buffer_ok(&text)) ir_fail_memory(ir);
    cute_buffer_release(&text);
    cute_buffer_release(&strides);
    if (mlirTypeIsNull(type)) return (cute_ir_value){0};
    return ir_build(at, "cute.memref.alloca", CUTE_NO_OPERANDS, &CUTE_TYPES(type), mlirAttributeGetNull());
}

void cute_ir_barrier(cute_ir_at at)
{
    ir_build(at, "gpu.barrier", CUTE_NO_OPERANDS, &CUTE_NO_TYPES, mlirAttributeGetNull());
}

void cute_ir_warp_barrier(cute_ir_at at)
{
    ir_build(at, "cute_nvgpu.arch.warp_sync", CUTE_NO_OPERANDS, &CUTE_NO_TYPES, mlirAttributeGetNull());
}

/* ---- communication ---- */

cute_ir_value cute_ir_shuffle(cute_ir_at at, cute_ir_shuffle_mode mode, cute_ir_value value,
                              cute_ir_value lane)
{
    static const char *const modes[] = {"idx", "up", "down", "bfly"};
    static const char function[] = "cute_ir_shuffle";
    cute_ir *ir = at.ir;
    MlirValue operands[2];
    if (!ir_frame_for(at, function)) return (cute_ir_value){0};
    if ((unsigned)mode > CUTE_IR_XOR)
        return ir_fail(at, "%s expects a mode such as CUTE_IR_XOR, got %d", function, (int)mode);
    if (!ir_get(at, function, value, &operands[0]) ||
        !ir_get_as(at, function, lane, mlirIntegerTypeGet(ir->context, 32), &operands[1]))
        return (cute_ir_value){0};
    return ir_build(at, "cute_nvgpu.arch.shuffle", (cute_operands){operands, 2},
                    &CUTE_TYPES(mlirValueGetType(operands[0])), ir_word(ir, "mode", modes[mode]));
}

cute_ir_value cute_ir_warp_reduce(cute_ir_at at, const char *kind, cute_ir_value value)
{
    MlirValue from;
    if (!ir_frame_for(at, "cute_ir_warp_reduce") || !ir_get(at, "cute_ir_warp_reduce", value, &from))
        return (cute_ir_value){0};
    return ir_build(at, "cute_nvgpu.arch.warp_all_reduce", CUTE_OPERANDS(from),
                    &CUTE_TYPES(mlirValueGetType(from)), ir_word(at.ir, "kind", kind ? kind : ""));
}

cute_ir_value cute_ir_block_reduce(cute_ir_at at, const char *kind, cute_ir_value value)
{
    static const struct {
        const char *kind, *on_floats, *on_integers;
    } rows[] = {
        {"add", "add", "add"},        {"mul", "mul", "mul"}, {"min", "minimumf", "minsi"},
        {"max", "maximumf", "maxsi"}, {"and", NULL, "and"},  {"or", NULL, "or"},
        {"xor", NULL, "xor"},
    };
    static const char function[] = "cute_ir_block_reduce";
    cute_ir *ir = at.ir;
    MlirValue from;
    if (!ir_frame_for(at, function) || !ir_get(at, function, value, &from)) return (cute_ir_value){0};
    MlirType type = mlirValueGetType(from);
    const char *name = NULL;
    for (size_t i = 0; kind && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].kind, kind))
            name = mlirTypeIsAFloat(type) ? rows[i].on_floats : rows[i].on_integers;
    if (!name)
        return ir_fail(at, "%s expects add, mul, min, max, or of integers and, or, xor; got '%s' of '%s'",
                       function, kind ? kind : "", ir_type_text(ir, type));
    const char *written = cute_arena_printf(ir->arena, "gpu.all_reduce %s %%0 uniform {} : (%s) -> (%s)",
                                            name, ir_type_text(ir, type), ir_type_text(ir, type));
    return written ? cute_ir_text(at, written, cute_ir_values_of(&value, 1)) : ir_fail_memory(ir);
}

/* out[index] = value, or out[32 index + i] = the value of lane i. */
void cute_ir_communicate(cute_ir_at at, cute_ir_pattern pattern, cute_ir_value value, cute_ir_value out,
                         cute_ir_value index)
{
    enum { LANES = 32 };
    if (!ir_ready(at.ir)) return;
    switch (pattern) {
    case CUTE_IR_ALL_REDUCE:
        value = cute_ir_warp_reduce(at, "add", value);
        cute_ir_store(at, value, out, cute_ir_values_of(&index, 1));
        return;
    case CUTE_IR_BROADCAST:
        value = cute_ir_shuffle(at, CUTE_IR_IDX, value, cute_ir_integer(0));
        cute_ir_store(at, value, out, cute_ir_values_of(&index, 1));
        return;
    case CUTE_IR_ALL_GATHER: {
        cute_ir_value first = cute_ir_mul(at, index, cute_ir_integer(LANES));
        for (int i = 0; i < LANES && ir_ready(at.ir); i++) {
            cute_ir_value place = cute_ir_add(at, first, cute_ir_integer(i));
            cute_ir_value got = cute_ir_shuffle(at, CUTE_IR_IDX, value, cute_ir_integer(i));
            cute_ir_store(at, got, out, cute_ir_values_of(&place, 1));
        }
        return;
    }
    }
    ir_fail(at, "cute_ir_communicate expects a pattern such as CUTE_IR_ALL_REDUCE, got %d", (int)pattern);
}
