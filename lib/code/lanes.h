/* Abstract values of the lanes of a warp: (at[l] ^ x) + y * 2^free, where x and y are unknown but uniform, and x has no bits
 * outside `mask`. Addresses of lanes can thus be compared although their base or the loop iteration is unknown. */
#ifndef CUTE_LIB_CODE_LANES_H
#define CUTE_LIB_CODE_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { LANES = 32 };

typedef struct lane_values {
    uint8_t bits;       /* 1 (a predicate), 8, 16, 32, 64 */
    uint8_t free;       /* `bits`: no y */
    bool varies;        /* unknown per lane */
    uint32_t pointer;   /* offset + 1 of the parameter that is added; 0: none */
    uint64_t mask;      /* bits below `free` */
    const char *why;    /* the unknown input, a noun phrase; may be NULL */
    uint64_t at[LANES]; /* no bits beyond `bits` */
} lane_values;

uint64_t lanes_ones(uint32_t bits);
/* Sign-extends `bits` of a value. */
int64_t lanes_extended(uint64_t value, uint32_t bits);
lane_values lanes_constant(uint32_t bits, uint64_t value);
/* Uniform, and a multiple of 2^free. */
lane_values lanes_same(uint32_t bits, uint32_t free, const char *why);
lane_values lanes_vary(uint32_t bits, const char *why);
bool lanes_known(const lane_values *v);
/* All lanes have the same value. */
bool lanes_uniform(const lane_values *v);
/* A known uniform value. */
bool lanes_single(const lane_values *v, uint64_t *out);
/* The lanes in which a known predicate is true, a bit each. */
uint32_t lanes_true(const lane_values *predicate);
bool lanes_equal(const lane_values *a, const lane_values *b);
/* Drops the pointer: the result of a non-address operation is just unknown. */
lane_values lanes_number(lane_values v);

lane_values lanes_add(lane_values a, lane_values b);
lane_values lanes_sub(lane_values a, lane_values b);
lane_values lanes_mul(lane_values a, lane_values b);
lane_values lanes_shl(lane_values v, uint32_t by);
lane_values lanes_shr(lane_values v, uint32_t by, bool arithmetic);
/* Reverses the bits. */
lane_values lanes_reverse(lane_values v);
/* Extends or truncates. Assumes that indices do not wrap, so y * 2^free keeps its form in more bits. */
lane_values lanes_resize(lane_values v, uint32_t bits, bool is_signed);
/* A bitwise function; `f` evaluates it for known operands. */
typedef void lanes_bits_function(void *context, const uint64_t *const operands[3], uint64_t out[LANES]);
lane_values lanes_bitwise(lanes_bits_function *f, void *context, const lane_values *operands, int count,
                          uint32_t bits);
/* The result of a < b or a == b: 0: known, in `out`; 1: unknown but uniform; -1: unknown. */
typedef enum lanes_order { LANES_LESS, LANES_EQUAL } lanes_order;
int lanes_compare(lane_values a, lane_values b, lanes_order order, uint32_t *out);

/* Either value, with an unknown uniform choice. */
lane_values lanes_either(lane_values a, lane_values b);
/* `a` in the lanes of `which`, else `b`. */
lane_values lanes_select(uint32_t which, const lane_values *a, const lane_values *b);

#endif
