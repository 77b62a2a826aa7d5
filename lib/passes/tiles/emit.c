/* See emit.h: constants, vectors, where a thread is. */
#include "lib/passes/tiles/late_rows.h"
#include "lib/passes/tiles/schedule.h"

#include <llvm/Config/llvm-config.h>
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/ops.h"

/* ---- operations and constants ---- */

void tile_fail(tile_emitter *e, const char *text)
{
    if (!e->failed) cute_emit_error(e->b.location, text);
    e->failed = true;
}

MlirOperation tile_emit_op(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes)
{
    const MlirOperation none = {NULL};
    const cute_op_row *row = cute_op_row_find(name, strlen(name));
    for (intptr_t i = 0; i < operands.count; i++)
        if (mlirValueIsNull(operands.items[i])) e->failed = true;
    if (e->failed) return none;
    MlirOperation op = none;
    if (!strncmp(name, "cute_nvgpu.", 11) && row && row->infer) {
        /* MLIR's interface for inference is of the dialect cute alone. */
        cute_op_query query = {.context = e->context,
                               .location = e->b.location,
                               .operand_count = operands.count,
                               .operands = operands.items,
                               .attributes =
                                   mlirDictionaryAttrGet(e->context, attributes.count, attributes.items),
                               .follows = true};
        cute_op_types types = {0};
        if (row->infer(row, &query, &types) && types.count)
            op = cute_build(&e->b, name, operands, (cute_types){types.items, types.count}, attributes);
        free(types.items);
    } else {
        op = cute_build_inferred(&e->b, name, operands, attributes);
    }
    e->failed = mlirOperationIsNull(op);
    return op;
}

MlirValue tile_emit(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes)
{
    MlirOperation op = tile_emit_op(e, name, operands, attributes);
    bool any = !mlirOperationIsNull(op) && mlirOperationGetNumResults(op);
    return any ? mlirOperationGetResult(op, 0) : (MlirValue){NULL};
}

MlirType tile_type(tile_emitter *e, const char *text)
{
    MlirType type = mlirTypeParseGet(e->context, cute_text(text));
    if (mlirTypeIsNull(type)) e->failed = true;
    return type;
}

MlirValue tile_static(tile_emitter *e, const char *text)
{
    MlirType type = tile_type(e, text);
    if (e->failed) return (MlirValue){NULL};
    return cute_build_value(&e->b, "cute.static", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

MlirType tile_i32_type(tile_emitter *e)
{
    return mlirIntegerTypeGet(e->context, 32);
}

MlirValue tile_i32(tile_emitter *e, int64_t value)
{
    return cute_build_constant(&e->b, 32, value);
}

MlirValue tile_fill_value(tile_emitter *e, MlirType element, MlirStringRef word)
{
    bool least = cute_text_is(word, "neg_inf"), most = cute_text_is(word, "inf");
    MlirAttribute value;
    if (mlirTypeIsAFloat(element)) {
        /* e4m3 of the fn kind has no infinity: its largest number. */
        double top = mlirTypeIsAFloat8E4M3FN(element) ? 448 : (double)INFINITY;
        value = mlirFloatAttrDoubleGet(e->context, element, least ? -top : most ? top : 0);
    } else {
        unsigned width = mlirIntegerTypeGetWidth(element);
        int64_t top = width >= 64 ? INT64_MAX : (INT64_C(1) << (width - 1)) - 1;
        value = mlirIntegerAttrGet(element, least ? -top - 1 : most ? top : 0);
    }
    return cute_build_value(&e->b, "arith.constant", element, CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(e->context, "value", value)));
}

/* ---- vectors ---- */

MlirType tile_vector_type(MlirType element, int64_t count)
{
    return mlirVectorTypeGet(1, &count, element);
}

/* Elements of the concatenation of two vectors at `map`. */
static MlirValue shuffle(tile_emitter *e, MlirValue a, MlirValue b, const int32_t *map, int64_t count)
{
#if LLVM_VERSION_MAJOR >= 20
    int64_t *mask = cute_arena_array(e->arena, (size_t)count + 1, sizeof *mask);
    if (!mask) return e->failed = true, a;
    for (int64_t i = 0; i < count; i++) mask[i] = map[i];
    MlirAttribute list = mlirDenseI64ArrayGet(e->context, count, mask);
#else
    MlirAttribute *mask = cute_arena_array(e->arena, (size_t)count + 1, sizeof *mask);
    if (!mask) return e->failed = true, a;
    for (int64_t i = 0; i < count; i++)
        mask[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(e->context, 64), map[i]);
    MlirAttribute list = mlirArrayAttrGet(e->context, count, mask);
#endif
    MlirType type = tile_vector_type(mlirShapedTypeGetElementType(mlirValueGetType(a)), count);
    return cute_build_value(&e->b, "vector.shuffle", type, CUTE_OPERANDS(a, b),
                            CUTE_NAMED(cute_attribute(e->context, "mask", list)));
}

int64_t tile_shuffled_from(MlirOperation shuffle, int64_t i)
{
    MlirAttribute mask = mlirOperationGetAttributeByName(shuffle, cute_text("mask"));
#if LLVM_VERSION_MAJOR >= 20
    return mlirDenseI64ArrayGetElement(mask, i);
#else
    return mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(mask, i));
#endif
}

