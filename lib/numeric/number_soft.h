/* What number.c and number_lanes.c share: values taken apart, and the functions of single values. */
#ifndef CUTE_LIB_NUMERIC_NUMBER_SOFT_H
#define CUTE_LIB_NUMERIC_NUMBER_SOFT_H

#include "lib/numeric/number.h"

__extension__ typedef unsigned __int128 num_u128;

typedef struct number_format {
    int bits, mantissa, bias;
    int shift;                  /* low bits of the container that are not used: tf32 */
    uint64_t largest, infinity; /* before the shift */
    uint64_t nan;
    bool has_sign;
} number_format;
extern const number_format number_formats[NUM_FORMATS];

/* (-1)^sign * significand * 2^exponent; `sticky`: and a little more in magnitude, less than one unit. */
typedef struct number {
    num_class class;
    bool sign, sticky;
    int exponent;
    num_u128 significand;
} number;

number number_unpack(num_format format, uint64_t bits);
/* Rounds once. A significand with `sticky` has more bits than the format by at least two. */
uint64_t number_pack(num_format format, number n, num_round round, unsigned flags);
/* The NaN that an operation on these operands makes, one of which is a NaN. */
uint64_t number_nan(num_format format, num_op op, const uint64_t *operands);
uint64_t number_min_max(num_op op, num_format format, uint64_t a, uint64_t b, unsigned flags);
/* Add, sub, mul, fma, div, sqrt, rcp in integers. */
uint64_t number_arithmetic(num_op op, num_format format, uint64_t a, uint64_t b, uint64_t c, num_round round,
                           unsigned flags);

#endif
