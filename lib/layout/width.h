/* The width in which an index is computed (eval.c), and the condition under which 32 bits suffice. */
#ifndef CUTE_LIB_LAYOUT_WIDTH_H
#define CUTE_LIB_LAYOUT_WIDTH_H

#include "lib/layout/algebra.h"

/* Upper bound of |c * d| for a leaf of a tensor's layout (or of a layout alone), from the known coordinate
 * and extent, or from an extent declared wider than 32 bits; 0 if 32 bits are assumed to suffice.
 * Saturates. */
uint64_t alg_leaf_reach(bool tensor, const cute_int *coord, const cute_int *extent, const cute_int *stride);
/* The sum of alg_leaf_reach over all leaves, for 64-bit coordinates. */
uint64_t alg_reach(bool tensor, cute_layout layout);

/* True if an index needs 64 bits. */
static inline bool alg_is_far(uint64_t reach)
{
    return reach > INT32_MAX;
}

/* True if indices of a tensor with this layout are computed in 32 bits for some leaves, and the compiler
 * cannot prove that they are below `below` elements (2^31: that they fit). The sum of (extent - 1) * |stride|
 * over those leaves must then be below it: leaves[i] is set if leaf i, from the left, is one of them.
 * `leaves` may be NULL and has `room` entries; false if the layout has more leaves. */
bool cute_index_is_assumed(const cute_value *tensor, uint64_t below, bool *leaves, size_t room);

/* The index of a coordinate in `layout`, in elements and as wide as the tensor requires. */
cute_status cute_layout_place(cute_arena *arena, const cute_arith *arith, const cute_value *coord,
                              const cute_value *layout, cute_value *out, cute_diag *diag);

#endif
