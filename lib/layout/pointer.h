/* Pointers as used within lib/layout. */
#ifndef CUTE_LIB_LAYOUT_POINTER_H
#define CUTE_LIB_LAYOUT_POINTER_H

#include "lib/layout/algebra.h"

/* Width in memory of an element of this MLIR type: 0 if unknown (types of dialects). False if the type cannot
 * be stored in memory. */
bool alg_element_bits(const char *text, size_t length, int *bits);
/* Whether elements share bytes, two in each: i4 and f4E2M1FN. */
bool cute_element_is_packed(const char *element);
/* The element's natural alignment in bytes, which a pointer's text omits. */
int64_t alg_natural_align(const cute_pointer *p);
/* A size that no address in the space can reach; offsets of this size would wrap. */
uint64_t alg_space_bytes(cute_space space);
/* alg_space_bytes in elements, rounded down; elements of unknown width count as one byte. */
uint64_t alg_space_elements(const cute_pointer *p);
bool alg_space_named(const char *text, size_t length, cute_space *out);
bool alg_same_swizzle(cute_swizzle x, cute_swizzle y);
/* True for equal types; handles are ignored. */
bool alg_pointer_equal(const cute_pointer *p, const cute_pointer *q);
/* Advances *p by `offset` elements, an integer or `()` for 0; the alignment is derived from the offset's
 * divisor. */
const cute_pointer *alg_advance(cute_algebra *a, const cute_pointer *p, cute_node offset);
/* Checks for a known element, a power-of-two alignment, and a swizzle that does not split elements. */
bool alg_verify_pointer(cute_algebra *a, const cute_pointer *p);
/* The power of two that divides all swizzled multiples of `align`, a power of two or 0 (for 0 alone). */
int64_t alg_swizzled_align(cute_swizzle s, int64_t align);

#endif
