/* Vector width of copies: the number of elements that are contiguous in both tensors at addresses aligned to
 * their size. */
#include "lib/atoms/access.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/numbers/checked.h"

/* A digit of the coordinate of both tensors in mixed radix, fastest first. Strides are in elements. */
typedef struct mixed_digit {
    int64_t extent;
    int64_t step;       /* in the linear coordinate */
    cute_int stride[3]; /* of source, target and predicate */
} mixed_digit;

enum { SOURCE, TARGET, PREDICATE };
static const char *const names[] = {"source", "destination", "predicate"};

typedef struct widening {
    cute_arena *arena;
    cute_diag *diag;
    const cute_value *tensor[3]; /* predicate may be NULL */
    mixed_digit *digits;
    size_t count;
} widening;

/* ---- digits ---- */

/* The leaves of a layout. */
typedef struct leaves {
    int64_t *extent;
    cute_int *stride;
    size_t count;
} leaves;

static cute_status add_leaves(const widening *w, const cute_tree *shape, const cute_tree *stride, leaves *out)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++)
            CUTE_TRY(add_leaves(w, shape->items[i], stride->items[i], out));
        return CUTE_OK;
    }
    if (stride->kind != CUTE_TREE_INT)
        return cute_fail(w->diag, CUTE_INVALID, NULL,
                         "expected a tensor in memory, got strides of coordinates");
    if (!shape->value.known)
        return cute_fail(w->diag, CUTE_INVALID, NULL, "an extent is only known at run time");
    out->extent[out->count] = shape->value.value;
    out->stride[out->count++] = stride->value;
    return CUTE_OK;
}

static cute_status leaves_of(const widening *w, cute_layout layout, leaves *out)
{
    size_t most = layout.shape->leaves + 1;
    out->extent = cute_arena_array(w->arena, most, sizeof *out->extent);
    out->stride = cute_arena_array(w->arena, most, sizeof *out->stride);
    if (!out->extent || !out->stride) return cute_fail_memory(w->diag);
    return add_leaves(w, layout.shape, layout.stride, out);
}

static bool size_of(const leaves *l, int64_t *out)
{
    *out = 1;
    for (size_t i = 0; i < l->count; i++)
        if (!cute_mul64(*out, l->extent[i], out)) return false;
    return true;
}

/* stride * n; an unknown product is a known multiple of n. */
static cute_int scale_stride(cute_int stride, int64_t n)
{
    if (stride.known) {
        if (!cute_mul64(stride.value, n, &stride.value)) stride = (cute_int){.width = 64, .divisor = 1};
        return stride;
    }
    int64_t divisor = stride.divisor ? stride.divisor : 1;
    if (n > 1 && cute_mul64(divisor, n, &divisor)) stride.divisor = divisor;
    return stride;
}

static bool continues_stride(cute_int next, cute_int stride, int64_t extent)
{
    int64_t end;
    return next.known && stride.known && cute_mul64(stride.value, extent, &end) && next.value == end;
}

/* Appends a digit, or extends the previous one if the new one continues it in all tensors. */
static void add_digit(widening *w, const mixed_digit *next)
{
    mixed_digit *last = w->count ? &w->digits[w->count - 1] : NULL;
    bool joined = last != NULL;
    for (int i = 0; i < 3 && joined; i++)
        joined = !w->tensor[i] || continues_stride(next->stride[i], last->stride[i], last->extent);
    if (joined)
        last->extent *= next->extent;
    else if (next->extent > 1)
        w->digits[w->count++] = *next;
}

/* Splits the leaves of all tensors until they have the same extents. */
static cute_status make_digits(widening *w, leaves lists[3])
{
    size_t at[3] = {0}, most = 1;
    int64_t done[3] = {1, 1, 1}, step = 1; /* done: part of the current leaf */
    for (int i = 0; i < 3; i++) most += lists[i].count;
    w->digits = cute_arena_array(w->arena, most, sizeof *w->digits);
    if (!w->digits) return cute_fail_memory(w->diag);
    for (;;) {
        int64_t extent = 0;
        for (int i = 0; i < 3; i++) {
            while (at[i] < lists[i].count && done[i] == lists[i].extent[at[i]]) {
                at[i]++;
                done[i] = 1;
            }
            if (!w->tensor[i] || at[i] == lists[i].count) continue;
            int64_t left = lists[i].extent[at[i]] / done[i];
            if (!extent || left < extent) extent = left;
        }
        if (!extent) return CUTE_OK;
        mixed_digit d = {.extent = extent, .step = step};
        for (int i = 0; i < 3; i++) {
            if (!w->tensor[i]) continue;
            int64_t left = lists[i].extent[at[i]] / done[i];
            if (left % extent)
                return cute_fail(w->diag, CUTE_INVALID, NULL,
                                 "the modes of the %s do not match those of the %s", names[i],
                                 names[i == SOURCE ? TARGET : SOURCE]);
            d.stride[i] = scale_stride(lists[i].stride[at[i]], done[i]);
            done[i] *= extent;
        }
        add_digit(w, &d);
        step *= extent;
    }
}

/* ---- test of one width ---- */

