/* The rules of values, for the parser and for operations that build what might break them. */
#ifndef CUTE_LIB_VERIFY_H
#define CUTE_LIB_VERIFY_H

#include "lib/layout/algebra.h"

/* Each reports and returns false when a rule is broken. */
bool alg_verify(cute_algebra *a, const cute_value *value);
bool alg_verify_layout(cute_algebra *a, cute_layout layout);
bool alg_verify_stride(cute_algebra *a, cute_node stride);

#endif
