/* Exhaustive test of compositions: the rules of composition.c are sufficient, not necessary, so a composition
 * that violates them may still be a layout.
 *
 * B's coordinate is a vector with one number for each (sub)layout of A that B's strides name (a single one
 * for integer strides); A's index is a vector with one number for each basis vector of A's strides. All are
 * int64_t arrays: testing 65536 elements takes about a millisecond. */
#include "lib/layout/trial.h"

#include <string.h>

#include "lib/base/numbers/checked.h"

/* ---- flat layouts of integers ---- */

static bool flatten_layout(cute_node shape, cute_node stride, alg_flat *out)
{
    if (alg_is_leaf(shape)) {
        if (!alg_is_known(shape) || !alg_is_known(stride)) return false;
        out->extent[out->count] = shape->value.value;
        out->stride[out->count++] = stride->value.value;
        return true;
    }
    for (uint32_t i = 0; i < shape->count; i++)
        if (!flatten_layout(shape->items[i], stride->items[i], out)) return false;
    return true;
}

bool alg_flat_of(cute_algebra *a, cute_layout layout, alg_flat *out)
{
    size_t leaves = layout.shape->leaves ? layout.shape->leaves : 1;
    out->count = 0;
    out->extent = cute_arena_array(a->arena, leaves, sizeof *out->extent);
    out->stride = cute_arena_array(a->arena, leaves, sizeof *out->stride);
    if (!out->extent || !out->stride) return alg_exhausted(a) != NULL;
    return flatten_layout(layout.shape, layout.stride, out);
}

bool alg_flat_at(const alg_flat *f, int64_t i, int64_t *out)
{
    *out = 0;
    for (size_t k = 0; k < f->count; k++) {
        int64_t digit = k + 1 < f->count ? i % f->extent[k] : i, part;
        if (!cute_mul64(digit, f->stride[k], &part) || !cute_add64(*out, part, out)) return false;
        i /= f->extent[k];
    }
    return true;
}

/* ---- A(B(i)) ---- */

enum { MOST_SLOTS = 64 };

typedef struct digit {
    int64_t extent, stride;
    uint32_t slot; /* index into the index vector: the basis vector that the stride scales */
} digit;

/* A (sub)layout of A that strides of B name. */
typedef struct walked {
    const cute_tree *shape; /* identifies it */
    digit *digits;
    size_t count;
} walked;

typedef struct step {
    int64_t extent, stride;
    uint32_t mode; /* index of the walked (sub)layout */
} step;

typedef struct trial {
    cute_algebra *a;
    cute_layout outer;
    walked *modes;
    size_t mode_count;
    step *steps; /* B, flat */
    size_t step_count;
    cute_node *slots; /* strides of A that represent the basis vectors; NULL: integers */
    size_t slot_count;
    int64_t size, cost; /* size of B; digits to evaluate per element */
} trial;

static bool same_path(cute_node x, cute_node y)
{
    if (!x || !y) return x == y;
    return x->count == y->count && !memcmp(x->path, y->path, x->count * sizeof *x->path);
}

/* The slot of a stride, or slot_count. */
static uint32_t find_slot(const trial *t, cute_node stride)
{
    cute_node key = stride->kind == CUTE_TREE_BASIS ? stride : NULL;
    uint32_t i = 0;
    while (i < t->slot_count && !same_path(t->slots[i], key)) i++;
    return i;
}

static bool add_slots(trial *t, cute_node stride)
{
    if (!alg_is_leaf(stride)) {
        for (uint32_t i = 0; i < stride->count; i++)
            if (!add_slots(t, stride->items[i])) return false;
        return true;
    }
    if (!stride->value.known) return false;
    if (find_slot(t, stride) == t->slot_count)
        t->slots[t->slot_count++] = stride->kind == CUTE_TREE_BASIS ? stride : NULL;
    return t->slot_count < MOST_SLOTS; /* layouts with more basis vectors are not tested */
}

static bool add_digits(const trial *t, cute_node shape, cute_node stride, walked *out)
{
    if (!alg_is_leaf(shape)) {
        for (uint32_t i = 0; i < shape->count; i++)
            if (!add_digits(t, shape->items[i], stride->items[i], out)) return false;
        return true;
    }
    if (!alg_is_known(shape)) return false;
    out->digits[out->count++] = (digit){shape->value.value, stride->value.value, find_slot(t, stride)};
    return true;
}

