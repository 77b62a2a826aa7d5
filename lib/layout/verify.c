/* The invariants of values. Messages name the mode that violates one. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/layout/pointer.h"
#include "lib/layout/verify.h"
#include "lib/layout/width.h"

/* "[0,1]" for a path of `length` modes. */
static const char *path_text(cute_algebra *a, const uint32_t *path, size_t length)
{
    const char *text = "";
    for (size_t i = 0; text && i < length; i++)
        text = cute_arena_printf(a->arena, "%s%s%u", text, i ? "," : "", path[i]);
    const char *whole = text ? cute_arena_printf(a->arena, "[%s]", text) : NULL;
    return whole ? whole : "[]";
}

static const char *modes_text(cute_algebra *a, cute_node t)
{
    if (alg_is_leaf(t)) return "is a scalar";
    const char *text = cute_arena_printf(a->arena, "has %u mode%s", t->count, t->count == 1 ? "" : "s");
    return text ? text : "differs";
}

static bool check_congruent_modes(cute_algebra *a, cute_node shape, cute_node stride, uint32_t *path,
                                  size_t depth)
{
    if (alg_is_leaf(shape) && alg_is_leaf(stride)) return true;
    if (alg_is_leaf(shape) || alg_is_leaf(stride) || shape->count != stride->count) {
        const char *where =
            depth ? cute_arena_printf(a->arena, "in mode %s ", path_text(a, path, depth)) : "";
        alg_fail(
            a, "shape and stride must be congruent, but %sshape %s %s and stride %s %s%s", where ? where : "",
            alg_text(a, shape), modes_text(a, shape), alg_text(a, stride), modes_text(a, stride),
            a->type_text ? "; the reference says: expects no error(`x`) in layout, but got \"x:x\"" : "");
        return false;
    }
    for (uint32_t i = 0; i < shape->count; i++) {
        path[depth] = i;
        if (!check_congruent_modes(a, shape->items[i], stride->items[i], path, depth + 1)) return false;
    }
    return true;
}

static bool verify_congruent(cute_algebra *a, cute_layout layout)
{
    uint32_t path[CUTE_MAX_DEPTH + 1];
    a->culprit = layout.stride;
    return check_congruent_modes(a, layout.shape, layout.stride, path, 0);
}

/* The first known extent below 1, its path in `path` and the path's length in *depth. */
static cute_node find_empty_mode(cute_node shape, uint32_t *path, size_t *depth)
{
    if (alg_is_leaf(shape)) return alg_is_known(shape) && shape->value.value <= 0 ? shape : NULL;
    size_t level = (*depth)++;
    for (uint32_t i = 0; i < shape->count; i++) {
        path[level] = i;
        cute_node found = find_empty_mode(shape->items[i], path, depth);
        if (found) return found;
    }
    --*depth;
    return NULL;
}

/* `whole` is printed in the message. */
static bool check_positive_extents(cute_algebra *a, cute_node shape, const cute_value *whole)
{
    uint32_t path[CUTE_MAX_DEPTH + 1];
    size_t depth = 0;
    cute_node found = find_empty_mode(shape, path, &depth);
    if (!found) return true;
    a->culprit = shape;
    const char *text = cute_value_text(a->arena, whole);
    const char *which = "the only mode";
    if (depth) which = cute_arena_printf(a->arena, "mode %s", path_text(a, path, depth));
    alg_fail(a, "expects positive shape mode, but got \"%s\": %s has extent %lld", text ? text : "",
             which ? which : "a mode", (long long)found->value.value);
    return false;
}

/* True if one path is a proper prefix of the other. */
static bool is_prefix(cute_node x, cute_node y)
{
    uint32_t shorter = x->count < y->count ? x->count : y->count;
    return x->count != y->count && !memcmp(x->path, y->path, shorter * sizeof *x->path);
}

