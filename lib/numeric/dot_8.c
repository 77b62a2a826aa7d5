/* Products of tiles with AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET           __attribute__((target("avx2,fma")))
#define LANES            8
#define MOST_BYTES(x, y) ((bytes)_mm256_max_epi8((__m256i)(x), (__m256i)(y)))
#define NUM_DOT_TABLE    num_dot_lanes_8
#include "lib/numeric/dot_lanes.h"
#endif
