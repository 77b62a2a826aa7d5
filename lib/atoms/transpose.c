/* Reassigns the elements of a tiled copy to threads, so that consecutive threads access consecutive elements
 * of a tensor. */
#include <stdlib.h>

#include "lib/atoms/access.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/sort.h"
#include "lib/layout/trial.h"

/* A leaf of the layout: `extent` steps of `step` in the tile, each `stride` elements apart in the tensor. */
typedef struct tile_part {
    int64_t extent, step, stride;
} tile_part;

typedef struct tile_parts {
    tile_part *items;
    size_t count;
} tile_parts;

enum { MOST_PARTS = 64 };

static bool add_tile_part(tile_parts *list, int64_t extent, int64_t step)
{
    if (extent == 1) return true;
    if (list->count == MOST_PARTS) return false;
    list->items[list->count++] = (tile_part){.extent = extent, .step = step};
    return true;
}

/* Splits a leaf that spans several modes of the tile. */
static bool split_leaf(tile_parts *list, int64_t extent, int64_t step, const alg_flat *tile)
{
    int64_t end = 1;
    for (size_t i = 0; i < tile->count && extent > 1; i++) {
        if (!cute_mul64(end, tile->extent[i], &end)) return false;
        if (step >= end) continue;
        int64_t inside = end / step;
        if (end % step || extent <= inside) break;
        if (extent % inside || !add_tile_part(list, inside, step)) return false;
        extent /= inside;
        step = end;
    }
    return add_tile_part(list, extent, step);
}

static bool split_leaves(const alg_flat *leaves, const alg_flat *tile, tile_parts *list)
{
    for (size_t i = 0; i < leaves->count; i++)
        if (leaves->extent[i] < 1 || leaves->stride[i] < 0 ||
            (leaves->extent[i] > 1 && leaves->stride[i] < 1) ||
            !split_leaf(list, leaves->extent[i], leaves->stride[i], tile))
            return false;
    return true;
}

/* Moves the first `size` elements of the list to `out`, splitting a leaf if necessary. */
static bool take_elements(tile_parts *list, int64_t size, tile_parts *out)
{
    size_t done = 0;
    for (int64_t left = size; left > 1;) {
        if (done == list->count) return false;
        tile_part *p = &list->items[done];
        if (p->extent <= left) {
            if (left % p->extent || out->count == MOST_PARTS) return false;
            out->items[out->count++] = *p;
            left /= p->extent;
            done++;
            continue;
        }
        if (p->extent % left || out->count == MOST_PARTS) return false;
        out->items[out->count] = *p;
        out->items[out->count++].extent = left;
        p->extent /= left;
        p->step *= left;
        p->stride *= left;
        left = 1;
    }
    for (size_t i = done; i < list->count; i++) list->items[i - done] = list->items[i];
    list->count -= done;
    return true;
}

static int by_stride(const void *a, const void *b)
{
    const tile_part *p = a, *q = b;
    int64_t x = p->stride < 0 ? -p->stride : p->stride, y = q->stride < 0 ? -q->stride : q->stride;
    if (x != y) return x < y ? -1 : 1;
    return p->step < q->step ? -1 : p->step > q->step;
}

/* Leaves as one mode; contiguous neighbours are merged. */
static bool merge_to_mode(cute_arena *arena, const tile_parts *list, cute_layout *out)
{
    const cute_tree *shapes[2 * MOST_PARTS], *strides[2 * MOST_PARTS];
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        tile_part p = list->items[i];
        while (i + 1 < list->count && list->items[i + 1].step == p.step * p.extent)
            p.extent *= list->items[++i].extent;
        shapes[count] = cute_tree_number(arena, p.extent);
        strides[count++] = cute_tree_number(arena, p.step);
    }
    if (!count) {
        shapes[count] = cute_tree_number(arena, 1);
        strides[count++] = cute_tree_number(arena, 0);
    }
    *out = (cute_layout){count > 1 ? cute_tree_tuple(arena, shapes, count) : shapes[0],
                         count > 1 ? cute_tree_tuple(arena, strides, count) : strides[0]};
    return out->shape && out->stride;
}

static int64_t size_of(const alg_flat *f)
{
    int64_t size = 1;
    for (size_t i = 0; i < f->count; i++) size *= f->extent[i];
    return size;
}

static bool equal_parts(const tile_parts *a, const tile_parts *b)
{
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i].extent != b->items[i].extent || a->items[i].step != b->items[i].step) return false;
    return true;
}

cute_status cute_copy_transpose(cute_arena *arena, cute_layout tv, int64_t values, cute_layout tile,
                                cute_layout *out, bool *changed, cute_diag *diag)
{
    cute_algebra a = {.arena = arena, .diag = diag};
    tile_part memory[6][MOST_PARTS];
    tile_parts threads = {memory[0], 0}, own = {memory[1], 0}, vector = {memory[2], 0}, all = {memory[3], 0},
               lanes = {memory[4], 0}, before = {memory[5], 0};
    alg_flat of_threads, of_values, of_tile;
    if (tv.shape->kind != CUTE_TREE_TUPLE || tv.shape->count != 2)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected a thread-value layout, got %s",
                         cute_layout_text(arena, tv));
    bool flat = alg_flat_of(&a, (cute_layout){tv.shape->items[0], tv.stride->items[0]}, &of_threads) &&
                alg_flat_of(&a, (cute_layout){tv.shape->items[1], tv.stride->items[1]}, &of_values) &&
                alg_flat_of(&a, tile, &of_tile);
    if (a.status) return a.status;
    bool ok = flat && split_leaves(&of_threads, &of_tile, &threads) &&
              split_leaves(&of_values, &of_tile, &own) && take_elements(&own, values, &vector);
    for (size_t i = 0; ok && i < threads.count; i++)
        all.items[all.count++] = before.items[before.count++] = threads.items[i];
    ok = ok && all.count + own.count <= MOST_PARTS;
    for (size_t i = 0; ok && i < own.count; i++) all.items[all.count++] = own.items[i];
    for (size_t i = 0; ok && i < all.count; i++)
        ok = alg_flat_at(&of_tile, all.items[i].step, &all.items[i].stride);
    if (!ok)
        return cute_fail(diag, CUTE_INVALID, NULL, "%s does not divide the modes of its tile",
                         cute_layout_text(arena, tv));
    cute_sort(all.items, all.count, sizeof *all.items, by_stride);
    if (!take_elements(&all, size_of(&of_threads), &lanes))
        return cute_fail(diag, CUTE_INVALID, NULL, "no other order of modes gives %lld threads",
                         (long long)size_of(&of_threads));
    *changed = !equal_parts(&lanes, &before);
    cute_layout thread_mode, value_mode;
    tile_parts rest = vector;
    for (size_t i = 0; i < all.count && rest.count < MOST_PARTS; i++) rest.items[rest.count++] = all.items[i];
    if (!merge_to_mode(arena, &lanes, &thread_mode) || !merge_to_mode(arena, &rest, &value_mode))
        return cute_fail_memory(diag);
    out->shape = cute_tree_tuple(arena, (const cute_tree *[]){thread_mode.shape, value_mode.shape}, 2);
    out->stride = cute_tree_tuple(arena, (const cute_tree *[]){thread_mode.stride, value_mode.stride}, 2);
    return out->shape && out->stride ? CUTE_OK : cute_fail_memory(diag);
}
