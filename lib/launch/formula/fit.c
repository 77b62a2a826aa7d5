/* Layouts with unknown leaves, filled from the shape and strides of a tensor. */
#include "lib/launch/formula/fit.h"

#include <string.h>

#include "lib/base/numbers/checked.h"

/* A leaf of a layout: an extent and its stride. */
typedef struct leaf {
    cute_int extent, stride;
    int mode;
} leaf;

typedef struct fit {
    leaf leaves[CUTE_TENSOR_RANK];
    int count, modes;
    int64_t extents[CUTE_TENSOR_RANK], strides[CUTE_TENSOR_RANK]; /* of each leaf */
    cute_buffer *why;
} fit;

CUTE_PRINTF(2, 3)
static bool misfit(fit *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(f->why, format, args);
    va_end(args);
    return false;
}

/* ---- the layout's leaves ---- */

/* False where there are more than a tensor has dimensions, or strides are no integers. */
static bool list_leaves(fit *f, const cute_tree *shape, const cute_tree *stride, int mode)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        if (stride->kind != CUTE_TREE_TUPLE || stride->count != shape->count) return false;
        for (uint32_t i = 0; i < shape->count; i++)
            if (!list_leaves(f, shape->items[i], stride->items[i], mode < 0 ? (int)i : mode)) return false;
        return true;
    }
    if (f->count == CUTE_TENSOR_RANK || shape->kind != CUTE_TREE_INT || stride->kind != CUTE_TREE_INT)
        return false;
    f->leaves[f->count++] = (leaf){shape->value, stride->value, mode < 0 ? 0 : mode};
    return true;
}

static bool read_layout(fit *f, const cute_value *value)
{
    const cute_tree *shape = value->layout.shape;
    if (!shape || !list_leaves(f, shape, value->layout.stride, -1))
        return misfit(f, "has a layout that no tensor of at most %d dimensions fits", CUTE_TENSOR_RANK);
    f->modes = shape->kind == CUTE_TREE_TUPLE ? (int)shape->count : 1;
    return true;
}

/* ---- from the tensor's dimensions to the leaves ---- */

/* One mode of the tensor over leaves [begin, end): the one unknown extent is what the others leave. */
static bool split_mode(fit *f, int begin, int end, int64_t extent, int64_t stride)
{
    int64_t known = 1;
    int unknown = -1, mode = f->leaves[begin].mode;
    for (int i = begin; i < end; i++) {
        const cute_int *e = &f->leaves[i].extent;
        if (e->known && !cute_mul64(known, e->value, &known)) return misfit(f, "is too large");
        if (e->known) continue;
        if (unknown >= 0)
            return misfit(
                f,
                "has a dimension for mode %d, which has more than one unknown extent; expected one for "
                "each of the %d leaves of the layout",
                mode, f->count);
        unknown = i;
    }
    if (unknown < 0 ? extent != known : known == 0 || extent % known != 0)
        return misfit(f, "mode %d has extent %lld, expected %s%lld", mode, (long long)extent,
                      unknown < 0 ? "" : "a multiple of ", (long long)known);
    for (int i = begin; i < end; i++) {
        f->extents[i] = i == unknown ? extent / known : f->leaves[i].extent.value;
        f->strides[i] = stride;
        if (!cute_mul64(stride, f->extents[i], &stride)) return misfit(f, "is too large");
    }
    return true;
}

/* Elements from the first to the last that a layout without unknown leaves reaches; -1: there are such leaves, or negative
 * strides. */
static int64_t reach(const fit *f)
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

static void put_number(cute_buffer *out, bool known, int64_t value, bool first)
{
    if (known)
        cute_buffer_printf(out, "%s%lld", first ? "" : ",", (long long)value);
    else
        cute_buffer_puts(out, first ? "?" : ",?");
}

/* "[12,10] with strides [1,12]": a dimension for each leaf, or for each mode whose leaves follow one another. */
static bool put_form(const fit *f, bool by_leaf, cute_buffer *out)
{
    cute_buffer strides = {0};
    bool follow = true;
    cute_buffer_puts(out, "[");
    for (int i = 0, end; i < f->count; i = end) {
        int64_t extent = 1, next = f->leaves[i].stride.value;
        bool known = true, stride_known = f->leaves[i].stride.known;
        for (end = i; end < f->count && (by_leaf ? end == i : f->leaves[end].mode == f->leaves[i].mode);
             end++) {
            const leaf *l = &f->leaves[end];
            if (l->extent.known && l->extent.value == 1) continue; /* any stride does */
            follow &= end == i || !stride_known || !known || !l->stride.known || l->stride.value == next;
            known &= l->extent.known && cute_mul64(extent, l->extent.value, &extent);
            stride_known &= l->stride.known && known && cute_mul64(l->stride.value, l->extent.value, &next);
        }
        put_number(out, known, extent, i == 0);
        put_number(&strides, f->leaves[i].stride.known, f->leaves[i].stride.value, i == 0);
    }
    cute_buffer_printf(out, "] with strides [%s]", cute_buffer_text(&strides));
    cute_buffer_release(&strides);
    return follow;
}

