/* cute-tile-expand: elementwise operations of tile programs as operations of arith and math on tiles of one shape.
 *
 * Requires: verified IR. Ensures: no cute.tile.map, no cute.tile.cast; operands of arith and math on tiles, and masks, have one shape;
 * loads and stores are of the tensor's elements, of at least a byte (packed.c), and of its rank; means are sums that are divided,
 * variances means; atomic updates have coordinates.
 *
 *     %z = cute.tile.map(%x, %y) {kind = "add"} : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
 * ->
 *     %0 = cute.tile.broadcast(%y) {extents = [64, 32]} : (tensor<64x1xf32>) -> tensor<64x32xf32>
 *     %z = arith.addf %x, %0 : tensor<64x32xf32>
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/tile.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/tiles.h"

/* ---- operations that are several ---- */

MlirValue tile_number(const cute_builder *b, MlirType type, double value)
{
    MlirType element = cute_tile_element(type);
    MlirAttribute one = mlirFloatAttrDoubleGet(b->context, element, value);
    if (mlirTypeIsARankedTensor(type)) one = mlirDenseElementsAttrSplatGet(type, one);
    return cute_build_value(b, "arith.constant", type, CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(b->context, "value", one)));
}

static MlirValue zero_of(const cute_builder *b, MlirType type)
{
    MlirType element = cute_tile_element(type);
    return mlirTypeIsAFloat(element) ? tile_number(b, type, 0) : cute_integer(b, type, 0);
}

static MlirValue negate(const cute_builder *b, MlirValue x, bool fast)
{
    (void)fast;
    return cute_binary(b, "arith.subi", zero_of(b, mlirValueGetType(x)), x);
}

static const double log2_of_e = 1.44269504088896340736;

/* exp(x), or 2^(x log2 e), which is an instruction and a multiplication. */
static MlirValue exponential(const cute_builder *b, MlirValue x, bool fast)
{
    MlirType type = mlirValueGetType(x);
    if (!fast) return cute_unary(b, "math.exp", x, type);
    return cute_unary(b, "math.exp2", cute_binary(b, "arith.mulf", x, tile_number(b, type, log2_of_e)), type);
}

/* y / (1 + e) */
static MlirValue over_one_and(const cute_builder *b, MlirValue y, MlirValue e)
{
    MlirValue one = tile_number(b, mlirValueGetType(e), 1);
    return cute_binary(b, "arith.divf", y, cute_binary(b, "arith.addf", one, e));
}

/* x / (1 + e), where e is large if x is negative. */
static MlirValue activate(const cute_builder *b, MlirValue x, MlirValue e)
{
    MlirValue out = over_one_and(b, x, e);
    if (mlirTypeIsAF32(cute_tile_element(mlirValueGetType(out))))
        mlirOperationSetDiscardableAttributeByName(cute_defining_op(out), cute_text(TILE_SHARES),
                                                   mlirUnitAttrGet(b->context));
    return out;
}

/* exp(-x) */
static MlirValue inverse_exponential(const cute_builder *b, MlirValue x, bool fast)
{
    MlirType type = mlirValueGetType(x);
    if (!fast) return exponential(b, cute_unary(b, "arith.negf", x, type), false);
    return cute_unary(b, "math.exp2", cute_binary(b, "arith.mulf", x, tile_number(b, type, -log2_of_e)),
                      type);
}

/* 1 / (1 + exp(-x)) */
static MlirValue sigmoid(const cute_builder *b, MlirValue x, bool fast)
{
    return over_one_and(b, tile_number(b, mlirValueGetType(x), 1), inverse_exponential(b, x, fast));
}

static MlirValue silu(const cute_builder *b, MlirValue x, bool fast)
{
    if (fast) return activate(b, x, inverse_exponential(b, x, true));
    return cute_binary(b, "arith.mulf", x, sigmoid(b, x, false));
}

static MlirValue times(const cute_builder *b, MlirValue x, double factor)
{
    return cute_binary(b, "arith.mulf", x, tile_number(b, mlirValueGetType(x), factor));
}

static MlirValue fma_of(const cute_builder *b, MlirValue x, MlirValue y, double z)
{
    MlirType type = mlirValueGetType(x);
    return cute_build_value(b, "math.fma", type, CUTE_OPERANDS(x, y, tile_number(b, type, z)), CUTE_NO_NAMED);
}

