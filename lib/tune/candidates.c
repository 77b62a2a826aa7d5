/* Combinations of parameters, and the order in which candidates are tried. */
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/sort.h"
#include "lib/tune/tune.h"

/* ---- combinations ---- */

static size_t values_of(const tune_param *p)
{
    return p->count ? p->count : 1;
}

/* Value `digit` of a parameter, the default before the others. */
static const char *value_at(const tune_param *p, size_t digit)
{
    size_t first = 0;
    if (!p->count) return p->value;
    while (first < p->count && strcmp(p->candidates[first], p->value) != 0) first++;
    if (first == p->count) return p->candidates[digit];
    return digit == 0 ? p->value : p->candidates[digit <= first ? digit - 1 : digit];
}

static cute_status write_combination(cute_arena *arena, const tune_param *params, size_t count,
                                     uint64_t index, const char **out, cute_diag *diag)
{
    for (size_t i = count; i-- > 0;) {
        size_t values = values_of(&params[i]);
        out[i] =
            cute_arena_printf(arena, "%s=%s", params[i].name, value_at(&params[i], (size_t)(index % values)));
        if (!out[i]) return cute_fail_memory(diag);
        index /= values;
    }
    return CUTE_OK;
}

/* SplitMix64. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int compare_indices(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* `most` different numbers below `all`, 0 among them, ascending (Floyd's sample). */
static void draw(uint64_t *out, size_t most, uint64_t all, uint64_t seed)
{
    size_t count = 0;
    out[count++] = 0;
    for (uint64_t i = all - (most - 1); count < most; i++) {
        uint64_t picked = 1 + next_random(&seed) % i;
        for (size_t k = 1; k < count; k++)
            if (out[k] == picked) picked = i;
        out[count++] = picked;
    }
    cute_sort(out, most, sizeof *out, compare_indices);
}

cute_status tune_combinations(cute_arena *arena, const tune_param *params, size_t count, size_t most,
                              uint64_t seed, const char ***out, size_t *drawn, int64_t *all, cute_diag *diag)
{
    *all = 1;
    for (size_t i = 0; i < count; i++)
        if (!cute_mul64(*all, (int64_t)values_of(&params[i]), all)) *all = INT64_MAX;
    *drawn = *all > (int64_t)most ? most : (size_t)*all;
    *out = cute_arena_array(arena, *drawn * count + 1, sizeof **out);
    uint64_t *indices = cute_arena_array(arena, *drawn, sizeof *indices);
    if (!*out || !indices) return cute_fail_memory(diag);
    for (size_t i = 0; i < *drawn; i++) indices[i] = i;
    if (*all > (int64_t)most) draw(indices, most, (uint64_t)*all, seed);
    for (size_t i = 0; i < *drawn; i++)
        CUTE_TRY(write_combination(arena, params, count, indices[i], *out + i * count, diag));
    return CUTE_OK;
}

size_t tune_distance(const tune_param *params, size_t count, const char *const *defines)
{
    size_t differ = 0;
    for (size_t i = 0; i < count; i++) differ += strcmp(strchr(defines[i], '=') + 1, params[i].value) != 0;
    return differ;
}

/* ---- ranking ---- */

/* Schedules of one combination are alike: where estimates are about the same, another combination teaches more. */
static double rank_time(const tune_candidate *c)
{
    const double again = 0.03;
    return c->estimate * (1 + again * (double)c->place);
}

static int compare_candidates(const void *a, const void *b)
{
    const tune_candidate *x = a, *y = b;
    if ((x->estimate > 0) != (y->estimate > 0)) return x->estimate > 0 ? -1 : 1;
    double tx = rank_time(x), ty = rank_time(y);
    if (tx != ty) return tx < ty ? -1 : 1;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void tune_rank(tune_candidate *candidates, size_t count)
{
    cute_sort(candidates, count, sizeof *candidates, compare_candidates);
}

const char *tune_defines_text(cute_arena *arena, const tune_candidate *c)
{
    const char *text = c->define_count ? "" : "defaults";
    for (size_t i = 0; i < c->define_count && text; i++)
        text = cute_arena_printf(arena, "%s%s%s", text, i ? " " : "", c->defines[i]);
    return text ? text : "";
}
