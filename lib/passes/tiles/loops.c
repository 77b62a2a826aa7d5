/* See schedule.h: loops that carry more values, copies of what computes a value. */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST_CARRIED = 64, MOST_COPIES = 64, MOST_UNUSED = 512 };

MlirBlock tile_loop_body(MlirOperation loop)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
}

MlirOperation tile_first_user(MlirBlock block, MlirValue value)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
             use = mlirOpOperandGetNextUse(use)) {
            MlirOperation user = mlirOpOperandGetOwner(use);
            while (!mlirBlockEqual(mlirOperationGetBlock(user), block)) user = tile_parent(user);
            if (mlirOperationEqual(user, op)) return op;
        }
    return mlirBlockGetTerminator(block);
}

static void note_op(MlirOperation op, void *context)
{
    *(MlirOperation *)context = op;
}

MlirOperation tile_find_op(MlirOperation function, const char *name)
{
    MlirOperation found = {NULL};
    cute_op_walk(function, name, CUTE_WALK_OUTER_FIRST, note_op, &found);
    return found;
}

void tile_loop_keep_whole(MlirOperation loop)
{
    mlirOperationSetDiscardableAttributeByName(
        loop, cute_text("loop_annotation"),
        mlirAttributeParseGet(mlirOperationGetContext(loop),
                              cute_text("#llvm.loop_annotation<unroll = <disable = true>>")));
}

MlirValue tile_stage_behind(const cute_builder *b, MlirValue stage, int64_t count)
{
    MlirType i32 = mlirValueGetType(stage);
    MlirValue up = cute_binary(b, "arith.addi", stage, cute_integer(b, i32, 1));
    return cute_select(b, cute_compare(b, CUTE_IS_EQ, up, cute_integer(b, i32, count)),
                       cute_integer(b, i32, 0), up);
}

MlirOperation tile_parent(MlirOperation op)
{
    return mlirBlockGetParentOperation(mlirOperationGetBlock(op));
}

MlirOperation tile_role_around(MlirOperation op)
{
    MlirOperation role = tile_parent(op);
    while (cute_op_is(role, "scf.for") || cute_op_is(role, "scf.if")) role = tile_parent(role);
    return role;
}

int64_t tile_registers_of(MlirValue value)
{
    enum { BITS = 32 };
    tile_distribution d;
    MlirType type = mlirValueGetType(value);
    if (!tile_is_tile(value) || !tile_distribution_of(type, &d)) return 1;
    MlirType element = cute_tile_element(type);
    int64_t bits = mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element) : BITS;
    return (tile_values(&d) * bits + BITS - 1) / BITS;
}

void tile_hoist_constants(MlirOperation loop)
{
    MlirOperation next;
    for (MlirOperation op = mlirBlockGetFirstOperation(tile_loop_body(loop)); !mlirOperationIsNull(op);
         op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (cute_op_is(op, "arith.constant")) mlirOperationMoveBefore(op, loop);
    }
}

void tile_set_pending(MlirOperation product, int pending)
{
    MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(product), 32);
    mlirOperationSetAttributeByName(product, cute_text("pending"), mlirIntegerAttrGet(i32, pending));
}

MlirValue tile_settle(const cute_builder *b, MlirValue sums, int pending)
{
    MlirAttribute number = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 32), pending);
    MlirNamedAttribute later = cute_attribute(b->context, "pending", number);
    return cute_build_value(b, "cute.tile.settle", mlirValueGetType(sums), CUTE_OPERANDS(sums),
                            (cute_named){&later, pending ? 1 : 0});
}