/* scale erfc(|z|), within 1.5e-7 of it: Abramowitz and Stegun, 7.1.26. */
static MlirValue error_of(const cute_builder *b, MlirValue z, double scale)
{
    static const double terms[] = {-1.453152027, 1.421413741, -0.284496736, 0.254829592};
    MlirType type = mlirValueGetType(z);
    MlirValue size = cute_unary(b, "math.absf", z, type), one = tile_number(b, type, 1),
              divisor = fma_of(b, size, tile_number(b, type, 0.3275911), 1),
              t = cute_binary(b, "arith.divf", one, divisor),
              square = cute_binary(b, "arith.mulf", z, times(b, z, -log2_of_e)),
              sum = tile_number(b, type, 1.061405429 * scale);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) sum = fma_of(b, sum, t, terms[i] * scale);
    return cute_binary(b, "arith.mulf", cute_binary(b, "arith.mulf", sum, t),
                       cute_unary(b, "math.exp2", square, type));
}

/* 1 - erfc(|z|), with the sign of z */
static MlirValue error_function(const cute_builder *b, MlirValue z, bool fast)
{
    MlirType type = mlirValueGetType(z);
    if (!fast) return cute_unary(b, "math.erf", z, type);
    MlirValue size = cute_binary(b, "arith.subf", tile_number(b, type, 1), error_of(b, z, 1));
    return cute_build_value(b, "math.copysign", type, CUTE_OPERANDS(size, z), CUTE_NO_NAMED);
}

/* 1 - 2 / (1 + exp(2 x)) */
static MlirValue hyperbolic_tangent(const cute_builder *b, MlirValue x, bool fast)
{
    MlirType type = mlirValueGetType(x);
    if (!fast) return cute_unary(b, "math.tanh", x, type);
    MlirValue e = cute_unary(b, "math.exp2", times(b, x, 2 * log2_of_e), type),
              part = over_one_and(b, tile_number(b, type, 1), e);
    return fma_of(b, part, tile_number(b, type, -2), 1);
}

/* x erfc(|z|) / 2 or x (1 - erfc(|z|) / 2), where z is x / sqrt 2 */
static MlirValue fast_gelu(const cute_builder *b, MlirValue x)
{
    MlirType type = mlirValueGetType(x);
    MlirValue tail = error_of(b, times(b, x, 0.70710678118654752440), 0.5), zero = tile_number(b, type, 0),
              most = cute_binary(b, "arith.subf", tile_number(b, type, 1), tail);
    MlirAttribute less = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), 4 /* olt */);
    cute_tile_shape shape;
    MlirType bit = mlirIntegerTypeGet(b->context, 1);
    if (cute_tile_shape_of(type, &shape)) bit = cute_tile_type(&shape, bit, mlirAttributeGetNull());
    MlirValue negative = cute_build_value(b, "arith.cmpf", bit, CUTE_OPERANDS(x, zero),
                                          CUTE_NAMED(cute_attribute(b->context, "predicate", less)));
    return cute_binary(b, "arith.mulf", x, cute_select(b, negative, tail, most));
}

/* x / 2 (1 + erf(x / sqrt 2)) */
static MlirValue gelu(const cute_builder *b, MlirValue x, bool fast)
{
    MlirType type = mlirValueGetType(x);
    if (fast && mlirTypeIsAF32(cute_tile_element(type))) return fast_gelu(b, x);
    MlirValue scaled = cute_binary(b, "arith.mulf", x, tile_number(b, type, 0.70710678118654752440)),
              sum = cute_binary(b, "arith.addf", cute_unary(b, "math.erf", scaled, type),
                                tile_number(b, type, 1));
    return cute_binary(b, "arith.mulf", cute_binary(b, "arith.mulf", x, tile_number(b, type, 0.5)), sum);
}

/* x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)), which is x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
static MlirValue gelu_tanh(const cute_builder *b, MlirValue x, bool fast)
{
    MlirType type = mlirValueGetType(x);
    double scale = fast ? -log2_of_e : 1;
    MlirValue square = cute_binary(b, "arith.mulf", x, x),
              factor =
                  cute_build_value(b, "math.fma", type,
                                   CUTE_OPERANDS(square, tile_number(b, type, 0.07135481627260025 * scale),
                                                 tile_number(b, type, 1.5957691216057308 * scale)),
                                   CUTE_NO_NAMED),
              argument = cute_binary(b, "arith.mulf", x, factor);
    if (fast) return activate(b, x, cute_unary(b, "math.exp2", argument, type));
    return cute_binary(b, "arith.mulf", x, sigmoid(b, argument, false));
}

static MlirValue relu(const cute_builder *b, MlirValue x, bool fast)
{
    (void)fast;
    bool is_float = mlirTypeIsAFloat(cute_tile_element(mlirValueGetType(x)));
    return cute_binary(b, is_float ? "arith.maximumf" : "arith.maxsi", x, zero_of(b, mlirValueGetType(x)));
}

static const struct {
    const char *name;
    MlirValue (*make)(const cute_builder *b, MlirValue x, bool fast);
} several[] = {{"@neg", negate}, {"@sigmoid", sigmoid},     {"@silu", silu},
               {"@gelu", gelu},  {"@gelu_tanh", gelu_tanh}, {"@relu", relu}};

/* Of f32, with {fast}. */
static const struct {
    const char *name;
    MlirValue (*make)(const cute_builder *b, MlirValue x, bool fast);
} approximated[] = {
    {"math.exp", exponential}, {"math.erf", error_function}, {"math.tanh", hyperbolic_tangent}};

