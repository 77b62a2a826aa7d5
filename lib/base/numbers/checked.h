/* Checked 64-bit arithmetic: each returns false on overflow (or division by zero). */
#ifndef CUTE_LIB_BASE_NUMBERS_CHECKED_H
#define CUTE_LIB_BASE_NUMBERS_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool cute_add64(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_add_overflow(a, b, r);
}
static inline bool cute_sub64(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_sub_overflow(a, b, r);
}
static inline bool cute_mul64(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_mul_overflow(a, b, r);
}
/* Truncating division, as in C. */
static inline bool cute_div64(int64_t a, int64_t b, int64_t *r)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    *r = a / b;
    return true;
}
static inline bool cute_rem64(int64_t a, int64_t b, int64_t *r)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    *r = a % b;
    return true;
}
static inline bool cute_ceil_div64(int64_t a, int64_t b, int64_t *r)
{
    int64_t rest;
    if (!cute_rem64(a, b, &rest)) return false;
    *r = a / b + (rest != 0 && ((rest > 0) == (b > 0)));
    return true;
}

/* The greatest common divisor; of 0 and x it is x. */
static inline uint64_t cute_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
