/* Decides injectivity and contiguity from strides.
 *
 * Two coordinates of (s0,s1,...):(d0,d1,...) have the same index iff there is an x other than 0 with x0*d0 +
 * x1*d1 + ... = 0 and |xi| < si. In order of |d|, a mode whose stride exceeds the combined reach of the modes
 * below it has x = 0 and can be dropped; this eliminates all modes of compact and most other layouts. The
 * remaining modes are searched from the largest stride down, bounded by the reach and the greatest common
 * divisor of the strides below. */
#include "lib/layout/facts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/sort.h"
#include "lib/layout/algebra.h"

enum { SEARCH_STEPS = 100000, MOST_POINTS = 65536, MOST_EVALUATIONS = 16384, MOST_MODES = 64 };

typedef struct mode {
    int64_t extent, stride; /* extent at least 2; stride: magnitude */
    bool negative;
    cute_node basis; /* determines the path; NULL: an integer stride */
} mode;

/* ---- modes ---- */

static int compare_paths(cute_node x, cute_node y)
{
    if (!x || !y) return (x != NULL) - (y != NULL);
    for (uint32_t i = 0; i < x->count && i < y->count; i++)
        if (x->path[i] != y->path[i]) return x->path[i] < y->path[i] ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

static int compare_modes(const void *left, const void *right)
{
    const mode *x = left, *y = right;
    int order = compare_paths(x->basis, y->basis);
    return order ? order : (x->stride > y->stride) - (x->stride < y->stride);
}

/* Modes of extent 2 and more, sorted by path and stride; NULL: not all are known, or out of memory. */
static mode *collect_modes(cute_algebra *a, cute_layout layout, size_t *count)
{
    cute_node shape = alg_flatten_to_tuple(a, layout.shape), stride = alg_flatten_to_tuple(a, layout.stride);
    mode *modes = shape ? cute_arena_array(a->arena, shape->count ? shape->count : 1, sizeof *modes) : NULL;
    *count = 0;
    if (!modes || !stride) return NULL;
    for (uint32_t i = 0; i < shape->count; i++) {
        cute_node s = shape->items[i], d = stride->items[i];
        if (!alg_is_known(s) || !d->value.known || d->value.value == INT64_MIN) return NULL;
        if (s->value.value < 2) continue;
        modes[(*count)++] = (mode){.extent = s->value.value,
                                   .stride = d->value.value < 0 ? -d->value.value : d->value.value,
                                   .negative = d->value.value < 0,
                                   .basis = d->kind == CUTE_TREE_BASIS && d->count ? d : NULL};
    }
    cute_sort(modes, *count, sizeof *modes, compare_modes);
    return modes;
}

/* The sum of (s - 1) * d; false on overflow. */
static bool reach_of(const mode *modes, size_t count, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t step;
        if (!cute_mul64(modes[i].extent - 1, modes[i].stride, &step) || !cute_add64(*out, step, out))
            return false;
    }
    return true;
}

/* The product of the extents, at most INT64_MAX. */
static int64_t points_of(const mode *modes, size_t count)
{
    int64_t points = 1;
    for (size_t i = 0; i < count; i++)
        if (!cute_mul64(points, modes[i].extent, &points)) return INT64_MAX;
    return points;
}

/* ---- injectivity ---- */

typedef struct search {
    const mode *modes;
    int64_t reach[MOST_MODES], divisor[MOST_MODES]; /* of the modes below */
    int64_t steps;
} search;

/* True if there is an x for modes 0..i with x*d + rest = 0, and x != 0 if `trivial`. |rest| is within
 * reach. */
static bool collides(search *s, size_t i, int64_t rest, bool trivial)
{
    if (rest == 0 && !trivial) return true;
    const mode *m = &s->modes[i];
    int64_t d = m->stride, reach = s->reach[i];
    if (i == 0) {
        if (trivial) return false;
        int64_t x = rest / d;
        return rest % d == 0 && -m->extent < x && x < m->extent;
    }
    /* While all modes above are 0, x and -x are equivalent. */
    int64_t low = trivial ? 0 : -(m->extent - 1), high = m->extent - 1;
    __int128 least = -(__int128)reach - rest, most = (__int128)reach - rest;
    __int128 from = least / d, to = most / d;
    if (least > 0 && least % d) from++;
    if (most < 0 && most % d) to--;
    if (from > low) low = (int64_t)from;
    if (to < high) high = (int64_t)to;
    int64_t g = s->divisor[i], step = 1;
    for (__int128 x = low; x <= high; x += step) {
        if (--s->steps < 0) return false;
        int64_t here = (int64_t)(rest + x * d);
        if (here % g) continue;
        step = g / (int64_t)cute_gcd(
                       (uint64_t)(d % g),
                       (uint64_t)g); /* distance between values of x at which `here` is a multiple of g */
        if (collides(s, i - 1, here, trivial && x == 0)) return true;
    }
    return false;
}

