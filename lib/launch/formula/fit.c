/* Fills the unknown leaves of a layout from the shape and strides of a tensor. */
#include "lib/launch/formula/fit.h"

#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/layout/pointer.h"

/* A leaf of a layout: an extent and its stride. */
typedef struct layout_leaf {
    cute_int extent, stride;
    int mode;
} layout_leaf;

typedef struct layout_fit {
    layout_leaf leaves[CUTE_TENSOR_RANK];
    int count, modes;
    int64_t extents[CUTE_TENSOR_RANK], strides[CUTE_TENSOR_RANK]; /* of each leaf */
    bool empty;                                                   /* there are no elements */
    cute_buffer *why;
} layout_fit;

CUTE_PRINTF(2, 3)
static bool fail_fit(layout_fit *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(f->why, format, args);
    va_end(args);
    return false;
}

/* ---- the layout's leaves ---- */

/* False if there are more leaves than dimensions of a tensor, or strides that are not integers. */
static bool list_leaves(layout_fit *f, const cute_tree *shape, const cute_tree *stride, int mode)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        if (stride->kind != CUTE_TREE_TUPLE || stride->count != shape->count) return false;
        for (uint32_t i = 0; i < shape->count; i++)
            if (!list_leaves(f, shape->items[i], stride->items[i], mode < 0 ? (int)i : mode)) return false;
        return true;
    }
    if (f->count == CUTE_TENSOR_RANK || shape->kind != CUTE_TREE_INT || stride->kind != CUTE_TREE_INT)
        return false;
    f->leaves[f->count++] = (layout_leaf){shape->value, stride->value, mode < 0 ? 0 : mode};
    return true;
}

static bool read_layout(layout_fit *f, const cute_value *value)
{
    const cute_tree *shape = value->layout.shape;
    if (!shape || !list_leaves(f, shape, value->layout.stride, -1))
        return fail_fit(f, "has an unsupported layout: expected at most %d leaves with integer strides",
                        CUTE_TENSOR_RANK);
    f->modes = shape->kind == CUTE_TREE_TUPLE ? (int)shape->count : 1;
    return true;
}

/* ---- from the tensor's dimensions to the leaves ---- */

/* Splits a dimension into leaves [begin, end); one of them may have an unknown extent. */
static bool split_mode(layout_fit *f, int begin, int end, int64_t extent, int64_t stride)
{
    int64_t known = 1;
    int unknown = -1, mode = f->leaves[begin].mode;
    for (int i = begin; i < end; i++) {
        const cute_int *e = &f->leaves[i].extent;
        if (e->known && !cute_mul64(known, e->value, &known)) return fail_fit(f, "is too large");
        if (e->known) continue;
        if (unknown >= 0)
            return fail_fit(
                f,
                "has one dimension for mode %d, which has several unknown extents: expected one for each of "
                "the layout's %d leaves",
                mode, f->count);
        unknown = i;
    }
    if (unknown < 0 ? extent != known : known == 0 || extent % known != 0)
        return fail_fit(f, "mode %d has extent %lld, expected %s%lld", mode, (long long)extent,
                        unknown < 0 ? "" : "a multiple of ", (long long)known);
    for (int i = begin; i < end; i++) {
        f->extents[i] = i == unknown ? extent / known : f->leaves[i].extent.value;
        f->strides[i] = stride;
        if (!cute_mul64(stride, f->extents[i], &stride)) return fail_fit(f, "is too large");
    }
    return true;
}

/* The number of elements from the first to the last that a static layout addresses; -1 if a leaf is unknown
 * or a stride is negative. */
static int64_t cosize(const layout_fit *f)
{
    int64_t last = 0, step;
    bool empty = false;
    for (int i = 0; i < f->count; i++) {
        const cute_int *e = &f->leaves[i].extent, *s = &f->leaves[i].stride;
        if (!e->known || !s->known || s->value < 0) return -1;
        if (e->value == 0) {
            empty = true;
        } else if (!cute_mul64(e->value - 1, s->value, &step) || !cute_add64(last, step, &last)) {
            return -1;
        }
    }
    return empty ? 0 : last == INT64_MAX ? -1 : last + 1;
}

