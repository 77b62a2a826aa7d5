/* A value of each lane of a warp, as far as it is known: at[l] ^ x + y * 2^free, where x and y are not known but the same
 * in all lanes, and x has no bits outside `mask`. So addresses that differ by what a lane knows of itself can be compared
 * though their base, or the round of a loop, is not known. */
#ifndef CUTE_LIB_CODE_LANES_H
#define CUTE_LIB_CODE_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { LANES = 32 };

typedef struct lane_values {
    uint8_t bits;       /* 1 (a predicate), 8, 16, 32, 64 */
    uint8_t free;       /* `bits`: nothing is added */
    bool varies;        /* nothing is known */
    uint32_t pointer;   /* a parameter whose value is added: its offset + 1; 0: none */
    uint64_t mask;      /* bits below `free` */
    const char *why;    /* it varies; or what is not known of it, a clause. May be NULL */
    uint64_t at[LANES]; /* no bits beyond `bits` */
} lane_values;

uint64_t lanes_ones(uint32_t bits);
/* The number that `bits` of a value are, with its sign. */
int64_t lanes_extended(uint64_t value, uint32_t bits);
lane_values lanes_constant(uint32_t bits, uint64_t value);
/* The same in all lanes, and a multiple of 2^free. */
lane_values lanes_same(uint32_t bits, uint32_t free, const char *why);
lane_values lanes_vary(uint32_t bits, const char *why);
bool lanes_known(const lane_values *v);
/* Whether all lanes have the same value. */
bool lanes_uniform(const lane_values *v);
/* A known value that all lanes share. */
bool lanes_single(const lane_values *v, uint64_t *out);
/* The lanes in which a known predicate is true, a bit each. */
uint32_t lanes_true(const lane_values *predicate);
bool lanes_equal(const lane_values *a, const lane_values *b);
/* Forgets that a pointer is added: what is done to it now is not an address any more. */
lane_values lanes_number(lane_values v);

lane_values lanes_add(lane_values a, lane_values b);
lane_values lanes_sub(lane_values a, lane_values b);
lane_values lanes_mul(lane_values a, lane_values b);
lane_values lanes_shl(lane_values v, uint32_t by);
lane_values lanes_shr(lane_values v, uint32_t by, bool arithmetic);
/* Bits in the opposite order. */
lane_values lanes_reverse(lane_values v);
/* To more or fewer bits. Indices do not wrap: what is added stays the same multiple in more bits. */
lane_values lanes_resize(lane_values v, uint32_t bits, bool is_signed);
/* A function of bits at the same place: `f` gives its value for each lane of known operands. */
typedef void lanes_bits_function(void *context, const uint64_t *const operands[3], uint64_t out[LANES]);
lane_values lanes_bitwise(lanes_bits_function *f, void *context, const lane_values *operands, int count,
                          uint32_t bits);
/* -1: is a < b (or a == b) is not known; 0: known, in `out`; 1: not known, but the same in all lanes. */
typedef enum lanes_order { LANES_LESS, LANES_EQUAL } lanes_order;
int lanes_compare(lane_values a, lane_values b, lanes_order order, uint32_t *out);

/* One of both, which one is the same in all lanes. */
lane_values lanes_either(lane_values a, lane_values b);
/* `a` where `which` has a lane's bit, else `b`. */
lane_values lanes_select(uint32_t which, const lane_values *a, const lane_values *b);

#endif
