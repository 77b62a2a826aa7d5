/* In how many bits an index is computed (eval.c), and what has to hold for 32 of them to be enough. */
#ifndef CUTE_LIB_LAYOUT_WIDTH_H
#define CUTE_LIB_LAYOUT_WIDTH_H

#include "lib/layout/algebra.h"

/* |c * d| of a leaf of the layout of a tensor (or of a layout alone) at the most: what is known of the coordinate and of the
 * extent, or is declared to be wider than 32 bits; 0 where 32 bits are taken to be enough. Saturates. */
uint64_t alg_leaf_reach(bool tensor, const cute_int *coord, const cute_int *extent, const cute_int *stride);
/* The sum for coordinates of 64 bits in all leaves. */
uint64_t alg_reach(bool tensor, cute_layout layout);

/* An index computed in 64 bits: more than 32 hold. */
static inline bool alg_is_far(uint64_t reach)
{
    return reach > INT32_MAX;
}

/* Whether indices of a tensor of this layout are computed in 32 bits, for all or some of its leaves, and nothing that the
 * compiler knows says that they are below `below` elements (2^31: that they fit). Then the sum of (extent - 1) * |stride| over
 * those leaves has to be below it: leaves[i] says of leaf i, from the left, whether it is one of them. `leaves` may be NULL, and
 * has room for `room`; false where there are more. */
bool cute_index_is_assumed(const cute_value *tensor, uint64_t below, bool *leaves, size_t room);

/* The index of a coordinate of a tensor whose layout is `layout`, in elements and as wide as the tensor needs. */
cute_status cute_layout_place(cute_arena *arena, const cute_arith *arith, const cute_value *coord,
                              const cute_value *layout, cute_value *out, cute_diag *diag);

#endif
