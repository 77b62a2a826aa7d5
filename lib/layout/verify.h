/* The invariants of values, for the parser and for operations that could violate them. */
#ifndef CUTE_LIB_LAYOUT_VERIFY_H
#define CUTE_LIB_LAYOUT_VERIFY_H

#include "lib/layout/algebra.h"

/* Reports a violation and returns false. */
bool alg_verify(cute_algebra *a, const cute_value *value);
bool alg_verify_layout(cute_algebra *a, cute_layout layout);

/* False if a leaf of the coordinate is known to be outside its mode. */
bool alg_may_be_inside(cute_node coord, cute_node shape);

/* A composed layout without a swizzle and with offset 0, which CuTe DSL has and prints as the layout. */
bool alg_is_wrap(const cute_value *v);
/* The public dialect rejects such wraps. */
bool alg_verify_not_trivial(cute_algebra *a, const cute_value *v);

#endif