MlirOperation tile_loop_carry(MlirOperation loop, const MlirValue *initial, intptr_t count)
{
    MlirBlock old = tile_loop_body(loop);
    intptr_t results = mlirOperationGetNumResults(loop), operands = mlirOperationGetNumOperands(loop);
    MlirValue all[MOST_CARRIED + 3];
    MlirType types[MOST_CARRIED];
    MlirType arguments[MOST_CARRIED + 1];
    MlirLocation places[MOST_CARRIED + 1];
    if (results + count > MOST_CARRIED) return (MlirOperation){NULL};
    for (intptr_t i = 0; i < operands; i++) all[i] = mlirOperationGetOperand(loop, i);
    for (intptr_t i = 0; i < count; i++) all[operands + i] = initial[i];
    arguments[0] = mlirValueGetType(mlirBlockGetArgument(old, 0));
    for (intptr_t i = 0; i < results + count; i++) arguments[1 + i] = types[i] = mlirValueGetType(all[3 + i]);
    for (intptr_t i = 0; i <= results + count; i++) places[i] = mlirOperationGetLocation(loop);
    MlirBlock body = mlirBlockCreate(1 + results + count, arguments, places);
    for (MlirOperation op = mlirBlockGetFirstOperation(old), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        mlirOperationRemoveFromParent(op);
        mlirBlockAppendOwnedOperation(body, op);
    }
    for (intptr_t i = 0; i <= results; i++)
        mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(old, i), mlirBlockGetArgument(body, i));
    MlirOperation yield = mlirBlockGetTerminator(body);
    cute_builder end = cute_builder_before(yield);
    MlirValue yielded[MOST_CARRIED];
    for (intptr_t i = 0; i < results + count; i++)
        yielded[i] = i < results ? mlirOperationGetOperand(yield, i) : mlirBlockGetArgument(body, 1 + i);
    cute_build(&end, "scf.yield", (cute_operands){yielded, results + count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationDestroy(yield);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    cute_builder b = cute_builder_before(loop);
    MlirNamedAttribute attributes[16];
    intptr_t kept = 0;
    for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(loop) && kept < 16; i++)
        attributes[kept++] = mlirOperationGetDiscardableAttribute(loop, i);
    MlirOperation made =
        cute_build_regions(&b, "scf.for", (cute_operands){all, operands + count},
                           (cute_types){types, results + count}, (cute_named){attributes, kept}, &region, 1);
    for (intptr_t i = 0; i < results; i++)
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop, i), mlirOperationGetResult(made, i));
    mlirOperationDestroy(loop);
    return made;
}

bool tile_defined_in(MlirValue value, MlirBlock block)
{
    MlirBlock at = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                    : mlirOperationGetBlock(mlirOpResultGetOwner(value));
    while (!mlirBlockEqual(at, block)) {
        MlirOperation parent = mlirBlockGetParentOperation(at);
        if (mlirOperationIsNull(parent)) return false;
        at = mlirOperationGetBlock(parent);
        if (mlirBlockIsNull(at)) return false;
    }
    return true;
}

static void note_product(MlirOperation op, void *context)
{
    (void)op;
    *(bool *)context = true;
}

static bool has_product(MlirOperation op)
{
    bool product = false;
    cute_op_walk(op, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, note_product, &product);
    return product;
}

bool tile_meets_stages(MlirOperation op, bool kept)
{
    MlirOperation parent = tile_parent(op);
    for (; !cute_op_is(parent, "gpu.func") && !cute_op_is(parent, "cute.tile.role");
         op = parent, parent = tile_parent(op)) {
        if (!cute_op_is(parent, "scf.for")) continue;
        if (kept) return true;
        for (MlirOperation at = mlirBlockGetFirstOperation(tile_loop_body(parent)); !mlirOperationIsNull(at);
             at = mlirOperationGetNextInBlock(at))
            if (cute_op_is(at, "cute.tile.gemm")) return true;
    }
    bool later = false;
    for (MlirOperation at = op; kept && !mlirOperationIsNull(at); at = mlirOperationGetNextInBlock(at))
        later = later || has_product(at);
    return later;
}

static void note_product_loop(MlirOperation op, void *context)
{
    tile_product_loop *l = context;
    MlirOperation loop = tile_parent(op);
    if (!cute_op_is(loop, "scf.for") || !mlirBlockEqual(mlirOperationGetBlock(loop), l->block))
        l->elsewhere = true;
    else if (!mlirOperationIsNull(l->loop) && !mlirOperationEqual(l->loop, loop))
        l->several = true;
    else
        l->loop = loop;
}