static void put_int(cute_buffer *out, bool known, int64_t value, bool first)
{
    if (known)
        cute_buffer_printf(out, "%s%lld", first ? "" : ",", (long long)value);
    else
        cute_buffer_puts(out, first ? "?" : ",?");
}

/* "[12,10] with strides [1,12]": one dimension for each leaf or each mode. Whether the leaves of every mode
 * are contiguous. */
static bool put_expected_shape(const layout_fit *f, bool by_leaf, cute_buffer *out)
{
    cute_buffer strides = {0};
    bool contiguous = true;
    cute_buffer_puts(out, "[");
    for (int i = 0, end; i < f->count; i = end) {
        int64_t extent = 1, next = f->leaves[i].stride.value;
        bool known = true, stride_known = f->leaves[i].stride.known;
        for (end = i; end < f->count && (by_leaf ? end == i : f->leaves[end].mode == f->leaves[i].mode);
             end++) {
            const layout_leaf *l = &f->leaves[end];
            if (l->extent.known && l->extent.value == 1) continue; /* any stride fits */
            contiguous &= end == i || !stride_known || !known || !l->stride.known || l->stride.value == next;
            known &= l->extent.known && cute_mul64(extent, l->extent.value, &extent);
            stride_known &= l->stride.known && known && cute_mul64(l->stride.value, l->extent.value, &next);
        }
        put_int(out, known, extent, i == 0);
        put_int(&strides, f->leaves[i].stride.known, f->leaves[i].stride.value, i == 0);
    }
    cute_buffer_printf(out, "] with strides [%s]", cute_buffer_text(&strides));
    cute_buffer_release(&strides);
    return contiguous;
}

/* Reports the expected shapes of a tensor with a wrong number of dimensions. */
static bool fail_rank(layout_fit *f, const cute_tensor *t)
{
    fail_fit(f, "has %d dimension%s, expected ", t->rank, t->rank == 1 ? "" : "s");
    if (f->count == f->modes) {
        fail_fit(f, "%d", f->modes);
    } else {
        cute_buffer modes = {0};
        if (put_expected_shape(f, false, &modes))
            fail_fit(f, "%d (%s) or ", f->modes, cute_buffer_text(&modes));
        cute_buffer_release(&modes);
        fail_fit(f, "%d (", f->count);
        put_expected_shape(f, true, f->why);
        fail_fit(f, ")");
    }
    int64_t all = cosize(f);
    if (all >= 0) fail_fit(f, ", or %lld contiguous elements", (long long)all);
    return false;
}

/* A flat buffer fits a static layout that covers it exactly. */
static bool fit_flat_buffer(layout_fit *f, const cute_tensor *t)
{
    int64_t all = cosize(f);
    if (all < 0 || t->strides[0] != 1 || t->shape[0] != all) return fail_rank(f, t);
    for (int i = 0; i < f->count; i++) {
        f->extents[i] = f->leaves[i].extent.value;
        f->strides[i] = f->leaves[i].stride.value;
    }
    return true;
}

/* Splits each dimension into known leaves whose extents multiply to it. */
static bool split_dimensions(layout_fit *f, const cute_tensor *t)
{
    int next = 0;
    for (int i = 0; i < t->rank; i++) {
        int64_t extent = 1;
        int end = next;
        while (end < f->count && (end == next || extent < t->shape[i]))
            if (!f->leaves[end].extent.known || !cute_mul64(extent, f->leaves[end++].extent.value, &extent))
                return fail_rank(f, t);
        if (extent != t->shape[i] || end == next) return fail_rank(f, t);
        if (!split_mode(f, next, end, extent, t->strides[i])) return false;
        next = end;
    }
    return next == f->count || fail_rank(f, t);
}

