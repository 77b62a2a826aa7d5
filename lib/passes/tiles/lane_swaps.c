/* See lane_swaps.h. */
#include "lib/passes/tiles/lane_swaps.h"

#include "lib/ir/mlir/util.h"

/* A distribution with each mode of an even extent as several, of extent 2. */
typedef struct bits {
    tile_distribution d;
    bool ok; /* its lanes are bits */
} bits;

static bool split_modes(const tile_modes *modes, tile_modes *out)
{
    out->count = 0;
    for (int i = 0; i < modes->count; i++) {
        tile_mode m = modes->at[i];
        while (m.extent > 1) {
            if (out->count == TILE_MODES) return false;
            int64_t extent = m.extent % 2 ? m.extent : 2;
            out->at[out->count++] = (tile_mode){extent, m.dim, m.step};
            m.extent /= extent;
            m.step *= extent;
        }
    }
    return true;
}

static bits split(const tile_distribution *d)
{
    bits b = {.d = *d};
    b.ok = split_modes(&d->threads, &b.d.threads) && split_modes(&d->values, &b.d.values) &&
           b.d.threads.count >= TILE_LANE_BITS;
    for (int i = 0; b.ok && i < TILE_LANE_BITS; i++)
        b.ok = b.d.threads.at[i].extent == 2 && b.d.threads.at[i].dim != TILE_COPIES;
    return b;
}

static int find_bit(const tile_modes *modes, int count, int dim, int64_t step)
{
    for (int i = 0; i < count; i++)
        if (modes->at[i].extent == 2 && modes->at[i].dim == dim && modes->at[i].step == step) return i;
    return -1;
}

static void swap(bits *b, int value, int lane)
{
    tile_mode kept = b->d.values.at[value];
    b->d.values.at[value] = b->d.threads.at[lane];
    b->d.threads.at[lane] = kept;
}

/* A mode of extent 2 outside of the run; -1: none. */
static int find_other(const tile_modes *modes, int count, int dim, int64_t run)
{
    for (int i = 0; i < count; i++)
        if (modes->at[i].extent == 2 && (modes->at[i].dim != dim || modes->at[i].step >= run)) return i;
    return -1;
}

bool tile_lanes_along(const tile_distribution *from, int dim, int64_t run, int64_t vector,
                      tile_distribution *out)
{
    bits b = split(from);
    if (!b.ok) return false;
    for (int64_t step = 1; step < run; step *= 2) {
        int value = find_bit(&b.d.values, b.d.values.count, dim, step),
            lane = find_bit(&b.d.threads, TILE_LANE_BITS, dim, step);
        if (value < 0 && lane < 0) return false;
        if (step < vector && lane >= 0) value = find_other(&b.d.values, b.d.values.count, dim, run);
        if (step >= vector && value >= 0) lane = find_other(&b.d.threads, TILE_LANE_BITS, dim, run);
        bool is_right = step < vector ? lane < 0 : value < 0;
        if (is_right) continue;
        if (value < 0 || lane < 0) return false;
        swap(&b, value, lane);
    }
    *out = b.d;
    tile_normalize(out);
    tile_adjacent_first(out, dim);
    return true;
}

bool tile_find_swaps(const tile_distribution *from, const tile_distribution *to, tile_lane_swaps *out,
                     tile_distribution *after)
{
    bits b = split(from), wanted = split(to);
    out->count = 0;
    if (!b.ok || !wanted.ok || b.d.threads.count != wanted.d.threads.count) return false;
    for (int lane = 0; lane < b.d.threads.count; lane++) {
        const tile_mode *has = &b.d.threads.at[lane], *wants = &wanted.d.threads.at[lane];
        if (has->extent == wants->extent && has->dim == wants->dim && has->step == wants->step) continue;
        int value = find_bit(&b.d.values, b.d.values.count, wants->dim, wants->step);
        if (lane >= TILE_LANE_BITS || value < 0) return false;
        int64_t distance = 1;
        for (int i = 0; i < value; i++) distance *= b.d.values.at[i].extent;
        out->at[out->count].value = distance;
        out->at[out->count++].lane = lane;
        swap(&b, value, lane);
    }
    *after = b.d;
    tile_normalize(after);
    return true;
}

static MlirValue swap_words(tile_emitter *e, MlirValue value, const tile_lane_swaps *swaps)
{
    int64_t count = cute_vector_count(mlirValueGetType(value));
    for (int i = 0; i < swaps->count; i++) {
        int64_t distance = swaps->at[i].value;
        MlirValue bit = tile_i32(e, INT64_C(1) << swaps->at[i].lane),
                  is_set = cute_compare(&e->b, CUTE_IS_NE, cute_binary(&e->b, "arith.andi", e->thread, bit),
                                        tile_i32(e, 0));
        for (int64_t v = 0; v < count && !e->failed; v++) {
            if (v / distance % 2) continue;
            MlirValue low = cute_vector_extract(&e->b, value, v),
                      high = cute_vector_extract(&e->b, value, v + distance);
            MlirValue sent = cute_select(&e->b, is_set, low, high), come = tile_shuffle(e, sent, bit, "bfly");
            value = cute_vector_insert(&e->b, value, cute_select(&e->b, is_set, come, low), v);
            value = cute_vector_insert(&e->b, value, cute_select(&e->b, is_set, high, come), v + distance);
        }
    }
    return value;
}

/* A vector of words of 32 bits where no swap is of elements in one word: pairs of 16 bits, or more. */
static MlirValue as_words(tile_emitter *e, MlirValue value, tile_lane_swaps *swaps)
{
    enum { WORD = 32 };
    MlirType type = mlirValueGetType(value), element = cute_type_element(type);
    int64_t width = cute_tile_bits(element), each = width && width < WORD ? WORD / width : 1,
            count = cute_vector_count(type);
    bool ok = each > 1 && count % each == 0;
    for (int i = 0; i < swaps->count; i++) ok = ok && swaps->at[i].value % each == 0;
    if (!ok) return value;
    for (int i = 0; i < swaps->count; i++) swaps->at[i].value /= each;
    return cute_unary(&e->b, "vector.bitcast", value, tile_vector_type(tile_i32_type(e), count / each));
}

MlirValue tile_swap_lanes(tile_emitter *e, MlirValue value, const tile_lane_swaps *swaps)
{
    MlirType type = mlirValueGetType(value);
    tile_lane_swaps own = *swaps;
    value = swap_words(e, as_words(e, value, &own), &own);
    return mlirTypeEqual(type, mlirValueGetType(value)) ? value
                                                        : cute_unary(&e->b, "vector.bitcast", value, type);
}