/* ---- elementwise operations ---- */

static MlirAttribute extents_of(MlirContext context, const cute_tile_shape *shape)
{
    int32_t extents[CUTE_TILE_RANK];
    for (int i = 0; i < shape->rank; i++) extents[i] = (int32_t)shape->extent[i];
    return mlirDenseI32ArrayGet(context, shape->rank, extents);
}

/* cute.tile.broadcast or cute.tile.reshape of `value` to `shape`. */
static MlirValue reshaped(const cute_builder *b, const char *name, MlirValue value,
                          const cute_tile_shape *shape)
{
    MlirType type = cute_tile_type(shape, cute_tile_element(mlirValueGetType(value)), mlirAttributeGetNull());
    return cute_build_value(b, name, type, CUTE_OPERANDS(value),
                            CUTE_NAMED(cute_attribute(b->context, "extents", extents_of(b->context, shape))));
}

/* A scalar or a tile of fewer elements repeated to the shape of `like`. */
static MlirValue broadcast(const cute_builder *b, MlirValue value, const cute_tile_shape *shape)
{
    MlirType type = mlirValueGetType(value);
    cute_tile_shape own;
    if (mlirTypeIsARankedTensor(type) && cute_tile_shape_of(type, &own) && cute_tile_shape_equal(&own, shape))
        return value;
    return reshaped(b, "cute.tile.broadcast", value, shape);
}

static MlirValue compare(const cute_builder *b, const cute_tile_map *map, const MlirValue *in,
                         MlirType result)
{
    bool is_float = mlirTypeIsAFloat(cute_tile_element(mlirValueGetType(in[0])));
    MlirAttribute predicate = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64),
                                                 is_float ? map->float_predicate : map->integer_predicate);
    return cute_build_value(b, is_float ? "arith.cmpf" : "arith.cmpi", result, CUTE_OPERANDS(in[0], in[1]),
                            CUTE_NAMED(cute_attribute(b->context, "predicate", predicate)));
}

/* Allows approximations in the operations from which `value` was made of `in`. */
static void allow_approximation(MlirValue value, const MlirValue *in, int count, MlirAttribute flags)
{
    for (int i = 0; i < count; i++)
        if (mlirValueEqual(value, in[i])) return;
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !(cute_op_of(op, "arith.") || cute_op_of(op, "math.")) ||
        !mlirTypeIsAFloat(cute_tile_element(mlirValueGetType(value))) || cute_op_is(op, "arith.constant"))
        return;
    if (!cute_op_is(op, "arith.select")) mlirOperationSetAttributeByName(op, cute_text("fastmath"), flags);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        allow_approximation(mlirOperationGetOperand(op, i), in, count, flags);
}

/* An integer operand of an operation on floats. */
static MlirValue convert_scalar(const cute_builder *b, MlirValue value, MlirType element)
{
    return cute_tile_converts(mlirValueGetType(value), element) ? tile_cast(b, value, element, false) : value;
}

static bool is_constant(MlirValue value)
{
    MlirOperation from = cute_defining_op(value);
    return !mlirOperationIsNull(from) && cute_op_is(from, "arith.constant");
}