tile_product_loop tile_find_product_loop(MlirOperation function, MlirBlock block)
{
    tile_product_loop l = {.block = block, .loop = {NULL}, .only_loads = true};
    cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, note_product_loop, &l);
    if (mlirOperationIsNull(l.loop)) return l;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, l.loop);
         op = mlirOperationGetNextInBlock(op))
        l.only_loads &= cute_op_is_effect_free(op) || cute_op_is(op, "cute.tile.load");
    return l;
}

bool tile_is_tile(MlirValue value)
{
    return mlirTypeIsARankedTensor(mlirValueGetType(value));
}

bool tile_has_tiles(MlirOperation op)
{
    bool any = false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        any |= tile_is_tile(mlirOperationGetOperand(op, i));
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        any |= tile_is_tile(mlirOperationGetResult(op, i));
    return any;
}

bool tile_is_elementwise(MlirOperation op)
{
    return cute_op_of(op, "arith.") || cute_op_of(op, "math.");
}

bool tile_is_zero(MlirValue value)
{
    MlirAttribute one = cute_constant_splat(value);
    if (mlirAttributeIsNull(one)) return false;
    return mlirAttributeIsAFloat(one) ? mlirFloatAttrGetValueDouble(one) == 0
                                      : mlirIntegerAttrGetValueInt(one) == 0;
}

bool tile_reads_element(MlirOperation op)
{
    if (!cute_op_is(op, "cute.memref.load")) return false;
    MlirValue tensor = mlirOperationGetOperand(op, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    if (!type || type->type != CUTE_MEMREF || type->pointer->space != CUTE_SPACE_GMEM) return false;
    return !tile_is_written(tensor, op);
}

static bool is_used(MlirOperation op)
{
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i)))) return true;
    return false;
}

void tile_drop_unused(MlirBlock block)
{
    MlirOperation ops[MOST_UNUSED];
    int count = 0;
    for (MlirOperation op = mlirBlockGetFirstOperation(block);
         !mlirOperationIsNull(op) && count < MOST_UNUSED; op = mlirOperationGetNextInBlock(op))
        if (mlirOperationGetNumResults(op) && !mlirOperationGetNumRegions(op) &&
            (cute_op_is_effect_free(op) || tile_reads_element(op)))
            ops[count++] = op;
    while (count-- > 0)
        if (!is_used(ops[count])) mlirOperationDestroy(ops[count]);
}

typedef struct copies {
    const cute_builder *b;
    MlirBlock block;
    MlirValue from[MOST_COPIES], to[MOST_COPIES];
    int count;
} copies;

static MlirValue recompute(copies *c, MlirValue value)
{
    const MlirValue none = {NULL};
    for (int i = 0; i < c->count; i++)
        if (mlirValueEqual(c->from[i], value)) return c->to[i];
    if (!tile_defined_in(value, c->block)) return value;
    if (mlirValueIsABlockArgument(value)) return none;
    MlirOperation op = mlirOpResultGetOwner(value);
    MlirValue operands[16];
    intptr_t count = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
    bool pure = mlirBlockEqual(mlirOperationGetBlock(op), c->block) && !mlirOperationGetNumRegions(op) &&
                !mlirTypeIsARankedTensor(mlirValueGetType(value)) &&
                (cute_op_is_effect_free(op) || tile_reads_element(op));
    if (!pure || count > 16 || c->count + results > MOST_COPIES) return none;
    for (intptr_t i = 0; i < count; i++) {
        operands[i] = recompute(c, mlirOperationGetOperand(op, i));
        if (mlirValueIsNull(operands[i])) return none;
    }
    MlirOperation copy = {NULL};
    if (!mlirBlockIsNull(c->b->block)) {
        copy = mlirOperationClone(op);
        for (intptr_t i = 0; i < count; i++) mlirOperationSetOperand(copy, i, operands[i]);
        if (mlirOperationIsNull(c->b->before))
            mlirBlockAppendOwnedOperation(c->b->block, copy);
        else
            mlirBlockInsertOwnedOperationBefore(c->b->block, c->b->before, copy);
    }
    for (intptr_t i = 0; i < results; i++) {
        c->from[c->count] = mlirOperationGetResult(op, i);
        c->to[c->count++] = mlirOperationGetResult(mlirOperationIsNull(copy) ? op : copy, i);
    }
    return recompute(c, value);
}

