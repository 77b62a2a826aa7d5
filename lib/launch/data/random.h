/* Random numbers by position: a value depends on the key and the index only, so buffers can be filled from
 * any end by any number of threads, and a single element can be computed alone. */
#ifndef CUTE_LIB_LAUNCH_DATA_RANDOM_H
#define CUTE_LIB_LAUNCH_DATA_RANDOM_H

#include <stdint.h>

/* A key of the run's seed, the buffer's own seed and its name. */
uint64_t cute_random_key(uint64_t seed, uint64_t own, const char *name);
/* In [0, 1), a multiple of 2^-53. */
double cute_random_uniform(uint64_t key, uint64_t index);
/* Mean 0, deviation 1 (Box and Muller). */
double cute_random_normal(uint64_t key, uint64_t index);
/* In [low, high]. */
int64_t cute_random_integer(uint64_t key, uint64_t index, int64_t low, int64_t high);

#endif