static void expand_map(MlirOperation op, void *context)
{
    bool *changed = context;
    const cute_tile_map *map = cute_tile_map_find(cute_tile_word(op, "kind"));
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    cute_builder b = cute_builder_before(op);
    MlirValue in[3], out = {NULL};
    MlirType types[3];
    cute_tile_shape shape;
    bool tiles = cute_tile_shape_of(result, &shape);
    for (int i = 0; i < map->operands; i++) types[i] = mlirValueGetType(mlirOperationGetOperand(op, i));
    MlirType element = cute_tile_map_element(map, types);
    for (int i = 0; i < map->operands; i++) {
        in[i] = convert_scalar(&b, mlirOperationGetOperand(op, i), element);
        bool chosen = !i && !strcmp(map->name, "where") && is_constant(in[0]); /* folded by fold_choices */
        if (tiles && !chosen) in[i] = broadcast(&b, in[i], &shape);
    }
    const char *name = mlirTypeIsAFloat(cute_tile_element(mlirValueGetType(in[map->operands - 1])))
                           ? map->on_floats
                           : map->on_integers;
    if (map->compare) out = compare(&b, map, in, result);
    for (size_t i = 0; i < sizeof approximated / sizeof *approximated && cute_op_has(op, "fast"); i++)
        if (!strcmp(approximated[i].name, name)) out = approximated[i].make(&b, in[0], true);
    if (mlirValueIsNull(out) && *name != '@')
        out = cute_build_value(&b, name, result, (cute_operands){in, map->operands}, CUTE_NO_NAMED);
    for (size_t i = 0; i < sizeof several / sizeof *several && mlirValueIsNull(out); i++)
        if (!strcmp(several[i].name, name)) out = several[i].make(&b, in[0], cute_op_has(op, "fast"));
    if (cute_op_has(op, "fast") && !map->compare)
        allow_approximation(out, in, map->operands,
                            mlirAttributeParseGet(b.context, cute_text("#arith.fastmath<afn,arcp>")));
    if (cute_op_has(op, "rare") && cute_op_is(cute_defining_op(out), "arith.select"))
        mlirOperationSetDiscardableAttributeByName(cute_defining_op(out), cute_text(TILE_RARE),
                                                   mlirUnitAttrGet(b.context));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), out);
    mlirOperationDestroy(op);
    *changed = true;
}

/* ---- casts ---- */

MlirValue tile_cast(const cute_builder *b, MlirValue value, MlirType to, bool zero_extend)
{
    MlirType type = mlirValueGetType(value), from = cute_tile_element(type), result = to;
    cute_tile_shape shape;
    if (mlirTypeEqual(from, to)) return value;
    if (mlirTypeIsARankedTensor(type)) {
        cute_tile_shape_of(type, &shape);
        result = cute_tile_type(&shape, to, mlirRankedTensorTypeGetEncoding(type));
    }
    bool float_from = mlirTypeIsAFloat(from), float_to = mlirTypeIsAFloat(to);
    unsigned width_from = float_from ? mlirFloatTypeGetWidth(from) : mlirIntegerTypeGetWidth(from),
             width_to = float_to ? mlirFloatTypeGetWidth(to) : mlirIntegerTypeGetWidth(to);
    zero_extend |= !float_from && width_from == 1;
    if (float_from && float_to && (width_from == width_to || width_from + width_to == 24)) {
        /* f16 and bf16, types of 8 bits: by way of f32, which has all values of both. */
        MlirType wide = mlirF32TypeGet(b->context);
        return tile_cast(b, tile_cast(b, value, wide, false), to, false);
    }
    const char *name = float_from && float_to  ? (width_from < width_to ? "arith.extf" : "arith.truncf")
                       : float_from            ? (zero_extend ? "arith.fptoui" : "arith.fptosi")
                       : float_to              ? (zero_extend ? "arith.uitofp" : "arith.sitofp")
                       : width_from > width_to ? "arith.trunci"
                       : zero_extend           ? "arith.extui"
                                               : "arith.extsi";
    return cute_unary(b, name, value, result);
}

static void expand_cast(MlirOperation op, void *context)
{
    bool *changed = context;
    cute_builder b = cute_builder_before(op);
    MlirType to = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("element")));
    MlirValue out = tile_cast(&b, mlirOperationGetOperand(op, 0), to, cute_op_has(op, "zero_extend"));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), out);
    mlirOperationDestroy(op);
    *changed = true;
}

/* ---- loads and stores ---- */

/* The shape of a tile of the last modes of a tensor of rank `rank`, with an extent of 1 for each mode before; false: it has that
 * rank. */
static bool rank_tile(MlirType tile, MlirValue tensor, cute_tile_shape *own, cute_tile_shape *full)
{
    const cute_tree *modes = cute_type_peek(mlirValueGetType(tensor))->layout.shape;
    int rank = modes->kind == CUTE_TREE_TUPLE ? (int)modes->count : 1;
    if (!cute_tile_shape_of(tile, own) || own->rank >= rank || rank > CUTE_TILE_RANK) return false;
    *full = (cute_tile_shape){.rank = rank};
    for (int i = 0; i < rank; i++)
        full->extent[i] = i < rank - own->rank ? 1 : own->extent[i - (rank - own->rank)];
    return true;
}