static bool fit_dimensions(layout_fit *f, const cute_tensor *t)
{
    if (t->rank == f->count) {
        memcpy(f->extents, t->shape, sizeof f->extents);
        memcpy(f->strides, t->strides, sizeof f->strides);
        return true;
    }
    if (t->rank != f->modes) return t->rank == 1 ? fit_flat_buffer(f, t) : split_dimensions(f, t);
    cute_buffer form = {0};
    bool contiguous = put_expected_shape(f, false, &form);
    cute_buffer_release(&form);
    if (!contiguous) return fail_rank(f, t);
    for (int i = 0, end; i < f->count; i = end) {
        int mode = f->leaves[i].mode;
        for (end = i + 1; end < f->count && f->leaves[end].mode == mode;) end++;
        if (!split_mode(f, i, end, t->shape[mode], t->strides[mode])) return false;
    }
    return true;
}

/* ---- checks of the leaves ---- */

static bool fits_width(int64_t value, int width)
{
    return width >= 64 || value < (int64_t)1 << (width - 1);
}

static bool check_extent(layout_fit *f, int i)
{
    const cute_int *e = &f->leaves[i].extent;
    int64_t value = f->extents[i];
    int mode = f->leaves[i].mode;
    if (e->known)
        return value == e->value || fail_fit(f, "mode %d has extent %lld, expected %lld", mode,
                                             (long long)value, (long long)e->value);
    if (e->divisor > 1 && value % e->divisor != 0)
        return fail_fit(f, "mode %d has extent %lld, expected a multiple of %lld", mode, (long long)value,
                        (long long)e->divisor);
    return fits_width(value, e->width) ||
           fail_fit(f, "mode %d has extent %lld, which does not fit in %d bits", mode, (long long)value,
                    e->width);
}

/* The only coordinate of an extent of 1 is 0, so its stride is ignored and replaced by 0 if it does not
 * fit. So are those of a tensor without elements. */
static bool check_stride(layout_fit *f, int i)
{
    const cute_int *s = &f->leaves[i].stride;
    int64_t value = f->strides[i];
    int mode = f->leaves[i].mode;
    bool ignored = f->extents[i] <= 1 || f->empty;
    if (s->known)
        return value == s->value || ignored ||
               fail_fit(f, "mode %d has stride %lld, expected %lld", mode, (long long)value,
                        (long long)s->value);
    if (s->divisor > 1 && value % s->divisor != 0) {
        if (!ignored)
            return fail_fit(f, "mode %d has stride %lld, expected a multiple of %lld", mode, (long long)value,
                            (long long)s->divisor);
        f->strides[i] = 0;
    }
    if (fits_width(f->strides[i], s->width)) return true;
    if (!ignored)
        return fail_fit(f, "mode %d has stride %lld, which does not fit in %d bits", mode, (long long)value,
                        s->width);
    f->strides[i] = 0;
    return true;
}

static bool check_leaves(layout_fit *f)
{
    for (int i = 0; i < f->count; i++) {
        f->empty |= f->extents[i] == 0;
        if (!check_extent(f, i)) return false;
    }
    for (int i = 0; i < f->count; i++)
        if (!check_stride(f, i)) return false;
    return true;
}

bool cute_is_packed(const char *dtype)
{
    return dtype && cute_element_is_packed(dtype);
}

cute_tensor cute_tensor_as(const char *dtype, const cute_tensor *tensor)
{
    cute_tensor t = *tensor;
    if (!cute_is_packed(dtype)) return t;
    int contiguous = -1;
    for (int i = 0; i < t.rank; i++)
        if (t.strides[i] == 1) contiguous = i;
    for (int i = 0; i < t.rank; i++) {
        int64_t *twice = i == contiguous ? &t.shape[i] : &t.strides[i];
        if (!cute_mul64(*twice, 2, twice)) *twice = INT64_MAX;
    }
    return t;
}

cute_status cute_fit(cute_arena *arena, const cute_value *layout, const cute_tensor *tensor, int64_t **leaves,
                     size_t *count, cute_buffer *why, cute_diag *diag)
{
    layout_fit f = {.why = why};
    *leaves = NULL;
    *count = 0;
    if (!read_layout(&f, layout) || !fit_dimensions(&f, tensor) || !check_leaves(&f)) return CUTE_INVALID;
    if (!(*leaves = cute_arena_array(arena, 2 * (size_t)f.count + 1, sizeof **leaves)))
        return cute_fail_memory(diag);
    for (int i = 0; i < f.count; i++)
        if (!f.leaves[i].extent.known) (*leaves)[(*count)++] = f.extents[i];
    for (int i = 0; i < f.count; i++)
        if (!f.leaves[i].stride.known) (*leaves)[(*count)++] = f.strides[i];
    if (cute_value_unknowns(layout, NULL, 0) == *count) return CUTE_OK;
    fail_fit(&f, "has a composed layout whose unknown offset or swizzle a tensor cannot provide");
    return CUTE_INVALID;
}

