/* The LZ4 block format: a token (two 4-bit lengths), literals, a 16-bit distance, a match; the last sequence
 * has literals only. */
#include "lib/cubin/containers/lz4.h"

#include <stdbool.h>
#include <string.h>

/* A length of 15 is extended by bytes up to and including the first below 255. */
static bool extend_length(const uint8_t **in, const uint8_t *stop, size_t *length)
{
    uint8_t byte;
    if (*length != 15) return true;
    do {
        if (*in == stop) return false;
        byte = *(*in)++;
        *length += byte;
    } while (byte == 255);
    return true;
}

size_t cute_lz4_decompress(const uint8_t *in, size_t length, uint8_t *out, size_t capacity)
{
    const uint8_t *stop = in + length;
    size_t done = 0;
    while (in < stop) {
        uint8_t token = *in++;
        size_t literals = token >> 4, match = token & 15;
        if (!extend_length(&in, stop, &literals) || literals > (size_t)(stop - in) ||
            literals > capacity - done)
            return 0;
        if (literals) memcpy(out + done, in, literals);
        in += literals;
        done += literals;
        if (in == stop) return done;
        if (stop - in < 2) return 0;
        size_t distance = (size_t)in[0] | (size_t)in[1] << 8;
        in += 2;
        if (!extend_length(&in, stop, &match)) return 0;
        match += 4;
        if (distance == 0 || distance > done || match > capacity - done) return 0;
        for (; match; match--, done++) out[done] = out[done - distance]; /* may overlap */
    }
    return done;
}