/* A load of the last modes, as one of the tensor's rank that is reshaped. */
static void expand_ranked_load(MlirOperation op, void *context)
{
    bool *changed = context;
    cute_tile_shape own, full;
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result);
    if (!rank_tile(type, mlirOperationGetOperand(op, 0), &own, &full)) return;
    cute_builder b = cute_builder_before(op);
    MlirOperation whole = mlirOperationClone(op);
    mlirOperationSetAttributeByName(whole, cute_text("extents"), extents_of(b.context, &full));
    mlirValueSetType(mlirOperationGetResult(whole, 0),
                     cute_tile_type(&full, cute_tile_element(type), mlirAttributeGetNull()));
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, whole);
    mlirValueReplaceAllUsesOfWith(result,
                                  reshaped(&b, "cute.tile.reshape", mlirOperationGetResult(whole, 0), &own));
    mlirOperationDestroy(op);
    *changed = true;
}

static void expand_ranked_store(MlirOperation op, void *context)
{
    bool *changed = context;
    cute_tile_shape own, full;
    MlirValue value = mlirOperationGetOperand(op, 0);
    if (!rank_tile(mlirValueGetType(value), mlirOperationGetOperand(op, 1), &own, &full)) return;
    cute_builder b = cute_builder_before(op);
    mlirOperationSetOperand(op, 0, reshaped(&b, "cute.tile.reshape", value, &full));
    *changed = true;
}

/* A load or gather that converts, as one of the tensor's elements and a cast. */
static void expand_loaded(MlirOperation op, void *context)
{
    bool *changed = context;
    if (!cute_op_has(op, "to")) return;
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result),
             own =
                 cute_tile_loaded(mlirOperationGetContext(op),
                                  cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0)))->pointer);
    MlirOperation plain = mlirOperationClone(op);
    cute_tile_shape shape;
    cute_tile_shape_of(type, &shape);
    mlirOperationRemoveAttributeByName(plain, cute_text("to"));
    mlirValueSetType(mlirOperationGetResult(plain, 0), cute_tile_type(&shape, own, mlirAttributeGetNull()));
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, plain);
    cute_builder b = cute_builder_before(op);
    MlirValue cast = tile_cast(&b, mlirOperationGetResult(plain, 0), cute_tile_element(type), false);
    mlirValueReplaceAllUsesOfWith(result, cast);
    mlirOperationDestroy(op);
    *changed = true;
}

/* Floats are stored as the tensor's. */
static void expand_stored(MlirOperation op, void *context)
{
    bool *changed = context;
    MlirValue value = mlirOperationGetOperand(op, 0);
    const cute_value *tensor = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 1)));
    MlirType to = cute_tile_stored(cute_tile_element(mlirValueGetType(value)), tensor->pointer);
    if (mlirTypeIsNull(to)) return;
    cute_builder b = cute_builder_before(op);
    mlirOperationSetOperand(op, 0, tile_cast(&b, value, to, false));
    *changed = true;
}

/* ---- means and variances ---- */

static MlirValue build_reduce(const cute_builder *b, const char *kind, MlirAttribute mode, MlirType type,
                              cute_operands in)
{
    return cute_build_value(
        b, "cute.tile.reduce", type, in,
        CUTE_NAMED(cute_attribute(b->context, "kind", cute_string_attribute(b->context, kind)),
                   cute_attribute(b->context, "mode", mode)));
}

static MlirValue build_map(const cute_builder *b, const char *kind, MlirType type, cute_operands in)
{
    return cute_build_value(
        b, "cute.tile.map", type, in,
        CUTE_NAMED(cute_attribute(b->context, "kind", cute_string_attribute(b->context, kind))));
}

/* In front of the loops around `b`, which then compute no index of their own. */
static MlirValue build_iota(const cute_builder *b, const cute_tile_shape *shape, int mode)
{
    int32_t extents[CUTE_TILE_RANK];
    MlirType i32 = mlirIntegerTypeGet(b->context, 32);
    cute_builder front = *b;
    for (MlirOperation op = mlirBlockGetParentOperation(b->block); cute_op_of(op, "scf.");
         op = mlirBlockGetParentOperation(front.block)) {
        front.block = mlirOperationGetBlock(op);
        front.before = op;
    }
    for (int i = 0; i < shape->rank; i++) extents[i] = (int32_t)shape->extent[i];
    return cute_build_value(&front, "cute.tile.iota", cute_tile_type(shape, i32, mlirAttributeGetNull()),
                            CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(b->context, "extents",
                                                      mlirDenseI32ArrayGet(b->context, shape->rank, extents)),
                                       cute_attribute(b->context, "mode", mlirIntegerAttrGet(i32, mode))));
}

