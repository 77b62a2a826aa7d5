/* A tensor of a launch against the layout that a program says of it: `(?{div=8},?):(1,?{i64 div=8})`. */
#ifndef CUTE_LIB_LAUNCH_FORMULA_FIT_H
#define CUTE_LIB_LAUNCH_FORMULA_FIT_H

#include "cute/layout.h"
#include "lib/base/buffer.h"
#include "lib/launch/data/tensor.h"

/* What fills the unknown leaves of `layout` (a layout, or a composed one whose unknowns are in the outer layout)
 * so that it addresses the tensor: shape before stride, one number each, *count of them in `arena`.
 *
 * The tensor has a dimension for each leaf, or one for each mode. Then a mode with several leaves has at most one
 * unknown extent, and its strides follow one another: (s0,s1):(d, d*s0). The stride of an extent of 1 does not
 * matter. CUTE_INVALID: it does not fit; `why` gets the reason, without the tensor's name: "mode 0 has extent 100,
 * expected a multiple of 8". */
cute_status cute_fit(cute_arena *arena, const cute_value *layout, const cute_tensor *tensor, int64_t **leaves,
                     size_t *count, cute_buffer *why, cute_diag *diag);

/* The shape of a tensor with a static one: a dimension for each mode, or, where leaves of a mode do not follow one
 * another, for each leaf. False where an extent is unknown, or there are too many. */
bool cute_fit_shape(const cute_value *layout, cute_tensor *tensor);
/* Strides for the shape, which has them not: those of a tensor without gaps that the layout takes; row-major if it
 * does, else column-major, else the mode of stride 1 first and then from left to right. Without such ones row-major.
 * False on overflow. */
bool cute_fit_strides(cute_arena *arena, const cute_value *layout, cute_tensor *tensor);

#endif