MlirValue tile_pick(tile_emitter *e, MlirValue value, const int32_t *map, int64_t count)
{
    bool same = count == mlirShapedTypeGetDimSize(mlirValueGetType(value), 0);
    for (int64_t i = 0; i < count && same; i++) same = map[i] == i;
    return same ? value : shuffle(e, value, value, map, count);
}

enum { PARTS = 256 };

/* The same elements of the operands of a value, and of the value. */
struct tile_parts {
    const int32_t *map;
    int64_t count;
    MlirValue from[PARTS], to[PARTS];
    int known;
    bool whole; /* what numbers and the first of `from` give: there is no map */
};

static MlirValue keep_part(tile_parts *p, MlirValue value, MlirValue out)
{
    if (p->known < PARTS) {
        p->from[p->known] = value;
        p->to[p->known++] = out;
    }
    return out;
}

static MlirValue part(tile_emitter *e, tile_parts *p, MlirValue value);

/* Whether `value` is computed from a late load. */
static bool is_late(MlirValue value, int depth)
{
    enum { DEPTH = 16 };
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || depth == DEPTH) return false;
    if (cute_op_has(op, TILE_LATE)) return true;
    if (!cute_op_of(op, "arith.") && !cute_op_of(op, "math.")) return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (is_late(mlirOperationGetOperand(op, i), depth + 1)) return true;
    return false;
}

/* Whether `value` compares indices, as those of columns with their number: registers for all results cost more than the comparisons. */
static bool is_mask(MlirValue value)
{
    MlirOperation op = cute_defining_op(value);
    return !mlirOperationIsNull(op) && cute_op_is(op, "arith.cmpi");
}

/* Elements of a broadcast late load or comparison: the different ones of its operand, in the places of the result. */
static MlirValue part_of_shuffle(tile_emitter *e, tile_parts *p, MlirOperation op)
{
    MlirValue from = mlirOperationGetOperand(op, 0);
    tile_parts *own = cute_arena_alloc(e->arena, sizeof *own);
    int32_t *map = cute_arena_array(e->arena, (size_t)p->count, sizeof *map),
            *place = cute_arena_array(e->arena, (size_t)p->count, sizeof *place);
    if (!own || !map || !place) return e->failed = true, from;
    int64_t all = mlirShapedTypeGetDimSize(mlirValueGetType(from), 0), count = 0;
    for (int64_t i = 0; i < p->count; i++) {
        int32_t at = (int32_t)(tile_shuffled_from(op, p->map[i]) % all);
        int64_t k = 0;
        while (k < count && map[k] != at) k++;
        if (k == count) map[count++] = at;
        place[i] = (int32_t)k;
    }
    *own = (tile_parts){.map = map, .count = count};
    MlirValue different = part(e, own, from);
    return e->failed ? from : tile_pick(e, different, place, p->count);
}