static int compare_paths(const void *left, const void *right)
{
    cute_node x = *(const cute_node *)left, y = *(const cute_node *)right;
    for (uint32_t i = 0; i < x->count && i < y->count; i++)
        if (x->path[i] != y->path[i]) return x->path[i] < y->path[i] ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

static bool alg_verify_stride(cute_algebra *a, cute_node stride)
{
    if (!alg_has(stride, CUTE_TREE_BASIS)) return true;
    a->culprit = stride;
    cute_node flat = alg_flatten_to_tuple(a, stride);
    if (!flat) return false;
    for (uint32_t i = 0; i < flat->count; i++)
        if (alg_is_int(flat->items[i]) && !alg_is(flat->items[i], 0)) {
            alg_fail(
                a,
                "expects strides to be either all-integer or all-scaled-basis (zero integers allowed when "
                "mixed), but got \"%s\"",
                alg_text(a, stride));
            return false;
        }
    /* In sorted order a path directly precedes its continuations. */
    cute_node *paths = cute_arena_array(a->arena, flat->count, sizeof *paths);
    if (!paths) return alg_exhausted(a) != NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < flat->count; i++)
        if (flat->items[i]->kind == CUTE_TREE_BASIS) paths[count++] = flat->items[i];
    cute_sort(paths, count, sizeof *paths, compare_paths);
    for (size_t i = 1; i < count; i++)
        if (is_prefix(paths[i - 1], paths[i])) {
            alg_fail(
                a,
                "expects scaled-basis paths to agree on mode-index depth (no path may terminate at a node "
                "that another path continues through), but got \"%s\"",
                alg_text(a, stride));
            return false;
        }
    return true;
}

bool alg_verify_layout(cute_algebra *a, cute_layout layout)
{
    cute_value whole = cute_value_of_layout(layout);
    return verify_congruent(a, layout) && check_positive_extents(a, layout.shape, &whole) &&
           alg_verify_stride(a, layout.stride);
}

bool alg_is_wrap(const cute_value *v)
{
    const cute_swizzle *s = &v->swizzle;
    return !v->inner.shape && s->bits == 0 && s->base == 0 && s->shift == 0 && alg_is(v->tree, 0);
}

bool alg_verify_not_trivial(cute_algebra *a, const cute_value *v)
{
    if (v->inner.shape || v->swizzle.bits || !alg_is(v->tree, 0)) return true;
    alg_fail(a,
             "expects a non-trivial composed layout (with swizzle bits or non-zero offset); use "
             "`!cute.layout` for "
             "trivial wraps, but got \"S<%d,%d,%d> o 0 o %s\"",
             v->swizzle.bits, v->swizzle.base, v->swizzle.shift, alg_layout_text(a, v->layout));
    return false;
}

static bool verify_composed(cute_algebra *a, const cute_value *v)
{
    bool affine = v->inner.shape != NULL;
    if (!verify_congruent(a, v->layout)) return false;
    if (affine && !verify_congruent(a, v->inner)) return false;
    a->culprit = NULL;
    if (!alg_is_wrap(v) && !alg_verify_not_trivial(a, v)) return false;
    if (!check_positive_extents(a, v->layout.shape, v) ||
        (affine && !check_positive_extents(a, v->inner.shape, v)))
        return false;
    if (!alg_verify_stride(a, v->layout.stride)) return false;
    if (affine && !alg_verify_stride(a, v->inner.stride)) return false;

    cute_algebra trial = {.arena = a->arena};
    a->culprit = v->tree;
    cute_node start = alg_eval(&trial, alg_number(&trial, 0), v->layout.shape, v->layout.stride);
    if (!start) {
        alg_fail(a, "expects a layout that can be evaluated, but got %s", alg_layout_text(a, v->layout));
        return false;
    }
    cute_node sum = alg_sum(&trial, v->tree, start);
    if (!sum) {
        alg_fail(a, "expects offset and `layout_eval(0, outer)` to be addable, but got %s and %s",
                 alg_text(a, v->tree), alg_text(a, start));
        return false;
    }
    if (!affine && !alg_is_int(sum)) {
        alg_fail(a,
                 "swizzle layout expects scalar `offset` and `outer` without scaled basis, but got %s and %s",
                 alg_text(a, v->tree), alg_layout_text(a, v->layout));
        return false;
    }
    if (affine && !alg_is_int(sum) && !cute_tree_weakly_congruent(sum, v->inner.shape)) {
        alg_fail(
            a,
            "expects arith sum of `layout_eval(0, outer)` and `offset` to be scalar or weakly congruent to "
            "inner shape, but got sum %s and inner shape %s",
            alg_text(a, sum), alg_text(a, v->inner.shape));
        return false;
    }
    return true;
}

