/* See lane_values.h. Works on what cute-expand-ops and the lowering of copies leave, and on what those make. */
#include "lib/passes/tensors/lane_values.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>

#include "lib/atoms/access.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/numbers/integers.h"
#include "lib/base/numbers/mix.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/ops.h"

/* A value of the program: an integer or pointer is one cell; a value of the dialect cute its pointer, if it has one, and its
 * unknown leaves in the order in which they are stored. No cells: nothing is known. */
typedef struct fields {
    cute_cell *cells;
    size_t count;
} fields;

typedef struct entry {
    const void *key; /* of an MlirValue */
    fields value;
} entry;

struct cute_lane_values {
    cute_arena *arena;
    int64_t thread, block[3];
    entry *table;
    size_t count, capacity; /* a power of two */
    int depth;
};

enum { MOST_DEPTH = 2000 };

static fields evaluate(cute_lane_values *v, MlirValue value);

/* ---- cells ---- */

static const fields unknown = {0};

static fields one(cute_lane_values *v, cute_cell cell)
{
    fields f = {cute_arena_array(v->arena, 1, sizeof *f.cells), 1};
    if (!f.cells || !cell.known) return unknown;
    f.cells[0] = cell;
    return f;
}

static fields number(cute_lane_values *v, int64_t value)
{
    return one(v, (cute_cell){true, NULL, value});
}

static cute_cell cell_of(cute_lane_values *v, MlirValue value)
{
    fields f = evaluate(v, value);
    return f.count == 1 ? f.cells[0] : (cute_cell){0};
}

static cute_cell operand(cute_lane_values *v, MlirOperation op, intptr_t i)
{
    return i < mlirOperationGetNumOperands(op) ? cell_of(v, mlirOperationGetOperand(op, i)) : (cute_cell){0};
}

static int width_of(MlirType type)
{
    if (mlirTypeIsAIndex(type)) return 64;
    return mlirTypeIsAInteger(type) ? (int)mlirIntegerTypeGetWidth(type) : 0;
}

/* ---- arithmetic ---- */

static fields apply_binary(cute_lane_values *v, MlirOperation op, cute_integer_op what)
{
    cute_cell a = operand(v, op, 0), b = operand(v, op, 1), out = {.known = true};
    int width = width_of(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!width) width = 64;
    if (!a.known || !b.known || !cute_integer_compute(what, a.value, b.value, width, &out.value))
        return unknown;
    /* Of two addresses only the distance is a number; where one is ahead of its root, what it is without a sign is not known. */
    bool unsign = what == CUTE_INTEGER_DIVU || what == CUTE_INTEGER_REMU || what == CUTE_INTEGER_CEILDIVU ||
                  what == CUTE_INTEGER_SHRU || what == CUTE_INTEGER_MINU || what == CUTE_INTEGER_MAXU;
    if (unsign && ((a.root && a.value < 0) || (b.root && b.value < 0))) return unknown;
    out.root = a.root && b.root ? NULL : a.root ? a.root : b.root;
    if (a.root && b.root && (a.root != b.root || what != CUTE_INTEGER_SUB)) return unknown;
    /* Low bits of an address are a number: those of its distance from the root. */
    if (what == CUTE_INTEGER_AND && (a.root ? b.value : a.value) >= 0) out.root = NULL;
    out.value = cute_integer_plain(out.value, width);
    return one(v, out);
}

static fields apply_compare(cute_lane_values *v, MlirOperation op)
{
    cute_cell a = operand(v, op, 0), b = operand(v, op, 1);
    MlirAttribute predicate = mlirOperationGetAttributeByName(op, cute_text("predicate"));
    int width = width_of(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    bool result;
    if (!a.known || !b.known || a.root != b.root || !mlirAttributeIsAInteger(predicate) ||
        !cute_integer_compare(mlirIntegerAttrGetValueInt(predicate), a.value, b.value, width ? width : 64,
                              &result))
        return unknown;
    return number(v, result);
}

static fields apply_select(cute_lane_values *v, MlirOperation op)
{
    cute_cell c = operand(v, op, 0);
    return c.known ? evaluate(v, mlirOperationGetOperand(op, c.value ? 1 : 2)) : unknown;
}

static fields apply_constant(cute_lane_values *v, MlirOperation op)
{
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text("value"));
    return mlirAttributeIsAInteger(value) ? number(v, mlirIntegerAttrGetValueInt(value)) : unknown;
}