/* Which shapes a tensor of another number of dimensions could have. */
static bool misfit_rank(fit *f, const cute_tensor *t)
{
    misfit(f, "has %d dimension%s, expected ", t->rank, t->rank == 1 ? "" : "s");
    if (f->count == f->modes) {
        misfit(f, "%d", f->modes);
    } else {
        cute_buffer modes = {0};
        if (put_form(f, false, &modes)) misfit(f, "%d (%s) or ", f->modes, cute_buffer_text(&modes));
        cute_buffer_release(&modes);
        misfit(f, "%d (", f->count);
        put_form(f, true, f->why);
        misfit(f, ")");
    }
    int64_t all = reach(f);
    if (all >= 0) misfit(f, ", or %lld contiguous elements", (long long)all);
    return false;
}

/* A flat buffer is the memory that a layout reaches, all of which is known. */
static bool take_memory(fit *f, const cute_tensor *t)
{
    int64_t all = reach(f);
    if (all < 0 || t->strides[0] != 1 || t->shape[0] != all) return misfit_rank(f, t);
    for (int i = 0; i < f->count; i++) {
        f->extents[i] = f->leaves[i].extent.value;
        f->strides[i] = f->leaves[i].stride.value;
    }
    return true;
}

/* Each dimension over the leaves whose extents make it, all of which are known. */
static bool split_dimensions(fit *f, const cute_tensor *t)
{
    int next = 0;
    for (int i = 0; i < t->rank; i++) {
        int64_t extent = 1;
        int end = next;
        while (end < f->count && (end == next || extent < t->shape[i]))
            if (!f->leaves[end].extent.known || !cute_mul64(extent, f->leaves[end++].extent.value, &extent))
                return misfit_rank(f, t);
        if (extent != t->shape[i] || end == next) return misfit_rank(f, t);
        if (!split_mode(f, next, end, extent, t->strides[i])) return false;
        next = end;
    }
    return next == f->count || misfit_rank(f, t);
}

static bool spread(fit *f, const cute_tensor *t)
{
    if (t->rank == f->count) {
        memcpy(f->extents, t->shape, sizeof f->extents);
        memcpy(f->strides, t->strides, sizeof f->strides);
        return true;
    }
    if (t->rank != f->modes) return t->rank == 1 ? take_memory(f, t) : split_dimensions(f, t);
    cute_buffer form = {0};
    bool follow = put_form(f, false, &form);
    cute_buffer_release(&form);
    if (!follow) return misfit_rank(f, t);
    for (int i = 0, end; i < f->count; i = end) {
        int mode = f->leaves[i].mode;
        for (end = i + 1; end < f->count && f->leaves[end].mode == mode;) end++;
        if (!split_mode(f, i, end, t->shape[mode], t->strides[mode])) return false;
    }
    return true;
}

/* ---- what the leaves take ---- */

static bool fits_width(int64_t value, int width)
{
    return width >= 64 || value < (int64_t)1 << (width - 1);
}

static bool check_extent(fit *f, int i)
{
    const cute_int *e = &f->leaves[i].extent;
    int64_t value = f->extents[i];
    int mode = f->leaves[i].mode;
    if (e->known)
        return value == e->value || misfit(f, "mode %d has extent %lld, expected %lld", mode,
                                           (long long)value, (long long)e->value);
    if (e->divisor > 1 && value % e->divisor != 0)
        return misfit(f, "mode %d has extent %lld, expected a multiple of %lld", mode, (long long)value,
                      (long long)e->divisor);
    return fits_width(value, e->width) || misfit(f, "mode %d has extent %lld, which does not fit in %d bits",
                                                 mode, (long long)value, e->width);
}