/* Addresses in memory are single numbers. */
static bool verify_memref(cute_algebra *a, const cute_value *v)
{
    if (!alg_verify_pointer(a, v->pointer)) return false;
    if (v->tree && !verify_composed(a, v)) return false;
    if (!v->tree && !alg_verify_layout(a, v->layout)) return false;
    cute_layout last = v->inner.shape ? v->inner : v->layout;
    uint64_t most = alg_space_elements(v->pointer), reach = alg_reach(false, last);
    if (reach >= most)
        return alg_fail(a,
                        "expects at most %llu elements of %s, which are %llu bytes of %s, but got \"%s\", "
                        "which reaches %llu",
                        (unsigned long long)most, v->pointer->element,
                        (unsigned long long)alg_space_bytes(v->pointer->space),
                        cute_space_name(v->pointer->space), alg_layout_text(a, last),
                        (unsigned long long)reach) != NULL;
    if (!alg_has(last.stride, CUTE_TREE_BASIS)) return true;
    return alg_fail(a, "expects integer strides in memory, but got %s", alg_layout_text(a, last)) != NULL;
}

/* The iterator must be addable to the layout's coordinates. */
static bool verify_coord_tensor(cute_algebra *a, const cute_value *v)
{
    if (!alg_verify_layout(a, v->layout)) return false;
    cute_algebra trial = {.arena = a->arena};
    cute_node start = alg_eval(&trial, alg_number(&trial, 0), v->layout.shape, v->layout.stride);
    bool tuples = alg_has(v->layout.stride, CUTE_TREE_BASIS), fits = start && alg_sum(&trial, v->tree, start);
    if (fits && (tuples ? !alg_is_leaf(v->tree) : alg_is_leaf(v->tree) || alg_only_zeros(v->layout.stride)))
        return true;
    a->culprit = v->tree;
    return alg_fail(a, "expects an iterator of the structure of the layout's coordinates, but got %s and %s",
                    alg_text(a, v->tree), alg_layout_text(a, v->layout)) != NULL;
}

static bool verify_tile(cute_algebra *a, cute_node t)
{
    if (t->kind == CUTE_TREE_LAYOUT) return alg_verify_layout(a, t->layout);
    if (alg_is_leaf(t)) return true;
    for (uint32_t i = 0; i < t->count; i++)
        if (!verify_tile(a, t->items[i])) return false;
    return true;
}

bool alg_verify(cute_algebra *a, const cute_value *v)
{
    switch (v->type) {
    case CUTE_STRIDE: return alg_verify_stride(a, v->tree);
    case CUTE_LAYOUT: return alg_verify_layout(a, v->layout);
    case CUTE_COMPOSED_LAYOUT: return verify_composed(a, v);
    case CUTE_TILE: return verify_tile(a, v->tree);
    case CUTE_SWIZZLE:
        if (cute_swizzle_valid(v->swizzle.bits, v->swizzle.base, v->swizzle.shift)) return true;
        return alg_fail(
                   a,
                   "expects |num_shift| >= num_bits and |num_shift| + num_bits + num_base <= 32, but got %s",
                   alg_type_text(a, v)) != NULL;
    case CUTE_PTR: return alg_verify_pointer(a, v->pointer);
    case CUTE_MEMREF: return verify_memref(a, v);
    case CUTE_COORD_TENSOR: return verify_coord_tensor(a, v);
    default: return true;
    }
}

bool alg_may_be_inside(cute_node coord, cute_node shape)
{
    if (coord->kind == CUTE_TREE_TUPLE && shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < coord->count && i < shape->count; i++)
            if (!alg_may_be_inside(coord->items[i], shape->items[i])) return false;
        return true;
    }
    if (coord->kind == CUTE_TREE_TUPLE && coord->count == 1) return alg_may_be_inside(coord->items[0], shape);
    if (coord->kind != CUTE_TREE_INT || !coord->value.known) return true;
    int64_t size = alg_known_size(shape);
    return coord->value.value >= 0 && (!size || coord->value.value < size);
}

bool cute_swizzle_valid(int64_t bits, int64_t base, int64_t shift)
{
    if (bits < 0 || bits > 32 || base < 0 || base > 32 || shift < -32 || shift > 32) return false;
    int64_t distance = shift < 0 ? -shift : shift;
    return distance >= bits && distance + bits + base <= 32;
}

cute_status cute_value_verify(const cute_value *value, cute_diag *diag)
{
    cute_algebra a = {.arena = cute_arena_create(), .diag = diag};
    if (!a.arena) return cute_fail_memory(diag);
    alg_verify(&a, value);
    cute_arena_destroy(a.arena);
    return a.status;
}
