/* Monotonic time in seconds. */
#ifndef CUTE_LIB_BASE_SYSTEM_CLOCK_H
#define CUTE_LIB_BASE_SYSTEM_CLOCK_H

#include <time.h>

static inline double cute_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
