/* The mixing function of splitmix64 (Steele, Lea, Flood 2014): add CUTE_MIX_STEP to the state and mix it for
 * the next number. */
#ifndef CUTE_LIB_BASE_NUMBERS_MIX_H
#define CUTE_LIB_BASE_NUMBERS_MIX_H

#include <stdint.h>

#define CUTE_MIX_STEP UINT64_C(0x9E3779B97F4A7C15)

static inline uint64_t cute_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

#endif
