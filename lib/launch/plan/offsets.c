/* Computes the last offset of a tensor from its layout and parameter bytes. */
#include "lib/launch/plan/offsets.h"

#include <string.h>

#include "cute/layout.h"

typedef struct leaf_reader {
    const cute_arg *arg;
    const uint8_t *bytes;
    size_t field; /* the next unknown leaf */
} leaf_reader;

/* The leaf's static value, or the value of its field. */
static int64_t leaf_value(leaf_reader *r, const cute_int *leaf)
{
    int32_t narrow = 0;
    int64_t wide = 0;
    if (leaf->known) return leaf->value;
    if (r->field >= r->arg->field_count) return 0;
    const cute_field *field = &r->arg->fields[r->field++];
    if (field->offset < 0 || field->offset > r->arg->size - field->size) return 0;
    if (field->size == sizeof narrow) {
        memcpy(&narrow, r->bytes + field->offset, sizeof narrow);
        return narrow;
    }
    if (field->size == sizeof wide) memcpy(&wide, r->bytes + field->offset, sizeof wide);
    return wide;
}

/* All leaves of a shape or stride, from the left. */
static void read_leaves(leaf_reader *r, const cute_tree *tree, int64_t *out, size_t *count)
{
    if (tree->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < tree->count; i++) read_leaves(r, tree->items[i], out, count);
        return;
    }
    int64_t value = leaf_value(r, &tree->value);
    if (*count < CUTE_MAX_DEPTH) out[(*count)++] = value;
}

static uint64_t reach_of(int64_t extent, int64_t stride)
{
    uint64_t reach, step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    if (extent < 1) return 0;
    return __builtin_mul_overflow((uint64_t)extent - 1, step, &reach) ? UINT64_MAX : reach;
}

bool cute_offsets_fit(const cute_arg *arg, const uint8_t *bytes, uint64_t *farthest)
{
    cute_value layout;
    int64_t extents[CUTE_MAX_DEPTH], strides[CUTE_MAX_DEPTH];
    size_t shape = 0, stride = 0;
    leaf_reader r = {.arg = arg, .bytes = bytes, .field = 1};
    *farthest = 0;
    if (!arg->offset_leaf_count || !arg->layout || !arg->field_count) return true;
    cute_arena *arena = cute_arena_create();
    if (arena &&
        cute_value_parse_any(arena, arg->layout, strlen(arg->layout), &layout, NULL, NULL) == CUTE_OK &&
        layout.layout.shape) {
        read_leaves(&r, layout.layout.shape, extents, &shape);
        read_leaves(&r, layout.layout.stride, strides, &stride);
    }
    cute_arena_destroy(arena);
    for (size_t i = 0; i < arg->offset_leaf_count; i++) {
        int64_t leaf = arg->offset_leaves[i];
        if (leaf < 0 || (size_t)leaf >= shape || (size_t)leaf >= stride) continue;
        uint64_t reach = reach_of(extents[leaf], strides[leaf]);
        if (__builtin_add_overflow(*farthest, reach, farthest)) *farthest = UINT64_MAX;
    }
    return *farthest < (uint64_t)arg->offsets_below;
}