static MlirValue part(tile_emitter *e, tile_parts *p, MlirValue value)
{
    MlirOperation op = cute_defining_op(value);
    MlirType type = mlirValueGetType(value);
    int64_t all = mlirShapedTypeGetDimSize(type, 0);
    for (int i = 0; i < p->known; i++)
        if (mlirValueEqual(p->from[i], value)) return p->to[i];
    const tile_row *row = p->whole ? NULL : tile_row_of(e, value);
    if (row) return keep_part(p, value, tile_row_part(e, row, p->map, p->count));
    if (!mlirOperationIsNull(op) && cute_op_has(op, TILE_LATE))
        return keep_part(p, value, tile_late_part(e, op, p->map, p->count));
    bool shuffled = !mlirOperationIsNull(op) && cute_op_is(op, "vector.shuffle") &&
                    mlirValueEqual(mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1));
    if (shuffled && (is_late(mlirOperationGetOperand(op, 0), 0) || is_mask(mlirOperationGetOperand(op, 0))))
        return keep_part(p, value, part_of_shuffle(e, p, op));
    bool splat = !mlirOperationIsNull(op) && cute_op_is(op, "vector.broadcast"),
         constant = !mlirOperationIsNull(op) && cute_op_is(op, "arith.constant"),
         elementwise = !mlirOperationIsNull(op) && (cute_op_of(op, "arith.") || cute_op_of(op, "math.")) &&
                       mlirOperationGetNumResults(op) == 1 &&
                       mlirOperationGetNumOperands(op) <= TILE_OPERANDS;
    for (intptr_t i = 0; elementwise && i < mlirOperationGetNumOperands(op); i++) {
        MlirType own = mlirValueGetType(mlirOperationGetOperand(op, i));
        elementwise = mlirTypeIsAVector(own) && mlirShapedTypeGetDimSize(own, 0) == all;
    }
    if (p->known == PARTS || (!splat && !elementwise)) return tile_pick(e, value, p->map, p->count);
    MlirType made = tile_vector_type(cute_type_element(type), p->count);
    MlirValue out;
    if (splat) {
        out = tile_splat(e, mlirOperationGetOperand(op, 0), p->count);
    } else if (constant) {
        MlirAttribute element = cute_constant_splat(value);
        if (mlirAttributeIsNull(element)) return tile_pick(e, value, p->map, p->count);
        MlirAttribute own = mlirDenseElementsAttrSplatGet(made, element);
        out = cute_build_value(&e->b, "arith.constant", made, CUTE_NO_OPERANDS,
                               CUTE_NAMED(cute_attribute(e->context, "value", own)));
    } else {
        MlirValue operands[TILE_OPERANDS];
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
            operands[i] = part(e, p, mlirOperationGetOperand(op, i));
        MlirOperation copy = mlirOperationClone(op);
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
            mlirOperationSetOperand(copy, i, operands[i]);
        out = mlirOperationGetResult(copy, 0);
        mlirValueSetType(out, made);
        mlirBlockInsertOwnedOperationBefore(e->b.block, e->b.before, copy);
    }
    return keep_part(p, value, out);
}

tile_parts *tile_begin_parts(tile_emitter *e, const int32_t *map, int64_t count)
{
    tile_parts *p = cute_arena_alloc(e->arena, sizeof *p);
    if (p)
        *p = (tile_parts){.map = map, .count = count};
    else
        e->failed = true;
    return p;
}

MlirValue tile_part_of(tile_emitter *e, tile_parts *parts, MlirValue value)
{
    return part(e, parts, value);
}

MlirValue tile_part(tile_emitter *e, MlirValue value, const int32_t *map, int64_t count)
{
    tile_parts *p = tile_begin_parts(e, map, count);
    return p ? part(e, p, value) : value;
}

MlirValue tile_part_from(tile_emitter *e, MlirValue value, MlirValue leaf, MlirValue elements)
{
    tile_parts *p = cute_arena_alloc(e->arena, sizeof *p);
    if (!p || e->failed) return e->failed = true, value;
    *p = (tile_parts){.count = mlirShapedTypeGetDimSize(mlirValueGetType(elements), 0), .whole = true};
    keep_part(p, leaf, elements);
    return part(e, p, value);
}

MlirValue tile_concat(tile_emitter *e, MlirValue a, MlirValue b)
{
    int64_t count =
        mlirShapedTypeGetDimSize(mlirValueGetType(a), 0) + mlirShapedTypeGetDimSize(mlirValueGetType(b), 0);
    int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map);
    if (!map) return e->failed = true, a;
    for (int64_t i = 0; i < count; i++) map[i] = (int32_t)i;
    return shuffle(e, a, b, map, count);
}

MlirValue tile_splat(tile_emitter *e, MlirValue scalar, int64_t count)
{
    return cute_build_value(&e->b, "vector.broadcast", tile_vector_type(mlirValueGetType(scalar), count),
                            CUTE_OPERANDS(scalar), CUTE_NO_NAMED);
}

MlirValue tile_i32_vector(tile_emitter *e, const int32_t *values, int64_t count)
{
    MlirType type = tile_vector_type(tile_i32_type(e), count);
    MlirAttribute value = mlirDenseElementsAttrInt32Get(type, count, values);
    return cute_build_value(&e->b, "arith.constant", type, CUTE_NO_OPERANDS,
                            CUTE_NAMED(cute_attribute(e->context, "value", value)));
}

static const struct {
    const char *kind, *on_floats, *on_integers;
} combinations[] = {
    {"add", "arith.addf", "arith.addi"},
    {"mul", "arith.mulf", "arith.muli"},
    {"min", "arith.minimumf", "arith.minsi"},
    {"max", "arith.maximumf", "arith.maxsi"},
    {"and", NULL, "arith.andi"},
    {"or", NULL, "arith.ori"},
    {"xor", NULL, "arith.xori"},
};

