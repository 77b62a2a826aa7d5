/* Reductions and scans of tiles along a dimension: in each thread, then between the lanes of a warp by shuffles, then between
 * warps through shared memory: all of the role, or those of warpgroups that have parts of the same rows. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

enum { WARP = 32 };

/* ---- shuffles ---- */

static MlirValue shuffle_word(tile_emitter *e, MlirValue word, MlirValue lane, const char *mode)
{
    return cute_build_value(
        &e->b, "cute_nvgpu.arch.shuffle", mlirValueGetType(word), CUTE_OPERANDS(word, lane),
        CUTE_NAMED(cute_attribute(e->context, "mode", cute_string_attribute(e->context, mode))));
}

MlirValue tile_shuffle(tile_emitter *e, MlirValue value, MlirValue lane, const char *mode)
{
    MlirType type = mlirValueGetType(value), word = tile_i32_type(e);
    bool is_float = mlirTypeIsAFloat(type);
    unsigned bits = is_float ? mlirFloatTypeGetWidth(type) : mlirIntegerTypeGetWidth(type);
    if (mlirTypeIsAF32(type) || (!is_float && bits == 32)) return shuffle_word(e, value, lane, mode);
    MlirType whole = mlirIntegerTypeGet(e->context, bits);
    if (is_float) value = cute_unary(&e->b, "arith.bitcast", value, whole);
    if (bits < 32) {
        value = cute_unary(&e->b, "arith.extui", value, word);
        value = cute_unary(&e->b, "arith.trunci", shuffle_word(e, value, lane, mode), whole);
    } else {
        MlirValue half = cute_integer(&e->b, whole, 32);
        MlirValue low = cute_unary(&e->b, "arith.trunci", value, word),
                  high =
                      cute_unary(&e->b, "arith.trunci", cute_binary(&e->b, "arith.shrui", value, half), word);
        low = cute_unary(&e->b, "arith.extui", shuffle_word(e, low, lane, mode), whole);
        high = cute_unary(&e->b, "arith.extui", shuffle_word(e, high, lane, mode), whole);
        value = cute_binary(&e->b, "arith.ori", low, cute_binary(&e->b, "arith.shli", high, half));
    }
    return is_float ? cute_unary(&e->b, "arith.bitcast", value, type) : value;
}

static MlirValue shuffle_vector(tile_emitter *e, MlirValue vector, MlirValue lane, const char *mode)
{
    MlirType type = mlirValueGetType(vector);
    MlirValue out = vector;
    for (int64_t i = 0; i < cute_vector_count(type); i++)
        out = cute_vector_insert(&e->b, out,
                                 tile_shuffle(e, cute_vector_extract(&e->b, vector, i), lane, mode), i);
    return out;
}

/* ---- reductions ---- */

/* Values of the thread that go into one of the result: as a tree of vectors. */
static MlirValue reduce_values(tile_emitter *e, MlirStringRef kind, MlirValue value, const tile_op *t)
{
    int64_t values = tile_values(&t->in[0]), results = tile_values(&t->out), each = values / results;
    int32_t *map = cute_arena_array(e->arena, (size_t)values, sizeof *map),
            *pick = cute_arena_array(e->arena, (size_t)results, sizeof *pick);
    int64_t *seen = cute_arena_array(e->arena, (size_t)results, sizeof *seen);
    MlirValue *parts = cute_arena_array(e->arena, (size_t)each, sizeof *parts);
    if (!map || !pick || !seen || !parts || !tile_registers_map(e->arena, &t->out, &t->in[0], map))
        return e->failed = true, value;
    int32_t *order =
        cute_arena_array(e->arena, (size_t)values, sizeof *order); /* [k][result]: its k-th value */
    if (!order) return e->failed = true, value;
    for (int64_t v = 0; v < values; v++) order[seen[map[v]]++ * results + map[v]] = (int32_t)v;
    for (int64_t k = 0; k < each; k++) {
        for (int64_t r = 0; r < results; r++) pick[r] = order[k * results + r];
        parts[k] = tile_pick(e, value, pick, results);
    }
    for (int64_t n = each; n > 1; n = (n + 1) / 2)
        for (int64_t k = 0; k < n / 2; k++) parts[k] = tile_combine(e, kind, parts[k], parts[n - 1 - k]);
    return parts[0];
}

/* Between threads along the axis: modes of the threads whose bit is below 32 by shuffles; the others are counted in *warps, and
 * *part is this thread's place among them. */
