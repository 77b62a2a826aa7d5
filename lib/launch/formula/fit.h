/* Binds a tensor of a launch to the layout of a parameter, such as `(?{div=8},?):(1,?{i64 div=8})`. */
#ifndef CUTE_LIB_LAUNCH_FORMULA_FIT_H
#define CUTE_LIB_LAUNCH_FORMULA_FIT_H

#include "cute/layout.h"
#include "lib/base/buffer.h"
#include "lib/launch/data/tensor.h"

/* Values for the unknown leaves of `layout` with which it addresses the tensor, shape before stride, in
 * `arena`. A composed layout may have unknowns in its outer layout.
 *
 * The tensor has one dimension for each leaf, or one for each mode. In the latter case, a mode with several
 * leaves has at most one unknown extent, and its strides are contiguous: (s0,s1):(d, d*s0). The stride of an
 * extent of 1 is ignored. CUTE_INVALID: the tensor does not fit; `why` gets the reason without the tensor's
 * name: "mode 0 has extent 100, expected a multiple of 8". */
cute_status cute_fit(cute_arena *arena, const cute_value *layout, const cute_tensor *tensor, int64_t **leaves,
                     size_t *count, cute_buffer *why, cute_diag *diag);

/* Whether elements of an argument's type share bytes, two in each: i4 and f4E2M1FN, whose buffers are of i8 or u8. */
bool cute_is_packed(const char *dtype);
/* The tensor in elements of `dtype`, for cute_fit: of packed elements the dimension of stride 1 has two for each byte. */
cute_tensor cute_tensor_as(const char *dtype, const cute_tensor *tensor);

/* Sets the tensor's shape to a static layout's: one dimension for each mode, or for each leaf if the leaves
 * of a mode are not contiguous. False if an extent is unknown, or there are too many. */
bool cute_fit_shape(const cute_value *layout, cute_tensor *tensor);
/* Sets compact strides for the tensor's shape that fit the layout: row-major, else column-major, else the
 * mode with stride 1 first and then from left to right. Row-major if none fits. False on overflow. */
bool cute_fit_strides(cute_arena *arena, const cute_value *layout, cute_tensor *tensor);

#endif