/* A count that is a tensor is its extent along the mode. */
static void expand_count(MlirOperation op, void *context)
{
    bool *changed = context;
    if (mlirOperationGetNumOperands(op) < 2) return;
    MlirValue tensor = mlirOperationGetOperand(op, 1);
    if (!cute_type_peek(mlirValueGetType(tensor))) return;
    cute_builder b = cute_builder_before(op);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    MlirAttribute mode = mlirOperationGetAttributeByName(op, cute_text("mode"));
    mlirOperationSetOperand(
        op, 1,
        cute_build_value(&b, "cute.tile.count", i32, CUTE_OPERANDS(tensor),
                         CUTE_NAMED(cute_attribute(b.context, "mode", mode),
                                    cute_attribute(b.context, "size", mlirIntegerAttrGet(i32, 1)))));
    *changed = true;
}

/* 0, 1, 2 ... along the mode, compared with the count in a type that has both. */
static MlirValue elements_that_count(const cute_builder *b, const cute_tile_shape *shape, int mode,
                                     MlirValue count)
{
    cute_tile_shape row = {.rank = shape->rank};
    for (int i = 0; i < shape->rank; i++) row.extent[i] = i == mode ? shape->extent[i] : 1;
    MlirType i32 = mlirIntegerTypeGet(b->context, 32), type = mlirValueGetType(count);
    bool is_float = mlirTypeIsAFloat(type);
    MlirType both = is_float && mlirFloatTypeGetWidth(type) < 32       ? mlirF32TypeGet(b->context)
                    : !is_float && mlirIntegerTypeGetWidth(type) <= 32 ? i32
                                                                       : type;
    MlirType mask = cute_tile_type(&row, mlirIntegerTypeGet(b->context, 1), mlirAttributeGetNull());
    return build_map(b, "lt", mask,
                     CUTE_OPERANDS(tile_cast(b, build_iota(b, &row, mode), both, false),
                                   tile_cast(b, count, both, false)));
}

/* The mean of the squares of what counts of x - mean(x). */
static void expand_variance(MlirOperation op, void *context)
{
    bool *changed = context;
    if (!cute_text_is(cute_tile_word(op, "kind"), "variance")) return;
    cute_builder b = cute_builder_before(op);
    MlirValue x = mlirOperationGetOperand(op, 0), count = mlirOperationGetOperand(op, 1),
              result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(x), reduced = mlirValueGetType(result);
    MlirAttribute mode = mlirOperationGetAttributeByName(op, cute_text("mode"));
    cute_tile_shape shape;
    cute_tile_shape_of(type, &shape);
    MlirValue mean = build_reduce(&b, "mean", mode, reduced, CUTE_OPERANDS(x, count)),
              apart = build_map(&b, "sub", type, CUTE_OPERANDS(x, mean)),
              counts = elements_that_count(&b, &shape, (int)cute_tile_number(op, "mode", 0), count),
              kept = build_map(&b, "where", type,
                               CUTE_OPERANDS(counts, apart, zero_of(&b, cute_tile_element(type)))),
              squares = build_map(&b, "mul", type, CUTE_OPERANDS(kept, kept));
    mlirValueReplaceAllUsesOfWith(result,
                                  build_reduce(&b, "mean", mode, reduced, CUTE_OPERANDS(squares, count)));
    mlirOperationDestroy(op);
    *changed = true;
}

static void expand_mean(MlirOperation op, void *context)
{
    bool *changed = context;
    if (!cute_text_is(cute_tile_word(op, "kind"), "mean")) return;
    cute_builder b = cute_builder_before(op);
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result);
    cute_tile_shape shape;
    cute_tile_shape_of(type, &shape);
    MlirValue sum = build_reduce(&b, "add", mlirOperationGetAttributeByName(op, cute_text("mode")), type,
                                 CUTE_OPERANDS(mlirOperationGetOperand(op, 0)));
    MlirValue count = convert_scalar(&b, mlirOperationGetOperand(op, 1), cute_tile_element(type));
    mlirValueReplaceAllUsesOfWith(result, cute_binary(&b, "arith.divf", sum, broadcast(&b, count, &shape)));
    mlirOperationDestroy(op);
    *changed = true;
}

/* ---- atomic updates of a whole tensor ---- */

