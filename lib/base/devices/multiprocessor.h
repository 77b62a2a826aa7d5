/* What a multiprocessor of each architecture has, a row each (multiprocessor.def). */
#ifndef CUTE_LIB_BASE_DEVICES_MULTIPROCESSOR_H
#define CUTE_LIB_BASE_DEVICES_MULTIPROCESSOR_H

#include <stdint.h>

enum { CUTE_SM_WARP = 32, CUTE_SM_REGISTERS = 65536, CUTE_SM_BLOCK_THREADS = 1024 }; /* all have these */

typedef struct cute_multiprocessor {
    int number;            /* compute capability: 90 */
    int64_t warps, blocks; /* that are resident at most; 0: not published */
    int64_t unified;       /* bytes of L1 and shared memory together */
    int64_t shared;        /* bytes of shared memory */
    int64_t block_shared;  /* of it for one block at most, as a kernel asks for it */
    int64_t reserved;      /* that each block takes beside */
    int64_t granule;       /* in which blocks take it */
    int64_t barriers;      /* named barriers for each of the blocks; 0: they limit nothing */
    int64_t least_shared;  /* the smallest split of shared memory and L1 */
    int64_t cluster;       /* blocks of a cluster at most; 1: there are none */
} cute_multiprocessor;

/* NULL: not known. */
const cute_multiprocessor *cute_multiprocessor_of(int number);

#endif
