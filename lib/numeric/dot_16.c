/* Products of tiles with AVX-512. */
#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET           __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define LANES            16
#define MOST(x, y)       ((ints)_mm512_max_epi32((__m512i)(x), (__m512i)(y)))
#define LEAST(x, y)      ((ints)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#define MOST_BYTES(x, y) ((bytes)_mm512_max_epi8((__m512i)(x), (__m512i)(y)))
#define WHERE_LESS(a, b, x, y)                                                                               \
    ((ints)_mm512_mask_blend_epi32(_mm512_cmplt_epi32_mask((__m512i)(a), (__m512i)(b)), (__m512i)(y),        \
                                   (__m512i)(x)))
#define WHERE_ZERO(a, x, y)                                                                                  \
    ((ints)_mm512_mask_blend_epi32(_mm512_testn_epi32_mask((__m512i)(a), (__m512i)(a)), (__m512i)(y),        \
                                   (__m512i)(x)))
#define ANY(x)        (_mm512_test_epi32_mask((__m512i)(x), (__m512i)(x)) != 0)
#define WIDEN_HALF(h) ((ints)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)(h))))
#define NUM_DOT_TABLE num_dot_lanes_16
#include "lib/numeric/dot_lanes.h"
#endif
