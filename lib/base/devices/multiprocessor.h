/* The limits of a multiprocessor of each architecture (multiprocessor.def). */
#ifndef CUTE_LIB_BASE_DEVICES_MULTIPROCESSOR_H
#define CUTE_LIB_BASE_DEVICES_MULTIPROCESSOR_H

#include <stdint.h>

enum {
    CUTE_SM_WARP = 32,
    CUTE_SM_REGISTERS = 65536,
    CUTE_SM_BLOCK_THREADS = 1024
}; /* on all architectures */

typedef struct cute_multiprocessor {
    int number;            /* compute capability: 90 */
    int64_t warps, blocks; /* maximum resident; 0: not published */
    int64_t unified;       /* bytes of L1 and shared memory together */
    int64_t shared;        /* bytes of shared memory */
    int64_t block_shared;  /* maximum per block (opt-in) */
    int64_t reserved;      /* bytes reserved per block */
    int64_t granule;       /* allocation granularity in bytes */
    int64_t barriers;      /* named barriers per resident block; 0: not a limit */
    int64_t least_shared;  /* smallest shared memory carveout in bytes */
    int64_t cluster;       /* maximum blocks per cluster; 1: no clusters */
} cute_multiprocessor;

/* NULL: unknown. */
const cute_multiprocessor *cute_multiprocessor_of(int number);

#endif
