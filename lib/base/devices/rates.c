/* The table rates.def by compute capability. */
#include "lib/base/devices/rates.h"

#include <stddef.h>

static const cute_rates rows[] = {
#define RATES(...) {__VA_ARGS__},
#include "lib/base/devices/rates.def"
};

const cute_rates *cute_rates_of(int arch)
{
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        if (rows[n].arch == arch) return &rows[n];
    return NULL;
}
