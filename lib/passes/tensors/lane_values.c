/* See lane_values.h. Evaluates on demand the operations that a value depends on, after cute-expand-ops and the
 * lowering of copies. */
#include "lib/passes/tensors/lane_values.h"

#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/numbers/mix.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/values/values.h"

typedef struct entry {
    const void *key; /* of an MlirValue */
    lane_value value;
} entry;

struct cute_lane_values {
    cute_arena *arena;
    lane_setting setting;
    lane_eval eval;
    entry *table;
    size_t count, capacity; /* a power of two */
    int depth;
};

enum { MAX_DEPTH = 2000 };

static const lane_value unknown = {0};

static lane_value evaluate(cute_lane_values *v, MlirValue value);

/* ---- control flow ---- */

static MlirOperation region_terminator(MlirOperation op, intptr_t region)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
    return mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
}

/* The results of an scf.if, lane by lane; those of its first branch where the condition is unknown. */
static lane_value evaluate_if(cute_lane_values *v, MlirOperation op, intptr_t result)
{
    lane_value condition = evaluate(v, mlirOperationGetOperand(op, 0)), yields[2] = {0}, lanes[32];
    bool evaluated[2] = {0};
    for (int lane = 0; lane < 32; lane++) {
        int64_t n;
        lane_value one = lane_of(&condition, lane);
        int branch = lane_number_of(&one, &n) && !n;
        MlirOperation yield = region_terminator(op, branch);
        if (!evaluated[branch] && !mlirOperationIsNull(yield))
            yields[branch] = evaluate(v, mlirOperationGetOperand(yield, result));
        evaluated[branch] = true;
        lanes[lane] = lane_of(&yields[branch], lane);
    }
    return lane_join(v->arena, lanes);
}

static lane_value block_argument(cute_lane_values *v, MlirBlock block, intptr_t index)
{
    MlirOperation parent = mlirBlockGetParentOperation(block);
    if (cute_op_is(parent, "scf.for"))
        return evaluate(v, mlirOperationGetOperand(parent, index ? 2 + index : 0));
    if (!cute_op_is(parent, "scf.while")) return unknown;
    MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0));
    if (mlirBlockEqual(block, before)) return evaluate(v, mlirOperationGetOperand(parent, index));
    /* The body has the values that the condition passes on. */
    MlirOperation condition = mlirBlockGetTerminator(before);
    return index + 1 < mlirOperationGetNumOperands(condition)
               ? evaluate(v, mlirOperationGetOperand(condition, index + 1))
               : unknown;
}

/* ---- arguments of kernels ---- */

enum { LARGE = 1024 };

static int64_t sample(int64_t divisor)
{
    int64_t value = LARGE;
    return divisor > 0 && !cute_mul64(LARGE, divisor, &value) ? divisor : value;
}

static lane_value kernel_argument(cute_lane_values *v, MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    const cute_value *of = cute_type_peek(type);
    lane_place place = {.root = value.ptr};
    lane_value out = unknown;
    if (mlirTypeIsALLVMPointerType(type)) return lane_of_cell(v->arena, place);
    if (mlirTypeIsAIndex(type)) return lane_number(LARGE);
    if (mlirTypeIsAInteger(type)) return lane_number(mlirIntegerTypeGetWidth(type) == 1 ? 1 : LARGE);
    if (!of) return unknown;
    size_t count = of->type == CUTE_PTR ? 0 : cute_value_unknowns(of, NULL, 0);
    cute_int *leaves = cute_arena_array(v->arena, count + 1, sizeof *leaves);
    int64_t *samples = cute_arena_array(v->arena, count + 1, sizeof *samples);
    if (!leaves || !samples) return unknown;
    cute_value_unknowns(of, leaves, count);
    for (size_t i = 0; i < count; i++) samples[i] = sample(leaves[i].divisor);
    lane_value_of_leaves(v->arena, of, samples, count, of->pointer ? &place : NULL, &out);
    return out;
}

