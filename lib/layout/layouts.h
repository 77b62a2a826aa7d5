/* Functions of whole layouts. A layout with NULL parts represents a failure, like a NULL tree. */
#ifndef CUTE_LIB_LAYOUT_LAYOUTS_H
#define CUTE_LIB_LAYOUT_LAYOUTS_H

#include "lib/layout/algebra.h"

extern const cute_layout alg_no_layout;

typedef struct alg_layouts {
    alg_list shapes, strides;
} alg_layouts;

static inline bool alg_ok(cute_layout layout)
{
    return layout.shape && layout.stride;
}
static inline bool alg_all_known(cute_layout layout)
{
    return cute_tree_is_static(layout.shape) && cute_tree_is_static(layout.stride);
}
cute_layout alg_layout_mode(cute_layout layout, size_t i);
void alg_push_layout(cute_algebra *a, alg_layouts *list, cute_layout layout);
cute_layout alg_layouts_tuple(cute_algebra *a, const alg_layouts *list);

/* ---- transform.c ---- */

/* The same function on the domain, in the fewest modes that the known extents and strides allow. */
cute_layout alg_coalesce(cute_algebra *a, cute_layout layout);
/* The same function on all non-negative integers: the last mode keeps its stride even if its extent is 1. */
cute_layout alg_coalesce_z(cute_algebra *a, cute_layout layout);
/* Coalesces separately within each leaf of `profile`. */
cute_layout alg_coalesce_profile(cute_algebra *a, cute_layout layout, cute_node profile);
cute_layout alg_coalesce_z_profile(cute_algebra *a, cute_layout layout, cute_node profile);
/* The shape with extent 1 where the stride is 0. */
cute_node alg_filter_zeros(cute_algebra *a, cute_node stride, cute_node shape);
cute_layout alg_filter(cute_algebra *a, cute_layout layout);
cute_layout alg_filter_profile(cute_algebra *a, cute_layout layout, cute_node profile);
/* Compact strides; the mode of lowest order varies fastest. */
cute_node alg_compact_order(cute_algebra *a, cute_node shape, cute_node order);
cute_node alg_group(cute_algebra *a, cute_node t, size_t begin, size_t end);
cute_node alg_append_to_rank(cute_algebra *a, cute_node t, size_t rank, cute_node element);
cute_node alg_prepend_to_rank(cute_algebra *a, cute_node t, size_t rank, cute_node element);
/* The modes at which `coord` has `_`; alg_dice: the others. */
cute_node alg_slice(cute_algebra *a, cute_node coord, cute_node t);
cute_node alg_dice(cute_algebra *a, cute_node coord, cute_node t);

/* ---- composition.c ---- */

/* R(i) = A(B(i)) for all i in B's domain; fails if R is not a layout. */
cute_layout alg_compose(cute_algebra *a, cute_layout outer, cute_layout inner);
/* The same for static layouts if the rules prove it; otherwise no layout, without a message. */
cute_layout alg_compose_certain(cute_algebra *a, cute_layout outer, cute_layout inner);
/* Mode by mode; `_` keeps a mode. Modes beyond the tiler's rank are dropped. */
cute_layout alg_compose_tile(cute_algebra *a, cute_layout outer, cute_node tile);
/* The shape as a tile of compact layouts. */
cute_node alg_shape_to_tile(cute_algebra *a, cute_node shape);

/* ---- complement.c ---- */

/* L(0): zeros in the structure of the codomain; emits nothing. */
cute_node alg_coprofile(cute_algebra *a, cute_layout layout);
/* The gaps below the largest stride, and one step beyond it. */
cute_layout alg_complement(cute_algebra *a, cute_layout layout);
/* The complement, extended to cover [0, |cotarget|). */
cute_layout alg_complement_to(cute_algebra *a, cute_layout layout, cute_node cotarget);
/* The complement, extended over the modes of `extend`, as divides require. */
cute_layout alg_complement_extend(cute_algebra *a, cute_layout layout, cute_node extend);

/* ---- inverse.c ---- */

/* L(R(i)) = i on R's domain. */
cute_layout alg_right_inverse(cute_algebra *a, cute_layout layout);
/* R(L(i)) = i on L's domain, for an injective L. */
cute_layout alg_left_inverse(cute_algebra *a, cute_layout layout);

/* ---- divide.c ---- */

/* (A o B, A o B*). */
cute_layout alg_divide(cute_algebra *a, cute_layout layout, cute_layout tiler);
/* Mode by mode; zipped: ((tiles...), (rests..., modes beyond the tiler's rank...)). */
cute_layout alg_divide_tile(cute_algebra *a, cute_layout layout, cute_node tile, bool zip);
/* (A, A* o B). */
cute_layout alg_product_of(cute_algebra *a, cute_layout layout, cute_layout tiler);
cute_layout alg_blocked(cute_algebra *a, cute_layout layout, cute_layout tiler, bool raked);
/* A rank-2 layout with the modes of mode 1 (`both`: also of mode 0) at top level. */
cute_layout alg_unzip(cute_algebra *a, cute_layout layout, bool both);
cute_layout alg_tile_to_shape(cute_algebra *a, cute_layout block, cute_node shape, cute_node order);

/* ---- recast.c ---- */

cute_layout alg_upcast(cute_algebra *a, int64_t n, cute_layout layout);
cute_layout alg_downcast(cute_algebra *a, int64_t n, cute_layout layout);

#endif