/* Without coordinates: dimensions that the tensor lacks are combined, the others are counted from 0. */
static void expand_whole(MlirOperation op, void *context)
{
    bool *changed = context;
    if (mlirOperationGetNumOperands(op) != 2) return;
    cute_builder b = cute_builder_before(op);
    MlirValue value = mlirOperationGetOperand(op, 0), tensor = mlirOperationGetOperand(op, 1);
    MlirType element = cute_tile_element(mlirValueGetType(value)), i32 = mlirIntegerTypeGet(b.context, 32);
    MlirAttribute kind = mlirOperationGetAttributeByName(op, cute_text("kind"));
    MlirValue operands[2 + CUTE_TILE_RANK];
    cute_tile_shape shape;
    cute_tile_shape_of(mlirValueGetType(value), &shape);
    int rank = cute_tile_tensor_rank(cute_type_peek(mlirValueGetType(tensor))), first = shape.rank - rank;
    for (int i = 0; i < first; i++) {
        shape.extent[i] = 1;
        value =
            cute_build_value(&b, "cute.tile.reduce", cute_tile_type(&shape, element, mlirAttributeGetNull()),
                             CUTE_OPERANDS(value),
                             CUTE_NAMED(cute_attribute(b.context, "kind", kind),
                                        cute_attribute(b.context, "mode", mlirIntegerAttrGet(i32, i))));
    }
    operands[0] = value, operands[1] = tensor;
    for (int i = 0; i < rank; i++) operands[2 + i] = build_iota(&b, &shape, first + i);
    cute_build(&b, "cute.tile.atomic", (cute_operands){operands, 2 + rank}, CUTE_NO_TYPES,
               CUTE_NAMED(cute_attribute(b.context, "kind", kind)));
    mlirOperationDestroy(op);
    *changed = true;
}

/* ---- coordinates of gathers, and masks ---- */

/* The mask of a load or store has the tile's shape. */
static void expand_mask(MlirOperation op, void *context)
{
    bool *changed = context;
    bool load = cute_op_is(op, "cute.tile.load");
    intptr_t mask = load ? 2 : 3;
    cute_tile_shape shape;
    if (mlirOperationGetNumOperands(op) <= mask ||
        !cute_tile_shape_of(
            mlirValueGetType(load ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, 0)), &shape))
        return;
    cute_builder b = cute_builder_before(op);
    MlirValue value = mlirOperationGetOperand(op, mask), full = broadcast(&b, value, &shape);
    if (mlirValueEqual(value, full)) return;
    mlirOperationSetOperand(op, mask, full);
    *changed = true;
}

/* Coordinates, mask and value of a gather, scatter or atomic update have one shape. */
static void expand_coords(MlirOperation op, void *context)
{
    bool *changed = context;
    bool gather = cute_op_is(op, "cute.tile.gather");
    cute_tile_shape shape;
    MlirType type = mlirValueGetType(gather ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, 0));
    if (!cute_tile_shape_of(type, &shape)) return;
    cute_builder b = cute_builder_before(op);
    for (intptr_t i = gather ? 1 : 2; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue value = mlirOperationGetOperand(op, i), full = broadcast(&b, value, &shape);
        if (mlirValueEqual(value, full)) continue;
        mlirOperationSetOperand(op, i, full);
        *changed = true;
    }
}

static void look_for_constant(MlirOperation op, void *context)
{
    *(bool *)context |= is_constant(mlirOperationGetOperand(op, 0));
}

/* Integers that became floats which have all their values, and integers again. */
static void fold_round_trip(MlirOperation op, void *context)
{
    bool *folded = context;
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirOperation from = cute_defining_op(mlirOperationGetOperand(op, 0));
    if (mlirOperationIsNull(from) || !cute_op_is(from, "arith.sitofp")) return;
    MlirValue integer = mlirOperationGetOperand(from, 0);
    MlirType element = cute_tile_element(mlirValueGetType(integer));
    unsigned width =
                 mlirFloatTypeGetWidth(cute_tile_element(mlirValueGetType(mlirOperationGetOperand(op, 0)))),
             exact = width == 64   ? 53
                     : width == 32 ? 24
                                   : 0;
    if (!mlirTypeEqual(mlirValueGetType(integer), mlirValueGetType(result)) ||
        mlirIntegerTypeGetWidth(element) > exact)
        return;
    mlirValueReplaceAllUsesOfWith(result, integer);
    mlirOperationDestroy(op);
    *folded = true;
}

/* The element of a mask that is a constant, perhaps broadcast or reshaped; -1: it is none. */
static int constant_mask(MlirValue mask)
{
    MlirOperation from = cute_defining_op(mask);
    while (!mlirOperationIsNull(from) &&
           (cute_op_is(from, "cute.tile.broadcast") || cute_op_is(from, "cute.tile.reshape")))
        from = cute_defining_op(mlirOperationGetOperand(from, 0));
    if (mlirOperationIsNull(from) || !cute_op_is(from, "arith.constant")) return -1;
    MlirAttribute value = mlirOperationGetAttributeByName(from, cute_text("value"));
    if (mlirAttributeIsADenseElements(value)) {
        if (!mlirDenseElementsAttrIsSplat(value)) return -1;
        value = mlirDenseElementsAttrGetSplatValue(value);
    }
    return mlirIntegerAttrGetValueInt(value) != 0;
}