/* The modes have the same path. */
static cute_truth injective(const mode *modes, size_t count)
{
    int64_t reach;
    if (count && modes[0].stride == 0) return CUTE_NO;
    if (!reach_of(modes, count, &reach)) return CUTE_UNDECIDED;
    while (count) { /* a stride larger than the reach of all below */
        int64_t below = reach - (modes[count - 1].extent - 1) * modes[count - 1].stride;
        if (modes[count - 1].stride <= below) break;
        reach = below;
        count--;
    }
    if (!count) return CUTE_YES;
    int64_t divisor = 0;
    for (size_t i = 0; i < count; i++)
        divisor = (int64_t)cute_gcd((uint64_t)modes[i].stride, (uint64_t)divisor);
    if (points_of(modes, count) - 1 > reach / divisor) return CUTE_NO; /* more coordinates than indices */
    if (count > MOST_MODES) return CUTE_UNDECIDED;
    search s = {.modes = modes, .steps = SEARCH_STEPS};
    for (size_t i = 1; i < count; i++) {
        s.reach[i] = s.reach[i - 1] + (modes[i - 1].extent - 1) * modes[i - 1].stride;
        s.divisor[i] = (int64_t)cute_gcd((uint64_t)modes[i - 1].stride, (uint64_t)s.divisor[i - 1]);
    }
    if (collides(&s, count - 1, 0, true)) return CUTE_NO;
    return s.steps < 0 ? CUTE_UNDECIDED : CUTE_YES;
}

/* ---- contiguity ---- */

/* Sorted strides reach every number iff each stride is at most one more than the reach of those below; each
 * number is reached once iff there are as many coordinates as numbers. */
static cute_truth contiguous(const mode *modes, size_t count)
{
    int64_t reach = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t step;
        if (modes[i].stride == 0 || modes[i].stride - 1 > reach) return CUTE_NO;
        if (!cute_mul64(modes[i].extent - 1, modes[i].stride, &step) || !cute_add64(reach, step, &reach))
            return CUTE_UNDECIDED;
    }
    return points_of(modes, count) - 1 == reach ? CUTE_YES : CUTE_NO;
}

static cute_truth combine_truths(cute_truth x, cute_truth y)
{
    if (x == CUTE_NO || y == CUTE_NO) return CUTE_NO;
    return x == CUTE_YES && y == CUTE_YES ? CUTE_YES : CUTE_UNDECIDED;
}

/* Paths are independent: the property must hold for each. */
static cute_truth for_each_path(const mode *modes, size_t count, cute_truth (*holds)(const mode *, size_t))
{
    cute_truth all = CUTE_YES;
    for (size_t begin = 0, end; begin < count && all != CUTE_NO; begin = end) {
        for (end = begin + 1; end < count && !compare_paths(modes[begin].basis, modes[end].basis);) end++;
        all = combine_truths(all, holds(modes + begin, end - begin));
    }
    return all;
}

/* ---- composed layouts ---- */

static int compare_numbers(const void *left, const void *right)
{
    int64_t x = *(const int64_t *)left, y = *(const int64_t *)right;
    return (x > y) - (x < y);
}

static int64_t swizzle_index(cute_swizzle s, int64_t index)
{
    uint64_t ones = ((uint64_t)1 << s.bits) - 1, x = (uint64_t)index;
    uint64_t y = x & (ones << (s.base + (s.shift > 0 ? s.shift : 0)));
    return (int64_t)(x ^ (s.shift >= 0 ? y >> s.shift : y << -s.shift));
}

/* A swizzle is a bijection of the integers: it preserves injectivity, and maps whole aligned blocks to
 * themselves, so these remain contiguous. Other cases are enumerated. */
