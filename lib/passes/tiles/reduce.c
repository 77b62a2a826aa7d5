/* Reductions and scans of tiles along a dimension: in each thread, then between the lanes of a warp by shuffles, then between
 * warps through shared memory: all of the role, or those of warpgroups that have parts of the same rows. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

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
static MlirValue reduce_values(tile_emitter *e, MlirStringRef kind, MlirValue value, const tile_op *t,
                               const tile_distribution *out)
{
    int64_t values = tile_values(&t->in[0]), results = tile_values(out), each = values / results;
    int32_t *map = cute_arena_array(e->arena, (size_t)values, sizeof *map),
            *pick = cute_arena_array(e->arena, (size_t)results, sizeof *pick);
    int64_t *seen = cute_arena_array(e->arena, (size_t)results, sizeof *seen);
    MlirValue *parts = cute_arena_array(e->arena, (size_t)each, sizeof *parts);
    if (!map || !pick || !seen || !parts || !tile_registers_map(e->arena, out, &t->in[0], map))
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

static void meet(tile_emitter *e, const tile_op *t)
{
    if (t->parts)
        tile_meet_parts(e, t->parts);
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
    if (!pointer || !type) return e->failed = true, (MlirValue){NULL};
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

/* ---- between warps: parts of each result in shared memory ---- */

/* Results of a thread, or parts of them, and where they are in the tile of results. */
typedef struct tile_partial {
    MlirValue values;
    int64_t *places; /* row-major, but for the thread's own place */
    int64_t count;
} tile_partial;

/* Lanes that have parts of the same results: steps between them; warps that do, and the number of this one. */
typedef struct sharers {
    int64_t steps[5];
    int count;
    int64_t warps;
    MlirValue part;
} sharers;

static void find_lanes(tile_emitter *e, const tile_distribution *d, int axis, sharers *out)
{
    int64_t below = 1;
    *out = (sharers){.warps = 1, .part = {NULL}};
    for (int m = 0; m < d->threads.count; below *= d->threads.at[m++].extent)
        for (int64_t step = below; d->threads.at[m].dim == axis && step < below * d->threads.at[m].extent;
             step *= 2) {
            if (step < WARP) {
                out->steps[out->count++] = step;
                continue;
            }
            MlirValue at = cute_binary(&e->b, "arith.divui", e->thread, tile_i32(e, step));
            at = cute_binary(&e->b, "arith.andi", at, tile_i32(e, 1));
            if (out->warps > 1) at = cute_binary(&e->b, "arith.muli", at, tile_i32(e, out->warps));
            out->part = mlirValueIsNull(out->part) ? at : cute_binary(&e->b, "arith.addi", out->part, at);
            out->warps *= 2;
        }
}

/* Row-major strides of a tile. */
static void row_major_strides(const cute_tile_shape *shape, int64_t strides[CUTE_TILE_RANK])
{
    int64_t size = 1;
    for (int i = shape->rank; i-- > 0; size *= shape->extent[i]) strides[i] = size;
}

/* Where parts of results are in shared memory. The threads that write them may read them: then those that adjacent threads hold as the same value are
 * adjacent. Else they are in rows. */
static int64_t place_of_value(const tile_op *t, const tile_distribution *d, int64_t value)
{
    tile_distribution own;
    int64_t coord[CUTE_TILE_RANK] = {0}, strides[CUTE_TILE_RANK], place = 0;
    if (tile_projected(&t->in[0], &t->out.shape, &own) && tile_distribution_equal(&own, &t->out))
        return value * (cute_tile_size(&d->shape) / tile_values(d));
    row_major_strides(&d->shape, strides);
    tile_modes_coord(&d->values, value, coord);
    for (int i = 0; i < d->shape.rank; i++) place += coord[i] * strides[i];
    return place;
}

static MlirValue place_of_thread(tile_emitter *e, const tile_op *t, const tile_distribution *d)
{
    tile_distribution own;
    int64_t strides[CUTE_TILE_RANK];
    if (tile_projected(&t->in[0], &t->out.shape, &own) && tile_distribution_equal(&own, &t->out))
        return tile_thread_of(e, d, &own);
    row_major_strides(&d->shape, strides);
    return tile_thread_offset(e, d, strides);
}

/* i1: whether the thread's index has bit `step`. */
static MlirValue has_bit(tile_emitter *e, int64_t step)
{
    MlirValue bit = cute_binary(&e->b, "arith.andi", e->thread, tile_i32(e, step));
    return cute_compare(&e->b, CUTE_IS_NE, bit, tile_i32(e, 0));
}

