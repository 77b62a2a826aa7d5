/* Addresses of lowered code (values.h): pointers, and integers that are pointers, as distances from roots. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/atoms/access.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/numbers/integers.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/values/values.h"

/* ---- cells ---- */

bool lane_cell_of(const lane_value *v, lane_place *out)
{
    if (v->kind == LANE_ADDRESS) return *out = *v->place, true;
    *out = (lane_place){0};
    return lane_number_of(v, &out->byte);
}

lane_value lane_of_cell(cute_arena *arena, lane_place place)
{
    if (!place.root) return lane_number(place.byte);
    lane_place *copy = cute_arena_alloc(arena, sizeof *copy);
    if (!copy) return (lane_value){0};
    *copy = place;
    return (lane_value){.kind = LANE_ADDRESS, .place = copy};
}

/* ---- integers ---- */

bool lane_eval_address(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    cute_integer_op op = (cute_integer_op)i->rule->which;
    lane_place a, b, c;
    if (!lane_cell_of(&in[0], &a) || !lane_cell_of(&in[1], &b)) return false;
    c = a.root ? a : b;
    if (!cute_integer_compute(op, a.byte, b.byte, i->width, &c.byte)) return false;
    /* Of two addresses, only the distance is a number. The unsigned value of an address before its root is
     * unknown. */
    bool is_unsigned = op == CUTE_INTEGER_DIVU || op == CUTE_INTEGER_REMU || op == CUTE_INTEGER_CEILDIVU ||
                       op == CUTE_INTEGER_SHRU || op == CUTE_INTEGER_MINU || op == CUTE_INTEGER_MAXU;
    if (is_unsigned && ((a.root && a.byte < 0) || (b.root && b.byte < 0))) return false;
    if (a.root && b.root) {
        if (a.root != b.root || op != CUTE_INTEGER_SUB) return false;
        c.root = NULL;
    }
    /* Low bits of an address are a number: those of its distance from the root. */
    if (op == CUTE_INTEGER_AND && (a.root ? b.byte : a.byte) >= 0) c.root = NULL;
    c.byte = cute_integer_plain(c.byte, i->width);
    out[0] = lane_of_cell(x->arena, c);
    return true;
}

/* ---- pointers ---- */

/* Casts between integers, pointers and lowered values, which keep the value. */
static bool eval_same(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    lane_place cell;
    if (i->in_count != 1) return false;
    out[0] = in[0];
    if (!lane_cell_of(&in[0], &cell)) return true;
    cell.byte = cute_integer_plain(cell.byte, i->width);
    out[0] = lane_of_cell(x->arena, cell);
    return true;
}

static bool eval_conversion(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    if (!cute_op_has(i->op, CUTE_ROOT_ATTRIBUTE))
        return i->in_count == 1 && in[0].kind != LANE_UNKNOWN && eval_same(x, i, in, out);
    out[0] = lane_of_cell(x->arena, (lane_place){.root = i->op.ptr});
    return true;
}

/* One block of dynamic shared memory; one of each global. */
static bool eval_root(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)in;
    MlirAttribute name = mlirOperationGetAttributeByName(i->op, cute_text("global_name"));
    const void *root = mlirAttributeIsNull(name) ? mlirOperationGetName(i->op).ptr : name.ptr;
    out[0] = lane_of_cell(x->arena, (lane_place){.root = root});
    return true;
}

static bool advance(lane_eval *x, lane_place base, int64_t count, int64_t bits, lane_value *out)
{
    int64_t by;
    if (!cute_mul64(count, bits, &by) || !cute_add64(base.byte, by / 8, &base.byte)) return false;
    *out = lane_of_cell(x->arena, base);
    return true;
}

static int64_t bytes_of(MlirType type)
{
    if (mlirTypeIsAInteger(type)) return ((int64_t)mlirIntegerTypeGetWidth(type) + 7) / 8;
    if (mlirTypeIsAFloat(type)) return ((int64_t)mlirFloatTypeGetWidth(type) + 7) / 8;
    return 0;
}

static bool eval_gep(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    MlirAttribute indices = mlirOperationGetAttributeByName(i->op, cute_text("rawConstantIndices")),
                  type = mlirOperationGetAttributeByName(i->op, cute_text("elem_type"));
    lane_place base;
    if (!lane_cell_of(&in[0], &base) || !mlirAttributeIsADenseI32Array(indices) ||
        mlirDenseArrayGetNumElements(indices) != 1 || !mlirAttributeIsAType(type))
        return false;
    int64_t index = mlirDenseI32ArrayGetElement(indices, 0), bytes = bytes_of(mlirTypeAttrGetValue(type));
    if (index == INT32_MIN && (i->in_count < 2 || !lane_number_of(&in[1], &index))) return false;
    return bytes && advance(x, base, index, bytes * 8, out);
}

/* ---- tensors ---- */

static bool eval_add_offset(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(i->op, 0))),
                     *by = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(i->op, 1)));
    lane_place base;
    int64_t offset;
    return type && type->type == CUTE_PTR && by && by->tree && by->tree->kind == CUTE_TREE_INT &&
           lane_cell_of(&in[0], &base) && lane_number_of(&in[1], &offset) &&
           advance(x, base, offset, type->pointer->bits, out);
}

static bool eval_swizzle(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(i->op, 0)));
    lane_place cell;
    if (!type || type->type != CUTE_PTR || !lane_cell_of(&in[0], &cell)) return false;
    cell.byte = (int64_t)cute_swizzle_apply(type->pointer->swizzle, (uint64_t)cell.byte);
    out[0] = lane_of_cell(x->arena, cell);
    return true;
}