/* Extensions, truncations and casts of numbers and pointers. */
static fields apply_cast(cute_lane_values *v, MlirOperation op)
{
    fields f = mlirOperationGetNumOperands(op) == 1 ? evaluate(v, mlirOperationGetOperand(op, 0)) : unknown;
    int width = width_of(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (f.count != 1 || !width) return f;
    cute_cell c = f.cells[0];
    c.value = cute_integer_plain(c.value, width);
    return one(v, c);
}

static fields apply_zero_extension(cute_lane_values *v, MlirOperation op)
{
    cute_cell c = operand(v, op, 0);
    int width = width_of(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    if (c.known && width > 1 && width < 64) c.value &= (int64_t)((UINT64_C(1) << width) - 1);
    return one(v, c);
}

/* ---- where a thread is ---- */

static int64_t dimension(MlirOperation op)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    char last = name.data[name.length - 1];
    if (last >= 'x' && last <= 'z') return last - 'x';
    MlirAttribute at = mlirOperationGetAttributeByName(op, cute_text("dimension"));
    cute_buffer text = {0};
    if (!mlirAttributeIsNull(at)) mlirAttributePrint(at, cute_print_to_buffer, &text);
    int64_t out = strstr(cute_buffer_text(&text), " z>") ? 2 : strstr(cute_buffer_text(&text), " y>") ? 1 : 0;
    cute_buffer_release(&text);
    return out;
}

static int64_t extent(const cute_lane_values *v, int64_t i)
{
    return v->block[i] > 0 ? v->block[i] : 1;
}

static fields apply_thread(cute_lane_values *v, MlirOperation op)
{
    int64_t i = dimension(op), rest = v->thread;
    if (!v->block[0]) return number(v, i ? 0 : rest);
    for (int64_t k = 0; k < i; k++) rest /= extent(v, k);
    return number(v, rest % extent(v, i));
}

static fields apply_block_extent(cute_lane_values *v, MlirOperation op)
{
    return v->block[0] ? number(v, extent(v, dimension(op))) : unknown;
}

static fields apply_first(cute_lane_values *v, MlirOperation op)
{
    (void)op;
    return number(v, 0);
}

static fields apply_lane(cute_lane_values *v, MlirOperation op)
{
    (void)op;
    return number(v, v->thread % 32);
}

/* ---- pointers ---- */

static int64_t bytes_of(MlirType type)
{
    if (mlirTypeIsAInteger(type)) return ((int64_t)mlirIntegerTypeGetWidth(type) + 7) / 8;
    if (mlirTypeIsAFloat(type)) return ((int64_t)mlirFloatTypeGetWidth(type) + 7) / 8;
    return 0;
}

static fields apply_conversion(cute_lane_values *v, MlirOperation op)
{
    if (cute_op_has(op, CUTE_ROOT_ATTRIBUTE)) return one(v, (cute_cell){true, op.ptr, 0});
    return apply_cast(v, op);
}

static fields apply_gep(cute_lane_values *v, MlirOperation op)
{
    MlirAttribute indices = mlirOperationGetAttributeByName(op, cute_text("rawConstantIndices")),
                  type = mlirOperationGetAttributeByName(op, cute_text("elem_type"));
    cute_cell base = operand(v, op, 0);
    if (!base.known || !mlirAttributeIsADenseI32Array(indices) ||
        mlirDenseArrayGetNumElements(indices) != 1 || !mlirAttributeIsAType(type))
        return unknown;
    int64_t index = mlirDenseI32ArrayGetElement(indices, 0), bytes = bytes_of(mlirTypeAttrGetValue(type));
    if (index == INT32_MIN) {
        cute_cell by = operand(v, op, 1);
        if (!by.known || by.root) return unknown;
        index = by.value;
    }
    if (!bytes || !cute_mul64(index, bytes, &index) || !cute_add64(base.value, index, &base.value))
        return unknown;
    return one(v, base);
}

static fields apply_root(cute_lane_values *v, MlirOperation op)
{
    /* One block of dynamic shared memory; one of each global. */
    MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("global_name"));
    const void *root = mlirAttributeIsNull(name) ? mlirOperationGetName(op).ptr : name.ptr;
    return one(v, (cute_cell){true, root, 0});
}