/* ---- defaults from a layout ---- */

bool cute_fit_shape(const cute_value *layout, cute_tensor *tensor)
{
    cute_buffer why = {0};
    layout_fit f = {.why = &why};
    bool ok = read_layout(&f, layout), merge = true;
    for (int i = 0; ok && i < f.count; i++) ok = f.leaves[i].extent.known;
    /* One dimension for each mode if its leaves are contiguous. */
    for (int i = 1; ok && i < f.count; i++) {
        const layout_leaf *a = &f.leaves[i - 1], *b = &f.leaves[i];
        int64_t next;
        if (a->mode == b->mode)
            merge = merge && a->stride.known && b->stride.known &&
                    cute_mul64(a->stride.value, a->extent.value, &next) && next == b->stride.value;
    }
    tensor->rank = 0;
    for (int i = 0; ok && i < f.count; i++) {
        bool merged = merge && i > 0 && f.leaves[i].mode == f.leaves[i - 1].mode;
        if (!merged) tensor->shape[tensor->rank++] = 1;
        int64_t *extent = &tensor->shape[tensor->rank - 1];
        ok = cute_mul64(*extent, f.leaves[i].extent.value, extent);
    }
    cute_buffer_release(&why);
    return ok;
}

/* Compact strides: dimension `first` (-1: none) is the fastest, then from the left or from the right. */
static bool set_compact_strides(cute_tensor *t, int first, bool from_left)
{
    int64_t stride = 1;
    for (int i = -1; i < t->rank; i++) {
        int at = i < 0 ? first : from_left ? i : t->rank - 1 - i;
        if (at < 0 || (i >= 0 && at == first)) continue;
        t->strides[at] = stride;
        if (!cute_mul64(stride, t->shape[at] > 0 ? t->shape[at] : 1, &stride)) return false;
    }
    return true;
}

/* The static strides of the layout's leaves, or of the first leaf of each mode. */
static bool set_static_strides(const layout_fit *f, cute_tensor *t)
{
    bool by_leaf = t->rank == f->count;
    for (int i = 0, at = 0; i < f->count; i++) {
        if (!f->leaves[i].stride.known) return false;
        if (!by_leaf && i > 0 && f->leaves[i].mode == f->leaves[i - 1].mode) continue;
        if (at == t->rank) return false;
        t->strides[at++] = f->leaves[i].stride.value;
    }
    return true;
}

bool cute_fit_strides(cute_arena *arena, const cute_value *layout, cute_tensor *tensor)
{
    cute_buffer why = {0};
    layout_fit f = {.why = &why};
    cute_tensor trial = *tensor;
    int64_t *leaves;
    size_t count;
    int first = -1;
    bool found = false;
    bool readable = read_layout(&f, layout);
    for (int i = f.count; readable && i-- > 0;)
        if (f.leaves[i].stride.known && f.leaves[i].stride.value == 1)
            first = tensor->rank == f.count ? i : f.leaves[i].mode;
    for (int order = 0; readable && order < 4 && !found; order++) {
        if (order == 3 && first < 0) break;
        found = order == 0   ? set_static_strides(&f, &trial)
                : order == 1 ? set_compact_strides(&trial, -1, false)
                             : set_compact_strides(&trial, order == 2 ? -1 : first, true);
        found = found && cute_fit(arena, layout, &trial, &leaves, &count, &why, NULL) == CUTE_OK;
    }
    cute_buffer_release(&why);
    if (found) memcpy(tensor->strides, trial.strides, sizeof trial.strides);
    return found || cute_tensor_row_major(tensor);
}