static MlirValue reduce_lanes(tile_emitter *e, MlirStringRef kind, MlirValue value,
                              const tile_distribution *d, int axis, int64_t *warps, MlirValue *part,
                              MlirValue *first_lane)
{
    int64_t below = 1;
    *warps = 1;
    for (int m = 0; m < d->threads.count; m++) {
        const tile_mode *mode = &d->threads.at[m];
        if (mode->dim == axis) {
            for (int64_t step = 1; step < mode->extent; step *= 2) {
                MlirValue bit = tile_i32(e, below * step);
                if (below * step < WARP) {
                    value = tile_combine(e, kind, value, shuffle_vector(e, value, bit, "bfly"));
                    MlirValue is = cute_compare(
                        &e->b, CUTE_IS_EQ, cute_binary(&e->b, "arith.andi", e->thread, bit), tile_i32(e, 0));
                    *first_lane =
                        mlirValueIsNull(*first_lane) ? is : cute_binary(&e->b, "arith.andi", *first_lane, is);
                } else {
                    MlirValue at = cute_binary(&e->b, "arith.divui", e->thread, bit);
                    at = cute_binary(&e->b, "arith.andi", at, tile_i32(e, 1));
                    if (*warps > 1) at = cute_binary(&e->b, "arith.muli", at, tile_i32(e, *warps));
                    *part = mlirValueIsNull(*part) ? at : cute_binary(&e->b, "arith.addi", *part, at);
                    *warps *= 2;
                }
            }
        }
        below *= mode->extent;
    }
    return value;
}

/* The coordinate (part, element) of a tensor in shared memory. */
static MlirValue pair_coord(tile_emitter *e, MlirValue part, MlirValue element)
{
    return cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"(?,?)\">"),
                            CUTE_OPERANDS(part, element), CUTE_NO_NAMED);
}

/* The warps that have parts of the same rows: one of each of `parts` warpgroups. */
static void meet_parts(tile_emitter *e, int64_t parts)
{
    int64_t together = e->threads / WARP / parts;
    MlirValue warp = cute_binary(&e->b, "arith.subi", e->role->warp, tile_i32(e, e->role->first_warp)),
              rows = cute_binary(&e->b, "arith.remui", warp, tile_i32(e, together)),
              barrier = cute_binary(&e->b, "arith.addi", rows, tile_i32(e, TILE_PART_BARRIERS));
    tile_sync(e, "cute_nvgpu.arch.named_barrier_sync", CUTE_OPERANDS(barrier, tile_i32(e, WARP * parts)),
              CUTE_NO_NAMED);
}

static void meet(tile_emitter *e, const tile_op *t)
{
    if (t->parts)
        meet_parts(e, t->parts);
    else
        tile_barrier(e);
}

static void note_parts(MlirOperation op, void *context)
{
    int64_t *bytes = context, own = tile_parts_bytes(op);
    if (own > *bytes) *bytes = own;
}

void tile_place_parts(tile_emitter *e)
{
    enum { ALIGN = 128 }; /* of view_of_parts */
    int64_t bytes = 0;
    cute_op_walk(e->function, "cute.tile.reduce", CUTE_WALK_OUTER_FIRST, note_parts, &bytes);
    e->parts = (e->shared_bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes) e->shared_bytes = e->parts + bytes;
}

static MlirValue view_of_parts(tile_emitter *e, const char *element, int bits, const char *layout)
{
    char *pointer = cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<128>>", element),
         *type = cute_arena_printf(e->arena, "!cute.layout<\"%s\">", layout);
    /* Their barriers have the numbers of other roles. */
    if (!pointer || !type || e->role_count > TILE_PART_BARRIERS) return e->failed = true, (MlirValue){NULL};
    MlirValue at = tile_shared_at(e, pointer, bits, e->parts);
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, tile_static(e, type)), CUTE_NO_NAMED);
}

/* `parts` results of each element, of as many warps, as one. In shared memory the elements that adjacent threads hold as the same
 * value are adjacent. */