static fields apply_add_offset(cute_lane_values *v, MlirOperation op)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0))),
                     *by = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 1)));
    cute_cell base = operand(v, op, 0);
    if (!type || type->type != CUTE_PTR || !by || by->tree->kind != CUTE_TREE_INT || !base.known)
        return unknown;
    int64_t offset = by->tree->value.value;
    if (!by->tree->value.known) {
        cute_cell c = operand(v, op, 1);
        if (!c.known || c.root) return unknown;
        offset = c.value;
    }
    if (!cute_mul64(offset, type->pointer->bits, &offset) || !cute_add64(base.value, offset / 8, &base.value))
        return unknown;
    return one(v, base);
}

/* ---- values of the dialect cute ---- */

/* How many cells a value of this type has. */
static size_t cells_of(const cute_value *type)
{
    bool pointer = type->type == CUTE_PTR || type->type == CUTE_MEMREF;
    return (pointer ? 1 : 0) + (type->type == CUTE_PTR ? 0 : cute_value_unknowns(type, NULL, 0));
}

static bool append(fields *to, size_t capacity, fields from)
{
    if (to->count + from.count > capacity) return false;
    for (size_t i = 0; i < from.count; i++) to->cells[to->count++] = from.cells[i];
    return true;
}

static bool is_empty(MlirValue value)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(value));
    return type && cells_of(type) == 0;
}

/* What its operands are, one behind the other. */
static fields put_together(cute_lane_values *v, MlirOperation op, bool reversed)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!type) return unknown;
    size_t capacity = cells_of(type);
    fields out = {cute_arena_array(v->arena, capacity ? capacity : 1, sizeof *out.cells), 0};
    intptr_t count = mlirOperationGetNumOperands(op);
    if (!out.cells) return unknown;
    for (intptr_t i = 0; i < count; i++) {
        MlirValue value = mlirOperationGetOperand(op, reversed ? count - 1 - i : i);
        if (is_empty(value)) continue;
        fields part = evaluate(v, value);
        if (!part.count || !append(&out, capacity, part)) return unknown;
    }
    return out.count == capacity ? out : unknown;
}

static fields apply_view(cute_lane_values *v, MlirOperation op)
{
    return put_together(v, op, false);
}

/* The first cell of a tensor is its pointer, the others are its layout's. */
static fields part_of_tensor(cute_lane_values *v, MlirOperation op, bool pointer)
{
    fields f = evaluate(v, mlirOperationGetOperand(op, 0));
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    if (!f.count || !type || type->type != CUTE_MEMREF) return unknown;
    return pointer ? (fields){f.cells, 1} : (fields){f.cells + 1, f.count - 1};
}

static fields apply_get_iter(cute_lane_values *v, MlirOperation op)
{
    return part_of_tensor(v, op, true);
}

static fields apply_get_layout(cute_lane_values *v, MlirOperation op)
{
    return part_of_tensor(v, op, false);
}

/* Unknown leaves in order; with those that are known only where they are not wanted. */
static fields scalar(cute_lane_values *v, MlirOperation op, intptr_t result)
{
    MlirValue from = mlirOperationGetOperand(op, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(from));
    fields f = evaluate(v, from);
    if (!type || type->type == CUTE_COMPOSED_LAYOUT || f.count != (size_t)mlirOperationGetNumResults(op))
        return unknown;
    return one(v, f.cells[result]);
}

/* ---- operations by name ---- */

static fields apply_swizzle(cute_lane_values *v, MlirOperation op)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    cute_cell c = operand(v, op, 0);
    if (!type || type->type != CUTE_PTR) return unknown;
    c.value = (int64_t)cute_swizzle_apply(type->pointer->swizzle, (uint64_t)c.value);
    return one(v, c);
}