MlirValue tile_combine(tile_emitter *e, MlirStringRef kind, MlirValue a, MlirValue b)
{
    bool on_floats = mlirTypeIsAFloat(cute_type_element(mlirValueGetType(a)));
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (cute_text_is(kind, combinations[i].kind))
            return cute_binary(&e->b, on_floats ? combinations[i].on_floats : combinations[i].on_integers, a,
                               b);
    return e->failed = true, a;
}

/* ---- where a thread is ---- */

/* Of the thread's index, the one in mode `m`. */
static MlirValue mode_index(tile_emitter *e, const tile_modes *modes, int m)
{
    int64_t below = 1;
    for (int i = 0; i < m; i++) below *= modes->at[i].extent;
    MlirValue index = e->thread;
    if (below > 1) index = cute_binary(&e->b, "arith.divui", index, tile_i32(e, below));
    if (below * modes->at[m].extent < e->threads)
        index = cute_binary(&e->b, "arith.remui", index, tile_i32(e, modes->at[m].extent));
    return index;
}

MlirValue tile_thread_offset(tile_emitter *e, const tile_distribution *d, const int64_t *strides)
{
    MlirValue sum = {NULL};
    for (int m = 0; m < d->threads.count; m++) {
        const tile_mode *mode = &d->threads.at[m];
        if (mode->dim == TILE_COPIES || !strides[mode->dim]) continue;
        MlirValue part = mode_index(e, &d->threads, m);
        int64_t weight = mode->step * strides[mode->dim];
        if (weight > 1) part = cute_binary(&e->b, "arith.muli", part, tile_i32(e, weight));
        sum = mlirValueIsNull(sum) ? part : cute_binary(&e->b, "arith.addi", sum, part);
    }
    return mlirValueIsNull(sum) ? tile_i32(e, 0) : sum;
}

MlirValue tile_thread_coord(tile_emitter *e, const tile_distribution *d, int dim)
{
    int64_t weights[CUTE_TILE_RANK] = {0};
    weights[dim] = 1;
    return tile_thread_offset(e, d, weights);
}

MlirValue tile_is_first(tile_emitter *e, const tile_distribution *d)
{
    MlirValue out = {NULL}, zero = {NULL};
    for (int m = 0; m < d->threads.count; m++) {
        if (d->threads.at[m].dim != TILE_COPIES) continue;
        if (mlirValueIsNull(zero)) zero = tile_i32(e, 0);
        MlirValue is = cute_compare(&e->b, CUTE_IS_EQ, mode_index(e, &d->threads, m), zero);
        out = mlirValueIsNull(out) ? is : cute_binary(&e->b, "arith.andi", out, is);
    }
    return out;
}

MlirValue tile_thread_of(tile_emitter *e, const tile_distribution *d, tile_distribution *without)
{
    MlirValue sum = {NULL};
    int64_t below = 1;
    *without = *d;
    without->threads = (tile_modes){0};
    for (int m = 0; m < d->threads.count; m++) {
        const tile_mode *mode = &d->threads.at[m];
        if (mode->dim == TILE_COPIES) continue;
        tile_modes_add(&without->threads, mode->extent, mode->dim, mode->step);
        MlirValue part = mode_index(e, &d->threads, m);
        if (below > 1) part = cute_binary(&e->b, "arith.muli", part, tile_i32(e, below));
        sum = mlirValueIsNull(sum) ? part : cute_binary(&e->b, "arith.addi", sum, part);
        below *= mode->extent;
    }
    if (below == e->threads) return e->thread;
    return mlirValueIsNull(sum) ? tile_i32(e, 0) : sum;
}

/* ---- regions ---- */

tile_if tile_if_begin(tile_emitter *e, MlirValue condition)
{
    tile_if i = {e->b, !mlirValueIsNull(condition)};
    if (!i.wrapped) return i;
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock then = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], then);
    cute_builder inside = cute_builder_at_end(then, e->b.location);
    MlirOperation yield = cute_build(&inside, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build_regions(&e->b, "scf.if", CUTE_OPERANDS(condition), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    e->b.block = then;
    e->b.before = yield;
    return i;
}

void tile_if_end(tile_emitter *e, tile_if *i)
{
    e->b = i->outside;
}

MlirOperation tile_emit_loop(tile_emitter *e, int64_t from, int64_t to)
{
    MlirType i32 = tile_i32_type(e);
    MlirValue bounds[3] = {tile_i32(e, from), tile_i32(e, to), tile_i32(e, 1)};
    MlirBlock body = mlirBlockCreate(1, &i32, &e->b.location);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    cute_builder end = cute_builder_at_end(body, e->b.location);
    cute_build(&end, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirOperation loop = cute_build_regions(&e->b, "scf.for", (cute_operands){bounds, 3}, CUTE_NO_TYPES,
                                            CUTE_NO_NAMED, &region, 1);
    tile_loop_keep_whole(loop);
    return loop;
}