static MlirValue reduce_warps(tile_emitter *e, MlirStringRef kind, MlirValue value, const tile_op *t,
                              int64_t parts, MlirValue part, MlirValue first_lane)
{
    MlirType element = cute_type_element(mlirValueGetType(value));
    const tile_distribution *d = &t->out;
    tile_distribution distinct;
    int bits;
    int64_t elements = cute_tile_size(&d->shape), values = tile_values(d), threads = elements / values;
    const char *text = tile_element_text(e, element, &bits);
    char *layout = cute_arena_printf(e->arena, "(%lld,%lld):(%lld,1)", (long long)parts, (long long)elements,
                                     (long long)elements);
    if (!layout) return e->failed = true, value;
    MlirValue shared = t->parts ? view_of_parts(e, text, bits, layout)
                                : tile_shared_view(e, text, bits, layout, parts * elements, 0),
              base = tile_thread_of(e, d, &distinct);
    if (e->failed) return value;
    /* Threads along the axis are copies in the result, but of the others one writes. */
    MlirValue once = first_lane;
    int64_t below = 1;
    for (int m = 0; m < t->in[0].threads.count; m++) {
        const tile_mode *mode = &t->in[0].threads.at[m];
        if (mode->dim == TILE_COPIES) {
            MlirValue index = cute_binary(&e->b, "arith.divui", e->thread, tile_i32(e, below));
            index = cute_binary(&e->b, "arith.remui", index, tile_i32(e, mode->extent));
            MlirValue is = cute_compare(&e->b, CUTE_IS_EQ, index, tile_i32(e, 0));
            once = mlirValueIsNull(once) ? is : cute_binary(&e->b, "arith.andi", once, is);
        }
        below *= mode->extent;
    }
    if (!t->first_parts) meet(e, t);
    tile_if writes = tile_if_begin(e, once);
    MlirValue stored = tile_as_stored(e, value);
    for (int64_t v = 0; v < values && !e->failed; v++) {
        MlirValue at = cute_binary(&e->b, "arith.addi", base, tile_i32(e, v * threads));
        cute_build(&e->b, "cute.memref.store",
                   CUTE_OPERANDS(shared, pair_coord(e, part, at), cute_vector_extract(&e->b, stored, v)),
                   CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    tile_if_end(e, &writes);
    meet(e, t);
    MlirValue out = {NULL};
    for (int64_t p = 0; p < parts && !e->failed; p++) {
        MlirValue own = stored;
        for (int64_t v = 0; v < values && !e->failed; v++) {
            MlirValue at = cute_binary(&e->b, "arith.addi", base, tile_i32(e, v * threads));
            MlirValue one =
                tile_emit(e, "cute.memref.load", CUTE_OPERANDS(shared, pair_coord(e, tile_i32(e, p), at)),
                          CUTE_NO_NAMED);
            if (!e->failed) own = cute_vector_insert(&e->b, own, one, v);
        }
        own = tile_as_held(e, own, element);
        out = mlirValueIsNull(out) ? own : tile_combine(e, kind, out, own);
    }
    return out;
}

MlirValue tile_lower_reduce(tile_emitter *e, const tile_op *t)
{
    MlirStringRef kind = cute_tile_word(t->op, "kind");
    int axis = (int)cute_tile_number(t->op, "mode", 0);
    MlirValue value = reduce_values(e, kind, mlirOperationGetOperand(t->op, 0), t), part = {NULL},
              first_lane = {NULL};
    int64_t warps;
    if (e->failed) return value;
    value = reduce_lanes(e, kind, value, &t->in[0], axis, &warps, &part, &first_lane);
    return warps > 1 ? reduce_warps(e, kind, value, t, warps, part, first_lane) : value;
}

/* ---- scans ---- */

/* tile_for_scan: the values along the axis are adjacent, and the lanes along it are the first mode of the threads. */
MlirValue tile_lower_scan(tile_emitter *e, const tile_op *t)
{
    MlirStringRef kind = cute_tile_word(t->op, "kind");
    bool reverse = cute_op_has(t->op, "reverse");
    const tile_distribution *d = &t->out;
    int axis = (int)cute_tile_number(t->op, "mode", 0);
    int64_t values = tile_values(d), lanes = 1;
    if (d->threads.count && d->threads.at[0].dim == axis) lanes = d->threads.at[0].extent;
    int64_t own = d->shape.extent[axis] / lanes, rows = values / own;
    MlirValue *column = cute_arena_array(e->arena, (size_t)own, sizeof *column),
              value = mlirOperationGetOperand(t->op, 0);
    int32_t *pick = cute_arena_array(e->arena, (size_t)(values > rows ? values : rows), sizeof *pick);
    if (!column || !pick) return e->failed = true, value;
    for (int64_t k = 0; k < own; k++) {
        int64_t j = reverse ? own - 1 - k : k;
        for (int64_t r = 0; r < rows; r++) pick[r] = (int32_t)(r * own + j);
        MlirValue here = tile_pick(e, value, pick, rows);
        int64_t before = reverse ? j + 1 : j - 1;
        column[j] = k ? tile_combine(e, kind, column[before], here) : here;
    }
    if (lanes > 1) {
        MlirValue total = column[reverse ? 0 : own - 1];
        MlirValue lane = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, lanes));
        for (int64_t step = 1; step <= lanes; step *= 2) {
            /* The last round gives what all lanes before have together. */
            int64_t by = step < lanes ? step : 1;
            MlirValue other = shuffle_vector(e, total, tile_i32(e, by), reverse ? "down" : "up");
            MlirValue has = cute_compare(&e->b, reverse ? CUTE_IS_ULT : CUTE_IS_UGE, lane,
                                         tile_i32(e, reverse ? lanes - by : by));
            if (step < lanes) {
                total = cute_select(&e->b, has, tile_combine(e, kind, other, total), total);
                continue;
            }
            for (int64_t j = 0; j < own; j++)
                column[j] = cute_select(&e->b, has, tile_combine(e, kind, other, column[j]), column[j]);
        }
    }
    MlirValue out = value;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < own; j++)
            out = cute_vector_insert(&e->b, out, cute_vector_extract(&e->b, column[j], r), r * own + j);
    return out;
}