static const struct {
    const char *name;
    fields (*apply)(cute_lane_values *v, MlirOperation op);
} operations[] = {
    {"arith.constant", apply_constant},
    {"llvm.mlir.constant", apply_constant},
    {"arith.cmpi", apply_compare},
    {"llvm.icmp", apply_compare},
    {"arith.select", apply_select},
    {"llvm.select", apply_select},
    {"arith.index_cast", apply_cast},
    {"arith.index_castui", apply_zero_extension},
    {"arith.extsi", apply_cast},
    {"arith.trunci", apply_cast},
    {"arith.extui", apply_zero_extension},
    {"llvm.sext", apply_cast},
    {"llvm.trunc", apply_cast},
    {"llvm.zext", apply_zero_extension},
    {"llvm.ptrtoint", apply_cast},
    {"llvm.inttoptr", apply_cast},
    {"llvm.bitcast", apply_cast},
    {"llvm.addrspacecast", apply_cast},
    {"llvm.getelementptr", apply_gep},
    {"llvm.mlir.addressof", apply_root},
    {"builtin.unrealized_conversion_cast", apply_conversion},
    {"gpu.thread_id", apply_thread},
    {"nvvm.read.ptx.sreg.tid.x", apply_thread},
    {"nvvm.read.ptx.sreg.tid.y", apply_thread},
    {"nvvm.read.ptx.sreg.tid.z", apply_thread},
    {"gpu.block_dim", apply_block_extent},
    {"nvvm.read.ptx.sreg.ntid.x", apply_block_extent},
    {"nvvm.read.ptx.sreg.ntid.y", apply_block_extent},
    {"nvvm.read.ptx.sreg.ntid.z", apply_block_extent},
    {"gpu.block_id", apply_first},
    {"nvvm.read.ptx.sreg.ctaid.x", apply_first},
    {"nvvm.read.ptx.sreg.ctaid.y", apply_first},
    {"nvvm.read.ptx.sreg.ctaid.z", apply_first},
    {"gpu.lane_id", apply_lane},
    {"nvvm.read.ptx.sreg.laneid", apply_lane},
    {"cute.make_view", apply_view},
    {"cute.get_iter", apply_get_iter},
    {"cute.get_layout", apply_get_layout},
    {"cute.add_offset", apply_add_offset},
    {"cute.recast_iter", apply_cast},
    {"cute.apply_swizzle", apply_swizzle},
    {"cute.assume", apply_cast},
    {"cute.ptrtoint", apply_cast},
    {"cute.inttoptr", apply_cast},
    {"cute_nvgpu.arch.get_dyn_smem", apply_root},
};

/* ---- control flow ---- */

static MlirOperation terminator(MlirOperation op, intptr_t region)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
    return mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
}

/* Of an scf.if what its branch yields, of a loop what it starts with. */
static fields structured(cute_lane_values *v, MlirOperation op, intptr_t result)
{
    if (cute_op_is(op, "scf.for")) return evaluate(v, mlirOperationGetOperand(op, 3 + result));
    if (!cute_op_is(op, "scf.if")) return unknown;
    cute_cell condition = operand(v, op, 0);
    MlirOperation yield = terminator(op, condition.known && !condition.value ? 1 : 0);
    return mlirOperationIsNull(yield) ? unknown : evaluate(v, mlirOperationGetOperand(yield, result));
}

static fields argument_of_block(cute_lane_values *v, MlirBlock block, intptr_t index)
{
    MlirOperation parent = mlirBlockGetParentOperation(block);
    if (cute_op_is(parent, "scf.for"))
        return evaluate(v, mlirOperationGetOperand(parent, index ? 2 + index : 0));
    if (cute_op_is(parent, "scf.while") && index < mlirOperationGetNumOperands(parent))
        return evaluate(v, mlirOperationGetOperand(parent, index));
    return unknown;
}

/* ---- arguments of kernels ---- */

enum { LARGE = 1024 };

static cute_cell sample(int64_t divisor)
{
    cute_cell c = {.known = true, .value = LARGE};
    if (divisor > 0 && !cute_mul64(LARGE, divisor, &c.value)) c.value = divisor;
    return c;
}

