/* The table multiprocessor.def by compute capability. */
#include "lib/base/devices/multiprocessor.h"

#include <stddef.h>

static const cute_multiprocessor rows[] = {
#define KIB 1024
#define SM(number, warps, blocks, unified, shared, block, reserved, granule, barriers, least, cluster)       \
    {number,   warps,   blocks,   unified * KIB, shared * KIB, block * KIB,                                  \
     reserved, granule, barriers, least * KIB,   cluster},
#include "lib/base/devices/multiprocessor.def"
};

const cute_multiprocessor *cute_multiprocessor_of(int number)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == number) return &rows[i];
    return NULL;
}
