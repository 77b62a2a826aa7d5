/* Counter-based random numbers: a value depends only on the key and the index, so buffers are the same for
 * any number of threads, and single elements can be computed. */
#ifndef CUTE_LIB_LAUNCH_DATA_RANDOM_H
#define CUTE_LIB_LAUNCH_DATA_RANDOM_H

#include <stdint.h>

/* The key for the run's seed, the buffer's seed and the buffer's name. */
uint64_t cute_random_key(uint64_t seed, uint64_t own, const char *name);
/* In [0, 1), a multiple of 2^-53. */
double cute_random_uniform(uint64_t key, uint64_t index);
/* Mean 0, standard deviation 1 (Box-Muller). */
double cute_random_normal(uint64_t key, uint64_t index);
/* In [low, high]. */
int64_t cute_random_integer(uint64_t key, uint64_t index, int64_t low, int64_t high);

#endif