static void judge_swizzled(const cute_value *v, const mode *modes, size_t count, int64_t size,
                           cute_layout_facts *out)
{
    int64_t reach, low;
    if (!alg_is_known(v->tree) || !reach_of(modes, count, &reach)) return;
    low = v->tree->value.value;
    for (size_t i = 0; i < count; i++)
        if (modes[i].negative && !cute_sub64(low, (modes[i].extent - 1) * modes[i].stride, &low)) return;
    if (!cute_add64(low, reach, &reach)) return;
    if (out->injective == CUTE_NO) {
        out->contiguous = CUTE_NO;
        return;
    }
    int width = v->swizzle.base + v->swizzle.bits + abs(v->swizzle.shift);
    int64_t block = (int64_t)1 << width;
    cute_truth plain = contiguous(modes, count);
    if (plain == CUTE_YES && (v->swizzle.bits == 0 || (low % block == 0 && size % block == 0))) {
        out->contiguous = CUTE_YES;
        return;
    }
    if (size > MOST_POINTS || out->injective != CUTE_YES) return;
    int64_t at[MOST_MODES] = {0}, index = v->tree->value.value, least = INT64_MAX, most = INT64_MIN;
    if (count > MOST_MODES) return;
    for (int64_t n = 0; n < size; n++) {
        int64_t x = swizzle_index(v->swizzle, index);
        if (x < least) least = x;
        if (x > most) most = x;
        for (size_t i = 0; i < count; i++) {
            int64_t step = modes[i].negative ? -modes[i].stride : modes[i].stride;
            if (++at[i] < modes[i].extent) {
                index += step;
                break;
            }
            at[i] = 0;
            index -= (modes[i].extent - 1) * step;
        }
    }
    int64_t span;
    out->contiguous = cute_sub64(most, least, &span) && span == size - 1 ? CUTE_YES : CUTE_NO;
}

/* A layout applied to a layout: all indices are computed. */
static void judge_composed(cute_arena *arena, const cute_value *v, int64_t size, cute_layout_facts *out)
{
    int64_t *indices =
        size <= MOST_EVALUATIONS ? cute_arena_array(arena, (size_t)size, sizeof *indices) : NULL;
    cute_arena *scratch = NULL;
    if (!indices) return;
    for (int64_t n = 0; n < size; n++) {
        if (n % 256 == 0) {
            cute_arena_destroy(scratch);
            scratch = cute_arena_create();
        }
        cute_value in[2] = {{.type = CUTE_COORD}, *v}, index;
        in[0].tree = scratch ? cute_tree_number(scratch, n) : NULL;
        if (!in[0].tree ||
            cute_apply(scratch, NULL, CUTE_OP_LAYOUT_EVAL, in, 2, NULL, &index, NULL) != CUTE_OK ||
            !alg_is_known(index.tree)) {
            cute_arena_destroy(scratch);
            return;
        }
        indices[n] = index.tree->value.value;
    }
    cute_arena_destroy(scratch);
    cute_sort(indices, (size_t)size, sizeof *indices, compare_numbers);
    out->injective = out->contiguous = CUTE_YES;
    for (int64_t n = 1; n < size; n++) {
        if (indices[n] == indices[n - 1]) out->injective = CUTE_NO;
        if (indices[n] - 1 != indices[n - 1]) out->contiguous = CUTE_NO;
    }
}

/* ---- entry point ---- */

static bool known_number(cute_arena *arena, cute_operation operation, const cute_value *value, int64_t *out)
{
    cute_value number;
    if (cute_apply(arena, NULL, operation, value, 1, NULL, &number, NULL) != CUTE_OK ||
        !alg_is_known(number.tree))
        return false;
    *out = number.tree->value.value;
    return true;
}

void cute_layout_facts_of(cute_arena *arena, const cute_value *value, cute_layout_facts *out)
{
    *out = (cute_layout_facts){0};
    if (value->type != CUTE_LAYOUT && value->type != CUTE_COMPOSED_LAYOUT) return;
    cute_algebra a = {.arena = arena};
    out->has_size = known_number(arena, CUTE_OP_SIZE, value, &out->size);
    out->has_cosize = known_number(arena, CUTE_OP_COSIZE, value, &out->cosize);
    size_t count;
    mode *modes = collect_modes(&a, value->layout, &count);
    if (!modes) return;
    if (value->inner.shape) {
        if (out->has_size) judge_composed(arena, value, out->size, out);
        return;
    }
    out->injective = for_each_path(modes, count, injective);
    if (value->type == CUTE_LAYOUT)
        out->contiguous = for_each_path(modes, count, contiguous);
    else if (out->has_size)
        judge_swizzled(value, modes, count, out->size, out);
}
