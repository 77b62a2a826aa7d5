/* SHA-256 in portable C and with x86's SHA instructions. */
#include "lib/base/system/sha256.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* A round: the names of the eight words rotate instead of their values. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                     \
    do {                                                                                                     \
        uint32_t t = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) +              \
                     constants[i] + w[(i) & 15];                                                             \
        d += t;                                                                                              \
        h = t + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));                  \
    } while (0)

static void blocks_plain(uint32_t state[8], const unsigned char *bytes, size_t count)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7], w[16];
    for (; count; count--, bytes += 64) {
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
                   (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
        for (int i = 0; i < 64; i += 8) {
            for (int j = i; i >= 16 && j < i + 8; j++) {
                uint32_t x = w[(j + 1) & 15], y = w[(j + 14) & 15];
                w[j & 15] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(j + 9) & 15] +
                             (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
            }
            ROUND(a, b, c, d, e, f, g, h, i);
            ROUND(h, a, b, c, d, e, f, g, i + 1);
            ROUND(g, h, a, b, c, d, e, f, i + 2);
            ROUND(f, g, h, a, b, c, d, e, i + 3);
            ROUND(e, f, g, h, a, b, c, d, i + 4);
            ROUND(d, e, f, g, h, a, b, c, i + 5);
            ROUND(c, d, e, f, g, h, a, b, i + 6);
            ROUND(b, c, d, e, f, g, h, a, i + 7);
        }
        a = state[0] += a, b = state[1] += b, c = state[2] += c, d = state[3] += d;
        e = state[4] += e, f = state[5] += f, g = state[6] += g, h = state[7] += h;
    }
}

#if defined(__x86_64__)
/* With x86's SHA instructions: four rounds per step, the state as ABEF and CDGH. */
__attribute__((target("sha,sse4.1,ssse3"))) static void blocks_x86(uint32_t state[8],
                                                                   const unsigned char *bytes, size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0), w[4];
    for (; count; count--, bytes += 64) {
        __m128i abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 16; i++) {
            if (i < 4) {
                w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * i)), swap);
            } else {
                __m128i last = w[(i + 3) & 3];
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                            _mm_alignr_epi8(last, w[(i + 2) & 3], 4));
                w[i & 3] = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i wk = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_x86(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29 && __get_cpuid(1, &a, &b, &c, &d) &&
           c & bit_SSE4_1 && c & bit_SSSE3;
}
#endif

typedef void blocks(uint32_t state[8], const unsigned char *bytes, size_t count);

static void hash_with(blocks *run, const void *bytes, size_t length, char out[CUTE_SHA256_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = bytes;
    size_t left = length;
    run(state, at, left / 64);
    at += left / 64 * 64;
    left %= 64;
    unsigned char last[128] = {0};
    size_t whole = left < 56 ? 64 : 128;
    if (left) memcpy(last, at, left);
    last[left] = 0x80;
    for (int i = 0; i < 8; i++)
        last[whole - 1 - (size_t)i] = (unsigned char)((uint64_t)length * 8 >> (8 * i));
    run(state, last, whole / 64);
    for (int i = 0; i < 64; i++) out[i] = hex[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    out[64] = '\0';
}

void cute_sha256(const void *bytes, size_t length, char out[CUTE_SHA256_TEXT])
{
#if defined(__x86_64__)
    if (has_x86()) {
        hash_with(blocks_x86, bytes, length, out);
        return;
    }
#endif
    hash_with(blocks_plain, bytes, length, out);
}

void cute_sha256_plain(const void *bytes, size_t length, char out[CUTE_SHA256_TEXT])
{
    hash_with(blocks_plain, bytes, length, out);
}
