/* Inverses of layouts, computed from the modes sorted by stride. Basis strides have one inverse per leaf of
 * the codomain. */
#include "lib/layout/buckets.h"

static bool check_known_extents(cute_algebra *a, cute_layout layout, const char *kind)
{
    if (cute_tree_is_static(layout.shape)) return true;
    alg_fail(a, "expects known extents for a %s inverse, but got %s", kind, alg_layout_text(a, layout));
    return false;
}

/* The product of the extents to the left of each flat mode. */
static cute_node extents_before(cute_algebra *a, cute_node shape)
{
    alg_list list = {0};
    cute_node product = alg_number(a, 1);
    for (uint32_t i = 0; shape && i < shape->count && product; i++) {
        alg_push(a, &list, product);
        product = alg_op(a, CUTE_MUL, product, shape->items[i]);
    }
    return product ? alg_tuple(a, &list) : NULL;
}

static alg_sorted *sort_by_stride(cute_algebra *a, cute_layout layout, size_t *count)
{
    cute_layout flat = alg_coalesce_z(a, layout);
    if (!alg_ok(flat)) return NULL;
    cute_node shape = alg_flatten_to_tuple(a, flat.shape), stride = alg_flatten_to_tuple(a, flat.stride);
    cute_node before = shape && stride ? extents_before(a, shape) : NULL;
    return before ? alg_sort_modes(a, shape, stride, before, count) : NULL;
}

/* An unknown stride ends the invertible part, as a stride of 0 does. */
static cute_node zero_unknown_strides(cute_algebra *a, cute_node stride)
{
    if (!stride) return NULL;
    if (alg_is_leaf(stride)) return stride->value.known ? stride : alg_number(a, 0);
    alg_list list = {0};
    for (uint32_t i = 0; i < stride->count; i++)
        alg_push(a, &list, zero_unknown_strides(a, stride->items[i]));
    return alg_tuple(a, &list);
}

static cute_layout finish_right_inverse(cute_algebra *a, const alg_bucket *b)
{
    if (b->modes.shapes.count == 0) return (cute_layout){alg_number(a, 1), alg_number(a, 0)};
    return alg_coalesce(a, alg_layouts_tuple(a, &b->modes));
}

cute_layout alg_right_inverse(cute_algebra *a, cute_layout layout)
{
    size_t count;
    if (!alg_ok(layout) || !check_known_extents(a, layout, "right")) return alg_no_layout;
    alg_buckets *buckets = alg_make_buckets(a, alg_coprofile(a, layout));
    alg_sorted *modes =
        sort_by_stride(a, (cute_layout){layout.shape, zero_unknown_strides(a, layout.stride)}, &count);
    if (!modes || !buckets) return alg_no_layout;
    for (size_t i = 0; i < buckets->count; i++) buckets->items[i].current = alg_number(a, 1);
    for (size_t i = 0; i < count; i++) {
        if (modes[i].stride->value.value == 0 || alg_is(modes[i].shape, 1)) continue;
        cute_node d = alg_scale_of(a, modes[i].stride);
        alg_bucket *bucket = d ? alg_find_bucket(a, buckets, modes[i].stride) : NULL;
        if (!bucket || !bucket->current) return alg_no_layout;
        if (!cute_tree_equal(d, bucket->current)) continue;
        alg_push(a, &bucket->modes.shapes, modes[i].shape);
        alg_push(a, &bucket->modes.strides, modes[i].before);
        bucket->current = alg_op(a, CUTE_MUL, modes[i].shape, d);
        if (!bucket->current) return alg_no_layout;
    }
    return alg_join_buckets(a, buckets, finish_right_inverse);
}

static cute_layout finish_left_inverse(cute_algebra *a, const alg_bucket *b)
{
    cute_layout layout = alg_layouts_tuple(a, &b->modes);
    return alg_ok(layout) ? alg_coalesce_z(a, layout) : layout;
}

cute_layout alg_left_inverse(cute_algebra *a, cute_layout layout)
{
    size_t count;
    if (!alg_ok(layout) || !check_known_extents(a, layout, "left")) return alg_no_layout;
    if (!cute_tree_is_static(layout.stride)) {
        alg_fail(a, "expects known strides for a left inverse, but got %s", alg_layout_text(a, layout));
        return alg_no_layout;
    }
    alg_buckets *buckets = alg_make_buckets(a, alg_coprofile(a, layout));
    alg_sorted *modes = sort_by_stride(a, layout, &count);
    if (!modes || !buckets) return alg_no_layout;
    for (size_t i = 0; i < buckets->count; i++) {
        alg_bucket *b = &buckets->items[i];
        b->current = alg_number(a, 1);
        alg_push(a, &b->modes.shapes, b->current);
        alg_push(a, &b->modes.strides, alg_number(a, 0));
    }
    for (size_t i = 0; i < count; i++) {
        if (modes[i].stride->value.value == 0 || alg_is(modes[i].shape, 1)) continue;
        cute_node d = alg_scale_of(a, modes[i].stride);
        alg_bucket *bucket = d ? alg_find_bucket(a, buckets, modes[i].stride) : NULL;
        if (!bucket || !bucket->current) return alg_no_layout;
        int64_t stride = d->value.value, covered = bucket->current->value.value;
        if (stride < 0 || stride % covered != 0) {
            const char *why =
                stride < 0 ? "is negative"
                           : cute_arena_printf(a->arena, "is not divisible by %lld", (long long)covered);
            alg_fail(a,
                     "%s cannot be inverted mode by mode: at mode %zu, of extent and stride %s:%s, the "
                     "stride %lld %s",
                     alg_layout_text(a, layout), modes[i].position, alg_text(a, modes[i].shape),
                     alg_text(a, modes[i].stride), (long long)stride, why ? why : "does not fit");
            return alg_no_layout;
        }
        alg_list *shapes = &bucket->modes.shapes;
        if (shapes->failed) return alg_no_layout;
        shapes->items[shapes->count - 1] = alg_number(a, stride / covered);
        bucket->current = d;
        alg_push(a, shapes, modes[i].shape);
        alg_push(a, &bucket->modes.strides, modes[i].before);
    }
    return alg_join_buckets(a, buckets, finish_left_inverse);
}
