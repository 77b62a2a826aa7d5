/* Branch-free conversion of f16 and bf16 to and from f32, for vectorized loops. Bits in, bits out; NaNs as in
 * number.h; to nearest, ties to even. */
#ifndef CUTE_LIB_NUMERIC_NUMBER_QUICK_H
#define CUTE_LIB_NUMERIC_NUMBER_QUICK_H

#include <stdint.h>
#include <string.h>

#define NUM_INLINE static inline __attribute__((always_inline))

NUM_INLINE float num_as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

NUM_INLINE uint32_t num_as_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

NUM_INLINE uint32_t num_widen_half(uint32_t h)
{
    uint32_t magnitude = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    uint32_t normal = magnitude + (112u << 23), special = magnitude + (224u << 23);
    /* A subnormal is its fraction with a fixed exponent, minus the implicit one of that exponent. */
    uint32_t small = num_as_bits(num_as_float(magnitude + (113u << 23)) - num_as_float(113u << 23));
    uint32_t r = magnitude >= 0x0f800000 ? special : magnitude < 0x00800000 ? small : normal;
    return magnitude > 0x0f800000 ? 0x7fffffff : r | sign;
}

NUM_INLINE uint32_t num_narrow_half(uint32_t f)
{
    uint32_t magnitude = f & 0x7fffffff, sign = f >> 16 & 0x8000;
    uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    /* Adding 0.5 leaves the ten bits of a subnormal, rounded, at the end of the fraction. */
    uint32_t small = num_as_bits(num_as_float(magnitude) + 0.5f) - 0x3f000000;
    uint32_t r = magnitude < (113u << 23) ? small : magnitude >= 0x47800000 ? 0x7c00 : normal;
    return magnitude > 0x7f800000 ? 0x7fff : r | sign;
}

NUM_INLINE uint32_t num_widen_bfloat(uint32_t h)
{
    return h << 16; /* NaNs are preserved */
}

NUM_INLINE uint32_t num_narrow_bfloat(uint32_t f)
{
    uint32_t r = (f + 0x7fff + (f >> 16 & 1)) >> 16;
    return (f & 0x7fffffff) > 0x7f800000 ? 0x7fff : r;
}

#endif
