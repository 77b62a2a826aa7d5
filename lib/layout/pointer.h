/* Pointers as lib/layout sees them. */
#ifndef CUTE_LIB_LAYOUT_POINTER_H
#define CUTE_LIB_LAYOUT_POINTER_H

#include "lib/layout/algebra.h"

/* How many bits an element of this MLIR type has in memory: 0 where that is not known (types of dialects).
 * False where it is no type that memory can hold. */
bool alg_element_bits(const char *text, size_t length, int *bits);
/* The alignment in bytes that the element has by itself: what is not said in a pointer's text. */
int64_t alg_natural_align(const cute_pointer *p);
/* More bytes than any device has in the space, so that addresses of its width would wrap. */
uint64_t alg_space_bytes(cute_space space);
/* That many bytes are so many elements, rounded down; what is not known of an element counts as a byte. */
uint64_t alg_space_elements(const cute_pointer *p);
bool alg_space_named(const char *text, size_t length, cute_space *out);
bool alg_same_swizzle(cute_swizzle x, cute_swizzle y);
/* The same type; handles do not count. */
bool alg_pointer_equal(const cute_pointer *p, const cute_pointer *q);
/* The pointer `offset` elements behind *p, an integer or `()` for 0: its alignment follows from what divides
 * the offset. */
const cute_pointer *alg_advance(cute_algebra *a, const cute_pointer *p, cute_node offset);
/* A known element, an alignment that is a power of two, a swizzle that leaves elements whole. */
bool alg_verify_pointer(cute_algebra *a, const cute_pointer *p);
/* The power of two that divides what a swizzle makes of multiples of `align`, a power of two or 0 (of 0 alone). */
int64_t alg_swizzled_align(cute_swizzle s, int64_t align);

#endif