/* Finds or adds the part of A that a stride of B names. */
static bool find_walked(trial *t, cute_node stride, uint32_t *out)
{
    cute_layout mode = t->outer;
    for (uint32_t i = 0; stride->kind == CUTE_TREE_BASIS && i < stride->count; i++) {
        if (alg_is_leaf(mode.shape) || (uint32_t)stride->path[i] >= mode.shape->count) return false;
        mode = alg_layout_mode(mode, (size_t)stride->path[i]);
    }
    for (*out = 0; *out < t->mode_count; ++*out)
        if (t->modes[*out].shape == mode.shape) return true;
    walked *w = &t->modes[t->mode_count++];
    w->shape = mode.shape;
    w->digits = cute_arena_array(t->a->arena, mode.shape->leaves ? mode.shape->leaves : 1, sizeof *w->digits);
    if (!w->digits) return alg_exhausted(t->a) != NULL;
    if (!add_digits(t, mode.shape, mode.stride, w) || w->count == 0) return false;
    t->cost += (int64_t)w->count;
    return true;
}

static bool add_steps(trial *t, cute_node shape, cute_node stride)
{
    if (!alg_is_leaf(shape)) {
        for (uint32_t i = 0; i < shape->count; i++)
            if (!add_steps(t, shape->items[i], stride->items[i])) return false;
        return true;
    }
    if (!alg_is_known(shape) || !stride->value.known || shape->value.value < 1) return false;
    step s = {shape->value.value, stride->value.value, 0};
    /* 0 is valid in every part of A and needs no entry */
    if (s.stride != 0 && !find_walked(t, stride, &s.mode)) return false;
    t->steps[t->step_count++] = s;
    return cute_mul64(t->size, s.extent, &t->size) && t->size <= ALG_TRIAL_LIMIT;
}

static bool start_trial(cute_algebra *a, cute_layout outer, cute_layout inner, trial *t)
{
    *t = (trial){.a = a, .outer = outer, .size = 1, .cost = 1};
    size_t leaves = outer.shape->leaves, steps = inner.shape->leaves;
    t->slots = cute_arena_array(a->arena, leaves ? leaves : 1, sizeof *t->slots);
    t->modes = cute_arena_array(a->arena, steps ? steps : 1, sizeof *t->modes);
    t->steps = cute_arena_array(a->arena, steps ? steps : 1, sizeof *t->steps);
    if (!t->slots || !t->modes || !t->steps) return alg_exhausted(a) != NULL;
    return leaves && add_slots(t, outer.stride) && add_steps(t, inner.shape, inner.stride) &&
           t->size <= ALG_TRIAL_LIMIT / t->cost;
}

/* Adds the index of `coord` in one part of A to the vector. */
static bool add_index(const walked *w, int64_t coord, int64_t *index)
{
    for (size_t k = 0; k < w->count; k++) {
        const digit *d = &w->digits[k];
        int64_t here = k + 1 < w->count ? coord % d->extent : coord, part;
        if (!cute_mul64(here, d->stride, &part) || !cute_add64(index[d->slot], part, &index[d->slot]))
            return false;
        coord /= d->extent;
        if (coord == 0) break;
    }
    return true;
}

/* ---- test of a given R ---- */

typedef struct counter {
    int64_t at;
    digit mode; /* of R */
} counter;

static bool add_counters(const trial *t, cute_node shape, cute_node stride, counter *out, size_t *count)
{
    if (!alg_is_leaf(shape)) {
        for (uint32_t i = 0; i < shape->count; i++)
            if (!add_counters(t, shape->items[i], stride->items[i], out, count)) return false;
        return true;
    }
    if (!alg_is_known(shape) || !stride->value.known) return false;
    digit d = {shape->value.value, stride->value.value, find_slot(t, stride)};
    if (d.slot == t->slot_count) {
        if (d.stride != 0 && d.extent != 1) return false;
        d.stride = d.slot = 0;
    }
    out[(*count)++] = (counter){0, d};
    return true;
}

/* Advances R's coordinate and updates the index. */
static bool advance_counters(counter *c, size_t count, int64_t *index)
{
    for (size_t k = 0; k < count; k++) {
        int64_t *sum = &index[c[k].mode.slot], back;
        if (++c[k].at < c[k].mode.extent) return cute_add64(*sum, c[k].mode.stride, sum);
        if (!cute_mul64(c[k].at - 1, c[k].mode.stride, &back) || !cute_sub64(*sum, back, sum)) return false;
        c[k].at = 0;
    }
    return true;
}

/* Coordinate i of B, as one number for each part of A. */
static bool coordinate_at(const trial *t, int64_t i, int64_t *coord)
{
    for (size_t k = 0; k < t->mode_count; k++) coord[k] = 0;
    for (size_t k = 0; k < t->step_count && i; k++) {
        const step *s = &t->steps[k];
        int64_t part;
        if (s->stride && (!cute_mul64(i % s->extent, s->stride, &part) ||
                          !cute_add64(coord[s->mode], part, &coord[s->mode])))
            return false;
        i /= s->extent;
    }
    return true;
}

