/* The address swizzle of TMA, wgmma and kernels' own ldmatrix addresses: within a pattern of eight rows of
 * `span` bytes, the 16-byte chunks are permuted by XOR with the row (PTX ISA 8.5, 5.5.5 and 9.7.15.5.1). As
 * layouts: 32B is S<1,4,3>, 64B S<2,4,3>, 128B S<3,4,3> on byte addresses. */
#ifndef CUTE_LIB_NUMERIC_SWIZZLE_H
#define CUTE_LIB_NUMERIC_SWIZZLE_H

#include <stdint.h>

/* The swizzled address of an unswizzled one. `span`: 0 or 16 (none), 32, 64, 128. `base`: the descriptor's
 * base offset (0 to 7), which of the eight 128-byte rows of the address starts the pattern. An involution. */
static inline uint32_t num_swizzle(uint32_t address, uint32_t span, uint32_t base)
{
    uint32_t chunks = span < 32 ? 0 : span - 16; /* 0x10, 0x30, 0x70: the bits that change */
    return address ^ (((address - (base << 7)) >> 3) & chunks);
}

#endif