static bool eval_get_iter(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)i;
    if (in[0].kind != LANE_VALUE || in[0].value->type != CUTE_MEMREF || !in[0].value->pointer->handle)
        return false;
    out[0] = lane_of_cell(x->arena, *(const lane_place *)in[0].value->pointer->handle);
    return true;
}

static bool eval_get_layout(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    return in[0].kind == LANE_VALUE && in[0].value->type == CUTE_MEMREF && lane_eval_algebra(x, i, in, out);
}

/* ---- leaves ---- */

typedef struct leaves {
    int64_t *items;
    size_t count, capacity;
    bool failed;
} leaves;

static void add_leaf(leaves *l, int64_t value)
{
    l->failed |= l->count == l->capacity;
    if (!l->failed) l->items[l->count++] = value;
}

/* Adds the leaves of `tree` that are unknown in its type. */
static void add_leaves(leaves *l, const cute_tree *tree, const cute_tree *type)
{
    if (!type) return;
    if (!tree || tree->kind != type->kind || tree->count != type->count) {
        l->failed = true;
        return;
    }
    switch (type->kind) {
    case CUTE_TREE_UNDERSCORE: return;
    case CUTE_TREE_INT:
    case CUTE_TREE_BASIS:
        if (!type->value.known) add_leaf(l, tree->value.value);
        return;
    case CUTE_TREE_LAYOUT:
        add_leaves(l, tree->layout.shape, type->layout.shape);
        add_leaves(l, tree->layout.stride, type->layout.stride);
        return;
    case CUTE_TREE_TUPLE:
        for (uint32_t n = 0; n < type->count; n++) add_leaves(l, tree->items[n], type->items[n]);
        return;
    }
}

/* Adds the unknown leaves of a value, in storage order. `type`: NULL for a builtin integer. */
static void add_value(leaves *l, const lane_value *v, const cute_value *type)
{
    int64_t n;
    if (v->kind == LANE_INT) {
        add_leaf(l, v->number);
    } else if (v->kind != LANE_VALUE || (!type && !lane_number_of(v, &n))) {
        l->failed = true;
    } else if (!type) {
        add_leaf(l, n);
    } else {
        const cute_value *from = v->value;
        bool iterator_first = type->type == CUTE_COORD_TENSOR;
        if (iterator_first) add_leaves(l, from->tree, type->tree);
        add_leaves(l, from->layout.shape, type->layout.shape);
        add_leaves(l, from->layout.stride, type->layout.stride);
        if (!iterator_first) add_leaves(l, from->tree, type->tree);
        add_leaves(l, from->inner.shape, type->inner.shape);
        add_leaves(l, from->inner.stride, type->inner.stride);
    }
}

static const cute_value *operand_type(const lane_op *i, intptr_t operand)
{
    return cute_type_peek(mlirValueGetType(mlirOperationGetOperand(i->op, operand)));
}

static leaves leaves_create(lane_eval *x, size_t capacity)
{
    leaves l = {.items = cute_arena_array(x->arena, capacity + 1, sizeof *l.items), .capacity = capacity};
    l.failed = !l.items;
    return l;
}

static bool eval_unknown_leaves(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const cute_value *type = operand_type(i, 0);
    leaves l = leaves_create(x, (size_t)i->out_count);
    if (!type || type->type == CUTE_COMPOSED_LAYOUT || type->pointer) return false;
    add_value(&l, &in[0], type);
    if (l.failed || l.count != l.capacity) return false;
    for (size_t n = 0; n < l.count; n++) out[n] = lane_number(l.items[n]);
    return true;
}

bool lane_eval_assemble(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetResult(i->op, 0)));
    if (!type) return false;
    leaves l = leaves_create(x, cute_value_unknowns(type, NULL, 0));
    lane_place place;
    bool points = false;
    for (int n = 0; n < i->in_count; n++) {
        int operand = i->row->parts == CUTE_PARTS_REVERSED ? i->in_count - 1 - n : n;
        const cute_value *part = operand_type(i, operand);
        if (part && part->type == CUTE_PTR) {
            if (!lane_cell_of(&in[operand], &place)) return false;
            points = true;
        } else if (!part || cute_value_unknowns(part, NULL, 0)) {
            add_value(&l, &in[operand], part);
        }
    }
    return !l.failed && lane_value_of_leaves(x->arena, type, l.items, l.count, points ? &place : NULL, out);
}

/* ---- the rules ---- */

#define SAME(name) {name, eval_same, 0, 0, LANE_LOWERED}

static const lane_rule rules[] = {
    SAME("llvm.ptrtoint"),
    SAME("llvm.inttoptr"),
    SAME("llvm.bitcast"),
    SAME("llvm.addrspacecast"),
    SAME("cute.recast_iter"),
    SAME("cute.assume"),
    SAME("cute.ptrtoint"),
    SAME("cute.inttoptr"),
    {"builtin.unrealized_conversion_cast", eval_conversion, 0, 0, LANE_LOWERED | LANE_PARTIAL},
    {"llvm.getelementptr", eval_gep, 0, 0, LANE_LOWERED},
    {"llvm.mlir.addressof", eval_root, 0, 0, LANE_LOWERED},
    {"cute_nvgpu.arch.get_dyn_smem", eval_root, 0, 0, LANE_LOWERED},
    {"cute.get_iter", eval_get_iter, 0, 0, LANE_LOWERED},
    {"cute.get_layout", eval_get_layout, 0, 0, LANE_LOWERED},
    {"cute.add_offset", eval_add_offset, 0, 0, LANE_LOWERED},
    {"cute.apply_swizzle", eval_swizzle, 0, 0, LANE_LOWERED},
    {"cute.get_scalars", eval_unknown_leaves, 0, 0, LANE_LOWERED},
};
const lane_rules lane_address_rules = {rules, sizeof rules / sizeof *rules};