alg_verdict alg_try_composition(cute_algebra *a, cute_layout outer, cute_layout inner, cute_layout result,
                                int64_t *bad)
{
    cute_algebra scratch = {.arena = cute_arena_create()};
    trial t;
    size_t count = 0;
    alg_verdict verdict = ALG_UNDECIDED;
    *bad = -1;
    if (!scratch.arena) return alg_exhausted(a), ALG_UNDECIDED;
    counter *counters =
        cute_arena_array(scratch.arena, result.shape->leaves ? result.shape->leaves : 1, sizeof *counters);
    if (!counters || !start_trial(&scratch, outer, inner, &t)) goto out;
    int64_t index[MOST_SLOTS], direct[MOST_SLOTS] = {0},
                               *coord = cute_arena_array(scratch.arena, t.mode_count + 1, sizeof *coord);
    if (!coord) goto out;
    verdict = ALG_WRONG;
    if (!add_counters(&t, result.shape, result.stride, counters, &count)) goto out;
    for (int64_t i = 0; i < t.size; i++) {
        bool right = coordinate_at(&t, i, coord);
        memset(index, 0, t.slot_count * sizeof *index);
        for (size_t k = 0; right && k < t.mode_count; k++) right = add_index(&t.modes[k], coord[k], index);
        if (!right || memcmp(index, direct, t.slot_count * sizeof *index) != 0 ||
            !advance_counters(counters, count, direct)) {
            *bad = i;
            goto out;
        }
    }
    verdict = ALG_RIGHT;
out:
    cute_arena_destroy(scratch.arena);
    return verdict;
}

/* ---- search for R ---- */

/* A(c * stride) of one mode of B, as a vector. */
static bool index_at(const trial *t, const step *s, int64_t c, int64_t *index)
{
    int64_t coord;
    memset(index, 0, t->slot_count * sizeof *index);
    return cute_mul64(c, s->stride, &coord) && add_index(&t->modes[s->mode], coord, index);
}

/* An index as a stride: an integer or a scaled basis vector; NULL for a sum of several. */
static cute_node index_as_stride(cute_algebra *a, const trial *t, const int64_t *index)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < t->slot_count; i++) {
        if (index[i] == 0) continue;
        if (index[found] != 0 && found != i) return NULL;
        found = i;
    }
    cute_node key = index[found] ? t->slots[found] : NULL;
    cute_int value = {.known = true, .value = index[found]};
    return key ? alg_basis(a, value, key->path, key->count) : alg_scalar(a, value);
}

/* The number of leading steps whose index is a multiple of the first. */
static int64_t straight_run(const trial *t, const step *s, const int64_t *first)
{
    int64_t index[MOST_SLOTS], expected, n = 1;
    for (; n < s->extent; n++) {
        if (!index_at(t, s, n, index)) return n;
        for (size_t i = 0; i < t->slot_count; i++)
            if (!cute_mul64(n, first[i], &expected) || index[i] != expected) return n;
    }
    return n;
}

/* One mode of B: as long as A(c*e) = c*A(e), it is one mode of R; the rest, in steps of that length, is the
 * next mode. */
static cute_layout find_mode(cute_algebra *a, const trial *t, step s)
{
    alg_layouts modes = {0};
    int64_t first[MOST_SLOTS];
    if (s.stride == 0 || s.extent == 1) return (cute_layout){alg_number(a, s.extent), alg_number(a, 0)};
    while (s.extent > 1) {
        cute_node d = index_at(t, &s, 1, first) ? index_as_stride(a, t, first) : NULL;
        int64_t n = d ? straight_run(t, &s, first) : 1;
        if (!d || s.extent % n != 0) return alg_no_layout;
        alg_push_layout(a, &modes, (cute_layout){alg_number(a, n), d});
        s.extent /= n;
        if (s.extent > 1 && (n == 1 || !cute_mul64(s.stride, n, &s.stride))) return alg_no_layout;
    }
    cute_layout result = alg_layouts_tuple(a, &modes);
    return (cute_layout){alg_unwrap(result.shape), alg_unwrap(result.stride)};
}

static cute_layout find_tree(cute_algebra *a, const trial *t, cute_node shape, size_t *next)
{
    if (alg_is_leaf(shape)) return find_mode(a, t, t->steps[(*next)++]);
    alg_layouts list = {0};
    for (uint32_t i = 0; i < shape->count && !list.shapes.failed; i++)
        alg_push_layout(a, &list, find_tree(a, t, shape->items[i], next));
    return alg_layouts_tuple(a, &list);
}

cute_layout alg_find_composition(cute_algebra *a, cute_layout outer, cute_layout inner, bool *tried)
{
    trial t;
    size_t next = 0;
    int64_t bad;
    cute_algebra quiet = {.arena = a->arena};
    *tried = start_trial(&quiet, outer, inner, &t);
    if (!*tried) return alg_no_layout;
    cute_layout result = find_tree(&quiet, &t, inner.shape, &next);
    if (!alg_ok(result) || alg_try_composition(&quiet, outer, inner, result, &bad) != ALG_RIGHT)
        return alg_no_layout;
    return result;
}