/* A store whose mask is false is not executed, one whose mask is true has none. */
static void fold_mask(MlirOperation op, void *context)
{
    bool *changed = context;
    if (mlirOperationGetNumOperands(op) < 4) return;
    int mask = constant_mask(mlirOperationGetOperand(op, 3));
    if (mask < 0) return;
    cute_builder b = cute_builder_before(op);
    MlirAttribute kind = mlirOperationGetAttributeByName(op, cute_text("kind"));
    MlirNamedAttribute named[1];
    if (!mlirAttributeIsNull(kind)) named[0] = cute_attribute(b.context, "kind", kind);
    if (mask)
        cute_build(&b, "cute.tile.store",
                   CUTE_OPERANDS(mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1),
                                 mlirOperationGetOperand(op, 2)),
                   CUTE_NO_TYPES, (cute_named){named, mlirAttributeIsNull(kind) ? 0 : 1});
    mlirOperationDestroy(op);
    *changed = true;
}

static bool only_tile_ops(MlirValue tensor)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(tensor); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (!cute_op_of(mlirOpOperandGetOwner(use), "cute.tile.")) return false;
    return true;
}

/* A tensor from its first element on is the tensor; other operations than those on tiles may need the type of the part. */
static void fold_from(MlirOperation op, void *context)
{
    bool *changed = context;
    MlirValue tensor = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
    MlirOperation first = cute_defining_op(mlirOperationGetOperand(op, 1));
    if (mlirOperationIsNull(first) || !cute_op_is(first, "arith.constant") ||
        cute_tile_number(first, "value", 1) ||
        !(mlirTypeEqual(mlirValueGetType(tensor), mlirValueGetType(result)) || only_tile_ops(result)))
        return;
    mlirValueReplaceAllUsesOfWith(result, tensor);
    mlirOperationDestroy(op);
    *changed = true;
}

/* Folds branches and selections that -D decides, and then masks, round trips and parts of tensors. Unused loads are not executed. */
static void fold_choices(MlirOperation function, void *context)
{
    bool found = false;
    if (!tile_is_program(function)) return;
    cute_op_walk(function, "scf.if", CUTE_WALK_OUTER_FIRST, look_for_constant, &found);
    cute_op_walk(function, "arith.select", CUTE_WALK_OUTER_FIRST, look_for_constant, &found);
    if (found) cute_pass_run_pipeline(context, "canonicalize", function);
    found = false;
    cute_op_walk(function, "arith.fptosi", CUTE_WALK_OUTER_FIRST, fold_round_trip, &found);
    cute_op_walk(function, "cute.tile.store", CUTE_WALK_OUTER_FIRST, fold_mask, &found);
    cute_op_walk(function, "cute.tile.from", CUTE_WALK_OUTER_FIRST, fold_from, &found);
    if (found) cute_pass_run_pipeline(context, "canonicalize", function);
}

/* A variance has its own mean, which the program may have, too. */
static void share_means(MlirOperation function, void *context)
{
    if (tile_is_program(function)) cute_pass_run_pipeline(context, "cse", function);
}

static void run_tile_expand(MlirOperation root, cute_pass_run *pass)
{
    static const struct {
        const char *name;
        void (*expand)(MlirOperation op, void *context);
    } rows[] = {
        {"cute.tile.load", expand_ranked_load}, {"cute.tile.store", expand_ranked_store},
        {"cute.tile.atomic", expand_whole},     {"cute.tile.reduce", expand_count},
        {"cute.tile.reduce", expand_variance},  {"cute.tile.reduce", expand_mean},
        {"cute.tile.map", expand_map},          {"cute.tile.cast", expand_cast},
        {"cute.tile.load", expand_loaded},      {"cute.tile.gather", expand_loaded},
        {"cute.tile.store", expand_stored},     {"cute.tile.scatter", expand_stored},
        {"cute.tile.atomic", expand_stored},    {"cute.tile.load", tile_expand_packed},
        {"cute.tile.load", expand_mask},        {"cute.tile.store", expand_mask},
        {"cute.tile.gather", expand_coords},    {"cute.tile.scatter", expand_coords},
        {"cute.tile.atomic", expand_coords},
    };
    bool changed = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool own = false;
        cute_op_walk(root, rows[i].name, CUTE_WALK_OUTER_FIRST, rows[i].expand, &own);
        if (own && rows[i].expand == expand_variance)
            cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, share_means, pass);
        changed = changed || own;
    }
    if (!changed)
        cute_pass_unchanged(pass);
    else
        cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, fold_choices, pass);
}

const cute_pass cute_pass_tile_expand = {
    .name = "cute-tile-expand",
    .help = "Expand elementwise operations on tiles to arith and math",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_MATH,
    .run = run_tile_expand,
};
