/* How many blocks of a kernel one multiprocessor holds, and what limits that. */
#ifndef CUTE_LIB_REPORT_OCCUPANCY_H
#define CUTE_LIB_REPORT_OCCUPANCY_H

#include "cute/base.h"

typedef struct cute_occupancy_input {
    int sm;                            /* 90 */
    int64_t threads;                   /* of a block */
    int64_t registers;                 /* of a thread */
    int64_t static_smem, dynamic_smem; /* bytes of a block, without what the system reserves */
    int64_t barriers;
} cute_occupancy_input;

typedef struct cute_occupancy {
    int64_t blocks, warps, max_warps; /* of a multiprocessor; blocks 0: the kernel cannot be launched so */
    double fraction;                  /* warps / max_warps */
    /* how many blocks each of them would allow; INT64_MAX: it is not used */
    int64_t by_warps, by_blocks, by_registers, by_smem, by_barriers;
    const char
        *limit; /* what allows the fewest: "warps", "blocks", "registers", "shared memory", "barriers" */
} cute_occupancy;

/* false: the architecture is not in the table, or the numbers make no sense. */
bool cute_occupancy_compute(const cute_occupancy_input *input, cute_occupancy *out);

#endif