static void add_condition(tile_emitter *e, MlirValue *all, MlirValue condition)
{
    *all = mlirValueIsNull(*all) ? condition : cute_binary(&e->b, "arith.andi", *all, condition);
}

/* Combines the results of lanes `step` apart. An even number of results at equal distances is divided: each lane keeps every second one, and
 * *distance is the offset of the upper lane's places. Otherwise both lanes have all results, and *distance is 0. */
static void combine_lanes(tile_emitter *e, MlirStringRef kind, tile_partial *p, int64_t step,
                          int64_t *distance)
{
    MlirValue by = tile_i32(e, step);
    int64_t half = p->count / 2;
    *distance = p->count % 2 ? 0 : p->places[1] - p->places[0];
    for (int64_t i = 0; i < half; i++)
        if (p->places[2 * i + 1] - p->places[2 * i] != *distance) *distance = 0;
    if (!*distance) {
        p->values = tile_combine(e, kind, p->values, shuffle_vector(e, p->values, by, "bfly"));
        return;
    }
    int32_t *map = cute_arena_array(e->arena, (size_t)p->count, sizeof *map);
    if (!map) {
        e->failed = true;
        return;
    }
    for (int64_t i = 0; i < half; i++) {
        map[i] = (int32_t)(2 * i);
        map[half + i] = (int32_t)(2 * i + 1);
        p->places[i] = p->places[2 * i];
    }
    MlirValue lower = tile_pick(e, p->values, map, half), upper = tile_pick(e, p->values, map + half, half),
              is_upper = has_bit(e, step), kept = cute_select(&e->b, is_upper, upper, lower),
              given = cute_select(&e->b, is_upper, lower, upper);
    p->values = tile_combine(e, kind, kept, shuffle_vector(e, given, by, "bfly"));
    p->count = half;
}

/* Which threads write their results: one of those that have the same. */
static MlirValue writes_once(tile_emitter *e, const tile_distribution *in)
{
    MlirValue once = {NULL};
    int64_t below = 1;
    for (int m = 0; m < in->threads.count; below *= in->threads.at[m++].extent) {
        const tile_mode *mode = &in->threads.at[m];
        if (mode->dim != TILE_COPIES) continue;
        MlirValue index = cute_binary(&e->b, "arith.divui", e->thread, tile_i32(e, below));
        index = cute_binary(&e->b, "arith.remui", index, tile_i32(e, mode->extent));
        add_condition(e, &once, cute_compare(&e->b, CUTE_IS_EQ, index, tile_i32(e, 0)));
    }
    return once;
}

/* The steps between lanes of a reduction between warps: those from `first` on. */
static void combine_steps(tile_emitter *e, tile_reduction *r, const sharers *l, int first, int last,
                          tile_partial *p)
{
    MlirStringRef kind = cute_tile_word(r->t->op, "kind");
    for (int i = first; i < last && !e->failed; i++) {
        int64_t distance;
        combine_lanes(e, kind, p, l->steps[i], &distance);
        if (i < r->steps) { /* as in another part */
            if (distance != r->distance[i]) e->failed = true;
            continue;
        }
        r->distance[r->steps++] = distance;
    }
}

/* Where the thread's results begin; *once: whether it writes them. */
static MlirValue own_place(tile_emitter *e, const tile_reduction *r, const sharers *l,
                           const tile_distribution *d, MlirValue *once)
{
    MlirValue at = place_of_thread(e, r->t, d);
    *once = writes_once(e, &r->t->in[0]);
    for (int i = 0; i < r->steps; i++) {
        MlirValue upper = has_bit(e, l->steps[i]), zero = tile_i32(e, 0);
        if (r->distance[i])
            at = cute_binary(&e->b, "arith.addi", at,
                             cute_select(&e->b, upper, tile_i32(e, r->distance[i]), zero));
        else
            add_condition(e, once, cute_binary(&e->b, "arith.xori", upper, cute_build_constant(&e->b, 1, 1)));
    }
    return at;
}

