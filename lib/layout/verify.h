/* The rules of values, for the parser and for operations that build what might break them. */
#ifndef CUTE_LIB_LAYOUT_VERIFY_H
#define CUTE_LIB_LAYOUT_VERIFY_H

#include "lib/layout/algebra.h"

/* Each reports and returns false when a rule is broken. */
bool alg_verify(cute_algebra *a, const cute_value *value);
bool alg_verify_layout(cute_algebra *a, cute_layout layout);

/* No leaf of a coordinate is known to be outside of its mode. */
bool alg_may_be_inside(cute_node coord, cute_node shape);

/* A composed layout of no swizzle and offset 0, which CuTe DSL has and prints as the layout. */
bool alg_is_wrap(const cute_value *v);
/* The public dialect has no such wraps. */
bool alg_verify_not_trivial(cute_algebra *a, const cute_value *v);

#endif