static bool is_multiple(cute_int x, int64_t n)
{
    return x.known ? x.value % n == 0 : x.divisor && x.divisor % n == 0;
}

static const char *text_of(const widening *w, cute_int x)
{
    const cute_tree *leaf = cute_tree_scalar(w->arena, x);
    const char *text = leaf ? cute_tree_text(w->arena, leaf) : NULL;
    return text ? text : "?";
}

/* The number of elements of each digit among `n` elements that are contiguous in both tensors, in their
 * order; returns the product reached. */
static int64_t take_contiguous(const widening *w, int64_t n, int64_t *taken, size_t *order, size_t *ordered)
{
    int64_t reached = 1;
    *ordered = 0;
    for (size_t i = 0; i < w->count; i++) taken[i] = 1;
    for (bool more = true; more && reached < n;) {
        more = false;
        for (size_t i = 0; i < w->count && !more; i++) {
            const mixed_digit *d = &w->digits[i];
            int64_t need = n / reached, part = d->extent < need ? d->extent : need;
            if (taken[i] != 1 || !d->stride[SOURCE].known || !d->stride[TARGET].known ||
                d->stride[SOURCE].value != reached || d->stride[TARGET].value != reached ||
                d->extent % part || need % part)
                continue;
            taken[i] = part;
            order[(*ordered)++] = i;
            reached *= part;
            more = true;
        }
    }
    return reached;
}

static const char *memory_limit(const widening *w, int side, int64_t n, const int64_t *taken)
{
    const cute_value *t = w->tensor[side];
    const cute_pointer *p = t->pointer;
    const char *name = names[side];
    int64_t bytes = n * p->bits / 8;
    if (p->align % bytes)
        return cute_arena_printf(w->arena, "the %s is aligned to %lld bytes, not to %lld", name,
                                 (long long)p->align, (long long)bytes);
    if (p->swizzle.bits && bytes > (int64_t)1 << p->swizzle.base)
        return cute_arena_printf(w->arena, "the swizzle of the %s keeps %lld bytes together", name,
                                 (long long)1 << p->swizzle.base);
    if (t->tree && t->swizzle.bits && n > (int64_t)1 << t->swizzle.base)
        return cute_arena_printf(w->arena, "the swizzle of the %s keeps %lld elements together", name,
                                 (long long)1 << t->swizzle.base);
    if (t->tree && !is_multiple(t->tree->value, n))
        return cute_arena_printf(w->arena, "the offset %s of the %s is not known to be a multiple of %lld",
                                 text_of(w, t->tree->value), name, (long long)n);
    for (size_t i = 0; i < w->count; i++) {
        const mixed_digit *d = &w->digits[i];
        if (taken[i] == d->extent || is_multiple(scale_stride(d->stride[side], taken[i]), n)) continue;
        bool known = d->stride[side].known;
        return cute_arena_printf(w->arena, "the stride %s of the %s is not %s multiple of %lld",
                                 text_of(w, d->stride[side]), name, known ? "a" : "known to be a",
                                 (long long)n);
    }
    return NULL;
}

/* The reason why `n` elements cannot be accessed at once, or NULL. */
static const char *limit_of(const widening *w, int64_t n, int64_t *taken, size_t *order, size_t *ordered)
{
    int64_t reached = take_contiguous(w, n, taken, order, ordered);
    if (reached < n)
        return reached == 1
                   ? "no two elements are contiguous in both tensors"
                   : cute_arena_printf(w->arena, "%lld elements are contiguous in both tensors, not %lld",
                                       (long long)reached, (long long)n);
    for (int side = SOURCE; side <= TARGET; side++) {
        const char *why =
            w->tensor[side]->pointer->space == CUTE_SPACE_RMEM ? NULL : memory_limit(w, side, n, taken);
        if (why) return why;
    }
    for (size_t i = 0; i < w->count && w->tensor[PREDICATE]; i++) {
        const cute_int *s = &w->digits[i].stride[PREDICATE];
        if (taken[i] > 1 && !(s->known && s->value == 0))
            return cute_arena_printf(w->arena, "%lld elements have different predicates", (long long)n);
    }
    return NULL;
}

/* ---- tiles ---- */

typedef struct modes {
    const cute_tree **shapes, **strides;
    size_t count;
} modes;

static bool add_mode(const widening *w, modes *m, int64_t extent, int64_t stride)
{
    const cute_tree *s = cute_tree_number(w->arena, extent), *d = cute_tree_number(w->arena, stride);
    m->shapes[m->count] = s;
    m->strides[m->count++] = d;
    return s && d;
}

static cute_layout as_layout(const widening *w, const modes *m)
{
    if (m->count == 1) return (cute_layout){m->shapes[0], m->strides[0]};
    return (cute_layout){cute_tree_tuple(w->arena, m->shapes, m->count),
                         cute_tree_tuple(w->arena, m->strides, m->count)};
}

static bool pair_layouts(const widening *w, cute_layout a, cute_layout b, cute_layout *out)
{
    if (!a.shape || !a.stride || !b.shape || !b.stride) return false;
    out->shape = cute_tree_tuple(w->arena, (const cute_tree *[]){a.shape, b.shape}, 2);
    out->stride = cute_tree_tuple(w->arena, (const cute_tree *[]){a.stride, b.stride}, 2);
    return out->shape && out->stride;
}

