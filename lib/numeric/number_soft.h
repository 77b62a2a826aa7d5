/* Shared by number.c and number_lanes.c: unpacked values and functions of single values. */
#ifndef CUTE_LIB_NUMERIC_NUMBER_SOFT_H
#define CUTE_LIB_NUMERIC_NUMBER_SOFT_H

#include "lib/numeric/number.h"

__extension__ typedef unsigned __int128 num_u128;

typedef struct number_format {
    int bits, mantissa, bias;
    int shift;                  /* unused low bits of the container: tf32 */
    uint64_t largest, infinity; /* before the shift */
    uint64_t nan;
    bool has_sign;
} number_format;
extern const number_format number_formats[NUM_FORMATS];

/* (-1)^sign * significand * 2^exponent; `sticky`: the magnitude is larger by less than one unit. */
typedef struct number {
    num_class class;
    bool sign, sticky;
    int exponent;
    num_u128 significand;
} number;

number number_unpack(num_format format, uint64_t bits);
/* Rounds once. A significand with `sticky` must have at least two more bits than the format. */
uint64_t number_pack(num_format format, number n, num_round round, unsigned flags);
/* The NaN that results from these operands, one of which is a NaN. */
uint64_t number_nan(num_format format, num_op op, const uint64_t *operands);
uint64_t number_min_max(num_op op, num_format format, uint64_t a, uint64_t b, unsigned flags);
/* Add, sub, mul, fma, div, sqrt, rcp in integers. */
uint64_t number_arithmetic(num_op op, num_format format, uint64_t a, uint64_t b, uint64_t c, num_round round,
                           unsigned flags);

#endif
