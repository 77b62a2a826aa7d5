/* splitmix64 (Steele, Lea, Flood 2014), whose state at a position is key + index * odd constant. */
#include "lib/launch/data/random.h"
#include "lib/base/numbers/mix.h"

#include <math.h>

static uint64_t random_bits(uint64_t key, uint64_t index)
{
    return cute_mix(key + (index + 1) * CUTE_MIX_STEP);
}

uint64_t cute_random_key(uint64_t seed, uint64_t own, const char *name)
{
    uint64_t key = cute_mix(seed + CUTE_MIX_STEP);
    key = cute_mix(key ^ cute_mix(own + UINT64_C(0xD1B54A32D192ED03)));
    for (; *name; name++) key = cute_mix(key ^ (uint64_t)(unsigned char)*name);
    return key;
}

double cute_random_uniform(uint64_t key, uint64_t index)
{
    return (double)(random_bits(key, index) >> 11) * 0x1p-53;
}

double cute_random_normal(uint64_t key, uint64_t index)
{
    double radius = 1.0 - cute_random_uniform(key, 2 * index);
    double angle = cute_random_uniform(key, 2 * index + 1);
    return sqrt(-2.0 * log(radius)) * cos(6.283185307179586 * angle);
}

int64_t cute_random_integer(uint64_t key, uint64_t index, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low;
    uint64_t bits = random_bits(key, index);
    if (span == UINT64_MAX) return (int64_t)bits;
    return (int64_t)((uint64_t)low + (uint64_t)(((unsigned __int128)bits * (span + 1)) >> 64));
}
