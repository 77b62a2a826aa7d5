/* One block of LZ4, as older fatbins and `--compress-mode=speed` have it. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_LZ4_H
#define CUTE_LIB_CUBIN_CONTAINERS_LZ4_H

#include <stddef.h>
#include <stdint.h>

/* Unpacks `in` to at most `capacity` bytes; the number written, or 0 when the data are damaged or do not fit.
 */
size_t cute_lz4_decompress(const uint8_t *in, size_t length, uint8_t *out, size_t capacity);

#endif
