/* Products of tiles with AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET           __attribute__((target("avx2,fma")))
#define LANES            8
#define MOST(x, y)       ((ints)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#define LEAST(x, y)      ((ints)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#define MOST_BYTES(x, y) ((bytes)_mm256_max_epi8((__m256i)(x), (__m256i)(y)))
#define ANY(x)           (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))
#define NUM_DOT_TABLE    num_dot_lanes_8
#include "lib/numeric/dot_lanes.h"
#endif