static cute_layout single_mode(const widening *w, int64_t extent, int64_t stride)
{
    return (cute_layout){cute_tree_number(w->arena, extent), cute_tree_number(w->arena, stride)};
}

static bool modes_start(const widening *w, modes *m)
{
    *m = (modes){.shapes = cute_arena_array(w->arena, w->count + 1, sizeof *m->shapes),
                 .strides = cute_arena_array(w->arena, w->count + 1, sizeof *m->strides)};
    return m->shapes && m->strides;
}

static cute_status make_tiles(const widening *w, int64_t values, const int64_t *taken, const size_t *order,
                              size_t ordered, cute_widest *out)
{
    modes vector, rest, predicate;
    if (!modes_start(w, &vector) || !modes_start(w, &rest) || !modes_start(w, &predicate))
        return cute_fail_memory(w->diag);
    bool ok = true;
    for (size_t i = 0; i < ordered; i++)
        ok = ok && add_mode(w, &vector, taken[order[i]], w->digits[order[i]].step);
    for (size_t i = 0; i < w->count; i++) {
        const mixed_digit *d = &w->digits[i];
        int64_t left = d->extent / taken[i], step = d->step * taken[i];
        if (left == 1) continue;
        ok = ok && add_mode(w, &rest, left, step);
        /* The values of one execution of the atom share one predicate. */
        ok = ok && add_mode(w, &predicate, left, step < values ? 0 : step / values);
    }
    if (!rest.count) ok = ok && add_mode(w, &rest, 1, 0) && add_mode(w, &predicate, 1, 0);
    cute_layout inner;
    ok = ok && pair_layouts(w, as_layout(w, &vector), single_mode(w, 1, 0), &inner) &&
         pair_layouts(w, inner, as_layout(w, &rest), &out->tile) &&
         pair_layouts(w, single_mode(w, 1, 0), as_layout(w, &predicate), &out->predicate_tile);
    return ok ? CUTE_OK : cute_fail_memory(w->diag);
}

/* ---- search over widths ---- */

static cute_status start_widening(widening *w, int64_t values)
{
    leaves lists[3] = {0};
    int64_t sizes[3] = {0};
    for (int i = SOURCE; i <= PREDICATE; i++) {
        const cute_value *t = w->tensor[i];
        if (!t) continue;
        if (t->type != CUTE_MEMREF || !t->pointer || t->inner.shape)
            return cute_fail(w->diag, CUTE_INVALID, NULL, "expected the %s to be a tensor in memory",
                             names[i]);
        if (t->tree && t->tree->kind != CUTE_TREE_INT)
            return cute_fail(w->diag, CUTE_INVALID, NULL, "expected one number as offset of the %s",
                             names[i]);
        CUTE_TRY(leaves_of(w, t->layout, &lists[i]));
        if (i == PREDICATE) { /* the values of one execution share one */
            leaves *l = &lists[i];
            for (size_t k = l->count++; k > 0; k--) {
                l->extent[k] = l->extent[k - 1];
                l->stride[k] = l->stride[k - 1];
            }
            l->extent[0] = values;
            l->stride[0] = (cute_int){.known = true, .width = 32};
        }
        if (!size_of(&lists[i], &sizes[i]))
            return cute_fail(w->diag, CUTE_INVALID, NULL, "the %s has more than 2^63 elements", names[i]);
        if (sizes[i] != sizes[SOURCE])
            return cute_fail(w->diag, CUTE_INVALID, NULL, "the source has %lld elements, the %s %lld",
                             (long long)sizes[SOURCE], names[i], (long long)sizes[i]);
    }
    return make_digits(w, lists);
}

cute_status cute_copy_widest(cute_arena *arena, const cute_value *source, const cute_value *target,
                             const cute_value *predicate, int64_t values, int64_t most_bits, cute_widest *out,
                             cute_diag *diag)
{
    widening w = {.arena = arena, .diag = diag, .tensor = {source, target, predicate}};
    *out = (cute_widest){.elements = 1};
    CUTE_TRY(start_widening(&w, values));
    int bits = source->pointer->bits;
    if (bits != target->pointer->bits || bits < 1 || (bits & (bits - 1)))
        return cute_fail(diag, CUTE_INVALID, NULL, "expected elements of equal size, got %d and %d bits",
                         bits, target->pointer->bits);
    int64_t *taken = cute_arena_array(arena, w.count, sizeof *taken);
    size_t *order = cute_arena_array(arena, w.count, sizeof *order), ordered;
    if (w.count && (!taken || !order)) return cute_fail_memory(diag);
    for (int64_t n = most_bits / bits; n > 1 && n * bits >= 8; n /= 2) {
        const char *limit = limit_of(&w, n, taken, order, &ordered);
        if (!limit) {
            out->elements = n;
            return make_tiles(&w, values, taken, order, ordered, out);
        }
        out->limit = limit;
    }
    return CUTE_OK;
}
