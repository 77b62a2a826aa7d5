/* Divisions that share reciprocals. A multiprocessor computes 16 exponentials or reciprocals in a cycle, but 128 products: of the divisions of fast
 * activations, x / (1 + e), every other pair takes the reciprocal of the product of its divisors,
 *
 *     x / a = x b r,  y / b = y a r,  r = 1 / (a b)
 *
 * so that the two units are busy for about as long. The product has to be finite, and a NaN in one of them is no reason for one in the other: divisors are
 * at most 2^60. A dividend whose divisor is more than that is below -6, and the quotient as good as 0: so it is, too, with a dividend of at least -128.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"

static MlirValue fast(MlirValue value, MlirAttribute flags)
{
    if (!mlirAttributeIsNull(flags))
        mlirOperationSetAttributeByName(cute_defining_op(value), cute_text("fastmath"), flags);
    return value;
}

typedef struct division {
    tile_emitter *e;
    MlirAttribute flags; /* of its approximations */
} division;

static MlirValue binary(const division *d, const char *name, MlirValue x, MlirValue y)
{
    return fast(cute_binary(&d->e->b, name, x, y), d->flags);
}

/* Elements `first`, `first` + 2, ... of `count` pairs. */
static MlirValue halves(const division *d, MlirValue value, int64_t first, int64_t count)
{
    int32_t *map = cute_arena_array(d->e->arena, (size_t)count, sizeof *map);
    if (!map) return d->e->failed = true, value;
    for (int64_t i = 0; i < count; i++) map[i] = (int32_t)(2 * i + first);
    return tile_pick(d->e, value, map, count);
}

/* Elements of a and b in turn. */
static MlirValue interleave(const division *d, MlirValue a, MlirValue b, int64_t count)
{
    int32_t *map = cute_arena_array(d->e->arena, 2 * (size_t)count, sizeof *map);
    if (!map) return d->e->failed = true, a;
    for (int64_t i = 0; i < count; i++) {
        map[2 * i] = (int32_t)i;
        map[2 * i + 1] = (int32_t)(count + i);
    }
    MlirValue both = tile_concat(d->e, a, b);
    return tile_pick(d->e, both, map, 2 * count);
}

/* 1 / value, as the instruction has it: a division would also multiply by 1. */
static MlirValue reciprocals(const division *d, MlirValue value, int64_t count)
{
    const cute_builder *b = &d->e->b;
    MlirType element = cute_type_element(mlirValueGetType(value));
    MlirValue out = value;
    for (int64_t i = 0; i < count; i++) {
        MlirValue one = cute_unary(b, "nvvm.rcp.approx.ftz.f", cute_vector_extract(b, value, i), element);
        out = cute_vector_insert(b, out, one, i);
    }
    return out;
}

/* The quotients of the first `pairs` pairs. */
static MlirValue divide_pairs(const division *d, MlirValue over, MlirValue under, int64_t pairs)
{
    const cute_builder *b = &d->e->b;
    MlirType element = cute_type_element(mlirValueGetType(under));
    MlirValue most = tile_splat(d->e, tile_number(b, element, 0x1p60), pairs),
              least = tile_splat(d->e, tile_number(b, element, -128), pairs), u[2], x[2];
    for (int i = 0; i < 2; i++) {
        x[i] = cute_binary(b, "arith.maximumf", halves(d, over, i, pairs), least);
        u[i] = cute_binary(b, "arith.minnumf", halves(d, under, i, pairs), most);
    }
    MlirValue share = reciprocals(d, binary(d, "arith.mulf", u[0], u[1]), pairs),
              left = binary(d, "arith.mulf", x[0], binary(d, "arith.mulf", u[1], share)),
              right = binary(d, "arith.mulf", x[1], binary(d, "arith.mulf", u[0], share));
    return interleave(d, left, right, pairs);
}

static MlirValue range(const division *d, MlirValue value, int64_t from, int64_t to)
{
    int32_t *map = cute_arena_array(d->e->arena, (size_t)(to - from), sizeof *map);
    if (!map) return d->e->failed = true, value;
    for (int64_t i = from; i < to; i++) map[i - from] = (int32_t)i;
    return tile_pick(d->e, value, map, to - from);
}

static void share(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    if (e->failed || !cute_op_has(op, TILE_SHARES)) return;
    MlirValue result = mlirOperationGetResult(op, 0), over = mlirOperationGetOperand(op, 0),
              under = mlirOperationGetOperand(op, 1);
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(TILE_SHARES));
    int64_t count = cute_vector_count(mlirValueGetType(result)), pairs = count / 4;
    if (!mlirTypeIsAVector(mlirValueGetType(result)) || !pairs) return;
    cute_builder here = e->b;
    e->b = cute_builder_before(op);
    division d = {e, mlirOperationGetAttributeByName(op, cute_text("fastmath"))};
    MlirValue out = divide_pairs(&d, over, under, pairs);
    MlirValue rest =
        binary(&d, "arith.divf", range(&d, over, 2 * pairs, count), range(&d, under, 2 * pairs, count));
    out = tile_concat(e, out, rest);
    e->b = here;
    if (e->failed) return;
    mlirValueReplaceAllUsesOfWith(result, out);
    mlirOperationDestroy(op);
}

void tile_share_reciprocals(tile_emitter *e)
{
    cute_op_walk(e->function, "arith.divf", CUTE_WALK_OUTER_FIRST, share, e);
}
