/* Decompression of LZ4 blocks, used by older fatbins and `--compress-mode=speed`. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_LZ4_H
#define CUTE_LIB_CUBIN_CONTAINERS_LZ4_H

#include <stddef.h>
#include <stdint.h>

/* Decompresses `in` to at most `capacity` bytes; returns the number written, or 0 if the data are damaged or
 * too long. */
size_t cute_lz4_decompress(const uint8_t *in, size_t length, uint8_t *out, size_t capacity);

#endif
