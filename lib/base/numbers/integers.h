/* Arithmetic on integers of 1 to 64 bits: one table of operations for all evaluators of IR and launch
 * plans. */
#ifndef CUTE_LIB_BASE_NUMBERS_INTEGERS_H
#define CUTE_LIB_BASE_NUMBERS_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cute_integer_op {
#define CUTE_INTEGER(id, ...) CUTE_INTEGER_##id,
#include "lib/base/numbers/integers.def"
    CUTE_INTEGERS
} cute_integer_op;

typedef struct cute_integer_names {
    const char *plan, *arith, *llvm; /* llvm: may be NULL */
} cute_integer_names;
extern const cute_integer_names cute_integers[CUTE_INTEGERS];

/* Sign-extends the low `width` bits. A width out of range is 64. */
static inline int64_t cute_integer_fit(int64_t value, int width)
{
    return width >= 64 || width < 1 ? value : (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}
/* The same, but one bit is zero-extended: 0 or 1. */
static inline int64_t cute_integer_plain(int64_t value, int width)
{
    return width == 1 ? value & 1 : cute_integer_fit(value, width);
}
static inline uint64_t cute_integer_bits(int64_t value, int width)
{
    return width >= 64 || width < 1 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << width) - 1);
}

/* Computes on the low `width` bits of both; *out is sign-extended. False: the result is unknown. */
bool cute_integer_compute(cute_integer_op op, int64_t a, int64_t b, int width, int64_t *out);

/* In the order of the predicates of arith.cmpi and llvm.icmp: "eq", "ne", "lt" ... "geu". */
enum { CUTE_PREDICATES = 10 };
extern const char *const cute_predicates[CUTE_PREDICATES];
/* False: there is no such predicate. */
bool cute_integer_compare(int64_t predicate, int64_t a, int64_t b, int width, bool *out);

#endif