static lane_value evaluate_argument(cute_lane_values *v, MlirValue value)
{
    MlirBlock block = mlirBlockArgumentGetOwner(value);
    MlirOperation parent = mlirBlockGetParentOperation(block);
    bool function = cute_op_is(parent, "gpu.func") || cute_op_is(parent, "func.func") ||
                    cute_op_is(parent, "llvm.func") || cute_op_is(parent, "cuda.kernel");
    if (!function) return block_argument(v, block, mlirBlockArgumentGetArgNumber(value));
    bool first = mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0)));
    return first ? kernel_argument(v, value) : unknown;
}

/* ---- all values ---- */

static lane_value evaluate_result(cute_lane_values *v, MlirOperation op, intptr_t result)
{
    if (cute_op_is(op, "scf.for")) return evaluate(v, mlirOperationGetOperand(op, 3 + result));
    if (cute_op_is(op, "scf.if")) return evaluate_if(v, op, result);
    const lane_rule *rule = mlirOperationGetNumRegions(op) ? NULL : lane_rule_of(op, LANE_LOWERED);
    if (!rule) return unknown;
    lane_op i = lane_op_of(op, rule, -1);
    lane_value in[LANE_MOST], out[LANE_MOST];
    if (i.in_count > LANE_MOST || i.out_count > LANE_MOST) return unknown;
    for (int n = 0; n < i.in_count; n++) in[n] = evaluate(v, mlirOperationGetOperand(op, n));
    lane_evaluate(&v->eval, &i, in, out);
    return out[result];
}

static size_t slot_of(const cute_lane_values *v, const void *key)
{
    size_t i = (size_t)cute_mix((uint64_t)(uintptr_t)key) & (v->capacity - 1);
    while (v->table[i].key && v->table[i].key != key) i = (i + 1) & (v->capacity - 1);
    return i;
}

static bool grow_table(cute_lane_values *v)
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

static lane_value evaluate(cute_lane_values *v, MlirValue value)
{
    lane_value out;
    if (v->capacity) {
        const entry *e = &v->table[slot_of(v, value.ptr)];
        if (e->key) return e->value;
    }
    if (v->depth == MAX_DEPTH) return unknown;
    if (lane_value_of_type(mlirValueGetType(value), &out)) return out;
    v->depth++;
    out = mlirValueIsABlockArgument(value)
              ? evaluate_argument(v, value)
              : evaluate_result(v, mlirOpResultGetOwner(value), mlirOpResultGetResultNumber(value));
    v->depth--;
    if (2 * (v->count + 1) > v->capacity && !grow_table(v)) return out;
    v->table[slot_of(v, value.ptr)] = (entry){value.ptr, out};
    v->count++;
    return out;
}

cute_cell cute_lane_value(cute_lane_values *v, MlirValue value, int lane)
{
    lane_value all = evaluate(v, value), one = lane_of(&all, lane);
    lane_place place;
    if (!lane_cell_of(&one, &place)) return (cute_cell){0};
    return (cute_cell){.known = true, .root = place.root, .value = place.byte};
}

cute_lane_values *cute_lane_values_create(int warp, const int64_t block[3])
{
    cute_lane_values *v = calloc(1, sizeof *v);
    if (!v || !(v->arena = cute_arena_create())) {
        free(v);
        return NULL;
    }
    v->setting = (lane_setting){.cluster = {1, 1, 1}};
    for (int i = 0; i < 3 && block[0]; i++) v->setting.block[i] = block[i] > 0 ? block[i] : 1;
    v->eval = (lane_eval){.arena = v->arena,
                          .setting = &v->setting,
                          .warp = warp,
                          .mask = UINT32_MAX,
                          .most_operands = LANE_MOST,
                          .most_results = LANE_MOST};
    return v;
}

void cute_lane_values_destroy(cute_lane_values *v)
{
    if (!v) return;
    cute_arena_destroy(v->arena);
    free(v->table);
    free(v);
}