static fields argument_of_kernel(cute_lane_values *v, MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    const cute_value *of = cute_type_peek(type);
    if (mlirTypeIsALLVMPointerType(type)) return one(v, (cute_cell){true, value.ptr, 0});
    if (width_of(type)) return one(v, sample(1));
    if (!of) return unknown;
    size_t count = cells_of(of), leaves = of->type == CUTE_PTR ? 0 : cute_value_unknowns(of, NULL, 0);
    fields f = {cute_arena_array(v->arena, count + 1, sizeof *f.cells), 0};
    cute_int *unknowns = cute_arena_array(v->arena, leaves + 1, sizeof *unknowns);
    if (!f.cells || !unknowns) return unknown;
    if (count > leaves) f.cells[f.count++] = (cute_cell){true, value.ptr, 0};
    if (leaves) cute_value_unknowns(of, unknowns, leaves);
    for (size_t i = 0; i < leaves; i++) f.cells[f.count++] = sample(unknowns[i].divisor);
    return f;
}

static fields argument(cute_lane_values *v, MlirValue value)
{
    MlirBlock block = mlirBlockArgumentGetOwner(value);
    MlirOperation parent = mlirBlockGetParentOperation(block);
    bool function = cute_op_is(parent, "gpu.func") || cute_op_is(parent, "func.func") ||
                    cute_op_is(parent, "llvm.func") || cute_op_is(parent, "cuda.kernel");
    if (!function) return argument_of_block(v, block, mlirBlockArgumentGetArgNumber(value));
    bool first = mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0)));
    return first ? argument_of_kernel(v, value) : unknown;
}

/* ---- all values ---- */

static fields compute(cute_lane_values *v, MlirValue value)
{
    if (mlirValueIsABlockArgument(value)) return argument(v, value);
    MlirOperation op = mlirOpResultGetOwner(value);
    intptr_t result = mlirOpResultGetResultNumber(value);
    if (mlirOperationGetNumRegions(op)) return structured(v, op, result);
    if (cute_op_is(op, "cute.get_scalars")) return scalar(v, op, result);
    if (mlirOperationGetNumResults(op) != 1) return unknown;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (cute_op_is(op, operations[i].name)) return operations[i].apply(v, op);
    for (int i = 0; i < CUTE_INTEGERS; i++)
        if (cute_op_is(op, cute_integers[i].arith) ||
            (cute_integers[i].llvm && cute_op_is(op, cute_integers[i].llvm)))
            return apply_binary(v, op, (cute_integer_op)i);
    const cute_op_row *row = cute_op_row_of(op);
    if (row && row->parts != CUTE_PARTS_NONE) return put_together(v, op, row->parts == CUTE_PARTS_REVERSED);
    return unknown;
}

static size_t slot_of(const cute_lane_values *v, const void *key)
{
    size_t i = (size_t)cute_mix((uint64_t)(uintptr_t)key) & (v->capacity - 1);
    while (v->table[i].key && v->table[i].key != key) i = (i + 1) & (v->capacity - 1);
    return i;
}

static bool grow(cute_lane_values *v)
{
    entry *old = v->table;
    size_t capacity = v->capacity;
    v->capacity = capacity ? 2 * capacity : 256;
    v->table = calloc(v->capacity, sizeof *v->table);
    if (!v->table) {
        v->table = old;
        v->capacity = capacity;
        return false;
    }
    for (size_t i = 0; i < capacity; i++)
        if (old[i].key) v->table[slot_of(v, old[i].key)] = old[i];
    free(old);
    return true;
}

static fields evaluate(cute_lane_values *v, MlirValue value)
{
    if (v->capacity) {
        const entry *e = &v->table[slot_of(v, value.ptr)];
        if (e->key) return e->value;
    }
    if (v->depth == MOST_DEPTH) return unknown;
    v->depth++;
    fields f = compute(v, value);
    v->depth--;
    if (2 * (v->count + 1) > v->capacity && !grow(v)) return f;
    v->table[slot_of(v, value.ptr)] = (entry){value.ptr, f};
    v->count++;
    return f;
}

cute_cell cute_lane_value(cute_lane_values *v, MlirValue value)
{
    return cell_of(v, value);
}

cute_lane_values *cute_lane_values_create(cute_arena *arena, int64_t thread, const int64_t block[3])
{
    cute_lane_values *v = calloc(1, sizeof *v);
    if (!v) return NULL;
    *v = (cute_lane_values){.arena = arena, .thread = thread, .block = {block[0], block[1], block[2]}};
    return v;
}

void cute_lane_values_destroy(cute_lane_values *v)
{
    if (v) free(v->table);
    free(v);
}