/* Writes the parts, and reads the results that the thread needs. */
static MlirValue exchange_parts(tile_emitter *e, const tile_reduction *r, const sharers *l,
                                const tile_distribution *d, const tile_partial *p)
{
    const tile_op *t = r->t;
    MlirStringRef kind = cute_tile_word(t->op, "kind");
    MlirType element = cute_type_element(mlirValueGetType(p->values));
    int bits;
    int64_t elements = cute_tile_size(&d->shape);
    const char *text = tile_element_text(e, element, &bits);
    char *layout = cute_arena_printf(e->arena, "(%lld,%lld):(%lld,1)", (long long)l->warps,
                                     (long long)elements, (long long)elements);
    if (!layout) return e->failed = true, p->values;
    MlirValue shared = tile_shared_view(e, text, bits, layout, l->warps * elements, 0), once,
              base = own_place(e, r, l, d, &once), stored = tile_as_stored(e, p->values);
    if (e->failed) return p->values;
    tile_barrier(e);
    tile_if writes = tile_if_begin(e, once);
    for (int64_t v = 0; v < p->count; v++) {
        MlirValue at = cute_binary(&e->b, "arith.addi", base, tile_i32(e, p->places[v]));
        cute_build(&e->b, "cute.memref.store",
                   CUTE_OPERANDS(shared, pair_coord(e, l->part, at), cute_vector_extract(&e->b, stored, v)),
                   CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    tile_if_end(e, &writes);
    tile_barrier(e);
    base = place_of_thread(e, t, &t->out);
    MlirValue out = {NULL}, one = {NULL};
    for (int64_t part = 0; part < l->warps && !e->failed; part++) {
        MlirValue own = {NULL};
        for (int64_t v = 0; v < tile_values(&t->out) && !e->failed; v++) {
            MlirValue at = cute_binary(&e->b, "arith.addi", base, tile_i32(e, place_of_value(t, &t->out, v)));
            one = tile_emit(e, "cute.memref.load",
                            CUTE_OPERANDS(shared, pair_coord(e, tile_i32(e, part), at)), CUTE_NO_NAMED);
            if (e->failed) return one;
            own = v ? cute_vector_insert(&e->b, own, one, v) : tile_splat(e, one, tile_values(&t->out));
        }
        own = tile_as_held(e, own, element);
        out = part ? tile_combine(e, kind, out, own) : own;
    }
    return out;
}

/* From the thread's own results, all of them, to those of all threads. */
static MlirValue reduce_threads(tile_emitter *e, tile_reduction *r, const tile_distribution *d,
                                tile_partial *p)
{
    const tile_op *t = r->t;
    MlirStringRef kind = cute_tile_word(t->op, "kind");
    int axis = (int)cute_tile_number(t->op, "mode", 0);
    sharers l;
    if (e->failed) return p->values;
    find_lanes(e, &t->in[0], axis, &l);
    if (l.warps > 1 && !t->parts) {
        combine_steps(e, r, &l, r->steps, l.count, p);
        return e->failed ? p->values : exchange_parts(e, r, &l, d, p);
    }
    MlirValue part = {NULL}, first_lane = {NULL};
    int64_t warps;
    MlirValue value = reduce_lanes(e, kind, p->values, &t->in[0], axis, &warps, &part, &first_lane);
    return warps > 1 ? reduce_warps(e, kind, value, t, warps, part, first_lane) : value;
}

/* How the threads have the results before they combine them. */
static bool own_results(tile_emitter *e, const tile_op *t, tile_distribution *d)
{
    if (!tile_projected(&t->in[0], &t->out.shape, d)) e->failed = true;
    return !e->failed;
}

MlirValue tile_lower_reduce(tile_emitter *e, const tile_op *t)
{
    tile_distribution d;
    tile_reduction r = {.t = t};
    MlirValue operand = mlirOperationGetOperand(t->op, 0);
    if (!own_results(e, t, &d)) return operand;
    tile_partial p = {.count = tile_values(&d)};
    p.values = reduce_values(e, cute_tile_word(t->op, "kind"), operand, t, &d);
    p.places = cute_arena_array(e->arena, (size_t)p.count, sizeof *p.places);
    if (!p.places) e->failed = true;
    for (int64_t v = 0; v < p.count && !e->failed; v++) p.places[v] = place_of_value(t, &d, v);
    return reduce_threads(e, &r, &d, &p);
}

/* ---- reductions of parts ---- */

bool tile_begin_reduction(tile_emitter *e, const tile_op *t, tile_reduction *r)
{
    int64_t values = tile_values(&t->in[0]);
    *r = (tile_reduction){.t = t, .whole = {NULL}};
    if (!own_results(e, t, &r->d)) return false;
    r->result_of = cute_arena_array(e->arena, (size_t)values, sizeof *r->result_of);
    r->partial = cute_arena_array(e->arena, (size_t)tile_values(&r->d), sizeof *r->partial);
    if (!r->result_of || !r->partial || !tile_registers_map(e->arena, &r->d, &t->in[0], r->result_of))
        e->failed = true;
    return !e->failed;
}

/* The index of a place among those of a part. */
static int64_t index_of(const int64_t *places, int64_t count, int64_t place)
{
    int64_t k = 0;
    while (k < count && places[k] != place) k++;
    return k;
}

/* The thread's results of the part, as a tree of vectors. */
static bool reduce_part(tile_emitter *e, const tile_reduction *r, MlirValue values, const int32_t *map,
                        int64_t count, tile_partial *out)
{
    MlirStringRef kind = cute_tile_word(r->t->op, "kind");
    int32_t *order = cute_arena_array(e->arena, (size_t)count, sizeof *order);
    int64_t *seen = cute_arena_array(e->arena, (size_t)count, sizeof *seen);
    MlirValue *terms = cute_arena_array(e->arena, (size_t)count, sizeof *terms);
    *out = (tile_partial){.places = cute_arena_array(e->arena, (size_t)count, sizeof *out->places)};
    if (!order || !seen || !terms || !out->places) return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t place = place_of_value(r->t, &r->d, r->result_of[map[i]]);
        if (index_of(out->places, out->count, place) == out->count) out->places[out->count++] = place;
    }
    int64_t own = out->count, each = count / own;
    for (int64_t i = 0; i < count; i++) {
        int64_t k = index_of(out->places, own, place_of_value(r->t, &r->d, r->result_of[map[i]]));
        if (seen[k] == each || count % own) return false; /* results of different numbers of values */
        order[seen[k]++ * own + k] = (int32_t)i;
    }
    for (int64_t k = 0; k < each; k++) terms[k] = tile_pick(e, values, order + k * own, own);
    for (int64_t n = each; n > 1; n = (n + 1) / 2)
        for (int64_t k = 0; k < n / 2; k++) terms[k] = tile_combine(e, kind, terms[k], terms[n - 1 - k]);
    out->values = terms[0];
    return !e->failed;
}

void tile_add_to_reduction(tile_emitter *e, tile_reduction *r, MlirValue values, const int32_t *map,
                           int64_t count)
{
    tile_partial own;
    sharers l;
    int axis = (int)cute_tile_number(r->t->op, "mode", 0);
    if (e->failed || !reduce_part(e, r, values, map, count, &own)) {
        e->failed = true;
        return;
    }
    find_lanes(e, &r->t->in[0], axis, &l);
    if (l.warps > 1 && axis != r->t->in[0].shape.rank - 1) {
        /* Each part has results of its own: lanes divide them at once, so that few are in registers. */
        int steps = 0;
        while (steps < l.count && own.count >> (steps + 1)) steps++;
        combine_steps(e, r, &l, 0, steps, &own);
    } else if (r->count) {
        tile_partial *all = &r->partial[0];
        if (all->count != own.count ||
            memcmp(all->places, own.places, (size_t)own.count * sizeof *own.places) != 0)
            e->failed = true;
        else
            all->values = tile_combine(e, cute_tile_word(r->t->op, "kind"), all->values, own.values);
        return;
    }
    if (r->count == tile_values(&r->d))
        e->failed = true;
    else
        r->partial[r->count++] = own;
}

void tile_finish_band(tile_emitter *e, tile_reduction *r)
{
    tile_partial *band = &r->partial[0];
    MlirStringRef kind = cute_tile_word(r->t->op, "kind");
    sharers l;
    if (e->failed || r->count != 1) return;
    find_lanes(e, &r->t->in[0], (int)cute_tile_number(r->t->op, "mode", 0), &l);
    if (l.warps > 1) return;
    for (int i = 0; i < l.count; i++)
        band->values = tile_combine(e, kind, band->values,
                                    shuffle_vector(e, band->values, tile_i32(e, l.steps[i]), "bfly"));
    if (mlirValueIsNull(r->whole))
        r->whole = band->values;
    else
        r->whole = tile_combine(e, kind, r->whole, band->values);
    r->count = 0;
}

MlirValue tile_end_reduction(tile_emitter *e, tile_reduction *r)
{
    tile_partial all = {.places = cute_arena_array(e->arena, (size_t)tile_values(&r->d), sizeof *all.places)};
    if (!mlirValueIsNull(r->whole)) return r->whole;
    if (!all.places || !r->count) e->failed = true;
    for (int i = 0; i < r->count && !e->failed; i++) {
        const tile_partial *p = &r->partial[i];
        memcpy(all.places + all.count, p->places, (size_t)p->count * sizeof *p->places);
        all.count += p->count;
        all.values = i ? tile_concat(e, all.values, p->values) : p->values;
    }
    return reduce_threads(e, r, &r->d, &all);
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