/* No coordinate but 0 is multiplied with the stride of an extent of 1: there any multiple of the divisor does. */
static bool check_stride(fit *f, int i)
{
    const cute_int *s = &f->leaves[i].stride;
    int64_t value = f->strides[i];
    int mode = f->leaves[i].mode;
    bool free_choice = f->extents[i] <= 1;
    if (s->known)
        return value == s->value || free_choice ||
               misfit(f, "mode %d has stride %lld, expected %lld", mode, (long long)value,
                      (long long)s->value);
    if (s->divisor > 1 && value % s->divisor != 0) {
        if (!free_choice)
            return misfit(f, "mode %d has stride %lld, expected a multiple of %lld", mode, (long long)value,
                          (long long)s->divisor);
        f->strides[i] = 0;
    }
    if (fits_width(f->strides[i], s->width)) return true;
    if (!free_choice)
        return misfit(f, "mode %d has stride %lld, which does not fit in %d bits", mode, (long long)value,
                      s->width);
    f->strides[i] = 0;
    return true;
}

static bool check_leaves(fit *f)
{
    for (int i = 0; i < f->count; i++)
        if (!check_extent(f, i)) return false;
    for (int i = 0; i < f->count; i++)
        if (!check_stride(f, i)) return false;
    return true;
}

cute_status cute_fit(cute_arena *arena, const cute_value *layout, const cute_tensor *tensor, int64_t **leaves,
                     size_t *count, cute_buffer *why, cute_diag *diag)
{
    fit f = {.why = why};
    *leaves = NULL;
    *count = 0;
    if (!read_layout(&f, layout) || !spread(&f, tensor) || !check_leaves(&f)) return CUTE_INVALID;
    if (!(*leaves = cute_arena_array(arena, 2 * (size_t)f.count + 1, sizeof **leaves)))
        return cute_fail_memory(diag);
    for (int i = 0; i < f.count; i++)
        if (!f.leaves[i].extent.known) (*leaves)[(*count)++] = f.extents[i];
    for (int i = 0; i < f.count; i++)
        if (!f.leaves[i].stride.known) (*leaves)[(*count)++] = f.strides[i];
    if (cute_value_unknowns(layout, NULL, 0) == *count) return CUTE_OK;
    misfit(&f, "has a composed layout with unknown offset or swizzle, which no tensor fills");
    return CUTE_INVALID;
}

/* ---- what a layout says of a tensor that leaves it open ---- */

bool cute_fit_shape(const cute_value *layout, cute_tensor *tensor)
{
    cute_buffer why = {0};
    fit f = {.why = &why};
    bool ok = read_layout(&f, layout), merge = true;
    for (int i = 0; ok && i < f.count; i++) ok = f.leaves[i].extent.known;
    /* A dimension for each mode where its leaves follow one another. */
    for (int i = 1; ok && i < f.count; i++) {
        const leaf *a = &f.leaves[i - 1], *b = &f.leaves[i];
        int64_t next;
        if (a->mode == b->mode)
            merge = merge && a->stride.known && b->stride.known &&
                    cute_mul64(a->stride.value, a->extent.value, &next) && next == b->stride.value;
    }
    tensor->rank = 0;
    for (int i = 0; ok && i < f.count; i++) {
        bool same = merge && i > 0 && f.leaves[i].mode == f.leaves[i - 1].mode;
        if (!same) tensor->shape[tensor->rank++] = 1;
        int64_t *extent = &tensor->shape[tensor->rank - 1];
        ok = cute_mul64(*extent, f.leaves[i].extent.value, extent);
    }
    cute_buffer_release(&why);
    return ok;
}

/* Strides without gaps, `first` first (-1: none), then from the left or from the right. */
static bool compact(cute_tensor *t, int first, bool from_left)
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

/* A static layout says all strides: those of its leaves, or of the first leaf of each mode. */
static bool static_strides(const fit *f, cute_tensor *t)
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
    fit f = {.why = &why};
    cute_tensor trial = *tensor;
    int64_t *leaves;
    size_t count;
    int first = -1;
    bool found = false;
    bool readable = read_layout(&f, layout);
    for (int i = f.count; readable && i-- > 0;)
        if (f.leaves[i].stride.known && f.leaves[i].stride.value == 1)
            first = tensor->rank == f.count ? i : f.leaves[i].mode;
    for (int way = 0; readable && way < 4 && !found; way++) {
        if (way == 3 && first < 0) break;
        found = way == 0   ? static_strides(&f, &trial)
                : way == 1 ? compact(&trial, -1, false)
                           : compact(&trial, way == 2 ? -1 : first, true);
        found = found && cute_fit(arena, layout, &trial, &leaves, &count, &why, NULL) == CUTE_OK;
    }
    cute_buffer_release(&why);
    if (found) memcpy(tensor->strides, trial.strides, sizeof trial.strides);
    return found || cute_tensor_row_major(tensor);
}