MlirValue tile_recompute(const cute_builder *b, MlirBlock block, MlirValue value, MlirValue of,
                         MlirValue with)
{
    copies c = {.b = b, .block = block, .count = 1};
    c.from[0] = of;
    c.to[0] = with;
    return recompute(&c, value);
}

/* Whether `value` is known in front of `op`. */
static bool is_known_before(MlirValue value, MlirOperation op)
{
    MlirBlock block = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                       : mlirOperationGetBlock(mlirOpResultGetOwner(value));
    while (!mlirBlockEqual(mlirOperationGetBlock(op), block)) {
        op = mlirOperationGetParentOperation(op);
        if (mlirOperationIsNull(op) || mlirBlockIsNull(mlirOperationGetBlock(op))) return false;
    }
    MlirOperation at = mlirValueIsABlockArgument(value) ? op : mlirOpResultGetOwner(value);
    if (mlirValueIsABlockArgument(value)) return true;
    for (at = mlirOperationGetNextInBlock(at); !mlirOperationIsNull(at); at = mlirOperationGetNextInBlock(at))
        if (mlirOperationEqual(at, op)) return true;
    return false;
}

MlirValue tile_hoist(const cute_builder *b, MlirOperation before, MlirValue value)
{
    enum { OPERANDS = 16 };
    const MlirValue none = {NULL};
    MlirValue operands[OPERANDS];
    if (is_known_before(value, before)) return value;
    if (mlirValueIsABlockArgument(value)) return none;
    MlirOperation op = mlirOpResultGetOwner(value);
    intptr_t count = mlirOperationGetNumOperands(op);
    if (mlirOperationGetNumRegions(op) || mlirTypeIsARankedTensor(mlirValueGetType(value)) ||
        !cute_op_is_effect_free(op) || count > OPERANDS)
        return none;
    for (intptr_t i = 0; i < count; i++) {
        operands[i] = tile_hoist(b, before, mlirOperationGetOperand(op, i));
        if (mlirValueIsNull(operands[i])) return none;
    }
    if (mlirBlockIsNull(b->block)) return value;
    MlirOperation copy = mlirOperationClone(op);
    for (intptr_t i = 0; i < count; i++) mlirOperationSetOperand(copy, i, operands[i]);
    if (mlirOperationIsNull(b->before))
        mlirBlockAppendOwnedOperation(b->block, copy);
    else
        mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
    return mlirOperationGetResult(copy, mlirOpResultGetResultNumber(value));
}

static int places_of(MlirValue value, int depth)
{
    enum { DEPTH = 64 };
    if (depth > DEPTH) return TILE_UNKNOWN_PLACE;
    if (mlirValueIsABlockArgument(value)) {
        MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
        intptr_t at = mlirBlockArgumentGetArgNumber(value);
        if (!cute_op_is(loop, "scf.for")) return 0; /* an argument of the kernel */
        if (at) return TILE_UNKNOWN_PLACE;
        return places_of(mlirOperationGetOperand(loop, 0), depth + 1) |
               places_of(mlirOperationGetOperand(loop, 2), depth + 1);
    }
    MlirOperation op = mlirOpResultGetOwner(value);
    if (cute_op_is(op, "cute.tile.place") || cute_op_is(op, "cute.tile.program"))
        return 1 << mlirOpResultGetResultNumber(value);
    if (cute_op_is(op, "cute.tile.workers")) return 0;
    if (mlirOperationGetNumRegions(op)) return TILE_UNKNOWN_PLACE;
    int out = 0;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        out |= places_of(mlirOperationGetOperand(op, i), depth + 1);
    return out;
}

int tile_places_of(MlirValue value)
{
    return places_of(value, 0);
}

int tile_places_of_bounds(MlirOperation loop)
{
    int places = 0;
    for (intptr_t i = 0; i < 3; i++) places |= tile_places_of(mlirOperationGetOperand(loop, i));
    return places;
}
